"""Which rows of a predictor's arrays are those of protein residues.

There may be more rows than residues.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from toporank.errors import ConfidenceError
from toporank.programs.program import PredictorOutput
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
    count.

    Parameters
    ----------
    of_file, of_model : shape (R,), 0 to 100
    """
    both = ~(np.isnan(of_file) | np.isnan(of_model))
    if not both.any() or not np.ptp(of_model[both]) > 0:
        return 0.0
    return float((np.abs(of_file - of_model)[both] > ALIKE).mean())


def described(complex_: Complex) -> str:
    """Return what the model has, such as `790 protein residues and 3 others`."""
    n_protein = int(np.count_nonzero(complex_.is_protein))
    n_others = len(complex_.is_protein) - n_protein
    text = f"{n_protein} protein residue{'s' * (n_protein != 1)}"
    return f"{text} and {n_others} other{'s' * (n_others != 1)}" if n_others else text


def rows_by_numbers(
    complex_: Complex,
    output: PredictorOutput,
    n_rows: int,
    b_factors: np.ndarray | None,
) -> np.ndarray:
    """Return the row of each protein residue where there are more rows than residues.

    A residue X has a row and no atoms: numbers that are left out say where. Rows at the ends of
    chains, and those that a model of fixed length appends, are recognised by pLDDT, or because they
    all hold one number.

    Parameters
    ----------
    complex_ : the model, with R residues
    output : what its predictor says
    n_rows : of the predictor's arrays
    b_factors : of each residue, where they are pLDDT, shape (R,)

    Returns
    -------
    int, shape (R,), -1 for other residues

    Raises
    ------
    ConfidenceError
        when the residues could be in several places, or in none
    """
    protein = np.flatnonzero(complex_.is_protein)
    layouts = [
        layout for layout in _layouts(complex_, protein) if layout.n_rows <= n_rows
    ]
    candidates = []
    for layout in layouts:
        candidates += _rows_that_numbers_say(layout, n_rows)
    of_file = (
        output.plddt
        if output.plddt is not None and len(output.plddt) == n_rows
        else None
    )
    of_model = None if b_factors is None or not len(protein) else b_factors[protein]
    if of_file is not None and of_model is not None and np.ptp(of_model) > 0:
        fitting = [
            rows for rows in candidates if not differing(of_file[rows], of_model)
        ]
        candidates = fitting or _rows_of_like_plddt(layouts, of_file, of_model)
    elif output.pae is not None and len(protein):
        for layout in layouts:
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


class _Layout(NamedTuple):
    """Rows of protein residues where each chain begins behind the one before.

    chains : the rows of each chain, int. before : residues that have numbers from 1 upwards and
    stand before each chain. n_rows : of all chains.
    """

    chains: list[np.ndarray]
    before: list[int]
    n_rows: int

    def shifted(self, shifts: list[int]) -> np.ndarray:
        """Return the rows of all residues where the chains begin so much later."""
        pairs = zip(self.chains, shifts, strict=True)
        return np.concatenate([rows + shift for rows, shift in pairs])


def _layouts(complex_: Complex, protein: np.ndarray) -> list[_Layout]:
    """Return the chains without a row for numbers that are left out.

    Where numbers rise, these chains have such rows.
    """
    chain_of = complex_.chain_of[protein]
    starts = np.flatnonzero(chain_of[1:] != chain_of[:-1]) + 1
    numbers = np.split(complex_.numbers[protein], starts) if len(protein) else []
    by_place = []
    by_number = []
    before = []
    rising = True
    for of_chain in numbers:
        by_place.append(np.arange(len(of_chain)))
        by_number.append(of_chain - of_chain[0])
        before.append(int(of_chain[0]) - 1)
        rising = rising and (np.diff(of_chain) > 0).all()
    layouts = [_layout(by_place, before)]
    if rising:
        layouts.append(_layout(by_number, before))
    return layouts


def _layout(offsets: list[np.ndarray], before: list[int]) -> _Layout:
    """The chains one behind the other. offsets : rows of each chain from its first one on."""
    chains = []
    n_rows = 0
    for of_chain in offsets:
        chains.append(n_rows + of_chain)
        n_rows += int(of_chain[-1]) + 1
    return _Layout(chains=chains, before=before, n_rows=n_rows)


def _rows_that_numbers_say(layout: _Layout, n_rows: int) -> list[np.ndarray]:
    """The rows where numbers fill all n rows, from a chain's first residue or from 1 upwards."""
    if layout.n_rows == n_rows:
        return [np.concatenate(layout.chains)]
    before = layout.before
    if min(before, default=-1) >= 0 and sum(before) == n_rows - layout.n_rows:
        return [layout.shifted(np.cumsum(before).tolist())]
    return []


def _rows_of_like_plddt(
    layouts: list[_Layout], of_file: np.ndarray, of_model: np.ndarray
) -> list[np.ndarray]:
    """The rows of the residues where pLDDT is that of the B factors.

    of_file : pLDDT of rows. of_model : of residues.
    """
    candidates = []
    errors = []
    for layout in layouts:
        rows = _most_alike(layout, of_file, of_model)
        if rows is not None:
            candidates.append(rows)
            errors.append(np.abs(of_file[rows] - of_model).mean())
    largest = min(errors, default=0.0) + SAME_MEAN
    return [
        rows for rows, error in zip(candidates, errors, strict=True) if error <= largest
    ]


def _most_alike(
    layout: _Layout, of_file: np.ndarray, of_model: np.ndarray
) -> np.ndarray | None:
    """The rows where pLDDT of each chain is most alike.

    None where that is not alike, or so in several places.
    """
    shifts: list[int] = []
    possible_shifts = np.arange(len(of_file) - layout.n_rows + 1)
    ends = np.cumsum(list(map(len, layout.chains)))
    for rows, of_chain in zip(
        layout.chains, np.split(of_model, ends[:-1]), strict=True
    ):
        errors = np.abs(of_file[rows + possible_shifts[:, None]] - of_chain)
        means = errors.mean(axis=1)
        best = int(means.argmin())
        several = np.count_nonzero(means <= means[best] + SAME_MEAN) > 1
        if several or (errors[best] > ALIKE).any():
            return None
        shifts.append(best)
    return layout.shifted(shifts) if shifts == sorted(shifts) else None


def _is_padded(pae: np.ndarray, n_rows: int) -> bool:
    """Whether just the further rows and columns of PAE hold one number.

    Models of fixed length append such rows.
    """
    further = np.concatenate([pae[n_rows:].ravel(), pae[:, n_rows:].ravel()])
    return (
        len(further) > 0 and np.ptp(further) == 0 and np.ptp(pae[:n_rows, :n_rows]) > 0
    )


def longest_run(places: np.ndarray) -> np.ndarray:
    """Return where the longest stretch of tokens is that follow one another, int."""
    starts = np.flatnonzero(np.diff(places) != 1) + 1
    runs = np.split(np.arange(len(places)), starts)
    return max(runs, key=len)


def atoms_before(
    of_file: np.ndarray, sizes: np.ndarray, of_model: np.ndarray
) -> int | None:
    """Return how many atoms of a chain stand in its file before residues that follow one another.

    None where no place has their pLDDT, or several have.

    Parameters
    ----------
    of_file : pLDDT of the atoms of the chain, 0 to 100, shape (A,)
    sizes : heavy atoms of each of the residues, shape (R,)
    of_model : B factor of each of them, 0 to 100, shape (R,)
    """
    n_places = len(of_file) - sizes.sum() + 1
    if n_places < 1 or np.isnan(of_model).any() or not np.ptp(of_model):
        return None
    sums = np.concatenate([[0.0], np.cumsum(of_file, dtype=float)])
    ends = np.cumsum(sizes)
    starts = ends - sizes
    errors = np.empty(n_places)
    shares = np.empty(n_places)
    for place in range(n_places):
        means = (sums[ends + place] - sums[starts + place]) / sizes
        apart = np.abs(means - of_model)
        errors[place] = apart.mean()
        shares[place] = (apart > ALIKE).mean()
    best = int(errors.argmin())
    several = np.count_nonzero(errors <= errors[best] + SAME_MEAN) > 1
    return None if several or shares[best] > MOST_DIFFERING else best
