"""The predicted quality of each interface residue as a table, and of which decoys it is shown."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from toporank.evaluation.interfaces import Score
from toporank.evaluation.ranking import RankedDecoy
from toporank.spreadsheets import restored, write_rows

SHOWN = 3
"""Decoys of each target, by rank, that are shown by residue."""


class ResidueRow(NamedTuple):
    """A residue of the graph of a decoy. residue : number and insertion code, such as `52A`.

    pred_quality : predicted local quality, the mean over its contacts, in [0, 1]; None for one without a contact.
    """

    target: str
    decoy: str
    chain: str
    residue: str
    pred_quality: float | None


COLUMNS = ResidueRow._fields


def write_residues(path: Path | str, scores: Iterable[Score]) -> None:
    """Write residues.csv: decoys in the order of their scores, residues in that of the file."""
    rows = (
        (score.target, score.decoy, chain, int(residue) if residue.lstrip("-").isdecimal() else residue, quality)
        for score in scores
        for name, quality in score.residues
        for chain, _, residue in [name.rpartition(":")]
    )
    write_rows(path, COLUMNS, rows)


def read_residues(path: Path | str) -> Iterator[ResidueRow]:
    """The rows of residues.csv, one by one."""
    with open(path, encoding="utf-8", newline="") as handle:
        rows = csv.reader(handle)
        next(rows)
        for *names, quality in rows:
            yield ResidueRow(*map(restored, names), float(quality) if quality else None)


def why_no_residues(scores: Iterable[Score], pack: Path) -> str:
    """Why residues.csv has no row, in a sentence; empty if it has some, or there are no scores."""
    decoys = [score for score in scores if not score.interface]
    if not decoys or any(score.residues for score in decoys):
        return ""
    if all(score.pred_local is None for score in decoys):
        return "the scorer does not predict the quality of residues: residues.csv is empty"
    return f"residues.csv is empty, for an earlier version packed the graphs: delete {pack} and run again"


def leading(rows: Iterable[Any], most: int = SHOWN) -> list[Any]:
    """The scored decoys of a target that are shown by residue: the first of each of the first ranks.

    rows : of one target, best first, with `rank` and `pred_dockq`.
    """
    found: dict[int, Any] = {}
    for row in rows:
        if row.pred_dockq is not None and row.rank <= most:
            found.setdefault(row.rank, row)
    return list(found.values())


def of_leading(path: Path | str, table: Iterable[RankedDecoy]) -> dict[tuple[str, str], list[ResidueRow]]:
    """(target, decoy) → its rows of residues.csv, of the `leading` decoys of a ranking."""
    wanted = {row[1:3] for _, rows in groupby(table, key=attrgetter("target")) for row in leading(rows)}
    return {key: list(rows) for key, rows in groupby(read_residues(path), key=lambda row: row[:2]) if key in wanted}
