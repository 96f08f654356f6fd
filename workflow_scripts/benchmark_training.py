#!/usr/bin/env python3
"""Compare training with a plain PyTorch Geometric baseline."""

import argparse
import json
import sys
from pathlib import Path

from toporank.config.training import Hyperparameters
from toporank.errors import TopoRankError
from toporank.files import write_text
from toporank.report.benchmark import markdown_table, write_plot
from toporank.training.benchmark import LEARNING_RATE, compare, verdict
from toporank.validation import checked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packs", type=Path, nargs="+", required=True, help="beside the folders of their graphs")
    parser.add_argument("--hyperparameters", default="{}", help="as JSON")
    parser.add_argument("--seeds", type=int, nargs="+", default=[222, 777, 1337])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--table", type=Path, required=True, help="written: CSV, one row a training")
    parser.add_argument("--text", type=Path, required=True, help="written: Markdown, with the verdict")
    parser.add_argument("--plot", type=Path, required=True, help="written")
    args = parser.parse_args()

    try:
        given = {"learning_rate": LEARNING_RATE, **json.loads(args.hyperparameters)}
        hyperparameters = checked(Hyperparameters, given, where="--hyperparameters")
        table = compare(args.packs, hyperparameters, args.seeds, args.epochs)
    except TopoRankError as error:
        sys.exit(str(error))
    write_text(args.table, table.to_csv(index=False))
    write_text(args.text, markdown_table(table, *verdict(table)))
    write_plot(table, args.plot)


if __name__ == "__main__":
    main()
