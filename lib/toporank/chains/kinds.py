"""Kinds of chains: sequences of one protein, but for cut ends, missing loops or a few exchanges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np

from toporank.chains.alignment import align, most_identical
from toporank.chains.kmers import Sample, sample
from toporank.chains.thresholds import (
    KIND_COVERAGE,
    KIND_KMERS,
    LONGEST_PEPTIDE,
    SAME_KIND,
    TAIL,
)

UNKNOWN = "X"
INDEXED = 64
"""5-mers by which a sequence is found again."""


def kinds_of(sequences: Iterable[str]) -> dict[str, int]:
    """Sequence → its kind, a number.

    Likeness is decided for a group: all of its sequences are alike, or each protein of it is a kind
    of its own. So neither the order of sequences nor a chain of pairs decides.
    """
    ordered = _longest_first(set(sequences))
    kinds: list[list[str]] = []
    for group in _groups(s for s in ordered if len(s) > LONGEST_PEPTIDE):
        kinds += [group] if _all_alike(group) else _proteins(group)
    kinds += _peptides(s for s in ordered if len(s) <= LONGEST_PEPTIDE)
    kind_of: dict[str, int] = {}
    for kind, of_kind in enumerate(kinds):
        kind_of.update(dict.fromkeys(of_kind, kind))
    return kind_of


def _longest_first(sequences: Iterable[str]) -> list[str]:
    return sorted(sequences, key=lambda s: (-len(s), s))


def _peptides(sequences: Iterable[str]) -> list[list[str]]:
    """Peptides of each kind.

    One with unknown residues is of another's kind if it can be of no third one's.
    """
    kinds: list[list[str]] = []
    for sequence in sorted(sequences, key=lambda s: s.count(UNKNOWN)):
        same = []
        if UNKNOWN in sequence:
            same = [of_kind for of_kind in kinds if same_kind(of_kind[0], sequence)]
        if len(same) == 1:
            same[0].append(sequence)
        else:
            kinds.append([sequence])
    return kinds


# ---- groups of proteins --------------------------------------------------------------------------


def _groups(sequences: Iterable[str]) -> list[list[str]]:
    """Sequences that likeness joins, of two or through others; each group has the longest first.

    sequences : of proteins, the longest first.
    """
    groups: dict[int, dict[str, Sample]] = {}
    groups_with_kmer: dict[int, set[int]] = {}
    for place, sequence in enumerate(sequences):
        kmers = sample(sequence)
        n_shared: Counter[int] = Counter()
        for kmer in kmers.hashes.tolist():
            n_shared.update(groups_with_kmer.get(kmer, ()))
        joined = []
        for number, n in n_shared.items():
            if number in groups and _has_like(groups[number], n, sequence, kmers):
                joined.append(number)
        number, *others = joined or [place]
        new = {sequence: kmers._replace(hashes=kmers.hashes[:INDEXED])}
        for other in others:
            new |= groups.pop(other)
        groups.setdefault(number, {}).update(new)
        for indexed in new.values():
            for kmer in indexed.hashes.tolist():
                groups_with_kmer.setdefault(kmer, set()).add(number)
    return [_longest_first(group) for group in groups.values()]


def _has_like(
    group: Mapping[str, Sample], n_shared: int, sequence: str, kmers: Sample
) -> bool:
    """Whether one of a group is like another sequence, which is not longer.

    n_shared : k-mers that some of the group have, too.
    """
    hashes = set(kmers.hashes.tolist())
    for member, indexed in group.items():
        least = KIND_KMERS * len(indexed.hashes) / indexed.n_kmers
        least *= min(kmers.n_kmers, indexed.n_kmers)
        if (
            n_shared >= least
            and len(hashes.intersection(indexed.hashes.tolist())) >= least
            and same_kind(member, sequence)
        ):
            return True
    return False


def _all_alike(group: list[str]) -> bool:
    """Whether any two of a group are alike.

    What two of them do not have in common with the longest is more than they do not have in common.
    """
    longest, *others = group
    if not all(same_kind(longest, other) for other in others):
        return False
    most = (1 - SAME_KIND) * len(group[-1])
    differing = sorted(
        ((len(other) - most_identical(longest, other), other) for other in others),
        reverse=True,
    )
    for place, (n, one) in enumerate(differing):
        for n_other, other in differing[place + 1 :]:
            if n + n_other <= most:
                break
            if not same_kind(one, other):
                return False
    return True


def _proteins(group: list[str]) -> list[list[str]]:
    """The sequences of each protein of a group, without exchanges."""
    proteins: list[list[str]] = []
    for sequence in group:
        for protein in proteins:
            if same_kind(protein[0], sequence) and same_protein(protein[0], sequence):
                protein.append(sequence)
                break
        else:
            proteins.append([sequence])
    return proteins


# ---- two sequences -------------------------------------------------------------------------------


def same_kind(one: str, other: str) -> bool:
    """Return whether two sequences are of one kind.

    They are the same protein, but for cut ends, missing loops or a few exchanges.

    Peptides of one kind have the same letters, wherever both are known.
    """
    shorter, longer = sorted((one, other), key=len)
    if shorter and len(shorter) <= LONGEST_PEPTIDE:
        return len(shorter) == len(longer) and not _exchanged(shorter, longer)
    if not shorter or len(shorter) < KIND_COVERAGE * len(longer):
        return False
    return most_identical(longer, shorter) >= max(
        SAME_KIND * len(shorter), KIND_COVERAGE * len(longer)
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

    Loops that either lacks are no exchanges, and neither are tags and tails.
    """
    shorter, longer = sorted((one, other), key=len)
    if most_identical(longer, shorter) == len(shorter):
        return 0
    between = _between(shorter, longer)
    first, last = 0, len(between)
    if len(shorter) < len(longer):
        if _is_tail(between[:TAIL]):
            first = TAIL
        if _is_tail(between[-TAIL:]):
            last -= TAIL
    return sum(_exchanged(a, b) for a, b in between[first:last] if a and b)


def _is_tail(between: Iterable[tuple[str, str]]) -> bool:
    """Whether these stretches at an end are of a tag or tail: one chain has more of them."""
    of_one, of_other = zip(*between, strict=True)
    return sum(map(len, of_one)) != sum(map(len, of_other))


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
