"""Tables that users bring: names of columns in any case, separated by commas, semicolons or tabs.

Without pandas, which takes longer to import than a table takes to read.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank.errors import ConfigError, printable

SEPARATORS = (",", ";", "\t")
_HINT = re.compile(r'\A"?sep=(.|\\t)"?(?=\r?\n)', re.IGNORECASE)


class UserTable(NamedTuple):
    """A table of text.

    header : names of the columns. rows : file and line of each row, and its values by column as
    far as the line goes.
    """

    header: list[str]
    separator: str
    rows: list[tuple[str, dict[str, str]]]


def read_table(
    path: Path, names: Mapping[str, str], required: Mapping[str, str], what: str
) -> UserTable:
    """Read a table that has at least one row.

    Parameters
    ----------
    path : the file
    names : column in small letters → its name in the result; others stay as they are
    required : columns that there must be, and how users write each
    what : the content, for messages

    Raises
    ------
    ConfigError : naming file and line
    """
    text = _text(path, what)
    separators: tuple[str, ...] = SEPARATORS
    hint = _HINT.match(text)
    if hint:
        text = text[hint.end() :]
        separators = (hint[1].replace("\\t", "\t"),)
    header: list[str] = []
    for separator in separators:
        header = _header(text, separator, names)
        if set(required) <= set(header):
            break
    _check_header(
        header or text.strip().splitlines()[0].split(","), names, required, path
    )
    lines = _rows(text, separator, path, what)[1:]
    if not lines:
        raise ConfigError(f"{what} have no rows", where=path)
    if _has_row_names(header, lines):
        header = ["", *header]
    rows = []
    for line, values in lines:
        where = f"{path}, line {line}"
        if any(values[len(header) :]):
            raise ConfigError(
                f"{len(values)} values for {len(header)} columns", where=where
            )
        rows.append((where, dict(zip(header, values, strict=False))))
    return UserTable(header=header, separator=separator, rows=rows)


def _text(path: Path, what: str) -> str:
    """The text of a file that is not empty."""
    try:
        content = path.read_bytes()
        is_of_excel = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = content.decode("utf-16" if is_of_excel else "utf-8-sig")
    except UnicodeDecodeError as error:
        remedy = "save it as CSV in UTF-8"
        raise ConfigError(
            f"{what} cannot be read: {error}", where=path, remedy=remedy
        ) from error
    except OSError as error:
        raise ConfigError(
            f"{what} cannot be read: {error.strerror}", where=path
        ) from error
    if not text.strip():
        raise ConfigError(f"{what} cannot be read: the file is empty", where=path)
    return text


def _header(text: str, separator: str, names: Mapping[str, str]) -> list[str]:
    """The names of the columns if this is the separator; none where it cannot be."""
    try:
        _, header = next(_values(text, separator), (0, []))
    except csv.Error:  # such as a quoted name that ends before another separator
        return []
    return [names.get(name.lower(), name) for name in header]


def _check_header(
    header: list[str], names: Mapping[str, str], required: Mapping[str, str], path: Path
) -> None:
    """Raise ConfigError unless the header has all required columns, and no known one twice."""
    count = Counter(header)
    lacks = any(count[name] != 1 for name in required)
    if lacks or any(count[name] > 1 for name in names.values()):
        *first, last = required.values()
        columns = printable(", ".join(name.strip(' "') for name in header))
        what = f"the header must have {', '.join(first)} and {last} once each, it is: {columns}"
        remedy = "separate columns by commas, semicolons or tabs"
        raise ConfigError(what, where=path, remedy=remedy)


def _has_row_names(header: list[str], lines: list[tuple[int, list[str]]]) -> bool:
    """Whether each row begins with a number without a name in the header, as R writes it."""
    numbers = set()
    has_values = False
    for _, values in lines:
        if len(values) != len(header) + 1 or not values[0].isdecimal():
            return False
        numbers.add(values[0])
        has_values = has_values or bool(values[-1])
    return has_values and len(numbers) == len(lines)


def _values(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and values of each row that is not blank.

    Raises csv.Error where quotes do not close.
    """
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=True,
        strict=True,
    )
    for row in reader:
        values = list(map(str.strip, row))
        if any(values):
            yield reader.line_num, values


def _rows(
    text: str, separator: str, path: Path, what: str
) -> list[tuple[int, list[str]]]:
    """Line number and values of all rows that are not blank, the header among them."""
    rows: list[tuple[int, list[str]]] = []
    try:
        rows.extend(_values(text, separator))
    except csv.Error as error:
        line = rows[-1][0] + 1 if rows else 1
        where = f"{path}, line {line}"
        raise ConfigError(f"{what} cannot be read: {error}", where=where) from error
    return rows
