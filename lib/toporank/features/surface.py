"""How the surface of residues is shared out among their neighbours and water."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from toporank.structures.complex import Complex

PROBE = 1.4
"""Å, the radius of water."""
RADII = {b"C": 1.8, b"N": 1.6, b"O": 1.5, b"S": 1.9}
"""Å, by element; others count as carbon."""
POINTS = 92


class Surfaces(NamedTuple):
    """Surfaces, in Å², of some atoms: what of atom `of` is covered by atom `by`, and what is free.

    of, by : int, (m,). area : (m,). atoms : int, (w,). free : (w, 2), in the complex, and without the other partners.
    """

    of: np.ndarray
    by: np.ndarray
    area: np.ndarray
    atoms: np.ndarray
    free: np.ndarray


def surfaces(heavy: Complex, body: np.ndarray, residues: np.ndarray) -> Surfaces:
    """Surfaces of the atoms of residues, int, (n,). body : int, (A,), the partner of each atom, -1 for none."""
    from toporank.features.kernels.contacts import near_atoms, shared_surface  # imports numba, which is slow

    xyz, start = np.ascontiguousarray(heavy.xyz), heavy.atom_slices
    elements = heavy.elements
    reach = np.full(len(xyz), RADII[b"C"] + PROBE)
    for element, radius in RADII.items():
        reach[elements == element] = radius + PROBE
    protein = np.flatnonzero((heavy.ca >= 0) & (heavy.body_of >= 0) & (np.diff(start) > 0))
    low, high = np.minimum.reduceat(xyz, start[protein]), np.maximum.reduceat(xyz, start[protein])
    # reduceat runs to the next start, which is right only where residues follow each other
    centre, radius = (low + high) / 2, np.linalg.norm(high - low, axis=1) / 2
    atoms = np.flatnonzero(np.isin(heavy.residue_of, residues))
    low, high = xyz[atoms].min(axis=0) - 7, xyz[atoms].max(axis=0) + 7
    close = ((centre + radius[:, None] > low) & (centre - radius[:, None] < high)).all(axis=1)
    near_start, near = near_atoms(xyz, start, atoms, protein[close], centre[close], radius[close], 2 * reach.max())
    of, by, area, free = shared_surface(xyz, reach, body, atoms, near_start, near, _sphere())
    return Surfaces(of, by, area, atoms, free)


def _sphere() -> np.ndarray:
    i = np.arange(POINTS) + 0.5
    z, longitude = 1 - 2 * i / POINTS, np.pi * (1 + np.sqrt(5)) * i
    ring = np.sqrt(1 - z * z)
    return np.ascontiguousarray(np.column_stack([ring * np.cos(longitude), ring * np.sin(longitude), z]))
