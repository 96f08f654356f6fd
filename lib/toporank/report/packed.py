"""A model and its matrices as short texts, which the page's script unpacks.

A text is base64 of gzip of a line of JSON and, behind it, arrays of numbers of two bytes: first the
lower byte of all, then the higher. Neighbours differ little, so differences are packed, and 0, −1,
1, −2 … are 0, 1, 2, 3 …, which leaves the higher bytes empty.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from toporank.chains.chain import ResidueId
from toporank.confidence.matrices import Matrices
from toporank.structures.complex import Complex

LEVEL = 6
"""Of compression: the highest takes twice the time and saves a hundredth."""
PER_ANGSTROM = 10
"""Coordinates are whole numbers of 0.1 Å."""
BACKBONE = (b"N", b"CA", b"C", b"O")
UNKNOWN = 255
"""In the place of a number from 0 to 100."""
WORST = 30.0
"""Å from which all errors look the same."""
STEPS = (0.25, 0.5, 1.0)
"""Å to which PAE is rounded, the finest first."""
MOST_MERGED = 16
"""Residues in a row that may become one cell."""


def packed(head: Mapping[str, Any], numbers: Iterable[np.ndarray]) -> str:
    """Return a text. head : JSON. numbers : whole, −32768 to 32767."""
    content = [json.dumps(head, separators=(",", ":")).encode(), b"\n"]
    for values in numbers:
        folded = np.where(values < 0, -2 * values - 1, 2 * values).ravel()
        pairs = folded.astype("<u2").view(np.uint8).reshape(-1, 2)
        content += [pairs[:, 0].tobytes(), pairs[:, 1].tobytes()]
    text = gzip.compress(b"".join(content), LEVEL, mtime=0)
    return base64.b64encode(text).decode()


def packed_model(
    complex_: Complex,
    touching: np.ndarray,
    quality: np.ndarray,
    plddt: np.ndarray | None,
    head: Mapping[str, Any],
) -> str:
    """Return the protein of a model: backbone, and side chains of the residues in contact.

    Parameters
    ----------
    complex_ : R residues, without hydrogens
    touching : places of residues in contact
    quality, plddt : of each residue, 0 to 100, nan where unknown, shape (R,)
    head : further facts about the model

    Returns
    -------
    text : its head has `chains`, name and number of residues; `numbers`, the first and the length
        of each run of residue numbers; `codes`, insertion codes by place; `letters`; `names`, sets
        of atom names; `touching`. The numbers are n × (set of names, quality, pLDDT) and 3 × atoms
        of differences between coordinates.
    """
    protein = np.flatnonzero(complex_.is_protein)
    place = np.full(len(complex_.residues), -1)
    place[protein] = np.arange(len(protein))
    is_drawn = np.isin(complex_.atom_names, BACKBONE)
    is_drawn |= np.isin(complex_.residue_of, touching)
    atoms = np.flatnonzero(is_drawn & (place[complex_.residue_of] >= 0))
    residue_of = place[complex_.residue_of[atoms]]
    sets: dict[str, int] = {}
    set_of = np.zeros(len(protein), int)
    ends = np.searchsorted(residue_of, np.arange(len(protein) + 1))
    names = [name.decode() for name in complex_.atom_names[atoms].tolist()]
    for i in range(len(protein)):
        of_residue = " ".join(names[ends[i] : ends[i + 1]])
        set_of[i] = sets.setdefault(of_residue, len(sets))
    residues = complex_.residues_at(protein)
    codes = {}
    for i, residue in enumerate(residues):
        if residue.insertion_code.strip():
            codes[i] = residue.insertion_code.strip()
    xyz = np.rint(complex_.xyz[atoms] * PER_ANGSTROM).astype(int)
    steps = np.diff(xyz, axis=0, prepend=np.zeros((1, 3), int))
    values = [set_of, _known(quality[protein])]
    values.append(
        _known(np.full(len(protein), np.nan) if plddt is None else plddt[protein])
    )
    described = {
        **head,
        "chains": [
            [name, len(list(group))] for name, group in groupby(residues, _chain)
        ],
        "numbers": runs(residues),
        "codes": codes,
        "letters": "".join(complex_.letters[r] for r in protein),
        "names": list(sets),
        "touching": place[touching[place[touching] >= 0]].tolist(),
    }
    return packed(described, [*values, steps.T])


def _chain(residue: ResidueId) -> str:
    return residue.chain


def _known(values: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), UNKNOWN, np.nan_to_num(values).round()).astype(
        int
    )


def runs(residues: Iterable[ResidueId]) -> list[int]:
    """Return first number and length of each run of numbers that rise by one in a chain.

    >>> runs([ResidueId("A", 1, ""), ResidueId("A", 2, ""), ResidueId("B", 1, "")])
    [1, 2, 1, 1]
    """
    flat: list[int] = []
    last = ("", 0)
    for residue in residues:
        if (residue.chain, residue.number - 1) == last:
            flat[-1] += 1
        else:
            flat += residue.number, 1
        last = residue.chain, residue.number
    return flat


def packed_matrices(matrices: Matrices, complex_: Complex, room: int) -> str:
    """Return PAE, contact probabilities and ipTM of pairs; empty without any.

    Parameters
    ----------
    complex_ : as for `packed_model`; rows are those of its protein residues
    room : characters. A matrix for which it is too small becomes coarser: first in its values, then
        neighbouring residues become one cell. It is left out where even that does not help.

    Returns
    -------
    text : its head has `chains` and `pairs`, ipTM; and of each matrix of
        `shown` its name, `n` rows, `merged`, the residues of a row, and `step`, what a number is
        worth. `rows` are the places of the residues in the model, left out where they are all in
        order.
    """
    head: dict[str, Any] = {"shown": []}
    if matrices.pair_iptm is not None and len(matrices.chains) > 1:
        of_pairs = np.round(matrices.pair_iptm.astype(float), 2).astype(object)
        of_pairs[np.isnan(matrices.pair_iptm)] = None
        head["chains"] = matrices.chains
        head["pairs"] = of_pairs.tolist()
    places = {}
    for place, residue in enumerate(np.flatnonzero(complex_.is_protein)):
        places[complex_.residues[residue]] = place
    rows = [places.get(residue, -1) for residue in matrices.residues]
    if rows != list(range(len(places))):
        head["rows"] = rows
    numbers = []
    for name, matrix, steps in (
        ("pae", matrices.pae, STEPS),
        ("contacts", matrices.contact_probs, (0.01, 0.05)),
    ):
        if matrix is not None:
            levels, about = _fitting(np.minimum(matrix, WORST), steps, room)
            if about:
                head["shown"].append({"name": name, **about})
                numbers.append(levels)
    return packed(head, numbers) if numbers or "pairs" in head else ""


def _fitting(
    values: np.ndarray, steps: Iterable[float], room: int
) -> tuple[np.ndarray, dict[str, Any]]:
    """Differences along the rows of the finest levels that fit, and their description."""
    merged = 1
    for step in steps:
        levels, size = _levels(values, step)
        if size <= room:
            return levels, {"n": len(values), "merged": merged, "step": step}
    while merged < MOST_MERGED:
        merged = max(merged + 1, int(np.sqrt(size / room)))
        fewer = smaller(values, merged)
        levels, size_now = _levels(fewer, step)
        if size_now <= room:
            return levels, {"n": len(fewer), "merged": merged, "step": step}
    return np.zeros(0, int), {}


def _levels(values: np.ndarray, step: float) -> tuple[np.ndarray, int]:
    """Differences along the rows of levels, and the characters that they take."""
    levels = np.rint(values / step).astype(int)
    differences = np.diff(levels, axis=1, prepend=0)
    return differences, len(packed({}, [differences]))


def smaller(values: np.ndarray, merged: int) -> np.ndarray:
    """Return the means over blocks of so many rows and columns of a square matrix."""
    starts = np.arange(0, len(values), merged)
    sums = np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1)
    sizes = np.diff(starts, append=len(values))
    return sums / np.outer(sizes, sizes)
