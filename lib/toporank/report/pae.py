"""The predicted aligned error as pixels: for the page, where it is small, and for slides."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.errors import TopoRankError
from toporank.inputs.confidence.decoy import Pae, pae_of
from toporank.inputs.confidence.side_files import SideFiles
from toporank.inputs.predictors import files_of_model, place_of
from toporank.report.results import Result, Study, by_target
from toporank.report.slides.canvas import blended, data_address
from toporank.report.views import best_distinct, partners_of_decoys
from toporank.structures.identity import ResidueId
from toporank.structures.partners import Partners
from toporank.structures.read import read_complex

COLOURS = ("#0b4f5c", "#3f8a80", "#a9cfae", "#f0f1da", "#ffffff")
"""Of PAE from 0 Å to `WORST`."""
WORST = 30.0
"""Å from which all errors look the same."""
SMALL = 160
"""Pixels of a side on the page."""
OF_TARGET, ON_PAGE = 3, 24
"""Pictures of a target, and of all."""
LARGEST = 40_000_000
"""Bytes of a predictor's file that the page reads; the command `figure` reads any."""
BORDER = (27, 37, 48)
"""Colour of the lines between chains, which are two pixels wide."""


class Run(NamedTuple):
    """Residues of one chain that follow one another. first, last : their places, the last one not included."""

    chain: str
    first: int
    last: int


def runs(residues: Iterable[ResidueId]) -> list[Run]:
    """The chains of residues, in their order."""
    found, start = [], 0
    for chain, own in groupby(residues, key=lambda residue: residue.chain):
        n = sum(1 for _ in own)
        found.append(Run(chain, start, start + n))
        start += n
    return found


def smaller(values: np.ndarray, most: int) -> np.ndarray:
    """The mean over blocks of a square matrix, so that it has `most` rows or fewer."""
    n = len(values)
    if n <= most:
        return values
    starts = np.linspace(0, n, most, endpoint=False).astype(int)
    sums = np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1)
    sizes = np.diff(starts, append=n)
    return sums / np.outer(sizes, sizes)


def pixels(values: np.ndarray) -> np.ndarray:
    """PAE, Å, as colours: uint8, (n, n, 3)."""
    return (255 * blended(COLOURS, np.clip(values / WORST, 0, 1))).round().astype(np.uint8)


def picture(pae: Pae, side: int = SMALL) -> np.ndarray:
    """A small picture with lines between the chains: uint8, (n, n, 3)."""
    found = pixels(smaller(pae.values, side))
    for run in runs(pae.residues)[1:]:
        at = min(round(run.first * len(found) / len(pae.residues)), len(found) - 1)
        found[max(at - 1, 0) : at + 1] = found[:, max(at - 1, 0) : at + 1] = BORDER
    return found


def pae_of_result(row: Result, partners: Partners) -> Pae:
    """The PAE of a model. Raises TopoRankError or OSError when there is none, or the file of the model is gone."""
    path, place = Path(row.path), row.model - 1 if row.model else None
    return pae_of(path, read_complex(path, place).with_partners(partners), place)


def pictures(study: Study) -> dict[int, list[dict[str, Any]]]:
    """Place of a target among `by_target` → name, chains and address of the PAE of its best models, at most `ON_PAGE`.

    A model without PAE that fits it has no picture; confidence.csv says why.
    """
    partners = partners_of_decoys(study)
    with_pae = {
        (d, r.target, r.decoy) for d, rows in study.confidence.items() for r in rows if r.interface_pae is not None
    }
    rows = (
        (i, row)
        for i, (_, of_target) in enumerate(by_target(study.decoys))
        for _, row in best_distinct(of_target, OF_TARGET)
        if (row.dataset, row.target, row.decoy) in with_pae
    )
    found: dict[int, list[dict[str, Any]]] = {}
    for i, row in islice(rows, ON_PAGE):
        pae = _readable(row, partners.get((row.dataset, row.target, row.decoy), ()))
        if pae:
            chains = ", ".join(run.chain for run in runs(pae.residues))
            found.setdefault(i, []).append({"name": row.decoy, "chains": chains, "src": data_address(picture(pae))})
    return found


def _files(beside: SideFiles | None) -> list[Path]:
    return [file for file in (beside.scores, beside.pae, beside.plddt) if file] if beside else []


def _readable(row: Result, partners: Partners) -> Pae | None:
    try:
        beside = files_of_model(place_of(Path(row.path)))
        large = any(file.stat().st_size > LARGEST for file in _files(beside))
        return None if large else pae_of_result(row, partners)
    except (TopoRankError, OSError):  # moved or changed since it was scored: its structure is missing, too
        return None
