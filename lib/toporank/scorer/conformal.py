"""Conformal intervals: bounds of an error that hold for a new cluster, whatever the errors are distributed like.

Decoys of one cluster err alike, so clusters are what is counted, each with its decoys sharing its weight (Dunn,
Wasserman & Ramdas 2022, arXiv:1809.07441; Lee, Barber & Willett 2023, arXiv:2306.06342).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from toporank.scorer.prediction import DECIMALS
from toporank.settings import Section

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.8
"""Share of decoys whose DockQ lies in their interval."""
PARTS, FEWEST_CLUSTERS = 6, 20
"""Parts by prediction, at most, and clusters that each of several has at least."""
TINY = 1e-9
"""By which sums of weights that are equal may differ."""

Floats = NDArray[np.float64]
Count = Annotated[int, Field(ge=0)]
Difference = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Bin(Section):
    """Bounds of DockQ minus predicted DockQ for a range of predictions, and what they were found from."""

    low: Difference
    high: Difference
    n_decoys: Count
    n_clusters: Count


class Intervals(Section):
    """Bins by rising prediction, with the predictions at which all but the first begin."""

    level: float = Field(ge=LEVEL, le=LEVEL)
    edges: list[Share] = Field(max_length=PARTS - 1)
    bins: list[Bin] = Field(min_length=1, max_length=PARTS)

    @model_validator(mode="after")
    def _in_order(self) -> Intervals:
        if len(self.bins) != len(self.edges) + 1 or any(np.diff(self.edges) <= 0):
            raise ValueError("rising edges are needed, one fewer than bins")
        return self


def fit_intervals(table: pd.DataFrame) -> Intervals:
    """Intervals in as many bins, of equal weight, as have enough clusters each.

    table : one row for each decoy, `cluster`, `dockq` and `predicted`; other columns are ignored.
    """
    edges, parts = equal_parts(table)
    return Intervals(level=LEVEL, edges=edges.tolist(), bins=[_bin(part) for part in parts])


def equal_parts(
    table: pd.DataFrame, most: int = PARTS, fewest: int = FEWEST_CLUSTERS
) -> tuple[Floats, list[pd.DataFrame]]:
    """A table cut by `predicted` into parts of equal weight, and the predictions at which all but the first begin.

    There are up to `most` parts, of at least `fewest` clusters each.
    """
    predicted, weight = table["predicted"].to_numpy(), cluster_weights(table["cluster"])
    order = np.argsort(predicted)
    reached = np.cumsum(weight[order]) / weight.sum()
    for n_bins in range(most, 0, -1):
        shares = np.arange(1, n_bins) / n_bins
        edges = np.unique(predicted[order][np.searchsorted(reached, shares - TINY)])
        edges = edges[edges > predicted.min()]
        parts = [part for _, part in table.groupby(np.searchsorted(edges, predicted, side="right"))]
        if n_bins == 1 or min(part["cluster"].nunique() for part in parts) >= fewest:
            break
    return edges, parts


def cluster_weights(cluster: pd.Series) -> Floats:
    """Of each decoy, such that those of a cluster have 1 together."""
    return 1 / cluster.map(cluster.value_counts()).to_numpy(np.float64)


def _bin(part: pd.DataFrame) -> Bin:
    error, weight = (part["dockq"] - part["predicted"]).to_numpy(), cluster_weights(part["cluster"])
    sizes = {"n_decoys": len(part), "n_clusters": part["cluster"].nunique()}
    return Bin(low=-_upper(-error, weight), high=_upper(error, weight), **sizes)


def _upper(error: Floats, weight: Floats) -> float:
    """The bound that an error of a further cluster exceeds in (1 − `LEVEL`) / 2 of all cases at most.

    That cluster counts as one whose errors are all larger than any; where it would decide, the bound is 1.
    """
    order = np.argsort(error)
    needed = (1 + LEVEL) / 2 * (weight.sum() + 1)
    place = np.searchsorted(np.cumsum(weight[order]), needed - TINY)
    return round(float(error[order][place]), DECIMALS) if place < len(error) else 1.0


def bounds(intervals: Intervals, predicted: Floats) -> tuple[Floats, Floats]:
    """Bounds of the DockQ of decoys with these predictions, (n,), within 0 and 1."""
    of_bins = np.array([(each.low, each.high) for each in intervals.bins])
    low, high = of_bins[np.searchsorted(intervals.edges, predicted, side="right")].T
    return np.clip(predicted + low, 0, 1), np.clip(predicted + high, 0, 1)
