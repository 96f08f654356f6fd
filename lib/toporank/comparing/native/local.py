"""How good every contact of a decoy is, and which of its residues are right.

The quality of a contact is an lDDT of single pairs of residues.
"""

from __future__ import annotations

import numpy as np

from toporank.comparing.contacts import residue_contacts
from toporank.structures.complex import Complex

THRESHOLDS = (0.5, 1.0, 2.0, 4.0)
"""Å, of lDDT: Mariani et al. 2013, doi:10.1093/bioinformatics/btt473."""
KEPT = 0.5
"""Share of its contacts in the native that a right residue keeps, at least."""


def local_quality(
    decoy: np.ndarray, native: np.ndarray, pairs: np.ndarray
) -> np.ndarray:
    """Share of the thresholds below which the distance of two CA differs from that in the native.

    Parameters
    ----------
    decoy, native : CA of the same residues, shapes (n, 3), Å; NaN where there is none
    pairs : int, shape (2, E), of residues

    Returns
    -------
    float32, shape (E,); NaN where a residue of the pair is missing

    Examples
    --------
    >>> native = np.array([[0.0, 0, 0], [4, 0, 0], [8, 0, 0]])
    >>> decoy = np.array([[0.0, 0, 0], [4, 0, 0], [9, 0, 0]])
    >>> pairs = np.array([[0, 0], [1, 2]])  # residues 0 and 1, 0 and 2
    >>> local_quality(decoy, native, pairs)
    array([1. , 0.5], dtype=float32)
    """
    distance = np.linalg.norm(decoy[pairs[0]] - decoy[pairs[1]], axis=1)
    expected = np.linalg.norm(native[pairs[0]] - native[pairs[1]], axis=1)
    error = np.abs(distance - expected)
    share = (error[:, None] < np.array(THRESHOLDS)).mean(axis=1)
    return np.where(np.isnan(error), np.nan, share).astype(np.float32)


def expected_ca(counterparts: np.ndarray, native: Complex) -> np.ndarray:
    """Where the CA of each residue of a decoy is in the native, shape (R, 3), Å.

    NaN where the native lacks it. counterparts : as `label.NativeLabel.counterparts`
    """
    has_ca = (counterparts >= 0) & (native.ca[counterparts] >= 0)
    ca = native.xyz[native.ca[counterparts]]
    return np.where(has_ca[:, None], ca, np.nan)


def right_residues(
    decoy: Complex, counterparts: np.ndarray, of_native: np.ndarray
) -> dict[int, bool]:
    """The residues of a decoy that touch another partner, and whether each is right.

    These are the residues that are in the native.

    A right one keeps at least `KEPT` of its contacts in the native; one that has none there is
    wrong. decoy, counterparts : as for `native_contacts`, which gives `of_native`, int, (P, 2).
    """
    n = len(decoy.residues)
    contacts = residue_contacts(decoy)
    n_contacts = np.bincount(contacts.ravel(), minlength=n)
    n_in_native = np.bincount(of_native.ravel(), minlength=n)
    is_shared = np.isin(of_native @ [n, 1], contacts @ [n, 1])
    n_shared = np.bincount(of_native[is_shared].ravel(), minlength=n)
    is_right = (n_in_native > 0) & (n_shared >= KEPT * n_in_native)
    residues = np.flatnonzero((n_contacts > 0) & (counterparts >= 0))
    return dict(zip(residues.tolist(), is_right[residues].tolist(), strict=True))


def native_contacts(
    decoy: Complex, counterparts: np.ndarray, native: Complex
) -> np.ndarray:
    """The contacts of the native between partners of a decoy, by residues of the decoy.

    Contacts of residues that the decoy lacks are left out.

    Parameters
    ----------
    decoy : with its partners
    counterparts : as `label.NativeLabel.counterparts`
    native : the complex that they are residues of

    Returns
    -------
    int, shape (P, 2), i < j
    """
    place = np.full(len(native.residues), -1)
    in_native = np.flatnonzero(counterparts >= 0)
    place[counterparts[in_native]] = in_native
    pairs = place[residue_contacts(native)]
    pairs = np.sort(pairs[(pairs >= 0).all(axis=1)], axis=1)
    return pairs[decoy.body_of[pairs[:, 0]] != decoy.body_of[pairs[:, 1]]]
