"""Chains compared without alignment, by the k-mers they share.

It recognises antibody chains.

Two chains are alike when at least `ALIKE` of the k-mers of the one with fewer are also in the
other. That is so for close homologues and for a chain that is part of another one.

Antibodies share most of their sequence, whatever they bind. So a chain with a variable domain does
not tell whether two complexes are alike and is not compared, and neither is a peptide, which may be
found in many proteins by chance, or a longer chain that tells no more, such as one of unknown amino
acids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from toporank.chains.immune import VARIABLE_DOMAIN
from toporank.chains.thresholds import FEWEST_KMERS

K = 5
PROTEIN, ANTIBODY, PEPTIDE = "protein", "antibody", "peptide"

LETTERS = b"ACDEFGHIKLMNPQRSTVWY"
_CODES = np.full(256, -1, dtype=np.int64)
_CODES[list(LETTERS)] = range(len(LETTERS))


def kind_of(sequence: str) -> str:
    """The kind of a chain.

    `antibody` with a variable domain of an antibody, nanobody or T-cell receptor, otherwise
    `protein`, or `peptide` if it is short.

    >>> nanobody = "QVQLVESGGGLVQAGGSLRLSCAASGRTFSSYAMGWFRQAPGKEREFVAAISWSGGST"
    >>> nanobody += "YYADSVKGRFTISRDNAKNTVYLQMNSLKPEDTAVYYCAADRYWGQGTQVTVSS"
    >>> kind_of(nanobody)
    'antibody'
    >>> kind_of("SLLMWITQC")
    'peptide'
    """
    if VARIABLE_DOMAIN.search(sequence):
        return ANTIBODY
    return PROTEIN if len(kmers(sequence)) >= FEWEST_KMERS else PEPTIDE


def kmers(sequence: str) -> np.ndarray:
    """The distinct k-mers of a sequence of one-letter codes as hashes, sorted: uint32, (n,).

    Different k-mers have different hashes, and the first hashes are a random sample of the k-mers.
    K-mers with another letter than those of the 20 amino acids are left out.
    """
    codes = _CODES[np.frombuffer(sequence.encode("ascii", "replace"), np.uint8)]
    if len(codes) < K:
        return np.empty(0, dtype=np.uint32)
    windows = np.lib.stride_tricks.sliding_window_view(codes, K)
    numbers = windows[(windows >= 0).all(axis=1)] @ len(LETTERS) ** np.arange(K)
    return np.unique(_hashed(numbers.astype(np.uint32)))


def _hashed(numbers: np.ndarray) -> np.ndarray:
    """A permutation of uint32 in which neighbours lie far apart.

    It is the last step of MurmurHash3 (Appleby).
    """
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        numbers = (numbers ^ (numbers >> np.uint32(shift))) * np.uint32(factor)
    return numbers ^ (numbers >> np.uint32(16))


class Sample(NamedTuple):
    """The smallest hashes of the k-mers of a chain, sorted, and how many k-mers it has."""

    hashes: np.ndarray
    n_kmers: int


def sample(sequence: str, most: int | None = None) -> Sample:
    """At most so many of the k-mers of a chain; all by default."""
    hashes = kmers(sequence)
    return Sample(hashes[:most], len(hashes))


def containments(
    queries: Sequence[str], references: Sequence[Sample]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find pairs of a query chain and a reference chain that share k-mers.

    Containment: the share, in [0, 1], of the k-mers of the chain with fewer that are also in the
    other. Exact where the reference has all its k-mers, otherwise estimated from the part that was
    kept, without bias.

    Parameters
    ----------
    queries : sequences
    references : as from `sample`

    Returns
    -------
    query, reference, containment : places in the two lists, int, and float64, each of shape (m,)
    """
    kept = [reference.hashes for reference in references]
    n_kept = np.array([len(hashes) for hashes in kept], dtype=np.int64)
    n_kmers = np.array([reference.n_kmers for reference in references], dtype=np.int64)
    hashes = np.concatenate([*kept, np.empty(0, np.uint32)])
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    owner = np.repeat(np.arange(len(kept)), n_kept)[order]
    queries_found, references_found, found = [], [], []
    for number, sequence in enumerate(queries):
        of_query = kmers(sequence)
        first = np.searchsorted(hashes, of_query, "left")
        n_equal = np.searchsorted(hashes, of_query, "right") - first
        # the places first[k], first[k] + 1 … in `hashes` of every k-mer k, one after another
        before = np.cumsum(n_equal) - n_equal
        places = np.arange(n_equal.sum()) + np.repeat(first - before, n_equal)
        n_shared = np.bincount(owner[places], minlength=len(kept))
        reference = np.flatnonzero(n_shared)
        in_whole = n_shared[reference] * n_kmers[reference] / n_kept[reference]
        queries_found.append(np.full(len(reference), number))
        references_found.append(reference)
        found.append(
            np.minimum(1.0, in_whole / np.minimum(len(of_query), n_kmers[reference]))
        )
    whole_numbers = np.empty(0, np.int64)
    return (
        np.concatenate([whole_numbers, *queries_found]),
        np.concatenate([whole_numbers, *references_found]),
        np.concatenate([np.empty(0), *found]),
    )
