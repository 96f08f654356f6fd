#!/usr/bin/env python3
"""Pack all graphs of a data set into one memory-mapped file."""

import argparse
import sys
from pathlib import Path

from toporank.building import view
from toporank.building.ledger import last_fates
from toporank.building.plan import read_current
from toporank.decoys.identity import Status
from toporank.errors import TopoRankError
from toporank.evaluation.coverage import read_coverage
from toporank.graphs.packing import Member, write_pack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--table", type=Path, required=True, help="coverage.tsv")
    parser.add_argument("--precision", default="float32", help="float32 or float16")
    parser.add_argument("--pack", type=Path, required=True, help="written; graphs that are already in it are copied")
    args = parser.parse_args()

    try:
        fates = last_fates(args.dataset, read_current(args.dataset))
        members = []
        for row in read_coverage(args.table):
            if row.status == Status.OK:
                key = (row.target, row.decoy)
                graph, fate = view.place(args.dataset, "graphs", key), fates[key]
                members.append(Member(*key, row.split, graph, fate.sha256, fate.size))
        n_read = write_pack(args.pack, members, args.precision)
    except TopoRankError as error:
        sys.exit(str(error))
    print(f"{len(members)} graphs, {n_read} of them read and the others copied from the older pack")


if __name__ == "__main__":
    main()
