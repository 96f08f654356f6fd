"""Tokens of a predictor's arrays, and what may say which residues of a model they are of."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from toporank.programs.program import PredictorOutput
from toporank.structures.complex import STANDARD, Complex

NUCLEOTIDES = {"A", "C", "G", "U", "DA", "DC", "DG", "DT"}
LETTERS = string.ascii_uppercase
"""What AlphaFold 3.0.0 and 3.0.1 call the first chains of tokens, whatever they are called."""
MOST_NAMED = 6
"""Chains in a message."""
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


class Placed(NamedTuple):
    """Where the residues of a model are in its predictor's arrays.

    Attributes
    ----------
    token : of each residue its first token, -1 for none; int, shape (R,); None where no array has
        tokens
    plddt : of each residue by the predictor's files, 0 to 100, shape (R,), nan where unknown; None
        without any
    chains : of each chain of the predictor, in its order, the name in the model; None where only
        the order tells
    names : what the predictor calls a chain → the name in the model
    in_order : whether the predictor's chains are known to be in the order of the model
    """

    token: np.ndarray | None = None
    plddt: np.ndarray | None = None
    chains: list[str] | None = None
    names: Mapping[str, str] = MappingProxyType({})
    in_order: bool = False


def n_tokens(output: PredictorOutput) -> int:
    """Return the number of tokens of PAE or, without it, of pLDDT; 0 without either."""
    values = output.plddt if output.pae is None else output.pae
    return 0 if values is None else len(values)


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


def agree(plddt: np.ndarray | None, b_factors: np.ndarray | None) -> bool | None:
    """Whether pLDDT is that of the B factors; None where they cannot be compared."""
    if plddt is None or b_factors is None:
        return None
    if len(np.unique(b_factors[~np.isnan(b_factors)])) < 2:
        return None
    return differing(plddt, b_factors) <= MOST_DIFFERING


def described(complex_: Complex) -> str:
    """Return what the model has, such as `790 protein residues and 3 others`."""
    n_protein = int(np.count_nonzero(complex_.is_protein))
    n_others = len(complex_.is_protein) - n_protein
    text = f"{n_protein} protein residue{'s' * (n_protein != 1)}"
    return f"{text} and {n_others} other{'s' * (n_others != 1)}" if n_others else text


def other_atoms(complex_: Complex, output: PredictorOutput) -> str:
    """Say that a file has pLDDT of more or fewer atoms than the model; empty where it has not."""
    n_atoms = len(complex_.without_hydrogens().xyz)
    if output.atom_plddt is None or len(output.atom_plddt) == n_atoms:
        return ""
    n_of_file = len(output.atom_plddt)
    return f"{output.plddt_file} has pLDDT of {n_of_file} atoms, but the model has {n_atoms}"


def run_names(names: Sequence[str] | None) -> list[str]:
    """Each name that follows itself, once."""
    return [name for name, _ in itertools.groupby([] if names is None else names)]


def layouts(complex_: Complex) -> Iterator[np.ndarray]:
    """Tokens of each residue, shape (R,), in the ways that predictors count them.

    There is one, or one for each heavy atom of a residue that is not standard; or others than
    protein have none.
    """
    atoms = np.diff(complex_.without_hydrogens().atom_slices)
    standard = np.isin(complex_.names, [*STANDARD, *NUCLEOTIDES])
    yield np.ones_like(atoms)
    yield np.where(standard, 1, atoms)
    yield np.where(complex_.is_protein, 1, 0)


def first_tokens(sizes: np.ndarray) -> np.ndarray:
    """The first token of each residue, -1 for none. sizes : tokens of each residue."""
    return np.where(sizes > 0, np.cumsum(sizes) - sizes, -1)


def only_least(errors: np.ndarray) -> int | None:
    """The place of the least of several mean errors; None where others are as small."""
    best = int(errors.argmin())
    return best if np.count_nonzero(errors <= errors[best] + SAME_MEAN) == 1 else None
