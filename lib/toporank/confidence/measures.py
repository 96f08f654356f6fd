"""Measures of the interfaces of a model from pLDDT and PAE, by their published formulae.

`plddt` is that of each residue, 0 to 100, shape (R,); `pae` the predicted aligned error in Å, shape
(R, R), of residue j (column) when residue i (row) is superposed. `pairs` are residues i < j of two
bodies that touch, int, shape (P, 2).
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from toporank.structures.complex import Complex
from toporank.structures.neighbours import pairs_between_groups

LOW = 70.0
"""pLDDT below which AlphaFold calls a residue of low confidence."""
INTERFACE = 10.0
"""Å between CA atoms of residues at an interface, as in `features.interface`."""
CONTACT = 8.0
"""Å between CB atoms (CA of glycine) of residues that touch, in pDockQ and pDockQ2."""
IPSAE_CUTOFF = 10.0
"""Å: PAE of the pairs that count in ipSAE."""
LIS_CUTOFF = 12.0
"""Å: PAE of the pairs that count in LIS."""


def measured(
    complex_: Complex,
    residues: np.ndarray,
    plddt: np.ndarray | None,
    pae: np.ndarray | None,
) -> dict[str, float]:
    """Return measures of the whole and of its interfaces, the mean over pairs of bodies that touch.

    Parameters
    ----------
    complex_ : the model
    residues : those with a CA atom in a body, N of them; int
    plddt : theirs, shape (N,)
    pae : theirs, shape (N, N)

    Returns
    -------
    measures : by the names of columns in confidence.csv; pLDDT from 0 to 100, PAE in Å
    """
    values: dict[str, float] = {}
    if plddt is not None:
        values["plddt"] = float(plddt.mean())
    body, near = touching(complex_, residues)
    if not len(near):
        return values
    contacts, _ = pairs_between_groups(_cb(complex_)[residues], body, CONTACT)
    interface = np.unique(near)
    if plddt is not None:
        in_contact = np.unique(contacts) if len(contacts) else interface
        values["interface_plddt"] = float(plddt[interface].mean())
        values["low_plddt"] = float((plddt[interface] < LOW).mean())
        values["contact_plddt"] = float(plddt[in_contact].mean())
    if pae is not None:
        values["interface_pae"] = interface_pae(pae, near)
    of_pairs: dict[str, list[float]] = defaultdict(list)
    for first, second in pairs_of_bodies(body, near):
        is_between = np.sort(body[contacts], axis=1) == (first, second)
        pairs = contacts[is_between.all(axis=1)]
        if plddt is not None:
            of_pairs["pdockq"].append(pdockq(plddt, pairs))
        if pae is not None:
            of_first = np.flatnonzero(body == first)
            of_second = np.flatnonzero(body == second)
            of_pairs["ipsae"].append(ipsae(pae, of_first, of_second))
            of_pairs["lis"].append(lis(pae, of_first, of_second))
        if plddt is not None and pae is not None:
            from_first = np.where(body[pairs[:, :1]] == first, pairs, pairs[:, ::-1])
            of_pairs["pdockq2"].append(pdockq2(plddt, pae, from_first))
    for name, of_interfaces in of_pairs.items():
        values[name] = float(np.mean(of_interfaces))
    return values


def residues_of_partners(complex_: Complex) -> np.ndarray:
    """Return the residues of partners that have a CA atom; int."""
    return np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))


def touching(complex_: Complex, residues: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the body of each of these residues, and the pairs at an interface, (P, 2)."""
    body = complex_.body_of[residues]
    near, _ = pairs_between_groups(complex_.xyz[complex_.ca[residues]], body, INTERFACE)
    return body, near


def pairs_of_bodies(body: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the bodies that touch, each pair once; int, (P, 2)."""
    return np.unique(np.sort(body[near], axis=1), axis=0)


def _cb(complex_: Complex) -> np.ndarray:
    """CB of each residue, CA where it has none; shape (R, 3), of no use for residues without CA."""
    xyz = complex_.xyz[complex_.ca]
    atoms = np.flatnonzero(complex_.atom_names == b"CB")
    xyz[complex_.residue_of[atoms]] = complex_.xyz[atoms]
    return xyz


def pdockq(plddt: np.ndarray, pairs: np.ndarray) -> float:
    """pDockQ: mean pLDDT at the interface times log10 of its contacts, through a curve.

    Bryant et al. 2022, Nat Commun 13:1265.

    0 without contacts.
    """
    if not len(pairs):
        return 0.0
    x = plddt[np.unique(pairs)].mean() * np.log10(len(pairs))
    return float(0.724 / (1 + np.exp(-0.052 * (x - 152.611))) + 0.018)


def pdockq2(plddt: np.ndarray, pae: np.ndarray, pairs: np.ndarray) -> float:
    """pDockQ2, the larger of both directions; 0 without contacts.

    Mean pLDDT at the interface times the mean of 1 / (1 + (PAE / 10 Å)²) over its contacts (Zhu
    et al. 2023, Bioinformatics 39:btad424).
    """
    if not len(pairs):
        return 0.0
    first, second = pairs.T
    forwards = tm_term(pae[first, second], 10.0).mean()
    backwards = tm_term(pae[second, first], 10.0).mean()
    trust = max(forwards, backwards)
    x = plddt[np.unique(pairs)].mean() * trust
    return float(1.31 / (1 + np.exp(-0.075 * (x - 84.733))) + 0.005)


def ipsae(pae: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """ipSAE (Dunbrack 2025, bioRxiv 2025.02.10.637595), in [0, 1]; the larger of both directions.

    For each residue of one body the TM-score term is averaged over those residues of the other
    with PAE below 10 Å, d0 being that of a protein of their number; the best residue counts.

    Parameters
    ----------
    pae : shape (R, R), Å
    first, second : indices of the bodies' residues

    Returns
    -------
    ipsae : in [0, 1]

    Examples
    --------
    >>> first, second = np.arange(40), np.arange(40, 80)
    >>> round(ipsae(np.full((80, 80), 2.0), first, second), 2), ipsae(
    ...     np.full((80, 80), 20.0), first, second
    ... )
    (0.45, 0.0)
    """
    forwards = _best_aligned(pae[np.ix_(first, second)])
    backwards = _best_aligned(pae[np.ix_(second, first)])
    return max(forwards, backwards)


def _best_aligned(pae: np.ndarray) -> float:
    near = pae < IPSAE_CUTOFF
    n = near.sum(axis=1)
    terms = tm_term(pae, tm_length(n)[:, None])
    means = np.where(near, terms, 0.0).sum(axis=1) / np.maximum(n, 1)
    return float(means.max(initial=0.0))


def tm_term(error: np.ndarray, d0: np.ndarray | float) -> np.ndarray:
    """1 / (1 + (error / d0)²)."""
    return 1.0 / (1.0 + (error / d0) ** 2)


def tm_length(n: np.ndarray) -> np.ndarray:
    """d0 in Å of the TM-score for n residues (Zhang & Skolnick 2004).

    Fewer than 27 residues count as 27, as in ipSAE.
    """
    return np.maximum(1.0, 1.24 * np.cbrt(np.maximum(n, 27) - 15.0) - 1.8)


def lis(pae: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Local interaction score, in [0, 1]; the mean of both directions.

    Kim et al. 2024, bioRxiv 2024.02.19.580970.

    (12 Å − PAE) / 12 Å averaged over the pairs of residues with PAE below 12 Å; 0 if there are
    none.
    """
    forwards = _local(pae[np.ix_(first, second)])
    backwards = _local(pae[np.ix_(second, first)])
    return (forwards + backwards) / 2


def _local(pae: np.ndarray) -> float:
    counted = pae[pae < LIS_CUTOFF]
    return float((1 - counted / LIS_CUTOFF).mean()) if counted.size else 0.0


def interface_pae(pae: np.ndarray, pairs: np.ndarray) -> float:
    """Mean PAE of one pair or more, in both directions; Å."""
    first, second = pairs.T
    return float((pae[first, second].mean() + pae[second, first].mean()) / 2)
