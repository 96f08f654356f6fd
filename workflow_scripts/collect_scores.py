#!/usr/bin/env python3
"""Join the scores of all targets of a data set to its tables."""

import argparse
import gc
import sys
from pathlib import Path

from toporank.building.built import read_built
from toporank.building.chunks.store import Store
from toporank.building.planning import recognised
from toporank.errors import TopoRankError
from toporank.ranking.model_table import RANKED_BY, best_of_each_target
from toporank.ranking.score import ScoringOptions
from toporank.ranking.tables import ScoredModels
from toporank.ranking.target_result import TargetResult
from toporank.scorer.scorer import Scorer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument(
        "--parts", type=Path, nargs="*", default=[], help="from score_targets.py"
    )
    parser.add_argument(
        "--scorer", type=Path, required=True, help="folder of a scorer, or a checkpoint"
    )
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    parser.add_argument("--rank-by", choices=RANKED_BY, default="complex")
    parser.add_argument(
        "--without-confidence",
        action="store_true",
        help="the predictor's own does not count",
    )
    parser.add_argument(
        "--built", action="store_true", help="chains and confidence are there already"
    )
    args = parser.parse_args()
    # next to no cycles are made, and looking for them takes a tenth of the time
    gc.disable()

    lines = [
        line
        for part in args.parts
        for line in part.read_text(encoding="utf-8").splitlines()
    ]
    try:
        results = ScoredModels(
            name=args.dataset,
            target_results=sorted(
                map(TargetResult.from_json, lines), key=lambda result: result.target
            ),
            plan=[*read_built(args.dataset, fates=False).plan.values()],
            scorer=Scorer.open(args.scorer),
            options=ScoringOptions(
                rank_by=args.rank_by,
                use_confidence=not args.without_confidence,
            ),
            store=Store(args.store, graphs_only=not args.built),
        )
        results.write_tables(Path(), scores_alone=args.built)
    except TopoRankError as error:
        sys.exit(str(error))
    table = results.table
    n_scored = int(table["dockq"].notna().sum())
    print(
        f"{args.dataset}: {n_scored} models scored, {len(table) - n_scored} not; the best of each "
        "target:"
    )
    joined = recognised(results.rows("coverage"))
    print(*(f"  {line}" for line in [*joined, *best_of_each_target(table)]), sep="\n")
    print(*results.remarks(), sep="\n")


if __name__ == "__main__":
    main()
