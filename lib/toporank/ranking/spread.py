"""Whether the spread of an ensemble predicts the error of its score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from toporank.metrics import spearman

BINS = 5
"""Rows of the reliability table."""


def calibration(dockq: ArrayLike, predicted: ArrayLike, sd: ArrayLike) -> dict[str, Any] | None:
    """How the standard deviation over an ensemble relates to the error |p − y|; three arrays of shape (n,).

    Returns n, the decoys with a deviation; spearman of deviation and error; within_1_sd and within_2_sd, the shares
    of errors that are no larger (0.68 and 0.95 if errors were normal with that deviation); and table, the
    reliability table: decoys by increasing deviation in up to `BINS` equal parts, each with n, sd (mean) and rmse,
    which are equal where the deviation is reliable. None where no decoy has a deviation.
    """
    rows = pd.DataFrame({"error": np.abs(np.subtract(predicted, dockq)), "sd": np.asarray(sd, dtype=float)}).dropna()
    if rows.empty:
        return None
    rows = rows.sort_values(["sd", "error"])
    error, deviation = rows["error"].to_numpy(), rows["sd"].to_numpy()
    parts = [part for part in np.array_split(np.arange(len(rows)), BINS) if len(part)]
    rank = spearman(error, deviation)
    return {
        "n": len(rows),
        "spearman": None if math.isnan(rank) else rank,
        "within_1_sd": float((error <= deviation).mean()),
        "within_2_sd": float((error <= 2 * deviation).mean()),
        "table": [
            {"n": len(part), "sd": float(deviation[part].mean()), "rmse": math.sqrt(float((error[part] ** 2).mean()))}
            for part in parts
        ],
    }
