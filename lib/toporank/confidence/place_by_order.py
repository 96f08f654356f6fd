"""Tokens that are in the order of the model's file, as many as its residues need or more."""

from __future__ import annotations

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
    numbers = complex_.numbers[protein]
    is_first = np.ones(len(protein), bool)
    is_first[1:] = chain_of[1:] != chain_of[:-1]
    chain = np.cumsum(is_first) - 1
    possible = _possible_rows(numbers, is_first, n_rows)
    # residues with numbers from 1 upwards that stand before each chain
    before = numbers[is_first] - 1
    candidates = []
    for rows in possible:
        n_others = n_rows - _n_rows(rows)
        if n_others == 0:
            candidates.append(rows)
        elif (before >= 0).all() and before.sum() == n_others:
            candidates.append(rows + np.cumsum(before)[chain])
    of_file = output.plddt
    if of_file is not None and len(of_file) != n_rows:
        of_file = None
    of_model = None if b_factors is None or not len(protein) else b_factors[protein]
    if of_file is not None and of_model is not None and np.ptp(of_model) > 0:
        candidates = _of_like_plddt(candidates, of_file, of_model)
        if not candidates:
            candidates = _shifted_to_plddt(possible, chain, of_file, of_model)
    elif output.pae is not None and len(protein):
        for rows in possible:
            if _is_padded(output.pae, _n_rows(rows)):
                candidates.append(rows)
    different = {rows.tobytes() for rows in candidates}
    if len(different) != 1:
        what = (
            f"the predictor's files describe {n_rows} tokens, but the model has "
            f"{described(complex_)}"
        )
        raise ConfidenceError(what, remedy=WHOSE_FILES)
    token = np.full(len(complex_.residues), -1)
    token[protein] = candidates[0]
    return token


def _possible_rows(
    numbers: np.ndarray, is_first: np.ndarray, n_rows: int
) -> list[np.ndarray]:
    """Rows of residues, int, shape (R,), where each chain begins behind the one before.

    Without rows for numbers that are left out and, where numbers rise in all chains, with them.

    is_first : whether a residue is the first of its chain. n_rows : at most
    """
    steps = np.where(is_first, 1, np.diff(numbers, prepend=0))
    possible = [np.arange(len(numbers))]
    if (steps > 0).all():
        possible.append(np.cumsum(steps) - 1)
    return [rows for rows in possible if _n_rows(rows) <= n_rows]


def _n_rows(rows: np.ndarray) -> int:
    """How many rows all chains together take."""
    return int(rows.max(initial=-1)) + 1


def _of_like_plddt(
    candidates: list[np.ndarray], of_file: np.ndarray, of_model: np.ndarray
) -> list[np.ndarray]:
    """The candidates by which pLDDT of the rows is that of the residues."""
    return [rows for rows in candidates if not differing(of_file[rows], of_model)]


def _shifted_to_plddt(
    possible: list[np.ndarray],
    chain: np.ndarray,
    of_file: np.ndarray,
    of_model: np.ndarray,
) -> list[np.ndarray]:
    """Rows with each chain where pLDDT is most alike, if it is so nowhere else.

    chain : the place of that of each residue. of_file : pLDDT of rows. of_model : of residues.
    """
    candidates = []
    errors = []
    for rows in possible:
        shifts = _shifts_of_chains(rows, chain, of_file, of_model)
        if shifts is not None:
            shifted = rows + shifts[chain]
            candidates.append(shifted)
            errors.append(np.abs(of_file[shifted] - of_model).mean())
    is_best = np.array(errors) <= min(errors, default=0.0) + SAME_MEAN
    return [candidates[place] for place in np.flatnonzero(is_best)]


def _shifts_of_chains(
    rows: np.ndarray, chain: np.ndarray, of_file: np.ndarray, of_model: np.ndarray
) -> np.ndarray | None:
    """How much later each chain has to begin for pLDDT to be most alike.

    None where that is not alike, or so in several places, or chains would change their order.
    """
    possible_shifts = np.arange(len(of_file) - _n_rows(rows) + 1)
    shifts: list[int] = []
    for place in range(chain[-1] + 1):
        of_chain = chain == place
        shifted = rows[of_chain] + possible_shifts[:, None]
        errors = np.abs(of_file[shifted] - of_model[of_chain])
        best = only_least(errors.mean(axis=1))
        if best is None or (errors[best] > ALIKE).any():
            return None
        shifts.append(best)
    return np.array(shifts) if shifts == sorted(shifts) else None


def _is_padded(pae: np.ndarray, n_rows: int) -> bool:
    """Whether just the further rows and columns of PAE hold one number.

    Models of fixed length append such rows.
    """
    further = np.concatenate([pae[n_rows:].ravel(), pae[:, n_rows:].ravel()])
    return (
        len(further) > 0 and np.ptp(further) == 0 and np.ptp(pae[:n_rows, :n_rows]) > 0
    )
