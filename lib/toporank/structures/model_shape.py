"""The shape of a model: what its copies have in common, wherever they lie.

Of each protein chain it keeps five points that the places of all heavy atoms move: their centroid,
and four sums in which each atom has a weight of its own. So two models are compared by a few points
instead of thousands of atoms. One of n atoms that moves by d moves these points by about d / √n.
Names and order of chains, residue numbers, hydrogens and the second oxygen at the end of a chain
play no part. Atoms of a side chain count by their element, whatever they are called.
"""

from __future__ import annotations

import functools
import hashlib
import json
from typing import NamedTuple

import numpy as np

from toporank.structures.complex import Complex

N_POINTS = 5
PER_ANGSTROM = 10_000
"""Points are kept to 0.0001 Å."""
FARTHEST = 1e6
"""Å. Farther away are atoms of unknown place."""
BACKBONE = np.array([b"N", b"CA", b"C", b"O"], dtype="S8").view("<u8")
END_OXYGEN = np.array([b"OXT"], dtype="S8").view("<u8")[0]
SMALLEST = 1e-9
"""Length of weights below which they are none, as those of a single atom."""


class ChainShape(NamedTuple):
    """A protein chain: its name, a digest of its sequence, and its points, (N_POINTS, 3), Å."""

    name: str
    kind: str
    points: np.ndarray


def shape_of(complex_: Complex) -> str:
    """Return the shape of a complex as text; empty where the place of an atom is not known."""
    names = complex_.atom_names.view("<u8").ravel()
    is_counted = complex_.is_protein[complex_.residue_of] & ~complex_.is_hydrogen
    is_counted &= names != END_OXYGEN
    xyz = complex_.xyz[is_counted]
    if not len(xyz) or not (np.abs(xyz) < FARTHEST).all():
        return ""
    residue_of = complex_.residue_of[is_counted]
    has_atoms = np.bincount(residue_of, minlength=len(complex_.residues)) > 0
    letters: dict[str, list[str]] = {}
    number_of: dict[str, int] = {}
    chain_of = np.zeros(len(has_atoms), dtype=np.intp)
    place_of = np.zeros(len(has_atoms), dtype=np.uint64)
    for residue in np.flatnonzero(has_atoms).tolist():
        name = complex_.residues[residue].chain
        of_chain = letters.setdefault(name, [])
        chain_of[residue] = number_of.setdefault(name, len(number_of))
        place_of[residue] = len(of_chain)
        of_chain.append(complex_.letters[residue])
    atoms = place_of[residue_of] * np.uint64(1000) + _atom_kinds(names[is_counted])
    points = _points(xyz, chain_of[residue_of], atoms)
    rows = []
    for (name, of_chain), of_points in zip(letters.items(), points, strict=True):
        sequence = "".join(of_chain).encode()
        kind = hashlib.blake2b(sequence, digest_size=6).hexdigest()
        whole = np.rint(of_points * PER_ANGSTROM).astype(int).tolist()
        rows.append([name, kind, whole])
    return json.dumps(rows, separators=(",", ":"))


@functools.lru_cache(maxsize=1 << 12)
def read_shape(text: str) -> tuple[ChainShape, ...]:
    """The inverse of `shape_of`."""
    shapes = []
    for name, kind, points in json.loads(text):
        shapes.append(ChainShape(name, kind, np.array(points) / PER_ANGSTROM))
    return tuple(shapes)


def _atom_kinds(names: np.ndarray) -> np.ndarray:
    """A number for each atom of the backbone, and one for each element of side chains, (A,)."""
    kinds = (names & np.uint64(0xFF)) + np.uint64(10)
    for kind, name in enumerate(BACKBONE):
        kinds[names == name] = kind
    return kinds


def _points(xyz: np.ndarray, chain: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    """The points of n chains, (n, N_POINTS, 3).

    xyz, chain, atoms : place, chain, int from 0, and kind of each atom, (A, 3), (A,) and (A,)
    """
    size = np.bincount(chain)

    def sums(weight: np.ndarray) -> np.ndarray:
        columns = [np.bincount(chain, weight * x) for x in xyz.T]
        return np.column_stack(columns)

    centroid = sums(np.ones(len(xyz))) / size[:, None]
    points = [centroid]
    for k in range(1, N_POINTS):
        weight = _random(atoms + np.uint64(k << 40))
        weight -= (np.bincount(chain, weight) / size)[chain]
        length = np.sqrt(np.bincount(chain, weight**2))
        points.append(centroid + sums(weight) / np.maximum(length, SMALLEST)[:, None])
    return np.stack(points, axis=1)


def _random(numbers: np.ndarray) -> np.ndarray:
    """A number from 0 to 1 for each whole number, always the same (splitmix64), (n,)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(float) * 2.0**-53
