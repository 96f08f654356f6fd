"""Which rows of a predictor's arrays are those of a residue of the model.

AlphaFold 3 names the chain and the number of each token, and the chain of each atom. Other
predictors write tokens in the order of the model's file. What the names, the numbers, the order,
the bonds and pLDDT say must agree; where it does not, nothing of a residue or a chain is used.
"""

from __future__ import annotations

import itertools

import numpy as np

from toporank.confidence.place_by_names import by_names
from toporank.confidence.place_by_order import by_numbers, by_order
from toporank.confidence.tokens import (
    MOST_DIFFERING,
    MOST_NAMED,
    WHOSE_FILES,
    Placed,
    agree,
    differing,
    n_tokens,
    other_atoms,
    run_names,
)
from toporank.errors import ConfidenceError
from toporank.programs.program import PredictorOutput
from toporank.structures.complex import Complex

BOND = 4.5
"""Å between CA atoms of bonded neighbours, at most."""
BROKEN = 3.0
"""An error this many times that of most bonded neighbours is that of two chains."""
LEAST_BROKEN = 2.5
"""Å, of such an error at least."""
CONTACT = 8.0
"""Å between CA atoms of residues of a chain that touch."""
APART = 4
"""Places between such residues at least."""
CLEARLY = 0.95
"""PAE of contacts in one order of chains over that in another one that is clearly worse."""
MOST_CHAINS = 6
"""Of one size, whose orders are tried."""
ANOTHER_ORDER = (
    "the PAE between bonded neighbours, or within chains of equal size, does not say that its rows "
    "are in the order of the model, so TopoRank uses no value of a residue or a chain of these "
    "files"
)


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
        place = by_names(complex_, output, b_factors)
        if place.token is not None and agree(place.plddt, b_factors) is None:
            _check_order(complex_, place.token, output.pae, named=True)
        return place
    plddt = _mean_of_atoms(complex_, output.atom_plddt)
    if not n:
        if plddt is None and output.atom_plddt is not None:
            raise ConfidenceError(other_atoms(complex_, output), remedy=WHOSE_FILES)
        return Placed(plddt=plddt, in_order=agree(plddt, b_factors) is not None)
    token = by_order(complex_, n)
    if token is None:  # such as a residue X, which has a row and no atoms
        token = by_numbers(complex_, output, n, b_factors)
    _check_order_of_atoms(complex_, output, agree(plddt, b_factors))
    if output.plddt is not None and len(output.plddt) == n:
        plddt = np.where(token >= 0, output.plddt[token], np.nan).astype(float)
    in_order = agree(plddt, b_factors) is not None
    if not in_order and output.pae is not None:
        _check_order(complex_, token, output.pae, named=False)
        in_order = True
    return Placed(token=token, plddt=plddt, in_order=in_order)


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


def _check_order_of_atoms(
    complex_: Complex, output: PredictorOutput, agrees: bool | None
) -> None:
    """Raise ConfidenceError where atoms have other chains than the model.

    agrees : pLDDT with B factors, which would say that only the names differ.
    """
    atom_names = run_names(output.atom_chains)
    model_names = run_names(complex_.chain_of.tolist())
    if atom_names and atom_names != model_names and not agrees:
        of_file = ", ".join(atom_names[:MOST_NAMED])
        of_model = ", ".join(dict.fromkeys(model_names))
        what = (
            f"atom_chain_ids has chains {of_file}, and the model {of_model}: it is not known which "
            "are the same"
        )
        raise ConfidenceError(what, remedy=WHOSE_FILES)


# ---- what bonds and contacts say -----------------------------------------------------------------


def _check_order(
    complex_: Complex, token: np.ndarray, pae: np.ndarray | None, *, named: bool
) -> None:
    """Raise ConfidenceError where bonds or contacts speak against the rows of the residues.

    The error between bonded neighbours is small in every prediction. Where the chains have another
    order in the file than in the model, a bond of the model lies where the file has the end of a
    chain.

    token : of each residue its row, -1 for none, int, shape (R,). pae : Å, shape (T, T). named :
    whether names say so: otherwise contacts have to confirm the order.
    """
    if pae is None:
        return
    residues = np.flatnonzero((token >= 0) & (complex_.ca >= 0) & complex_.is_protein)
    at_most = 1 / CLEARLY if named else CLEARLY
    if _bonds_are_broken(complex_, token, pae) or (
        _contacts_leave_it_open(complex_, residues, token, pae, at_most)
    ):
        raise ConfidenceError(ANOTHER_ORDER, remedy=WHOSE_FILES)


def _bonds_are_broken(complex_: Complex, token: np.ndarray, pae: np.ndarray) -> bool:
    """Whether PAE has the end of a chain where the model has a bond, and the other way round.

    A chain may be uncertain as a whole: then many bonds are. Behind its end another chain or a
    ligand follows. token, pae : as in `_check_order`.
    """
    has_row = np.flatnonzero(token >= 0)
    rows = token[has_row]
    chain_of = complex_.chain_of[has_row]
    is_protein = (complex_.is_protein & (complex_.ca >= 0))[has_row]
    ca = complex_.xyz[complex_.ca[has_row]]
    follows = np.diff(rows) == 1
    both = is_protein[1:] & is_protein[:-1]
    in_chain = both & (chain_of[1:] == chain_of[:-1])
    is_near = np.linalg.norm(np.diff(ca, axis=0), axis=1) <= BOND
    errors = np.minimum(pae[rows[:-1], rows[1:]], pae[rows[1:], rows[:-1]])
    of_bonds = errors[follows & in_chain & is_near]
    of_ends = errors[follows & ~in_chain & (is_protein[1:] | is_protein[:-1])]
    if not len(of_bonds) or not len(of_ends):
        return False
    largest = of_bonds.max()
    is_broken = largest > max(BROKEN * np.median(of_bonds), LEAST_BROKEN)
    n_alike = np.count_nonzero(of_bonds > largest / 2)
    is_end = of_ends.min() < largest / 2
    return bool(is_broken and is_end and n_alike <= len(of_ends))


def _contacts_leave_it_open(
    complex_: Complex,
    residues: np.ndarray,
    token: np.ndarray,
    pae: np.ndarray,
    at_most: float,
) -> bool:
    """Whether two different chains of equal size fit the rows of each other as well.

    at_most : PAE of contacts in their own rows over that in those of each other
    """
    names = np.array(complex_.names)
    chains_of_size: dict[tuple[int, int], list[np.ndarray]] = {}
    for chain in dict.fromkeys(complex_.chain_of[residues].tolist()):
        of_chain = residues[complex_.chain_of[residues] == chain]
        size = len(of_chain), int(np.ptp(token[of_chain]))
        chains_of_size.setdefault(size, []).append(of_chain)

    def error(chain: np.ndarray, rows_of: np.ndarray) -> float:
        return _error_of_contacts(complex_, chain, token[rows_of], pae)

    for chains in chains_of_size.values():
        for first, second in itertools.combinations(chains[:MOST_CHAINS], 2):
            if (names[first] == names[second]).all():
                continue
            here = error(first, first) + error(second, second)
            there = error(first, second) + error(second, first)
            if not here < at_most * there:
                return True
    return False


def _error_of_contacts(
    complex_: Complex, residues: np.ndarray, rows: np.ndarray, pae: np.ndarray
) -> float:
    """Mean PAE in Å of the residues of a chain that touch; 0 without any. rows : of residues."""
    ca = complex_.xyz[complex_.ca[residues]].astype(float)
    distance = np.linalg.norm(ca[:, None] - ca, axis=-1)
    first, second = np.nonzero(np.triu(distance < CONTACT, APART))
    if not len(first):
        return 0.0
    both_ways = pae[rows[first], rows[second]] + pae[rows[second], rows[first]]
    return float(both_ways.mean())


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
    is_single = np.diff(np.append(token, len(plddt))) == 1
    # how many residues of several tokens stand before
    part = np.cumsum(~is_single)[residues]
    if not part.any():
        return False
    for behind in range(part.max() + 1):
        counted = residues[(part == behind) & is_single[residues]]
        tokens = token[counted]
        shifts = range(tokens[0] + 1) if behind and len(tokens) else [0]
        of_model = b_factors[counted]
        shares = [differing(plddt[tokens - shift], of_model) for shift in shifts]
        if min(shares) > MOST_DIFFERING:
            return False
    return True
