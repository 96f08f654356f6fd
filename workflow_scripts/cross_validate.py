#!/usr/bin/env python3
"""Predict every labelled decoy with the networks that were trained without its cluster, and judge
the predictions.
"""

import argparse
import gc
import sys
from pathlib import Path

from toporank import layout
from toporank.comparing.homology.chain_tables import read_splits
from toporank.errors import TopoRankError
from toporank.inputs.labels import read_split_labels
from toporank.learning.folds import out_of_fold
from toporank.learning.out_of_fold import (
    ALL,
    group_metrics,
    write_metrics,
    write_predictions,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--summaries",
        type=Path,
        nargs="+",
        required=True,
        help="summary.json of every run and fold",
    )
    parser.add_argument(
        "--rule", required=True, help="that chooses the checkpoint of a run"
    )
    parser.add_argument("--packs", type=Path, nargs="+", required=True)
    parser.add_argument("--splits", type=Path, required=True)
    parser.add_argument("--predictions", type=Path, required=True, help="written")
    parser.add_argument("--metrics", type=Path, required=True, help="written")
    args = parser.parse_args()

    names = [pack.parent.name for pack in args.packs]
    labels = {
        name: read_split_labels(Path(layout.LABELS.format(dataset=name)))
        for name in names
    }
    try:
        predictions = out_of_fold(
            args.summaries, args.rule, args.packs, read_splits(args.splits), labels
        )
    except TopoRankError as error:
        sys.exit(str(error))
    metrics = group_metrics(predictions)
    write_predictions(args.predictions, predictions)
    write_metrics(args.metrics, metrics)
    for row in metrics:
        if (
            row.group == ALL
            and row.metric in ("ranking_loss", "spearman")
            and row.value is not None
        ):
            print(
                f"{row.config}: {row.metric} {row.value:.3f} over {row.n_targets} targets in "
                f"{row.n_clusters} clusters"
            )
    gc.freeze()  # otherwise Python would search all of torch for garbage on exit


if __name__ == "__main__":
    main()
