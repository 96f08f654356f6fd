"""Write the labels that natives gave the decoys of a data set, as tables."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.building.chunks.plan import read_current
from toporank.building.label_tables import describe, write_tables
from toporank.building.native_labels import read_labelled

with opened(snakemake) as job:
    rows = read_labelled(job.dataset, read_current(job.dataset).of_all)
    write_tables(rows, Path(job.output.table), Path(job.output.interfaces))
    job.tell(
        *(f"{job.dataset}, labels from natives: {line}" for line in describe(rows))
    )
