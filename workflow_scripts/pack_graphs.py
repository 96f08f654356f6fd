#!/usr/bin/env python3
"""Pack all graphs of a data set into one memory-mapped file, and those of single interfaces into another."""

import argparse
import functools
import json
import sys
from pathlib import Path

from toporank import layout
from toporank.building.chunk import artefact, interface_graphs
from toporank.building.ledger import LedgerRow, last_fates, read_meetings
from toporank.building.plan import PlannedDecoy, read_chunk, read_current
from toporank.building.store import Store
from toporank.decoys.identity import Status
from toporank.decoys.natives import find_natives
from toporank.errors import TopoRankError
from toporank.evaluation.coverage import read_coverage
from toporank.features.registry import Choice, choose
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
        plan = {decoy.key: decoy for chunk in current.of_all for decoy in read_chunk(args.dataset, chunk)}
        fates = last_fates(args.dataset, current)
        natives = find_natives(args.natives) if args.natives else {}
        choices = {name: choose(name, record) for name, record in json.loads(args.features).items()}
        qualities = LocalQualities(args.dataset, current.of_all, fates, natives, store)
        members, several, joined = [], [], 0
        for row in read_coverage(args.table):
            fate = fates.get((row.target, row.decoy))
            meetings = read_meetings(fate) if fate else []
            if row.status == Status.OK:
                joined += any("+" in name for meeting in meetings for name in meeting[:2])
                members.append(member_of(plan[fate.key], fate, row.split, fate.graphs, choices, store))
                members[-1] = members[-1]._replace(quality_sha256=qualities.digest(fate.key))
            if fate and fate.status == Status.OK:  # a graph stands for its one interface, if it stands for the decoy
                touching = sum(meeting.contacts > 0 for meeting in meetings)
                several += [(plan[fate.key], fate)] if touching > 1 or row.status != Status.OK else []
        parts = [member_of(*part, choices, store) for part in interface_graphs(sorted(several), choices, store)]
        n_read = write_pack(args.pack, members, args.precision, joined, qualities.of)
        n_read += write_pack(args.interfaces, parts, args.precision)
    except TopoRankError as error:
        sys.exit(str(error))
    print(f"{len(members)} graphs, {len(parts)} of interfaces; {n_read} read, the others copied from the older packs")


def member_of(
    decoy: PlannedDecoy, fate: LedgerRow, split: str, digest: str, choices: dict[str, Choice], store: Store
) -> Member:
    """A graph in the store as a member of a pack. split : of the decoy, or the name of an interface."""
    content = functools.partial(artefact, layout.STAGES[-1], digest, decoy, fate, choices, store)
    return Member(*decoy.key, split, Path(*decoy.key), digest, content)


if __name__ == "__main__":
    main()
