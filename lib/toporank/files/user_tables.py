"""Tables that users bring: names of columns in any case, separated by commas, semicolons or tabs.

Without pandas, which takes longer to import than a table takes to read.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from toporank.errors import ConfigError, printable

SEPARATORS = (",", ";", "\t")


class Table(NamedTuple):
    """header : names of the columns. rows : file and line of each row, and its values by column, if it has as many."""

    header: list[str]
    separator: str
    rows: list[tuple[str, dict[str, str]]]


def read_table(path: Path, names: Mapping[str, str], required: Mapping[str, str], what: str) -> Table:
    """Read a table that has at least one row.

    names : column in small letters → its name in the result; others stay as they are. required : columns that there
    must be, and how users write each. what : the content, for messages.
    Raises ConfigError naming file and line.
    """
    text = _text(path, what)
    for separator in SEPARATORS:
        header = [names.get(name.lower(), name) for name in _rows(text, separator, path, what, most=1)[0][1]]
        if set(required) <= set(header):
            break
    else:
        separator, header = ",", [name.strip() for name in text.strip().splitlines()[0].split(",")]
    if any(header.count(name) != 1 for name in required) or any(header.count(name) > 1 for name in names.values()):
        *first, last = required.values()
        raise ConfigError(
            f"the header must have {', '.join(first)} and {last} once each, it is: {printable(', '.join(header))}",
            where=path,
            remedy="separate columns by commas, semicolons or tabs",
        )
    _, *rows = _rows(text, separator, path, what)
    if not rows:
        raise ConfigError(f"{what} have no rows", where=path)
    return Table(header, separator, [_row(header, row, f"{path}, line {line}") for line, row in rows])


def _text(path: Path, what: str) -> str:
    """The text of a file that is not empty."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        remedy = "save it as CSV in UTF-8"
        raise ConfigError(f"{what} cannot be read: {error}", where=path, remedy=remedy) from error
    except OSError as error:
        raise ConfigError(f"{what} cannot be read: {error.strerror}", where=path) from error
    if not text.strip():
        raise ConfigError(f"{what} cannot be read: the file is empty", where=path)
    return text


def _rows(text: str, separator: str, path: Path, what: str, most: int | None = None) -> list[tuple[int, list[str]]]:
    """Line number and values of the rows that are not blank: all, or the first few."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    rows = ((reader.line_num, [value.strip() for value in row]) for row in reader)
    try:
        return list(itertools.islice(((line, row) for line, row in rows if any(row)), most))
    except csv.Error as error:
        raise ConfigError(f"{what} cannot be read: {error}", where=f"{path}, line {reader.line_num}") from error


def _row(header: list[str], row: list[str], where: str) -> tuple[str, dict[str, str]]:
    if any(row[len(header) :]):
        raise ConfigError(f"{len(row)} values for {len(header)} columns", where=where)
    return where, dict(zip(header, row, strict=False))
