"""Stop when too few labels of a data set have a graph to train on it."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.building.coverage import (
    Coverage,
    check_policy,
    conflicting,
    counts,
    describe_labels,
    read_coverage,
)
from toporank.files.atomic import write_text

with opened(snakemake) as job:
    table = read_coverage(Path(job.input.table))
    check_policy(table, Coverage(**job.params.policy), job.dataset)
    if warning := conflicting(table):
        job.tell(f"warning: {job.dataset}: {warning}; see {job.input.table}")
    about_labels = describe_labels(table)
    job.tell(f"{job.dataset}: {about_labels}")
    write_text(job.output.check, f"{counts(table)}\n{about_labels}\n")
