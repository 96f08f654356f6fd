"""What all edge modules share: pairs of nodes that are joined, atom–atom distances, edges in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from pydantic import AfterValidator

from toporank.errors import FeatureError
from toporank.features.registry import Scaling, scaled
from toporank.structures.complex import Complex
from toporank.structures.neighbours import pairs_between_groups


@dataclass(frozen=True)
class Edges:
    """Directed edges: index int64, shape (2, E); attributes float64, shape (E, k)."""

    index: np.ndarray
    attributes: np.ndarray


def node_pairs(
    complex_: Complex, nodes: np.ndarray, cutoff: float, nearest: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs i < j of nodes of different partners with 0 < CA distance and nearest <= CA distance < cutoff, row by row.

    Returns pairs, int, shape (P, 2), as positions in `nodes`, and distances in Å, shape (P,).
    Raises FeatureError when there is none.
    """
    ca = complex_.xyz[complex_.ca[nodes]]
    near, distance = pairs_between_groups(ca, complex_.body_of[nodes], cutoff)
    joined = (distance > 0) & (distance >= nearest)
    if not joined.any():
        raise FeatureError(
            f"no two nodes of different partners within {cutoff:g} Å and not in one place, so the graph has no edge",
            remedy="do the partners lie on each other, or are contacts incomplete residues? see the node table",
        )
    pairs, distance = near[joined], distance[joined]
    order = np.lexsort(pairs.T[::-1])
    return pairs[order], distance[order]


def both_directions(pairs: np.ndarray, forward: np.ndarray, backward: np.ndarray, scaling: Scaling = "none") -> Edges:
    """Edges (i, j) and (j, i) of each pair next to each other.

    pairs : int, (P, 2). forward, backward : (P, k), the attributes of (i, j) and of (j, i).
    """
    index = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2).T
    attributes = np.stack([forward, backward], axis=1).reshape(2 * len(pairs), -1)
    return Edges(np.ascontiguousarray(index), scaled(attributes, scaling))


def atom_distances(complex_: Complex, pairs: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """How many atom–atom distances of each residue pair fall into each bin [bins[b], bins[b + 1]), shape (P, B).

    pairs : int, shape (P, 2), residue indices. bins : shape (B + 1,), rising, Å.
    """
    from toporank.features.kernels.distances import count_distances  # imports numba, which is slow

    return count_distances(np.ascontiguousarray(complex_.xyz), complex_.atom_slices, pairs, bins)


def _rising(limits: tuple[float, ...]) -> tuple[float, ...]:
    if not all(low < high for low, high in pairwise(limits)):
        raise ValueError("each limit must be greater than the one before")
    return limits


Rising = AfterValidator(_rising)
"""Validator of limits of distances."""
