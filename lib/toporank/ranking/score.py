"""The decoys of one target: from their files to scores, compared with each other and ranked.

`TargetScorer.score` is the whole way: networks predict from graphs (`scorer.networks`), the judge
weighs that with the predictor's confidence and the other decoys (`scorer.judging`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toporank.building.built import (
    Built,
    GraphsToPack,
    confidence_requests,
    graphs_to_pack,
    matrices_of_decoy,
)
from toporank.building.chunks.chunk import run_decoy
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.building.compared import comparison_table, stored_contacts
from toporank.building.coverage import coverage_table
from toporank.building.packing import in_memory
from toporank.building.target_chains import correspondence_of, target_chains
from toporank.chains.complex_kinds import kind_of_complex
from toporank.confidence.confidences import confidences
from toporank.confidence.table import AUTO, PlddtChoice, best_measured, of_copies
from toporank.features.registry import FeatureChoice
from toporank.features.steps import graph_metadata
from toporank.files.packfile import PackedGraphs
from toporank.ranking.headlines import with_headlines
from toporank.ranking.interface_words import described
from toporank.ranking.interfaces import (
    MAIN,
    antibodies_of,
    dockq_of_chains,
    interface_table,
    scored_interfaces,
    with_contacts,
    with_roles,
)
from toporank.ranking.model_table import COMPLEX, score_record
from toporank.ranking.residues import contact_rows, residue_rows
from toporank.ranking.target_result import TargetCache, TargetResult
from toporank.scorer.judge import Judge, how_far_to_trust, read_judge
from toporank.scorer.judging import judged
from toporank.scorer.prediction import NOTHING, Predictions
from toporank.scorer.residue_quality import with_interface_quality, with_quality
from toporank.scorer.scorer import Scorer
from toporank.structures.identity import Status


@dataclass(frozen=True)
class ScoringOptions:
    """How decoys are scored.

    Attributes
    ----------
    plddt : whether B factors are pLDDT
    rank_by : what the ranking goes by, a key of `model_table.RANKED_BY`
    use_confidence : whether what predictors say counts in the score
    """

    plddt: PlddtChoice = AUTO
    rank_by: str = COMPLEX
    use_confidence: bool = True


class TargetScorer:
    """Scores targets, one at a time. The networks are read once, when the first target is scored.

    Parameters
    ----------
    scorer : what gives the scores
    choices : the feature modules of its graphs
    store : keeps features and results
    options : how decoys are scored
    contents : path → SHA-256 of the files whose atoms the store has
    """

    def __init__(
        self,
        scorer: Scorer,
        choices: dict[str, FeatureChoice],
        store: Store,
        options: ScoringOptions,
        contents: Mapping[str, str] | None = None,
    ):
        self.contents = contents or {}
        self.scorer = scorer
        self.choices = choices
        self.store = store
        self.options = options
        depends_on = {
            "scorer": scorer.digest,
            "graphs": graph_metadata(choices),
            **vars(options),
        }
        self.cache = TargetCache(store, depends_on)
        self._networks: Any = None

    def score(
        self, plan: Sequence[PlannedDecoy], fates: Sequence[LedgerRow]
    ) -> TargetResult:
        """Return the result for one target, computed and kept in the cache.

        Parameters
        ----------
        plan : its decoys
        fates : the outcome of each in the feature stages

        Raises
        ------
        CheckpointError, GraphError, RecordError or StructureError : the scorer does not fit the
            graphs, or something is damaged
        """
        result = self._computed(plan, fates)
        self.cache.keep(plan, result)
        return result

    def open_scorer(self) -> None:
        """Read the networks and the judge of the scorer, once.

        Raises CheckpointError or RecordError when one cannot be used.
        """
        if self._networks is None:
            # imports numba, which a cached result does not need
            from toporank.scorer.networks import Networks

            self._networks = Networks(self.scorer)
            # processes that are forked have it, too
            self.judge  # noqa: B018

    @functools.cached_property
    def judge(self) -> Judge | None:
        """The judge of the scorer, if it has one. Raises RecordError when it is damaged."""
        return read_judge(self.scorer.judge) if self.scorer.judge else None

    def features_of(self, decoy: PlannedDecoy) -> LedgerRow:
        """Compute the features of a decoy, which the store keeps; return its outcome."""
        return run_decoy(
            decoy, self.choices, self.store, self.contents.get(decoy.path, "")
        )

    def _computed(
        self, plan: Sequence[PlannedDecoy], fates: Sequence[LedgerRow]
    ) -> TargetResult:
        """The result for a target whose features are there."""
        store = self.store
        judge = self.judge
        built = Built.of(plan, fates)
        coverage = coverage_table(
            plan, fates, (), correspondence_of(plan, built.fates, store)
        )
        confidence = confidences(
            confidence_requests(coverage, built, store),
            self.options.plddt,
            anew=False,  # `score_targets` has looked
        )
        chains = target_chains(plan, built.fates, (), store)
        table = with_roles(
            interface_table(coverage, built.fates), antibodies_of(chains)
        )
        # such as an antibody that is apart from its antigen
        has_main = {row[:2] for row in table if row.role == MAIN}
        is_apart = {row[:2] for row in coverage if row.status == Status.PARTNER_APART}
        not_asked = is_apart - has_main
        predicted = self._predicted(
            graphs_to_pack(coverage, built, self.choices, store, left_out=not_asked)
        )
        copies = {
            (row.target, row.decoy): row.duplicate_of
            for row in coverage
            if row.duplicate_of
        }
        copies = best_measured(copies, confidence)
        for i, row in enumerate(coverage):
            coverage[i] = row._replace(
                duplicate_of=copies.get((row.target, row.decoy), "")
            )
        compared = stored_contacts(built, coverage, store)
        scores = predicted.scores
        if judge:
            stated = (
                of_copies(confidence, copies) if self.options.use_confidence else []
            )
            kind = kind_of_complex(row.sequence for row in chains)
            kinds = {plan[0].target: kind}
            scores = judged(judge, scores, compared, copies, stated, kinds)
        of_decoys = {
            (one.target, one.decoy): one for one in scores if not one.interface
        }
        quality = judge.quality if judge else None
        residues, contacts = with_quality(
            predicted.residues,
            predicted.contacts,
            {key: score.pred_dockq for key, score in of_decoys.items()},
            compared,
            copies,
            quality,
        )
        interfaces = with_contacts(scored_interfaces(table, scores), contacts)
        residues, contacts = with_interface_quality(
            residues, contacts, dockq_of_chains(interfaces), quality
        )
        contacts = contact_rows(contacts, residues)
        interfaces = described(
            interfaces, contacts, lambda key: matrices_of_decoy(built, key, store)
        )
        estimates = how_far_to_trust(
            judge, coverage, with_headlines(of_decoys.values(), interfaces)
        )
        result = TargetResult(
            target=plan[0].target,
            coverage=coverage,
            fates=list(fates),
            chains=chains,
            confidence=confidence,
            interfaces=interfaces,
            comparison=comparison_table(
                [row for row in coverage if row[:2] not in not_asked], compared
            ),
            residues=residue_rows(residues),
            contacts=contacts,
        )
        for key, score in of_decoys.items():
            result.scores.append(score_record(score, estimates.get(key)))
            if score.pooled:
                result.vectors[score.decoy] = list(score.pooled)
        return result

    def _predicted(self, graphs: GraphsToPack) -> Predictions:
        """What the networks predict of each decoy, then of each interface, in their order."""
        if not graphs.decoys and not graphs.interfaces:
            return NOTHING
        self.open_scorer()
        decoys = in_memory(graphs.decoys, graphs.joined)
        interfaces = in_memory(graphs.interfaces)
        return self._networks.predict(PackedGraphs.of_packs([decoys, interfaces]))
