"""The graphs of another pipeline into scores and a ranking.

There are no structures that could be compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from toporank.building.coverage import CoverageRow
from toporank.errors import CheckpointError
from toporank.files.packfile import PackedGraphs
from toporank.ranking.leakage import SEEN, LeakageRow
from toporank.ranking.model_table import score_record
from toporank.ranking.score import ScoringOptions
from toporank.ranking.scored import ScoredTargets
from toporank.ranking.target_result import TargetResult
from toporank.scorer.networks import Networks
from toporank.scorer.scorer import Scorer


def score_pack(
    scorer: Scorer, pack: Path, coverage: Iterable[CoverageRow], name: str = "graphs"
) -> ScoredTargets:
    """Score packed graphs by the networks of a scorer, and rank them.

    Parameters
    ----------
    scorer : of networks alone
    pack : the graphs
    coverage : what became of every decoy
    name : of the results

    Raises
    ------
    CheckpointError : the scorer was trained on other graphs, or needs structures
    """
    if scorer.judge is not None:
        remedy = "take the scorer of the study, results/final"
        raise CheckpointError(
            "the judge of this scorer needs structures",
            where=scorer.judge,
            remedy=remedy,
        )
    results: dict[str, TargetResult] = {}
    for row in coverage:
        results.setdefault(row.target, TargetResult(row.target)).coverage.append(row)
    for score in Networks(scorer).predict(PackedGraphs.open([pack])).scores:
        result = results[score.target]
        result.scores.append(score_record(score))
        result.vectors[score.decoy] = [*score.pooled]
    scored = ScoredTargets(
        name=name,
        target_results=[results[target] for target in sorted(results)],
        plan=[],
        scorer=scorer,
        options=ScoringOptions(use_confidence=False),
        store=None,
    )
    scored.leakage = _leakage(scorer, results)
    return scored


def _leakage(scorer: Scorer, targets: Iterable[str]) -> list[LeakageRow]:
    """Which targets the networks were trained on, by name: nothing is known of their chains."""
    trained_on = set()
    for description in scorer.descriptions:
        chains = (description.get("training_set") or {}).get("chains") or {}
        trained_on.update(chains.get("targets", ()))
    rows = []
    for target in sorted(targets):
        row = LeakageRow(
            target, why="its graphs have no sequences that could be compared"
        )
        if target in trained_on:
            row = LeakageRow(target, SEEN, target, why="it is a training target")
        rows.append(row)
    return rows
