"""Potentials of mean force between the atoms and residues of proteins, counted in complexes of known structure.

Each is the negative logarithm of how often something is seen over how often it would be seen by chance, so it has no
unit and is negative for what natives prefer. `potentials.csv` beside this file holds them;
`benchmarks/scorer_potentials.py` makes it.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from toporank.features.atom_types import ATOM_TYPES, atom_types
from toporank.features.surface import surfaces
from toporank.structures.complex import STANDARD, Complex
from toporank.structures.neighbours import pairs_between_groups

LIMITS = (0.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 7.0, 8.0, 9.0, 10.0)
"""Å, limits of the shells of atom–atom distances."""
CONTACT = 5.0
"""Å between heavy atoms of residues in contact."""
NEAR = 6.0
"""Å between heavy atoms of residues whose surface is counted."""
APART = 4
"""Two atoms of a chain count when they are at least so many residues apart."""
EXPONENT = 1.61
"""With which the number of pairs of a finite ideal gas grows with distance (Zhou & Zhou 2002,
doi:10.1110/ps.0217002)."""
PSEUDOCOUNTS = 5.0
LARGEST = 3.0
RESIDUES = tuple(STANDARD)
TABLE = Path(__file__).with_name("potentials.csv")


class Potentials(NamedTuple):
    """T atom types in the order of `ATOM_TYPES`, 20 residues in that of `RESIDUES`, B shells.

    atoms : (T, T, B), by distance. surface : (T, T), of a square Å that types of two partners share. water : (T,), of a
    square Å of an interface that stays free. residues : (20, 20), of a contact.
    """

    atoms: np.ndarray
    surface: np.ndarray
    water: np.ndarray
    residues: np.ndarray


@dataclass(eq=False)
class Counts:
    """What was seen in natives, the same kinds as in `Potentials`; symmetric."""

    atoms: np.ndarray = field(default_factory=lambda: np.zeros((len(ATOM_TYPES),) * 2 + (len(LIMITS) - 1,)))
    surface: np.ndarray = field(default_factory=lambda: np.zeros((len(ATOM_TYPES),) * 2))
    water: np.ndarray = field(default_factory=lambda: np.zeros(len(ATOM_TYPES)))
    residues: np.ndarray = field(default_factory=lambda: np.zeros((len(RESIDUES),) * 2))

    def add(self, heavy: Complex) -> None:
        """Count in a native without hydrogens, with its partners."""
        from toporank.features.kernels.atoms import count_types  # imports numba, which is slow

        body = heavy.body_of[heavy.residue_of]
        types = np.where(body >= 0, atom_types(heavy), -1)
        count_types(np.ascontiguousarray(heavy.xyz), types, heavy.residue_of, body, np.array(LIMITS), APART, self.atoms)
        typed = np.flatnonzero(types >= 0)
        pairs, distance = pairs_between_groups(heavy.xyz[typed], body[typed], NEAR)
        near = heavy.residue_of[typed[pairs]]
        number = {name: i for i, name in enumerate(RESIDUES)}
        for r, s in np.unique(np.sort(near[distance < CONTACT], axis=1), axis=0).tolist():
            i, j = number[heavy.parents[r]], number[heavy.parents[s]]
            self.residues[i, j] += 1
            self.residues[j, i] += 1
        shared = surfaces(heavy, np.unique(near))
        between = (types[shared.of] >= 0) & (types[shared.by] >= 0) & (body[shared.of] != body[shared.by])
        of, by, area = types[shared.of[between]], types[shared.by[between]], shared.area[between]
        np.add.at(self.surface, (of, by), area)
        np.add.at(self.surface, (by, of), area)
        buried = (types[shared.atoms] >= 0) & (shared.alone > 0)
        np.add.at(self.water, types[shared.atoms[buried]], shared.free[buried])

    def potentials(self) -> Potentials:
        """The potentials that these counts stand for."""
        width = np.diff(LIMITS)
        middle = np.array(LIMITS[:-1]) + width / 2
        growth = (middle / middle[-1]) ** EXPONENT * width / width[-1]
        expected = self.atoms[:, :, -1:] * growth
        atoms = -np.log((self.atoms + PSEUDOCOUNTS) / (expected + PSEUDOCOUNTS))
        water = -np.log(_shares(self.water) / _shares(self.surface.sum(axis=1)))
        found = atoms, _over_chance(self.surface), water, _over_chance(self.residues + 1)
        return Potentials(*(np.clip(values, -LARGEST, LARGEST) for values in found))


def _shares(values: np.ndarray) -> np.ndarray:
    return (values + 1) / (values + 1).sum()


def _over_chance(counts: np.ndarray) -> np.ndarray:
    """Of symmetric counts, (n, n), over those of partners that meet by chance."""
    chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    few = 0.02 * chance.mean()
    return -np.log((counts + few) / (chance + few))


def write_potentials(potentials: Potentials, path: Path) -> None:
    """A row for each pair, `kind,first,second` and the values; two decimals say all there is."""
    rows = []
    for kind, names in (("atoms", ATOM_TYPES), ("surface", ATOM_TYPES), ("residues", RESIDUES)):
        values = getattr(potentials, kind)
        rows += [
            [kind, names[i], names[j], *(f"{v:.2f}" for v in np.atleast_1d(values[i, j]))]
            for i in range(len(names))
            for j in range(i, len(names))
        ]
    rows += [["water", name, "", f"{value:.2f}"] for name, value in zip(ATOM_TYPES, potentials.water, strict=True)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


@functools.cache
def read_potentials(path: Path = TABLE) -> Potentials:
    """The potentials in a table."""
    shape = Counts()
    found = Potentials(*(np.zeros_like(getattr(shape, kind)) for kind in Potentials._fields))
    place = {name: i for i, name in enumerate(ATOM_TYPES)}, {name: i for i, name in enumerate(RESIDUES)}
    with open(path, newline="", encoding="utf-8") as file:
        for kind, first, second, *values in csv.reader(file):
            number = place[kind == "residues"]
            table, value = getattr(found, kind), np.array(values, float)
            if kind == "water":
                table[number[first]] = value[0]
            else:
                i, j = number[first], number[second]
                table[i, j] = table[j, i] = value if kind == "atoms" else value[0]
    return found
