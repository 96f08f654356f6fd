"""Which rows of a predictor's arrays are those of a residue of the model.

AlphaFold 3 names the chain and the number of each token, and the chain of each atom. Other predictors write tokens in
the order of the model's file. What the names, the numbers, the order and pLDDT say must agree.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from toporank.errors import ConfidenceError
from toporank.inputs.confidence.missing_residues import MOST_DIFFERING, WHOSE_FILES, differing, rows_by_numbers
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
    token : of each residue its first token, -1 for none; int, shape (R,); None where no array has tokens
    plddt : of each residue by the predictor's files, 0 to 100, shape (R,), nan where unknown; None without any
    chains : of each chain of the predictor, in its order, the name in the model; None where only the order tells
    names : what the predictor calls a chain → the name in the model
    """

    token: np.ndarray | None
    plddt: np.ndarray | None
    chains: list[str] | None = None
    names: Mapping[str, str] = MappingProxyType({})


class _Chain(NamedTuple):
    """A chain of a predictor. name : in the model. tokens, atoms : its places, int; atoms None where not output."""

    name: str
    tokens: np.ndarray
    atoms: np.ndarray | None


def placed(complex_: Complex, output: PredictorOutput, b_factors: np.ndarray | None) -> Placed:
    """Where the residues of a model are in the arrays that its predictor wrote.

    Parameters
    ----------
    complex_ : the model, with R residues
    output : what the predictor says
    b_factors : of each residue, where they are pLDDT, shape (R,), nan where unknown; they tell one order of chains from
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
    atoms = None if output.atom_plddt is None else _mean_of_atoms(complex_, output.atom_plddt)
    if not n:
        if atoms is None and output.atom_plddt is not None:
            n_atoms = len(complex_.without_hydrogens().xyz)
            what = f"{output.plddt_file} has pLDDT of {len(output.atom_plddt)} atoms, but the model has {n_atoms}"
            raise ConfidenceError(what, remedy=WHOSE_FILES)
        return Placed(token=None, plddt=atoms)
    token = _by_order(complex_, n)
    if token is None:
        token = rows_by_numbers(complex_, output, n, b_factors)  # such as a residue X, which has a row and no atoms
    of_tokens = output.plddt if output.plddt is not None and len(output.plddt) == n else None
    if output.atom_chains and not _same_order(complex_, output.atom_chains):
        fit = _Fit(token, atoms, whole=True)
        if not _agrees(fit, b_factors, surely=True):
            names = ", ".join(name for name, _ in _runs(output.atom_chains)[:MOST_NAMED])
            of_model = ", ".join(dict.fromkeys(residue.chain for residue in complex_.residues))
            what = f"atom_chain_ids has chains {names}, and the model {of_model}: it is not known which are the same"
            raise ConfidenceError(what, remedy=WHOSE_FILES)
    return Placed(token=token, plddt=atoms if of_tokens is None else _of_residues(of_tokens, token))


def _same_order(complex_: Complex, atom_chains: list[str]) -> bool:
    """Whether the chains of atoms are those of the model, in the same order."""
    of_model = [name for name, _ in _runs([residue.chain for residue in complex_.residues])]
    return [name for name, _ in _runs(atom_chains)] == of_model


def n_tokens(output: PredictorOutput) -> int:
    """The number of tokens of PAE or, without it, of pLDDT; 0 without either."""
    sizes = [len(values) for values in (output.pae, output.plddt) if values is not None]
    return sizes[0] if sizes else 0


def shifted_b_factors(complex_: Complex, token: np.ndarray, plddt: np.ndarray, b_factors: np.ndarray) -> bool:
    """Whether B factors are pLDDT that Boltz wrote to other residues.

    Its tokens are residues, and the atoms of a modified residue or of a ligand. Its writer counts these otherwise than
    its arrays do, so that all residues behind one may have the pLDDT of an earlier token. The shift is the same up to
    the next such residue.

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
    if not behind.any() or differing(plddt[token[own[behind == 0]]], b_factors[own[behind == 0]]) > MOST_DIFFERING:
        return False
    for part in range(1, behind.max() + 1):
        residues = own[(behind == part) & single[own]]
        if not len(residues):
            continue
        shifts = range(token[residues[0]] + 1)
        if all(differing(plddt[token[residues] - shift], b_factors[residues]) > MOST_DIFFERING for shift in shifts):
            return False
    return True


def _layouts(complex_: Complex) -> Iterator[np.ndarray]:
    """Tokens of each residue, shape (R,): one; one, or one for each heavy atom of what is not standard; of proteins."""
    atoms = np.diff(complex_.without_hydrogens().atom_slices)
    standard = np.isin(complex_.names, [*STANDARD, *NUCLEOTIDES])
    yield np.ones_like(atoms)
    yield np.where(standard, 1, atoms)
    yield np.where(complex_.is_protein, 1, 0)


def _by_order(complex_: Complex, n: int) -> np.ndarray | None:
    """The first of n tokens of each residue, -1 for none, in the order of the file; None where n does not fit."""
    for sizes in _layouts(complex_):
        if sizes.sum() == n:
            return np.where(sizes > 0, np.cumsum(sizes) - sizes, -1)
    return None


def _of_residues(of_tokens: np.ndarray, token: np.ndarray) -> np.ndarray:
    """The value of the first token of each residue, nan for none; float, shape (R,)."""
    return np.where(token >= 0, of_tokens[token], np.nan).astype(float)


def _mean_of_atoms(complex_: Complex, of_atoms: np.ndarray) -> np.ndarray | None:
    """The mean over the heavy atoms of each residue, nan without any; None where there are more or fewer atoms."""
    heavy = complex_.without_hydrogens()
    if len(of_atoms) != len(heavy.xyz):
        return None
    n_residues = len(complex_.residues)
    sums = np.bincount(heavy.residue_of, weights=of_atoms, minlength=n_residues)
    with np.errstate(invalid="ignore"):
        return sums / np.bincount(heavy.residue_of, minlength=n_residues)


# ---- named tokens ----------------------------------------------------------------------------------------------------


def _by_names(complex_: Complex, output: PredictorOutput, b_factors: np.ndarray | None) -> Placed:
    """As `placed`, of tokens with a chain and a number.

    AlphaFold 3.0.0 and 3.0.1 call the chains of tokens A, B and so on, whatever their names in the input; the names of
    the atoms' chains are right. People rename chains, too, put them in another order, and cut them.
    """
    readings = [(chains, _fitted(complex_, output, chains)) for chains in _by_their_names(output)]
    in_order = _in_order(complex_, output)
    by_order = (in_order, _fitted(complex_, output, in_order)) if in_order else ([], None)
    runs = [name for name, _ in _runs([chain for chain, _ in output.tokens])]
    if not output.atom_chains and runs[: len(LETTERS)] == [*LETTERS[: len(runs)]]:
        readings.append(by_order)
    fitting = [(chains, fit) for chains, fit in readings if fit is not None]
    if not fitting:  # such as an antibody that was numbered by the scheme of IMGT
        renumbered = [
            (chains, _fitted(complex_, output, chains, any_numbers=True)) for chains in _by_their_names(output)
        ]
        fits = [(chains, fit) for chains, fit in renumbered if fit is not None]
        fitting = [(chains, fit) for chains, fit in fits if _agrees(fit, b_factors, surely=True)]
    fitting = [(chains, fit) for chains, fit in fitting if fit.whole] or fitting
    agreeing = [(chains, fit) for chains, fit in fitting if _agrees(fit, b_factors)]
    if not agreeing and by_order[1] is not None and _agrees(by_order[1], b_factors, surely=True):
        agreeing = [by_order]
    found = agreeing or fitting
    if _as_alphafold_3_0_0(complex_, output, runs):
        in_step = [(chains, fit) for chains, fit in found if chains is readings[0][0]]
        found = in_step or found
    if len({fit.token.tobytes() for _, fit in found}) != 1:
        raise ConfidenceError(_disagreement(complex_, output), remedy=WHOSE_FILES)
    chains, fit = found[0]
    in_model = [chain.name for chain in chains]
    return Placed(fit.token, fit.plddt, in_model, _called(runs, output.atom_chains, in_model))


def _as_alphafold_3_0_0(complex_: Complex, output: PredictorOutput, runs: list[str]) -> bool:
    """Whether tokens are called A, B and so on, and the atoms as the model's chains are, in the same order.

    runs : the chains of the tokens.
    """
    atom_runs = _runs(output.atom_chains or ())
    lettered = runs == [*LETTERS[: len(runs)]] and len(atom_runs) == len(runs)
    return lettered and _same_order(complex_, output.atom_chains)


def _called(runs: list[str], atom_chains: list[str] | None, in_model: list[str]) -> dict[str, str]:
    """What the predictor calls each chain → its name in the model; where two lists differ, that of the atoms counts."""
    names = dict(zip(runs, in_model, strict=True))
    of_atoms = [name for name, _ in _runs(atom_chains or ())]
    if len(of_atoms) != len(in_model) or set(of_atoms) == set(runs):
        return names
    return names | dict(zip(of_atoms, in_model, strict=True))


def _by_their_names(output: PredictorOutput) -> Iterator[list[_Chain]]:
    """The chains of the tokens with the names of the atoms' chains, in step, and with their own names."""
    token_runs, atom_runs = _runs([chain for chain, _ in output.tokens]), _runs(output.atom_chains or ())
    of_atoms = dict(atom_runs) if _atoms_have_plddt(output) else {}
    if len(atom_runs) == len(token_runs):
        pairs = zip(token_runs, atom_runs, strict=True)
        yield [_Chain(name, tokens, of_atoms.get(name)) for (_, tokens), (name, _) in pairs]
    yield [_Chain(name, tokens, of_atoms.get(name)) for name, tokens in token_runs]


def _in_order(complex_: Complex, output: PredictorOutput) -> list[_Chain]:
    """The chains of the tokens with the names of those of the model, in step; empty where there are more or fewer."""
    token_runs, atom_runs = _runs([chain for chain, _ in output.tokens]), _runs(output.atom_chains or ())
    names = [name for name, _ in _runs([residue.chain for residue in complex_.residues])]
    if len(names) != len(token_runs):
        return []
    known_atoms = _atoms_have_plddt(output) and len(atom_runs) == len(names)
    atoms = [places for _, places in atom_runs] if known_atoms else [None] * len(names)
    return [_Chain(name, run[1], of_run) for name, run, of_run in zip(names, token_runs, atoms, strict=True)]


def _atoms_have_plddt(output: PredictorOutput) -> bool:
    return output.atom_plddt is not None and len(output.atom_plddt) == len(output.atom_chains or ())


class _Fit(NamedTuple):
    """token, plddt : as in `Placed`. whole : whether each token is one of a residue of the model."""

    token: np.ndarray
    plddt: np.ndarray | None
    whole: bool


def _agrees(fit: _Fit, b_factors: np.ndarray | None, *, surely: bool = False) -> bool:
    """Whether pLDDT is that of the B factors, or cannot be compared. surely : whether it has to be compared."""
    if fit.plddt is None or b_factors is None or len({*b_factors[~np.isnan(b_factors)].tolist()}) < 2:
        return not surely
    return differing(fit.plddt, b_factors) <= MOST_DIFFERING


def _fitted(
    complex_: Complex, output: PredictorOutput, chains: list[_Chain], *, any_numbers: bool = False
) -> _Fit | None:
    """Tokens and pLDDT of the residues where chains with these names have as many; None where they do not fit.

    any_numbers : as in `_tokens_of_chain`
    """
    by_name = {chain.name: chain for chain in chains}
    if len(by_name) < len(chains):
        return None
    numbers = np.array([number for _, number in output.tokens])
    token = np.full(len(complex_.residues), -1)
    plddt = np.full(len(complex_.residues), np.nan)
    heavy = complex_.without_hydrogens()
    chain_of = np.array([residue.chain for residue in complex_.residues])
    whole = set(by_name) <= set(chain_of.tolist())
    for name in dict.fromkeys(chain_of.tolist()):
        residues = np.flatnonzero(chain_of == name)
        if name not in by_name:
            if complex_.is_protein[residues].any():
                return None
            continue
        tokens, atoms = by_name[name].tokens, by_name[name].atoms
        of_residues = _tokens_of_chain(complex_, residues, tokens, numbers, any_numbers=any_numbers)
        if of_residues is None:
            return None
        token[residues] = of_residues
        n_numbers = len({*numbers[tokens].tolist()} - {NO_NUMBER})
        whole = whole and n_numbers in (0, np.count_nonzero(of_residues >= 0))
        own = np.isin(heavy.residue_of, residues)
        if atoms is not None and len(atoms) == np.count_nonzero(own):
            sums = np.bincount(heavy.residue_of[own], output.atom_plddt[atoms], len(token))
            plddt[residues] = sums[residues] / np.bincount(heavy.residue_of[own], minlength=len(token))[residues]
    return _Fit(token, None if np.isnan(plddt[complex_.is_protein]).any() else plddt, whole)


def _tokens_of_chain(
    complex_: Complex, residues: np.ndarray, tokens: np.ndarray, numbers: np.ndarray, *, any_numbers: bool
) -> np.ndarray | None:
    """The first token of each residue of a chain, by its number or, of one that was numbered anew, by its place.

    None where a protein residue has none. numbers : of all tokens. any_numbers : whether the new numbers may leave out
    some and have insertion codes; otherwise all differ from the old ones by as much.
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
    atom_runs = _runs(output.atom_chains or ())
    of_atoms = f", atom_chain_ids {', '.join(name for name, _ in atom_runs[:MOST_NAMED])}" if atom_runs else ""
    of_model = _sizes([residue.chain for residue in complex_.residues])
    return (
        "the predictor's files do not say which tokens are those of the model: token_chain_ids has "
        f"{of_tokens}{of_atoms}, and the model {of_model}; TopoRank uses neither PAE nor pLDDT of these files"
    )


def _sizes(chains: Sequence[str]) -> str:
    """`A (30), B (32)`."""
    runs = _runs(chains)
    more = [f"{len(runs) - MOST_NAMED} more"] if len(runs) > MOST_NAMED else []
    return ", ".join([*(f"{name} ({len(places)})" for name, places in runs[:MOST_NAMED]), *more])


def _runs(names: Sequence[str]) -> list[tuple[str, np.ndarray]]:
    """Each name that follows itself, and its places."""
    found, start = [], 0
    for name, same in groupby(names):
        stop = start + sum(1 for _ in same)
        found.append((name, np.arange(start, stop)))
        start = stop
    return found
