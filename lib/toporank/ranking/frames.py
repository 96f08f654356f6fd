"""Tables of results as DataFrames and as CSV files: the one reader and the one writer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from toporank.errors import RecordError
from toporank.files.spreadsheets import read_rows, write_rows


def frame_of(
    rows: Iterable[Any], columns: Sequence[str], whole_numbers: Iterable[str] = ()
) -> pd.DataFrame:
    """Return rows as a table.

    Parameters
    ----------
    rows : tuples, or dicts, in the order of the columns
    columns : names of the columns
    whole_numbers : columns of integers that may be unknown

    Returns
    -------
    DataFrame; what is unknown is NaN, <NA> in a column of whole numbers, or an empty text
    """
    frame = pd.DataFrame(rows, columns=columns)
    frame = frame.where(frame.notna(), np.nan).infer_objects()
    return frame.astype(dict.fromkeys(whole_numbers, "Int64"))


def write_frame(path: Path | str, frame: pd.DataFrame) -> None:
    """Write a table as CSV; unknown values are empty cells, and no name becomes a formula of a
    spreadsheet.
    """
    cells = frame.astype(object).where(frame.notna(), None)
    write_rows(path, list(frame.columns), cells.itertuples(index=False, name=None))


def read_frame(
    path: Path | str, numbers: Sequence[str] = (), whole_numbers: Sequence[str] = ()
) -> pd.DataFrame:
    """Return a table that `write_frame` wrote.

    Parameters
    ----------
    path : CSV file
    numbers : columns of floating-point numbers
    whole_numbers : columns of integers; all others are text

    Returns
    -------
    table : with the columns of the file; unknown numbers are nan or NA

    Raises
    ------
    RecordError : a column of numbers has something else
    """
    frame = pd.DataFrame(list(read_rows(path)), columns=_header(path))
    try:
        for name in frame.columns.intersection([*numbers, *whole_numbers]):
            column = pd.to_numeric(frame[name].replace("", None))
            frame[name] = column.astype("Int64" if name in whole_numbers else float)
    except (ValueError, TypeError) as error:
        raise RecordError(
            f"damaged: {error}", where=path, remedy="score the models again"
        ) from error
    return frame


def _header(path: Path | str) -> list[str]:
    with open(path, encoding="utf-8", newline="") as file:
        return file.readline().rstrip("\n").split(",")
