"""Pairs of nodes of different partners, and the edges they become: what all edge modules share."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from toporank.errors import FeatureError
from toporank.structures.complex import Complex
from toporank.structures.neighbours import pairs_between_groups


@dataclass(frozen=True)
class Edges:
    """Directed edges: index int64, shape (2, E); attributes float64, shape (E, k)."""

    index: np.ndarray
    attributes: np.ndarray


def node_pairs(
    complex_: Complex, nodes: np.ndarray, cutoff: float, least: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs i < j of nodes of different partners with 0 < CA distance and least <= CA distance < cutoff, row by row.

    Returns pairs, int, shape (P, 2), as positions in `nodes`, and distances in Å, shape (P,).
    Raises FeatureError when there is none.
    """
    ca = complex_.xyz[complex_.ca[nodes]]
    near, distance = pairs_between_groups(ca, complex_.body_of[nodes], cutoff)
    joined = (distance > 0) & (distance >= least)
    if not joined.any():
        raise FeatureError(
            f"no two nodes of different partners within {cutoff:g} Å and not in one place, so the graph has no edge",
            remedy="do the partners lie on each other, or are contacts incomplete residues? see the node table",
        )
    pairs, distance = near[joined], distance[joined]
    order = np.lexsort(pairs.T[::-1])
    return pairs[order], distance[order]


def both_directions(pairs: np.ndarray, forward: np.ndarray, backward: np.ndarray) -> Edges:
    """Edges (i, j), (j, i) of each pair next to each other. pairs : (P, 2); attributes : (P, k) each."""
    index = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2).T
    attributes = np.stack([forward, backward], axis=1).reshape(2 * len(pairs), -1)
    return Edges(np.ascontiguousarray(index), attributes)


def atom_distances(complex_: Complex, pairs: np.ndarray, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many atom–atom distances of each residue pair fall into each bin [bins[b], bins[b + 1]), and the smallest.

    pairs : int, shape (P, 2), residue indices. bins : shape (B + 1,), rising, Å. Results: shapes (P, B) and (P,).
    """
    from toporank.features.kernels.distances import count_distances  # imports numba, which is slow

    return count_distances(np.ascontiguousarray(complex_.xyz), complex_.atom_slices, pairs, bins)


def rising(limits: tuple[float, ...]) -> tuple[float, ...]:
    """Validator of limits: each must be greater than the one before."""
    if not all(low < high for low, high in pairwise(limits)):
        raise ValueError("each limit must be greater than the one before")
    return limits
