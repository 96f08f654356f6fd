#!/usr/bin/env python3
"""Score the graphs of a data set and rank its decoys."""

import argparse
import sys
from pathlib import Path

from toporank.building.coverage import read_coverage
from toporank.errors import TopoRankError
from toporank.evaluation.ranking import model_pred_dockq, ranking
from toporank.files import write_text
from toporank.model.scoring import read_ensemble, score_pack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True, help="gives the score")
    parser.add_argument(
        "--ensemble",
        type=Path,
        nargs="?",
        help="folder of checkpoints for the spread, and for the score if it says so",
    )
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--coverage", type=Path, required=True)
    parser.add_argument("--ranking", type=Path, required=True, help="written")
    parser.add_argument("--export", type=Path, required=True, help="written: MODEL,PRED_DOCKQ")
    args = parser.parse_args()

    try:
        ensemble, mean = read_ensemble(args.ensemble) if args.ensemble else ([], False)
        scores = score_pack(args.checkpoint, ensemble, args.pack, mean=mean)
        table = ranking(read_coverage(args.coverage), scores)
    except TopoRankError as error:
        sys.exit(str(error))
    write_text(args.ranking, table.to_csv(index=False))
    write_text(args.export, model_pred_dockq(table).to_csv(index=False))
    print(f"{args.ranking}: {table['pred_dockq'].notna().sum()} decoys scored, {table['pred_dockq'].isna().sum()} not")


if __name__ == "__main__":
    main()
