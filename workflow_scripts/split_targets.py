#!/usr/bin/env python3
"""Decide which targets are trained on, validated on and held out; say which of them share
chains.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from toporank import layout
from toporank.comparing.homology.chain_tables import compared, read_chains, write_splits
from toporank.errors import ConfigError, TopoRankError
from toporank.inputs.labels import SPLITS, read_split_labels
from toporank.learning.assignment import SplitRules, assign, describe_leaks, leaks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", required=True)
    parser.add_argument(
        "--finetune",
        nargs="*",
        default=[],
        help="those that only fine-tuning learns from",
    )
    parser.add_argument(
        "--chains",
        type=Path,
        nargs="+",
        required=True,
        help="chains.csv of each of them",
    )
    parser.add_argument("--split-by", choices=("cluster", "target"), required=True)
    parser.add_argument("--validation-percent", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--folds", type=int, required=True)
    parser.add_argument("--similarity", choices=("kmers", "mmseqs2"), default="kmers")
    parser.add_argument("--leakage", choices=("warn", "refuse"), required=True)
    parser.add_argument("--table", type=Path, required=True, help="written")
    args = parser.parse_args()

    try:
        label_splits = {}
        for name in args.datasets:
            for label in read_split_labels(Path(layout.LABELS.format(dataset=name))):
                label_splits[name, label.target] = label.split
        chains = compared(row for path in args.chains for row in read_chains(path))
        rules = SplitRules(
            split_by=args.split_by,
            percent=args.validation_percent,
            seed=args.seed,
            folds=args.folds,
            align=args.similarity == "mmseqs2",
        )
        table = assign(label_splits, chains, rules, finetuned=args.finetune)
        leaking = leaks(table)
        if leaking and args.leakage == "refuse":
            remedy = (
                "correct the splits of the labels, or leave them out; or "
                "set training.leakage: warn"
            )
            raise ConfigError(
                describe_leaks(leaking), where="the splits leak", remedy=remedy
            )
    except TopoRankError as error:
        sys.exit(str(error))
    write_splits(args.table, table)
    n_of_split = Counter(row.split for row in table)
    sides = ", ".join(
        f"{n_of_split[split]} {split}" for split in SPLITS if split in n_of_split
    )
    print(
        f"{len(table)} targets in {len({row.cluster for row in table})} clusters: {sides}"
    )
    if leaking:
        print(f"warning: the splits leak: {describe_leaks(leaking)}; see {args.table}")


if __name__ == "__main__":
    main()
