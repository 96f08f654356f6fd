"""Which rows of a predictor's arrays are those of protein residues, where there are more rows than residues."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from toporank.errors import ConfidenceError
from toporank.inputs.confidence.readers import PredictorOutput
from toporank.structures.complex import Complex

ALIKE = 1.0
"""Largest difference of two pLDDT of a residue that are the same but for rounding, such as 0.97 and 97.4."""
MOST_DIFFERING = 0.1
"""Largest share of residues that differ by more. Over 21 models of ColabFold and AlphaPulldown it is 0, with their
chains in another order 0.5 or more."""
SAME_MEAN = 0.01
"""Difference of two mean differences of pLDDT that are the same but for rounding."""
WHOSE_FILES = "were these files written for this model?"


def differing(of_file: np.ndarray, of_model: np.ndarray) -> float:
    """The share of residues whose pLDDT in a file and in the B factors of the model differ, 0 where B factors do not.

    Residues whose pLDDT is not known in both do not count. of_file, of_model : shape (R,), 0 to 100.
    """
    both = ~(np.isnan(of_file) | np.isnan(of_model))
    if not both.any() or not np.ptp(of_model[both]) > 0:
        return 0.0
    return float((np.abs(of_file - of_model)[both] > ALIKE).mean())


def described(complex_: Complex) -> str:
    """What the model has, such as `790 protein residues and 3 others`."""
    n_protein, n_others = (int(np.count_nonzero(complex_.is_protein == protein)) for protein in (True, False))
    counted = f"{n_protein} protein residue{'s' * (n_protein != 1)}"
    return f"{counted} and {n_others} other{'s' * (n_others != 1)}" if n_others else counted


def rows_by_numbers(complex_: Complex, output: PredictorOutput, n: int, b_factors: np.ndarray | None) -> np.ndarray:
    """The token of each protein residue where there are more tokens than residues; int, shape (R,).

    A residue X has a row and no atoms: numbers that are left out say where. Rows at the ends of chains, and those that
    a model of fixed length appends, are recognised by pLDDT, or because they all hold one number. Raises
    ConfidenceError when the residues could be in several places, or in none.
    """
    protein = np.flatnonzero(complex_.is_protein)
    of_model = None if b_factors is None or np.isnan(b_factors[protein]).any() else b_factors[protein]
    of_file = output.plddt if output.plddt is not None and len(output.plddt) == n else None
    comparable = of_model is not None and of_file is not None and len(protein) > 0 and np.ptp(of_model) > 0
    of_chains = [chains for chains in _numbered(complex_, protein) if chains.n_rows <= n]
    rows = [where for chains in of_chains if (where := _where_numbers_say(chains, n)) is not None]
    if comparable:
        rows = [where for where in rows if not differing(of_file[where], of_model)]
        rows = rows or _where_alike(of_chains, of_file, of_model)
    elif output.pae is not None:
        padded = [chains for chains in of_chains if _padded(output.pae, chains.n_rows)]
        rows += [chains.rows([0] * len(chains.offsets)) for chains in padded]
    if len({where.tobytes() for where in rows}) != 1:
        what = f"the predictor's files describe {n} tokens, but the model has {described(complex_)}"
        raise ConfidenceError(what, remedy=WHOSE_FILES)
    token = np.full(len(complex_.residues), -1)
    token[protein] = rows[0]
    return token


class _Numbered(NamedTuple):
    """Protein chains with rows that their numbers say.

    Attributes
    ----------
    offsets : of each chain the rows of its residues, from that of the first residue on; int
    first_numbers : the number of its first residue
    """

    offsets: list[np.ndarray]
    first_numbers: list[int]

    @property
    def spans(self) -> list[range]:
        """The rows of each chain, where no row stands before, between and behind them."""
        stops = np.cumsum([offsets[-1] + 1 for offsets in self.offsets]).tolist()
        return [range(start, stop) for start, stop in zip([0, *stops], stops, strict=False)]

    @property
    def n_rows(self) -> int:
        """The number of rows of all chains."""
        return self.spans[-1].stop if self.offsets else 0

    def rows(self, shifts: Sequence[int]) -> np.ndarray:
        """The rows of all residues where the chains begin so much later."""
        starts = [span.start + shift for span, shift in zip(self.spans, shifts, strict=True)]
        return np.concatenate([start + offsets for start, offsets in zip(starts, self.offsets, strict=True)])


def _numbered(complex_: Complex, protein: np.ndarray) -> list[_Numbered]:
    """The chains with a row for each number that is left out and, if any number is, without such rows."""
    of_chains: list[np.ndarray] = []
    for _, same in groupby(protein.tolist(), key=lambda residue: complex_.residues[residue].chain):
        of_chains.append(np.array([complex_.residues[residue].number for residue in same]))
    first = [int(numbers[0]) for numbers in of_chains]
    with_gaps = _Numbered([numbers - numbers[0] for numbers in of_chains], first)
    without = _Numbered([np.arange(len(numbers)) for numbers in of_chains], first)
    if any((np.diff(numbers) < 1).any() for numbers in of_chains):
        return [without]
    return [with_gaps, without] if with_gaps.spans != without.spans else [without]


def _where_numbers_say(chains: _Numbered, n: int) -> np.ndarray | None:
    """The rows of the residues where numbers fill all n rows, from the first residue of a chain or from 1 on."""
    if chains.n_rows == n:
        return chains.rows([0] * len(chains.offsets))
    before = [number - 1 for number in chains.first_numbers]
    if min(before, default=-1) >= 0 and sum(before) == n - chains.n_rows:
        return chains.rows(np.cumsum(before).tolist())
    return None


def _where_alike(of_chains: list[_Numbered], of_file: np.ndarray, of_model: np.ndarray) -> list[np.ndarray]:
    """The rows of the residues where pLDDT is that of the B factors; none where no place, or more than one, fits.

    of_chains : with and without rows for numbers that are left out. of_file : pLDDT of rows. of_model : of residues.
    """
    found = [rows for chains in of_chains if (rows := _alike(chains, of_file, of_model)) is not None]
    errors = np.array([np.abs(of_file[rows] - of_model).mean() for rows in found])
    return [rows for rows, error in zip(found, errors, strict=True) if error <= errors.min() + SAME_MEAN]


def _alike(chains: _Numbered, of_file: np.ndarray, of_model: np.ndarray) -> np.ndarray | None:
    """The rows where pLDDT of each chain is most alike; None where that is not alike, or so in several places."""
    shifts: list[int] = []
    sizes = [len(offsets) for offsets in chains.offsets]
    of_each = np.split(of_model, np.cumsum(sizes)[:-1])
    for span, offsets, b_factors in zip(chains.spans, chains.offsets, of_each, strict=True):
        starts = span.start + np.arange(len(of_file) - chains.n_rows + 1)
        errors = np.abs(of_file[starts[:, None] + offsets] - b_factors)
        means = errors.mean(axis=1)
        best = int(means.argmin())
        several = np.count_nonzero(means <= means[best] + SAME_MEAN) > 1
        if several or (errors[best] > ALIKE).any():
            return None
        shifts.append(best)
    return chains.rows(shifts) if shifts == sorted(shifts) else None


def _padded(pae: np.ndarray, n_rows: int) -> bool:
    """Whether further rows and columns of PAE hold one number, and no others do: so models of fixed length append."""
    further = np.concatenate([pae[n_rows:].ravel(), pae[:, n_rows:].ravel()])
    return len(further) > 0 and np.ptp(further) == 0 and np.ptp(pae[:n_rows, :n_rows]) > 0
