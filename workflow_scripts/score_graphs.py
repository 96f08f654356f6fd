#!/usr/bin/env python3
"""Score the graphs of another pipeline and rank them."""

import argparse
import sys
from pathlib import Path

from toporank.building.coverage import read_coverage
from toporank.errors import TopoRankError
from toporank.inputs.confidence.table import write_confidence
from toporank.ranking.interfaces import write_interfaces
from toporank.ranking.leakage import describe, write_leakage
from toporank.ranking.packed_scores import score_pack
from toporank.ranking.ranked import COMPLEX, best_of_each_target, write_model_pred_dockq, write_ranking
from toporank.ranking.residues import write_contact_lines, write_residue_lines
from toporank.scorer.embeddings import write_embeddings
from toporank.scorer.record import ScoredWith, write_record
from toporank.scorer.scorer import Scorer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scorer", type=Path, required=True, help="folder of a scorer, or a checkpoint")
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--coverage", type=Path, required=True)
    written = "ranking", "export", "leakage", "embeddings", "record"
    of_structures = "interfaces", "residues", "contacts", "confidence"
    for name in written:
        parser.add_argument(f"--{name}", type=Path, required=True, help="written")
    for name in of_structures:
        parser.add_argument(f"--{name}", type=Path, required=True, help="written, without rows")
    args = parser.parse_args()

    try:
        scorer = Scorer.open(args.scorer)
        scored = score_pack(scorer, args.pack, read_coverage(args.coverage))
    except TopoRankError as error:
        sys.exit(str(error))
    write_ranking(args.ranking, scored.ranking)
    write_model_pred_dockq(args.export, scored.ranking)
    write_leakage(args.leakage, scored.leakage)
    write_embeddings(args.embeddings, scored.vectors)
    record = ScoredWith.of(scorer, rank_by=COMPLEX, use_confidence=False)
    write_record(args.record, record)
    write_interfaces(args.interfaces, [])
    write_residue_lines(args.residues, [])
    write_contact_lines(args.contacts, [])
    write_confidence(args.confidence, [])
    print(f"{len(scored.vectors)} graphs scored; the best of each target:")
    for line in best_of_each_target(scored.ranking):
        print(f"  {line}")
    print(*filter(None, [scorer.toy, describe(scored.leakage)]), sep="\n")
    print(f"ranking: {args.ranking}\nreport:  {args.ranking.with_name('report.html')}")


if __name__ == "__main__":
    main()
