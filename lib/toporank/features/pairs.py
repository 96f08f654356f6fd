"""What all edge modules share.

It finds the pairs of nodes that are joined and their distances, and gives edges in both
directions.
"""

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
    """Find nodes of different partners with 0 < CA distance and nearest <= CA distance < cutoff.

    Parameters
    ----------
    complex_ : Complex
    nodes : int, shape (n,), indices of residues
    cutoff, nearest : Å

    Returns
    -------
    pairs : int, shape (P, 2), positions i < j in `nodes`, row by row
    distance : float64, shape (P,), Å

    Raises
    ------
    FeatureError
        when there is no such pair
    """
    ca = complex_.xyz[complex_.ca[nodes]]
    near, distance = pairs_between_groups(ca, complex_.body_of[nodes], cutoff)
    joined = (distance > 0) & (distance >= nearest)
    if not joined.any():
        raise FeatureError(
            f"no two nodes of different partners within {cutoff:g} Å and not in one place, so the "
            "graph has no edge",
            remedy="do the partners lie on each other, or are contacts incomplete residues? see "
            "the node table",
        )
    pairs, distance = near[joined], distance[joined]
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[order], distance[order]


def both_directions(
    pairs: np.ndarray,
    forward: np.ndarray,
    backward: np.ndarray,
    scaling: Scaling = "none",
) -> Edges:
    """Make the edges (i, j) and (j, i) of each pair, next to each other.

    Parameters
    ----------
    pairs : int, shape (P, 2)
    forward, backward : float64, shape (P, k), the attributes of (i, j) and of (j, i)
    scaling : how the attributes are scaled

    Returns
    -------
    Edges
    """
    index = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2).T
    attributes = np.stack([forward, backward], axis=1).reshape(2 * len(pairs), -1)
    return Edges(np.ascontiguousarray(index), scaled(attributes, scaling))


def atom_distances(
    complex_: Complex, pairs: np.ndarray, bins: np.ndarray
) -> np.ndarray:
    """Count the atom–atom distances of each residue pair in each bin [bins[b], bins[b + 1]).

    Parameters
    ----------
    complex_ : Complex
    pairs : int, shape (P, 2), residue indices
    bins : float64, shape (B + 1,), Å, rising

    Returns
    -------
    float64, shape (P, B)
    """
    # imports numba, which is slow
    from toporank_kernels.atoms import count_distances

    return count_distances(
        np.ascontiguousarray(complex_.xyz), complex_.atom_slices, pairs, bins
    )


def _rising(limits: tuple[float, ...]) -> tuple[float, ...]:
    if not all(low < high for low, high in pairwise(limits)):
        raise ValueError("each limit must be greater than the one before")
    return limits


Rising = AfterValidator(_rising)
"""Validator of limits of distances."""
