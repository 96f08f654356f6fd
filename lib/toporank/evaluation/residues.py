"""The predicted quality of each interface residue: a table, and structure files that show it."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toporank.evaluation.interfaces import Score
from toporank.evaluation.ranking import RankedDecoy
from toporank.files import write_text
from toporank.spreadsheets import restored, write_rows
from toporank.structures.stored import from_bytes

if TYPE_CHECKING:
    from toporank.building.stages import Making

SHOWN = 3
"""Decoys of each target, by rank, that are shown by residue."""
MANY = 50
"""Targets from which on only the first decoy of each becomes a structure file, which takes 10 ms."""
LEAST = 0.01
"""B-factor of the worst interface residue; 0 is what all others have."""


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


def write_models(
    folder: Path, table: Iterable[RankedDecoy], scores: Iterable[Score], made: Callable[[tuple[str, str]], Making]
) -> None:
    """Write the `leading` decoys of each target as `<target>/<rank>_<decoy>.cif` with quality × 100 as B-factor.

    With `MANY` targets, the first of each. Of a decoy without known residues there is none. table : as from `ranking`.
    made : (target, decoy) → what it is made of. Raises StructureError when a decoy is not in the store and its file is
    gone.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    known = {(score.target, score.decoy): dict(score.residues) for score in scores if score.residues}
    targets = {target: list(rows) for target, rows in groupby(table, key=attrgetter("target"))}
    for target, rows in targets.items():
        for row in leading(rows, SHOWN if len(targets) < MANY else 1):
            if quality := known.get((target, row.decoy)):
                text = model(made((target, row.decoy)), quality)
                write_text(folder / target / f"{row.rank}_{row.decoy}.cif", text)


def model(making: Making, quality: dict[str, float | None]) -> str:
    """A decoy as mmCIF with quality × 100 as B-factor; what has no quality has 0, and everything that has some more."""
    from toporank.structures.write import mmcif  # imports gemmi, which is needed only here

    complex_ = from_bytes(making.complex.content)
    index = {str(residue): i for residue, i in complex_.index().items()}
    b_factors = np.zeros(len(complex_.residues))
    for name, value in quality.items():
        b_factors[index[name]] = 0.0 if value is None else max(100 * value, LEAST)
    return mmcif(complex_, b_factors)
