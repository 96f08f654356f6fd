"""Scores of models with what their predictor says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from toporank.inputs.confidence.table import Confidence, counted
from toporank.scorer.own_confidence import OF_PAIRS, OF_RESIDUES, read_own_confidence
from toporank.scorer.prediction import DECIMALS, Score

Key = tuple[str, str]
"""Target and decoy."""


def weigh_confidence(
    scores: list[Score], stated: Iterable[Confidence], copy_of: Mapping[Key, str], own: Path | None
) -> list[Score]:
    """Scores that know what the predictor stated; `pred_structure` is what they were.

    A decoy whose confidence is unknown keeps its score, and so do interfaces. stated : rows of confidence.csv, those of
    copies alike (`inputs.confidence.table.of_copies`). copy_of : (target, decoy) → the decoy that it is a copy of.
    own : confidence.json of the scorer; None leaves the scores as they are. Raises RecordError when it is damaged.
    """
    rows = {(row.target, row.decoy): row for row in stated if _measures(row)}
    decoys = [score for score in scores if not score.interface]
    if own is None or not rows or not decoys:
        return scores
    keys = [(score.target, score.decoy) for score in decoys]
    known = [rows.get(key) for key in keys]
    measures = {
        name: np.array([np.nan if row is None or (value := counted(row, name)) is None else value for row in known])
        for name in (*OF_RESIDUES, *OF_PAIRS)
    }
    knows = read_own_confidence(own)
    confidence = knows.speaks_for(measures)
    structure = np.array([score.pred_dockq for score in decoys])
    originals = np.array([key not in copy_of for key in keys])
    both = knows.joined(structure, confidence, [score.target for score in decoys], originals)
    weighed = {
        key: score._replace(pred_dockq=dockq, pred_structure=score.pred_dockq, pred_confidence=spoken)
        for key, score, dockq, spoken in zip(keys, decoys, both.tolist(), _rounded(confidence), strict=True)
    }
    return [score if score.interface else weighed[score.target, score.decoy] for score in scores]


def _measures(row: Confidence) -> list[float]:
    return [value for name in (*OF_RESIDUES, *OF_PAIRS) if (value := counted(row, name)) is not None]


def _rounded(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.round(DECIMALS).tolist()]
