#!/usr/bin/env python3
"""Label the decoys of one chunk by the natives of their targets."""

import argparse
import logging
import sys
from pathlib import Path

from toporank.building.chunks.store import Store
from toporank.building.native_labels import label_chunk
from toporank.errors import TopoRankError
from toporank.inputs.natives import find_natives


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument(
        "--chunk", required=True, help="name of the chunk, whose labels are written"
    )
    parser.add_argument(
        "--natives", type=Path, required=True, help="folder of the natives"
    )
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    try:
        label_chunk(
            args.dataset, args.chunk, find_natives(args.natives), Store(args.store)
        )
    except TopoRankError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
