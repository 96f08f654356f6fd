"""What DockQ to expect of a decoy that was picked for its score.

The highest of several uncertain scores is too high on average: the winner's curse. So the score of a decoy is first
held against those of its target, and then read off a curve: the mean DockQ of decoys with such a score, predicted by
networks that were trained without their cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from toporank.metrics import ACCEPTABLE
from toporank.scorer.conformal import (
    PARTS,
    Floats,
    Intervals,
    Share,
    bounds,
    cluster_weights,
    equal_parts,
    fit_intervals,
)
from toporank.scorer.prediction import DECIMALS
from toporank.settings import Section

if TYPE_CHECKING:
    import pandas as pd

UNSEEN = 0.25
"""Of a cluster, that is counted beside those of a part, where a share is estimated."""
FITTED_DECIMALS = 6
"""Decimals of what a curve is fitted to: those of docs/scorer/predictions.csv.gz, which so gives the same curve."""


Curve = Annotated[list[tuple[Share, Share]], Field(min_length=2, max_length=PARTS + 2)]


class Expected(Section):
    """From a score, held against those of its target, to the DockQ to expect of it, and bounds of what it is.

    curve : (score, DockQ) at some scores, straight in between. intervals : bins by expected DockQ, with bounds of DockQ
    minus that. acceptable : (score, share of decoys that are acceptable or better), likewise; a file from before it was
    known has none.
    """

    curve: Curve
    intervals: Intervals
    acceptable: Curve | None = None

    @model_validator(mode="after")
    def _rises(self) -> Expected:
        for curve in filter(None, (self.curve, self.acceptable)):
            scores, values = np.transpose(curve)
            if (scores[0], scores[-1]) != (0, 1) or any(np.diff(scores) <= 0) or any(np.diff(values) < 0):
                raise ValueError("curves that rise from a score of 0 to 1 are needed")
        return self


def held_against_others(predicted: ArrayLike, target: ArrayLike, counted: ArrayLike | bool = True) -> Floats:
    """Scores of n decoys, none above the mean of its target.

    In that mean each decoy has its score as weight, so that bad ones hardly count. It is the score of a decoy by
    itself.

    Parameters
    ----------
    predicted : (n,), scores in [0, 1].
    target : (n,), of each decoy.
    counted : (n,), bool: whether a decoy counts in the mean; copies do not.
    """
    scores = np.asarray(predicted, dtype=np.float64)
    of_target = np.unique(np.asarray(target), return_inverse=True)[1]
    weight = np.where(counted, scores, 0.0)
    total, squares = (np.bincount(of_target, values) for values in (weight, weight * scores))
    mean = np.divide(squares, total, out=np.zeros_like(total), where=total > 0)
    return np.minimum(scores, mean[of_target])


def fit_expected(table: pd.DataFrame) -> Expected:
    """The curve and the intervals of decoys that were predicted without their cluster, which weighs 1 in each part.

    table : one row for each decoy, `cluster`, `dockq`, `predicted` and `target`, which no two data sets share.
    """
    rounded = table.round({"dockq": FITTED_DECIMALS, "predicted": FITTED_DECIMALS})
    held = rounded.assign(predicted=held_against_others(rounded["predicted"], rounded["target"]))
    held["weight"], held["acceptable"] = cluster_weights(held["cluster"]), (held["dockq"] >= ACCEPTABLE).astype(float)
    parts = equal_parts(held)[1]
    curve, acceptable = _curve(parts, "dockq"), _curve(parts, "acceptable", UNSEEN)
    known = held.assign(predicted=_along(curve, held["predicted"].to_numpy()))
    return Expected(curve=curve, intervals=fit_intervals(known), acceptable=acceptable)


def _curve(parts: list[pd.DataFrame], value: str, unseen: float = 0.0) -> list[tuple[float, float]]:
    """A rising curve through the means of the score and of a value in each part, from (0, 0) to (1, 1).

    unseen : clusters that are counted besides, with a value of a half: no share is then 0 or 1 by chance.
    """
    means = []
    for part in parts:
        score, mean = np.average(part[["predicted", value]], axis=0, weights=part["weight"])
        seen = part["weight"].sum()
        means.append((score, (mean * seen + unseen / 2) / (seen + unseen)))
    inner = [(score, mean) for score, mean in np.round(means, DECIMALS).tolist() if 0 < score < 1]
    values = np.maximum.accumulate([0.0, *(mean for _, mean in inner), 1.0]).tolist()
    return list(zip([0.0, *(score for score, _ in inner), 1.0], values, strict=True))


def _along(curve: list[tuple[float, float]], scores: Floats) -> Floats:
    return np.interp(scores, *np.transpose(curve)).round(DECIMALS)


def expectation(known: Expected, held: Floats) -> tuple[Floats, Floats, Floats]:
    """Bounds of DockQ, and the DockQ to expect, of decoys with these scores, (n,), from `held_against_others`."""
    dockq = _along(known.curve, held)
    return *bounds(known.intervals, dockq), dockq


def probability(known: Expected, held: Floats) -> Floats:
    """That such decoys are acceptable or better: (n,), nan where that is not known."""
    return _along(known.acceptable, held) if known.acceptable else np.full(len(held), np.nan)
