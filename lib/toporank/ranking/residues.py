"""How good each interface residue and each contact is thought to be, and the decoys for which it is
shown.
"""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from toporank.files.atomic import replacing
from toporank.files.spreadsheets import restored, table_text
from toporank.scorer.prediction import CONTACT_KINDS, CONTACTS, QUALITY_DECIMALS, Score

SHOWN = 3
"""Decoys of each target, by rank, that are shown by residue."""


class ResidueRow(NamedTuple):
    """A residue of the graph of a decoy. residue : number and insertion code, such as `52A`.

    The other values are those of `prediction.ResidueScore`.
    """

    target: str
    decoy: str
    chain: str
    residue: str
    pred_quality: float | None
    pred_network: float | None = None
    agreement: float | None = None
    residue_name: str = ""


COLUMNS = ResidueRow._fields


class ContactRow(NamedTuple):
    """A contact of a decoy: two residues of different partners with heavy atoms nearer than 5 Å.

    distance : Å between their nearest heavy atoms. type : one of `CONTACT_KINDS`. The residues are
    named, and the values are made, as those of `ResidueRow`.
    """

    target: str
    decoy: str
    chain_1: str
    residue_1: str
    residue_name_1: str
    chain_2: str
    residue_2: str
    residue_name_2: str
    distance: float
    type: str
    pred_quality: float | None
    pred_network: float | None
    agreement: float | None


def residue_lines(score: Score) -> str:
    """The lines of residues.csv of a decoy, in the order of its file. Cells of text are made once,
    as for contacts.
    """
    decoy = _cells(score.target, score.decoy)
    return "".join(
        f"{decoy},{_place_cells(r.name)},{_text(r.pred_quality)},{_text(r.pred_network)},{_text(r.agreement)}"
        f"{_name_cell(r.residue_name)}\n"
        for r in score.residues
    )


def write_residue_lines(path: Path | str, lines: Iterable[str]) -> None:
    """Write residues.csv from lines of decoys."""
    _write_lines(path, COLUMNS, lines)


def _write_lines(path: Path | str, columns: Iterable[str], lines: Iterable[str]) -> None:
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        file.write(f"{','.join(columns)}\n")
        file.writelines(lines)


def _text(value: float | None) -> str:
    """A number as the table has it: nothing where it is unknown."""
    return "" if value is None or math.isnan(value) else str(value)


def _chain_and_number(name: str) -> tuple[str, str | int]:
    """Chain and number of a residue; a number without insertion code is one for a spreadsheet, too.

    >>> _chain_and_number("A:-52"), _chain_and_number("A:52A")
    (('A', -52), ('A', '52A'))
    """
    chain, _, number = name.rpartition(":")
    return chain, int(number) if number.lstrip("-").isdecimal() else number


def read_residues(path: Path | str) -> Iterator[ResidueRow]:
    """The rows of residues.csv, one by one."""
    with open(path, encoding="utf-8", newline="") as handle:
        next(handle)
        yield from residue_rows(handle)


def residue_rows(lines: Iterable[str]) -> Iterator[ResidueRow]:
    """The same from the lines of the table, but the first."""
    for row in csv.reader(lines):
        yield ResidueRow(*map(restored, row[:4]), *_numbers(row[4:7], 3), *row[7:])


def _numbers(cells: Sequence[str], n: int) -> list[float | None]:
    """The numbers in n cells; an empty or a missing one has none."""
    return [float(cell) if cell else None for cell in (*cells, *[""] * (n - len(cells)))]


def contact_lines(score: Score) -> str:
    """The lines of contacts.csv of a decoy, by the places of the residues.

    Cells are made once for each residue: `table_text` would look at each in every row.
    """
    contacts = np.frombuffer(score.contacts, CONTACTS)
    decoy, ends = (
        _cells(score.target, score.decoy),
        [_residue_cells(r.name, r.residue_name) for r in score.residues],
    )
    numbers = (
        contacts[name].astype(float).round(QUALITY_DECIMALS).tolist()
        for name in CONTACTS.names[-3:]
    )
    network, agreement, quality = numbers
    values = (quality, network, ["" if x != x else x for x in agreement])
    residues = ([ends[i] for i in contacts[side].tolist()] for side in ("first", "second"))
    kinds = [CONTACT_KINDS[kind] for kind in contacts["kind"].tolist()]
    rows = zip(*residues, contacts["distance"].tolist(), kinds, *values, strict=True)
    return "".join(
        f"{decoy},{a},{b},{d:.2f},{kind},{q},{n},{g}\n" for a, b, d, kind, q, n, g in rows
    )


@functools.lru_cache(maxsize=1 << 16)
def _residue_cells(name: str, residue_name: str) -> str:
    return _cells(*_chain_and_number(name), residue_name)


@functools.lru_cache(maxsize=1 << 16)
def _place_cells(name: str) -> str:
    return _cells(*_chain_and_number(name))


@functools.lru_cache(maxsize=1 << 10)
def _name_cell(residue_name: str) -> str:
    """The last cell of a row, with the comma before it: a cell by itself would be quoted where it
    is empty.
    """
    return _cells("", residue_name)


def _cells(*values: Any) -> str:
    return table_text(values, ())[:-1]


def write_contact_lines(path: Path | str, lines: Iterable[str]) -> None:
    """Write contacts.csv from lines of decoys."""
    _write_lines(path, ContactRow._fields, lines)


def _contact(row: Sequence[str]) -> ContactRow:
    distance, kind, *values = row[8:]
    return ContactRow(*map(restored, row[:8]), float(distance), kind, *_numbers(values, 3))


def why_no_contacts(residues: Iterable[str], contacts: Iterable[str]) -> str:
    """Why contacts.csv has no row although residues.csv has some, in a sentence; empty if that is
    not so.

    residues, contacts : the lines of each scored decoy.
    """
    if not any(residues) or any(contacts):
        return ""
    return (
        "contacts.csv is empty: the scorer looks at edges that do not say which atoms touch, or "
        "no residues touch"
    )


def why_no_residues(residues: Collection[str]) -> str:
    """Why residues.csv has no row, in a sentence; empty if it has some, or no decoy is scored.
    residues : as above.
    """
    if not residues or any(residues):
        return ""
    return "the scorer does not predict the quality of residues: residues.csv is empty"


def leading(table: pd.DataFrame, most: int = SHOWN) -> pd.DataFrame:
    """Return the scored models that are shown by residue: the first of each of the first ranks of
    each target.

    table : as from `model_table`.
    """
    scored = table[table["dockq"].notna() & (table["rank"] <= most)]
    return scored.drop_duplicates(["target", "rank"])


def residues_of(
    path: Path | str, keys: Collection[tuple[str, str]]
) -> dict[tuple[str, str], list[ResidueRow]]:
    """Return (target, decoy) → its rows of residues.csv, for some decoys."""
    return _rows_of(path, keys, residue_rows)


def contacts_of(
    path: Path | str, keys: Collection[tuple[str, str]]
) -> dict[tuple[str, str], list[ContactRow]]:
    """Return (target, decoy) → its rows of contacts.csv, for some decoys."""
    return _rows_of(path, keys, lambda lines: map(_contact, csv.reader(lines)))


def _rows_of(
    path: Path | str, keys: Collection[tuple[str, str]], read: Callable
) -> dict[tuple[str, str], list[Any]]:
    wanted = set(keys)
    rows: dict[tuple[str, str], list[Any]] = {}
    with open(path, encoding="utf-8", newline="") as handle:
        next(handle)
        for decoy, lines in _by_decoy(handle):
            if decoy in wanted:
                rows.setdefault(decoy, []).extend(read(lines))
    return rows


def _by_decoy(lines: Iterable[str]) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """The lines of each decoy. Most lines begin as the one before: only others are taken apart."""
    begin, decoy, own = "\n", ("", ""), []
    for line in lines:
        if not line.startswith(begin):
            if own:
                yield decoy, own
            decoy, own = tuple(map(restored, next(csv.reader([line]))[:2])), []
            begin = f"{_cells(*decoy)},"
        own.append(line)
    if own:
        yield decoy, own
