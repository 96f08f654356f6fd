"""Per-decoy min–max scaling, the only scaling of the published method."""

from __future__ import annotations

import numpy as np


def min_max(values: np.ndarray, reference: np.ndarray | None = None) -> np.ndarray:
    """Scale each column to [0, 1] by the smallest and largest value of that column in `reference`.

    values : shape (N, k) or (N,). reference : same trailing shape, `values` itself by default.
    A constant column becomes 0.
    """
    reference = values if reference is None else reference
    if len(reference) == 0:
        return np.zeros_like(values, dtype=np.float64)
    low, high = reference.min(axis=0), reference.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    return (values - low) / width
