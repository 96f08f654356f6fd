#!/usr/bin/env python3
"""Pack all graphs of a data set into one memory-mapped file."""

import argparse
import json
import sys
from pathlib import Path

from toporank.building.built import graphs_to_pack, read_built
from toporank.building.chunks.plan import read_current
from toporank.building.chunks.store import Store
from toporank.building.coverage import read_coverage
from toporank.building.local_quality import LocalQualities
from toporank.building.packing import write_pack
from toporank.errors import TopoRankError
from toporank.features.registry import choose
from toporank.inputs.natives import find_natives


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--table", type=Path, required=True, help="coverage.tsv")
    parser.add_argument(
        "--features", required=True, help="feature modules and parameters as JSON"
    )
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    parser.add_argument(
        "--natives", type=Path, help="folder of the natives, where the data set has any"
    )
    parser.add_argument(
        "--pack",
        type=Path,
        required=True,
        help="written; graphs that are already in it are copied",
    )
    args = parser.parse_args()

    try:
        current, store, built = (
            read_current(args.dataset),
            Store(args.store),
            read_built(args.dataset),
        )
        natives = find_natives(args.natives) if args.natives else {}
        choices = {
            name: choose(name, record)
            for name, record in json.loads(args.features).items()
        }
        qualities = LocalQualities(
            args.dataset, current.of_all, built.fates, natives, store
        )
        found, _, joined = graphs_to_pack(
            read_coverage(args.table), built, choices, store, whole=True
        )
        members = [
            member._replace(quality_sha256=qualities.digest(member[:2]))
            for member in found
        ]
        n_read = write_pack(args.pack, members, joined, qualities.of)
    except TopoRankError as error:
        sys.exit(str(error))
    print(
        f"{len(members)} graphs; {n_read} read, the others copied from the older pack"
    )


if __name__ == "__main__":
    main()
