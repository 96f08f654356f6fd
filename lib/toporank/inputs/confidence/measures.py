"""Measures of an interface from pLDDT and PAE, by their published formulae.

`plddt` is that of each residue, 0 to 100, shape (R,); `pae` the predicted aligned error in Å, shape
(R, R), of residue j (column) when residue i (row) is superposed. `pairs` are residues i < j of two
bodies that touch, int, shape (P, 2).
"""

from __future__ import annotations

import numpy as np

LOW = 70.0
"""pLDDT below which AlphaFold calls a residue of low confidence."""
CONTACT = 8.0
"""Å between CB atoms (CA of glycine) of residues that touch, in pDockQ and pDockQ2."""
IPSAE_CUTOFF = 10.0
"""Å: PAE of the pairs that count in ipSAE."""
LIS_CUTOFF = 12.0
"""Å: PAE of the pairs that count in LIS."""


def pdockq(plddt: np.ndarray, pairs: np.ndarray) -> float:
    """pDockQ: mean pLDDT at the interface times log10 of its contacts, through a curve.

    Bryant et al. 2022, Nat Commun 13:1265.

    0 without contacts.
    """
    if not len(pairs):
        return 0.0
    x = plddt[np.unique(pairs)].mean() * np.log10(len(pairs))
    return float(0.724 / (1 + np.exp(-0.052 * (x - 152.611))) + 0.018)


def contact_plddt(plddt: np.ndarray, pairs: np.ndarray, interface: np.ndarray) -> float:
    """Mean pLDDT of the residues in contact.

    Where there are no contacts, it is that of the interface, int, shape (I,).
    """
    return float(plddt[np.unique(pairs) if len(pairs) else interface].mean())


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
