#!/usr/bin/env python3
"""Take the decoys of one chunk through all feature stages."""

import argparse
import gc
import json
import logging
import sys
from pathlib import Path

from toporank.building.chunks.chunk import run_chunk
from toporank.building.chunks.store import Store
from toporank.building.native_labels import dockq_of
from toporank.errors import TopoRankError
from toporank.features.registry import choose

GARBAGE = 100_000
"""New objects after which Python looks for garbage; numba makes many on import, and no garbage."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument(
        "--chunk", required=True, help="name of the chunk, whose ledger is written"
    )
    parser.add_argument(
        "--features", required=True, help="feature modules and parameters as JSON"
    )
    parser.add_argument(
        "--labels",
        nargs="*",
        help="the file of the labels that natives gave the chunk, if they do",
    )
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    gc.set_threshold(GARBAGE)
    choices = {
        name: choose(name, record) for name, record in json.loads(args.features).items()
    }
    try:
        labels = dockq_of(args.dataset, args.chunk) if args.labels else None
        run_chunk(args.dataset, args.chunk, choices, Store(args.store), labels)
    except TopoRankError as error:
        sys.exit(str(error))
    gc.freeze()  # otherwise Python would search everything once more on exit


if __name__ == "__main__":
    main()
