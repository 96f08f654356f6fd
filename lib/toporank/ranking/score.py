"""The packed graphs of a data set into scores and the ranking of its decoys."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from toporank.building.asked import asked, remembered
from toporank.building.chunks.built import Built, Key
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
from toporank.inputs.confidence.table import AUTO, Choice, Confidence, of_copies, spoken
from toporank.layout import STAGES
from toporank.ranking.answers import OF_DECOYS, OF_ROWS, Answer, Answers, Given, by_target, given_by_target, made_of
from toporank.ranking.interfaces import InterfaceRow, interface_table, scored_interfaces, scores_of_weakest
from toporank.ranking.ranked import COMPLEX, RankedDecoy, ranking, with_unmasked
from toporank.ranking.residues import contact_lines, residue_lines
from toporank.scorer.combine import combine
from toporank.scorer.judged import descriptors_of, judged
from toporank.scorer.kept import Kept
from toporank.scorer.prediction import Score
from toporank.scorer.residue_quality import read_quality, with_agreement
from toporank.scorer.scorer import Scorer
from toporank.scorer.trust import how_far_to_trust, why_no_intervals
from toporank.scorer.weigh import weigh_confidence
from toporank.structures.masking import masked_places

GRAPHS = STAGES[-1]


class Ways(NamedTuple):
    """How decoys are scored.

    plddt : whether B factors are pLDDT. rank_by, fold_twins : as for `ranking`. use_confidence : whether what
    predictors say counts in the score. arithmetic : what goes on around that of the networks.
    """

    plddt: Choice = AUTO
    rank_by: str = COMPLEX
    fold_twins: bool = False
    use_confidence: bool = True
    arithmetic: Callable[[], AbstractContextManager] = contextlib.nullcontext


class Scored(NamedTuple):
    """The answers for all targets, joined: see `answers.Answer`; vectors, residues, contacts by target and decoy.

    why_not : why there are no intervals; empty where there are.
    """

    table: list[RankedDecoy]
    interfaces: list[InterfaceRow]
    comparison: list[ComparedDecoy]
    vectors: dict[Key, list[float]]
    residues: dict[Key, str]
    contacts: dict[Key, str]
    why_not: str


def scored(
    scorer: Scorer,
    choices: dict[str, Features],
    coverage: Sequence[CoverageRow],
    interfaces: Sequence[InterfaceRow],
    stated: Sequence[Confidence],
    built: Built,
    store: Store,
    ways: Ways,
) -> Scored:
    """Score the decoys of a data set, compare those of each target, and rank them.

    A target that came out before is not looked at again. choices : the feature modules of the graphs. stated : what
    predictors say. A thin store forgets the graphs.
    Raises CheckpointError, GraphError, RecordError or StructureError, with the
    reason, when the scorer does not fit the graphs or something is damaged.
    """
    given = given_by_target(Given(coverage, interfaces, stated, made_of(coverage, built)))
    own = {"rank_by": ways.rank_by, "fold_twins": ways.fold_twins, "use_confidence": ways.use_confidence}
    kept = Answers(store, {"scorer": scorer.digest, "judged_by": Kept(scorer).digest, **own})
    answers = {target: kept.find(target, each) for target, each in given.items()}
    new = {target: given[target] for target, answer in answers.items() if answer is None}
    for target, answer in _answered(scorer, choices, new, built, store, ways).items():
        kept.keep(target, new[target], answer)
        answers[target] = answer
    rows = {name: [row for answer in answers.values() for row in getattr(answer, name)] for name in OF_ROWS}
    of_decoys = {
        name: {
            (target, decoy): value
            for target, answer in answers.items()
            for decoy, value in getattr(answer, name).items()
        }
        for name in OF_DECOYS
    }
    return Scored(**rows, **of_decoys, why_not=why_no_intervals(scorer))


def _answered(
    scorer: Scorer, choices: dict[str, Features], given: Mapping[str, Given], built: Built, store: Store, ways: Ways
) -> dict[str, Answer]:
    """The answers for some targets, whose graphs are judged together."""
    coverage, interfaces, stated = (
        [row for each in given.values() for row in getattr(each, name)] for name in ("coverage", "interfaces", "stated")
    )
    found, new = judged(scorer, packed(coverage, built, choices, store), store)
    for digest in {built.fates[key].complex for key in new} if store.thin else ():
        store.box(digest).forget(GRAPHS)
    contacts = stored_contacts(built, coverage, store)
    comparison = comparison_table(coverage, contacts)
    copies = {(row.target, row.decoy): row.duplicate_of for row in coverage if row.duplicate_of}
    stated = of_copies(stated, copies)
    features, scores = graph_metadata(choices)["features"], [one.score for one in found]
    scores = combine(scores, descriptors_of(found), features, contacts, copies, scorer.trees)
    scores = weigh_confidence(scores, stated if ways.use_confidence else [], copies, scorer.own_confidence)
    quality = read_quality(scorer.quality) if scorer.quality else None
    scores = with_agreement(scores, contacts, copies, quality)
    rows = scored_interfaces(interfaces, scores)
    trusted = how_far_to_trust(scorer, coverage, scores_of_weakest(scores, rows), stated)
    table = ranking(coverage, scores, rows, ways.rank_by, comparison, trusted, fold_twins=ways.fold_twins)
    rows_of = [by_target(each) for each in (table, rows, comparison)]
    decoys = by_target(score for score in scores if not score.interface)
    return {target: _answer([of.get(target, []) for of in rows_of], decoys.get(target, [])) for target in given}


def _answer(rows: list[list[Any]], decoys: list[Score]) -> Answer:
    vectors = {score.decoy: [*score.pooled] for score in decoys if score.pooled}
    lines = ({score.decoy: lines(score) for score in decoys} for lines in (residue_lines, contact_lines))
    return Answer(*rows, vectors, *lines)


class Examined(NamedTuple):
    """Decoys that were built, compared with their target and asked for their confidence, and their scores."""

    built: Built
    coverage: list[CoverageRow]
    scored: Scored


def score_plan(
    scorer: Scorer, plan: list[PlannedDecoy], choices: dict[str, Features], store: Store, ways: Ways
) -> Examined:
    """Take the decoys of a plan from their files to scores, in this process; what the store has costs little.

    A decoy with a mask has its score without the mask, too, as from `with_masks`. Raises as `scored` does.
    """
    fates = [run_decoy(decoy, choices, store) for decoy in plan]
    built = Built.of(plan, fates)
    coverage = coverage_table(plan, fates, (), chain_maps_of(plan, built.fates, store))
    with remembered(built, store) as look:
        stated = spoken(confidences(asked(coverage, built, store), ways.plddt, look))
    known = interface_table(coverage, built.fates)
    with ways.arithmetic():
        found = scored(scorer, choices, coverage, known, stated, built, store, ways)
    return Examined(built, coverage, with_masks(found, scorer, built, choices, store, ways))


def with_masks(
    found: Scored, scorer: Scorer, built: Built, choices: dict[str, Features], store: Store, ways: Ways
) -> Scored:
    """The scores of decoys, in whose table is what masks changed; as they are where no decoy has a mask."""
    masked = {key: len(masked_places(decoy.masked)) for key, decoy in built.plan.items() if decoy.masked}
    if not masked:
        return found
    whole = [decoy._replace(masked="") for decoy in built.plan.values()]
    unmasked = score_plan(scorer, whole, choices, store, ways).scored.table
    return found._replace(table=with_unmasked(found.table, masked, unmasked))
