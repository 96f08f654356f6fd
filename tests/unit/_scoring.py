"""Scores of single checkpoints, wherever they lie."""

from __future__ import annotations

from pathlib import Path

from toporank.files.packfile import PackedGraphs
from toporank.scorer.networks import Networks
from toporank.scorer.prediction import Score
from toporank.scorer.scorer import Scorer


def score_pack(
    checkpoint: Path,
    members: list[Path],
    pack: Path,
    *,
    interfaces: Path | None = None,
    mean: bool = False,
) -> list[Score]:
    """What the networks of these files say of the graphs of a pack, and of one of their
    interfaces.
    """
    graphs = PackedGraphs.open([pack, interfaces] if interfaces else [pack])
    return Networks(Scorer.of(checkpoint, members, mean=mean)).predict(graphs).scores
