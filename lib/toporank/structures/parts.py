"""Parts of one complex with END between them, as ClusPro writes receptor and ligand, or with
nothing between them.
"""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np

from toporank.structures.pdb_text import CHAIN, NUMBER, RESIDUE, PdbText

TITLES = (b"HEADER", b"TITLE", b"COMPND", b"REMARK")
"""Records that a file begins with, and so do parts that were files."""
ATOM_NAME = slice(12, 16)
IDENTITY = slice(16, 27)
"""What two CA atoms cannot have in common: alternate location, residue name, chain, number and
insertion code.
"""
CA = int.from_bytes(b" CA ", "little")
DECIMAL = re.compile(rb"-?\d+")
READ_AS = "END between the parts of one complex, read as TER"


def join_parts(lines: PdbText) -> PdbText:
    """The same text with TER for each END between the parts of one complex; the same object where
    there is none.

    Parts are of one complex if they have other residues: other chains, or two parts, maybe under
    one chain name. Two parts with the same residues are of one complex if each is a single chain
    and the second begins with a title, as a file of its own does; otherwise they are models.
    """
    ends = lines.ends
    if not len(ends) or lines.has_marks or not len(lines.atoms):
        return lines
    ends = ends[(ends > lines.atoms[0]) & (ends < lines.atoms[-1])]
    parts = np.split(lines.atoms, np.searchsorted(lines.atoms, ends))
    parts = [atoms for atoms in parts if len(atoms)]
    if len(parts) < 2 or not _are_one_complex(lines, parts):
        return lines
    text = bytearray(lines.text)
    for start in lines.starts[ends].tolist():
        text[start : start + 3] = b"TER"
    changes = [(line, READ_AS) for line in ends.tolist()]
    return PdbText(bytes(text), (*lines.changes, *changes))


def _are_one_complex(lines: PdbText, parts: list[np.ndarray]) -> bool:
    """Whether parts, given by the lines of their atoms, are of one complex."""
    chains = [set(np.unique(lines.numbers(CHAIN, atoms)).tolist()) for atoms in parts]
    residues = [_residues(lines, atoms) for atoms in parts]
    is_repeated = False
    for one, other in combinations(residues, 2):
        is_repeated |= 2 * len(one & other) > min(len(one), len(other))
    if len(parts) > 2:
        return not is_repeated and sum(map(len, chains)) == len(set.union(*chains))
    if not is_repeated:
        return True
    between = lines.lines(int(parts[0][-1]) + 1, int(parts[1][0])).upper()
    has_title = any(line.startswith(TITLES) for line in between.splitlines())
    return has_title and len(chains[0] | chains[1]) == 1


def _residues(lines: PdbText, atoms: np.ndarray) -> set[tuple[int, ...]]:
    """Name, chain and number of the residues of some atoms."""
    columns = np.column_stack([lines.numbers(column, atoms) for column in RESIDUE])
    return set(map(tuple, np.unique(columns, axis=0).tolist()))


def with_ter_where_numbers_go_back(lines: PdbText, position: int) -> tuple[bytes, int]:
    """Write TER where the numbers of a chain of one model go back to residues that it has already.

    gemmi would make one residue of two that have the same name and number.

    Parameters
    ----------
    lines : PDB text
    position : of the model among its models, from 0

    Returns
    -------
    The text of the model, and how many lines of the file it leaves out, as `PdbText.alone`
    """
    text, n_lines_before = lines.alone(position)
    if not lines.models:
        return text, n_lines_before
    atoms = lines.atoms_of(position)
    ca = atoms[lines.numbers(ATOM_NAME, atoms) == CA]
    residues = {
        lines.text[start + IDENTITY.start : start + IDENTITY.stop]
        for start in lines.starts[ca].tolist()
    }
    if len(residues) == len(ca):
        return text, n_lines_before
    records = text.split(b"\n")
    chains = lines.numbers(CHAIN, atoms)
    atoms = atoms - n_lines_before
    numbers = [records[line][NUMBER].strip() for line in atoms.tolist()]
    for place in range(len(atoms) - 1, 0, -1):
        adjacent = atoms[place] == atoms[place - 1] + 1 and chains[place] == chains[place - 1]
        is_decimal = DECIMAL.fullmatch(numbers[place]) and DECIMAL.fullmatch(numbers[place - 1])
        if adjacent and is_decimal and int(numbers[place]) < int(numbers[place - 1]):
            records.insert(int(atoms[place]), b"TER")
    return b"\n".join(records), n_lines_before
