"""Tables of results as DataFrames and as CSV files: the one reader and the one writer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from toporank.errors import RecordError, printable
from toporank.files.spreadsheets import restored, write_rows

WHOLE = "Int64"
"""Kind of a column of integers that may be unknown. Others are str and float."""
SCORE_AGAIN = "score the models again"


def typed(frame: pd.DataFrame, kinds: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table with these columns and their kinds; an unknown text is empty."""
    table = frame.reindex(columns=list(kinds))
    for name, kind in kinds.items():
        if kind is str:
            table[name] = table[name].astype(object).fillna("")
        else:
            table[name] = pd.to_numeric(table[name]).astype(float).astype(kind)
    return table


def write_frame(path: Path | str, frame: pd.DataFrame) -> None:
    """Write a table as CSV.

    Unknown values are empty cells, and no name becomes a formula of a spreadsheet.
    """
    cells = frame.astype(object).where(frame.notna(), None)
    write_rows(path, list(frame.columns), cells.itertuples(index=False, name=None))


def read_frame(path: Path | str, kinds: Mapping[str, Any]) -> pd.DataFrame:
    """Read a table that `write_frame` wrote.

    Parameters
    ----------
    path : CSV file
    kinds : of columns, unknown where the table lacks one that a later version added; all others
        are text

    Raises
    ------
    RecordError : it is no such table, or a column of numbers has something else
    """
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        if "target" not in frame:
            raise ValueError("it has no column target")
        for name in frame.columns:
            if kinds.get(name, str) is str:
                frame[name] = frame[name].map(restored)
            else:
                frame[name] = frame[name].replace("", None)
        return typed(frame, dict.fromkeys(frame.columns, str) | dict(kinds))
    except (ValueError, TypeError) as error:
        raise RecordError(
            f"damaged: {printable(str(error))}", where=path, remedy=SCORE_AGAIN
        ) from error
