#!/usr/bin/env python3
"""Publish the artefacts of a data set as files: interface, topology, nodes and graph of each
decoy.
"""

import argparse
import json
import sys
from pathlib import Path

from toporank.building.chunks.published import publish, publish_decoy
from toporank.building.chunks.store import Store
from toporank.errors import TopoRankError
from toporank.features.registry import choose
from toporank.learning.pyg_files import as_file
from toporank.structures.identity import Status


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument(
        "--chunk",
        help="the chunk of a single decoy, to publish no other; without a graph it fails",
    )
    parser.add_argument(
        "--features", required=True, help="feature modules and parameters as JSON"
    )
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    args = parser.parse_args()

    choices = {
        name: choose(name, record) for name, record in json.loads(args.features).items()
    }
    try:
        if args.chunk is None:
            written, removed = publish(
                args.dataset, choices, Store(args.store), as_file
            )
            print(
                f"{args.dataset}: {written} artefacts published, {removed} of "
                "decoys that are gone removed"
            )
            return
        row = publish_decoy(
            args.dataset, args.chunk, choices, Store(args.store), as_file
        )
    except TopoRankError as error:
        sys.exit(str(error))
    outcome = f"{row.target}/{row.decoy}: {row.status}" + (
        f": {row.reason}" if row.reason else ""
    )
    if row.status != Status.OK:
        sys.exit(f"{outcome} (at the stage {row.stage})")
    print(outcome)


if __name__ == "__main__":
    main()
