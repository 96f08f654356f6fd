"""Kinds of chains: sequences of one protein, but for cut ends, missing loops or a few exchanges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from toporank.comparing.homology.kmers import Sample, sample
from toporank.comparing.native.alignment import align, most_identical

LEAST_IDENTITY = 0.9
"""Share of the shorter chain's residues that chains of one kind have in common: mutants, cut ends,
missing loops.
"""
LEAST_COVERAGE = 0.5
"""And of the longer chain's: a domain alone is another construct."""
LEAST_KMERS = 0.4
"""Share of 5-mers in common below which no alignment is tried; a tenth of the residues exchanged
leaves 0.59.
"""
PEPTIDE = 30
"""Residues of the longest peptide. Peptides of one kind have the same letters: whoever scans them
compares each.
"""
TAIL = 10
"""Least identical residues before and behind an exchange in chains of different length: others are
of a tag or tail.
"""
UNKNOWN = "X"
INDEXED = 64
"""5-mers by which the first sequence of a kind is found again."""


def kinds_of(sequences: Iterable[str]) -> dict[str, int]:
    """Sequence → its kind, a number.

    The number is that of the first sequence of the kind, in order of length and letters.
    """
    ordered = sorted(set(sequences), key=lambda s: (-len(s), s))
    kinds = _kinds_of_proteins(
        sequence for sequence in ordered if len(sequence) > PEPTIDE
    )
    peptides: dict[str, int] = {}
    for sequence in sorted(ordered, key=lambda s: s.count(UNKNOWN)):
        if len(sequence) <= PEPTIDE:
            kind = len(ordered) + len(peptides)
            if UNKNOWN in sequence:
                same = [
                    peptides[other] for other in peptides if same_kind(other, sequence)
                ]
                kind = same[0] if same else kind
            peptides[sequence] = kind
    return kinds | peptides


def _kinds_of_proteins(sequences: Iterable[str]) -> dict[str, int]:
    """As `kinds_of`, for chains that are no peptides. sequences : the longest first."""
    kinds: dict[str, int] = {}
    firsts: list[tuple[str, Sample]] = []
    kinds_with_kmer: dict[int, list[int]] = {}
    for sequence in sequences:
        kmers = sample(sequence)
        n_shared: Counter[int] = Counter()
        for kmer in kmers.hashes.tolist():
            n_shared.update(kinds_with_kmer.get(kmer, ()))
        for kind, n in n_shared.most_common():
            first, kmers_of_first = firsts[kind]
            if _share(n, kmers, kmers_of_first) >= LEAST_KMERS and same_kind(
                first, sequence
            ):
                break
        else:
            kind = len(firsts)
            indexed = kmers.hashes[:INDEXED]
            firsts.append((sequence, kmers._replace(hashes=indexed)))
            for kmer in indexed.tolist():
                kinds_with_kmer.setdefault(kmer, []).append(kind)
        kinds[sequence] = kind
    return kinds


def _share(n: int, kmers: Sample, first: Sample) -> float:
    """Share of the k-mers that two chains have in common.

    n : of those that were kept of the first.
    """
    return n / len(first.hashes) * first.n_kmers / min(kmers.n_kmers, first.n_kmers)


def same_kind(one: str, other: str) -> bool:
    """Return whether two sequences are of one kind.

    They are the same protein, but for cut ends, missing loops or a few exchanges.

    Peptides of one kind have the same letters, wherever both are known.
    """
    shorter, longer = sorted((one, other), key=len)
    if shorter and len(shorter) <= PEPTIDE:
        return len(shorter) == len(longer) and not _exchanged(shorter, longer)
    if not shorter or len(shorter) < LEAST_COVERAGE * len(longer):
        return False
    return most_identical(longer, shorter) >= max(
        LEAST_IDENTITY * len(shorter), LEAST_COVERAGE * len(longer)
    )


def same_protein(one: str, other: str) -> bool:
    """Return whether two sequences of one kind have no exchange.

    Ends and loops may be missing of either.
    """
    between = _between(*sorted((one, other), key=len))
    return not any(a and b for a, b in between)


def exchanges(one: str, other: str) -> int:
    """Return how many residues of two sequences of one kind are others.

    It counts within the chains, where both are known.

    Loops that either lacks are no exchanges, and neither are the tags and tails of chains that
    differ in length.
    """
    shorter, longer = sorted((one, other), key=len)
    if most_identical(longer, shorter) == len(shorter):
        return 0
    between = _between(shorter, longer)
    ends = TAIL if len(shorter) < len(longer) else 0
    return sum(
        _exchanged(a, b) for a, b in between[ends : len(between) - ends] if a and b
    )


def _exchanged(one: str, other: str) -> int:
    """How many residues differ between two stretches that correspond."""
    if len(one) == len(other):
        return sum(
            a != b and UNKNOWN not in (a, b) for a, b in zip(one, other, strict=True)
        )
    return max(
        0, min(len(one), len(other)) - max(one.count(UNKNOWN), other.count(UNKNOWN))
    )


def _between(shorter: str, longer: str) -> list[tuple[str, str]]:
    """What the two sequences have around and between the residues that are the same."""
    residue = align(longer, shorter).residue
    of_longer = np.flatnonzero(residue >= 0)
    in_shorter = _parted(shorter, residue[of_longer].tolist())
    in_longer = _parted(longer, of_longer.tolist())
    return list(zip(in_shorter, in_longer, strict=True))


def _parted(sequence: str, places: list[int]) -> list[str]:
    """The stretches of a sequence before, between and behind these places."""
    return [sequence[a + 1 : b] for a, b in pairwise([-1, *places, len(sequence)])]
