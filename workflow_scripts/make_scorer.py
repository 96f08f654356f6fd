#!/usr/bin/env python3
"""Make a scorer from a cross-validation: its networks, its judge, vectors and model card."""

import argparse
import gc
import sys
from pathlib import Path

from toporank.errors import TopoRankError
from toporank.learning.selection import CHECKPOINT_OF
from toporank.scorer.evidence import CrossValidation
from toporank.scorer.make import make_scorer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--datasets", nargs="+", required=True, help="that are learned from"
    )
    parser.add_argument(
        "--run",
        required=True,
        help="whose networks in all folds are those of the scorer",
    )
    parser.add_argument(
        "--rule",
        choices=sorted(CHECKPOINT_OF),
        required=True,
        help="that chooses their checkpoints",
    )
    parser.add_argument(
        "--made",
        nargs="*",
        default=[],
        help="groups of decoys that were made around natives",
    )
    parser.add_argument(
        "--quality-of",
        nargs="*",
        default=[],
        help="groups that the quality of residues and contacts comes from",
    )
    parser.add_argument(
        "--natives",
        nargs="*",
        default=[],
        help="NAME=FOLDER, of data sets: which residues are right",
    )
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    parser.add_argument(
        "--out", type=Path, required=True, help="written: the folder of the scorer"
    )
    args = parser.parse_args()

    try:
        natives = {
            name: Path(folder)
            for name, _, folder in (each.partition("=") for each in args.natives)
        }
        study = CrossValidation(Path(), args.datasets, args.store, natives)
        groups = {*args.quality_of} or {*study.decoys["group"]} - {*args.made}
        evidence = study.evidence(args.run, args.rule, groups)
        scorer = make_scorer(evidence, args.out, made=args.made)
    except TopoRankError as error:
        sys.exit(str(error))
    print(
        f"{args.out}: {len(scorer.members)} networks, learned from {len(evidence.decoys):,} "
        f"decoys ({scorer.digest})"
    )
    for line in filter(None, [scorer.missing, scorer.toy]):
        print(line)
    gc.freeze()  # otherwise Python would search all of torch for garbage on exit


if __name__ == "__main__":
    main()
