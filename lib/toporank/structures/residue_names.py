"""Names that force fields give to amino acids.

They have three letters, or four in the columns of PDB files.

A name of four letters, such as HISE or NALA, ends in column 21, where a chain name of two letters
begins.
"""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from toporank.errors import StructureError
from toporank.structures.complex import STANDARD
from toporank.structures.pdb_text import CODE, COORDINATES, NUMBER, PdbText

FORCE_FIELD_NAMES = {
    **dict.fromkeys(("HID", "HIE", "HIP", "HSD", "HSE", "HSP"), "HIS"),
    **dict.fromkeys(("CYX", "CYM"), "CYS"),
    "ASH": "ASP",
    "GLH": "GLU",
    "LYN": "LYS",
    "LSN": "LYS",
    "ARN": "ARG",
}
"""Names that Amber, CHARMM and GROMACS give to protonation states; no dictionary of residues has
them.
"""
RARE_NAMES = {"SEC": "CYS", "PYL": "LYS"}
"""Amino acids of the genetic code beside the twenty, and those that they are most like."""
READ_AS = FORCE_FIELD_NAMES | RARE_NAMES
"""Names in the columns of a file → standard amino acids."""
_AMINO_ACIDS = {name: name for name in STANDARD} | FORCE_FIELD_NAMES
AS_PARENT = frozenset({*_AMINO_ACIDS, "MSE", "UNK"})
"""Names of residues that are no others than their parents; selenium helps to solve crystals."""
ATOM, NAME, LONG_NAME, OF_RESIDUE = (
    slice(12, 16),
    slice(17, 20),
    slice(17, 21),
    slice(17, 27),
)
LETTER, OF_CHAIN = 20, 21
"""The column that belongs to the name of a residue or to that of a chain, and the column of
one-letter chain names.
"""
PEPTIDE_BOND = 2.5
"""Å between C and N, at most: as DSSP has it."""
TERMINAL_OXYGENS = {
    **dict.fromkeys((b"OT1", b"O1", b"OC1", b"OT"), b"O"),
    **dict.fromkeys((b"OT2", b"O2", b"OC2"), b"OXT"),
}
"""Names that CHARMM, GROMACS and Amber give to O and OXT."""


def amino_acid(name: str) -> str:
    """The standard amino acid that a name of four letters means.

    It is `""` where the name means no amino acid.

    >>> [amino_acid(name) for name in ("HISE", "NALA", "CHIE", "POPC", "HIS")]
    ['HIS', 'ALA', 'HIS', '', '']
    """
    if len(name) != 4:
        return ""
    at_end = _AMINO_ACIDS.get(name[1:], "") if name[0] in "NC" else ""
    return _AMINO_ACIDS.get(name[:3], at_end)


def is_modified(name: str) -> bool:
    """Whether a residue that counts as an amino acid is another one.

    >>> [is_modified(name) for name in ("SER", "SEP", "MSE", "HIE", "NALA")]
    [False, True, False, False, False]
    """
    return name not in AS_PARENT and not amino_acid(name)


def with_terminal_oxygens(
    atom_names: np.ndarray, residue_of: np.ndarray, is_protein: np.ndarray
) -> np.ndarray:
    """Name O and OXT at the end of each chain as the PDB does, whatever a force field calls them.

    Parameters
    ----------
    atom_names : bytes, shape (A,)
    residue_of : int, shape (A,), residue of each atom
    is_protein : bool, shape (R,), which residues are amino acids; one that has an O stays as it is

    Returns
    -------
    bytes, shape (A,)
    """
    if set(atom_names.tolist()).isdisjoint(TERMINAL_OXYGENS):
        return atom_names
    renamed = atom_names.copy()
    lacks_oxygen = is_protein.copy()
    lacks_oxygen[residue_of[atom_names == b"O"]] = False
    is_candidate = (
        np.isin(atom_names, list(TERMINAL_OXYGENS)) & lacks_oxygen[residue_of]
    )
    for residue in np.unique(residue_of[is_candidate]):
        atoms = np.flatnonzero(is_candidate & (residue_of == residue))
        names = [TERMINAL_OXYGENS[name] for name in atom_names[atoms].tolist()]
        if b"O" not in names:
            names[0] = b"O"
        renamed[atoms] = names
    return renamed


class _Residue(NamedTuple):
    """A residue of PDB text.

    line : where it begins. letter, chain : what stands in columns 21 and 22. place : number and
    insertion code. lines : of its atoms. places : of the backbone atoms, by name; those of other
    atoms, and coordinates that are no numbers, are left out.
    """

    line: int
    text: str
    lines: list[int]
    places: dict[str, tuple[float, ...]]

    @property
    def letter(self) -> str:
        return self.text[LETTER]

    @property
    def chain(self) -> str:
        return self.text[OF_CHAIN]

    def bonded(self, following: _Residue) -> bool:
        """Whether it has a peptide bond to the next residue of the file."""
        c = self.places.get("C")
        n = following.places.get("N")
        return bool(c and n and math.dist(c, n) <= PEPTIDE_BOND)

    def is_between(self, before: _Residue, after: _Residue) -> bool:
        """Whether its number is between those of two others, and all three have a CA."""
        residues = (before, self, after)
        try:
            first, middle, last = [int(residue.text[NUMBER]) for residue in residues]
        except ValueError:  # where numbers are not decimal
            return False
        return first < middle < last and all(
            "CA" in residue.places for residue in residues
        )


def _residues(lines: PdbText) -> list[_Residue]:
    """The residues of PDB text, those of all models, in the order of the file."""
    residues: list[_Residue] = []
    identity = ""
    for line in lines.atoms.tolist():
        text = lines.lines(line, line + 1).decode("ascii")
        if len(text) < COORDINATES.stop:
            continue
        if text[OF_RESIDUE] != identity:
            identity = text[OF_RESIDUE]
            residues.append(_Residue(line=line, text=text, lines=[], places={}))
        residues[-1].lines.append(line)
        if text[ATOM] in (" N  ", " CA ", " C  "):
            with contextlib.suppress(ValueError):
                place = tuple(float(text[start : start + 8]) for start in COORDINATES)
                residues[-1].places.setdefault(text[ATOM].strip(), place)
    return residues


def with_short_names(lines: PdbText) -> PdbText:
    """The same text with residue names of three letters; the same object where it has no others.

    Column 21 belongs to the names of residues where the file goes on with a residue of the same
    column 22 and another column 21 to which there is a peptide bond: the two are of one chain.
    Otherwise it belongs to the names of chains. Raises StructureError where it may belong to
    either.
    """
    if not (lines.data[lines.starts[lines.atoms] + LETTER] != ord(" ")).any():
        return lines
    residues = _residues(lines)
    letters_of_names: dict[str, set[str]] = defaultdict(set)
    for one, other in pairwise(residues):
        if (
            one.chain == other.chain
            and one.letter != other.letter
            and one.bonded(other)
        ):
            # Names of three letters may stand in the chain, too.
            letters_of_names[one.chain] |= {one.letter, other.letter, " "}
    _check_clear(residues, letters_of_names)
    text = bytearray(lines.text)
    changes = []
    for residue in residues:
        if (
            residue.letter == " "
            or residue.letter not in letters_of_names[residue.chain]
        ):
            continue
        name = residue.text[LONG_NAME]
        short = amino_acid(name) or name[:3]
        changes.append((residue.line, f"{name} read as {short}"))
        for start in lines.starts[residue.lines].tolist():
            text[start + LONG_NAME.start : start + LONG_NAME.stop] = (
                f"{short} ".encode()
            )
    return PdbText(bytes(text), tuple(changes)) if changes else lines


def _check_clear(
    residues: list[_Residue], letters_of_names: dict[str, set[str]]
) -> None:
    """Refuse letters in column 21 that may belong to the name of a residue or of a chain."""
    first_at: dict[tuple[str, str], _Residue] = {}
    for residue in residues:
        if "CA" in residue.places and residue.letter in letters_of_names[residue.chain]:
            place = residue.chain, residue.text[NUMBER.start : CODE + 1]
            first = first_at.setdefault(place, residue)
            if first.letter != residue.letter:
                unclear = first if residue.letter == " " else residue
                raise _unclear(
                    unclear, "two residues of that chain would have its number"
                )
    for before, residue, after in zip(
        residues, residues[1:], residues[2:], strict=False
    ):
        is_of_chain = before.chain == residue.chain == after.chain
        is_alone = before.letter == after.letter != residue.letter != " "
        is_of_name = residue.letter in letters_of_names[residue.chain]
        if (
            is_of_chain
            and is_alone
            and not is_of_name
            and residue.is_between(before, after)
        ):
            why = "it stands between residues of that chain, but is bonded to neither"
            raise _unclear(residue, why)


def _unclear(residue: _Residue, why: str) -> StructureError:
    line = residue.text
    name, chain, number = line[NAME], residue.chain.strip(), line[NUMBER].strip()
    return StructureError(
        f"column 21 of line {residue.line + 1} belongs to residue {name}{residue.letter} of "
        f"chain {chain!r} or to residue {name} of chain {residue.letter + chain!r}, number "
        f"{number}: {why}",
        remedy="write residue names of three letters, or mmCIF",
    )
