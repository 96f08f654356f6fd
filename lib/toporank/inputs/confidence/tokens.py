"""Which rows of a predictor's arrays are those of a residue of the model.

AlphaFold 3 names the chain and the number of each token, and the chain of each atom. Other
predictors write tokens in the order of the model's file. What the names, the numbers, the order and
pLDDT say must agree.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from toporank.errors import ConfidenceError
from toporank.inputs.confidence.missing_residues import (
    MOST_DIFFERING,
    WHOSE_FILES,
    differing,
    rows_by_numbers,
)
from toporank.inputs.confidence.readers import NO_NUMBER, PredictorOutput
from toporank.structures.complex import STANDARD, Complex

NUCLEOTIDES = {"A", "C", "G", "U", "DA", "DC", "DG", "DT"}
LETTERS = string.ascii_uppercase
"""What AlphaFold 3.0.0 and 3.0.1 call the first chains of tokens, whatever they are called."""
MOST_NAMED = 6
"""Chains in a message."""


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
    """

    token: np.ndarray | None
    plddt: np.ndarray | None
    chains: list[str] | None = None
    names: Mapping[str, str] = MappingProxyType({})


class _Chain(NamedTuple):
    """A chain of a predictor. name : in the model. tokens, atoms : its places, int; atoms None
    where not output.
    """

    name: str
    tokens: np.ndarray
    atoms: np.ndarray | None


def placed(complex_: Complex, output: PredictorOutput, b_factors: np.ndarray | None) -> Placed:
    """Where the residues of a model are in the arrays that its predictor wrote.

    Parameters
    ----------
    complex_ : the model, with R residues
    output : what the predictor says
    b_factors : of each residue, where they are pLDDT, shape (R,), nan where unknown; they tell one
        order of chains from
        another

    Raises
    ------
    ConfidenceError
        when names, numbers, order and pLDDT do not agree, so that nothing can be used
    """
    n = n_tokens(output)
    if n and output.tokens is not None:
        if len(output.tokens) != n:
            what = f"the predictor's files name {len(output.tokens)} tokens and have PAE of {n}"
            raise ConfidenceError(what, remedy="make or fetch them again")
        return _by_names(complex_, output, b_factors)
    of_atoms = None
    if output.atom_plddt is not None:
        of_atoms = _mean_of_atoms(complex_, output.atom_plddt)
    if not n:
        if of_atoms is None and output.atom_plddt is not None:
            n_atoms = len(complex_.without_hydrogens().xyz)
            what = (
                f"{output.plddt_file} has pLDDT of {len(output.atom_plddt)} atoms, but the model "
                f"has {n_atoms}"
            )
            raise ConfidenceError(what, remedy=WHOSE_FILES)
        return Placed(token=None, plddt=of_atoms)
    token = _by_order(complex_, n)
    if token is None:
        token = rows_by_numbers(
            complex_, output, n, b_factors
        )  # such as a residue X, which has a row and no atoms
    atom_names = _run_names(output.atom_chains or [])
    model_names = _run_names(_chain_names(complex_))
    if atom_names and atom_names != model_names:
        fit = _Fit(chains=[], token=token, plddt=of_atoms, whole=True)
        if not fit.agrees(b_factors):
            of_file = ", ".join(atom_names[:MOST_NAMED])
            of_model = ", ".join(dict.fromkeys(model_names))
            what = (
                f"atom_chain_ids has chains {of_file}, and the model {of_model}: it is not known "
                "which are the same"
            )
            raise ConfidenceError(what, remedy=WHOSE_FILES)
    if output.plddt is not None and len(output.plddt) == n:
        return Placed(token=token, plddt=_of_residues(output.plddt, token))
    return Placed(token=token, plddt=of_atoms)


def n_tokens(output: PredictorOutput) -> int:
    """The number of tokens of PAE or, without it, of pLDDT; 0 without either."""
    sizes = [len(values) for values in (output.pae, output.plddt) if values is not None]
    return sizes[0] if sizes else 0


def shifted_b_factors(
    complex_: Complex, token: np.ndarray, plddt: np.ndarray, b_factors: np.ndarray
) -> bool:
    """Whether B factors are pLDDT that Boltz wrote to other residues.

    Its tokens are residues, and the atoms of a modified residue or of a ligand. Its writer counts
    these otherwise than its arrays do, so that all residues behind one may have the pLDDT of an
    earlier token. The shift is the same up to the next such residue.

    Parameters
    ----------
    complex_ : the model
    token : as in `Placed`
    plddt : of each token, 0 to 100, shape (T,)
    b_factors : of each residue, shape (R,), nan where unknown
    """
    own = np.flatnonzero((token >= 0) & ~np.isnan(b_factors))
    single = np.diff(np.append(token, len(plddt))) == 1
    behind = np.cumsum(~single)[own]  # how many residues of several tokens stand before
    if (
        not behind.any()
        or differing(plddt[token[own[behind == 0]]], b_factors[own[behind == 0]]) > MOST_DIFFERING
    ):
        return False
    for part in range(1, behind.max() + 1):
        residues = own[(behind == part) & single[own]]
        if not len(residues):
            continue
        shifts = range(token[residues[0]] + 1)
        if all(
            differing(plddt[token[residues] - shift], b_factors[residues]) > MOST_DIFFERING
            for shift in shifts
        ):
            return False
    return True


def _layouts(complex_: Complex) -> Iterator[np.ndarray]:
    """Tokens of each residue, shape (R,): one; one, or one for each heavy atom of what is not
    standard; of proteins.
    """
    atoms = np.diff(complex_.without_hydrogens().atom_slices)
    standard = np.isin(complex_.names, [*STANDARD, *NUCLEOTIDES])
    yield np.ones_like(atoms)
    yield np.where(standard, 1, atoms)
    yield np.where(complex_.is_protein, 1, 0)


def _by_order(complex_: Complex, n: int) -> np.ndarray | None:
    """The first of n tokens of each residue, -1 for none, in the order of the file; None where n
    does not fit.
    """
    for sizes in _layouts(complex_):
        if sizes.sum() == n:
            return np.where(sizes > 0, np.cumsum(sizes) - sizes, -1)
    return None


def _of_residues(of_tokens: np.ndarray, token: np.ndarray) -> np.ndarray:
    """The value of the first token of each residue, nan for none; float, shape (R,)."""
    return np.where(token >= 0, of_tokens[token], np.nan).astype(float)


def _mean_of_atoms(complex_: Complex, of_atoms: np.ndarray) -> np.ndarray | None:
    """The mean over the heavy atoms of each residue, nan without any; None where there are more or
    fewer atoms.
    """
    heavy = complex_.without_hydrogens()
    if len(of_atoms) != len(heavy.xyz):
        return None
    n_residues = len(complex_.residues)
    sums = np.bincount(heavy.residue_of, weights=of_atoms, minlength=n_residues)
    with np.errstate(invalid="ignore"):
        return sums / np.bincount(heavy.residue_of, minlength=n_residues)


# ---- named tokens --------------------------------------------------------------------------------


class _Fit(NamedTuple):
    """Chains of a predictor under names of the model, with what follows for the residues of the
    model.

    chains : with their names in the model. token, plddt : as in `Placed`. whole : whether each
    token is one of a residue of the model.
    """

    chains: list[_Chain]
    token: np.ndarray
    plddt: np.ndarray | None
    whole: bool

    def agrees(self, b_factors: np.ndarray | None) -> bool | None:
        """Whether pLDDT is that of the B factors; None where they cannot be compared."""
        if (
            self.plddt is None
            or b_factors is None
            or len(np.unique(b_factors[~np.isnan(b_factors)])) < 2
        ):
            return None
        return differing(self.plddt, b_factors) <= MOST_DIFFERING


def _by_names(complex_: Complex, output: PredictorOutput, b_factors: np.ndarray | None) -> Placed:
    """As `placed`, of tokens with a chain and a number.

    AlphaFold 3.0.0 and 3.0.1 call the chains of tokens A, B and so on, whatever their names in the
    input; the names of the atoms' chains are right. People rename chains, too, put them in another
    order, and cut them.
    """
    token_names = _run_names([chain for chain, _ in output.tokens])
    atom_names = _run_names(output.atom_chains or [])
    model_names = _run_names(_chain_names(complex_))
    lettered = token_names[: len(LETTERS)] == list(LETTERS[: len(token_names)])
    named = [
        _chains_called(names, output)
        for names in (atom_names, token_names)
        if len(names) == len(token_names)
    ]
    in_order = None
    if len(model_names) == len(token_names):
        in_order = _fitted(complex_, output, _chains_in_order(model_names, output))
    fits = [_fitted(complex_, output, chains) for chains in named]
    if lettered and not output.atom_chains:
        fits.append(in_order)
    fitting = [fit for fit in fits if fit is not None]
    if not fitting:  # such as an antibody that was numbered by the scheme of IMGT
        renumbered = [_fitted(complex_, output, chains, any_numbers=True) for chains in named]
        fitting = [fit for fit in renumbered if fit is not None and fit.agrees(b_factors)]
    fitting = [fit for fit in fitting if fit.whole] or fitting
    candidates = [fit for fit in fitting if fit.agrees(b_factors) is not False]
    if not candidates and in_order is not None and in_order.agrees(b_factors):
        candidates = [in_order]
    candidates = candidates or fitting
    if (
        lettered
        and len(atom_names) == len(token_names) <= len(LETTERS)
        and atom_names == model_names
    ):
        # as AlphaFold 3.0.0 writes them: the names of the atoms' chains are right
        candidates = [fit for fit in candidates if fit.chains is named[0]] or candidates
    if len({fit.token.tobytes() for fit in candidates}) != 1:
        raise ConfidenceError(_disagreement(complex_, output), remedy=WHOSE_FILES)
    fit = candidates[0]
    in_model = [chain.name for chain in fit.chains]
    names = dict(zip(token_names, in_model, strict=True))
    if len(atom_names) == len(in_model) and set(atom_names) != set(token_names):
        names |= dict(
            zip(atom_names, in_model, strict=True)
        )  # where two lists differ, that of the atoms counts
    return Placed(token=fit.token, plddt=fit.plddt, chains=in_model, names=names)


def _chains_called(names: list[str], output: PredictorOutput) -> list[_Chain]:
    """The chains of the tokens under these names, with the atoms of the chain of this name."""
    atoms = dict(_runs(output.atom_chains or [])) if _atoms_have_plddt(output) else {}
    tokens = _runs([chain for chain, _ in output.tokens])
    chains = []
    for name, (_, places) in zip(names, tokens, strict=True):
        chains.append(_Chain(name=name, tokens=places, atoms=atoms.get(name)))
    return chains


def _chains_in_order(names: list[str], output: PredictorOutput) -> list[_Chain]:
    """The chains of the tokens under these names, with the atoms of the chain at the same place."""
    atoms = _runs(output.atom_chains or [])
    with_atoms = _atoms_have_plddt(output) and len(atoms) == len(names)
    tokens = _runs([chain for chain, _ in output.tokens])
    chains = []
    for place, name in enumerate(names):
        of_atoms = atoms[place][1] if with_atoms else None
        chains.append(_Chain(name=name, tokens=tokens[place][1], atoms=of_atoms))
    return chains


def _atoms_have_plddt(output: PredictorOutput) -> bool:
    return output.atom_plddt is not None and len(output.atom_plddt) == len(output.atom_chains or [])


def _fitted(
    complex_: Complex, output: PredictorOutput, chains: list[_Chain], *, any_numbers: bool = False
) -> _Fit | None:
    """Tokens and pLDDT of the residues where chains with these names have as many; None where they
    do not fit.

    any_numbers : as in `_tokens_of_chain`
    """
    by_name = {chain.name: chain for chain in chains}
    if len(by_name) < len(chains):
        return None
    numbers = np.array([number for _, number in output.tokens])
    n_residues = len(complex_.residues)
    token = np.full(n_residues, -1)
    plddt = np.full(n_residues, np.nan)
    heavy = complex_.without_hydrogens()
    n_atoms = np.bincount(heavy.residue_of, minlength=n_residues)
    chain_of = np.array(_chain_names(complex_))
    names = list(dict.fromkeys(chain_of.tolist()))
    whole = set(by_name) <= set(names)
    for name in names:
        residues = np.flatnonzero(chain_of == name)
        chain = by_name.get(name)
        if chain is None:
            if complex_.is_protein[residues].any():
                return None
            continue
        of_residues = _tokens_of_chain(
            complex_, residues, chain.tokens, numbers, any_numbers=any_numbers
        )
        if of_residues is None:
            return None
        token[residues] = of_residues
        n_numbers = len(set(numbers[chain.tokens].tolist()) - {NO_NUMBER})
        whole = whole and n_numbers in (0, np.count_nonzero(of_residues >= 0))
        atoms_of_chain = heavy.residue_of[np.isin(heavy.residue_of, residues)]
        if chain.atoms is not None and len(chain.atoms) == len(atoms_of_chain):
            sums = np.bincount(atoms_of_chain, output.atom_plddt[chain.atoms], n_residues)
            plddt[residues] = sums[residues] / n_atoms[residues]
    is_unknown = np.isnan(plddt[complex_.is_protein]).any()
    return _Fit(chains=chains, token=token, plddt=None if is_unknown else plddt, whole=whole)


def _tokens_of_chain(
    complex_: Complex,
    residues: np.ndarray,
    tokens: np.ndarray,
    numbers: np.ndarray,
    *,
    any_numbers: bool,
) -> np.ndarray | None:
    """The first token of each residue of a chain, by its number or, of one that was numbered anew,
    by its place.

    None where a protein residue has none. numbers : of all tokens. any_numbers : whether the new
    numbers may leave out some and have insertion codes; otherwise all differ from the old ones by
    as much.
    """
    first: dict[int, int] = {}
    for place in tokens.tolist():
        first.setdefault(int(numbers[place]), place)
    found = np.array([first.get(complex_.residues[r].number, -1) for r in residues])
    protein = complex_.is_protein[residues]
    if (found[protein] >= 0).all() and (np.diff(found[protein]) > 0).all():
        return found
    of_model = np.array([complex_.residues[r].number for r in residues])
    for sizes in _layouts(complex_):
        own = sizes[residues]
        if own.sum() != len(tokens):
            continue
        places = np.where(own > 0, np.cumsum(own) - own, -1)
        of_file = numbers[tokens[places]]
        steps = (of_model - of_file)[protein & (places >= 0)]
        of_proteins = of_file[protein & (places >= 0)]
        renumbered = any_numbers and (np.diff(of_proteins) > 0).all()
        if len(steps) and (not np.ptp(steps) or (of_file == NO_NUMBER).all() or renumbered):
            return np.where(places >= 0, tokens[places], -1)
    return None


def _disagreement(complex_: Complex, output: PredictorOutput) -> str:
    """What the lists of the predictor and the model say of the chains."""
    of_tokens = _sizes([chain for chain, _ in output.tokens])
    atom_names = _run_names(output.atom_chains or [])
    of_atoms = f", atom_chain_ids {', '.join(atom_names[:MOST_NAMED])}" if atom_names else ""
    return (
        "the predictor's files do not say which tokens are those of the model: token_chain_ids has "
        f"{of_tokens}{of_atoms}, and the model {_sizes(_chain_names(complex_))}; TopoRank uses "
        "neither PAE nor pLDDT"
        " of these files"
    )


def _sizes(chains: Sequence[str]) -> str:
    """`A (30), B (32)`."""
    runs = _runs(chains)
    parts = [f"{name} ({len(places)})" for name, places in runs[:MOST_NAMED]]
    if len(runs) > MOST_NAMED:
        parts.append(f"{len(runs) - MOST_NAMED} more")
    return ", ".join(parts)


def _chain_names(complex_: Complex) -> list[str]:
    """The name of the chain of each residue."""
    return [residue.chain for residue in complex_.residues]


def _run_names(names: Sequence[str]) -> list[str]:
    """Each name that follows itself, once."""
    return [name for name, _ in groupby(names)]


def _runs(names: Sequence[str]) -> list[tuple[str, np.ndarray]]:
    """Each name that follows itself, and its places."""
    runs = []
    start = 0
    for name, same in groupby(names):
        stop = start + len(list(same))
        runs.append((name, np.arange(start, stop)))
        start = stop
    return runs
