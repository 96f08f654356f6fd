"""PDB text by lines, and what gemmi would silently guess in it.

These are misread numbers, dropped atoms and merged residues.

`PdbText.check` refuses such text with a StructureError whose message names the line.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from toporank.errors import StructureError

WRONG_COLUMNS = (
    "PDB columns are fixed: has the line been shifted, or a number outgrown its column? write "
    "mmCIF instead"
)
CHAIN, NUMBER, COORDINATES = slice(20, 22), slice(22, 26), range(30, 54, 8)
CODE = 26
"""Column of the insertion code."""
RESIDUE = (slice(17, 21), slice(21, 25), slice(25, 27))
"""What names a residue: its name and one letter, the chain with most of the number, its end and the
insertion code.
"""
LAST_COLUMN = 80
_MODEL_NUMBER = re.compile(rb"MODEL? *(\d{1,9})", re.IGNORECASE)
_COORDINATE = re.compile(r" *[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)? *", re.ASCII)
_RESIDUE_NUMBER = re.compile(r" *-?\d+ *|[A-Z][0-9A-Z]{3}|[a-z][0-9a-z]{3}", re.ASCII)
"""Decimal or hybrid-36."""


class PdbModel(NamedTuple):
    """A model of a PDB file: its number and its lines, `first` to `stop - 1`."""

    number: int
    first: int
    stop: int


class PdbText:
    """PDB text, ASCII, by lines.

    Attributes
    ----------
    data : uint8, the text and a blank line longer than any column that is looked at
    starts : int, where each line begins, and at last the end of the text
    atoms : int, the lines that are ATOM or HETATM records, in rising order
    models : stretches of lines with atoms between MODEL and ENDMDL records, which need not come in
        pairs
    changes : what is not as in the file: line and, in words, how it is read
    """

    def __init__(self, text: bytes, changes: tuple[tuple[int, str], ...] = ()) -> None:
        self.text = text
        self.changes = changes
        self.data = np.frombuffer(text + b"\n" * LAST_COLUMN, dtype=np.uint8)
        ends = np.flatnonzero(self.data[: len(text)] == ord("\n")) + 1
        self.starts = np.concatenate([[0], ends, [len(text)]])
        self._head = self.numbers(slice(0, 4), slice(None))
        self._capital = self._head & word(
            b"\xdf\xdf\xdf\xdf"
        )  # a-z to A-Z; other characters do not matter
        self.atoms = np.flatnonzero(
            (self._capital == word(b"ATOM")) | (self._capital == word(b"HETA"))
        )
        self._begins = self._capital == word(b"MODE")
        self._marks = np.flatnonzero(self._begins | (self._capital == word(b"ENDM")))
        self.models = self._models()

    def numbers(self, columns: slice, lines: np.ndarray | slice) -> np.ndarray:
        """Two, four or eight columns of each line as one number, shape (n,).

        A short line goes on with the next.
        """
        width = columns.stop - columns.start
        return (
            sliding_window_view(self.data, width)[self.starts[lines] + columns.start]
            .view(f"<u{width}")
            .ravel()
        )

    def lines(self, first: int, stop: int) -> bytes:
        """The text of some lines."""
        return self.text[self.starts[first] : self.starts[stop]]

    @property
    def ends(self) -> np.ndarray:
        """The lines that are END records, int, in rising order."""
        return np.flatnonzero(
            (self._capital << 8 == word(b"\0END")) & (self._head >> 24 < ord("0"))
        )

    @property
    def has_marks(self) -> bool:
        """Whether there are MODEL or ENDMDL records."""
        return len(self._marks) > 0

    def chain_names(self) -> set[str]:
        """The names of the chains of all models, as they stand in their columns."""
        names = np.unique(self.numbers(CHAIN, self.atoms))
        return {int(name).to_bytes(2, "little").decode("ascii") for name in names}

    def alone(self, position: int) -> tuple[bytes, int]:
        """The text before all models and one model, and how many lines lie between these."""
        if not self.models:
            return self.text, 0
        _, first, stop = self.models[position]
        text = self.lines(0, self._header) + self.lines(first, stop)
        return text, first - self._header

    def atoms_of(self, position: int) -> np.ndarray:
        """The lines of a model that are ATOM or HETATM records, in rising order."""
        _, first, stop = self.models[position]
        return self.atoms[slice(*np.searchsorted(self.atoms, [first, stop]))]

    def _models(self) -> list[PdbModel]:
        bounds = np.concatenate([[0], self._marks, [len(self.starts) - 1]])
        filled = np.flatnonzero(np.diff(np.searchsorted(self.atoms, bounds)))
        models: list[PdbModel] = []
        for first, stop in zip(
            bounds[filled].tolist(), bounds[filled + 1].tolist(), strict=True
        ):
            number = len(models) + 1
            match = _MODEL_NUMBER.match(self.text, self.starts[first])
            if self._begins[first] and match:
                number = int(match[1])
            models.append(PdbModel(number, first, stop))
        return models

    @property
    def _header(self) -> int:
        """How many lines come before all models."""
        return min([self.models[0].first, *self._marks[:1].tolist()])

    def check(self, position: int) -> None:
        """Check the atom records of a model, if there is one.

        Refused are atoms after END, coordinates and residue numbers that are not numbers from end
        to end, and residue numbers that run over into the insertion code.
        """
        if not self.models:
            return
        atoms = self.atoms_of(position)
        ends = self.ends[
            (self.ends < self._header) | (self.ends >= self.models[position].first)
        ]
        if len(ends) and atoms[-1] > ends[0]:
            what = f"atoms after END in line {ends[0] + 1}"
            raise StructureError(what, remedy="remove END lines between the parts")
        for line in atoms[~_plain(self.data, self.starts[atoms])].tolist():
            _check_line(
                self.lines(line, line + 1).rstrip(b"\n").decode("ascii"), line + 1
            )


def word(signs: bytes) -> np.uint32:
    """Four characters as one number."""
    return np.uint32(int.from_bytes(signs, "little"))


def _plain(data: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Which records have a plain residue number and plain coordinates such as `-12.345`, (n,).

    data : uint8, the text. starts : int, shape (n,), where the records begin.
    """
    records = sliding_window_view(data, COORDINATES.stop - NUMBER.start)[
        starts + NUMBER.start
    ]
    # Residue number and code, x, y, z.
    signs = np.ascontiguousarray(records.T).reshape(4, 8, len(starts))
    digit, blank = signs - np.uint8(ord("0")) < 10, signs == ord(" ")
    minus = signs[:, :3] == ord("-")
    # blanks, a minus, digits
    upper = blank[:, :3] | (minus | digit[:, :3]) & digit[:, 1:4]
    whole = upper.all(axis=(0, 1)) & digit[:, 3].all(axis=0)
    decimals = (signs[1:, 4] == ord(".")).all(axis=0) & digit[1:, 5:].all(axis=(0, 1))
    return whole & decimals & ~digit[0, CODE - NUMBER.start]


def _check_line(line: str, number: int) -> None:
    """Look closely at one atom record; `number` is its line number."""
    residue = f"{line[21:22].strip()}:{line[22:27].strip()}"
    for start in COORDINATES:
        coordinate = line[start : start + 8]
        if not _COORDINATE.fullmatch(coordinate):
            what = f"a coordinate of {residue} is not a number: {coordinate!r} in line {number}"
            raise StructureError(what, remedy=WRONG_COLUMNS)
    if not _RESIDUE_NUMBER.fullmatch(line[NUMBER]):
        what = f"not a residue number in line {number}: {line[NUMBER]!r}"
        raise StructureError(what, remedy=WRONG_COLUMNS)
    if line[NUMBER].isdigit() and line[CODE : CODE + 1].isdigit():
        what = f"residue number of more than four digits in line {number}"
        raise StructureError(what, remedy=WRONG_COLUMNS)
