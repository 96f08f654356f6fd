"""Kinds of chains: sequences of one protein, but for cut ends, missing loops or a few exchanges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain, pairwise

import numpy as np

from toporank.chains.alignment import ManySequences, align, most_identical
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
    groups: dict[int, _Group] = {}
    groups_with_kmer: dict[int, set[int]] = {}
    longest = 0
    for place, sequence in enumerate(sequences):
        kmers = sample(sequence)
        longest = longest or len(sequence)
        hashes = kmers.hashes.tolist()
        different = set(hashes)
        with_kmer = [groups_with_kmer.get(kmer, ()) for kmer in hashes]
        n_shared = Counter(chain.from_iterable(with_kmer))
        joined = []
        for number, n in n_shared.items():
            if number in groups and groups[number].has_like(
                n, sequence, kmers.n_kmers, different
            ):
                joined.append(number)
        number, *others = joined or [place]
        new = {sequence: kmers._replace(hashes=kmers.hashes[:INDEXED])}
        for other in others:
            new |= groups.pop(other).members
        groups.setdefault(number, _Group(longest)).add(new)
        for indexed in new.values():
            for kmer in indexed.hashes.tolist():
                groups_with_kmer.setdefault(kmer, set()).add(number)
    return [_longest_first(group.members) for group in groups.values()]


class _Group:
    """Sequences that likeness joins: each with its k-mers, and all to be compared at once."""

    def __init__(self, longest: int) -> None:
        self.members: dict[str, Sample] = {}
        self._names: list[str] = []
        self._compared = ManySequences(longest)

    def add(self, members: Mapping[str, Sample]) -> None:
        """Add sequences."""
        self.members.update(members)
        for sequence in members:
            self._names.append(sequence)
            self._compared.add(sequence)

    def has_like(
        self, n_shared: int, sequence: str, n_kmers: int, hashes: set[int]
    ) -> bool:
        """Whether one of them is like another sequence, which is not longer than any.

        n_shared : k-mers that some of the group have, too. n_kmers, hashes : of the other.
        """

        def may_be(member: str) -> bool:
            indexed = self.members[member]
            least = KIND_KMERS * len(indexed.hashes) / indexed.n_kmers
            least *= min(n_kmers, indexed.n_kmers)
            if n_shared < least:
                return False
            return len(hashes.intersection(indexed.hashes.tolist())) >= least

        # mostly the first is; to compare all at once takes longer than that
        first = self._names[0]
        if may_be(first) and same_kind(first, sequence):
            return True
        if len(self._names) == 1:
            return False
        alike = np.flatnonzero(_of_one_kind(self._compared, sequence)).tolist()
        return any(may_be(self._names[place]) for place in alike)


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
    compared = ManySequences(len(longest))
    for _, other in differing:
        compared.add(other)
    for place, (n, one) in enumerate(differing):
        far = place + 1
        while far < len(differing) and n + differing[far][0] > most:
            far += 1
        if far == place + 1:
            break
        if not _of_one_kind(compared, one)[place + 1 : far].all():
            return False
    return True


def _proteins(group: list[str]) -> list[list[str]]:
    """The sequences of each protein of a group, without exchanges."""
    proteins: list[list[str]] = []
    firsts = ManySequences(len(group[0]))
    for sequence in group:
        alike = _of_one_kind(firsts, sequence) & ~firsts.differ_in_place(sequence)
        for place in np.flatnonzero(alike).tolist():
            if same_protein(proteins[place][0], sequence):
                proteins[place].append(sequence)
                break
        else:
            proteins.append([sequence])
            firsts.add(sequence)
    return proteins


def _of_one_kind(proteins: ManySequences, sequence: str) -> np.ndarray:
    """As `same_kind`, of each of many proteins and one other: bool, shape (n,)."""
    n_identical = proteins.most_identical(sequence)
    lengths = np.array(proteins.lengths, dtype=int)
    shorter = np.minimum(lengths, len(sequence))
    longer = np.maximum(lengths, len(sequence))
    return n_identical >= np.maximum(SAME_KIND * shorter, KIND_COVERAGE * longer)


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
