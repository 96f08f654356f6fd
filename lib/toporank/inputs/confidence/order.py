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


def order_is_another(complex_: Complex, token: np.ndarray, pae: np.ndarray) -> bool:
    """Return whether bonds or contacts say that rows are in another order than the residues.

    Of chains of equal size that differ, contacts must speak for the order, too.

    Parameters
    ----------
    complex_ : the model, with R residues
    token : of each residue its row, -1 for none, int, shape (R,)
    pae : Å, shape (T, T)
    """
    rows = np.flatnonzero((token >= 0) & (complex_.ca >= 0) & complex_.is_protein)
    if len(rows) < 2:
        return False
    ca = complex_.xyz[complex_.ca[rows]]
    chain_of = complex_.chain_of[rows]
    follows = token[rows][1:] == token[rows][:-1] + 1
    same_chain = chain_of[1:] == chain_of[:-1]
    near = np.linalg.norm(np.diff(ca, axis=0), axis=1) <= BOND
    first, second = token[rows][:-1], token[rows][1:]
    errors = np.minimum(pae[first, second], pae[second, first])
    bonds = errors[follows & same_chain & near]
    ends = errors[follows & ~same_chain]
    if not len(bonds) or not len(ends):
        return False
    largest = bonds.max()
    is_broken = largest > max(BROKEN * np.median(bonds), LEAST_BROKEN)
    if is_broken and ends.min() < largest / 2:
        return True
    return _contacts_leave_it_open(complex_, rows, token, pae)


def _contacts_leave_it_open(
    complex_: Complex, rows: np.ndarray, token: np.ndarray, pae: np.ndarray
) -> bool:
    """Whether other chains of equal size fit the rows of a chain about as well.

    rows : the residues that count, int.
    """
    names = np.array(complex_.names)
    places: dict[tuple[int, int], list[np.ndarray]] = {}
    for chain in dict.fromkeys(complex_.chain_of[rows].tolist()):
        of_chain = rows[complex_.chain_of[rows] == chain]
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
