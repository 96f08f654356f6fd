"""Which residue of a decoy is which of its native, whatever files call chains and residues.

Sequences decide. Each residue of the native is one residue of the decoy, or none: `align` says it
for two chains, `mappings` says which chain is which, and `correspond` also where several chains of
one structure are one chain of the other. Docking programs give a partner one chain (HADDOCK numbers
its second chain from 501), an antibody may be single-chain, and entries of the PDB part what a
protease has cut. Labels, local quality and the partners of a decoy follow from this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping as MappingType
from collections.abc import Sequence
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from toporank.chains.alignment import align, most_identical, pieces
from toporank.chains.chain import Chain, n_residues
from toporank.chains.match import superposition
from toporank.chains.thresholds import (
    BELOW_BEST,
    FEWEST_ATOMS,
    FRAGMENT,
    SAME_CHAIN,
    WELL_MATCHED,
)
from toporank.files.printable_names import free_name
from toporank.lookup import only

MOST = 720
"""Most mappings that are all tried; of more, those that superposing one chain suggests."""
SUPERPOSED = 240
"""Most pairs of chains that are superposed; 15 identical chains have 225."""


# ---- which chain is which ------------------------------------------------------------------------


Chains = MappingType[str, Chain]
Mapping = dict[str, str]
"""Chain of the native → chain of the decoy."""
Family = tuple[list[str], list[str]]
"""Chains of the native, and of the decoy, that can be each other."""


def mappings(native: Chains, decoy: Chains) -> list[Mapping]:
    """The possible mappings, each of as many chains as can be; `[{}]` where no chains are alike.

    Of these, the ones with the fewest exchanged residues: a relative is no copy of a chain where
    the chain itself is there.
    """
    copies = _exact(counterparts(native, decoy), native, decoy)
    families = _families(copies)
    sizes = [
        sorted((len(of_native), len(of_decoy))) for of_native, of_decoy in families
    ]
    if math.prod(math.perm(larger, smaller) for smaller, larger in sizes) > MOST:
        suggested = _mappings_by_superposition(native, decoy, copies, families)
        return _least_exchanged(suggested, native, decoy)
    possible: list[Mapping] = [{}]
    for family in families:
        parts = _mappings_of_family(family, copies)
        parts = _least_exchanged(parts, native, decoy)
        possible = [before | part for before, part in product(possible, parts)]
    return possible


def _exact(
    copies: dict[str, list[str]], native: Chains, decoy: Chains
) -> dict[str, list[str]]:
    """The copies without any exchanged residue alone, in each family where they map all chains."""
    exact = {}
    for name, others in copies.items():
        exact[name] = [
            other for other in others if not _n_exchanged(native[name], decoy[other])
        ]
    chosen = dict(copies)
    for of_native, of_decoy in _families(copies):
        families = _families(only(exact, of_native))
        n_exact = sum(min(map(len, family)) for family in families)
        if n_exact == min(len(of_native), len(of_decoy)):
            chosen.update(only(exact, of_native))
    return chosen


def _least_exchanged(
    possible: list[Mapping], native: Chains, decoy: Chains
) -> list[Mapping]:
    """The mappings of most chains and, among these, fewest exchanged residues."""
    ranks = []
    for mapping in possible:
        pairs = mapping.items()
        exchanged = [_n_exchanged(native[name], decoy[other]) for name, other in pairs]
        ranks.append((-len(mapping), sum(exchanged)))
    best = min(ranks)
    return [
        mapping for mapping, rank in zip(possible, ranks, strict=True) if rank == best
    ]


def _n_exchanged(native: Chain, decoy: Chain) -> int:
    return align(native.sequence, decoy.sequence).n_exchanged


def counterparts(native: Chains, decoy: Chains) -> dict[str, list[str]]:
    """For each chain of the native those of the decoy that are copies of it; it may be none."""
    identity = np.zeros((len(native), len(decoy)))
    n_identical = np.zeros((len(native), len(decoy)))
    for i, native_chain in enumerate(native.values()):
        for k, other in enumerate(decoy.values()):
            shorter = min(len(native_chain.sequence), len(other.sequence))
            if (
                most_identical(native_chain.sequence, other.sequence)
                >= SAME_CHAIN * shorter
            ):
                alignment = align(native_chain.sequence, other.sequence)
                if alignment.identity >= SAME_CHAIN:
                    identity[i, k] = alignment.identity
                    n_identical[i, k] = alignment.n_identical
    is_copy = identity >= SAME_CHAIN
    for axis in (0, 1):
        is_copy &= (
            identity >= identity.max(axis=axis, keepdims=True, initial=0.0) - BELOW_BEST
        )
        is_copy &= n_identical >= FRAGMENT * n_identical.max(
            axis=axis, keepdims=True, initial=0.0
        )
    decoy_names = np.array(list(decoy), dtype=object)
    return {
        name: decoy_names[row].tolist()
        for name, row in zip(native, is_copy, strict=True)
    }


def _families(copies: dict[str, list[str]]) -> list[Family]:
    """Chains that copies link, each side in order."""
    families: list[Family] = []
    for native_chain, others in copies.items():
        if not others:
            continue
        of_native: list[str] = []
        of_decoy = set(others)
        apart = []
        for family in families:
            if of_decoy.isdisjoint(family[1]):
                apart.append(family)
            else:
                of_native += family[0]
                of_decoy.update(family[1])
        families = [*apart, ([*of_native, native_chain], sorted(of_decoy))]
    return families


def _mappings_of_family(family: Family, copies: dict[str, list[str]]) -> list[Mapping]:
    """All mappings of a family, each of as many chains as can be."""
    of_native, of_decoy = family
    n = min(len(of_native), len(of_decoy))
    possible = []
    # of the smaller side all chains are mapped, in their order
    for native, decoy in product(
        permutations(of_native, n) if len(of_native) > n else [of_native],
        permutations(of_decoy, n) if len(of_native) == n else [of_decoy],
    ):
        pairs = zip(native, decoy, strict=True)
        mapping = {chain: other for chain, other in pairs if other in copies[chain]}
        possible.append(mapping)
    most = max(map(len, possible))
    return [mapping for mapping in possible if len(mapping) == most]


def _mappings_by_superposition(
    native: Chains,
    decoy: Chains,
    copies: dict[str, list[str]],
    families: list[Family],
) -> list[Mapping]:
    """One mapping for each chain superposed on each of its counterparts.

    The other chains take what comes nearest.

    Of more than `SUPERPOSED` such pairs of chains the first count.
    """
    pairs = []
    shared_ca = []
    for of_native, _ in families:
        for native_chain in of_native:
            for other in copies[native_chain]:
                fixed, moving = _shared_ca(native[native_chain], decoy[other])
                if len(fixed) >= FEWEST_ATOMS:
                    pairs.append((native_chain, other))
                    shared_ca.append((fixed, moving))
    fixed_centres = np.array([fixed.mean(axis=0) for fixed, _ in shared_ca]).reshape(
        -1, 3
    )
    moving_centres = np.array([moving.mean(axis=0) for _, moving in shared_ca]).reshape(
        -1, 3
    )
    possible: dict[tuple, Mapping] = {}
    for fixed, moving in shared_ca[:SUPERPOSED]:
        turn, shift = superposition(moving, fixed)
        apart = np.linalg.norm(moving_centres @ turn + shift - fixed_centres, axis=1)
        mapping: Mapping = {}
        taken = set()
        for k in np.argsort(apart, kind="stable").tolist():
            native_chain, other = pairs[k]
            if native_chain not in mapping and other not in taken:
                mapping[native_chain] = other
                taken.add(other)
        possible[tuple(sorted(mapping.items()))] = mapping
    return list(possible.values()) or [{}]


def _shared_ca(native: Chain, decoy: Chain) -> tuple[np.ndarray, np.ndarray]:
    """CA atoms of the residues that both have, shapes (n, 3)."""
    residue = align(native.sequence, decoy.sequence).residue
    native_chain = native.ca[residue >= 0]
    other = decoy.ca[residue[residue >= 0]]
    in_both = ~(np.isnan(native_chain) | np.isnan(other)).any(axis=1)
    return native_chain[in_both], other[in_both]


# ---- several chains that are one -----------------------------------------------------------------


class Correspondence(NamedTuple):
    """Which chains of a decoy may be which chains of its native.

    Attributes
    ----------
    native, decoy : the chains by name; one that is several in the other structure is cut into these
    mappings : all that are possible; `[{}]` where no chains are alike
    """

    native: dict[str, Chain]
    decoy: dict[str, Chain]
    mappings: list[Mapping]


def correspond(native: dict[str, Chain], decoy: dict[str, Chain]) -> Correspondence:
    """Map the chains of a decoy on those of its native.

    Joined chains are cut so that they correspond one to one.

    A chain is cut only where chains of the other structure are left without a counterpart, and
    several of them lie in it side by side. Copies of one chain lie in the same place, so they are
    not joined. Molecules under one name of the decoy are taken apart where more residues correspond
    then: they may stand in another order in the native.

    Parameters
    ----------
    native, decoy : chains by name, in the order of the file

    Returns
    -------
    Correspondence, with the very same `native` or `decoy` where none of its chains is cut
    """
    whole = _cut_and_mapped(native, decoy)
    n_whole = _n_identical(whole)
    molecules = _molecules(decoy)
    well_matched = WELL_MATCHED * min(n_residues(native), n_residues(decoy))
    if n_whole >= well_matched or molecules is decoy:
        return whole
    apart = _cut_and_mapped(native, molecules)
    return apart if WELL_MATCHED * _n_identical(apart) > n_whole else whole


def _n_identical(found: Correspondence) -> int:
    """Identical residues of chains that correspond."""
    n = 0
    for name, other in found.mappings[0].items():
        alignment = align(found.native[name].sequence, found.decoy[other].sequence)
        n += alignment.n_identical
    return n


def _molecules(chains: dict[str, Chain]) -> dict[str, Chain]:
    """The chains; each molecule of one that is several for itself."""
    pieces_of = {}
    for name, chain in chains.items():
        stretches = [each for each in chain.molecules if each.stop - each.start > 1]
        pieces_of[name] = stretches if len(stretches) > 1 else []
    return _cut(chains, pieces_of)


def _cut_and_mapped(
    native: dict[str, Chain], decoy: dict[str, Chain]
) -> Correspondence:
    """As `correspond`, with the chains of the decoy as they are."""
    possible = mappings(native, decoy)
    n_mapped = len(possible[0])
    cut_decoy = _with_pieces(decoy, native) if 0 < n_mapped < len(native) else decoy
    cut_native = (
        _with_pieces(native, decoy)
        if 0 < n_mapped < len(decoy) and cut_decoy is decoy
        else native
    )
    if cut_native is not native or cut_decoy is not decoy:
        possible = mappings(cut_native, cut_decoy)
    return Correspondence(cut_native, cut_decoy, possible)


def _with_pieces(
    chains: dict[str, Chain], others: dict[str, Chain]
) -> dict[str, Chain]:
    """The chains, those cut into pieces that are several of the others."""
    parts = tuple((name, chain.sequence) for name, chain in others.items())
    pieces_of = {name: pieces(chain.sequence, parts) for name, chain in chains.items()}
    return _cut(chains, pieces_of)


def _cut(
    chains: dict[str, Chain], pieces_of: MappingType[str, Sequence[slice]]
) -> dict[str, Chain]:
    """The chains, some of them in pieces: the same object where none is cut.

    pieces_of : each chain; empty where it stays whole
    """
    if not any(pieces_of.values()):
        return chains
    cut: dict[str, Chain] = {}
    for name, chain in chains.items():
        if not pieces_of[name]:
            cut[name] = chain
        for number, residues in enumerate(pieces_of[name], 1):
            piece_name = free_name(f"{name}/{number}", {*chains, *cut})
            cut[piece_name] = chain.piece(piece_name, residues)
    return cut


def counterparts_of_file(
    found: Correspondence, mapping: Mapping
) -> dict[str, tuple[str, ...]]:
    """A mapping of chains and pieces, in chains of the files."""
    holders: dict[str, tuple[str, ...]] = {}
    for native_chain, other in mapping.items():
        native_name = found.native[native_chain].of_file
        decoy_name = found.decoy[other].of_file
        before = holders.get(native_name, ())
        if decoy_name not in before:
            holders[native_name] = (*before, decoy_name)
    return holders
