"""Parts of one complex with END, or nothing, between them.

ClusPro writes receptor and ligand in this way.
"""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np

from toporank.structures.pdb_text import CHAIN, NUMBER, RESIDUE, PdbText, word

TITLES = (b"HEADER", b"TITLE", b"COMPND", b"REMARK")
"""Records that a file begins with, and so do parts that were files."""
ATOM_NAME = slice(12, 16)
IDENTITY = slice(16, 27)
"""What two CA atoms cannot have in common: alternate location, residue name, chain, number and
insertion code.
"""
DECIMAL = re.compile(rb"-?\d+")
READ_AS = "END between the parts of one complex, read as TER"


def join_parts(lines: PdbText) -> PdbText:
    """The same text with TER for each END between the parts of one complex.

    It is the same object where there is no such END.

    Parts are of one complex if they have other residues: other chains, or two parts, maybe under
    one chain name. Two parts with the same residues are of one complex if each is a single chain
    and the second begins with a title, as a file of its own does; otherwise they are models.
    """
    if not len(lines.ends) or lines.has_marks or not len(lines.atoms):
        return lines
    is_between = (lines.ends > lines.atoms[0]) & (lines.ends < lines.atoms[-1])
    ends = lines.ends[is_between]
    stretches = np.split(lines.atoms, np.searchsorted(lines.atoms, ends))
    parts = [atoms for atoms in stretches if len(atoms)]
    if len(parts) < 2 or not _are_one_complex(lines, parts):
        return lines
    text = bytearray(lines.text)
    changes = list(lines.changes)
    for line in ends.tolist():
        start = lines.starts[line]
        text[start : start + 3] = b"TER"
        changes.append((line, READ_AS))
    return PdbText(bytes(text), tuple(changes))


def _are_one_complex(lines: PdbText, parts: list[np.ndarray]) -> bool:
    """Whether parts, given by the lines of their atoms, are of one complex."""
    chains = [set(lines.numbers(CHAIN, atoms).tolist()) for atoms in parts]
    residues = []
    for atoms in parts:
        columns = [lines.numbers(column, atoms).tolist() for column in RESIDUE]
        residues.append(set(zip(*columns, strict=True)))
    is_repeated = False
    for one, other in combinations(residues, 2):
        is_repeated |= 2 * len(one & other) > min(len(one), len(other))
    all_chains = set().union(*chains)
    if len(parts) > 2:
        return not is_repeated and sum(map(len, chains)) == len(all_chains)
    between = lines.lines(parts[0][-1] + 1, parts[1][0]).upper().splitlines()
    has_title = any(line.startswith(TITLES) for line in between)
    return not is_repeated or (has_title and len(all_chains) == 1)


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
    ca = atoms[lines.numbers(ATOM_NAME, atoms) == word(b" CA ")]
    residues = set()
    for start in lines.starts[ca].tolist():
        residues.add(lines.text[start + IDENTITY.start : start + IDENTITY.stop])
    if len(residues) == len(ca):
        return text, n_lines_before
    records = text.split(b"\n")
    chains = lines.numbers(CHAIN, atoms)
    atoms = (atoms - n_lines_before).tolist()
    for place in range(len(atoms) - 1, 0, -1):
        before, line = atoms[place - 1 : place + 1]
        if line == before + 1 and chains[place] == chains[place - 1]:
            numbers = [records[at][NUMBER].strip() for at in (before, line)]
            if all(map(DECIMAL.fullmatch, numbers)) and int(numbers[1]) < int(
                numbers[0]
            ):
                records.insert(line, b"TER")
    return b"\n".join(records), n_lines_before
