"""Which rows of a predictor's arrays are those of a residue of the model.

AlphaFold 3 names the chain and the number of each token, and the chain of each atom. Other
predictors write tokens in the order of the model's file. What the names, the numbers, the order and
pLDDT say must agree.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from toporank.errors import ConfidenceError
from toporank.inputs.confidence.missing_residues import (
    MOST_DIFFERING,
    WHOSE_FILES,
    atoms_before,
    differing,
    longest_run,
    rows_by_numbers,
)
from toporank.inputs.confidence.order import order_is_open
from toporank.programs.formats import NO_NUMBER
from toporank.programs.program import PredictorOutput
from toporank.structures.complex import STANDARD, Complex

NUCLEOTIDES = {"A", "C", "G", "U", "DA", "DC", "DG", "DT"}
LETTERS = string.ascii_uppercase
"""What AlphaFold 3.0.0 and 3.0.1 call the first chains of tokens, whatever they are called."""
ANOTHER_ORDER = (
    "the PAE between bonded neighbours, or within chains of equal size, does not say that its rows "
    "are in the order of the model, so TopoRank uses no value of a residue or a chain of these "
    "files"
)
UNCONFIRMED = (
    "the predictor's files have more tokens than the model has residues, and its pLDDT does not "
    "say that residues of equal numbers are the same, so TopoRank uses neither PAE nor pLDDT of "
    "these files"
)
ATOMS = 4, 15
"""Fewest and most heavy atoms of an amino acid."""
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
    in_order : whether the predictor's chains are known to be in the order of the model
    """

    token: np.ndarray | None
    plddt: np.ndarray | None
    chains: list[str] | None = None
    names: Mapping[str, str] = MappingProxyType({})
    in_order: bool = False


class _Chain(NamedTuple):
    """A chain of a predictor. name : in the model. tokens, atoms : its places, int.

    atoms : None where they are not written.
    """

    name: str
    tokens: np.ndarray
    atoms: np.ndarray | None


def placed(
    complex_: Complex, output: PredictorOutput, b_factors: np.ndarray | None
) -> Placed:
    """Return where the residues of a model are in the arrays that its predictor wrote.

    Parameters
    ----------
    complex_ : the model, with R residues
    output : what the predictor says
    b_factors : of each residue, where they are pLDDT, shape (R,), nan where unknown; they tell one
        order of chains from another

    Returns
    -------
    placed : for each residue its row in the arrays

    Raises
    ------
    ConfidenceError
        when names, numbers, order and pLDDT do not agree, so that nothing can be used
    """
    n = n_tokens(output)
    if n and output.token_chains is not None:
        n_named = len(output.token_chains)
        if n_named != n:
            what = f"the predictor's files name {n_named} tokens and have PAE of {n}"
            raise ConfidenceError(what, remedy="make or fetch them again")
        return _by_names(complex_, output, b_factors)
    of_atoms = _mean_of_atoms(complex_, output.atom_plddt)
    if not n:
        if of_atoms is None and output.atom_plddt is not None:
            n_atoms = len(complex_.without_hydrogens().xyz)
            what = (
                f"{output.plddt_file} has pLDDT of {len(output.atom_plddt)} atoms, but the model "
                f"has {n_atoms}"
            )
            raise ConfidenceError(what, remedy=WHOSE_FILES)
        agree = _agree(of_atoms, b_factors)
        return Placed(token=None, plddt=of_atoms, in_order=agree is not None)
    token = _by_order(complex_, n)
    if token is None:  # such as a residue X, which has a row and no atoms
        token = rows_by_numbers(complex_, output, n, b_factors)
    _check_order_of_atoms(complex_, output, _agree(of_atoms, b_factors))
    plddt = of_atoms
    if output.plddt is not None and len(output.plddt) == n:
        plddt = np.where(token >= 0, output.plddt[token], np.nan).astype(float)
    agree = _agree(plddt, b_factors)
    if agree is None and output.pae is not None:
        if order_is_open(complex_, token, output.pae):
            raise ConfidenceError(ANOTHER_ORDER, remedy=WHOSE_FILES)
        agree = True
    return Placed(token=token, plddt=plddt, in_order=agree is not None)


def _check_order_of_atoms(
    complex_: Complex, output: PredictorOutput, agree: bool | None
) -> None:
    """Raise ConfidenceError where atoms have other chains than the model.

    agree : pLDDT and B factors, which would say that only the names differ.
    """
    atom_names = _run_names(output.atom_chains)
    model_names = _run_names(complex_.chain_of)
    if atom_names and atom_names != model_names and not agree:
        of_file = ", ".join(atom_names[:MOST_NAMED])
        of_model = ", ".join(dict.fromkeys(model_names))
        what = (
            f"atom_chain_ids has chains {of_file}, and the model {of_model}: it is not known which "
            "are the same"
        )
        raise ConfidenceError(what, remedy=WHOSE_FILES)


def n_tokens(output: PredictorOutput) -> int:
    """Return the number of tokens of PAE or, without it, of pLDDT; 0 without either."""
    values = output.plddt if output.pae is None else output.pae
    return 0 if values is None else len(values)


def shifted_b_factors(
    complex_: Complex,
    token: np.ndarray,
    plddt: np.ndarray,
    b_factors: np.ndarray,
) -> bool:
    """Return whether B factors are pLDDT that Boltz wrote to other residues.

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
    residues = np.flatnonzero((token >= 0) & ~np.isnan(b_factors))
    tokens = token[residues]
    of_all = np.diff(np.append(token, len(plddt))) == 1
    # how many residues of several tokens stand before
    part = np.cumsum(~of_all)[residues]
    is_single = of_all[residues]
    of_model = b_factors[residues]
    first = part == 0
    if not part.any():
        return False
    if differing(plddt[tokens[first]], of_model[first]) > MOST_DIFFERING:
        return False
    for behind in range(1, part.max() + 1):
        counted = (part == behind) & is_single
        tokens_behind = tokens[counted]
        shifts = range(tokens_behind[0] + 1) if len(tokens_behind) else [0]
        shares = [
            differing(plddt[tokens_behind - shift], of_model[counted])
            for shift in shifts
        ]
        if min(shares) > MOST_DIFFERING:
            return False
    return True


def _layouts(complex_: Complex) -> Iterator[np.ndarray]:
    """Tokens of each residue, shape (R,): one.

    There is one, or one for each heavy atom of a residue that is not standard.
    """
    atoms = np.diff(complex_.without_hydrogens().atom_slices)
    standard = np.isin(complex_.names, [*STANDARD, *NUCLEOTIDES])
    yield np.ones_like(atoms)
    yield np.where(standard, 1, atoms)
    yield np.where(complex_.is_protein, 1, 0)


def _first_tokens(sizes: np.ndarray) -> np.ndarray:
    """The first token of each residue, -1 for none. sizes : tokens of each residue."""
    return np.where(sizes > 0, np.cumsum(sizes) - sizes, -1)


def _by_order(complex_: Complex, n: int) -> np.ndarray | None:
    """The first of n tokens of each residue, -1 for none, in the order of the file.

    None where n does not fit.
    """
    for sizes in _layouts(complex_):
        if sizes.sum() == n:
            return _first_tokens(sizes)
    return None


def _mean_of_atoms(complex_: Complex, of_atoms: np.ndarray | None) -> np.ndarray | None:
    """The mean over the heavy atoms of each residue, nan without any.

    None where there are more or fewer atoms.
    """
    residue_of = complex_.without_hydrogens().residue_of
    if of_atoms is None or len(of_atoms) != len(residue_of):
        return None
    n_residues = len(complex_.residues)
    sums = np.bincount(residue_of, weights=of_atoms, minlength=n_residues)
    with np.errstate(invalid="ignore"):
        return sums / np.bincount(residue_of, minlength=n_residues)


def _agree(plddt: np.ndarray | None, b_factors: np.ndarray | None) -> bool | None:
    """Whether pLDDT is that of the B factors; None where they cannot be compared."""
    if plddt is None or b_factors is None:
        return None
    if len(np.unique(b_factors[~np.isnan(b_factors)])) < 2:
        return None
    return differing(plddt, b_factors) <= MOST_DIFFERING


# ---- named tokens --------------------------------------------------------------------------------


class _Fit(NamedTuple):
    """Chains of a predictor under names of the model, with what follows for the model's residues.

    names : of the chains in the model. token, plddt : as in `Placed`. whole : whether each token is
    one of a residue of the model. agree : as `_agree` returns it. sure : whether counts or pLDDT
    confirm the numbers.
    """

    names: list[str]
    token: np.ndarray
    plddt: np.ndarray | None
    whole: bool
    agree: bool | None
    sure: bool


def _by_names(
    complex_: Complex, output: PredictorOutput, b_factors: np.ndarray | None
) -> Placed:
    """As `placed`, of tokens with a chain and a number.

    AlphaFold 3.0.0 and 3.0.1 call the chains of tokens A, B and so on, whatever their names in the
    input; the names of the atoms' chains are right. People rename chains, too, put them in another
    order, and cut them.
    """
    token_names = _run_names(output.token_chains)
    atom_names = _run_names(output.atom_chains)
    model_names = _run_names(complex_.chain_of)
    n_chains = len(token_names)
    lettered = token_names[: len(LETTERS)] == list(LETTERS[:n_chains])
    atoms_by_name = dict(_runs(output.atom_chains))
    named = []
    for names in (atom_names, token_names):
        if len(names) == n_chains:
            chains = _chains(names, atoms_by_name, output)
            named.append(chains)
    fits = [_fitted(complex_, output, chains, b_factors) for chains in named]
    in_order = None
    if len(model_names) == n_chains:
        atoms_in_order = {}
        if len(atom_names) == n_chains:
            places = [places for _, places in _runs(output.atom_chains)]
            atoms_in_order = dict(zip(model_names, places, strict=True))
        chains = _chains(model_names, atoms_in_order, output)
        in_order = _fitted(complex_, output, chains, b_factors)
    fitting = [fit for fit in fits if fit]
    if in_order and lettered and not output.atom_chains:
        fitting.append(in_order)
    if not fitting:  # such as an antibody that was numbered by the scheme of IMGT
        fits = [
            _fitted(complex_, output, chains, b_factors, any_numbers=True)
            for chains in named
        ]
        fitting = [fit for fit in fits if fit and fit.agree]
    fitting = [fit for fit in fitting if fit.whole] or fitting
    candidates = [fit for fit in fitting if fit.agree is not False]
    if not candidates and in_order and in_order.agree:
        candidates = [in_order]
    candidates = candidates or fitting
    if (
        lettered
        and atom_names == model_names
        and len(atom_names) == n_chains <= len(LETTERS)
    ):
        # as AlphaFold 3.0.0 writes them: the names of the atoms' chains are right
        candidates = [
            fit for fit in candidates if fit.names == atom_names
        ] or candidates
    if len({fit.token.tobytes() for fit in candidates}) != 1:
        raise ConfidenceError(_disagreement(complex_, output), remedy=WHOSE_FILES)
    fit = candidates[0]
    if not fit.sure:
        raise ConfidenceError(UNCONFIRMED, remedy=WHOSE_FILES)
    names = dict(zip(token_names, fit.names, strict=True))
    if len(atom_names) == n_chains and set(atom_names) != set(token_names):
        # where two lists differ, that of the atoms counts
        names |= dict(zip(atom_names, fit.names, strict=True))
    return Placed(
        token=fit.token,
        plddt=fit.plddt,
        chains=fit.names,
        names=names,
        in_order=fit.agree is not False,
    )


def _chains(
    names: list[str], atoms: Mapping[str, np.ndarray], output: PredictorOutput
) -> list[_Chain]:
    """The chains of the tokens under these names. atoms : places of those of each chain."""
    n_atoms = len(output.atom_chains or [])
    if output.atom_plddt is None or len(output.atom_plddt) != n_atoms:
        atoms = {}
    chains = []
    for name, (_, tokens) in zip(names, _runs(output.token_chains), strict=True):
        chains.append(_Chain(name=name, tokens=tokens, atoms=atoms.get(name)))
    return chains


def _fitted(
    complex_: Complex,
    output: PredictorOutput,
    chains: list[_Chain],
    b_factors: np.ndarray | None,
    *,
    any_numbers: bool = False,
) -> _Fit | None:
    """Tokens and pLDDT of the residues where chains with these names have as many.

    None where they do not fit.

    any_numbers : as in `_tokens_by_count`
    """
    by_name = {chain.name: chain for chain in chains}
    if len(by_name) < len(chains):
        return None
    numbers = np.array(output.token_numbers)
    n_residues = len(complex_.residues)
    token = np.full(n_residues, -1)
    plddt = np.full(n_residues, np.nan)
    residue_of = complex_.without_hydrogens().residue_of
    names = list(dict.fromkeys(complex_.chain_of.tolist()))
    whole = set(by_name) <= set(names)
    sure = True
    for name in names:
        residues = np.flatnonzero(complex_.chain_of == name)
        chain = by_name.get(name)
        if chain is None:
            if complex_.is_protein[residues].any():
                return None
            continue
        residue_of_atoms = residue_of[np.isin(residue_of, residues)]
        of_residues = _tokens_by_count(
            complex_, residues, chain.tokens, numbers, any_numbers=any_numbers
        )
        if of_residues is None:
            of_residues, of_chain = _tokens_by_number(
                complex_, residues, chain, numbers, output.atom_plddt, b_factors
            )
            sure = sure and of_chain
        if of_residues is None:
            return None
        token[residues] = of_residues
        n_numbers = len(set(numbers[chain.tokens].tolist()) - {NO_NUMBER})
        whole = whole and n_numbers in (0, np.count_nonzero(of_residues >= 0))
        if chain.atoms is not None and len(chain.atoms) == len(residue_of_atoms):
            sums = np.bincount(
                residue_of_atoms, output.atom_plddt[chain.atoms], n_residues
            )
            n_atoms = np.bincount(residue_of_atoms, minlength=n_residues)
            plddt[residues] = sums[residues] / n_atoms[residues]
    if np.isnan(plddt[complex_.is_protein]).any():
        plddt = None
    return _Fit(
        names=[chain.name for chain in chains],
        token=token,
        plddt=plddt,
        whole=whole,
        agree=_agree(plddt, b_factors),
        sure=sure,
    )


def _tokens_by_count(
    complex_: Complex,
    residues: np.ndarray,
    tokens: np.ndarray,
    numbers: np.ndarray,
    *,
    any_numbers: bool,
) -> np.ndarray | None:
    """The first token of each residue of a chain that has as many as its residues need.

    None where it has not, or numbers say something else: they may begin elsewhere, or count tokens.
    numbers : of all tokens. any_numbers : whether the new numbers may leave out some and have
    insertion codes; otherwise all differ from the old ones by as much.
    """
    of_model = complex_.numbers[residues]
    protein = complex_.is_protein[residues]
    count_tokens = len(tokens) > 1 and (np.diff(numbers[tokens]) == 1).all()
    for sizes in _layouts(complex_):
        if sizes[residues].sum() != len(tokens):
            continue
        places = _first_tokens(sizes[residues])
        of_file = numbers[tokens[places]]
        counted = protein & (places >= 0)
        steps = (of_model - of_file)[counted]
        renumbered = any_numbers and (np.diff(of_file[counted]) > 0).all()
        several = count_tokens and sizes[residues].max() > 1
        if len(steps) and (
            not np.ptp(steps) or several or (of_file == NO_NUMBER).all() or renumbered
        ):
            return np.where(places >= 0, tokens[places], -1)
    return None


def _tokens_by_number(
    complex_: Complex,
    residues: np.ndarray,
    chain: _Chain,
    numbers: np.ndarray,
    atom_plddt: np.ndarray | None,
    b_factors: np.ndarray | None,
) -> tuple[np.ndarray | None, bool]:
    """The first token of each residue of a chain that was cut, by its number.

    None where a protein residue has none. Also whether that is sure: the pLDDT of atoms says at
    which of them the chain begins; where nothing does, numbers that do not begin with the first one
    were kept.
    """
    first_of_number: dict[int, int] = {}
    for place, token in enumerate(chain.tokens.tolist()):
        first_of_number.setdefault(int(numbers[token]), place)
    of_model = complex_.numbers[residues].tolist()
    places = np.array([first_of_number.get(number, -1) for number in of_model])
    of_protein = places[complex_.is_protein[residues]]
    if (of_protein < 0).any() or (np.diff(of_protein) <= 0).any():
        return None, False
    tokens = np.where(places >= 0, chain.tokens[places], -1)
    if not len(of_protein):
        return tokens, True
    if chain.atoms is None or b_factors is None:
        return tokens, bool(of_protein[0] > 0)
    n_atoms = np.bincount(
        complex_.without_hydrogens().residue_of, minlength=len(complex_.residues)
    )
    of_run = longest_run(places)
    run = residues[of_run]
    before = atoms_before(atom_plddt[chain.atoms], n_atoms[run], b_factors[run])
    if before is None:
        return tokens, False
    after = len(chain.atoms) - before - n_atoms[run].sum()
    n_before = places[of_run[0]]
    n_after = len(chain.tokens) - places[of_run[-1]] - 1
    fewest, most = ATOMS
    is_sure = (
        fewest * n_before <= before <= most * n_before
        and fewest * n_after <= after <= most * n_after
    )
    return tokens, bool(is_sure)


def _disagreement(complex_: Complex, output: PredictorOutput) -> str:
    """What the lists of the predictor and the model say of the chains."""
    of_tokens = _sizes(output.token_chains)
    atom_names = _run_names(output.atom_chains)
    of_atoms = (
        f", atom_chain_ids {', '.join(atom_names[:MOST_NAMED])}" if atom_names else ""
    )
    of_model = _sizes(complex_.chain_of.tolist())
    return (
        "the predictor's files do not say which tokens are those of the model: token_chain_ids has "
        f"{of_tokens}{of_atoms}, and the model {of_model}; TopoRank uses "
        "neither PAE nor pLDDT of these files"
    )


def _sizes(chains: Sequence[str]) -> str:
    """`A (30), B (32)`."""
    runs = _runs(chains)
    parts = [f"{name} ({len(places)})" for name, places in runs[:MOST_NAMED]]
    if len(runs) > MOST_NAMED:
        parts.append(f"{len(runs) - MOST_NAMED} more")
    return ", ".join(parts)


def _run_names(names: Sequence[str] | None) -> list[str]:
    """Each name that follows itself, once."""
    return [name for name, _ in _runs(names)]


def _runs(names: Sequence[str] | None) -> list[tuple[str, np.ndarray]]:
    """Each name that follows itself, and its places."""
    if names is None or not len(names):
        return []
    names = np.array(names)
    starts = np.flatnonzero(names[1:] != names[:-1]) + 1
    places_of_runs = np.split(np.arange(len(names)), starts)
    return [(str(names[places[0]]), places) for places in places_of_runs]
