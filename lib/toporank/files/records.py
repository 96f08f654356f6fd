"""Records of a build as plain text: a line for each row, cells separated by tabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def to_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table with a header. No text in it may have a tab or line break."""
    line = "\t".join(["%s"] * len(columns)) + "\n"
    return "".join([line % tuple(cells) for cells in [columns, *rows]])


def from_lines(text: str) -> list[list[str]]:
    """Return the cells of each line, those of the header first.

    Raises ValueError where there is no header, or a line has more or fewer cells.
    """
    rows = [line.split("\t") for line in text.split("\n")[:-1]]
    if len({len(cells) for cells in rows}) != 1:
        raise ValueError("lines of different lengths")
    return rows
