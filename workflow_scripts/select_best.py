#!/usr/bin/env python3
"""Rank runs under every selection rule and copy the checkpoint that the chosen rule prefers."""

import argparse
from pathlib import Path

from toporank.learning.selection import CHECKPOINT_OF, write_ensemble, write_selection
from toporank.scorer.manifest import seal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--summaries",
        type=Path,
        nargs="+",
        required=True,
        help="summary.json of each run",
    )
    parser.add_argument("--rule", choices=sorted(CHECKPOINT_OF), required=True)
    parser.add_argument(
        "--table", type=Path, required=True, help="written: the leaderboard"
    )
    parser.add_argument(
        "--best",
        type=Path,
        required=True,
        help="written: the chosen .ckpt, and a .json beside it",
    )
    parser.add_argument(
        "--ensemble",
        type=Path,
        help=(
            "written: folder with the best checkpoints of the best runs, and scorer.json beside it"
        ),
    )
    parser.add_argument(
        "--members", type=int, help="how many runs are in the ensemble; all by default"
    )
    parser.add_argument(
        "--score",
        choices=("best", "mean"),
        default="best",
        help="what the final score is",
    )
    args = parser.parse_args()

    chosen = write_selection(
        args.summaries, args.rule, args.table, args.best.with_suffix("")
    )
    if args.ensemble:
        write_ensemble(args.summaries, args.rule, args.ensemble, args.members)
        seal(args.best.parent, mean=args.score == "mean")
    place = f"{args.rule} {chosen[args.rule]:.4f}, epoch {chosen['epoch']}"
    print(f"{chosen['run']} is best of {len(args.summaries)} runs: {place}")
    if chosen["fine_tuning"]:
        print(chosen["fine_tuning"])


if __name__ == "__main__":
    main()
