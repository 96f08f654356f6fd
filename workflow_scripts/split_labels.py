#!/usr/bin/env python3
"""The labels of a data set that has them from natives, with a split by targets or, by clusters, one
decided later.
"""

import argparse
import sys
from pathlib import Path

from toporank.building.chunks.plan import read_current
from toporank.building.label_tables import labels
from toporank.building.native_labels import read_labelled
from toporank.errors import TopoRankError
from toporank.inputs.labels import split_by_target, write_labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--split-by", choices=["cluster", "target"], required=True)
    parser.add_argument("--validation-percent", type=float, required=True)
    parser.add_argument("--split-seed", type=int, required=True)
    parser.add_argument("--labels", type=Path, required=True, help="written")
    args = parser.parse_args()

    try:
        found = labels(read_labelled(args.dataset, read_current(args.dataset).of_all))
    except TopoRankError as error:
        sys.exit(str(error))
    if args.split_by == "target":
        found = split_by_target(found, args.validation_percent, args.split_seed)
    write_labels(args.labels, found)


if __name__ == "__main__":
    main()
