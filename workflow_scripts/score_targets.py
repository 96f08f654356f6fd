#!/usr/bin/env python3
"""Score the models of a part of the targets of a data set."""

import argparse
import gc
import json
import sys
from pathlib import Path
from typing import get_args

from toporank import layout
from toporank.building.built import read_built
from toporank.building.chunks.plan import part_of
from toporank.building.chunks.store import Store
from toporank.errors import TopoRankError
from toporank.features.registry import choose
from toporank.files.atomic import note_progress, write_text
from toporank.inputs.confidence.table import AUTO, PlddtChoice
from toporank.ranking.model_table import RANKED_BY
from toporank.ranking.score import ScoringOptions, TargetScorer
from toporank.ranking.score_targets import score_targets
from toporank.scorer.scorer import Scorer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument(
        "--part",
        required=True,
        help="number of the part and of all parts, such as 3-of-7",
    )
    parser.add_argument(
        "--built", action="store_true", help="the ledgers say what became of the models"
    )
    parser.add_argument(
        "--scorer", type=Path, required=True, help="folder of a scorer, or a checkpoint"
    )
    parser.add_argument(
        "--features", required=True, help="feature modules and parameters as JSON"
    )
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    parser.add_argument("--rank-by", choices=RANKED_BY, default="complex")
    parser.add_argument(
        "--plddt",
        choices=get_args(PlddtChoice),
        default=AUTO,
        help="whether B factors are pLDDT",
    )
    parser.add_argument(
        "--without-confidence",
        action="store_true",
        help="the predictor's own does not count",
    )
    parser.add_argument(
        "--results", type=Path, required=True, help="written: a line for each target"
    )
    args = parser.parse_args()
    # next to no cycles are made, and looking for them takes a tenth of the time
    gc.disable()

    options = ScoringOptions(
        plddt=args.plddt,
        rank_by=args.rank_by,
        use_confidence=not args.without_confidence,
    )
    choices = {
        name: choose(name, record) for name, record in json.loads(args.features).items()
    }
    done = 0

    def show(n: int) -> None:
        nonlocal done
        done += n
        note_progress(
            Path(layout.PROGRESS.format(dataset=args.dataset, chunk=args.part)), done, 0
        )

    try:
        built = read_built(args.dataset, fates=args.built)
        scorer = TargetScorer(
            Scorer.open(args.scorer),
            choices,
            Store(args.store, graphs_only=not args.built),
            options,
        )
        targets = part_of(built.plan.values(), args.part)
        results = score_targets(
            scorer,
            targets,
            workers=1,
            show=show,
            fates=built.fates if args.built else None,
        )
    except TopoRankError as error:
        sys.exit(str(error))
    write_text(args.results, "".join(f"{result.to_json()}\n" for result in results))
    print(f"{args.dataset} {args.part}: {len(results)} targets, {done} models")
    gc.freeze()  # otherwise Python would search all of torch for garbage on exit


if __name__ == "__main__":
    main()
