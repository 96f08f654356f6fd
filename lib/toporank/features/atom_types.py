"""Types of heavy atoms of proteins, by what they are and what they are bound to.

`atom_types.csv` beside this file names the type of each atom of each residue.
"""

from __future__ import annotations

import csv
import functools
from pathlib import Path

import numpy as np

from toporank.structures.complex import Complex

TABLE = Path(__file__).with_name("atom_types.csv")
ATOM_TYPES = (
    "N",
    "CA",
    "C",
    "O",
    "CB",
    "aliphatic",
    "methyl",
    "C_pro",
    "aromatic",
    "C_by_cation",
    "C_polar",
    "S_cys",
    "S_met",
    "O_alcohol",
    "O_tyr",
    "O_acid",
    "O_amide",
    "N_amide",
    "N_lys",
    "N_arg",
    "N_his",
    "N_trp",
)
"""The 22 types. An atom that has none of these names in its residue has no type."""

APOLAR = np.isin(
    ATOM_TYPES, ("CB", "aliphatic", "methyl", "C_pro", "aromatic", "S_cys", "S_met")
)
POLAR = np.isin([name[0] for name in ATOM_TYPES], ("N", "O"))
POSITIVE = np.isin(ATOM_TYPES, ("N_lys", "N_arg"))
NEGATIVE = np.isin(ATOM_TYPES, ("O_acid",))
"""bool, shape (22,), of the types."""

NO_TYPE = -1


@functools.cache
def _type_of_atom() -> dict[tuple[str, bytes], int]:
    """Residue and atom → place in `ATOM_TYPES`."""
    types = {}
    with open(TABLE, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            types[row["residue"], row["atom"].encode()] = ATOM_TYPES.index(row["type"])
    return types


def atom_types(complex_: Complex, residues: np.ndarray | None = None) -> np.ndarray:
    """Place in `ATOM_TYPES` of each atom of some residues, or of all: int, shape (A,).

    All other atoms have `NO_TYPE`.
    """
    types = np.full(len(complex_.xyz), NO_TYPE)
    type_of_atom = _type_of_atom()
    start = complex_.atom_slices.tolist()
    for r in range(len(complex_.residues)) if residues is None else residues.tolist():
        for a in range(start[r], start[r + 1]):
            atom = complex_.parents[r], complex_.atom_names[a]
            types[a] = type_of_atom.get(atom, NO_TYPE)
    return types
