#!/usr/bin/env python3
"""Evaluate a ranking against the labels."""

import argparse
import json
from pathlib import Path

from toporank.comparing.homology.chain_tables import read_splits, split_of_targets
from toporank.files.atomic import write_text
from toporank.files.spreadsheets import write_rows
from toporank.inputs.confidence.table import read_confidence
from toporank.inputs.labels import read_split_labels
from toporank.learning.assignment import decided
from toporank.ranking.evaluation import evaluate
from toporank.ranking.interfaces import read_interfaces
from toporank.ranking.model_table import read_models


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, required=True, help="models.csv")
    parser.add_argument("--details", type=Path, required=True, help="details.csv")
    parser.add_argument(
        "--interfaces", type=Path, required=True, help="interfaces.csv with scores"
    )
    parser.add_argument("--confidence", type=Path, required=True, help="confidence.csv")
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument(
        "--splits",
        type=Path,
        nargs="?",
        help="splits.csv, of a data set that is learned from",
    )
    parser.add_argument("--per-target", type=Path, required=True, help="written")
    parser.add_argument("--summary", type=Path, required=True, help="written")
    args = parser.parse_args()

    name, splits = (
        args.labels.parent.name,
        read_splits(args.splits) if args.splits else [],
    )
    labels = decided(
        read_split_labels(args.labels, interfaces=True), split_of_targets(splits), name
    )
    clusters = {row.target: row.cluster for row in splits if row.dataset == name}
    models, interfaces = (
        read_models(args.models, args.details),
        read_interfaces(args.interfaces),
    )
    table, summary = evaluate(
        models, labels, interfaces, clusters or None, read_confidence(args.confidence)
    )
    write_rows(args.per_target, table.columns, table.itertuples(index=False))
    write_text(args.summary, json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
