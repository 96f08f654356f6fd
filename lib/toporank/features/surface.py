"""How the surface of residues is shared out among their neighbours and water."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from toporank.features.atom_types import atom_types
from toporank.features.dssp_nodes import along_principal_axes
from toporank.structures.complex import Complex
from toporank.structures.neighbours import Cubes

PROBE = 1.4
"""Å, the radius of water."""
RADII = {b"C": 1.8, b"N": 1.6, b"O": 1.5, b"S": 1.9}
"""Å, by element; others count as carbon."""
POINTS = 92
"""On each atom: a point of a carbon covers 1.4 Å²."""


class Surfaces(NamedTuple):
    """Surfaces, in Å², of some atoms, and how they are shared out.

    of, by : int, (m,), and area : (m,), what of atom `of` is covered by atom `by`. atoms : int,
    (w,), free : (w,), what of these is covered by none, alone : (w,), the same when the other
    partners are taken away.
    """

    of: np.ndarray
    by: np.ndarray
    area: np.ndarray
    atoms: np.ndarray
    free: np.ndarray
    alone: np.ndarray


class Seen(NamedTuple):
    """What nodes and edges look at around some residues.

    heavy : the complex without hydrogens, along its principal axes, since the points on spheres
    that sample surfaces do not turn with it. types : of its atoms, as `atom_types` gives them for
    these residues. surfaces : of the residues.
    """

    heavy: Complex
    types: np.ndarray
    surfaces: Surfaces


_LAST: list[tuple[Complex, bytes, Seen]] = []
"""The last of `around`."""


def around(complex_: Complex, residues: np.ndarray) -> Seen:
    """Return what is around some residues, computed once for the nodes and edges of a decoy.

    residues : int, shape (n,)
    """
    key = residues.tobytes()
    for last, of_residues, surroundings in _LAST:
        if last is complex_ and of_residues == key:
            return surroundings
    heavy = along_principal_axes(complex_.without_hydrogens(), residues)
    types = atom_types(heavy, residues)
    surroundings = Seen(heavy, types, surfaces(heavy, residues))
    _LAST[:] = [(complex_, key, surroundings)]
    return surroundings


def surfaces(heavy: Complex, residues: np.ndarray) -> Surfaces:
    """Share out the surfaces of the atoms of some residues.

    Each of the points of the surface accessible to water (Shrake & Rupley 1973,
    doi:10.1016/0022-2836(73)90011-9) goes to the ball that covers it deepest: the largest r² − d²,
    as in a Voronoi tessellation of balls.

    Parameters
    ----------
    heavy : Complex
        without hydrogens
    residues : int, shape (n,)

    Returns
    -------
    Surfaces
    """
    # imports numba, which is slow
    from toporank_kernels.atoms import shared_surface

    reach = np.full(len(heavy.xyz), RADII[b"C"] + PROBE)
    for element, radius in RADII.items():
        reach[heavy.elements == element] = radius + PROBE
    atoms = np.flatnonzero(np.isin(heavy.residue_of, residues))
    body = heavy.body_of[heavy.residue_of]
    near = neighbours(heavy, atoms, 2 * reach.max())
    of, by, area, free = shared_surface(
        np.ascontiguousarray(heavy.xyz), reach, body, atoms, *near, _sphere()
    )
    return Surfaces(of, by, area, atoms, *free.T)


def neighbours(
    heavy: Complex, atoms: np.ndarray, cutoff: float
) -> tuple[np.ndarray, np.ndarray]:
    """Find the protein atoms of partners around some atoms, these themselves left out.

    Parameters
    ----------
    heavy : Complex
    atoms : int, shape (w,)
    cutoff : Å

    Returns
    -------
    start : int, shape (w + 1,)
    near : int, the neighbours of atom k are near[start[k] : start[k + 1]]
    """
    # imports numba, which is slow
    from toporank_kernels.atoms import near_atoms

    xyz, start = np.ascontiguousarray(heavy.xyz), heavy.atom_slices
    low, high = xyz[atoms].min(axis=0) - cutoff, xyz[atoms].max(axis=0) + cutoff
    counts = heavy.is_protein & (heavy.body_of >= 0)
    close = ((xyz > low) & (xyz < high)).all(axis=1) & counts[heavy.residue_of]
    around, centres = (
        np.unique(heavy.residue_of[close]),
        np.unique(heavy.residue_of[atoms]),
    )
    residues = np.union1d(around, centres)
    centre, radius = _balls(xyz, start, residues)
    cubes = Cubes.of(centre, cutoff + 2 * radius.max())
    ball_of = np.searchsorted(residues, heavy.residue_of[atoms])
    balls = ball_of, residues, np.isin(residues, around), centre, radius
    return near_atoms(xyz, start, atoms, *balls, cutoff, cubes.cell, cubes.rows)


def _balls(
    xyz: np.ndarray, start: np.ndarray, residues: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Around the atoms of residues: centres (n, 3) and radii (n,)."""
    ends = np.column_stack([start[residues], start[residues + 1]]).ravel()
    padded = np.vstack([xyz, xyz[:1]])  # so that the last end is a place
    low, high = (
        np.minimum.reduceat(padded, ends)[::2],
        np.maximum.reduceat(padded, ends)[::2],
    )
    return (low + high) / 2, np.linalg.norm(high - low, axis=1) / 2


def _sphere() -> np.ndarray:
    """`POINTS` unit vectors spread evenly over a sphere, shape (`POINTS`, 3)."""
    i = np.arange(POINTS) + 0.5
    z, longitude = 1 - 2 * i / POINTS, np.pi * (1 + np.sqrt(5)) * i
    ring = np.sqrt(1 - z * z)
    return np.ascontiguousarray(
        np.column_stack([ring * np.cos(longitude), ring * np.sin(longitude), z])
    )
