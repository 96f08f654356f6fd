"""The predicted aligned error of the models that the page shows, small enough for it."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from toporank.errors import TopoRankError
from toporank.inputs.confidence.decoy import Pae, pae_of
from toporank.inputs.predictors import files_of_model, place_of
from toporank.ranking.scored import Scored
from toporank.report.structures import best_distinct
from toporank.structures.identity import ResidueId
from toporank.structures.partners import Partners
from toporank.structures.read import read_complex

WORST = 30.0
"""Å from which all errors look the same."""
SMALL = 120
"""Pixels of a side on the page."""
OF_TARGET, ON_PAGE = 3, 40
"""Pictures of a target, and of all."""
LARGEST = 40_000_000
"""Bytes of a predictor's file that the page reads; the command `figure` reads any."""


def chain_ends(residues: Iterable[ResidueId]) -> list[tuple[str, int]]:
    """Return the chains of residues, in order, each with the place behind its last one."""
    ends = []
    end = 0
    for chain, of_chain in groupby(residues, key=lambda residue: residue.chain):
        end += len(list(of_chain))
        ends.append((chain, end))
    return ends


def smaller(values: np.ndarray, most: int) -> np.ndarray:
    """Return the means over blocks of a square matrix, so that it has `most` rows or fewer."""
    n = len(values)
    if n <= most:
        return values
    starts = np.linspace(0, n, most, endpoint=False).astype(int)
    sums = np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1)
    sizes = np.diff(starts, append=n)
    return sums / np.outer(sizes, sizes)


def pae_of_model(row: Any, partners: Partners) -> Pae:
    """Return the PAE of a model. row : of `model_table`.

    Raises
    ------
    TopoRankError, OSError : there is none, none that fits, or the file of the model is gone
    """
    path = Path(row.path)
    place = row.model - 1 if row.model else None
    complex_ = read_complex(path, place).with_partners(partners)
    return pae_of(path, complex_, place)


def pictures(scored: Scored, order: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return target → place of a model → its PAE for the page's script.

    It takes the best models, at most `ON_PAGE` in all.

    Each has n, rows; v, bytes of PAE (0 is 0 Å, 255 is `WORST` or more), row by row; and e, chains
    with the share of the residues up to their end. A model without PAE that fits it has no picture;
    confidence.csv says why.
    """
    best = best_distinct(scored.facts, OF_TARGET)
    drawn: dict[str, dict[str, Any]] = {}
    n_drawn = 0
    for target in order:
        for place, row in best[target]:
            key = target, row.decoy
            confidence = scored.stated.get(key)
            if (
                n_drawn == ON_PAGE
                or confidence is None
                or confidence.interface_pae is None
            ):
                continue
            pae = _readable(row, scored.partners.get(key, ()))
            if pae:
                drawn.setdefault(target, {})[str(place)] = picture(pae)
                n_drawn += 1
    return drawn


def picture(pae: Pae) -> dict[str, Any]:
    """Return what `pictures` has of one model."""
    values = smaller(pae.values, SMALL)
    levels = (255 * np.clip(values / WORST, 0, 1)).round().astype(np.uint8)
    ends = [
        (chain, round(end / len(pae.residues), 4))
        for chain, end in chain_ends(pae.residues)
    ]
    return {
        "n": len(values),
        "v": base64.b64encode(levels.tobytes()).decode(),
        "e": ends,
    }


def _readable(row: Any, partners: Partners) -> Pae | None:
    """The PAE; None where a file is too large for the page, or was moved or changed."""
    try:
        files = files_of_model(place_of(Path(row.path)))
        for file in (files.scores, files.pae, files.plddt) if files else ():
            if file and file.stat().st_size > LARGEST:
                return None
        return pae_of_model(row, partners)
    except (TopoRankError, OSError):
        return None
