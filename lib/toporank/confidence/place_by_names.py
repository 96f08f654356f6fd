"""Tokens whose chains and numbers a predictor names, as AlphaFold 3 does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from toporank.confidence.tokens import (
    ALIKE,
    LETTERS,
    MOST_DIFFERING,
    MOST_NAMED,
    WHOSE_FILES,
    Placed,
    agree,
    first_tokens,
    layouts,
    n_tokens,
    only_least,
    run_names,
)
from toporank.errors import ConfidenceError
from toporank.programs.formats import NO_NUMBER
from toporank.programs.program import PredictorOutput
from toporank.structures.complex import Complex

UNCONFIRMED = (
    "the predictor's files have more tokens than the model has residues, and its pLDDT does not "
    "say that residues of equal numbers are the same, so TopoRank uses neither PAE nor pLDDT of "
    "these files"
)
ATOMS = 4, 15
"""Fewest and most heavy atoms of an amino acid."""


class _Fit(NamedTuple):
    """Chains of a predictor under names of the model, with what follows for the model's residues.

    names : of the chains in the model. token, plddt : as in `Placed`. whole : whether each token is
    one of a residue of the model. agrees : pLDDT with B factors, as `agree` returns it. sure :
    whether counts or pLDDT confirm the numbers.
    """

    names: list[str]
    token: np.ndarray
    plddt: np.ndarray | None
    whole: bool
    agrees: bool | None
    sure: bool


def by_names(
    complex_: Complex, output: PredictorOutput, b_factors: np.ndarray | None
) -> Placed:
    """As `place.placed`, of tokens with a chain and a number.

    AlphaFold 3.0.0 and 3.0.1 call the chains of tokens A, B and so on, whatever their names in the
    input; the names of the atoms' chains are right. People rename chains, too, put them in another
    order, and cut them.
    """
    n_named = len(output.token_chains or ())
    if n_named != n_tokens(output):
        what = f"the predictor's files name {n_named} tokens and have PAE of {n_tokens(output)}"
        raise ConfidenceError(what, remedy="make or fetch them again")
    token_names = run_names(output.token_chains)
    atom_names = run_names(output.atom_chains)
    model_names = run_names(complex_.chain_of.tolist())
    n_chains = len(token_names)
    names_atoms = len(atom_names) == n_chains
    lettered = token_names[: len(LETTERS)] == list(LETTERS[:n_chains])
    runs_of_atoms = _runs(output.atom_chains)

    def fit_of(
        names: list[str], atoms: Mapping[str, np.ndarray], *, any_numbers: bool = False
    ) -> _Fit | None:
        return _fitted(complex_, output, names, atoms, b_factors, any_numbers)

    atoms = dict(runs_of_atoms)
    named = [names for names in (atom_names, token_names) if len(names) == n_chains]
    fits = [fit_of(names, atoms) for names in named]
    fitting = [fit for fit in fits if fit]
    in_order = None
    if len(model_names) == n_chains:
        places = [places for _, places in runs_of_atoms] if names_atoms else []
        in_order = fit_of(model_names, dict(zip(model_names, places, strict=False)))
    if in_order and lettered and not output.atom_chains:
        fitting.append(in_order)
    if not fitting:  # such as an antibody that was numbered by the scheme of IMGT
        fits = [fit_of(names, atoms, any_numbers=True) for names in named]
        fitting = [fit for fit in fits if fit and fit.agrees]
    fitting = [fit for fit in fitting if fit.whole] or fitting
    candidates = [fit for fit in fitting if fit.agrees is not False]
    if not candidates and in_order and in_order.agrees:
        candidates = [in_order]
    candidates = candidates or fitting
    if lettered and names_atoms and atom_names == model_names:
        # as AlphaFold 3.0.0 writes them: the names of the atoms' chains are right
        right = [fit for fit in candidates if fit.names == atom_names]
        candidates = right if right and n_chains <= len(LETTERS) else candidates
    if len({fit.token.tobytes() for fit in candidates}) != 1:
        raise ConfidenceError(_disagreement(complex_, output), remedy=WHOSE_FILES)
    fit = candidates[0]
    if not fit.sure:
        raise ConfidenceError(UNCONFIRMED, remedy=WHOSE_FILES)
    names = dict(zip(token_names, fit.names, strict=True))
    if names_atoms and set(atom_names) != set(token_names):
        # where two lists differ, that of the atoms counts
        names |= dict(zip(atom_names, fit.names, strict=True))
    return Placed(
        token=fit.token,
        plddt=fit.plddt,
        chains=fit.names,
        names=names,
        in_order=fit.agrees is not False,
    )


def _fitted(
    complex_: Complex,
    output: PredictorOutput,
    chains: list[str],
    atoms: Mapping[str, np.ndarray],
    b_factors: np.ndarray | None,
    any_numbers: bool,
) -> _Fit | None:
    """Tokens and pLDDT of the residues where chains with these names have as many.

    None where they do not fit.

    chains : names in the model of the chains of tokens. atoms : places of those of each chain.
    any_numbers : as in `_tokens_by_count`.
    """
    runs = [places for _, places in _runs(output.token_chains)]
    tokens_of = dict(zip(chains, runs, strict=True))
    if len(tokens_of) < len(chains):
        return None
    atom_plddt = np.array([]) if output.atom_plddt is None else output.atom_plddt
    if len(atom_plddt) != len(output.atom_chains or []):
        atoms = {}
    numbers = np.array(output.token_numbers)
    n_residues = len(complex_.residues)
    token = np.full(n_residues, -1)
    plddt = np.full(n_residues, np.nan)
    n_atoms = np.bincount(complex_.without_hydrogens().residue_of, minlength=n_residues)
    names = list(dict.fromkeys(complex_.chain_of.tolist()))
    whole = set(tokens_of) <= set(names)
    sure = True
    for name in names:
        residues = np.flatnonzero(complex_.chain_of == name)
        if name not in tokens_of:
            if complex_.is_protein[residues].any():
                return None
            continue
        tokens = tokens_of[name]
        of_residues = _tokens_by_count(complex_, residues, tokens, numbers, any_numbers)
        if of_residues is None:
            of_atoms = atom_plddt[atoms[name]] if name in atoms else None
            of_residues, of_chain = _tokens_by_number(
                complex_, residues, tokens, numbers, of_atoms, b_factors
            )
            sure = sure and of_chain
        if of_residues is None:
            return None
        token[residues] = of_residues
        n_numbers = len(set(numbers[tokens].tolist()) - {NO_NUMBER})
        whole = whole and n_numbers in (0, np.count_nonzero(of_residues >= 0))
        if name in atoms and len(atoms[name]) == n_atoms[residues].sum():
            of_atoms = np.repeat(residues, n_atoms[residues])
            sums = np.bincount(of_atoms, atom_plddt[atoms[name]], n_residues)
            plddt[residues] = sums[residues] / n_atoms[residues]
    has_plddt = not np.isnan(plddt[complex_.is_protein]).any()
    return _Fit(
        names=chains,
        token=token,
        plddt=plddt if has_plddt else None,
        whole=whole,
        agrees=agree(plddt if has_plddt else None, b_factors),
        sure=sure,
    )


def _tokens_by_count(
    complex_: Complex,
    residues: np.ndarray,
    tokens: np.ndarray,
    numbers: np.ndarray,
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
    for sizes in layouts(complex_):
        sizes = sizes[residues]
        if sizes.sum() != len(tokens):
            continue
        places = first_tokens(sizes)
        of_file = numbers[tokens[places]]
        counted = protein & (places >= 0)
        steps = (of_model - of_file)[counted]
        renumbered = any_numbers and (np.diff(of_file[counted]) > 0).all()
        several = count_tokens and sizes.max() > 1
        if len(steps) and (
            not np.ptp(steps) or several or (of_file == NO_NUMBER).all() or renumbered
        ):
            return np.where(places >= 0, tokens[places], -1)
    return None


def _tokens_by_number(
    complex_: Complex,
    residues: np.ndarray,
    tokens: np.ndarray,
    numbers: np.ndarray,
    of_atoms: np.ndarray | None,
    b_factors: np.ndarray | None,
) -> tuple[np.ndarray | None, bool]:
    """The first token of each residue of a chain that was cut, by its number.

    None where a protein residue has none. Also whether that is sure: the pLDDT of atoms says at
    which of them the chain begins; where nothing does, numbers that do not begin with the first one
    were kept.

    of_atoms : pLDDT of the atoms of the chain, shape (A,)
    """
    first_of_number: dict[int, int] = {}
    for place, number in enumerate(numbers[tokens].tolist()):
        first_of_number.setdefault(number, place)
    of_model = complex_.numbers[residues].tolist()
    places = np.array([first_of_number.get(number, -1) for number in of_model])
    of_protein = places[complex_.is_protein[residues]]
    if (of_protein < 0).any() or (np.diff(of_protein) <= 0).any():
        return None, False
    of_residues = np.where(places >= 0, tokens[places], -1)
    if not len(of_protein):
        return of_residues, True
    if of_atoms is None or b_factors is None:
        return of_residues, bool(of_protein[0] > 0)
    # the longest stretch of tokens that follow one another
    starts = np.flatnonzero(np.diff(places) != 1) + 1
    run = max(np.split(np.arange(len(places)), starts), key=len)
    n_atoms = np.bincount(
        complex_.without_hydrogens().residue_of, minlength=len(complex_.residues)
    )[residues[run]]
    before = _atoms_before(of_atoms, n_atoms, b_factors[residues[run]])
    if before is None:
        return of_residues, False
    after = len(of_atoms) - before - n_atoms.sum()
    n_before = places[run[0]]
    n_after = len(tokens) - places[run[-1]] - 1
    fewest, most = ATOMS
    is_sure = (
        fewest * n_before <= before <= most * n_before
        and fewest * n_after <= after <= most * n_after
    )
    return of_residues, bool(is_sure)


def _atoms_before(
    of_file: np.ndarray, sizes: np.ndarray, of_model: np.ndarray
) -> int | None:
    """How many atoms of a chain stand in its file before residues that follow one another.

    None where no place has their pLDDT, or several have.

    of_file : pLDDT of the atoms of the chain, 0 to 100, shape (A,). sizes : heavy atoms of each of
    the residues, shape (R,). of_model : B factor of each of them, 0 to 100, shape (R,).
    """
    n_places = len(of_file) - sizes.sum() + 1
    if n_places < 1 or np.isnan(of_model).any() or not np.ptp(of_model):
        return None
    sums = np.concatenate([[0.0], np.cumsum(of_file, dtype=float)])
    ends = np.cumsum(sizes)

    def apart(place: int) -> np.ndarray:
        of_residues = sums[ends + place] - sums[ends - sizes + place]
        return np.abs(of_residues / sizes - of_model)

    best = only_least(np.array([apart(place).mean() for place in range(n_places)]))
    if best is None or (apart(best) > ALIKE).mean() > MOST_DIFFERING:
        return None
    return best


def _disagreement(complex_: Complex, output: PredictorOutput) -> str:
    """What the lists of the predictor and the model say of the chains."""
    of_tokens = _sizes(output.token_chains)
    atom_names = run_names(output.atom_chains)
    of_atoms = (
        f", atom_chain_ids {', '.join(atom_names[:MOST_NAMED])}" if atom_names else ""
    )
    of_model = _sizes(complex_.chain_of.tolist())
    return (
        "the predictor's files do not say which tokens are those of the model: token_chain_ids has "
        f"{of_tokens}{of_atoms}, and the model {of_model}; TopoRank uses "
        "neither PAE nor pLDDT of these files"
    )


def _sizes(chains: Sequence[str] | None) -> str:
    """`A (30), B (32)`."""
    runs = _runs(chains)
    parts = [f"{name} ({len(places)})" for name, places in runs[:MOST_NAMED]]
    if len(runs) > MOST_NAMED:
        parts.append(f"{len(runs) - MOST_NAMED} more")
    return ", ".join(parts)


def _runs(names: Sequence[str] | None) -> list[tuple[str, np.ndarray]]:
    """Each name that follows itself, and its places."""
    if not names:
        return []
    array = np.array(names)
    starts = np.flatnonzero(array[1:] != array[:-1]) + 1
    places_of_runs = np.split(np.arange(len(names)), starts)
    return [(names[places[0]], places) for places in places_of_runs]
