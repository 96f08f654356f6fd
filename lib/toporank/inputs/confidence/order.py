"""Whether rows of PAE can be those of residues: what bonds and contacts of the model say.

The error between bonded neighbours is small in every prediction. Where the chains have another
order in the file than in the model, a bond of the model lies where the file has the end of a chain.
"""

from __future__ import annotations

import itertools

import numpy as np

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


def order_is_open(complex_: Complex, token: np.ndarray, pae: np.ndarray) -> bool:
    """Return whether bonds and contacts do not say that rows are in the order of the residues.

    Parameters
    ----------
    complex_ : the model, with R residues
    token : of each residue its row, -1 for none, int, shape (R,)
    pae : Å, shape (T, T)
    """
    residues = np.flatnonzero((token >= 0) & (complex_.ca >= 0) & complex_.is_protein)
    return _bonds_are_broken(complex_, residues, token[residues], pae) or (
        _contacts_leave_it_open(complex_, residues, token, pae)
    )


def _bonds_are_broken(
    complex_: Complex, residues: np.ndarray, rows: np.ndarray, pae: np.ndarray
) -> bool:
    """Whether PAE has the end of a chain where the model has a bond, and the other way round.

    A chain may be uncertain as a whole: then many bonds are. rows : of residues.
    """
    ca = complex_.xyz[complex_.ca[residues]]
    chain_of = complex_.chain_of[residues]
    follows = np.diff(rows) == 1
    in_chain = chain_of[1:] == chain_of[:-1]
    is_near = np.linalg.norm(np.diff(ca, axis=0), axis=1) <= BOND
    errors = np.minimum(pae[rows[:-1], rows[1:]], pae[rows[1:], rows[:-1]])
    of_bonds = errors[follows & in_chain & is_near]
    of_ends = errors[follows & ~in_chain]
    if not len(of_bonds) or not len(of_ends):
        return False
    largest = of_bonds.max()
    is_broken = largest > max(BROKEN * np.median(of_bonds), LEAST_BROKEN)
    n_alike = np.count_nonzero(of_bonds > largest / 2)
    is_end = of_ends.min() < largest / 2
    return bool(is_broken and is_end and n_alike <= len(of_ends))


def _contacts_leave_it_open(
    complex_: Complex, residues: np.ndarray, token: np.ndarray, pae: np.ndarray
) -> bool:
    """Whether two different chains of equal size fit the rows of each other about as well."""
    names = np.array(complex_.names)
    places: dict[tuple[int, int], list[np.ndarray]] = {}
    for chain in dict.fromkeys(complex_.chain_of[residues].tolist()):
        of_chain = residues[complex_.chain_of[residues] == chain]
        size = len(of_chain), int(np.ptp(token[of_chain]))
        places.setdefault(size, []).append(of_chain)
    for chains in places.values():
        for first, second in itertools.combinations(chains[:MOST_CHAINS], 2):
            if (names[first] == names[second]).all():
                continue
            here = _error_of_contacts(complex_, first, token[first], pae)
            here += _error_of_contacts(complex_, second, token[second], pae)
            there = _error_of_contacts(complex_, first, token[second], pae)
            there += _error_of_contacts(complex_, second, token[first], pae)
            if not here < CLEARLY * there:
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
    return float(
        (pae[rows[first], rows[second]] + pae[rows[second], rows[first]]).mean()
    )
