"""Tables that users bring: names of columns in any case, separated by commas, semicolons or tabs.

Without pandas, which takes longer to import than a table takes to read.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank.errors import ConfigError, printable

SEPARATORS = (",", ";", "\t")
_HINT = re.compile(r'\A"?sep=(.|\\t)"?(?=\r?\n)', re.IGNORECASE)


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
    text, hinted = _without_hint(_text(path, what))
    for separator in (hinted,) if hinted else SEPARATORS:
        header = _header(text, separator, names)
        if set(required) <= set(header):
            break
    else:
        separator, header = ",", [name.strip(' "') for name in text.strip().splitlines()[0].split(",")]
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
    header = _with_row_names(header, [row for _, row in rows])
    return Table(header, separator, [_row(header, row, f"{path}, line {line}") for line, row in rows])


def _without_hint(text: str) -> tuple[str, str]:
    """The text with an empty line for `sep=;`, by which Excel knows the separator, and that separator."""
    hint = _HINT.match(text)
    return (text[hint.end() :], hint[1].replace("\\t", "\t")) if hint else (text, "")


def _header(text: str, separator: str, names: Mapping[str, str]) -> list[str]:
    """The names of the columns if this is the separator; none where it cannot be."""
    try:
        header = next(_values(text, separator), (0, []))[1]
    except csv.Error:  # such as a quoted name that ends before another separator
        return []
    return [names.get(name.lower(), name) for name in header]


def _with_row_names(header: list[str], rows: list[list[str]]) -> list[str]:
    """The header, with an empty name for the numbers that R writes before each row, but not into the header."""
    numbers = {row[0] for row in rows if row[0].isdecimal()}
    if len(numbers) == len(rows) and all(len(row) == len(header) + 1 for row in rows) and any(row[-1] for row in rows):
        return ["", *header]
    return header


def _text(path: Path, what: str) -> str:
    """The text of a file that is not empty."""
    try:
        content = path.read_bytes()
        wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # Excel's "Unicode text"
        text = content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        remedy = "save it as CSV in UTF-8"
        raise ConfigError(f"{what} cannot be read: {error}", where=path, remedy=remedy) from error
    except OSError as error:
        raise ConfigError(f"{what} cannot be read: {error.strerror}", where=path) from error
    if not text.strip():
        raise ConfigError(f"{what} cannot be read: the file is empty", where=path)
    return text


def _values(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and values of each row that is not blank. Raises csv.Error where quotes do not close."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    for row in reader:
        values = [value.strip() for value in row]
        if any(values):
            yield reader.line_num, values


def _rows(text: str, separator: str, path: Path, what: str) -> list[tuple[int, list[str]]]:
    """Line number and values of all rows that are not blank."""
    rows: list[tuple[int, list[str]]] = []
    try:
        rows.extend(_values(text, separator))
    except csv.Error as error:
        line = (rows[-1][0] if rows else 0) + 1
        raise ConfigError(f"{what} cannot be read: {error}", where=f"{path}, line {line}") from error
    return rows


def _row(header: list[str], row: list[str], where: str) -> tuple[str, dict[str, str]]:
    if any(row[len(header) :]):
        raise ConfigError(f"{len(row)} values for {len(header)} columns", where=where)
    return where, dict(zip(header, row, strict=False))
