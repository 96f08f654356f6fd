"""Chains that are one in one structure and several in the other, cut so that the pieces correspond one to one.

Docking programs give a partner one chain (HADDOCK numbers its second chain from 501), an antibody may be single-chain,
and entries of the PDB part what a protease has cut. The sequence says which stretch of the joined chain is which chain.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from Bio.Align import PairwiseAligner

from toporank.comparing.native.alignment import most_identical
from toporank.comparing.native.mapping import FRAGMENT, LEAST_IDENTITY, Chains
from toporank.comparing.native.mapping import Mapping as ChainMapping

SHORTEST = 5
"""Residues of the shortest chain that is looked for in a longer one."""
EXACT_BELOW = 8
"""A chain with fewer residues must be there letter by letter: a similar stretch would be found by chance."""
MATCH, MISMATCH, GAP, LONGER_GAP = 5.0, -4.0, -8.0, -0.5
"""Scores of a local alignment, in which a loop that is not resolved costs little."""

Cuts = dict[str, tuple[slice, ...]]
"""Name of a chain that is cut → its pieces, in order."""


class _Stretch(NamedTuple):
    """Where a part lies in a joined chain: letters from `start` to before `end`.

    name : of the part. head : its letters before the first that is aligned. n_identical : letters that are the same.
    """

    start: int
    end: int
    name: str
    head: int
    n_identical: int


def cuts(native: Chains, decoy: Chains, mapping: ChainMapping) -> tuple[Cuts, Cuts]:
    """How chains of the native, and of the decoy, have to be cut; both empty where chains correspond one to one.

    A chain is cut only where chains of the other structure are left without a counterpart, and several of them lie in
    it side by side. Copies of one chain lie in the same place, so they are not joined.

    mapping : one of `mapping.mappings`, of whole chains.
    """
    of_decoy = _cut_all(decoy, native) if len(mapping) < len(native) else {}
    of_native = _cut_all(native, decoy) if len(mapping) < len(decoy) and not of_decoy else {}
    return of_native, of_decoy


def _cut_all(chains: Chains, others: Chains) -> Cuts:
    """The chains that are several of the others."""
    parts = tuple((name, chain.sequence) for name, chain in others.items())
    found = {name: pieces(chain.sequence, parts) for name, chain in chains.items()}
    return {name: of_chain for name, of_chain in found.items() if of_chain}


@functools.lru_cache(maxsize=1 << 10)
def pieces(whole: str, parts: tuple[tuple[str, str], ...]) -> tuple[slice, ...]:
    """The stretches of a sequence that are different parts, one after the other; empty where fewer than two are.

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
    return tuple(slice(start, end) for start, end in zip(starts, ends, strict=True))


def _placed(whole: str, parts: Mapping[str, str], offset: int = 0) -> list[_Stretch]:
    """The parts that lie in a sequence side by side, in order: first the largest, then those on either side of it."""
    candidates = [stretch for name, part in parts.items() if (stretch := _find(name, part, whole))]
    if not candidates:
        return []
    largest = max(candidates, key=lambda stretch: stretch.n_identical)
    others = {name: part for name, part in parts.items() if name != largest.name}
    before = _placed(whole[: largest.start], others, offset)
    for stretch in before:
        del others[stretch.name]
    after = _placed(whole[largest.end :], others, offset + largest.end)
    here = largest._replace(start=offset + largest.start, end=offset + largest.end)
    return [*before, here, *after]


def _find(name: str, part: str, whole: str) -> _Stretch | None:
    """Where a part lies in a sequence; None where most of it is not there."""
    if min(len(part), len(whole)) < SHORTEST:
        return None
    if len(part) < EXACT_BELOW:
        start = whole.find(part)
        return _Stretch(start, start + len(part), name, 0, len(part)) if start >= 0 else None
    if most_identical(part, whole) < FRAGMENT * len(part):
        return None
    blocks = _aligned(part, whole)
    if not blocks.size:
        return None
    (head, _), (_, tail) = blocks[0, 0], blocks[0, -1]
    start, end = int(blocks[1, 0, 0]), int(blocks[1, -1, 1])
    identical = sum(
        part[a + i] == whole[b + i] for (a, a_end), (b, _) in zip(*blocks, strict=True) for i in range(a_end - a)
    )
    shorter = min(int(tail - head), end - start)
    if identical < FRAGMENT * len(part) or identical < LEAST_IDENTITY * shorter:
        return None
    return _Stretch(start, end, name, int(head), int(identical))


def _aligned(part: str, whole: str) -> np.ndarray:
    """The stretches of a local alignment without gaps: starts and ends in part and whole, int, shape (2, n, 2)."""
    aligner = PairwiseAligner(mode="local", match_score=MATCH, mismatch_score=MISMATCH)
    aligner.open_gap_score, aligner.extend_gap_score = GAP, LONGER_GAP
    if aligner.score(part, whole) <= 0:
        return np.zeros((2, 0, 2), dtype=int)
    return aligner.align(part, whole)[0].aligned
