"""Interface RMSD: how far the interface residues of two decoys lie apart once they are superposed."""

from __future__ import annotations

import numpy as np

FEWEST = 3
"""Residues that fix a superposition."""


def interface_rmsd(one: np.ndarray, of_one: np.ndarray, others: np.ndarray, of_others: np.ndarray) -> np.ndarray:
    """RMSD, Å, of the CA atoms of the interface residues of one decoy or the other, superposed (Kabsch): shape (L,).

    one : CA atoms, shape (R, 3), nan where there is none; others : of L decoys, shape (L, R, 3). of_one, of_others :
    which are interface residues, bool, (R,) and (L, R). A residue that one of the two lacks does not count; with fewer
    than three that count the RMSD is inf.
    """
    counted = (of_one | of_others) & np.isfinite(one[:, 0]) & np.isfinite(others[:, :, 0])
    needed = counted.any(axis=0)
    weight = counted[:, needed, None].astype(np.float64)
    n = weight.sum(axis=1)
    a, b = (_centred(np.nan_to_num(xyz[..., needed, :].astype(np.float64)), weight, n) for xyz in (one, others))
    covariance = a.transpose(0, 2, 1) @ b
    stretch = np.linalg.svd(covariance, compute_uv=False)
    stretch[:, 2] *= np.where(np.linalg.det(covariance) < 0, -1.0, 1.0)  # a rotation, no mirror
    squares = (a**2).sum(axis=(1, 2)) + (b**2).sum(axis=(1, 2)) - 2 * stretch.sum(axis=1)
    found = np.sqrt(np.maximum(squares, 0.0) / np.maximum(n[:, 0], 1.0))
    return np.where(n[:, 0] < FEWEST, np.inf, found)


def _centred(xyz: np.ndarray, weight: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Coordinates from the mean of those that count; the others are 0."""
    mean = (weight * xyz).sum(axis=1) / np.maximum(n, 1.0)
    return weight * (xyz - mean[:, None])
