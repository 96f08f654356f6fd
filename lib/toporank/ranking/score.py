"""The decoys of one target: from their files to scores, compared with each other and ranked."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toporank.building.built import Built, GraphsToPack, confidence_requests, graphs_to_pack
from toporank.building.chunks.chunk import run_decoy
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.stages import graph_metadata
from toporank.building.chunks.store import Store
from toporank.building.compared import comparison_table, stored_contacts
from toporank.building.coverage import coverage_table
from toporank.building.packing import write_pack
from toporank.building.target_chains import correspondence_of, target_chains
from toporank.features.registry import Choice as Features
from toporank.inputs.confidence.job import confidences
from toporank.inputs.confidence.table import AUTO, Choice, best_measured, of_copies
from toporank.ranking.interfaces import interface_table, scored_interfaces, scores_of_weakest
from toporank.ranking.model_table import COMPLEX, score_record
from toporank.ranking.residues import contact_lines, residue_lines
from toporank.ranking.target_result import TargetCache, TargetResult
from toporank.scorer.judge import Judge, how_far_to_trust, judged, read_judge
from toporank.scorer.prediction import Score
from toporank.scorer.residue_quality import with_agreement
from toporank.scorer.scorer import Scorer


@dataclass(frozen=True)
class ScoringOptions:
    """How decoys are scored.

    Attributes
    ----------
    plddt : whether B factors are pLDDT
    rank_by : what the ranking goes by, a key of `model_table.RANKED_BY`
    use_confidence : whether what predictors say counts in the score
    """

    plddt: Choice = AUTO
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
        choices: dict[str, Features],
        store: Store,
        options: ScoringOptions,
        contents: Mapping[str, str] | None = None,
    ):
        self.contents = contents or {}
        self.scorer = scorer
        self.choices = choices
        self.store = store
        self.options = options
        metadata = graph_metadata(choices)
        self.cache = TargetCache(
            store, {"scorer": scorer.digest, "graphs": metadata, **vars(options)}
        )
        self._networks: Any = None

    def score(self, plan: Sequence[PlannedDecoy], fates: Sequence[LedgerRow]) -> TargetResult:
        """The result for one target, computed and kept in the cache.

        Parameters
        ----------
        plan : its decoys
        fates : what became of each in the feature stages

        Raises
        ------
        CheckpointError, GraphError, RecordError or StructureError, with the reason, when the scorer
        does not fit the
        graphs or something is damaged.
        """
        result = self._computed(plan, fates)
        self.cache.keep(plan, result)
        return result

    def open_scorer(self) -> None:
        """Read the networks and the judge of the scorer, once.

        Raises CheckpointError or RecordError when one cannot be used.
        """
        if self._networks is None:
            from toporank.scorer.networks import (
                Networks,
            )  # imports torch, which a cached result does not need

            self._networks = Networks(self.scorer)
            self.judge  # noqa: B018 -- processes that are forked have it, too

    @functools.cached_property
    def judge(self) -> Judge | None:
        """The judge of the scorer, if it has one. Raises RecordError when it is damaged."""
        return read_judge(self.scorer.judge) if self.scorer.judge else None

    def features_of(self, decoy: PlannedDecoy) -> LedgerRow:
        """What becomes of a decoy in the feature stages; the store keeps its artefacts."""
        return run_decoy(decoy, self.choices, self.store, self.contents.get(decoy.path, ""))

    def _computed(self, plan: Sequence[PlannedDecoy], fates: Sequence[LedgerRow]) -> TargetResult:
        """The result for a target whose features are there."""
        store, options = self.store, self.options
        built = Built.of(plan, fates)
        coverage = coverage_table(plan, fates, (), *correspondence_of(plan, built.fates, store))
        confidence = confidences(confidence_requests(coverage, built, store), options.plddt)
        graphs = graphs_to_pack(coverage, built, self.choices, store)
        copies = {(row.target, row.decoy): row.duplicate_of for row in coverage if row.duplicate_of}
        copies = best_measured(copies, confidence)
        ranked = [
            row._replace(duplicate_of=copies.get((row.target, row.decoy), "")) for row in coverage
        ]
        stated = of_copies(confidence, copies)
        contacts = stored_contacts(built, ranked, store)
        comparison = comparison_table(ranked, contacts)

        judge = self.judge
        scores = self._predicted(graphs)
        if judge:
            scores = judged(
                judge, scores, contacts, copies, stated if options.use_confidence else []
            )
        scores = with_agreement(scores, contacts, copies, judge.quality if judge else None)

        interfaces = scored_interfaces(interface_table(coverage, built.fates), scores)
        estimates = how_far_to_trust(judge, ranked, scores_of_weakest(scores, interfaces))
        of_decoys = [score for score in scores if not score.interface]
        return TargetResult(
            target=plan[0].target,
            coverage=ranked,
            fates=list(fates),
            chains=target_chains(plan, built.fates, (), store),
            confidence=confidence,
            interfaces=interfaces,
            comparison=comparison,
            scores=[
                score_record(score, estimates.get((score.target, score.decoy)))
                for score in of_decoys
            ],
            vectors={score.decoy: [*score.pooled] for score in of_decoys if score.pooled},
            residues={score.decoy: residue_lines(score) for score in of_decoys},
            contacts={score.decoy: contact_lines(score) for score in of_decoys},
        )

    def _predicted(self, graphs: GraphsToPack) -> list[Score]:
        """What the networks predict of each decoy, then of each interface, in their order."""
        if not graphs.decoys and not graphs.interfaces:
            return []
        self.open_scorer()
        with tempfile.TemporaryDirectory(prefix="toporank_") as folder:
            packs = [Path(folder, "decoys"), Path(folder, "interfaces")]
            write_pack(packs[0], graphs.decoys, graphs.joined)
            write_pack(packs[1], graphs.interfaces)
            return self._networks.score(*packs)
