"""Chains compared without alignment, by the k-mers they share; antibody chains told from the others.

Two chains are alike when at least `ALIKE` of the k-mers of the one with fewer are also in the other. That is so for
close homologues and for a chain that is part of another one.

Antibodies share most of their sequence, whatever they bind. So a chain with a variable domain does not tell whether two
complexes are alike and is not compared, and neither is a peptide, which may be found in many proteins by chance, or a
longer chain that tells no more, such as one of unknown amino acids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from toporank.structures.immune import VARIABLE_DOMAIN

if TYPE_CHECKING:
    import scipy.sparse

K = 5
ALIKE = 0.4
"""Two chains are alike from this containment."""
FEWEST = 16
"""Different k-mers of a chain that is compared: those of 20 residues."""

PROTEIN, ANTIBODY, PEPTIDE = ("protein", "antibody", "peptide")

LETTERS = b"ACDEFGHIKLMNPQRSTVWY"
_CODES = np.full(256, -1, dtype=np.int64)
_CODES[list(LETTERS)] = range(len(LETTERS))


def kind_of(sequence: str) -> str:
    """The kind of a chain: `antibody` with a variable domain of an antibody, nanobody or T-cell receptor, otherwise
    `protein`, or `peptide` if it is short.

    >>> kind_of("QVQLVESGGGLVQAGGSLRLSCAASGRTFSSYAMGWFRQAPGKEREFVAAISWSGGSTYYADSVKGRFTISRDNAKNTVYLQMNSLKPEDTAVYYCA"
    ...         "ADRYWGQGTQVTVSS")
    'antibody'
    >>> kind_of("SLLMWITQC")
    'peptide'
    """
    if VARIABLE_DOMAIN.search(sequence):
        return ANTIBODY
    return PROTEIN if len(kmers(sequence)) >= FEWEST else PEPTIDE


def kmers(sequence: str) -> np.ndarray:
    """The distinct k-mers of a sequence of one-letter codes as hashes, sorted: uint32, (n,).

    Different k-mers have different hashes, and the first hashes are a random sample of the k-mers. K-mers with another
    letter than those of the 20 amino acids are left out.
    """
    codes = _CODES[np.frombuffer(sequence.encode("ascii", "replace"), np.uint8)]
    if len(codes) < K:
        return np.empty(0, dtype=np.uint32)
    windows = np.lib.stride_tricks.sliding_window_view(codes, K)
    numbers = windows[(windows >= 0).all(axis=1)] @ len(LETTERS) ** np.arange(K)
    return np.unique(_hashed(numbers.astype(np.uint32)))


def _hashed(numbers: np.ndarray) -> np.ndarray:
    """A permutation of uint32 in which neighbours lie far apart: the last step of MurmurHash3 (Appleby)."""
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


def containments(queries: Sequence[str], references: Sequence[Sample]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find pairs of a query chain and a reference chain that share k-mers.

    Containment: the share, in [0, 1], of the k-mers of the chain with fewer that are also in the other. Exact where the
    reference has all its k-mers, otherwise estimated from the part that was kept, without bias.

    Parameters
    ----------
    queries : sequences
    references : as from `sample`

    Returns
    -------
    query, reference, containment : places in the two lists, int, and float64, each of shape (m,)
    """
    query_hashes = [kmers(query) for query in queries]
    reference_hashes = [reference.hashes for reference in references]
    known_hashes = np.unique(np.concatenate([*reference_hashes, np.empty(0, np.uint32)]))
    # Products of tables with a row for each chain and a column for each k-mer count the common k-mers.
    shared = (_table(query_hashes, known_hashes) @ _table(reference_hashes, known_hashes).T).tocoo()
    query, reference = shared.coords
    n_in_query = np.array([len(hashes) for hashes in query_hashes])[query]
    n_in_reference = np.array([sample_.n_kmers for sample_ in references], dtype=np.int64)[reference]
    n_kept = np.array([len(hashes) for hashes in reference_hashes])[reference]
    n_shared = shared.data * n_in_reference / n_kept
    return query, reference, np.minimum(1.0, n_shared / np.minimum(n_in_query, n_in_reference))


def _table(rows: list[np.ndarray], columns: np.ndarray) -> scipy.sparse.csr_array:
    """1 where a row has the hash of a column, else 0. columns : sorted."""
    import scipy.sparse  # takes a tenth of a second to import

    hashes = np.concatenate([*rows, np.empty(0, np.uint32)])
    row = np.repeat(np.arange(len(rows)), [len(of_row) for of_row in rows])
    is_column = np.isin(hashes, columns)
    column = np.searchsorted(columns, hashes[is_column])
    ones = np.ones(len(column))
    return scipy.sparse.csr_array((ones, (row[is_column], column)), shape=(len(rows), len(columns)))
