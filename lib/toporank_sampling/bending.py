"""Bending a partner along its softest normal modes, by the anisotropic network model (ANM).

Atilgan et al. 2001, doi:10.1016/S0006-3495(01)76033-X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from toporank.errors import RefinementError

CUTOFF = 15.0
"""Å up to which CA atoms are joined by springs."""
SOFTEST = 12
"""Modes along which a partner is bent."""
SPARE = 12
"""Eigenvectors asked for besides: six are rigid motions, and loose ends may move freely."""
RIGID = 1e-5
"""Eigenvalues below this, in spring constants, are no bending."""


@dataclass(frozen=True)
class Modes:
    """Softest modes first. stiffness : eigenvalues, (m,). shapes : unit vectors, (m, n, 3), of the n CA atoms."""

    stiffness: np.ndarray
    shapes: np.ndarray


def softest_modes(ca: np.ndarray, most: int = SOFTEST) -> Modes:
    """The softest ANM modes of CA atoms, (n, 3). Raises RefinementError when they cannot be found."""
    from scipy.sparse.linalg import ArpackError, eigsh

    hessian = anm_hessian(ca)
    wanted = min(most + SPARE, hessian.shape[0] - 2)
    start = np.random.default_rng(0).normal(size=hessian.shape[0])  # ARPACK would draw its own
    try:
        values, vectors = eigsh(hessian, k=wanted, sigma=-0.01, v0=start)
    except ArpackError as error:
        raise RefinementError(f"the partner has no normal modes: {error}") from error
    order = np.argsort(values)
    bends = order[values[order] > RIGID][:most]
    return Modes(values[bends], vectors[:, bends].T.reshape(len(bends), -1, 3))


def anm_hessian(ca: np.ndarray):
    """Second derivatives of the network's energy: sparse, (3n, 3n), in spring constants."""
    from scipy.sparse import csc_array

    n = len(ca)
    i, j = cKDTree(ca).query_pairs(CUTOFF, output_type="ndarray").T
    along = ca[j] - ca[i]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    blocks = -along[:, :, None] * along[:, None]
    own = np.zeros((n, 3, 3))
    np.subtract.at(own, i, blocks)
    np.subtract.at(own, j, blocks)
    rows = np.concatenate([i, j, np.arange(n)])
    columns = np.concatenate([j, i, np.arange(n)])
    row, column = (3 * rows)[:, None, None] + np.arange(3)[:, None], (3 * columns)[:, None, None] + np.arange(3)
    values = np.concatenate([blocks, blocks, own])
    row, column = np.broadcast_to(row, values.shape), np.broadcast_to(column, values.shape)
    return csc_array((values.ravel(), (row.ravel(), column.ravel())), shape=(3 * n, 3 * n))


def bend(modes: Modes, by: float, rng: np.random.Generator) -> np.ndarray:
    """A random displacement of the CA atoms, (n, 3), of root mean square `by` Å: the softer a mode, the more of it."""
    amplitudes = rng.normal(size=len(modes.stiffness)) / np.sqrt(modes.stiffness)
    moved = np.einsum("m,mnx->nx", amplitudes, modes.shapes)
    return moved * (by / root_mean_square(moved))


def root_mean_square(moved: np.ndarray) -> float:
    """Å: of how far n atoms moved, (n, 3)."""
    return float(np.sqrt(np.square(moved).sum(axis=1).mean()))
