"""Potentials of mean force between atoms and residues.

They are counted in complexes of known structure.

Each is the negative logarithm of how often something is seen over how often it would be seen by
chance, so it has no unit and is negative for what natives prefer. `potentials.csv` beside this file
holds them; `benchmarks/scorer_potentials.py` counts them and makes it.
"""

from __future__ import annotations

import csv
import functools
from pathlib import Path
from typing import NamedTuple

import numpy as np

from toporank.features.atom_types import ATOM_TYPES
from toporank.structures.complex import STANDARD

LIMITS = (0.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 7.0, 8.0, 9.0, 10.0)
"""Å, limits of the shells of atom–atom distances."""
CONTACT = 5.0
"""Å between heavy atoms of residues in contact."""
RESIDUES = tuple(STANDARD)
TABLE = Path(__file__).with_name("potentials.csv")


class Potentials(NamedTuple):
    """T atom types in the order of `ATOM_TYPES`, 20 residues in that of `RESIDUES`, B shells.

    atoms : (T, T, B), by distance. surface : (T, T), of a square Å that types of two partners
    share. water : (T,), of a square Å of an interface that stays free. residues : (20, 20), of a
    contact.
    """

    atoms: np.ndarray
    surface: np.ndarray
    water: np.ndarray
    residues: np.ndarray


@functools.cache
def read_potentials() -> Potentials:
    """The potentials of `potentials.csv`.

    The table has a row for each pair: `kind,first,second` and the values.
    """
    n_types, n_residues = len(ATOM_TYPES), len(RESIDUES)
    potentials = Potentials(
        atoms=np.zeros((n_types, n_types, len(LIMITS) - 1)),
        surface=np.zeros((n_types, n_types)),
        water=np.zeros(n_types),
        residues=np.zeros((n_residues, n_residues)),
    )
    with open(TABLE, newline="", encoding="utf-8") as file:
        for kind, first, second, *texts in csv.reader(file):
            names = RESIDUES if kind == "residues" else ATOM_TYPES
            values = np.array(texts, float)
            table = getattr(potentials, kind)
            i = names.index(first)
            if kind == "water":
                table[i] = values[0]
            else:
                j = names.index(second)
                table[i, j] = table[j, i] = values if kind == "atoms" else values[0]
    return potentials
