#!/usr/bin/env python3
"""Pack all graphs of a data set into one memory-mapped file."""

import argparse
import sys
from pathlib import Path

from toporank import layout
from toporank.building.coverage import read_coverage
from toporank.errors import GraphError
from toporank.identity import Status
from toporank.pack import write_pack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--table", type=Path, required=True, help="coverage.tsv")
    parser.add_argument("--pack", type=Path, required=True, help="written")
    args = parser.parse_args()

    table = read_coverage(args.table)
    members = table[table["status"] == Status.OK].copy()
    home = args.table.parent
    members["graph"] = [str(home / layout.artefact("graphs", r.target, r.decoy)) for r in members.itertuples()]
    try:
        write_pack(args.pack, members)
    except GraphError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
