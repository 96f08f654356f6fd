"""Which residues of two sequences are the same, and which stretches are others side by side."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from Bio.Align import PairwiseAligner

from toporank.chains.thresholds import (
    EXACT_BELOW,
    FRAGMENT,
    SAME_CHAIN,
    SHORTEST_PART,
)


@dataclass(frozen=True)
class Alignment:
    """Which residue of a decoy's chain each residue of the native's is.

    Attributes
    ----------
    residue : int, shape (L,) of the native's chain, -1 where the decoy's chain has no residue of
        that kind
    identity : identical residues, as a share of the shorter chain
    n_exchanged : aligned residues that differ
    is_only : whether no other alignment scores the same
    """

    residue: np.ndarray
    identity: float
    n_exchanged: int = 0
    is_only: bool = True

    @property
    def n_identical(self) -> int:
        """Number of identical residues."""
        return int(np.count_nonzero(self.residue >= 0))


@functools.lru_cache(maxsize=1 << 12)
def align(native: str, decoy: str) -> Alignment:
    """Align two sequences as DockQ 2.1.3 does, tie for tie.

    Residues that differ are not the same residue, even where they are aligned. Where several
    alignments score the same, this takes the first of Biopython, and so does DockQ;
    `match.same_residues` chooses among them.

    Parameters
    ----------
    native, decoy : one-letter codes, at least one each

    Returns
    -------
    Alignment

    Examples
    --------
    >>> found = align("GSHMKT", "HMKTA")
    >>> found.residue, found.identity, found.is_only
    (array([-1, -1,  0,  1,  2,  3]), 0.8, True)
    """
    if native == decoy:
        return Alignment(np.arange(len(native)), 1.0)
    alignments = iter(dockq_aligner().align(decoy, native))
    blocks = next(alignments).aligned
    residue = residues_of(blocks, native, decoy)
    n_identical = np.count_nonzero(residue >= 0)
    n_aligned = sum(end - start for start, end in blocks[0])
    return Alignment(
        residue=residue,
        identity=float(n_identical / min(len(native), len(decoy))),
        n_exchanged=int(n_aligned - n_identical),
        is_only=next(alignments, None) is None,
    )


def residues_of(blocks: np.ndarray, native: str, decoy: str) -> np.ndarray:
    """As `Alignment.residue`, of an alignment of Biopython: blocks of the decoy and the native."""
    residue = np.full(len(native), -1)
    for (start, end), (native_start, native_end) in zip(*blocks, strict=True):
        same = _letters(native)[native_start:native_end] == _letters(decoy)[start:end]
        residue[native_start:native_end][same] = np.arange(start, end)[same]
    return residue


def dockq_aligner() -> PairwiseAligner:
    """Global alignment with the scores of DockQ."""
    aligner = PairwiseAligner(mode="global", match_score=5.0, mismatch_score=0.0)
    aligner.open_gap_score = -4.0
    aligner.extend_gap_score = -0.5
    return aligner


@functools.cache
def _local_aligner() -> PairwiseAligner:
    """Local alignment in which a loop that is not resolved costs little."""
    aligner = PairwiseAligner(mode="local", match_score=5.0, mismatch_score=-4.0)
    aligner.open_gap_score = -8.0
    aligner.extend_gap_score = -0.5
    return aligner


def _letters(sequence: str) -> np.ndarray:
    """The letters of a sequence as numbers, uint8."""
    return np.frombuffer(sequence.encode(), np.uint8)


@functools.lru_cache(maxsize=1 << 12)
def most_identical(one: str, other: str) -> int:
    """Length of the longest common subsequence.

    No alignment of the two has more identical residues.

    A row of the table of dynamic programming is the bits of one number (Hyyrö 2004, Bit-parallel
    LCS-length computation revisited, Proc. 15th AWOCA), so it takes a hundredth of the time of
    `align` and tells most pairs of different proteins apart.

    >>> most_identical("ACDEF", "CXEF")
    3
    """
    places: dict[str, int] = {}
    for place, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << place
    every = (1 << len(one)) - 1
    row = every
    for letter in other:
        matches = row & places.get(letter, 0)
        row = (row + matches | row - matches) & every
    return len(one) - row.bit_count()


class ManySequences:
    """Sequences with which another one is compared at once, in the order in which they were added.

    longest : letters that none of them exceeds
    """

    def __init__(self, longest: int) -> None:
        # a bit beyond the letters of each takes the carry of its sum
        self._n_bytes = longest // 8 + 1
        self._places: dict[str, int] = {}
        self._every = 0
        self._letters: dict[int, list[np.ndarray]] = {}
        self._numbers: dict[int, list[int]] = {}
        self.lengths: list[int] = []

    def add(self, sequence: str) -> None:
        """Add a sequence."""
        number, length = len(self.lengths), len(sequence)
        first = 8 * self._n_bytes * number
        self._every |= ((1 << length) - 1) << first
        of_sequence: dict[str, int] = {}
        for place, letter in enumerate(sequence):
            of_sequence[letter] = of_sequence.get(letter, 0) | 1 << place
        for letter, places in of_sequence.items():
            self._places[letter] = self._places.get(letter, 0) | places << first
        self._letters.setdefault(length, []).append(_letters(sequence))
        self._numbers.setdefault(length, []).append(number)
        self.lengths.append(length)

    def most_identical(self, other: str) -> np.ndarray:
        """As the function of this name, of each of them: int, shape (n,)."""
        row = self._every
        for letter in other:
            matches = row & self._places.get(letter, 0)
            row = (row + matches | row - matches) & self._every
        n = len(self.lengths)
        content = np.frombuffer(row.to_bytes(n * self._n_bytes, "little"), np.uint8)
        n_left = np.unpackbits(content.reshape(n, self._n_bytes), axis=1).sum(axis=1)
        return np.array(self.lengths, dtype=int) - n_left

    def differ_in_place(self, other: str) -> np.ndarray:
        """Whether `align` puts no gap between each and another of its length: bool, shape (n,).

        Two gaps cost more than one identical residue brings.
        """
        differ = np.zeros(len(self.lengths), dtype=bool)
        of_length = self._numbers.get(len(other), [])
        if of_length:
            same = np.array(self._letters[len(other)]) == _letters(other)
            n_most = self.most_identical(other)[of_length]
            differ[of_length] = n_most <= same.sum(axis=1) + 1
        return differ


class _Stretch(NamedTuple):
    """Where a part lies in a joined chain: letters from `start` to before `end`.

    name : of the part. head : its letters before the first that is aligned. n_identical : letters
    that are the same.
    """

    start: int
    end: int
    name: str
    head: int
    n_identical: int


@functools.lru_cache(maxsize=1 << 10)
def pieces(whole: str, parts: tuple[tuple[str, str], ...]) -> tuple[slice, ...]:
    """The stretches of a sequence that are different parts, one after the other.

    It is empty where there are fewer than two.

    Parameters
    ----------
    whole : sequence of the chain that may be joined
    parts : name and sequence of the chains it may consist of

    Returns
    -------
    slices that cover the whole; residues of a linker belong to the stretch before it
    """
    stretches = _placed(whole, dict(parts))
    if len(stretches) < 2:
        return ()
    starts = [0]
    for before, stretch in pairwise(stretches):
        starts.append(max(before.end, stretch.start - stretch.head))
    ends = [*starts[1:], len(whole)]
    return tuple(map(slice, starts, ends))


def _placed(whole: str, parts: dict[str, str], offset: int = 0) -> list[_Stretch]:
    """The parts that lie in a sequence side by side, in order.

    The largest comes first, then those on either side of it.
    """
    candidates = []
    for name, part in parts.items():
        stretch = _stretch_of(name, part, whole)
        if stretch:
            candidates.append(stretch)
    if not candidates:
        return []
    largest = max(candidates, key=lambda stretch: stretch.n_identical)
    others = {name: part for name, part in parts.items() if name != largest.name}
    before = _placed(whole[: largest.start], others, offset)
    for stretch in before:
        del others[stretch.name]
    after = _placed(whole[largest.end :], others, offset + largest.end)
    return [
        *before,
        largest._replace(start=offset + largest.start, end=offset + largest.end),
        *after,
    ]


def _stretch_of(name: str, part: str, whole: str) -> _Stretch | None:
    """Where a part lies in a sequence; None where most of it is not there."""
    if min(len(part), len(whole)) < SHORTEST_PART:
        return None
    if len(part) < EXACT_BELOW:
        start = whole.find(part)
        return (
            _Stretch(start, start + len(part), name, 0, len(part))
            if start >= 0
            else None
        )
    if (
        most_identical(part, whole) < FRAGMENT * len(part)
        or _local_aligner().score(part, whole) <= 0
    ):
        return None
    of_part, of_whole = _local_aligner().align(part, whole)[0].aligned
    identical = np.int64(0)
    for (start, end), (whole_start, whole_end) in zip(of_part, of_whole, strict=True):
        identical += np.count_nonzero(
            _letters(part)[start:end] == _letters(whole)[whole_start:whole_end]
        )
    head = int(of_part[0, 0])
    start = int(of_whole[0, 0])
    end = int(of_whole[-1, 1])
    aligned_length = min(int(of_part[-1, 1]) - head, end - start)
    if identical < FRAGMENT * len(part) or identical < SAME_CHAIN * aligned_length:
        return None
    return _Stretch(start, end, name, head, int(identical))
