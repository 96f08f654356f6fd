"""Refusing complexes that are denser than matter can be.

That happens before anything is computed for their pairs.

The work and memory of every feature stage rise with the number of atoms near an atom. A protein has
about one residue in 130 Å³ (Harpaz et al. 1994, Structure 2:641): 8 CA and 60 heavy atoms in a cube
of 10 Å. In 4,900 natives, docked poses and predictions the densest cube held 20 CA and 125 heavy
atoms; those were chains predicted or docked into each other.
"""

from __future__ import annotations

import numpy as np

from toporank.errors import OverlapError, StructureError
from toporank.structures.complex import Complex
from toporank.structures.neighbours import pairs_between_groups

EDGE = 10.0
"""Å, the edge of the cubes in which atoms are counted."""
MAX_CA = 50
"""CA atoms of amino acids in one cube."""
MAX_HEAVY = 300
"""Atoms other than hydrogen in one cube."""
INSIDE = 2.0
"""Å between CA atoms where two residues have no room; bonded ones are 2.9 Å apart or more."""
MOST_INSIDE = 0.5
"""Share of the residues of a chain that may be so near to another chain. In 3,416 models of several
programs it was up to 0.18, and 0.81 and more in five that had put two copies of a protein into each
other.
"""
LEAST_INSIDE = 10
"""Residues that lie inside another chain, at least: a few may be of a peptide that clashes."""
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


def check_apart(complex_: Complex) -> None:
    """Raise OverlapError where most of a chain lies inside another one."""
    has_ca = np.flatnonzero(complex_.ca >= 0)
    chains = np.array([complex_.residues[place].chain for place in has_ca])
    names, chain = np.unique(chains, return_inverse=True)
    pairs, _ = pairs_between_groups(complex_.xyz[complex_.ca[has_ca]], chain, INSIDE)
    if not len(pairs):
        return
    n_residues = np.bincount(chain)
    both_ways = np.concatenate([pairs, pairs[:, ::-1]])
    of_chains = chain[both_ways]
    for one, other in np.unique(of_chains, axis=0):
        of_both = (of_chains == (one, other)).all(axis=1)
        count = len(np.unique(both_ways[of_both, 0]))
        if count >= max(LEAST_INSIDE, MOST_INSIDE * n_residues[one]):
            raise OverlapError(
                f"chain {names[one]} lies inside chain {names[other]}: {count} of its "
                f"{n_residues[one]} residues are nearer than {INSIDE:g} Å to a residue of it",
                remedy="no such complex can be; to score the rest, take one of the two out",
            )


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
