"""Variable domains of antibodies that are cut to the residues near an interface.

Some programs and data sets keep of each chain what lies near the other partner. The cysteines and
tryptophan by which `chains.immune` recognises a whole domain are gone then. The pieces that are
left are compared with germline genes of heavy and of light chains, each near the place that its
residue numbers say. A chain is a heavy chain if its pieces are like those of a heavy chain, and
clearly more so than like those of a light chain, and the other way round.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Sequence
from pathlib import Path

HEAVY, LIGHT = "heavy", "light"
GERMLINES = Path(__file__).with_name("germlines.csv")
"""Human, mouse and rabbit genes of the large families (IMGT), light chains with a joining segment.
"""
SIZES = range(15, 101)
"""Residues of a chain that may be what is left of a domain."""
LAST_NUMBER = 140
LEAST_PIECES = 3
SHIFT = 6
"""Places by which a piece may be off its residue number: numbering schemes differ, and so do loops.
"""
SAME, OTHER = 3, -1
"""What an equal and another residue count, without gaps."""
LEAST_OF_PIECE = 6
LEAST_SCORE, LEAST_OF_BOTH, MARGIN = 33, 75, 10
"""Of the pieces of a chain, of both chains together, and how much less they score as the other kind
of chain.
"""

DomainPiece = tuple[int, str]
"""Number of the first residue, and letters."""


def may_be_cut(sequence: str) -> bool:
    """Whether a chain may be what is left of a variable domain, by the number of its residues."""
    return len(sequence) in SIZES


def pieces_of(sequence: str, numbers: Sequence[int]) -> tuple[DomainPiece, ...]:
    """The pieces of a chain between gaps in its residue numbers.

    There are none where it cannot be what is left of a domain.
    """
    if not may_be_cut(sequence) or not 0 <= min(numbers) <= max(numbers) <= LAST_NUMBER:
        return ()
    pieces: list[DomainPiece] = []
    before = None
    for letter, number in zip(sequence, numbers, strict=True):
        if before is not None and 0 <= number - before <= 1:
            start, letters = pieces.pop()
            pieces.append((start, letters + letter))
        else:
            pieces.append((number, letter))
        before = number
    return tuple(pieces) if len(pieces) >= LEAST_PIECES else ()


def pair_score(one: tuple[DomainPiece, ...], other: tuple[DomainPiece, ...]) -> int:
    """How much the pieces of two chains are like a heavy and a light chain.

    It tries this and the other order.

    0 where that is not enough.
    """
    return max(_heavy_and_light(one, other), _heavy_and_light(other, one))


def _heavy_and_light(
    heavy: tuple[DomainPiece, ...], light: tuple[DomainPiece, ...]
) -> int:
    as_heavy = likeness(heavy, HEAVY)
    as_light = likeness(light, LIGHT)
    score = as_heavy + as_light
    is_like = min(as_heavy, as_light) >= LEAST_SCORE and score >= LEAST_OF_BOTH
    if not is_like or as_heavy < likeness(heavy, LIGHT) + MARGIN:
        return 0
    return score if as_light >= likeness(light, HEAVY) + MARGIN else 0


@functools.cache
def _germlines() -> list[dict[str, str]]:
    with open(GERMLINES, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@functools.lru_cache(maxsize=1024)
def likeness(pieces: tuple[DomainPiece, ...], kind: str) -> int:
    """How much the pieces of a chain are like a heavy or light chain.

    It is the score of the germline gene nearest to it.
    """
    best = 0
    for gene in _germlines():
        if gene["kind"] == kind:
            best = max(
                best, sum(_of_piece(*piece, gene["sequence"]) for piece in pieces)
            )
    return best


def _of_piece(number: int, letters: str, germline: str) -> int:
    """The best score of a piece without gaps, near its place; 0 where it is as low as by chance."""
    best = 0
    for start in range(number - 1 - SHIFT, number + SHIFT):
        pairs = zip(letters[max(-start, 0) :], germline[max(start, 0) :], strict=False)
        score = 0
        for letter, of_gene in pairs:
            score = max(0, score + (SAME if letter == of_gene else OTHER))
            best = max(best, score)
    return best if best >= LEAST_OF_PIECE else 0
