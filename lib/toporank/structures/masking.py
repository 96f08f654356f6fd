"""Residues that are left out of a complex, as a text that plans and keys can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from toporank.errors import StructureError
from toporank.structures.complex import Complex
from toporank.structures.identity import ResidueId

_RANGE = re.compile(r"(\d+)-(\d+)")


def mask_text(masked: np.ndarray) -> str:
    """Places of the masked residues among all of a complex, such as `0-36 190-204`; empty without any.

    masked : bool, shape (R,).
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(masked, dtype=np.int8), [0]])))
    return " ".join(f"{first}-{behind - 1}" for first, behind in edges.reshape(-1, 2))


def masked_places(text: str) -> np.ndarray:
    """The inverse of `mask_text`: places in rising order, int, shape (n,)."""
    ranges = [np.arange(int(first), int(last) + 1) for first, last in _RANGE.findall(text)]
    return np.concatenate([np.zeros(0, dtype=np.intp), *ranges]).astype(np.intp)


def without(complex_: Complex, text: str, why: str) -> Complex:
    """The complex as if its file did not have the masked residues; a note says which they are.

    text : from `mask_text`; empty gives the complex itself. why : what the residues are. Raises StructureError when the
    complex does not have such residues.
    """
    places = masked_places(text)
    if not len(places):
        return complex_
    if places[-1] >= len(complex_.residues):
        raise StructureError("the file was changed while it was built", remedy="run again")
    left = complex_.only(np.setdiff1d(np.arange(len(complex_.residues)), places))
    masked = _described([complex_.residues[place] for place in places])
    return left.with_notes(f"{len(places)} residues masked, {why}: {masked}")


def _described(residues: Iterable[ResidueId]) -> str:
    """Residues as ranges of their numbers, such as `A 1–37, B 200–236`; residues follow one another in the file."""
    runs: list[list[ResidueId]] = []
    for residue in residues:
        if runs and runs[-1][-1].chain == residue.chain and residue.number - runs[-1][-1].number in (0, 1):
            runs[-1].append(residue)
        else:
            runs.append([residue])
    return ", ".join(f"{run[0].chain} {run[0].number}–{run[-1].number}" for run in runs)
