"""The graphs of another pipeline into scores and a ranking: there are no structures that could be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from toporank.building.coverage import CoverageRow
from toporank.errors import CheckpointError
from toporank.ranking.leakage import SEEN, UNKNOWN, LeakageRow
from toporank.ranking.ranked import RankedDecoy, ranking
from toporank.scorer.networks import Networks
from toporank.scorer.scorer import Scorer


class PackedScores(NamedTuple):
    """ranking : of every decoy. vectors : target and decoy → pooled vector. leakage : of each target."""

    ranking: list[RankedDecoy]
    vectors: dict[tuple[str, str], Sequence[float]]
    leakage: list[LeakageRow]


def score_pack(scorer: Scorer, pack: Path, coverage: Iterable[CoverageRow]) -> PackedScores:
    """Score packed graphs by the networks of a scorer, and rank them.

    Parameters
    ----------
    scorer : Scorer
        Of networks alone.
    pack : Path
        The graphs.
    coverage : iterable of CoverageRow
        What became of every decoy.

    Returns
    -------
    PackedScores

    Raises
    ------
    CheckpointError
        When the scorer was trained on other graphs, or needs structures.
    """
    if scorer.judge is not None:
        remedy = "take the scorer of the study, results/final"
        raise CheckpointError("the judge of this scorer needs structures", where=scorer.judge, remedy=remedy)
    scores = Networks(scorer).score(pack)
    table = ranking(coverage, scores)
    return PackedScores(
        ranking=table,
        vectors={(score.target, score.decoy): score.pooled for score in scores},
        leakage=_leakage(scorer, {row.target for row in table}),
    )


def _leakage(scorer: Scorer, targets: Iterable[str]) -> list[LeakageRow]:
    """Which targets the networks were trained on, by name: nothing is known of their chains."""
    trained_on = set()
    for description in scorer.descriptions:
        chains = (description.get("training_set") or {}).get("chains") or {}
        trained_on.update(chains.get("targets", ()))
    return [_leakage_row(target, trained=target in trained_on) for target in sorted(targets)]


def _leakage_row(target: str, *, trained: bool) -> LeakageRow:
    return LeakageRow(
        target=target,
        seen_in_training=SEEN if trained else UNKNOWN,
        nearest_training_target=target if trained else "",
        containment=None,
        why="it is a training target" if trained else "its graphs have no sequences that could be compared",
    )
