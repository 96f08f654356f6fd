"""Tokens that are in the order of the model's file, as many as its residues need or more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from toporank.confidence.tokens import (
    ALIKE,
    SAME_MEAN,
    WHOSE_FILES,
    described,
    differing,
    first_tokens,
    layouts,
    only_least,
)
from toporank.errors import ConfidenceError
from toporank.programs.program import PredictorOutput
from toporank.structures.complex import Complex


def by_order(complex_: Complex, n: int) -> np.ndarray | None:
    """The first of n tokens of each residue in the order of the file; None where n does not fit."""
    for sizes in layouts(complex_):
        if sizes.sum() == n:
            return first_tokens(sizes)
    return None


class _Layout(NamedTuple):
    """Rows of protein residues where each chain begins behind the one before.

    chains : the rows of each chain, int. n_rows : of all chains.
    """

    chains: list[np.ndarray]
    n_rows: int

    @classmethod
    def of(cls, offsets: list[np.ndarray]) -> _Layout:
        """Chains one behind the other. offsets : rows of each chain from its first one on."""
        sizes = [int(of_chain[-1]) + 1 for of_chain in offsets]
        starts = np.cumsum([0, *sizes])
        chains = [rows + start for rows, start in zip(offsets, starts, strict=False)]
        return cls(chains=chains, n_rows=int(starts[-1]))

    def shifted(self, shifts: np.ndarray) -> np.ndarray:
        """Return the rows of all residues where the chains begin so much later."""
        pairs = zip(self.chains, shifts, strict=True)
        return np.concatenate([rows + shift for rows, shift in pairs])


def by_numbers(
    complex_: Complex,
    output: PredictorOutput,
    n_rows: int,
    b_factors: np.ndarray | None,
) -> np.ndarray:
    """The row of each protein residue, -1 for others, where there are more rows than residues.

    A residue X has a row and no atoms: numbers that are left out say where. Rows at the ends of
    chains, and those that a model of fixed length appends, are recognised by pLDDT, or because they
    all hold one number. Raises ConfidenceError when the residues could be in several places, or in
    none.
    """
    protein = np.flatnonzero(complex_.is_protein)
    chain_of = complex_.chain_of[protein]
    starts = np.flatnonzero(chain_of[1:] != chain_of[:-1]) + 1
    numbers = np.split(complex_.numbers[protein], starts) if len(protein) else []
    # a chain without rows for numbers that are left out, and with them where numbers rise
    possible = [_Layout.of([np.arange(len(of_chain)) for of_chain in numbers])]
    if all((np.diff(of_chain) > 0).all() for of_chain in numbers):
        possible.append(_Layout.of([each - each[0] for each in numbers]))
    possible = [layout for layout in possible if layout.n_rows <= n_rows]
    # residues with numbers from 1 upwards that stand before each chain
    before = [int(of_chain[0]) - 1 for of_chain in numbers]
    candidates = []
    for layout in possible:
        if layout.n_rows == n_rows:
            candidates.append(np.concatenate(layout.chains))
        elif min(before, default=-1) >= 0 and sum(before) == n_rows - layout.n_rows:
            candidates.append(layout.shifted(np.cumsum(before)))
    of_file = output.plddt
    if of_file is not None and len(of_file) != n_rows:
        of_file = None
    of_model = None if b_factors is None or not len(protein) else b_factors[protein]
    if of_file is not None and of_model is not None and np.ptp(of_model) > 0:
        fitting = [
            rows for rows in candidates if not differing(of_file[rows], of_model)
        ]
        candidates = fitting or _rows_of_like_plddt(possible, of_file, of_model)
    elif output.pae is not None and len(protein):
        for layout in possible:
            if _is_padded(output.pae, layout.n_rows):
                candidates.append(np.concatenate(layout.chains))
    if len({rows.tobytes() for rows in candidates}) != 1:
        what = (
            f"the predictor's files describe {n_rows} tokens, but the model has "
            f"{described(complex_)}"
        )
        raise ConfidenceError(what, remedy=WHOSE_FILES)
    token = np.full(len(complex_.residues), -1)
    token[protein] = candidates[0]
    return token


def _rows_of_like_plddt(
    possible: list[_Layout], of_file: np.ndarray, of_model: np.ndarray
) -> list[np.ndarray]:
    """The rows of the residues where pLDDT is that of the B factors.

    of_file : pLDDT of rows. of_model : of residues.
    """
    candidates = []
    for layout in possible:
        rows = _most_alike(layout, of_file, of_model)
        if rows is not None:
            candidates.append((np.abs(of_file[rows] - of_model).mean(), rows))
    least = min((error for error, _ in candidates), default=0.0)
    return [rows for error, rows in candidates if error <= least + SAME_MEAN]


def _most_alike(
    layout: _Layout, of_file: np.ndarray, of_model: np.ndarray
) -> np.ndarray | None:
    """The rows where pLDDT of each chain is most alike.

    None where that is not alike, or so in several places.
    """
    shifts: list[int] = []
    possible_shifts = np.arange(len(of_file) - layout.n_rows + 1)
    ends = np.cumsum([len(rows) for rows in layout.chains])
    of_chains = np.split(of_model, ends[:-1])
    for rows, of_chain in zip(layout.chains, of_chains, strict=True):
        errors = np.abs(of_file[rows + possible_shifts[:, None]] - of_chain)
        best = only_least(errors.mean(axis=1))
        if best is None or (errors[best] > ALIKE).any():
            return None
        shifts.append(best)
    return layout.shifted(np.array(shifts)) if shifts == sorted(shifts) else None


def _is_padded(pae: np.ndarray, n_rows: int) -> bool:
    """Whether just the further rows and columns of PAE hold one number.

    Models of fixed length append such rows.
    """
    further = np.concatenate([pae[n_rows:].ravel(), pae[:, n_rows:].ravel()])
    return (
        len(further) > 0 and np.ptp(further) == 0 and np.ptp(pae[:n_rows, :n_rows]) > 0
    )
