"""Predict every labelled decoy with the networks that were trained without its cluster, and judge
the predictions.
"""

from pathlib import Path

from toporank import layout
from toporank.app.workflow.script import opened
from toporank.comparing.homology.chain_tables import read_splits
from toporank.finding.labels import read_split_labels
from toporank.learning.folds import out_of_fold
from toporank.learning.out_of_fold import (
    describe,
    group_metrics,
    write_metrics,
    write_predictions,
)

with opened(snakemake) as job:
    labels = {}
    for name in job.params.datasets:
        labels[name] = read_split_labels(Path(layout.LABELS.format(dataset=name)))
    predictions = out_of_fold(
        list(map(Path, job.input.summaries)),
        job.params.rule,
        list(map(Path, job.input.packs)),
        read_splits(Path(job.input.splits)),
        labels,
    )
    metrics = group_metrics(predictions)
    write_predictions(Path(job.output.predictions), predictions)
    write_metrics(Path(job.output.metrics), metrics)
    job.tell(*describe(metrics))
