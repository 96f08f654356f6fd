#!/usr/bin/env python3
"""Score the graphs of another pipeline and rank them."""

import argparse
import sys
from pathlib import Path

from toporank.building.coverage import read_coverage
from toporank.errors import TopoRankError
from toporank.ranking.leakage import describe
from toporank.ranking.model_table import best_of_each_target
from toporank.ranking.packed_scores import score_pack
from toporank.scorer.scorer import Scorer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument(
        "--scorer", type=Path, required=True, help="folder of a scorer, or a checkpoint"
    )
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--coverage", type=Path, required=True)
    args = parser.parse_args()

    try:
        scorer = Scorer.open(args.scorer)
        results = score_pack(
            scorer, args.pack, read_coverage(args.coverage), args.dataset
        )
        results.write_tables(Path(), of_graphs=True)
    except TopoRankError as error:
        sys.exit(str(error))
    print(f"{len(results.pooled_vectors)} graphs scored; the best of each target:")
    for line in best_of_each_target(results.table):
        print(f"  {line}")
    print(*filter(None, [scorer.toy, describe(results.leakage)]), sep="\n")


if __name__ == "__main__":
    main()
