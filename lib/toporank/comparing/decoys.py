"""The decoys of a target held against each other: clusters, consensus, twins.

Decoys are as similar as they have common contacts: FCC, the fraction of the contacts of one that the other has, too
(Rodrigues et al. 2012, doi 10.1002/prot.24078). Which residues are the same is what `correspondence` says.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import safetensors.numpy

from toporank.comparing.correspondence import ChainMap, Residue, Trace, Traces, chain_maps, matched, starts, traces
from toporank.comparing.superposition import interface_rmsd

CUTOFF, STRICTNESS, SMALLEST = 0.6, 0.75, 4
"""Of clusters, as HADDOCK3 (`clustfcc`) has them: FCC of a neighbour, share of it that the neighbour's own FCC must
reach, fewest members."""
TWIN = 0.5
"""Å, largest interface RMSD of twins."""
TWIN_SIMILARITY = 0.5
"""Least similarity of twins; it spares most superpositions."""
AT_ONCE = 256
"""Decoys superposed on another one at a time."""
REMEMBERED = 512
"""Targets whose decoys stay in memory, 0.2 MB or so each: they are compared, vote and agree on residues."""


class Comparison(NamedTuple):
    """A decoy among the others of its target.

    cluster : its number, 1 for the largest; None in none. consensus : mean similarity to the others, in [0, 1], None
    without others. twin_of : the first decoy by name, itself no twin, with nearly the same interface; or empty.
    """

    cluster: int | None
    consensus: float | None
    twin_of: str


class Contacts:
    """The contacts of n decoys, ready to be held against each other. sizes : number of contacts of each, int, (n,)."""

    def __init__(self, contacts: list[np.ndarray]):
        """contacts : of each decoy, the pairs of residues that touch, places that mean the same in all: (P, 2)."""
        self.sizes = np.array([len(of_one) for of_one in contacts])
        pairs = np.sort(np.concatenate(contacts), axis=1)
        numbers, self._contact = np.unique((pairs[:, 0] << 32) + pairs[:, 1], return_inverse=True)
        self._pairs = np.column_stack([numbers >> 32, numbers & 0xFFFFFFFF])
        self._ends = np.cumsum(self.sizes)
        self._decoys = np.repeat(np.arange(len(contacts)), self.sizes)[np.argsort(self._contact, kind="stable")]
        self._shared_by = np.bincount(self._contact, minlength=len(numbers))
        self._first = np.cumsum(self._shared_by) - self._shared_by

    def common(self, i: int) -> np.ndarray:
        """Number of contacts that decoy i has in common with each: int, shape (n,)."""
        mine = self._of(i)
        n = self._shared_by[mine]
        nth = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        return np.bincount(self._decoys[np.repeat(self._first[mine], n) + nth], minlength=len(self.sizes))

    def similarity(self, i: int, common: np.ndarray) -> np.ndarray:
        """Of decoy i to each, which have so many contacts in common with it: in [0, 1], shape (n,)."""
        return 2 * common / np.maximum(self.sizes[i] + self.sizes, 1)

    def shares(self, weight: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The contacts of each decoy, (P, 2), and the share of the other decoys that have each contact, (P,).

        weight : how much each decoy counts, above 0, (n,). There are two decoys at least.
        """
        weights = np.bincount(self._contact, np.repeat(weight, self.sizes), minlength=len(self._pairs))
        for i, own in enumerate(weight.tolist()):
            mine = self._of(i)
            yield self._pairs[mine], np.clip((weights[mine] - own) / (weight.sum() - own), 0.0, 1.0)

    def _of(self, i: int) -> np.ndarray:
        return self._contact[self._ends[i] - self.sizes[i] : self._ends[i]]


class Compared(NamedTuple):
    """A decoy to compare. content : as `contacts.contact_bytes` gives it. chains : which chain of the target each of
    its chains is, where the names differ.
    """

    name: str
    content: bytes
    chains: ChainMap = {}  # noqa: RUF012 -- a default that nobody changes


class Decoys(NamedTuple):
    """n decoys of a target, of R residues in all. contacts : None of no decoys. xyz : CA atoms, float32, (n, R, 3), nan
    where a decoy has none. interface : which residues are in the interface, bool, (n, R). residues : of each decoy,
    place among the R residues → what the decoy itself calls that residue. chains : of each decoy by name; those of
    decoys with the same residues are one object.
    """

    names: list[str]
    contacts: Contacts | None
    xyz: np.ndarray
    interface: np.ndarray
    residues: list[dict[int, Residue]]
    chains: list[dict[str, Trace]]


def compare(decoys: Iterable[Compared]) -> dict[str, Comparison]:
    """Name → comparison of the decoys of a target, which come in order of name.

    The similarity of two decoys is the number of common contacts over the mean of their numbers of contacts: in
    [0, 1], the same both ways. Copies vote for each other: leave them out.
    """
    names, contacts, xyz, interface, *_ = read_decoys(decoys)
    if not names:
        return {}
    neighbours = np.zeros((len(names), -(-len(names) // 8)), dtype=np.uint8)
    consensus: list[float | None] = []
    twin_of, no_twin = [""] * len(names), np.zeros(len(names), dtype=bool)
    for i in range(len(names)):
        common, sizes = contacts.common(i), contacts.sizes
        similarity = contacts.similarity(i, common)
        near = (common >= CUTOFF * sizes[i]) & (common >= CUTOFF * STRICTNESS * sizes) & (common > 0)
        near[i] = similarity[i] = False
        neighbours[i] = np.packbits(near)
        consensus.append(round(float(similarity.sum()) / (len(names) - 1), 6) if len(names) > 1 else None)
        alike = np.flatnonzero(no_twin & (similarity >= TWIN_SIMILARITY))
        first = _first_twin(xyz, interface, i, alike)
        no_twin[i] = first is None
        twin_of[i] = "" if first is None else names[first]
    cluster_of = {i: number for number, members in enumerate(clusters(neighbours), 1) for i in members.tolist()}
    return {name: Comparison(cluster_of.get(i), consensus[i], twin_of[i]) for i, name in enumerate(names)}


def clusters(neighbours: np.ndarray) -> list[np.ndarray]:
    """The members of each cluster, largest cluster first: a decoy with those of its neighbours that are in none yet.

    The decoy with most of these comes next; of equals, the first. neighbours : row i has a bit for each neighbour of
    decoy i, uint8, shape (n, n / 8 rounded up).
    """
    free, found = np.ones(len(neighbours), dtype=bool), []
    while free.any():
        n = np.bitwise_count(neighbours & np.packbits(free)).sum(axis=1, dtype=int)
        n[~free] = -1
        centre = int(n.argmax())
        if n[centre] + 1 < SMALLEST:
            break
        members = free & np.unpackbits(neighbours[centre], count=len(free)).astype(bool)
        members[centre] = True
        found.append(np.flatnonzero(members))
        free &= ~members
    return found


def _first_twin(xyz: np.ndarray, interface: np.ndarray, i: int, among: np.ndarray) -> int | None:
    for some in (among[k : k + AT_ONCE] for k in range(0, len(among), AT_ONCE)):
        near = interface_rmsd(xyz[i], interface[i], xyz[some], interface[some]) <= TWIN
        if near.any():
            return int(some[near.argmax()])
    return None


def maps_of_target(decoys: Iterable[tuple[str, bytes]]) -> dict[str, ChainMap]:
    """Name of each decoy → which chain of the target each of its chains is (`correspondence.chain_maps`).

    decoys : names in order, with their `contacts.contact_bytes`.
    """
    variants: dict[tuple, Traces] = {}
    known = {}
    for name, content in decoys:
        tensors = safetensors.numpy.load(content)
        variant = tensors["residues"].tobytes(), tensors["letters"].tobytes()
        if variant not in variants:
            variants[variant] = _traces(tensors)
        known[name] = variants[variant]._replace(contacts=tensors["contacts"])
    return chain_maps(known)


def _traces(tensors: Mapping[str, np.ndarray]) -> Traces:
    """The chains and contacts of a decoy, from the tensors of its `contacts.contact_bytes`."""
    residues = json.loads(tensors["residues"].tobytes())
    return traces(residues, tensors["letters"].tobytes().decode(), tensors["ca"], tensors["contacts"])


class _Places:
    """Where the residues of decoys are among those of their target."""

    def __init__(self, chains: Mapping[str, Trace]):
        """chains : of the target, by name."""
        self._chains = chains
        self._start, self.n = starts(chains)
        self._further: dict[Residue, int] = {}

    def of(self, own: Mapping[str, Trace], chain_map: ChainMap) -> np.ndarray:
        """The places of the residues of a decoy, int, (n,); one that the target's chains lack gets a further place."""
        places = np.full(sum(len(chain.sequence) for chain in own.values()), -1)
        for name, chain in own.items():
            target = chain_map.get(name, name)
            there = matched(self._chains[target], chain)
            found = np.where(there >= 0, there + self._start[target], -1)
            for i in np.flatnonzero(there < 0):
                further = (target, *chain.residues[i][1:])
                if further not in self._further:
                    self._further[further] = self.n
                    self.n += 1
                found[i] = self._further[further]
            places[chain.index] = found
        return places


def read_decoys(decoys: Iterable[Compared]) -> Decoys:
    """Decoys of one target, each residue in its place among those of the target; nobody may change them."""
    return _read(tuple((name, content, tuple(sorted(chain_map.items()))) for name, content, chain_map in decoys))


@functools.lru_cache(maxsize=REMEMBERED)
def _read(decoys: tuple[tuple[str, bytes, tuple], ...]) -> Decoys:
    names, read = [], []
    variants: dict[tuple, Traces] = {}
    for name, content, chain_map in decoys:
        tensors = safetensors.numpy.load(content)
        variant = tensors["residues"].tobytes(), tensors["letters"].tobytes(), chain_map
        if variant not in variants:  # most decoys of a target have the same residues
            variants[variant] = _traces(tensors)
        names.append(name)
        read.append((variant, tensors))
    places = _Places(_longest(variants))
    known = {variant: places.of(decoy.chains, dict(variant[2])) for variant, decoy in variants.items()}
    xyz = np.full((len(names), places.n, 3), np.nan, dtype=np.float32)
    interface = np.zeros((len(names), places.n), dtype=bool)
    for i, (variant, tensors) in enumerate(read):
        xyz[i, known[variant]], interface[i, known[variant]] = tensors["ca"], tensors["interface"]
    own = {variant: _names(variants[variant], known[variant]) for variant in variants}
    contacts = Contacts([known[variant][tensors["contacts"]] for variant, tensors in read]) if names else None
    chains = [variants[variant].chains for variant, _ in read]
    return Decoys(names, contacts, xyz, interface, [own[variant] for variant, _ in read], chains)


def _longest(variants: Mapping[tuple, Traces]) -> dict[str, Trace]:
    """The chains of the target: of each the longest that a decoy has, of equal ones the first."""
    found: dict[str, Trace] = {}
    for (*_, chain_map), decoy in variants.items():
        for name, chain in decoy.chains.items():
            target = dict(chain_map).get(name, name)
            if target not in found or len(found[target].sequence) < len(chain.sequence):
                found[target] = chain
    return found


def _names(decoy: Traces, places: np.ndarray) -> dict[int, Residue]:
    """Place → what the decoy calls that residue."""
    pairs = (pair for chain in decoy.chains.values() for pair in zip(chain.index, chain.residues, strict=True))
    return {int(places[i]): residue for i, residue in pairs}
