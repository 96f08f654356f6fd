"""Decide which targets are trained on, validated on and held out; say which of them share
chains.
"""

from pathlib import Path

from toporank import layout
from toporank.app.workflow.script import opened
from toporank.comparing.homology.chain_tables import compared, read_chains, write_splits
from toporank.finding.labels import read_split_labels
from toporank.learning.assignment import assign, check_leaks, describe_splits

with opened(snakemake) as job:
    label_splits = {}
    for name in job.params.datasets:
        for label in read_split_labels(Path(layout.LABELS.format(dataset=name))):
            label_splits[name, label.target] = label.split
    rows = []
    for table in job.input.chains:
        rows += read_chains(Path(table))
    splits = assign(
        label_splits, compared(rows), job.params.split, finetuned=job.params.finetuned
    )
    warning = check_leaks(splits, refuse=job.params.leakage == "refuse")
    write_splits(Path(job.output.table), splits)
    job.tell(describe_splits(splits))
    if warning:
        job.tell(f"warning: {warning}; see {job.output.table}")
