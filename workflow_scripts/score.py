#!/usr/bin/env python3
"""Score the graphs of a data set and rank its decoys."""

import argparse
import gc
import json
import sys
from pathlib import Path
from typing import get_args

from toporank.building.chunks.built import read_built
from toporank.building.chunks.store import Store
from toporank.building.compared import stored_complexes, write_comparison
from toporank.building.coverage import read_coverage
from toporank.comparing.homology.chain_tables import antibodies, compared, read_chains
from toporank.errors import TopoRankError
from toporank.features.registry import choose
from toporank.inputs.confidence.table import AUTO, Choice, read_confidence
from toporank.ranking.interfaces import hints, read_interfaces, write_interfaces
from toporank.ranking.leakage import describe, leakage, write_leakage
from toporank.ranking.models import write_models
from toporank.ranking.ranked import RANKED_BY, best_of_each_target, write_model_pred_dockq, write_ranking
from toporank.ranking.residues import why_no_contacts, why_no_residues, write_contact_lines, write_residue_lines
from toporank.ranking.score import Ways, scored, with_masks
from toporank.scorer.embeddings import write_embeddings
from toporank.scorer.record import ScoredWith, write_record
from toporank.scorer.scorer import Scorer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--scorer", type=Path, required=True, help="folder of a scorer, or a checkpoint")
    for name in ("coverage", "interfaces", "chains", "confidence"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--rank-by", choices=RANKED_BY, default="complex")
    parser.add_argument("--fold-twins", action="store_true", help="twins share a rank")
    parser.add_argument("--features", required=True, help="feature modules and parameters as JSON")
    parser.add_argument("--plddt", choices=get_args(Choice), default=AUTO, help="whether B factors are pLDDT")
    parser.add_argument("--without-confidence", action="store_true", help="the predictor's own does not count")
    parser.add_argument("--mask-disorder", action="store_true", help="disordered residues are left out of the models")
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    parser.add_argument("--thin", action="store_true", help="the store forgets the graphs once they are judged")
    written = "comparison", "ranking", "scored-interfaces", "export", "leakage", "embeddings", "residues", "contacts"
    for name in (*written, "models", "record"):
        parser.add_argument(f"--{name}", type=Path, required=True, help="written")
    args = parser.parse_args()
    gc.disable()  # there are next to no cycles, and a tenth of the time went into looking for them
    try:
        scorer = Scorer.open(args.scorer)
        coverage, stated = read_coverage(args.coverage), read_confidence(args.confidence)
        built, known = read_built(args.dataset), read_interfaces(args.interfaces)
        store = Store(args.store, thin=args.thin)
        ways = Ways(args.plddt, args.rank_by, args.fold_twins, not args.without_confidence)
        choices = {name: choose(name, record) for name, record in json.loads(args.features).items()}
        found = scored(scorer, choices, coverage, known, stated, built, store, ways)
        found = with_masks(found, scorer, built, choices, store, ways)
        table, interfaces, comparison, vectors, residues, contacts, why_not = found
        write_models(args.models, table, residues, stored_complexes(built, store))
        chains = read_chains(args.chains)
        seen = leakage({row.target for row in table}, compared(chains), scorer.descriptions)
    except TopoRankError as error:
        sys.exit(str(error))
    write_comparison(args.comparison, comparison)
    write_ranking(args.ranking, table)
    write_embeddings(args.embeddings, vectors)
    write_residue_lines(args.residues, residues.values())
    write_contact_lines(args.contacts, contacts.values())
    write_interfaces(args.scored_interfaces, interfaces)
    write_model_pred_dockq(args.export, table)
    write_leakage(args.leakage, seen)
    chosen = {name: getattr(ways, name) for name in ("rank_by", "fold_twins", "use_confidence")}
    write_record(args.record, ScoredWith.of(scorer, **chosen, mask_disorder=args.mask_disorder))
    lost = sum(row.pred_dockq is None for row in table)
    print(f"{args.dataset}: {len(table) - lost} models scored, {lost} not; the best of each target:")
    for line in (*hints(interfaces, antibodies(chains)), *best_of_each_target(table)):
        print(f"  {line}")
    empty = why_no_residues(residues.values()), why_no_contacts(residues.values(), contacts.values())
    about = why_not, *empty, scorer.missing, scorer.toy, describe(seen)
    print(*filter(None, about), sep="\n")
    print(f"ranking: {args.ranking}\nreport:  {args.ranking.with_name('report.html')}")
    gc.freeze()  # otherwise Python would search all of torch for garbage on exit


if __name__ == "__main__":
    main()
