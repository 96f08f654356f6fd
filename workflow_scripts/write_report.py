#!/usr/bin/env python3
"""Write the page of a scored data set, and scripts for PyMOL and ChimeraX beside it."""

import argparse
import sys
from pathlib import Path

from toporank.errors import TopoRankError
from toporank.report.page import write_page_of
from toporank.scorer.scorer import Scorer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--models",
        type=Path,
        required=True,
        help="models.csv; the other tables lie where they belong",
    )
    parser.add_argument(
        "--scorer",
        type=Path,
        required=True,
        help="folder of the scorer, or a checkpoint",
    )
    args = parser.parse_args()

    try:
        write_page_of(args.models, Scorer.open(args.scorer))
    except TopoRankError as error:
        sys.exit(str(error))
    print(args.models.with_name("report.html"))


if __name__ == "__main__":
    main()
