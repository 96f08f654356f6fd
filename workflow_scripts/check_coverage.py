#!/usr/bin/env python3
"""Stop when too few labels of a data set have a graph to train on it."""

import argparse
import sys
from pathlib import Path

from toporank.app.config import Coverage
from toporank.building.coverage import check_policy, conflicting, counts, read_coverage
from toporank.errors import TopoRankError
from toporank.files.atomic import write_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--table", type=Path, required=True, help="coverage.tsv")
    parser.add_argument("--minimum-percent", type=float, required=True)
    parser.add_argument(
        "--check", type=Path, required=True, help="written when there are enough"
    )
    args = parser.parse_args()

    policy = Coverage(minimum_percent=args.minimum_percent)
    try:
        table = read_coverage(args.table)
        check_policy(table, policy, args.dataset)
    except TopoRankError as error:
        sys.exit(f"Coverage: {error}")
    if warning := conflicting(table):
        print(f"warning: {args.dataset}: {warning}; see {args.table}")
    write_text(args.check, counts(table) + "\n")


if __name__ == "__main__":
    main()
