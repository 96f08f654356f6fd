"""Types of heavy atoms of proteins, by what they are and what they are bound to."""

from __future__ import annotations

import functools

import numpy as np

from toporank.structures.complex import Complex

_BACKBONE = {"N": "N", "CA": "CA", "C": "C", "O": "O", "OXT": "O_acid"}
_SIDE_CHAINS = {
    "ALA": {"CB": "methyl"},
    "ARG": {
        "CB": "CB",
        "CG": "aliphatic",
        "CD": "C_by_cation",
        "NE": "N_arg",
        "CZ": "C_polar",
        "NH1": "N_arg",
        "NH2": "N_arg",
    },
    "ASN": {"CB": "CB", "CG": "C_polar", "OD1": "O_amide", "ND2": "N_amide"},
    "ASP": {"CB": "CB", "CG": "C_polar", "OD1": "O_acid", "OD2": "O_acid"},
    "CYS": {"CB": "CB", "SG": "S_cys"},
    "GLN": {"CB": "CB", "CG": "aliphatic", "CD": "C_polar", "OE1": "O_amide", "NE2": "N_amide"},
    "GLU": {"CB": "CB", "CG": "aliphatic", "CD": "C_polar", "OE1": "O_acid", "OE2": "O_acid"},
    "GLY": {},
    "HIS": {
        "CB": "CB",
        "CG": "aromatic",
        "ND1": "N_his",
        "CD2": "aromatic",
        "CE1": "aromatic",
        "NE2": "N_his",
    },
    "ILE": {"CB": "CB", "CG1": "aliphatic", "CG2": "methyl", "CD1": "methyl"},
    "LEU": {"CB": "CB", "CG": "aliphatic", "CD1": "methyl", "CD2": "methyl"},
    "LYS": {"CB": "CB", "CG": "aliphatic", "CD": "aliphatic", "CE": "C_by_cation", "NZ": "N_lys"},
    "MET": {"CB": "CB", "CG": "aliphatic", "SD": "S_met", "CE": "methyl"},
    "PHE": {"CB": "CB", **dict.fromkeys(("CG", "CD1", "CD2", "CE1", "CE2", "CZ"), "aromatic")},
    "PRO": dict.fromkeys(("CB", "CG", "CD"), "C_pro"),
    "SER": {"CB": "CB", "OG": "O_alcohol"},
    "THR": {"CB": "CB", "OG1": "O_alcohol", "CG2": "methyl"},
    "TRP": {
        "CB": "CB",
        "NE1": "N_trp",
        **dict.fromkeys(("CG", "CD1", "CD2", "CE2", "CE3", "CZ2", "CZ3", "CH2"), "aromatic"),
    },
    "TYR": {
        "CB": "CB",
        **dict.fromkeys(("CG", "CD1", "CD2", "CE1", "CE2", "CZ"), "aromatic"),
        "OH": "O_tyr",
    },
    "VAL": {"CB": "CB", "CG1": "methyl", "CG2": "methyl"},
}

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

APOLAR = np.isin(ATOM_TYPES, ("CB", "aliphatic", "methyl", "C_pro", "aromatic", "S_cys", "S_met"))
POLAR = np.isin([name[0] for name in ATOM_TYPES], ("N", "O"))
POSITIVE = np.isin(ATOM_TYPES, ("N_lys", "N_arg"))
NEGATIVE = np.isin(ATOM_TYPES, ("O_acid",))
"""bool, shape (22,), of the types."""

NO_TYPE = -1


@functools.cache
def _place() -> dict[tuple[str, bytes], int]:
    place = {}
    for residue, side_chain in _SIDE_CHAINS.items():
        for atom, kind in {**_BACKBONE, **side_chain}.items():
            place[residue, atom.encode()] = ATOM_TYPES.index(kind)
    return place


def atom_types(complex_: Complex, residues: np.ndarray | None = None) -> np.ndarray:
    """Place in `ATOM_TYPES` of each atom of some residues, or of all: int, shape (A,); elsewhere
    `NO_TYPE`.
    """
    types, place = np.full(len(complex_.xyz), NO_TYPE), _place()
    start = complex_.atom_slices
    for r in range(len(complex_.residues)) if residues is None else residues.tolist():
        parent = complex_.parents[r]
        for a in range(start[r], start[r + 1]):
            types[a] = place.get((parent, complex_.atom_names[a]), NO_TYPE)
    return types
