"""DockQ of one interface: Basu and Wallner 2016, doi:10.1371/journal.pone.0161879, in the details of DockQ 2.1.3."""

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
    """One side of an interface, L residues: `atoms` (L, M, 3) and `backbone` (L, 4, 3) as those of a `Chain`."""

    atoms: np.ndarray
    backbone: np.ndarray


class Interface(NamedTuple):
    """An interface of a native.

    pairs : int, shape (P, 2), residues of the two sides nearer than `INTERFACE`
    contact : bool, shape (P,), those that are in contact
    """

    sides: tuple[Side, Side]
    pairs: np.ndarray
    contact: np.ndarray


class Scores(NamedTuple):
    """fnat is a share; iRMSD and LRMSD in Å."""

    dockq: float
    fnat: float
    irmsd: float
    lrmsd: float


def near_pairs(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Residues nearer than `INTERFACE`, int, shape (P, 2), row by row, and which are in contact, bool, shape (P,).

    one, other : heavy atoms of residues, shapes (L, M, 3) and (L', M, 3).
    """
    (centre, reach), (centre2, reach2) = _spheres(one), _spheres(other)
    apart = np.linalg.norm(centre[:, None] - centre2, axis=2)
    pairs = np.argwhere(apart - reach[:, None] - reach2 < INTERFACE)
    nearest = np.concatenate(
        [np.zeros(0), *(_nearest(one[p[:, 0]], other[p[:, 1]]) for p in _portions(pairs, PAIRS_AT_ONCE))]
    )
    near = nearest < INTERFACE
    return pairs[near], nearest[near] < CONTACT


def _portions(rows: np.ndarray, size: int) -> list[np.ndarray]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _spheres(atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre (L, 3) and radius (L,) of each residue."""
    centre = np.nanmean(atoms, axis=1)
    return centre, np.sqrt(np.nanmax(np.square(atoms - centre[:, None]).sum(axis=2), axis=1))


def _nearest(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Smallest distance between the atoms of two residues, for pairs of residues, shapes (P, M, 3); inf without any."""
    square = np.zeros((len(one), one.shape[1], other.shape[1]))
    for axis in range(3):
        square += np.square(one[:, :, None, axis] - other[:, None, :, axis])
    return np.sqrt(np.nan_to_num(square, nan=np.inf).min(axis=(1, 2)))


def score(native: Interface, decoy: tuple[Side, Side]) -> Scores | None:
    """DockQ of a decoy; None where it has too few of the residues of this interface to compare.

    decoy : the sides of the decoy in the residues of the native: NaN where it has no such residue.
    """
    (one, other), pairs = decoy, native.pairs
    there = [~np.isnan(side.atoms).all(axis=(1, 2)) for side in decoy]
    both = there[0][pairs[:, 0]] & there[1][pairs[:, 1]]
    own = [np.unique(column) for column in pairs[both].T]
    interface = _common(_part(native.sides, own), _part(decoy, own))
    larger = 0 if len(there[0]) > len(there[1]) else 1  # of equal ones the second, as DockQ has it
    receptor, ligand = (_common(decoy[i].backbone, native.sides[i].backbone) for i in (larger, 1 - larger))
    if min(len(one) for one, _ in (interface, receptor, ligand)) < FEWEST:
        return None
    first, second = pairs[native.contact].T
    kept = _nearest(one.atoms[first], other.atoms[second]) < CONTACT
    fnat = float(np.count_nonzero(kept) / np.count_nonzero(native.contact))
    irmsd = _rmsd(interface, superposition(*interface))
    lrmsd = _rmsd(ligand, superposition(*receptor))
    return Scores(dockq(fnat, irmsd, lrmsd), fnat, irmsd, lrmsd)


def dockq(fnat: float, irmsd: float, lrmsd: float) -> float:
    """The mean of fnat and of both RMSDs, scaled to 0–1."""
    return (fnat + 1 / (1 + (irmsd / IRMSD_SCALE) ** 2) + 1 / (1 + (lrmsd / LRMSD_SCALE) ** 2)) / 3


def _part(sides: tuple[Side, Side], own: list[np.ndarray]) -> np.ndarray:
    """Backbone of some residues of both sides, shape (n, 4, 3)."""
    return np.concatenate([side.backbone[residues] for side, residues in zip(sides, own, strict=True)])


def _common(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The backbone atoms that both have, shapes (n, 3)."""
    both = ~(np.isnan(one[..., 0]) | np.isnan(other[..., 0]))
    return one[both], other[both]


def superposition(moving: np.ndarray, fixed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation, (3, 3), and shift, (3,), such that `moving @ rotation + shift` is nearest to `fixed`, shapes (n, 3).

    Kabsch 1976, doi:10.1107/S0567739476001873.
    """
    centre, centre2 = moving.mean(axis=0), fixed.mean(axis=0)
    left, _, right = np.linalg.svd((moving - centre).T @ (fixed - centre2))
    mirrored = np.linalg.det(left @ right) < 0
    turn = left @ np.diag([1.0, 1.0, -1.0 if mirrored else 1.0]) @ right
    return turn, centre2 - centre @ turn


def _rmsd(points: tuple[np.ndarray, np.ndarray], motion: tuple[np.ndarray, np.ndarray]) -> float:
    """Between points and others, shapes (n, 3), once the first are moved."""
    (moving, fixed), (turn, shift) = points, motion
    return float(np.sqrt(np.square(moving @ turn + shift - fixed).sum(axis=1).mean()))
