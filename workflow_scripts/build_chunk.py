#!/usr/bin/env python3
"""Bring one feature stage up to date for the decoys of one chunk."""

import argparse
import json
import logging
from pathlib import Path

from toporank.building.chunk import run_chunk
from toporank.building.stages import STAGES, recipe
from toporank.building.store import Store
from toporank.features.registry import choose
from toporank.layout import STAGES as STAGE_NAMES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", required=True, choices=STAGE_NAMES)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--plan", type=Path, required=True, help="decoys of the chunk")
    parser.add_argument("--upstream", type=Path, help="ledger of the stage before")
    parser.add_argument("--ledger", type=Path, required=True, help="written: what became of each decoy")
    parser.add_argument("--features", required=True, help="feature modules and parameters as JSON")
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    if args.stage == "graphs":
        from toporank.graphs.stage import GRAPHS as stage
    else:
        stage = STAGES[args.stage]
    choices = {name: choose(name, record) for name, record in json.loads(args.features).items()}
    run_chunk(
        stage,
        args.dataset,
        args.plan,
        args.upstream,
        args.ledger,
        choices,
        Store(args.store),
        recipe(stage.name, choices),
    )


if __name__ == "__main__":
    main()
