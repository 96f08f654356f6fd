"""DockQ of one interface.

Basu and Wallner 2016, doi:10.1371/journal.pone.0161879, in the details of DockQ 2.1.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from toporank.chains.match import superposition
from toporank.chains.thresholds import FEWEST_ATOMS
from toporank.structures.complex import Complex

CONTACT = 5.0
"""Å. Two residues with heavy atoms nearer than this are in contact."""
INTERFACE = 10.0
"""Å. Two residues with heavy atoms nearer than this belong to the interface."""
IRMSD_SCALE, LRMSD_SCALE = 1.5, 8.5
"""Å."""
PAIRS_AT_ONCE = 4096
BACKBONE = (b"N", b"CA", b"C", b"O")


class Side(NamedTuple):
    """Atoms of L residues, in Å, NaN for a missing one.

    Attributes
    ----------
    atoms : heavy atoms of each residue, shape (L, M, 3); M is that of the largest
    backbone : N, CA, C and O of each residue, shape (L, 4, 3)
    """

    atoms: np.ndarray
    backbone: np.ndarray

    def of(self, index: np.ndarray) -> Side:
        """Some of the residues, int, (n,); -1 for one that is missing."""
        side = Side(self.atoms[index], self.backbone[index])
        side.atoms[index < 0] = np.nan
        side.backbone[index < 0] = np.nan
        return side


def residue_sides(complex_: Complex) -> Side:
    """The heavy atoms of all residues of a complex; none of those that are not protein."""
    heavy = complex_.without_hydrogens()
    start = heavy.atom_slices
    residue_of = heavy.residue_of
    n_residues = len(heavy.residues)
    largest = int(np.diff(start).max(where=heavy.is_protein, initial=1))
    atoms = np.full((n_residues, largest, 3), np.nan)
    within = np.arange(len(residue_of)) - start[residue_of]
    of_protein = heavy.is_protein[residue_of]
    atoms[residue_of[of_protein], within[of_protein]] = heavy.xyz[of_protein]
    backbone = np.full((n_residues, len(BACKBONE), 3), np.nan)
    for k, name in enumerate(BACKBONE):
        of_name = heavy.atom_names == name
        backbone[residue_of[of_name], k] = heavy.xyz[of_name]
    return Side(atoms, backbone)


def joined_sides(sides: Sequence[Side]) -> Side:
    """The residues of several chains, one after the other."""
    atoms = np.concatenate([side.atoms for side in sides])
    return Side(atoms, np.concatenate([side.backbone for side in sides]))


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
    if min(len(interface[0]), len(receptor[0]), len(ligand[0])) < FEWEST_ATOMS:
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


def _rmsd(
    moving: np.ndarray, fixed: np.ndarray, motion: tuple[np.ndarray, np.ndarray]
) -> float:
    """Between points and others, shapes (n, 3), once the first are moved."""
    rotation, shift = motion
    return float(
        np.sqrt(np.square(moving @ rotation + shift - fixed).sum(axis=1).mean())
    )
