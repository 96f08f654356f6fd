#!/usr/bin/env python3
"""Compare training with a plain PyTorch Geometric baseline; exit status 1 when speed or quality does not pass."""

import argparse
import json
import sys
from pathlib import Path

from toporank.config.training import Hyperparameters
from toporank.errors import TopoRankError
from toporank.files import write_text
from toporank.report.benchmark import plot, text
from toporank.training.benchmark import LEARNING_RATE, compare, verdict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packs", type=Path, nargs="+", required=True, help="beside the folders of their graphs")
    parser.add_argument("--hyperparameters", default="{}", help="as JSON")
    parser.add_argument("--seeds", type=int, nargs="+", default=[222, 777, 1337])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--table", type=Path, required=True, help="CSV, one row a training; .md and .svg beside it")
    args = parser.parse_args()

    try:
        given = {"learning_rate": LEARNING_RATE, **json.loads(args.hyperparameters)}
        table = compare(args.packs, Hyperparameters(**given), args.seeds, args.epochs)
    except TopoRankError as error:
        sys.exit(str(error))
    ratios, passed = verdict(table)
    write_text(args.table, table.to_csv(index=False))
    summary = text(table, ratios, passed)
    write_text(args.table.with_suffix(".md"), summary)
    plot(table, args.table.with_suffix(".svg"))
    print(summary)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
