"""Write one table of all sampled decoys, and one of those that have a label."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.layout import POSES
from toporank.structures.identity import Status
from toporank_sampling.rows import describe, read_rows, write_rows

with opened(snakemake) as job:
    rows = []
    for folder in job.input:
        rows += read_rows(Path(folder, POSES))
    write_rows(Path(job.output.poses), rows)
    write_rows(
        Path(job.output.labels), [row for row in rows if row.Status == Status.OK]
    )
    job.tell(*describe(rows, job.output.labels, job.output.poses))
