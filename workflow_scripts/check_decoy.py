#!/usr/bin/env python3
"""Say what became of a decoy that was asked for by its path; fail when it has no graph."""

import argparse
import sys
from pathlib import Path

from toporank.building.ledger import read_ledger
from toporank.decoys.identity import Status


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ledger", type=Path, required=True, help="of the last stage, with this decoy alone")
    args = parser.parse_args()

    (row,) = read_ledger(args.ledger).rows
    outcome = f"{row.target}/{row.decoy}: {row.status}" + (f": {row.reason}" if row.reason else "")
    if row.status != Status.OK:
        sys.exit(f"{outcome} (at the stage {row.stage})")
    print(outcome)


if __name__ == "__main__":
    main()
