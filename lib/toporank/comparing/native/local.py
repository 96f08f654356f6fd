"""How good every contact of a decoy is, an lDDT of single pairs of residues; and which of its residues are right."""

from __future__ import annotations

import numpy as np

from toporank.comparing.contacts import residue_contacts
from toporank.structures.complex import Complex

THRESHOLDS = (0.5, 1.0, 2.0, 4.0)
"""Å, of lDDT: Mariani et al. 2013, doi:10.1093/bioinformatics/btt473."""
KEPT = 0.5
"""Share of its contacts in the native that a right residue keeps, at least."""


def local_quality(decoy: np.ndarray, native: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Share of the thresholds below which the distance of two CA differs from that in the native: float32, (E,).

    decoy, native : CA of the same residues, shapes (n, 3), Å; NaN where there is none. pairs : int, (2, E), of
    residues. NaN where a residue of the pair is missing.
    """
    apart, expected = (np.linalg.norm(ca[pairs[0]] - ca[pairs[1]], axis=1) for ca in (decoy, native))
    error = np.abs(apart - expected)
    kept = (error[:, None] < np.array(THRESHOLDS)).mean(axis=1)
    return np.where(np.isnan(error), np.nan, kept).astype(np.float32)


def right_residues(decoy: Complex, expected: np.ndarray, of_native: np.ndarray) -> dict[int, bool]:
    """The residues of a decoy that touch another partner and are in the native, and whether each is right.

    A right one keeps at least `KEPT` of its contacts in the native; one that has none there is wrong.
    decoy, expected : as for `native_contacts`, which gives `of_native`, int, (P, 2).
    """
    contacts = residue_contacts(decoy)
    n = len(decoy.residues)
    touching, there = (np.bincount(pairs.ravel(), minlength=n) for pairs in (contacts, of_native))
    kept = np.bincount(of_native[np.isin(of_native @ [n, 1], contacts @ [n, 1])].ravel(), minlength=n)
    right = (there > 0) & (kept >= KEPT * there)
    return {int(r): bool(right[r]) for r in np.flatnonzero((touching > 0) & ~np.isnan(expected[:, 0]))}


def native_contacts(decoy: Complex, expected: np.ndarray, native: Complex) -> np.ndarray:
    """The contacts of the native between partners of a decoy, by residues of the decoy: int, (P, 2), i < j.

    Contacts of residues that the decoy lacks are left out. decoy : with its partners. expected : as from
    `label.counterparts`. native : the complex that `expected` comes from.
    """
    by_place = {native.xyz[atom].astype(np.float32).tobytes(): r for r, atom in enumerate(native.ca) if atom >= 0}
    place = np.full(len(native.residues), -1)
    for r in np.flatnonzero(~np.isnan(expected[:, 0])):
        place[by_place[expected[r].astype(np.float32).tobytes()]] = r
    pairs = place[residue_contacts(native)]
    pairs = np.sort(pairs[(pairs >= 0).all(axis=1)], axis=1)
    return pairs[decoy.body_of[pairs[:, 0]] != decoy.body_of[pairs[:, 1]]]
