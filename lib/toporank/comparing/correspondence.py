"""Which chains and residues of the decoys of a target are the same, whatever the files call them.

Chains are matched by sequence, as a decoy is mapped on its native (`comparing.native.mapping`). Of the ways to map
the copies of a chain the one that shares most contacts with the other decoys counts. Residues are matched by number
where numbers agree, else by alignment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate, pairwise
from typing import NamedTuple
from urllib.parse import quote, unquote

import numpy as np

from toporank.comparing.native.alignment import align
from toporank.comparing.native.mapping import LEAST_IDENTITY, mappings
from toporank.structures.identity import free_name

NUMBERS_AGREE = 0.9
"""Share of the residues of the shorter chain that have the same number and letter in the other; then numbers count."""
PASSES = 2
"""How often each decoy's mapping is chosen: the first time beside those before it, then beside all others."""

Residue = tuple[str, int, str]
"""Chain, number and insertion code."""
ChainMap = dict[str, str]
"""Chain of a decoy → chain of its target."""


class Trace(NamedTuple):
    """A chain of a decoy: L residues with their places in the decoy, int, (L,), letters, and CA atoms, (L, 3), Å."""

    residues: tuple[Residue, ...]
    sequence: str
    index: np.ndarray
    ca: np.ndarray


class Traces(NamedTuple):
    """What the decoys of a target are matched by: the chains of one, and its contacts, int, (P, 2), by residues."""

    chains: dict[str, Trace]
    contacts: np.ndarray


def traces(residues: Iterable[Residue], letters: str, ca: np.ndarray, contacts: np.ndarray) -> Traces:
    """The chains of a decoy of n residues. letters : one for each residue. ca : (n, 3). contacts : int, (P, 2)."""
    members: dict[str, list[int]] = {}
    rows = [tuple(residue) for residue in residues]
    for i, residue in enumerate(rows):
        members.setdefault(residue[0], []).append(i)
    chains = {
        name: Trace(tuple(rows[i] for i in own), "".join(letters[i] for i in own), np.array(own), ca[own])
        for name, own in members.items()
    }
    return Traces(chains, contacts)


def matched(reference: Trace, own: Trace) -> np.ndarray:
    """Where each residue of a chain is in the reference: int, (L,); -1 where it is not there.

    Residues that differ are the same where their numbers say so, or where they lie between residues that are the same.
    """
    if own.residues == reference.residues and own.sequence == reference.sequence:
        return np.arange(len(own.residues))
    by_number = {residue[1:]: i for i, residue in enumerate(reference.residues)}
    places = np.array([by_number.get(residue[1:], -1) for residue in own.residues], dtype=int)
    equal = sum(p >= 0 and reference.sequence[p] == letter for p, letter in zip(places, own.sequence, strict=True))
    if equal >= NUMBERS_AGREE * min(len(own.sequence), len(reference.sequence)):
        return places
    alignment = align(reference.sequence, own.sequence)
    return _aligned(reference, own, alignment.residue) if alignment.identity >= LEAST_IDENTITY else places


def _aligned(reference: Trace, own: Trace, residue: np.ndarray) -> np.ndarray:
    """As `matched`, by an alignment: which residue of the chain each of the reference is, -1 where it is not there."""
    places = np.full(len(own.sequence), -1)
    places[residue[residue >= 0]] = np.flatnonzero(residue >= 0)
    known = np.flatnonzero(places >= 0)
    for start, end in pairwise(known):
        between = end - start, own.residues[end][1] - own.residues[start][1]
        first, last = places[start], places[end]
        if between == (last - first, reference.residues[last][1] - reference.residues[first][1]):
            places[start:end] = np.arange(first, last)  # exchanges
    return places


def starts(chains: Mapping[str, Trace]) -> tuple[dict[str, int], int]:
    """Where each chain begins when all follow one another, and the number of residues in all."""
    ends = list(accumulate((len(chain.sequence) for chain in chains.values()), initial=0))
    return dict(zip(chains, ends, strict=False)), ends[-1]


def chain_maps(known: Mapping[str, Traces]) -> dict[str, ChainMap]:
    """Name of each decoy → which chain of the target each of its chains is.

    The chains of the target are called as in the decoy with most chains, of several with most residues, of these the
    first. A chain that this decoy does not have gets a name of its own. Names of chains decide nothing.

    known : by name, in order.
    """
    if not known:
        return {}
    first = min(known, key=lambda name: (-len(known[name].chains), -_size(known[name]), name))
    possible, frame = _possible(known, first)
    chosen = _chosen(known, frame, possible)
    back = {target: own for own, target in chosen[first].items()}
    return {name: {own: back.get(target, target) for own, target in found.items()} for name, found in chosen.items()}


def _size(decoy: Traces) -> int:
    return sum(len(chain.sequence) for chain in decoy.chains.values())


def _possible(known: Mapping[str, Traces], first: str) -> tuple[dict[str, list[ChainMap]], dict[str, Trace]]:
    """The possible maps of each decoy, and the chains of the target: those of the first and what it does not have."""
    frame = dict(known[first].chains)
    variants = {name: tuple((c, t.sequence) for c, t in decoy.chains.items()) for name, decoy in known.items()}
    examples = {variant: name for name, variant in reversed(variants.items())}
    for name in [first, *sorted(examples.values())]:
        own = known[name].chains
        mapped = set(mappings(frame, own)[0].values()) if name != first else set(own)
        for chain in [chain for chain in own if chain not in mapped]:
            frame[free_name(chain, frame)] = own[chain]
    found = {variant: _maps(frame, known[name].chains) for variant, name in examples.items()}
    return {name: found[variants[name]] for name in known}, frame


def _maps(frame: Mapping[str, Trace], own: Mapping[str, Trace]) -> list[ChainMap]:
    """Possible maps of a decoy's chains, each of all of them."""
    found = []
    for mapping in mappings(frame, own):
        one = {other: name for name, other in mapping.items()}
        for chain in own:
            if chain not in one:
                one[chain] = free_name(chain, {*frame, *one.values()})
        found.append(one)
    return found


class _Shared:
    """How often the decoys that have a map have each contact of the target."""

    def __init__(self, frame: Mapping[str, Trace]):
        self._frame = frame
        self._start, self._total = starts(frame)
        self._counts: Counter[int] = Counter()
        self._matched: dict[tuple, np.ndarray] = {}

    def codes(self, decoy: Traces, chain_map: ChainMap) -> list[int]:
        """The contacts of a decoy as numbers, sorted; those of residues that the target's chains lack are left out."""
        places = np.full(1 + max((int(t.index.max()) for t in decoy.chains.values()), default=0), -1)
        for name, own in decoy.chains.items():
            chain = chain_map[name]
            if chain in self._start:
                there = self._places(chain, own)
                places[own.index] = np.where(there >= 0, there + self._start[chain], -1)
        pairs = np.sort(places[decoy.contacts], axis=1).reshape(-1, 2)
        pairs = pairs[(pairs >= 0).all(axis=1)]
        return sorted((pairs[:, 0] * self._total + pairs[:, 1]).tolist())

    def _places(self, chain: str, own: Trace) -> np.ndarray:
        key = chain, own.sequence, own.residues
        if key not in self._matched:
            self._matched[key] = matched(self._frame[chain], own)
        return self._matched[key]

    def add(self, codes: Iterable[int]) -> None:
        self._counts.update(codes)

    def remove(self, codes: Iterable[int]) -> None:
        self._counts.subtract(codes)

    def common(self, codes: Iterable[int]) -> int:
        return sum(self._counts.get(code, 0) for code in codes)


def _chosen(
    known: Mapping[str, Traces], frame: Mapping[str, Trace], possible: Mapping[str, list[ChainMap]]
) -> dict[str, ChainMap]:
    """Of the possible maps of each decoy the one with most contacts in common with the others.

    Of several, as where no contact is shared, the one whose contacts come first in the target's chains: it does not
    depend on names.
    """
    chosen = {name: maps[0] for name, maps in possible.items()}
    if len(known) < 2 or all(len(maps) == 1 for maps in possible.values()):
        return chosen
    shared, codes = _Shared(frame), {}
    for nth in range(PASSES):
        for name, decoy in known.items():
            if nth:
                shared.remove(codes[name])
            ways = [(shared.codes(decoy, one), one) for one in possible[name]]
            codes[name], chosen[name] = min(ways, key=lambda way: (-shared.common(way[0]), way[0]))
            shared.add(codes[name])
    return chosen


def chain_map_text(chain_map: Mapping[str, str]) -> str:
    """A map in one line, `<chain of the target>=<chain of the decoy> …`; empty where the names are the same.

    >>> chain_map_text({"6": "A", "7": "B"}), chain_map_text({"A": "A"})
    ('A=6 B=7', '')
    """
    if all(own == target for own, target in chain_map.items()):
        return ""
    pairs = sorted((target, own) for own, target in chain_map.items())
    return " ".join(f"{quote(target, safe='')}={quote(own, safe='')}" for target, own in pairs)


def read_chain_map(text: str) -> ChainMap:
    """The inverse of `chain_map_text`.

    >>> read_chain_map("A=6 B=7")
    {'6': 'A', '7': 'B'}
    """
    pairs = (pair.split("=") for pair in text.split())
    return {unquote(own): unquote(target) for target, own in pairs}
