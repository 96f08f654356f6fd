"""Points near points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

PAIRS_AT_ONCE = 1 << 22
"""Pairs of points for which there must be room at a time."""


def kd_tree(xyz: np.ndarray) -> cKDTree:
    """A KD-tree of points, float64, shape (n, 3)."""
    from scipy.spatial import cKDTree  # slow to import, and every job imports all feature modules

    return cKDTree(xyz)


def pairs_between_groups(xyz: np.ndarray, group: np.ndarray, cutoff: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs i < j of points of different groups nearer than `cutoff`: int, shape (m, 2), and their distances, (m,).

    xyz : float64, shape (n, 3). group : int, shape (n,). The search ends once more than `most` pairs are found. Pairs
    within groups, which can be very many, are never held all at once.
    """
    tree, found, count = kd_tree(xyz), [np.zeros((0, 2), dtype=np.intp)], 0
    rows = max(1, PAIRS_AT_ONCE // max(len(xyz), 1))
    for start in range(0, len(xyz), rows):
        if rows >= len(xyz):
            pairs = tree.query_pairs(cutoff, output_type="ndarray")
        else:
            near = kd_tree(xyz[start : start + rows]).sparse_distance_matrix(tree, cutoff, output_type="ndarray")
            pairs = np.column_stack([near["i"] + start, near["j"]])
            pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        found.append(pairs[group[pairs[:, 0]] != group[pairs[:, 1]]])
        count += len(found[-1])
        if count > most:
            break
    pairs = np.concatenate(found)
    distance = np.linalg.norm(xyz[pairs[:, 0]] - xyz[pairs[:, 1]], axis=1)
    return pairs[distance < cutoff], distance[distance < cutoff]
