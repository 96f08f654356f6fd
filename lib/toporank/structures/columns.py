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
NUMBER, COORDINATES = slice(22, 26), range(30, 54, 8)
QUADS = np.array([22, 30, 34, 38, 42, 46, 50])[:, None] + np.arange(4)
"""Columns of residue number, and of x, y and z in two halves each."""
CODE = 26
"""Column of the insertion code."""
_COORDINATE = re.compile(r" *[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)? *", re.ASCII)
_RESIDUE_NUMBER = re.compile(r" *-?\d+ *|[A-Z][0-9A-Z]{3}|[a-z][0-9a-z]{3}", re.ASCII)
"""Decimal or hybrid-36."""

_KINDS = " -0."
_KIND = np.full(256, len(_KINDS), dtype=np.int16)
for _kind, _signs in enumerate((" ", "-", "0123456789", ".")):
    _KIND[list(_signs.encode())] = _kind
_WEIGHTS = 5 ** np.arange(4, dtype=np.int16)


def _shapes(*shapes: str) -> list[int]:
    """The number of each four signs where `0` stands for any digit; see `_plain`."""
    return [int(_KIND[list(shape.encode())] @ _WEIGHTS) for shape in shapes]


_WHOLE = np.isin(np.arange(5**4), _shapes("   0", "  00", " 000", "0000", "  -0", " -00", "-000"))
_POINT_AND_DECIMALS = _shapes(".000")[0]

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
    head = np.take(data, starts[:, None] + np.arange(4), mode="clip")
    capital = head & 0xDF  # a-z to A-Z; what becomes of other signs does not matter
    model_ends = np.flatnonzero((capital == list(b"ENDM")).all(axis=1))
    lines = np.arange(model_ends[0] if len(model_ends) else len(starts))
    capital, head = capital[lines], head[lines]
    atoms = np.flatnonzero((capital == list(b"ATOM")).all(axis=1) | (capital == list(b"HETA")).all(axis=1))
    ends = np.flatnonzero((capital[:, :3] == list(b"END")).all(axis=1) & (head[:, 3] < ord("0")))
    if len(ends) and len(atoms) and atoms[-1] > ends[0]:
        raise StructureError(f"atoms after END in line {ends[0] + 1}", remedy="remove END lines between the parts")
    for line in atoms[~_plain(data, starts[atoms])]:
        _check_line(text[starts[line] :].partition("\n")[0], int(line) + 1)


def _plain(data: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Which records have a plain whole residue number and plain coordinates such as `-12.345`, bool, shape (n,).

    data : uint8, the text. starts : int, shape (n,), where the records begin.
    """
    columns = np.take(data, starts[:, None] + QUADS.ravel(), mode="clip")
    quads = _KIND[columns].reshape(len(starts), len(QUADS), 4) @ _WEIGHTS
    numbers = _WHOLE[quads[:, [0, 1, 3, 5]]].all(axis=1) & (quads[:, [2, 4, 6]] == _POINT_AND_DECIMALS).all(axis=1)
    return numbers & (_KIND[np.take(data, starts + CODE, mode="clip")] != _KIND[ord("0")])


def _check_line(line: str, number: int) -> None:
    """Look closely at one atom record; `number` is its line number."""
    residue = f"{line[21:22].strip()}:{line[22:27].strip()}"
    for start in COORDINATES:
        if not _COORDINATE.fullmatch(line[start : start + 8]):
            raise StructureError(
                f"a coordinate of {residue} is not a number: {line[start : start + 8]!r} in line {number}",
                remedy=WRONG_COLUMNS,
            )
    if not _RESIDUE_NUMBER.fullmatch(line[NUMBER]):
        raise StructureError(f"not a residue number in line {number}: {line[NUMBER]!r}", remedy=WRONG_COLUMNS)
    if line[NUMBER].isdigit() and line[CODE : CODE + 1].isdigit():
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
