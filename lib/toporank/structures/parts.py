"""Parts of one complex with END between them, as ClusPro writes receptor and ligand."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from toporank.structures.columns import CHAIN, RESIDUE, PdbText

TITLES = (b"HEADER", b"TITLE", b"COMPND", b"REMARK")
"""Records that a file begins with, and so do parts that were files."""
READ_AS = "END between the parts of one complex, read as TER"


def join_parts(lines: PdbText) -> PdbText:
    """The same text with TER for each END between the parts of one complex; the same object where there is none.

    Parts are of one complex if they have other residues: other chains, or two parts, maybe under one chain name. Two
    parts with the same residues are of one complex if each is a single chain and the second begins with a title, as a
    file of its own does; otherwise they are models.
    """
    ends = lines.ends
    if not len(ends) or lines.has_marks or not len(lines.atoms):
        return lines
    ends = ends[(ends > lines.atoms[0]) & (ends < lines.atoms[-1])]
    parts = np.split(lines.atoms, np.searchsorted(lines.atoms, ends))
    filled = [atoms for atoms in parts if len(atoms)]
    if len(filled) < 2 or not _are_one_complex(lines, filled):
        return lines
    text = bytearray(lines.text)
    for start in lines.starts[ends].tolist():
        text[start : start + 3] = b"TER"
    return PdbText(bytes(text), (*lines.shortened, *((line, READ_AS) for line in ends.tolist())))


def _are_one_complex(lines: PdbText, parts: list[np.ndarray]) -> bool:
    """Whether parts, given by the lines of their atoms, are of one complex."""
    chains = [set(np.unique(lines.numbers(CHAIN, atoms)).tolist()) for atoms in parts]
    residues = [_residues(lines, atoms) for atoms in parts]
    alike = any(2 * len(one & other) > min(len(one), len(other)) for one, other in combinations(residues, 2))
    if len(parts) == 2 and alike:
        return len(chains[0] | chains[1]) == 1 and _has_title(lines, parts)
    if len(parts) == 2:
        return True
    return not alike and sum(map(len, chains)) == len(set.union(*chains))


def _residues(lines: PdbText, atoms: np.ndarray) -> set[tuple[int, ...]]:
    """Name, chain and number of the residues of some atoms."""
    columns = np.column_stack([lines.numbers(column, atoms) for column in RESIDUE])
    return set(map(tuple, np.unique(columns, axis=0).tolist()))


def _has_title(lines: PdbText, parts: list[np.ndarray]) -> bool:
    """Whether the second of two parts begins with a title."""
    between = lines.lines(int(parts[0][-1]) + 1, int(parts[1][0]))
    return any(line.upper().startswith(TITLES) for line in between.splitlines())
