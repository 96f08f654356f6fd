"""The packed graphs of a data set into scores and the ranking of its decoys."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from toporank.building.asked import asked, remembered
from toporank.building.chunks.built import Built
from toporank.building.chunks.chunk import run_decoy
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.stages import graph_metadata
from toporank.building.chunks.store import Store
from toporank.building.compared import ComparedDecoy, comparison_table, stored_contacts
from toporank.building.coverage import CoverageRow, coverage_table
from toporank.building.packed import packed
from toporank.building.target_chains import chain_maps_of
from toporank.features.registry import Choice as Features
from toporank.inputs.confidence.job import confidences
from toporank.inputs.confidence.table import AUTO, Choice, Confidence, spoken
from toporank.layout import STAGES
from toporank.ranking.interfaces import InterfaceRow, interface_table, scored_interfaces
from toporank.ranking.ranked import COMPLEX, RankedDecoy, ranking, with_unmasked
from toporank.scorer.combine import combine
from toporank.scorer.judged import descriptors_of, judged
from toporank.scorer.networks import Networks
from toporank.scorer.prediction import Score
from toporank.scorer.residue_quality import read_quality, with_agreement
from toporank.scorer.trust import how_far_to_trust
from toporank.scorer.weigh import weigh_confidence
from toporank.structures.masking import masked_places

GRAPHS = STAGES[-1]


class Scored(NamedTuple):
    """scores : of every graph. table : the ranking. why_not : why there are no intervals; empty where there are."""

    scores: list[Score]
    interfaces: list[InterfaceRow]
    comparison: list[ComparedDecoy]
    table: list[RankedDecoy]
    why_not: str


def scored(
    networks: Networks,
    choices: dict[str, Features],
    coverage: Sequence[CoverageRow],
    interfaces: Sequence[InterfaceRow],
    stated: Sequence[Confidence],
    built: Built,
    store: Store,
    *,
    precision: str = "float32",
    rank_by: str = COMPLEX,
    fold_twins: bool = False,
    use_confidence: bool = True,
) -> Scored:
    """Score the decoys of a data set, compare those of each target, and rank them.

    choices : the feature modules of the graphs. stated : what predictors say; it counts in the score with
    `use_confidence`. precision : of packs. rank_by, fold_twins : as for `ranking`. A thin store forgets the graphs.
    Raises CheckpointError, GraphError, RecordError or StructureError, with the
    reason, when the scorer does not fit the graphs or something is damaged.
    """
    scorer = networks.scorer
    found, new = judged(networks, packed(coverage, built, choices, store), store, precision)
    for digest in {built.fates[key].complex for key in new} if store.thin else ():
        store.box(digest).forget(GRAPHS)
    contacts = stored_contacts(built, coverage, store)
    comparison = comparison_table(coverage, contacts)
    copies = {(row.target, row.decoy): row.duplicate_of for row in coverage if row.duplicate_of}
    features, scores = graph_metadata(choices)["features"], [one.score for one in found]
    scores = combine(scores, descriptors_of(found), features, contacts, copies, scorer.trees)
    scores = weigh_confidence(scores, stated if use_confidence else [], copies, scorer.own_confidence)
    quality = read_quality(scorer.quality) if scorer.quality else None
    scores = with_agreement(scores, contacts, copies, quality)
    rows = scored_interfaces(interfaces, scores)
    trusted, why_not = how_far_to_trust(scorer, coverage, scores, stated)
    table = ranking(coverage, scores, rows, rank_by, comparison, trusted, fold_twins=fold_twins)
    return Scored(scores, rows, comparison, table, why_not)


class Ways(NamedTuple):
    """How decoys are scored.

    precision : of packs. plddt : whether B factors are pLDDT. arithmetic : what goes on around that of the networks.
    The others : as for `scored`.
    """

    precision: str = "float32"
    plddt: Choice = AUTO
    rank_by: str = COMPLEX
    fold_twins: bool = False
    use_confidence: bool = True
    arithmetic: Callable[[], AbstractContextManager] = contextlib.nullcontext


class Examined(NamedTuple):
    """Decoys that were built, compared with their target and asked for their confidence, and their scores."""

    built: Built
    coverage: list[CoverageRow]
    scored: Scored


def score_plan(
    networks: Networks, plan: list[PlannedDecoy], choices: dict[str, Features], store: Store, ways: Ways
) -> Examined:
    """Take the decoys of a plan from their files to scores, in this process; what the store has costs little.

    A decoy with a mask has its score without the mask, too, as from `with_masks`. Raises as `scored` does.
    """
    fates = [run_decoy(decoy, choices, store) for decoy in plan]
    built = Built.of(plan, fates)
    coverage = coverage_table(plan, fates, (), chain_maps_of(plan, built.fates, store))
    with remembered(built, store) as look:
        stated = spoken(confidences(asked(coverage, built, store), ways.plddt, look))
    chosen = {name: getattr(ways, name) for name in ("precision", "rank_by", "fold_twins", "use_confidence")}
    known = interface_table(coverage, built.fates)
    with ways.arithmetic():
        found = scored(networks, choices, coverage, known, stated, built, store, **chosen)
    return Examined(built, coverage, with_masks(found, networks, built, choices, store, ways))


def with_masks(
    found: Scored, networks: Networks, built: Built, choices: dict[str, Features], store: Store, ways: Ways
) -> Scored:
    """The scores of decoys, in whose table is what masks changed; as they are where no decoy has a mask."""
    masked = {key: len(masked_places(decoy.masked)) for key, decoy in built.plan.items() if decoy.masked}
    if not masked:
        return found
    whole = [decoy._replace(masked="") for decoy in built.plan.values()]
    unmasked = score_plan(networks, whole, choices, store, ways).scored.table
    return found._replace(table=with_unmasked(found.table, masked, unmasked))
