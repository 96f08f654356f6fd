"""Scaling of features: by the values of one decoy, as published, or later by those of the training set."""

from __future__ import annotations

from typing import Literal

import numpy as np

Scaling = Literal["per_decoy", "training_set", "none"]
"""`per_decoy`: each column to [0, 1] within a decoy. `training_set`: features stay as they are, and the network
scales them by mean and standard deviation of its training graphs (`learning.standardising`). `none`: no scaling."""


def scaled(values: np.ndarray, scaling: Scaling) -> np.ndarray:
    """The columns of `values`, shape (N, k), as they go into the graph."""
    return min_max(values) if scaling == "per_decoy" else values


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
