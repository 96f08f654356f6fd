"""Refusing complexes that are denser than matter can be.

That happens before anything is computed for their pairs.

The work and memory of every feature stage rise with the number of atoms near an atom. A protein has
about one residue in 130 Å³ (Harpaz et al. 1994, Structure 2:641): 8 CA and 60 heavy atoms in a cube
of 10 Å. In 4,900 natives, docked poses and predictions the densest cube held 20 CA and 125 heavy
atoms; those were chains predicted or docked into each other. Four copies of a protein in one place
still pass.
"""

from __future__ import annotations

import numpy as np

from toporank.errors import StructureError
from toporank.structures.complex import Complex

EDGE = 10.0
"""Å, the edge of the cubes in which atoms are counted."""
MAX_CA = 50
"""CA atoms of amino acids in one cube."""
MAX_HEAVY = 300
"""Atoms other than hydrogen in one cube."""
NANOMETRES = (0.3, 0.5)
"""The distance between consecutive CA atoms, 3.8 Å, lies between these where coordinates are given
in nm.
"""


def check_density(complex_: Complex) -> None:
    """Raise StructureError where coordinates are in nm or atoms share a place.

    Takes time and memory in proportion to the number of atoms.
    """
    ca = complex_.xyz[complex_.ca[complex_.ca >= 0]]
    if len(ca) > 1:
        step = float(np.median(np.linalg.norm(np.diff(ca, axis=0), axis=1)))
        if NANOMETRES[0] < step < NANOMETRES[1]:
            raise StructureError(
                f"coordinates look like nanometres: consecutive CA atoms are {step:.2f} apart, "
                "not 3.8 Å",
                remedy="multiply them by 10",
            )
    _check_crowd(ca, MAX_CA, "residues", 8)
    if most_in_a_cube(complex_.xyz, MAX_HEAVY) > MAX_HEAVY:
        _check_crowd(complex_.xyz[~complex_.is_hydrogen], MAX_HEAVY, "heavy atoms", 60)


def _check_crowd(xyz: np.ndarray, limit: int, what: str, usual: int) -> None:
    """Raise StructureError when a cube holds more than `limit` points, shape (n, 3)."""
    count = most_in_a_cube(xyz, limit)
    if count > limit:
        raise StructureError(
            f"{count} {what} within a cube of {EDGE:g} Å, where a protein has about {usual}",
            remedy="are coordinates in another unit, or many copies in one place?",
        )


def most_in_a_cube(xyz: np.ndarray, limit: int) -> int:
    """How many points the fullest cube holds.

    0 where none holds more than `limit`. xyz : (n, 3), Å.
    """
    if len(xyz) <= limit:
        return 0
    x, y, z = ((xyz - xyz.min(axis=0)) // EDGE).astype(np.int64).T
    cube = np.sort((x << 40) + (y << 20) + z)
    if not (cube[limit:] == cube[: len(cube) - limit]).any():
        return 0
    return int(np.unique(cube, return_counts=True)[1].max())
