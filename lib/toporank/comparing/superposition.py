"""Interface RMSD: how far interface residues of two decoys lie apart, superposed."""

from __future__ import annotations

import numpy as np

from toporank.chains.thresholds import FEWEST_ATOMS


def interface_rmsd(
    one: np.ndarray, of_one: np.ndarray, others: np.ndarray, of_others: np.ndarray
) -> np.ndarray:
    """RMSD, Å, of the CA atoms of the interface residues of either decoy, superposed: (L,).

    one : CA atoms, shape (R, 3), nan where there is none; others : of L decoys, shape (L, R, 3).
    of_one, of_others : which are interface residues, bool, (R,) and (L, R). A residue that one of
    the two lacks does not count; with fewer than three that count the RMSD is inf.
    """
    counts = (
        (of_one | of_others) & np.isfinite(one[:, 0]) & np.isfinite(others[:, :, 0])
    )
    needed = counts.any(axis=0)
    weight = counts[:, needed, None].astype(np.float64)
    n = weight.sum(axis=1)
    a = _centred(one[needed], weight, n)
    b = _centred(others[:, needed], weight, n)
    # RMSD² = (Σ|a|² + Σ|b|² − 2 Σ sᵢ) / n with the singular values sᵢ of the covariance (Kabsch
    # 1976): no need to turn anything. Where only a mirror image fits best, the smallest one counts
    # negative.
    covariance = a.transpose(0, 2, 1) @ b
    singular_values = np.linalg.svd(covariance, compute_uv=False)
    singular_values[:, 2] *= np.where(np.linalg.det(covariance) < 0, -1.0, 1.0)
    squares = (
        (a**2).sum(axis=(1, 2))
        + (b**2).sum(axis=(1, 2))
        - 2 * singular_values.sum(axis=1)
    )
    rmsd = np.sqrt(np.maximum(squares, 0.0) / np.maximum(n[:, 0], 1.0))
    return np.where(n[:, 0] < FEWEST_ATOMS, np.inf, rmsd)


def _centred(xyz: np.ndarray, weight: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Coordinates, float64, from the mean of those that count; the others are 0."""
    xyz = np.nan_to_num(xyz.astype(np.float64))
    mean = (weight * xyz).sum(axis=1) / np.maximum(n, 1.0)
    return weight * (xyz - mean[:, None])
