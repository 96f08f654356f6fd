"""The packed graphs of a data set into scores and the ranking of its decoys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from toporank.building.built import Built
from toporank.building.store import Store
from toporank.confidence.table import Confidence
from toporank.evaluation.comparison import comparison_table, stored_contacts
from toporank.evaluation.coverage import CoverageRow
from toporank.evaluation.interfaces import InterfaceRow, scored_interfaces
from toporank.evaluation.ranking import COMPLEX, ComparedDecoy, RankedDecoy, ranking
from toporank.evaluation.residues import with_agreement
from toporank.model.scoring import Networks
from toporank.scorer.combine import combine
from toporank.scorer.prediction import Score
from toporank.scorer.trust import how_far_to_trust
from toporank.scorer.weigh import weigh_confidence


class Scored(NamedTuple):
    """scores : of every graph. table : the ranking. why_not : why there are no intervals; empty where there are."""

    scores: list[Score]
    interfaces: list[InterfaceRow]
    comparison: list[ComparedDecoy]
    table: list[RankedDecoy]
    why_not: str


def scored(
    networks: Networks,
    packs: Sequence[Path],
    coverage: Sequence[CoverageRow],
    interfaces: Sequence[InterfaceRow],
    stated: Sequence[Confidence],
    built: Built,
    store: Store,
    *,
    rank_by: str = COMPLEX,
    fold_twins: bool = False,
    use_confidence: bool = True,
) -> Scored:
    """Score the decoys of a data set, compare those of each target, and rank them.

    packs : of decoys and of interfaces. stated : what predictors say; it counts in the score with `use_confidence`.
    rank_by, fold_twins : as for `ranking`. Raises CheckpointError, GraphError, RecordError or StructureError, with the
    reason, when the scorer does not fit the graphs or something is damaged.
    """
    scorer, packs = networks.scorer, [*packs]
    contacts = stored_contacts(built, coverage, store)
    comparison = comparison_table(coverage, contacts)
    copies = {(row.target, row.decoy): row.duplicate_of for row in coverage if row.duplicate_of}
    scores = combine(networks.score(*packs), packs, contacts, copies, scorer.trees)
    scores = weigh_confidence(scores, stated if use_confidence else [], copies, scorer.own_confidence)
    scores = with_agreement(scores, contacts, copies)
    rows = scored_interfaces(interfaces, scores)
    trusted, why_not = how_far_to_trust(scorer, coverage, scores, stated)
    table = ranking(coverage, scores, rows, rank_by, comparison, trusted, fold_twins=fold_twins)
    return Scored(scores, rows, comparison, table, why_not)
