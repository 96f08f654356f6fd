"""Tables of text that people open in spreadsheet programs.

A name must not become a formula there.

Such a program computes a cell that begins with `=`, `+`, `-`, `@` or a control character. A name
like that is written with an apostrophe before it, which the program takes as "this is text";
reading the table takes it away again.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from toporank.files.atomic import write_text

FORMULA = re.compile("'*[=+\\-@＝＋－＠\x00-\x1f]")
"""What such a text begins with; the page's script has it from here."""
_DEFUSED = re.compile("'+[=+\\-@＝＋－＠\x00-\x1f]")


def defused(value: Any) -> Any:
    """A text that no spreadsheet computes; anything but a text stays as it is.

    The number of a residue is a number in a spreadsheet, too.

    >>> defused("=1+1"), defused("1AVZ"), defused(-0.5), defused("-52"), defused("-52A")
    ("'=1+1", '1AVZ', -0.5, '-52', "'-52A")
    """
    # most texts begin with a letter or digit
    if not isinstance(value, str) or value[:1].isalnum():
        return value
    if value.removeprefix("-").isdecimal():
        return value
    return f"'{value}" if FORMULA.match(value) else value


def restored(value: Any) -> Any:
    """The text that was defused.

    >>> restored("'=1+1"), restored("'quoted'")
    ('=1+1', "'quoted'")
    """
    if isinstance(value, str) and value[:1] == "'" and _DEFUSED.match(value):
        return value[1:]
    return value


def write_rows(
    path: Path | str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    tabs: bool = False,
) -> None:
    """Write a table with a header, as `table_text` makes it."""
    write_text(path, table_text(columns, rows, tabs=tabs))


def table_text(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, tabs: bool = False
) -> str:
    """A table with a header; None and nan are empty cells.

    tabs : separated by tabs and without quotes; a text with a tab or line break is then a
    csv.Error.
    """
    lines = _Lines()
    writer = csv.writer(lines, _Tabs if tabs else csv.excel)
    for row in itertools.chain([columns], rows):
        writer.writerow(map(_cell, row))
    return "".join(lines)


class _Tabs(csv.excel_tab):
    quoting = csv.QUOTE_NONE
    quotechar = None


class _Lines(list[str]):
    def write(self, line: str) -> None:
        """Keep a line with a line feed at its end.

        csv ends it in a carriage return, too, because it then quotes every text that has one.
        """
        self.append(f"{line[:-2]}\n")


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return defused(value)
    return value if value == value else None  # nan is not itself


def read_rows(path: Path | str, *, tabs: bool = False) -> Iterator[dict[str, str]]:
    """The rows of such a table by column, as text."""
    style = _Tabs if tabs else csv.excel
    with open(path, encoding="utf-8-sig", newline="") as handle:
        for row in csv.DictReader(handle, dialect=style):
            yield {column: restored(value) for column, value in row.items()}
