#!/usr/bin/env python3
"""Pack all graphs of a data set into one memory-mapped file, and those of single interfaces into another."""

import argparse
import json
import sys
from pathlib import Path

from toporank.building import view
from toporank.building.ledger import last_fates, read_meetings
from toporank.building.plan import read_chunk, read_current
from toporank.building.store import Store
from toporank.decoys.identity import Status
from toporank.decoys.natives import find_natives
from toporank.errors import TopoRankError
from toporank.evaluation.coverage import read_coverage
from toporank.features.registry import choose
from toporank.graphs.packing import Member, write_pack
from toporank.targets.local import LocalQualities


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--table", type=Path, required=True, help="coverage.tsv")
    parser.add_argument("--precision", default="float32", help="float32 or float16")
    parser.add_argument("--features", required=True, help="feature modules and parameters as JSON")
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    parser.add_argument("--natives", type=Path, help="folder of the natives, where the data set has any")
    parser.add_argument("--pack", type=Path, required=True, help="written; graphs that are already in it are copied")
    parser.add_argument("--interfaces", type=Path, required=True, help="written likewise")
    args = parser.parse_args()

    try:
        current, store = read_current(args.dataset), Store(args.store)
        fates = last_fates(args.dataset, current)
        natives = find_natives(args.natives) if args.natives else {}
        qualities = LocalQualities(args.dataset, current.of_all, fates, natives, store)
        members, several, joined = [], set(), 0
        for row in read_coverage(args.table):
            fate = fates.get((row.target, row.decoy))
            meetings = read_meetings(fate) if fate else []
            if row.status == Status.OK:
                joined += any("+" in name for meeting in meetings for name in meeting[:2])
                graph = view.place(args.dataset, "graphs", fate.key)
                known = qualities.digest(fate.key)
                members.append(Member(*fate.key, row.split, graph, fate.sha256, fate.size, known))
            if fate and fate.status == Status.OK:  # a graph stands for its one interface, if it stands for the decoy
                touching = sum(meeting.contacts > 0 for meeting in meetings)
                several |= {fate.key} if touching > 1 or row.status != Status.OK else set()
        parts = []
        if several:
            from toporank.building.chunk import interface_graphs  # with all that computes features

            decoys = (decoy for chunk in current.of_all for decoy in read_chunk(args.dataset, chunk))
            wanted = sorted((decoy, fates[decoy.key].structure_sha256) for decoy in decoys if decoy.key in several)
            choices = {name: choose(name, record) for name, record in json.loads(args.features).items()}
            for key, name, entry in interface_graphs(wanted, choices, store):
                parts.append(Member(*key, name, entry.path, entry.sha256, entry.size))

        def restore(key: tuple[str, str]) -> None:
            from toporank.building.chunk import restore_graph

            decoys = (decoy for chunk in current.of_all for decoy in read_chunk(args.dataset, chunk))
            choices = {name: choose(name, record) for name, record in json.loads(args.features).items()}
            member = next(decoy for decoy in decoys if decoy.key == key)
            restore_graph(args.dataset, member, fates[key].structure_sha256, choices, store)
            print(f"{'/'.join(key)}: its graph was changed after it was built, and is restored")

        n_read = write_pack(args.pack, members, args.precision, joined, qualities.of, restore)
        n_read += write_pack(args.interfaces, parts, args.precision)
    except TopoRankError as error:
        sys.exit(str(error))
    print(f"{len(members)} graphs, {len(parts)} of interfaces; {n_read} read, the others copied from the older packs")


if __name__ == "__main__":
    main()
