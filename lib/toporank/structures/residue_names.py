"""Names that force fields give to amino acids: those of three letters, and those of four in the
columns of PDB files.

A name of four letters, such as HISE or NALA, ends in column 21, where a chain name of two letters
begins.
"""

from __future__ import annotations

import contextlib
import math

import numpy as np

from toporank.errors import StructureError
from toporank.structures.complex import STANDARD
from toporank.structures.pdb_text import CODE, COORDINATES, NUMBER, RESIDUE, PdbText, word

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
ATOM, NAME, LONG_NAME = slice(12, 16), slice(17, 20), slice(17, 21)
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
    """The standard amino acid that a name of four letters stands for; `""` where it stands for
    none.

    >>> amino_acid("HISE"), amino_acid("NALA"), amino_acid("CHIE"), amino_acid("POPC"), amino_acid("HIS")
    ('HIS', 'ALA', 'HIS', '', '')
    """
    if len(name) != 4:
        return ""
    return _AMINO_ACIDS.get(name[:3], "") or (
        _AMINO_ACIDS.get(name[1:], "") if name[0] in "NC" else ""
    )


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
    is_candidate = np.isin(atom_names, list(TERMINAL_OXYGENS)) & lacks_oxygen[residue_of]
    for residue in np.unique(residue_of[is_candidate]):
        atoms = np.flatnonzero(is_candidate & (residue_of == residue))
        names = [TERMINAL_OXYGENS[name] for name in atom_names[atoms].tolist()]
        if b"O" not in names:
            names[0] = b"O"
        renamed[atoms] = names
    return renamed


class _Residues:
    """The residues of PDB text, those of all models, in the order of the file.

    first : int, shape (R,), the line where each begins. letter, chain : uint8, what stands in
    columns 21 and 22. place : uint64, number and insertion code. n, ca, c : int, the line of this
    atom, -1 where there is none.
    """

    def __init__(self, lines: PdbText) -> None:
        self.lines = lines
        self.atoms = lines.atoms[np.diff(lines.starts)[lines.atoms] >= COORDINATES.stop]
        known = [lines.numbers(columns, self.atoms) for columns in RESIDUE]
        starts = np.append(True, np.any([column[1:] != column[:-1] for column in known], axis=0))[
            : len(self.atoms)
        ]
        self.of_atom = np.cumsum(starts) - 1
        self.first = self.atoms[starts]
        self.letter, self.chain, code = (
            lines.data[lines.starts[self.first] + at] for at in (LETTER, OF_CHAIN, CODE)
        )
        self.place = lines.numbers(NUMBER, self.first).astype(np.uint64) << np.uint64(8) | code
        self.n, self.ca, self.c = (self._lines_of(name) for name in (b" N  ", b" CA ", b" C  "))

    def _lines_of(self, atom: bytes) -> np.ndarray:
        found = np.flatnonzero(self.lines.numbers(ATOM, self.atoms) == word(atom))[
            ::-1
        ]  # the first of a residue stays
        lines = np.full(len(self.first), -1)
        lines[self.of_atom[found]] = self.atoms[found]
        return lines

    def bonded(self, k: int) -> bool:
        """Whether a residue has a peptide bond to the next of the file."""
        places = self._xyz(self.c[k]), self._xyz(self.n[k + 1])
        return all(places) and math.dist(*places) <= PEPTIDE_BOND

    def number(self, k: int) -> int:
        return int(self.text(k)[NUMBER])

    def text(self, k: int) -> str:
        """The first line of a residue."""
        return self.lines.lines(self.first[k], self.first[k] + 1).decode("ascii")

    def _xyz(self, line: int) -> list[float]:
        """The coordinates in a line; none where these are not numbers."""
        text = self.lines.lines(line, line + 1) if line >= 0 else b""
        try:
            return [float(text[start : start + 8]) for start in COORDINATES]
        except ValueError:
            return []


def with_short_names(lines: PdbText) -> PdbText:
    """The same text with residue names of three letters; the same object where it has no others.

    Column 21 belongs to the names of residues where the file goes on with a residue of the same
    column 22 and another column 21 to which there is a peptide bond: the two are of one chain.
    Otherwise it belongs to the names of chains. Raises StructureError where it may belong to
    either.
    """
    if not (lines.data[lines.starts[lines.atoms] + LETTER] != ord(" ")).any():
        return lines
    residues = _Residues(lines)
    letter, chain = residues.letter, residues.chain
    joints = np.flatnonzero((chain[1:] == chain[:-1]) & (letter[1:] != letter[:-1]))
    bonded = [k for k in joints.tolist() if residues.bonded(k)]
    of_name = np.zeros((256, 256), dtype=bool)
    for k in bonded:
        of_name[chain[k], letter[k : k + 2]] = True
    of_name[of_name.any(axis=1), ord(" ")] = (
        True  # of a chain that is put together, what has names of three letters
    )
    _check_clear(residues, joints, of_name)
    long = of_name[chain, letter] & (letter != ord(" "))
    return _shortened(residues, long) if long.any() else lines


def _check_clear(residues: _Residues, joints: np.ndarray, of_name: np.ndarray) -> None:
    """Refuse letters in column 21 that may belong to either name.

    joints : residues after which column 21 changes, but not column 22. of_name : bool, by columns
    22 and 21.
    """
    letter, chain, ca = residues.letter, residues.chain, residues.ca >= 0
    parts = np.flatnonzero(ca & of_name[chain, letter])
    key = (residues.place[parts] << np.uint64(8) | chain[parts]) << np.uint64(8) | letter[parts]
    key, example = np.unique(key, return_index=True)
    twice = np.flatnonzero(key[1:] >> np.uint64(8) == key[:-1] >> np.uint64(8))
    for k in (*parts[example[twice]], *parts[example[twice + 1]]):
        if letter[k] != ord(" "):
            raise _unclear(residues, k, "two residues of that chain would have its number")
    for k in np.intersect1d(joints, joints + 1):  # another letter before and after
        alone = (
            letter[k] != ord(" ")
            and not of_name[chain[k], letter[k]]
            and letter[k - 1] == letter[k + 1]
        )
        with contextlib.suppress(ValueError):  # where numbers are not decimal
            if (
                alone
                and ca[k - 1 : k + 2].all()
                and residues.number(k - 1) < residues.number(k) < residues.number(k + 1)
            ):
                raise _unclear(
                    residues,
                    k,
                    "it stands between residues of that chain, but is bonded to neither",
                )


def _unclear(residues: _Residues, k: int, why: str) -> StructureError:
    line = residues.text(k)
    name, chain, number = line[NAME], line[OF_CHAIN].strip(), line[NUMBER].strip()
    return StructureError(
        f"column 21 of line {residues.first[k] + 1} belongs to residue {name}{line[LETTER]} of "
        f"chain {chain!r} or to"
        f" residue {name} of chain {line[LETTER] + chain!r}, number {number}: {why}",
        remedy="write residue names of three letters, or mmCIF",
    )


def _shortened(residues: _Residues, long: np.ndarray) -> PdbText:
    """The text with short names for some residues, bool, shape (R,)."""
    lines, text = residues.lines, residues.lines.data[: len(residues.lines.text)].copy()
    names = lines.numbers(LONG_NAME, residues.first)
    read_as = []
    for number in np.unique(names[long]):
        name = int(number).to_bytes(4, "little").decode("ascii")
        short = amino_acid(name) or name[:3]
        them = long & (names == number)
        starts = lines.starts[residues.atoms[them[residues.of_atom]]]
        text[starts[:, None] + np.arange(LONG_NAME.start, LONG_NAME.stop)] = np.frombuffer(
            f"{short} ".encode(), np.uint8
        )
        read_as += [(line, f"{name} read as {short}") for line in residues.first[them].tolist()]
    return PdbText(text.tobytes(), tuple(sorted(read_as)))
