"""Evaluate a ranking against the labels."""

import json
from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.comparing.homology.chain_tables import read_splits, split_of_targets
from toporank.files.atomic import write_text
from toporank.files.spreadsheets import write_rows
from toporank.finding.labels import read_split_labels
from toporank.learning.assignment import decided
from toporank.ranking.evaluation import evaluate
from toporank.ranking.model_table import read_models
from toporank.tables.columns import CONFIDENCE, INTERFACES
from toporank.tables.frames import read

with opened(snakemake) as job:
    splits = read_splits(Path(job.input.splits[0])) if job.input.splits else []
    labels = decided(
        read_split_labels(Path(job.params.labels), interfaces=True),
        split_of_targets(splits),
        job.dataset,
    )
    clusters = {row.target: row.cluster for row in splits if row.dataset == job.dataset}
    table, summary = evaluate(
        read_models(Path(job.input.models), Path(job.input.details)),
        labels,
        read(INTERFACES, job.input.interfaces),
        clusters or None,
        read(CONFIDENCE, job.input.confidence),
    )
    rows = table.itertuples(index=False)
    write_rows(Path(job.output.per_target), table.columns, rows)
    write_text(job.output.summary, json.dumps(summary, indent=1))
