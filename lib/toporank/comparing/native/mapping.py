"""Which chain of a decoy is which chain of the native."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping as MappingType
from itertools import permutations, product
from typing import Protocol

import numpy as np

from toporank.comparing.native.alignment import align, most_identical
from toporank.comparing.native.dockq import FEWEST, superposition

LEAST_IDENTITY = 0.7
"""Two chains that share fewer of their residues are different proteins."""
BELOW_BEST = 0.1
"""A chain whose identity is lower than the best by more than this is a relative, not a copy."""
FRAGMENT = 0.5
"""Nor is one that shares fewer than this part of the residues that the best shares."""
MOST = 720
"""Most mappings that are all tried; of more, those that superposing one chain suggests."""
SUPERPOSED = 240
"""Most pairs of chains that are superposed; 15 identical chains have 225."""


class Chain(Protocol):
    """What chains are mapped by: the sequence of L residues, and their CA atoms, (L, 3), Å, NaN where there is none."""

    @property
    def sequence(self) -> str: ...

    @property
    def ca(self) -> np.ndarray: ...


Chains = MappingType[str, Chain]
Mapping = dict[str, str]
"""Chain of the native → chain of the decoy."""


def mappings(native: Chains, decoy: Chains) -> list[Mapping]:
    """The possible mappings, each of as many chains as can be; `[{}]` where no chains are alike."""
    alike = counterparts(native, decoy)
    families = _families(alike)
    if math.prod(math.perm(max(map(len, family)), min(map(len, family))) for family in families) > MOST:
        return _near_superpositions(native, decoy, alike, families)
    return [
        {own: other for part in parts for own, other in part.items()}
        for parts in product(*(_permuted(*family, alike) for family in families))
    ]


def counterparts(native: Chains, decoy: Chains) -> dict[str, list[str]]:
    """For each chain of the native those of the decoy that are copies of it; it may be none."""
    pairs = [(n, d) for n in native for d in decoy if _may_be_alike(native[n].sequence, decoy[d].sequence)]
    found = {(n, d): align(native[n].sequence, decoy[d].sequence) for n, d in pairs}
    found = {pair: alignment for pair, alignment in found.items() if alignment.identity >= LEAST_IDENTITY}
    best = {}
    for pair, alignment in found.items():
        for chain in ((0, pair[0]), (1, pair[1])):
            identity, size = best.get(chain, (0.0, 0))
            best[chain] = max(identity, alignment.identity), max(size, alignment.n_identical)

    def is_copy(pair: tuple[str, str]) -> bool:
        bests = [best[chain] for chain in enumerate(pair)]
        alignment = found[pair]
        return all(alignment.identity >= i - BELOW_BEST and alignment.n_identical >= FRAGMENT * n for i, n in bests)

    return {n: [d for d in decoy if (n, d) in found and is_copy((n, d))] for n in native}


@functools.lru_cache(maxsize=1 << 12)
def _may_be_alike(one: str, other: str) -> bool:
    """Whether it takes an alignment to know that two chains are different proteins; for most it does not."""
    return one == other or most_identical(one, other) >= LEAST_IDENTITY * min(len(one), len(other))


def _families(alike: dict[str, list[str]]) -> list[tuple[list[str], list[str]]]:
    """Chains of the native, and of the decoy, that can stand for each other."""
    families: list[tuple[list[str], list[str]]] = []
    for own, others in alike.items():
        joined = [family for family in families if set(family[1]) & set(others)]
        families = [family for family in families if family not in joined]
        members = [*(n for family in joined for n in family[0]), own]
        families += [(members, sorted({*others, *(d for family in joined for d in family[1])}))] if others else []
    return families


def _permuted(own: list[str], others: list[str], alike: dict[str, list[str]]) -> list[Mapping]:
    """All mappings of a family, each of as many chains as can be."""
    if len(own) <= len(others):
        found = [dict(zip(own, chosen, strict=True)) for chosen in permutations(others, len(own))]
    else:
        found = [dict(zip(chosen, others, strict=True)) for chosen in permutations(own, len(others))]
    found = [{n: d for n, d in one.items() if d in alike[n]} for one in found]
    most = max(map(len, found))
    return [one for one in found if len(one) == most]


def _near_superpositions(
    native: Chains, decoy: Chains, alike: dict[str, list[str]], families: list[tuple[list[str], list[str]]]
) -> list[Mapping]:
    """One mapping for each chain superposed on each of its counterparts: of the rest, what comes nearest.

    Of more than `SUPERPOSED` such pairs of chains the first count.
    """
    common = {(n, d): _common_ca(native[n], decoy[d]) for own, _ in families for n in own for d in alike[n]}
    pairs = [pair for pair, (fixed, _) in common.items() if len(fixed) >= FEWEST]
    centres = np.array([[ca.mean(axis=0) for ca in common[pair]] for pair in pairs]).reshape(-1, 2, 3)
    found: dict[tuple, Mapping] = {}
    for pair in pairs[:SUPERPOSED]:
        fixed, moved = common[pair]
        turn, shift = superposition(moved, fixed)
        apart = np.linalg.norm(centres[:, 1] @ turn + shift - centres[:, 0], axis=1)
        mapping: Mapping = {}
        taken = set()
        for k in np.argsort(apart, kind="stable").tolist():
            own, other = pairs[k]
            if own not in mapping and other not in taken:
                mapping[own] = other
                taken.add(other)
        found[tuple(sorted(mapping.items()))] = mapping
    return list(found.values()) or [{}]


def _common_ca(native: Chain, decoy: Chain) -> tuple[np.ndarray, np.ndarray]:
    """CA atoms of the residues that both have, shapes (n, 3)."""
    residue = align(native.sequence, decoy.sequence).residue
    own, other = native.ca[residue >= 0], decoy.ca[residue[residue >= 0]]
    there = ~(np.isnan(own) | np.isnan(other)).any(axis=1)
    return own[there], other[there]
