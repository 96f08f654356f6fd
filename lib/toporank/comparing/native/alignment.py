"""Which residues of two sequences are the same: the alignment of DockQ 2.1.3, tie for tie.

Where several alignments score the same, which one is taken moves DockQ by up to 0.014. So this takes the one that
DockQ 2.1.3 takes, which is the first of Biopython.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from Bio.Align import PairwiseAligner

SCORES = {"match_score": 5.0, "mismatch_score": 0.0, "open_gap_score": -4.0, "extend_gap_score": -0.5}
"""Those of DockQ."""


@dataclass(frozen=True)
class Alignment:
    """Which residue of a decoy's chain each residue of the native's is.

    residue : int, shape (L,) of the native's chain, -1 where the decoy's chain has no residue of that kind
    identity : identical residues, as a share of the shorter chain
    """

    residue: np.ndarray
    identity: float

    @property
    def n_identical(self) -> int:
        return int(np.count_nonzero(self.residue >= 0))


@functools.lru_cache(maxsize=1 << 12)
def align(native: str, decoy: str) -> Alignment:
    """Global alignment of two sequences. Residues that differ are not the same residue, even where they are aligned."""
    if native == decoy:
        return Alignment(np.arange(len(native)), 1.0)
    residue = np.full(len(native), -1)
    blocks = _aligner().align(decoy, native)[0].aligned
    for (start, end), (native_start, native_end) in zip(*blocks, strict=True):
        same = _letters(native)[native_start:native_end] == _letters(decoy)[start:end]
        residue[native_start:native_end][same] = np.arange(start, end)[same]
    return Alignment(residue, float(np.count_nonzero(residue >= 0) / min(len(native), len(decoy))))


@functools.cache
def _aligner() -> PairwiseAligner:
    return PairwiseAligner(mode="global", **SCORES)


def _letters(sequence: str) -> np.ndarray:
    """The letters of a sequence as numbers, uint8."""
    return np.frombuffer(sequence.encode(), np.uint8)


def most_identical(one: str, other: str) -> int:
    """Letters of their longest common subsequence: no alignment of the two has more identical residues.

    The row of a letter is the bits of a number (Hyyrö 2004), so it takes a hundredth of the time of `align`.

    >>> most_identical("ACDEF", "CXEF")
    3
    """
    places: dict[str, int] = {}
    for place, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << place
    every = row = (1 << len(one)) - 1
    for letter in other:
        met = row & places.get(letter, 0)
        row = (row + met | row - met) & every
    return len(one) - row.bit_count()
