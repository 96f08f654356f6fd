"""Tables of results: typed, written, read, and as the page and the documentation have them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from toporank.errors import RecordError, printable
from toporank.files.atomic import write_text
from toporank.files.spreadsheets import restored, table_text
from toporank.tables.declared import FILE, WHOLE, Column, Table

SCORE_AGAIN = "score the models again"
BOM = "\ufeff"
"""Before a table with names that are not ASCII: Excel takes it for another encoding without."""
BETWEEN = " | "
"""Between the sentences of a cell; some have "; ", and `in_one_cell` keeps it out of them."""
SENTENCES = ("reason", "verdict_reason", "caveats", "hint", "notes", "why_seen")
"""Columns with our own words, which may have an Å. They alone do not earn a byte order mark, since
programs that read tables may stumble over it.
"""


def in_one_cell(sentences: Iterable[str]) -> str:
    """Return sentences as one text; a name in them may have had what stands between them."""
    return BETWEEN.join(text.replace(BETWEEN, "|") for text in sentences)


def typed(frame: pd.DataFrame, kinds: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table with these columns and their kinds; an unknown text is empty.

    kinds : name → str, float, `WHOLE` or `FILE`
    """
    table = frame.reindex(columns=list(kinds))
    for name, kind in kinds.items():
        if kind in (str, FILE):
            table[name] = table[name].astype(object).fillna("")
        else:
            table[name] = pd.to_numeric(table[name]).astype(float).astype(kind)
    return table


def of_records(table: Table, rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Return a table of rows whose cells are in the order of its columns; unknown ones are None."""
    return typed(pd.DataFrame(rows, columns=table.names), table.kinds)


def to_records(table: Table, frame: pd.DataFrame) -> Iterable[tuple[Any, ...]]:
    """Return the inverse of `of_records`."""
    cells = frame[table.names].astype(object)
    return cells.where(cells.notna(), None).itertuples(index=False, name=None)


def with_values(table: Table, frame: pd.DataFrame) -> list[Column]:
    """Return the columns that a file has.

    These are all, or where the table says so those in which a row has a value.
    """
    if table.always is None:
        return list(table.columns)
    has_value = (frame.notna() & (frame != "")).any()
    known = {*table.always, *has_value.index[has_value]}
    return [column for column in table.columns if column.name in known]


def write(table: Table, frame: pd.DataFrame, path: Path | str) -> None:
    """Write a table as CSV.

    Unknown values are empty cells, no name becomes a formula of a spreadsheet, and a spreadsheet
    shows every letter.
    """
    columns = with_values(table, frame)
    names = [column.name for column in columns]
    files = [column.name for column in columns if column.kind is FILE]
    write_frame(frame[names], path, table.decimals, files)


def write_frame(
    frame: pd.DataFrame,
    path: Path | str,
    decimals: int | None = None,
    files: Iterable[str] = (),
) -> None:
    """Write any table as `write` does.

    decimals : of its numbers. files : columns of paths.
    """
    folder = os.path.dirname(os.path.realpath(path))
    frame = _with_files(frame, files, lambda file: os.path.relpath(file, folder))
    cells = []
    for name in frame:
        column = frame[name]
        if column.dtype.kind == "f" and decimals is not None:
            column = column.round(decimals)
        cells.append(column.astype(object).where(column.notna(), None))
    text = table_text(list(frame.columns), zip(*cells, strict=True))
    write_text(path, text if _has_plain_names(frame) else BOM + text)


def _with_files(
    frame: pd.DataFrame, names: Iterable[str], place: Callable[[str], str]
) -> pd.DataFrame:
    """A table with other paths in these columns. place : gives one, of a path."""
    columns = {}
    for name in names:
        columns[name] = [place(file) if file else "" for file in frame[name].fillna("")]
    return frame.assign(**columns)


def _has_plain_names(frame: pd.DataFrame) -> bool:
    for name in frame.columns.difference(SENTENCES):
        if frame[name].dtype == object and not "".join(map(str, frame[name])).isascii():
            return False
    return True


def read(table: Table, path: Path | str) -> pd.DataFrame:
    """Read a table that `write` wrote.

    A column that it lacks, since a later version added it or no row had a value, is unknown.

    Raises
    ------
    RecordError : it is no such table, or a column of numbers has something else
    """
    kinds = table.kinds
    try:
        frame = pd.read_csv(
            path, dtype=str, keep_default_na=False, encoding="utf-8-sig"
        )
        if "target" not in frame:
            raise ValueError("it has no column target")
        for name in frame.columns:
            if kinds.get(name, str) in (str, FILE):
                texts = {text: restored(text) for text in frame[name].unique()}
                frame[name] = frame[name].map(texts)
            else:
                frame[name] = frame[name].replace("", None)
        folder = os.path.dirname(os.path.realpath(path))
        files = [name for name in frame.columns if kinds.get(name) is FILE]
        frame = _with_files(
            frame, files, lambda file: os.path.normpath(os.path.join(folder, file))
        )
        return typed(frame, kinds | dict.fromkeys(frame.columns, str) | kinds)
    except (ValueError, TypeError) as error:
        raise RecordError(
            f"damaged: {printable(str(error))}", where=path, remedy=SCORE_AGAIN
        ) from error


def packed(frame: pd.DataFrame) -> dict[str, Any]:
    """Return a table as JSON takes it: numbers as they are, of texts each different one once."""
    columns: dict[str, Any] = {}
    for name in frame:
        column = frame[name]
        if column.dtype == object:
            places, texts = pd.factorize(column)
            columns[name] = {"texts": texts.tolist(), "places": places.tolist()}
        else:
            columns[name] = column.tolist()
    return columns


def unpacked(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return the inverse of `packed`."""
    values = {}
    for name, column in columns.items():
        if isinstance(column, dict):
            texts = np.array(column["texts"], dtype=object)
            places = np.array(column["places"], dtype=int)
            values[name] = pd.Series(texts[places], dtype=object)
        else:
            values[name] = np.array(column, dtype=float)
    return pd.DataFrame(values)


def cells_of(column: pd.Series, decimals: int) -> list[Any]:
    """Return the values of a column for JSON; None where a row has none."""
    if column.dtype.kind == "f":
        column = column.round(decimals)
    return column.astype(object).where(column.notna(), None).tolist()


def to_page(columns: Iterable[Column], frame: pd.DataFrame) -> dict[str, Any]:
    """Return what the page's script needs of a table.

    Returns
    -------
    columns : for each column that has a place on the page and a value in some row its `key`,
        `head`, `hint`, decimals or format (`shown`), `page` and whether it is a `number`
    values : key → a value for each row; None where it is unknown
    """
    values = {}
    declared = []
    for column in columns:
        if not column.page or column.name not in frame or column.name in values:
            continue
        cells = cells_of(frame[column.name], 7)
        if any(cell not in (None, "") for cell in cells):
            values[column.name] = cells
            declared.append(
                {
                    "key": column.name,
                    "head": column.head or column.name,
                    "hint": re.sub(r"[`*]", "", column.meaning),
                    "shown": 0 if column.kind == WHOLE else column.shown,
                    "page": column.page,
                    "number": column.kind not in (str, FILE),
                }
            )
    return {"columns": declared, "values": values}


def to_markdown(tables: Iterable[Table]) -> str:
    """Return what every column means, for the documentation and a file beside tables."""
    parts = []
    for table in tables:
        lines = [
            f"### `{table.name}`",
            "",
            f"A row for each {table.rows}.",
            "",
            "| column | meaning |",
            "| --- | --- |",
        ]
        lines += [f"| `{column.name}` | {column.meaning} |" for column in table.columns]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
