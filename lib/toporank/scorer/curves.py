"""Curves that rise: from measures to DockQ or to a probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from toporank.metrics import Floats
from toporank.settings import Section

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 6
"""Significant digits of what is fitted."""

MOST_SHIFT = 20.0
"""Of the constant of a curve."""

Number = Annotated[float, Field(allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Curve(Section):
    """y = 1 / (1 + exp(−x)), x being a constant plus a weighted sum of measures."""

    weights: dict[str, Weight] = Field(min_length=1, max_length=8)
    constant: Number

    def __call__(
        self, measures: Mapping[str, Floats], shift: Floats | float = 0.0
    ) -> Floats:
        """y of n cases, (n,), nan where a measure is missing.

        measures : by name, (n,), nan where unknown. shift : of the constant, for each case or all.
        """
        x = (self.constant + shift) + sum(
            weight * measures[name] for name, weight in self.weights.items()
        )
        return 1 / (1 + np.exp(-x))


def fit_curve(table: pd.DataFrame, measures: Sequence[str]) -> Curve:
    """The curve of some measures, by least squares.

    A measure that is everywhere the same has no weight.

    Parameters
    ----------
    table : rows with `cluster`, `dockq`, which is y, and the measures, all known
    measures : columns of the table

    Returns
    -------
    curve : gives DockQ, 0 to 1, for measures

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"cluster": [*"abcd"], "dockq": [0.1, 0.3, 0.6, 0.9], "iptm": [0.2, 0.4, 0.7, 0.9]}
    ... )
    >>> curve = fit_curve(table, ["iptm"])
    >>> curve({"iptm": np.array([0.3, 0.8])}).round(1)
    array([0.2, 0.8])
    """
    # which takes longer to import than to apply a curve
    from scipy.optimize import least_squares

    x, y = table[[*measures]].to_numpy(float), table["dockq"].to_numpy(float)
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    per_deviation = np.divide(
        1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0
    )
    scaled, root = (
        (x - mean) * per_deviation,
        np.sqrt(cluster_weights(table["cluster"])),
    )

    def errors(p: Floats) -> Floats:
        return (1 / (1 + np.exp(-(p[0] + scaled @ p[1:]))) - y) * root

    bounds = [-20.0, *[0.0] * len(measures)], [20.0] * (1 + len(measures))
    constant, *slopes = least_squares(
        errors, [0.0, *[0.5] * len(measures)], bounds=bounds
    ).x
    weights = slopes * per_deviation
    named = {
        name: shortened(weight) for name, weight in zip(measures, weights, strict=True)
    }
    return Curve(weights=named, constant=shortened(constant - weights @ mean))


def fit_shift(curve: Curve, table: pd.DataFrame) -> float:
    """The shift of the constant of a curve with which it is right on average.

    Parameters
    ----------
    curve : of measures that are columns of the table
    table : rows with `cluster`, `dockq` and the measures, all known
    """
    from scipy.optimize import brentq

    weight = cluster_weights(table["cluster"])
    measures = {name: table[name].to_numpy(float) for name in curve.weights}

    def bias(shift: float) -> float:
        return weight @ (curve(measures, shift) - table["dockq"].to_numpy(float))

    return shortened(brentq(bias, -MOST_SHIFT, MOST_SHIFT))


def cluster_weights(cluster: pd.Series) -> Floats:
    """Weight of each row, such that those of a cluster have 1 together."""
    return 1 / cluster.map(cluster.value_counts()).to_numpy(np.float64)


def shortened(value: float) -> float:
    """A number with `DIGITS` significant digits."""
    return float(f"{value:.{DIGITS}g}")
