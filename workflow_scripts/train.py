#!/usr/bin/env python3
"""Train one network; resumes an interrupted run."""

import argparse
import json
import logging
import sys
from pathlib import Path

from toporank.errors import TopoRankError
from toporank.learning.run import Run
from toporank.learning.train import TrainingGraphs, train_run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="name of the run")
    parser.add_argument(
        "--packs",
        type=Path,
        nargs="+",
        required=True,
        help="packed graphs of the training data sets",
    )
    parser.add_argument(
        "--validation",
        type=Path,
        nargs="+",
        help="packs to validate on; those of --packs by default",
    )
    parser.add_argument(
        "--splits",
        type=Path,
        help="splits.csv; decides for targets whose labels have no split",
    )
    parser.add_argument(
        "--fold",
        type=int,
        help="of a cross-validation, from 0: the fold that is neither seen nor judged",
    )
    parser.add_argument(
        "--chains",
        type=Path,
        nargs="+",
        default=[],
        help="chains.csv of the training data sets",
    )
    parser.add_argument(
        "--parameters",
        required=True,
        help="seed, hyperparameters, selection and freeze as JSON",
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--parent", type=Path, help="checkpoint whose weights to start from"
    )
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    parser.add_argument("--output", type=Path, required=True, help="folder of the run")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    try:
        run = Run.parse(args.name, json.loads(args.parameters), args.parent)
        source = TrainingGraphs(
            args.packs, args.validation, args.splits, args.fold, args.chains
        )
        train_run(run, source, args.threads, args.output, args.store)
    except TopoRankError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
