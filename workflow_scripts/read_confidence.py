#!/usr/bin/env python3
"""Write what predictors say of the decoys of a data set."""

import argparse
import gc
import logging
import sys
from pathlib import Path
from typing import get_args

from toporank.building.built import confidence_requests, read_built
from toporank.building.chunks.store import Store
from toporank.building.coverage import read_coverage
from toporank.errors import TopoRankError
from toporank.inputs.confidence.job import confidences
from toporank.inputs.confidence.table import (
    AUTO,
    INCOMPLETE,
    NOTHING,
    PlddtChoice,
    write_confidence,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--coverage", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument(
        "--plddt",
        choices=get_args(PlddtChoice),
        default=AUTO,
        help="whether B factors are pLDDT",
    )
    parser.add_argument("--table", type=Path, required=True, help="written")
    args = parser.parse_args()
    # few cycles are made, and looking for them takes a tenth of the time
    gc.set_threshold(100_000)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")

    try:
        built, store = read_built(args.dataset), Store(args.store)
        rows = confidences(
            confidence_requests(read_coverage(args.coverage), built, store), args.plddt
        )
    except TopoRankError as error:
        sys.exit(str(error))
    write_confidence(args.table, rows)
    found = [row for row in rows if row.status != NOTHING]
    print(f"{args.dataset}: predictors speak of {len(found)} of {len(rows)} decoys")
    for row in found:
        if row.status == INCOMPLETE:
            print(f"  {row.target}/{row.decoy}: {row.reason}")


if __name__ == "__main__":
    main()
