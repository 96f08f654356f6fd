"""How good every contact of a decoy is: an lDDT of single pairs of residues."""

from __future__ import annotations

import numpy as np

THRESHOLDS = (0.5, 1.0, 2.0, 4.0)
"""Å, of lDDT: Mariani et al. 2013, doi:10.1093/bioinformatics/btt473."""


def local_quality(decoy: np.ndarray, native: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Share of the thresholds below which the distance of two CA differs from that in the native: float32, (E,).

    decoy, native : CA of the same residues, shapes (n, 3), Å; NaN where there is none. pairs : int, (2, E), of
    residues. NaN where a residue of the pair is missing.
    """
    apart, expected = (np.linalg.norm(ca[pairs[0]] - ca[pairs[1]], axis=1) for ca in (decoy, native))
    error = np.abs(apart - expected)
    kept = (error[:, None] < np.array(THRESHOLDS)).mean(axis=1)
    return np.where(np.isnan(error), np.nan, kept).astype(np.float32)
