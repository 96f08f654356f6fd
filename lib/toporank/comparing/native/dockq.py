"""DockQ of one interface.

Basu and Wallner 2016, doi:10.1371/journal.pone.0161879, in the details of DockQ 2.1.3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CONTACT = 5.0
"""Å. Two residues with heavy atoms nearer than this are in contact."""
INTERFACE = 10.0
"""Å. Two residues with heavy atoms nearer than this belong to the interface."""
IRMSD_SCALE, LRMSD_SCALE = 1.5, 8.5
"""Å."""
PAIRS_AT_ONCE = 4096
FEWEST = 3
"""Atoms that a superposition needs."""


class Side(NamedTuple):
    """One side of an interface, L residues.

    `atoms` (L, M, 3) and `backbone` (L, 4, 3) as those of a `Chain`.
    """

    atoms: np.ndarray
    backbone: np.ndarray


class NativeInterface(NamedTuple):
    """An interface of a native.

    pairs : int, shape (P, 2), residues of the two sides nearer than `INTERFACE`
    contact : bool, shape (P,), those that are in contact
    """

    sides: tuple[Side, Side]
    pairs: np.ndarray
    contact: np.ndarray


CAPRI = (
    ("high", 0.5, 1.0, 1.0),
    ("medium", 0.3, 2.0, 5.0),
    ("acceptable", 0.1, 4.0, 10.0),
)
"""Class, least fnat, and largest iRMSD and LRMSD in Å; one of both is enough. Méndez et al. 2003,
doi:10.1002/prot.10393.
"""


def capri_class(fnat: float, irmsd: float, lrmsd: float) -> str:
    """Return the CAPRI class of an interface. Classes by DockQ alone differ near the thresholds.

    >>> capri_class(0.35, 2.5, 4.0), capri_class(0.05, 1.0, 1.0)
    ('medium', 'incorrect')
    """
    for name, least_fnat, largest_irmsd, largest_lrmsd in CAPRI:
        is_near = irmsd <= largest_irmsd or lrmsd <= largest_lrmsd
        if fnat >= least_fnat and is_near:
            return name
    return "incorrect"


class Scores(NamedTuple):
    """fnat is a share; iRMSD and LRMSD in Å."""

    dockq: float
    fnat: float
    irmsd: float
    lrmsd: float


def near_pairs(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find residues of two chains that are near each other.

    Parameters
    ----------
    one, other : heavy atoms of residues, shapes (L, M, 3) and (L', M, 3), Å; NaN where there is no
        atom

    Returns
    -------
    pairs : residues nearer than `INTERFACE`, int, shape (P, 2), row by row
    contact : which of them are in contact, bool, shape (P,)
    """
    centre, radius = _spheres(one)
    centre_of_other, radius_of_other = _spheres(other)
    apart = np.linalg.norm(centre[:, None] - centre_of_other, axis=2)
    pairs = np.argwhere(apart - radius[:, None] - radius_of_other < INTERFACE)
    nearest = np.zeros(len(pairs))
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        rows = slice(start, start + PAIRS_AT_ONCE)
        nearest[rows] = _nearest(one[pairs[rows, 0]], other[pairs[rows, 1]])
    is_near = nearest < INTERFACE
    return pairs[is_near], nearest[is_near] < CONTACT


def _spheres(atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre (L, 3) and radius (L,) of each residue."""
    centre = np.nanmean(atoms, axis=1)
    squares = np.square(atoms - centre[:, None]).sum(axis=2)
    return centre, np.sqrt(np.nanmax(squares, axis=1))


def _nearest(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Smallest distance between the atoms of two residues, for pairs of residues, shapes (P, M, 3).

    It is infinite where a residue has no atoms.
    """
    squares = np.zeros((len(one), one.shape[1], other.shape[1]))
    for axis in range(3):
        squares += np.square(one[:, :, None, axis] - other[:, None, :, axis])
    return np.sqrt(np.nan_to_num(squares, nan=np.inf).min(axis=(1, 2)))


def score(native: NativeInterface, decoy: tuple[Side, Side]) -> Scores | None:
    """Score an interface of a decoy.

    DockQ = (fnat + 1 / (1 + (iRMSD / 1.5 Å)²) + 1 / (1 + (LRMSD / 8.5 Å)²)) / 3. fnat is the share
    of the native's contacts that the decoy has; iRMSD that of the backbone of interface residues,
    superposed; LRMSD that of the backbone of the shorter side once the longer one is superposed.

    Parameters
    ----------
    native : the interface
    decoy : the sides of the decoy in the residues of the native: NaN where it has no such residue

    Returns
    -------
    Scores; None where the decoy has too few of the residues of this interface to compare
    """
    one, other = decoy
    pairs = native.pairs
    in_one = ~np.isnan(one.atoms).all(axis=(1, 2))
    in_other = ~np.isnan(other.atoms).all(axis=(1, 2))
    in_both = in_one[pairs[:, 0]] & in_other[pairs[:, 1]]
    residues = np.unique(pairs[in_both, 0]), np.unique(pairs[in_both, 1])
    interface = _common(_backbone(native.sides, residues), _backbone(decoy, residues))
    # of equal ones the second, as DockQ has it
    larger = 0 if len(in_one) > len(in_other) else 1
    receptor = _common(decoy[larger].backbone, native.sides[larger].backbone)
    ligand = _common(decoy[1 - larger].backbone, native.sides[1 - larger].backbone)
    if min(len(interface[0]), len(receptor[0]), len(ligand[0])) < FEWEST:
        return None
    first, second = pairs[native.contact].T
    has_contact = _nearest(one.atoms[first], other.atoms[second]) < CONTACT
    fnat = float(np.count_nonzero(has_contact) / np.count_nonzero(native.contact))
    irmsd = _rmsd(*interface, superposition(*interface))
    lrmsd = _rmsd(*ligand, superposition(*receptor))
    return Scores(dockq=dockq(fnat, irmsd, lrmsd), fnat=fnat, irmsd=irmsd, lrmsd=lrmsd)


def dockq(fnat: float, irmsd: float, lrmsd: float) -> float:
    """The mean of fnat and of both RMSDs, scaled to 0–1."""
    return (
        fnat
        + 1 / (1 + (irmsd / IRMSD_SCALE) ** 2)
        + 1 / (1 + (lrmsd / LRMSD_SCALE) ** 2)
    ) / 3


def _backbone(
    sides: tuple[Side, Side], residues: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Backbone of some residues of both sides, shape (n, 4, 3)."""
    return np.concatenate(
        [sides[0].backbone[residues[0]], sides[1].backbone[residues[1]]]
    )


def _common(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The backbone atoms that both have, shapes (n, 3)."""
    in_both = ~(np.isnan(one[..., 0]) | np.isnan(other[..., 0]))
    return one[in_both], other[in_both]


def superposition(
    moving: np.ndarray, fixed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Superpose points on others.

    The rotation is U diag(1, 1, d) Vᵀ, from the singular value decomposition H = U S Vᵀ of the
    covariance; d = ±1 keeps it from being a mirror (Kabsch 1976,
    doi:10.1107/S0567739476001873).

    Parameters
    ----------
    moving, fixed : float64, shape (n, 3), Å

    Returns
    -------
    rotation : shape (3, 3)
    shift : shape (3,), such that `moving @ rotation + shift` is nearest to `fixed`

    Examples
    --------
    >>> fixed = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
    >>> rotation, shift = superposition(fixed + 5, fixed)
    >>> np.allclose((fixed + 5) @ rotation + shift, fixed)
    True
    """
    centre = moving.mean(axis=0)
    centre_of_fixed = fixed.mean(axis=0)
    left, _, right = np.linalg.svd((moving - centre).T @ (fixed - centre_of_fixed))
    is_mirror = np.linalg.det(left @ right) < 0
    rotation = left @ np.diag([1.0, 1.0, -1.0 if is_mirror else 1.0]) @ right
    return rotation, centre_of_fixed - centre @ rotation


def _rmsd(
    moving: np.ndarray, fixed: np.ndarray, motion: tuple[np.ndarray, np.ndarray]
) -> float:
    """Between points and others, shapes (n, 3), once the first are moved."""
    rotation, shift = motion
    return float(
        np.sqrt(np.square(moving @ rotation + shift - fixed).sum(axis=1).mean())
    )
