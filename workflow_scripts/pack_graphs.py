#!/usr/bin/env python3
"""Pack all graphs of a data set into one memory-mapped file."""

import argparse
import sys
from pathlib import Path

import pandas as pd

from toporank import layout
from toporank.building.coverage import read_coverage
from toporank.building.ledger import read_ledger
from toporank.decoys.identity import Status
from toporank.errors import GraphError
from toporank.graphs.packing import write_pack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--table", type=Path, required=True, help="coverage.tsv")
    parser.add_argument("--ledgers", type=Path, nargs="*", default=[], help="of the graphs")
    parser.add_argument("--others", type=Path, nargs="*", default=[], help="ledgers that tell of decoys not asked for")
    parser.add_argument("--precision", default="float32", help="float32 or float16")
    parser.add_argument("--pack", type=Path, required=True, help="written; what it has of the same graphs is copied")
    args = parser.parse_args()

    rows = [row for row in read_coverage(args.table) if row.status == Status.OK]
    members = pd.DataFrame(
        [(r.target, r.decoy, r.split) for r in rows], columns=["target", "decoy", "split"], dtype=str
    )
    home = args.table.parent
    members["graph"] = [str(home / layout.artefact("graphs", r.target, r.decoy)) for r in members.itertuples()]
    built = {(row.target, row.decoy): row for path in [*args.others, *args.ledgers] for row in read_ledger(path)}
    try:
        rows = [built[r.target, r.decoy] for r in members.itertuples()]
    except KeyError as error:
        sys.exit(f"{'/'.join(error.args[0])}: {args.table} has it, no ledger of the graphs; delete {args.table}")
    members["sha256"], members["size"] = [row.sha256 for row in rows], [row.size for row in rows]
    try:
        n_read = write_pack(args.pack, members, args.precision)
        print(f"{len(members)} graphs, {n_read} of them read and the others copied from the pack of before")
    except GraphError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
