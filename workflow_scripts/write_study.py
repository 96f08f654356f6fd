#!/usr/bin/env python3
"""Write the page of a study, and which targets of its data sets were seen in training."""

import argparse
import sys
from pathlib import Path

import pandas as pd

from toporank.errors import TopoRankError
from toporank.files.atomic import write_text
from toporank.ranking.frames import write_frame
from toporank.ranking.target_table import read_targets
from toporank.report.study_page import render

LEAKAGE = [
    "target",
    "seen_in_training",
    "nearest_training_target",
    "containment",
    "why_seen",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaderboard", type=Path, required=True)
    parser.add_argument(
        "--evaluations",
        type=Path,
        nargs="*",
        default=[],
        help="summary.json of labelled data sets",
    )
    parser.add_argument(
        "--embeddings",
        type=Path,
        nargs="*",
        default=[],
        help="embeddings.csv of each data set",
    )
    parser.add_argument(
        "--targets",
        type=Path,
        nargs="*",
        default=[],
        help="targets.csv of each data set",
    )
    parser.add_argument(
        "--folds",
        type=Path,
        nargs="?",
        help="metrics.csv of a cross-validation, if there is one",
    )
    parser.add_argument("--leakage", type=Path, required=True, help="written")
    parser.add_argument("--page", type=Path, required=True, help="written")
    args = parser.parse_args()

    title = ", ".join(
        path.parent.name for path in args.targets
    )  # of data sets: the same in every folder
    try:
        page = render(
            args.leaderboard, args.evaluations, args.embeddings, args.folds, title
        )
    except TopoRankError as error:
        sys.exit(str(error))
    write_text(args.page, page)
    tables = []
    for path in args.targets:
        table = read_targets(path)[LEAKAGE]
        table.insert(0, "dataset", path.parent.name)
        tables.append(table.sort_values("target"))
    write_frame(args.leakage, pd.concat(tables, ignore_index=True))
    print(args.page)


if __name__ == "__main__":
    main()
