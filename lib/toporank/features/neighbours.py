"""Points near points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


def kd_tree(xyz: np.ndarray) -> cKDTree:
    """A KD-tree of points, float64, shape (n, 3)."""
    from scipy.spatial import cKDTree  # slow to import, and every job imports all feature modules

    return cKDTree(xyz)
