"""What gemmi would guess without a word: misread numbers, atoms it leaves out, residues it throws together.

Each function refuses such text with a StructureError whose message names line or column.
"""

from __future__ import annotations

import re

import gemmi
import numpy as np

from toporank.errors import StructureError
from toporank.structures.complex import STANDARD

WRONG_COLUMNS = "PDB columns are fixed: has the line been shifted, or a number outgrown its column? write mmCIF instead"
NUMBER, COORDINATES = slice(22, 26), slice(30, 54)
FIRST, LAST = NUMBER.start, COORDINATES.stop
_COORDINATE = re.compile(r" *[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)? *", re.ASCII)
_RESIDUE_NUMBER = re.compile(r" *-?\d+ *|[A-Z][0-9A-Z]{3}|[a-z][0-9a-z]{3}", re.ASCII)
"""Decimal or hybrid-36."""

SPACE, MINUS, DIGIT, POINT, OTHER = range(5)
_KIND = np.full(256, OTHER, dtype=np.int8)
_KIND[ord(" ")], _KIND[ord("-")], _KIND[ord(".")] = SPACE, MINUS, POINT
_KIND[np.arange(ord("0"), ord("9") + 1)] = DIGIT

REQUIRED = (
    ("id",), ("type_symbol",), ("label_alt_id",), ("label_asym_id",), ("Cartn_x",), ("Cartn_y",), ("Cartn_z",),
    ("label_atom_id", "auth_atom_id"), ("label_comp_id", "auth_comp_id"), ("auth_seq_id", "label_seq_id"),
)  # fmt: skip
"""Columns of the _atom_site table without which it cannot be read; of two, one is enough."""
LONGEST_NUMBER = 7
"""Characters of a residue number; no chain has ten million residues."""
NO_VALUE = frozenset("?.")


def check_pdb(text: str) -> None:
    """Check the atom records of the first model; `text` is ASCII.

    Refused are atoms after END, coordinates and residue numbers that are not numbers from end to end, and
    residue numbers that run over into the insertion code.
    """
    data = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    starts = np.concatenate([[0], np.flatnonzero(data == ord("\n")) + 1])
    head = data[np.minimum(starts[:, None] + np.arange(4), len(data) - 1)]
    capital = head & 0xDF  # a-z to A-Z; what becomes of other signs does not matter
    model_ends = np.flatnonzero((capital == list(b"ENDM")).all(axis=1))
    lines = np.arange(model_ends[0] if len(model_ends) else len(starts))
    capital, head = capital[lines], head[lines]
    atoms = np.flatnonzero((capital == list(b"ATOM")).all(axis=1) | (capital == list(b"HETA")).all(axis=1))
    ends = np.flatnonzero((capital[:, :3] == list(b"END")).all(axis=1) & (head[:, 3] < ord("0")))
    if len(ends) and len(atoms) and atoms[-1] > ends[0]:
        raise StructureError(f"atoms after END in line {ends[0] + 1}", remedy="remove END lines between the parts")
    columns = data[np.minimum(starts[atoms][:, None] + np.arange(FIRST, LAST), len(data) - 1)]
    for line in atoms[~_plain(_KIND[columns])]:
        _check_line(text[starts[line] :].partition("\n")[0], int(line) + 1)


def _plain(kinds: np.ndarray) -> np.ndarray:
    """Which records have a plain whole residue number and plain coordinates such as `-12.345`, bool, shape (n,).

    kinds : the kind of sign in each of the columns FIRST to LAST, shape (n, LAST - FIRST).
    """
    number = kinds[:, NUMBER.start - FIRST : NUMBER.stop - FIRST]
    code = kinds[:, NUMBER.stop - FIRST]
    xyz = kinds[:, COORDINATES.start - FIRST :].reshape(-1, 3, 8)
    coordinates = _whole(xyz[..., :4]) & (xyz[..., 4] == POINT) & (xyz[..., 5:] == DIGIT).all(axis=-1)
    return _whole(number) & (code != DIGIT) & coordinates.all(axis=1)


def _whole(kinds: np.ndarray) -> np.ndarray:
    """Which rows of signs, shape (..., 4), are a whole number written to the right."""
    rising = (np.diff(kinds, axis=-1) >= 0).all(axis=-1)
    return rising & (kinds[..., -1] == DIGIT) & ((kinds == MINUS).sum(axis=-1) <= 1)


def _check_line(line: str, number: int) -> None:
    """Look closely at one atom record; `number` is its line number."""
    residue = f"{line[21:22].strip()}:{line[22:27].strip()}"
    for start in range(COORDINATES.start, COORDINATES.stop, 8):
        if not _COORDINATE.fullmatch(line[start : start + 8]):
            raise StructureError(
                f"a coordinate of {residue} is not a number: {line[start : start + 8]!r} in line {number}",
                remedy=WRONG_COLUMNS,
            )
    if not _RESIDUE_NUMBER.fullmatch(line[NUMBER]):
        raise StructureError(f"not a residue number in line {number}: {line[NUMBER]!r}", remedy=WRONG_COLUMNS)
    if line[NUMBER].isdigit() and line[26:27].isdigit():
        raise StructureError(f"residue number of more than four digits in line {number}", remedy=WRONG_COLUMNS)


def check_mmcif(block: gemmi.cif.Block) -> None:
    """Check that an _atom_site table has the columns it needs and residue numbers of bearable length."""
    for names in REQUIRED:
        if not any(block.find_values(f"_atom_site.{name}") for name in names):
            raise StructureError(
                f"the _atom_site table has no column {' or '.join(names)}",
                remedy="write it with all columns",
            )
    for name in ("auth_seq_id", "label_seq_id"):
        longest = max(block.find_values(f"_atom_site.{name}"), key=len, default="")
        if len(longest) > LONGEST_NUMBER:
            raise StructureError(f"not a residue number in _atom_site.{name}: {longest}", remedy="renumber")


def number_ligands(block: gemmi.cif.Block) -> None:
    """Number ligands and waters that have neither an author's nor a label number, from 1 in each file.

    Files without `auth_seq_id` number polymers only; all waters of a chain would else be one residue. An
    amino acid of a chain is left as it is.
    """
    names = ["label_asym_id", "?group_PDB", "?label_comp_id", "?auth_comp_id", "?label_atom_id", "?auth_atom_id"]
    table = block.find("_atom_site.", [*names, "?label_seq_id", "?auth_seq_id"])
    numbers = [k for k in (6, 7) if table.has_column(k)]
    if any(NO_VALUE.isdisjoint(table.column(k)) for k in numbers):
        return
    component, atom = (a if table.has_column(a) else b for a, b in ((2, 3), (4, 5)))
    count, before, atoms = 0, None, set()
    for row in table:
        if any(row[k] not in NO_VALUE for k in numbers):
            continue
        if _in_chain(row.str(component), table.has_column(1) and row[1] == "HETATM"):
            continue
        residue = row.str(0), row.str(component)
        if residue != before or row.str(atom) in atoms:
            count, before, atoms = count + 1, residue, set()
        atoms.add(row.str(atom))
        row[numbers[0]] = str(count)


def _in_chain(component: str, hetero: bool) -> bool:
    """A residue that is part of a protein chain, which has a number of its own or none at all."""
    if component in STANDARD:
        return not hetero
    return gemmi.find_tabulated_residue(component).is_amino_acid()
