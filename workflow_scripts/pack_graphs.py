#!/usr/bin/env python3
"""Pack all graphs of a data set into one memory-mapped file."""

import argparse
import sys
from pathlib import Path

from toporank import layout
from toporank.building.coverage import read_coverage
from toporank.building.ledger import read_ledger
from toporank.decoys.identity import Status
from toporank.errors import GraphError
from toporank.graphs.packing import Member, write_pack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--table", type=Path, required=True, help="coverage.tsv")
    parser.add_argument("--ledgers", type=Path, nargs="*", default=[], help="of the graphs")
    parser.add_argument("--others", type=Path, nargs="*", default=[], help="ledgers that tell of decoys not asked for")
    parser.add_argument("--precision", default="float32", help="float32 or float16")
    parser.add_argument("--pack", type=Path, required=True, help="written; what it has of the same graphs is copied")
    args = parser.parse_args()

    table = read_coverage(args.table)
    names = table.loc[table["status"] == Status.OK, ["target", "decoy", "split"]].values.tolist()
    built = {(row.target, row.decoy): row for path in [*args.others, *args.ledgers] for row in read_ledger(path)}
    members = []
    try:
        for target, decoy, split in names:
            row, file = built[target, decoy], args.table.parent / layout.artefact("graphs", target, decoy)
            members.append(Member(target, decoy, split, file, row.sha256, row.size))
    except KeyError as error:
        sys.exit(f"{'/'.join(error.args[0])}: {args.table} has it, no ledger of the graphs; delete {args.table}")
    try:
        n_read = write_pack(args.pack, members, args.precision)
        print(f"{len(members)} graphs, {n_read} of them read and the others copied from the pack of before")
    except GraphError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
