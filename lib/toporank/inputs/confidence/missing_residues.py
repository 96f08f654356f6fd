"""Which rows of a predictor's arrays are those of protein residues, where there are more rows than
residues.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

from toporank.errors import ConfidenceError
from toporank.inputs.confidence.readers import PredictorOutput
from toporank.structures.complex import Complex

ALIKE = 1.0
"""Largest difference of two pLDDT of a residue that are the same but for rounding, such as 0.97 and
97.4.
"""
MOST_DIFFERING = 0.1
"""Largest share of residues that differ by more. Over 21 models of ColabFold and AlphaPulldown it
is 0, with their chains in another order 0.5 or more.
"""
SAME_MEAN = 0.01
"""Difference of two mean differences of pLDDT that are the same but for rounding."""
WHOSE_FILES = "were these files written for this model?"


def differing(of_file: np.ndarray, of_model: np.ndarray) -> float:
    """Return the share of residues whose pLDDT in a file and in the B factors of the model differ.

    It is 0 where all B factors are the same. Residues whose pLDDT is not known in both do not
    count. of_file, of_model : shape (R,), 0 to 100.
    """
    both = ~(np.isnan(of_file) | np.isnan(of_model))
    if not both.any() or not np.ptp(of_model[both]) > 0:
        return 0.0
    return float((np.abs(of_file - of_model)[both] > ALIKE).mean())


def described(complex_: Complex) -> str:
    """Say what the model has, such as `790 protein residues and 3 others`."""
    n_protein = int(np.count_nonzero(complex_.is_protein))
    n_others = len(complex_.is_protein) - n_protein
    text = f"{n_protein} protein residue{'s' * (n_protein != 1)}"
    return f"{text} and {n_others} other{'s' * (n_others != 1)}" if n_others else text


def rows_by_numbers(
    complex_: Complex, output: PredictorOutput, n_rows: int, b_factors: np.ndarray | None
) -> np.ndarray:
    """Return the row of each protein residue where there are more rows than residues; int, shape
    (R,), -1 for none.

    A residue X has a row and no atoms: numbers that are left out say where. Rows at the ends of
    chains, and those that a model of fixed length appends, are recognised by pLDDT, or because they
    all hold one number. Raises ConfidenceError when the residues could be in several places, or in
    none.
    """
    protein = np.flatnonzero(complex_.is_protein)
    layouts = [chains for chains in _layouts(complex_, protein) if chains.n_rows <= n_rows]
    candidates = [chains.rows_that_numbers_say(n_rows) for chains in layouts]
    candidates = [rows for rows in candidates if rows is not None]
    of_file = output.plddt if output.plddt is not None and len(output.plddt) == n_rows else None
    of_model = None if b_factors is None else b_factors[protein]
    comparable = (
        of_file is not None
        and of_model is not None
        and len(protein) > 0
        and not np.isnan(of_model).any()
        and np.ptp(of_model) > 0
    )
    if comparable:
        candidates = [rows for rows in candidates if not differing(of_file[rows], of_model)]
        candidates = candidates or _rows_of_like_plddt(layouts, of_file, of_model)
    elif output.pae is not None and len(protein):
        candidates += [
            chains.rows_from_first() for chains in layouts if _is_padded(output.pae, chains.n_rows)
        ]
    if len({rows.tobytes() for rows in candidates}) != 1:
        what = (
            f"the predictor's files describe {n_rows} tokens, but the model has "
            f"{described(complex_)}"
        )
        raise ConfidenceError(what, remedy=WHOSE_FILES)
    token = np.full(len(complex_.residues), -1)
    token[protein] = candidates[0]
    return token


class _Chains:
    """Protein chains, each with the rows of its residues from that of its first residue on.

    Parameters
    ----------
    offsets : of each chain, int
    first_numbers : of each chain, the number of its first residue
    """

    def __init__(self, offsets: list[np.ndarray], first_numbers: list[int]):
        self.offsets = offsets
        self.first_numbers = first_numbers
        self.sizes = [int(of_chain[-1]) + 1 for of_chain in offsets]
        self.starts = [0, *np.cumsum(self.sizes).tolist()][: len(offsets)]
        self.n_rows = sum(self.sizes)

    def rows(self, shifts: list[int]) -> np.ndarray:
        """The rows of all residues where the chains begin so much later."""
        rows = []
        for start, shift, offsets in zip(self.starts, shifts, self.offsets, strict=True):
            rows.append(start + shift + offsets)
        return np.concatenate(rows)

    def rows_from_first(self) -> np.ndarray:
        """The rows of all residues where no row stands before a chain."""
        return self.rows([0] * len(self.offsets))

    def rows_that_numbers_say(self, n_rows: int) -> np.ndarray | None:
        """The rows where numbers fill all n rows, from the first residue of a chain or from 1 on;
        None elsewhere.
        """
        if self.n_rows == n_rows:
            return self.rows_from_first()
        before = [number - 1 for number in self.first_numbers]
        if min(before, default=-1) >= 0 and sum(before) == n_rows - self.n_rows:
            return self.rows(np.cumsum(before).tolist())
        return None


def _layouts(complex_: Complex, protein: np.ndarray) -> list[_Chains]:
    """The chains with a row for each number that is left out and, if any number is, without such
    rows.
    """
    numbers_of_chains = []
    for _, residues in groupby(
        protein.tolist(), key=lambda residue: complex_.residues[residue].chain
    ):
        numbers_of_chains.append(
            np.array([complex_.residues[residue].number for residue in residues])
        )
    first_numbers = [int(numbers[0]) for numbers in numbers_of_chains]
    without_gaps = _Chains(
        [np.arange(len(numbers)) for numbers in numbers_of_chains], first_numbers
    )
    if any((np.diff(numbers) < 1).any() for numbers in numbers_of_chains):
        return [without_gaps]
    with_gaps = _Chains([numbers - numbers[0] for numbers in numbers_of_chains], first_numbers)
    return [without_gaps] if with_gaps.sizes == without_gaps.sizes else [with_gaps, without_gaps]


def _rows_of_like_plddt(
    layouts: list[_Chains], of_file: np.ndarray, of_model: np.ndarray
) -> list[np.ndarray]:
    """The rows of the residues where pLDDT is that of the B factors; none where no place, or more
    than one, fits.

    of_file : pLDDT of rows. of_model : of residues.
    """
    candidates = [_most_alike(chains, of_file, of_model) for chains in layouts]
    candidates = [rows for rows in candidates if rows is not None]
    errors = [np.abs(of_file[rows] - of_model).mean() for rows in candidates]
    least = min(errors, default=0.0)
    return [
        rows for rows, error in zip(candidates, errors, strict=True) if error <= least + SAME_MEAN
    ]


def _most_alike(chains: _Chains, of_file: np.ndarray, of_model: np.ndarray) -> np.ndarray | None:
    """The rows where pLDDT of each chain is most alike; None where that is not alike, or so in
    several places.
    """
    shifts: list[int] = []
    first = 0
    for start, offsets in zip(chains.starts, chains.offsets, strict=True):
        of_chain = of_model[first : first + len(offsets)]
        first += len(offsets)
        starts = start + np.arange(len(of_file) - chains.n_rows + 1)
        errors = np.abs(of_file[starts[:, None] + offsets] - of_chain)
        means = errors.mean(axis=1)
        best = int(means.argmin())
        several = np.count_nonzero(means <= means[best] + SAME_MEAN) > 1
        if several or (errors[best] > ALIKE).any():
            return None
        shifts.append(best)
    return chains.rows(shifts) if shifts == sorted(shifts) else None


def _is_padded(pae: np.ndarray, n_rows: int) -> bool:
    """Whether further rows and columns of PAE hold one number, and no others do: so models of fixed
    length append.
    """
    further = np.concatenate([pae[n_rows:].ravel(), pae[:, n_rows:].ravel()])
    return len(further) > 0 and np.ptp(further) == 0 and np.ptp(pae[:n_rows, :n_rows]) > 0
