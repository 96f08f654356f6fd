"""residues.csv and contacts.csv.

They say how good each interface residue and each contact is thought to be. This module also
chooses the decoys for which that is shown.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from toporank.files.atomic import replacing
from toporank.files.spreadsheets import defused, restored
from toporank.scorer.residue_quality import QUALITY_DECIMALS
from toporank.structures.identity import DecoyKey

SHOWN = 3
"""Decoys of each target, by rank, that are shown by residue."""
AT_ONCE = 1_000_000
"""Rows of a table that are read at a time."""
KEY = ["target", "decoy"]
QUALITY = ["pred_quality", "pred_network", "agreement"]
RESIDUE_COLUMNS = [*KEY, "chain", "residue", *QUALITY, "residue_name"]
"""residue : number and insertion code, such as `52A`. The others are those of
`residue_quality.RESIDUES`.
"""
ENDS = [
    "chain_1",
    "residue_1",
    "residue_name_1",
    "chain_2",
    "residue_2",
    "residue_name_2",
]
CONTACT_COLUMNS = [*KEY, *ENDS, "distance", "type", *QUALITY]
"""Two residues of different partners with heavy atoms nearer than 5 Å. The others are those of
`residue_quality.CONTACTS`.
"""
NUMBERS = [*QUALITY, "distance"]


def residue_lines(residues: pd.DataFrame) -> str:
    """Return the lines of residues.csv. residues : as from `residue_quality.with_quality`."""
    return _lines(residues.assign(**_places(residues["residue"])), RESIDUE_COLUMNS)


def contact_lines(contacts: pd.DataFrame, residues: pd.DataFrame) -> str:
    """Return the lines of contacts.csv.

    contacts, residues : as from `residue_quality.with_quality`.
    """
    name_of = residues.set_index(["decoy", "residue"])["residue_name"]
    table = contacts.assign(distance=contacts["distance"].map("{:.2f}".format))
    for number, end in ((1, "first"), (2, "second")):
        ends = pd.MultiIndex.from_frame(contacts[["decoy", end]])
        table[f"residue_name_{number}"] = name_of.reindex(ends).to_numpy()
        for name, values in _places(contacts[end]).items():
            table[f"{name}_{number}"] = values
    return _lines(table, CONTACT_COLUMNS)


def _places(names: pd.Series) -> dict[str, pd.Series]:
    """Chain and number of residues such as `A:52A`."""
    parts = names.astype(str).str.extract("(?P<chain>.*):(?P<residue>.*)")
    return dict(parts.items())


def _lines(table: pd.DataFrame, columns: list[str]) -> str:
    """The rows as CSV text in which no name is a formula of a spreadsheet."""
    cells = table[columns].copy()
    for name in columns:
        if name in QUALITY:
            cells[name] = cells[name].astype(float).round(QUALITY_DECIMALS)
        elif name not in NUMBERS:
            cells[name] = cells[name].map(
                {text: _cell(text) for text in cells[name].unique()}
            )
    return cells.to_csv(header=False, index=False, lineterminator="\n")


def _cell(text: str) -> str:
    """A text that a spreadsheet does not compute, unless it is the number of a residue.

    >>> _cell("=A"), _cell("-52"), _cell("-52A")
    ("'=A", '-52', "'-52A")
    """
    return text if text.removeprefix("-").isdecimal() else defused(text)


def write_lines(path: Path | str, columns: Iterable[str], lines: Iterable[str]) -> None:
    """Write a table whose lines are at hand."""
    with (
        replacing(path) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as file,
    ):
        file.write(f"{','.join(columns)}\n")
        file.writelines(lines)


def table_of_lines(columns: Iterable[str], lines: Iterable[str]) -> pd.DataFrame:
    """Return the table whose lines are at hand."""
    text = "".join([",".join(columns), "\n", *lines])
    return pd.concat(_parts(io.StringIO(text)))


def rows_of(
    path: Path | str, keys: Collection[DecoyKey]
) -> dict[DecoyKey, pd.DataFrame]:
    """Return (target, decoy) → its rows of residues.csv or contacts.csv, for some decoys."""
    parts = []
    for part in _parts(path):
        is_wanted = pd.MultiIndex.from_frame(part[KEY]).isin(list(keys))
        parts.append(part[is_wanted])
    return dict(list(pd.concat(parts).groupby(KEY)))


def _parts(file: Any) -> Iterable[pd.DataFrame]:
    """Parts of a table, one after the other. Chain "NA" is a name, not a missing value."""
    texts = {*RESIDUE_COLUMNS, *CONTACT_COLUMNS}.difference(NUMBERS)
    with pd.read_csv(
        file,
        dtype=dict.fromkeys(texts, str),
        keep_default_na=False,
        na_values=dict.fromkeys(NUMBERS, ""),
        chunksize=AT_ONCE,
    ) as parts:
        for part in parts:
            for name in part.columns.intersection(list(texts)):
                part[name] = part[name].map(
                    {text: restored(text) for text in part[name].unique()}
                )
            yield part


def why_no_quality(n_scored: int, *, has_residues: bool, has_contacts: bool) -> str:
    """Return why residues.csv or contacts.csv has no row, in a sentence.

    It is empty if both have some, or no decoy is scored.

    Parameters
    ----------
    n_scored : decoys with a score
    has_residues, has_contacts : whether the tables have a row
    """
    if n_scored and not has_residues:
        return (
            "the scorer does not predict the quality of residues: residues.csv is empty"
        )
    if has_residues and not has_contacts:
        return (
            "contacts.csv is empty: the scorer looks at edges that do "
            "not say which atoms touch, or "
            "no residues touch"
        )
    return ""


def leading(table: pd.DataFrame, most: int = SHOWN) -> pd.DataFrame:
    """Return the scored models that are shown by residue.

    They are the first of each of the first ranks of each target.

    Parameters
    ----------
    table : as from `model_table`
    most : ranks of each target
    """
    scored = table[table["dockq"].notna() & (table["rank"] <= most)]
    return scored.drop_duplicates(["target", "rank"])
