#!/usr/bin/env python3
"""Write the labels that natives gave the decoys of a data set, as tables."""

import argparse
import sys
from pathlib import Path

from toporank.building.chunks.plan import read_current
from toporank.building.label_tables import describe, write_tables
from toporank.building.native_labels import read_labelled
from toporank.errors import TopoRankError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument(
        "--table", type=Path, required=True, help="written: a row for each decoy"
    )
    parser.add_argument(
        "--interfaces",
        type=Path,
        required=True,
        help="written: a row for each interface",
    )
    args = parser.parse_args()

    try:
        rows = read_labelled(args.dataset, read_current(args.dataset).of_all)
        write_tables(rows, args.table, args.interfaces)
    except TopoRankError as error:
        sys.exit(str(error))
    print(
        *(f"{args.dataset}, labels from natives: {line}" for line in describe(rows)),
        sep="\n",
    )


if __name__ == "__main__":
    main()
