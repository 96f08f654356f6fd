"""Which chains and residues of the decoys of a target are the same, whatever the files call them.

Chains are matched by sequence, as a decoy is mapped on its native (`comparing.native.mapping`). Of
the ways to map the copies of a chain the one that shares most contacts with the other decoys
counts. Residues are matched by number where numbers agree, else by alignment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote, unquote

import numpy as np

from toporank.comparing.native.alignment import LEAST_IDENTITY, align
from toporank.comparing.native.mapping import inverted, mappings
from toporank.structures.identity import free_name

NUMBERS_AGREE = 0.9
"""Share of the residues of the shorter chain that have the same number and letter in the other;
then numbers count.
"""
PASSES = 2
"""How often each decoy's mapping is chosen: the first time beside those before it, then beside all
others.
"""

Residue = tuple[str, int, str]
"""Chain, number and insertion code."""
ChainMap = dict[str, str]
"""Chain of a decoy → chain of its target."""


class Trace(NamedTuple):
    """A chain of a decoy.

    L residues with their places in the decoy, int, (L,), letters, and CA atoms, (L, 3), Å.
    """

    residues: tuple[Residue, ...]
    sequence: str
    index: np.ndarray
    ca: np.ndarray


class Traces(NamedTuple):
    """What the decoys of a target are matched by.

    These are the chains of one decoy, and its contacts, int, (P, 2), by residues.
    """

    chains: dict[str, Trace]
    contacts: np.ndarray


def traces(
    residues: Iterable[Residue], letters: str, ca: np.ndarray, contacts: np.ndarray
) -> Traces:
    """Sort the residues of a decoy by chains.

    Parameters
    ----------
    residues : of the decoy; length R
    letters : one-letter code of each; length R
    ca : shape (R, 3), Å, NaN without CA
    contacts : int, shape (P, 2), places in residues

    Returns
    -------
    traces : the residues of each chain, in their order
    """
    residues = [tuple(residue) for residue in residues]
    members = inverted(dict(enumerate(residue[0] for residue in residues)))
    chains = {}
    for name, index in members.items():
        chains[name] = Trace(
            residues=tuple(residues[i] for i in index),
            sequence="".join(letters[i] for i in index),
            index=np.array(index),
            ca=ca[index],
        )
    return Traces(chains, contacts)


def matched(reference: Trace, trace: Trace) -> np.ndarray:
    """Find each residue of a chain in the reference.

    Residues that differ are the same where their numbers say so, or where they lie between residues
    that are the same.

    Returns
    -------
    int, shape (L,), places in the reference; -1 where it lacks the residue
    """
    if trace.residues == reference.residues and trace.sequence == reference.sequence:
        return np.arange(len(trace.residues))
    place_of = {residue[1:]: i for i, residue in enumerate(reference.residues)}
    places = np.array(
        [place_of.get(residue[1:], -1) for residue in trace.residues], dtype=int
    )
    n_equal = 0
    for place, letter in zip(places, trace.sequence, strict=True):
        n_equal += place >= 0 and reference.sequence[place] == letter
    if n_equal >= NUMBERS_AGREE * min(len(trace.sequence), len(reference.sequence)):
        return places
    alignment = align(reference.sequence, trace.sequence)
    if alignment.identity < LEAST_IDENTITY:
        return places
    return _aligned(reference, trace, alignment.residue)


def _aligned(reference: Trace, trace: Trace, residue: np.ndarray) -> np.ndarray:
    """As `matched`, by an alignment: the residue of each one of the reference, or -1."""
    places = np.full(len(trace.sequence), -1)
    places[residue[residue >= 0]] = np.flatnonzero(residue >= 0)
    for start, end in pairwise(np.flatnonzero(places >= 0)):
        first, last = places[start], places[end]
        numbers = trace.residues[end][1] - trace.residues[start][1]
        numbers_of_reference = (
            reference.residues[last][1] - reference.residues[first][1]
        )
        if end - start == last - first and numbers == numbers_of_reference:
            # residues in between are exchanged, not missing
            places[start:end] = np.arange(first, last)
    return places


def starts(chains: Mapping[str, Trace]) -> tuple[dict[str, int], int]:
    """Where each chain begins when all follow one another, and the number of residues in all."""
    first = {}
    total = 0
    for name, chain in chains.items():
        first[name] = total
        total += len(chain.sequence)
    return first, total


def chain_maps(decoys: Mapping[str, Traces]) -> dict[str, ChainMap]:
    """Say which chain of the target each chain of each decoy is.

    The chains of the target are called as in the decoy with most chains, of several with most
    residues, of these the first. A chain that this decoy does not have gets a name of its own.
    Names of chains decide nothing.

    Parameters
    ----------
    decoys : by name, in order

    Returns
    -------
    dict, name of each decoy → its map
    """
    if not decoys:
        return {}
    n_residues = {}
    for name, decoy in decoys.items():
        n_residues[name] = sum(len(chain.sequence) for chain in decoy.chains.values())
    reference = min(
        decoys, key=lambda name: (-len(decoys[name].chains), -n_residues[name], name)
    )
    possible, target_chains = _possible_maps(decoys, reference)
    chosen = _chosen(decoys, target_chains, possible)
    in_reference = {target: chain for chain, target in chosen[reference].items()}
    maps: dict[str, ChainMap] = {}
    for name, chain_map in chosen.items():
        maps[name] = {
            chain: in_reference.get(target, target)
            for chain, target in chain_map.items()
        }
    return maps


def _possible_maps(
    decoys: Mapping[str, Traces], reference: str
) -> tuple[dict[str, list[ChainMap]], dict[str, Trace]]:
    """The possible maps of each decoy, and the chains of the target.

    The chains are those of the reference and others that it does not have.

    Decoys with the same sequences have the same possible maps.
    """
    sequences = {}
    for name, decoy in decoys.items():
        sequences[name] = tuple(
            (chain, trace.sequence) for chain, trace in decoy.chains.items()
        )
    groups = inverted(sequences).values()
    target_chains = dict(decoys[reference].chains)
    for name in sorted(group[0] for group in groups):
        if name != reference:
            chains = decoys[name].chains
            mapped = set(mappings(target_chains, chains)[0].values())
            for chain, trace in chains.items():
                if chain not in mapped:
                    target_chains[free_name(chain, target_chains)] = trace
    possible = {}
    for group in groups:
        maps = _maps(target_chains, decoys[group[0]].chains)
        possible.update(dict.fromkeys(group, maps))
    return {name: possible[name] for name in decoys}, target_chains


def _maps(
    target_chains: Mapping[str, Trace], chains: Mapping[str, Trace]
) -> list[ChainMap]:
    """Possible maps of a decoy's chains, each of all of them."""
    maps = []
    for mapping in mappings(target_chains, chains):
        chain_map = {chain: target for target, chain in mapping.items()}
        for chain in chains:
            if chain not in chain_map:
                chain_map[chain] = free_name(
                    chain, {*target_chains, *chain_map.values()}
                )
        maps.append(chain_map)
    return maps


class _TargetContacts:
    """The contacts of decoys as numbers that mean the same in all of them."""

    def __init__(self, target_chains: Mapping[str, Trace]):
        self._chains = target_chains
        self._start, self._total = starts(target_chains)
        self._matched: dict[tuple, np.ndarray] = {}

    def of(self, decoy: Traces, chain_map: ChainMap) -> list[int]:
        """The contacts of a decoy, sorted.

        Contacts of residues that the target's chains lack are left out.
        """
        n_residues = (
            max((int(trace.index.max()) for trace in decoy.chains.values()), default=0)
            + 1
        )
        places = np.full(n_residues, -1)
        for name, trace in decoy.chains.items():
            chain = chain_map[name]
            if chain in self._start:
                in_chain = self._places(chain, trace)
                places[trace.index] = np.where(
                    in_chain >= 0, in_chain + self._start[chain], -1
                )
        pairs = np.sort(places[decoy.contacts], axis=1).reshape(-1, 2)
        pairs = pairs[(pairs >= 0).all(axis=1)]
        return sorted((pairs[:, 0] * self._total + pairs[:, 1]).tolist())

    def _places(self, chain: str, trace: Trace) -> np.ndarray:
        key = chain, trace.sequence, trace.residues
        if key not in self._matched:
            self._matched[key] = matched(self._chains[chain], trace)
        return self._matched[key]


def _chosen(
    decoys: Mapping[str, Traces],
    target_chains: Mapping[str, Trace],
    possible: Mapping[str, list[ChainMap]],
) -> dict[str, ChainMap]:
    """Of the possible maps of each decoy the one with most contacts in common with the others.

    Of several, as where no contact is shared, the one whose contacts come first in the target's
    chains: it does not depend on names.
    """
    chosen = {name: maps[0] for name, maps in possible.items()}
    if len(decoys) < 2 or all(len(maps) == 1 for maps in possible.values()):
        return chosen
    target_contacts = _TargetContacts(target_chains)
    n_decoys_with: Counter[int] = Counter()
    contacts: dict[str, list[int]] = {}
    for _ in range(PASSES):
        for name, decoy in decoys.items():
            n_decoys_with.subtract(contacts.get(name, ()))
            best = None
            for chain_map in possible[name]:
                of_map = target_contacts.of(decoy, chain_map)
                n_shared = sum(n_decoys_with[contact] for contact in of_map)
                if best is None or (-n_shared, of_map) < best:
                    best = -n_shared, of_map
                    chosen[name] = chain_map
            contacts[name] = best[1]
            n_decoys_with.update(contacts[name])
    return chosen


def chain_map_text(chain_map: Mapping[str, str]) -> str:
    """Return a map in one line, `<chain of the target>=<chain of the decoy> …`.

    It is empty where the names are the same.

    >>> chain_map_text({"6": "A", "7": "B"}), chain_map_text({"A": "A"})
    ('A=6 B=7', '')
    """
    pairs = []
    for chain, target in chain_map.items():
        pairs.append((target, f"{quote(target, safe='')}={quote(chain, safe='')}"))
    is_same = all(chain == target for chain, target in chain_map.items())
    return "" if is_same else " ".join(text for _, text in sorted(pairs))


def read_chain_map(text: str) -> ChainMap:
    """The inverse of `chain_map_text`.

    >>> read_chain_map("A=6 B=7")
    {'6': 'A', '7': 'B'}
    """
    chain_map = {}
    for pair in text.split():
        target, decoy_chain = pair.split("=")
        chain_map[unquote(decoy_chain)] = unquote(target)
    return chain_map
