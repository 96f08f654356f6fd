"""How a column and a table of results are declared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

WHOLE = "Int64"
"""Kind of a column of integers that may be unknown. Others are str, float and `FILE`."""
FILE = Path
"""Kind of a column of paths: in a file relative to its folder, in Python absolute texts."""
SHOWN, MORE, SENT = "shown", "more", "sent"
"""On the page: a column, one behind “More columns”, and a value that other cells show."""
PERCENT = "percent"
"""Format of a probability on the page; others are the number of decimals."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : in files and in Python
    kind : str, float, `WHOLE` or `FILE`
    meaning : in a sentence, with units
    head : what people read above it; the name where it is empty
    shown : decimals where people read it, or `PERCENT`
    page : `SHOWN`, `MORE`, `SENT`, or empty where the page does not have it
    """

    name: str
    kind: Any
    meaning: str
    head: str = ""
    shown: int | str = 2
    page: str = ""

    def on_page(self, page: str = SHOWN) -> Column:
        """Return the same column at another place of the page."""
        return replace(self, page=page)


@dataclass(frozen=True)
class Table:
    """A table of results.

    Attributes
    ----------
    name : of its file, without folder
    rows : what has a row
    columns : in the order of the file
    always : columns that the file has even where no row has a value; None: all of them
    decimals : of numbers in the file; None: all digits
    """

    name: str
    rows: str
    columns: tuple[Column, ...]
    always: tuple[str, ...] | None = None
    decimals: int | None = 7

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @property
    def kinds(self) -> dict[str, Any]:
        """Name → kind of each column."""
        return {column.name: column.kind for column in self.columns}
