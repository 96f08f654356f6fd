"""How good each interface residue is thought to be, as a table, and the decoys for which it is shown."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from toporank.comparison.compare import Compared, read_decoys
from toporank.comparison.votes import residue_agreement
from toporank.evaluation.ranking import RankedDecoy
from toporank.scorer.prediction import QUALITY_DECIMALS, ResidueScore, Score
from toporank.spreadsheets import restored, write_rows

SHOWN = 3
"""Decoys of each target, by rank, that are shown by residue."""


class ResidueRow(NamedTuple):
    """A residue of the graph of a decoy. residue : number and insertion code, such as `52A`.

    The three values are those of `interfaces.ResidueScore`.
    """

    target: str
    decoy: str
    chain: str
    residue: str
    pred_quality: float | None
    pred_network: float | None = None
    agreement: float | None = None


COLUMNS = ResidueRow._fields


def with_agreement(
    scores: Iterable[Score], contacts: Callable[[tuple[str, str]], Compared], copy_of: Mapping[tuple[str, str], str]
) -> list[Score]:
    """The scores with the agreement of the other decoys on each residue; copies have that of their originals.

    A residue that touches no other partner has the mean of those of its decoy that do, so that all mean the same; one
    that networks say nothing about has no value. Decoys vote by their scores, copies once.
    scores : by target. contacts : (target, decoy) → what it is compared by. copy_of : (target, decoy) → the decoy that
    it is a copy of.
    """
    found = []
    for target, own in groupby(scores, key=attrgetter("target")):
        rows = list(own)
        scored = {row.decoy: row.pred_dockq for row in rows if row.residues}
        first = {decoy: copy_of.get((target, decoy)) for decoy in scored}
        voting = {decoy: dockq for decoy, dockq in scored.items() if first[decoy] not in scored}
        if len(voting) < 2:
            found += rows
            continue
        read = read_decoys(contacts((target, decoy)) for decoy in voting)
        known = dict(zip(voting, residue_agreement(read, np.array([*voting.values()])), strict=True))
        for row in rows:
            agreed = _agreed(row, known[row.decoy if row.decoy in known else first[row.decoy]]) if row.residues else ()
            found.append(row._replace(residues=agreed))
    return found


def _agreed(score: Score, known: dict[str, float]) -> tuple[ResidueScore, ...]:
    """The residues of a decoy with their agreement. known : of those that touch another partner."""
    mean = fmean(known.values()) if known else 0.0
    return tuple(
        ResidueScore(name, quality, None if quality is None else round(known.get(name, mean), QUALITY_DECIMALS))
        for name, quality, _ in score.residues
    )


def write_residues(path: Path | str, scores: Iterable[Score]) -> None:
    """Write residues.csv: decoys in the order of their scores, residues in that of the file."""
    rows = (
        ResidueRow(score.target, score.decoy, chain, number, residue.pred_quality, *residue[1:])
        for score in scores
        for residue in score.residues
        for chain, _, number in [residue.name.rpartition(":")]
    )
    write_residue_rows(path, rows)


def write_residue_rows(path: Path | str, rows: Iterable[ResidueRow]) -> None:
    """Write residues.csv; a residue without insertion code is a number, which no spreadsheet takes for a formula."""
    numbered = (
        (*row[:3], int(row.residue) if row.residue.lstrip("-").isdecimal() else row.residue, *row[4:]) for row in rows
    )
    write_rows(path, COLUMNS, numbered)


def read_residues(path: Path | str) -> Iterator[ResidueRow]:
    """The rows of residues.csv, one by one."""
    with open(path, encoding="utf-8", newline="") as handle:
        rows = csv.reader(handle)
        next(rows)
        for target, decoy, chain, residue, *values in rows:
            names = map(restored, (target, decoy, chain, residue))
            yield ResidueRow(*names, *(float(value) if value else None for value in values))


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
