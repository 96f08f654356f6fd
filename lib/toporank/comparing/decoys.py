"""The decoys of a target compared with each other: clusters, consensus, twins.

Decoys are as similar as they have common contacts: FCC, the fraction of the contacts of one that
the other has, too (Rodrigues et al. 2012, doi 10.1002/prot.24078). `correspondence` says which
residues are the same.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import safetensors.numpy

from toporank.chains.chain import Chain, ResidueId, chains_by_name
from toporank.chains.partners import ChainMap
from toporank.comparing.correspondence import TargetResidues, TouchingChains, chain_maps
from toporank.comparing.superposition import interface_rmsd

CUTOFF, STRICTNESS, SMALLEST = 0.6, 0.75, 4
"""Of clusters, as HADDOCK3 (`clustfcc`) has them: FCC of a neighbour, share of it that the
neighbour's own FCC must reach, fewest members.
"""
TWIN = 0.5
"""Å, largest interface RMSD of twins."""
TWIN_SIMILARITY = 0.5
"""Least similarity of twins; it spares most superpositions."""
AT_ONCE = 256
"""Decoys superposed on another one at a time."""
REMEMBERED = 2
"""Targets whose decoys stay in memory: those of one are compared, vote and agree on residues. With
1,000 models of 500 residues they take 30 MB.
"""


class Comparison(NamedTuple):
    """A decoy among the others of its target.

    Attributes
    ----------
    cluster : its number, 1 for the largest; None in none
    consensus : mean similarity to the others, in [0, 1], None without others
    twin_of : the first decoy by name, itself no twin, with nearly the same interface; or empty
    """

    cluster: int | None
    consensus: float | None
    twin_of: str


class Contacts:
    """The contacts of n decoys, ready to be compared.

    Parameters
    ----------
    contacts : of each decoy, the pairs of residues that touch, places that mean the same in all:
        int, shape (P, 2)

    Attributes
    ----------
    sizes : number of contacts of each decoy, int, shape (n,)
    """

    def __init__(self, contacts: list[np.ndarray]):
        self.sizes = np.array([len(of_decoy) for of_decoy in contacts], dtype=int)
        pairs = np.sort(np.concatenate([np.empty((0, 2), int), *contacts]), axis=1)
        numbers, self._contact = np.unique(
            (pairs[:, 0] << 32) + pairs[:, 1], return_inverse=True
        )
        self._pairs = np.column_stack([numbers >> 32, numbers & 0xFFFFFFFF])
        self._ends = np.cumsum(self.sizes)
        # The decoys that have each contact, one contact after the other.
        self._decoys = np.repeat(np.arange(len(contacts)), self.sizes)[
            np.argsort(self._contact, kind="stable")
        ]
        self._n_decoys = np.bincount(self._contact, minlength=len(numbers))
        self._first = np.cumsum(self._n_decoys) - self._n_decoys

    def common(self, i: int) -> np.ndarray:
        """Number of contacts that decoy i has in common with each: int, shape (n,)."""
        contacts = self._of(i)
        n = self._n_decoys[contacts]
        nth = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        decoys = self._decoys[np.repeat(self._first[contacts], n) + nth]
        return np.bincount(decoys, minlength=len(self.sizes))

    def similarity(self, i: int, common: np.ndarray) -> np.ndarray:
        """Of decoy i to each, which have so many contacts in common with it.

        It is in [0, 1], shape (n,).
        """
        return 2 * common / np.maximum(self.sizes[i] + self.sizes, 1)

    def shares(self, weight: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The contacts of each decoy, (P, 2), and the share of other decoys that have each, (P,).

        weight : how much each decoy counts, above 0, (n,). There are two decoys at least.
        """
        weights = np.bincount(
            self._contact, np.repeat(weight, self.sizes), minlength=len(self._pairs)
        )
        for i, of_decoy in enumerate(weight.tolist()):
            contacts = self._of(i)
            share = (weights[contacts] - of_decoy) / (weight.sum() - of_decoy)
            yield self._pairs[contacts], np.clip(share, 0.0, 1.0)

    def between(self, one: np.ndarray, other: np.ndarray) -> Contacts:
        """Those between residues of two sides alone. one, other : bool, (R,)."""
        first, second = self._pairs.T
        wanted = (one[first] & other[second]) | (other[first] & one[second])
        of_decoys = []
        for i in range(len(self.sizes)):
            contacts = self._of(i)
            of_decoys.append(self._pairs[contacts[wanted[contacts]]])
        return Contacts(of_decoys)

    def _of(self, i: int) -> np.ndarray:
        return self._contact[self._ends[i] - self.sizes[i] : self._ends[i]]


class Compared(NamedTuple):
    """A decoy to compare.

    Attributes
    ----------
    content : as `contacts.contact_bytes` gives it
    chains : which chain of the target each of its chains is, where the names differ
    """

    name: str
    content: bytes
    chains: ChainMap = {}  # noqa: RUF012 -- a default that nobody changes


class Decoys(NamedTuple):
    """n decoys of a target, of R residues in all.

    Attributes
    ----------
    contacts : None of no decoys
    xyz : CA atoms, float32, shape (n, R, 3), Å, nan where a decoy has none
    interface : which residues are in the interface, bool, shape (n, R)
    residues : of each decoy, place among the R residues → what the decoy itself calls that residue
    chains : of each decoy by name; those of decoys with the same residues are one object
    places : of the residues of each chain of the target
    """

    names: list[str]
    contacts: Contacts
    xyz: np.ndarray
    interface: np.ndarray
    residues: list[dict[int, ResidueId]]
    chains: list[dict[str, Chain]]
    places: dict[str, set[int]]

    def between(self, partners: Iterable[Iterable[str]]) -> Contacts:
        """The contacts between two partners, by the chains of the target."""
        sides = np.zeros((2, self.interface.shape[1]), dtype=bool)
        for side, chains in zip(sides, partners, strict=True):
            for chain in chains:
                side[list(self.places.get(chain, ()))] = True
        return self.contacts.between(*sides)


def compare(decoys: Iterable[Compared]) -> dict[str, Comparison]:
    """Compare the decoys of a target with each other.

    The similarity of two decoys is the number of common contacts over the mean of their numbers of
    contacts: in [0, 1], the same both ways. Copies vote for each other: leave them out.

    Parameters
    ----------
    decoys : in order of name

    Returns
    -------
    dict, name → Comparison
    """
    read = read_decoys(decoys)
    n = len(read.names)
    neighbours = np.zeros((n, -(-n // 8)), dtype=np.uint8)
    comparisons = []
    is_first = np.zeros(n, dtype=bool)  # no twin of an earlier one
    for i in range(n):
        sizes = read.contacts.sizes
        common = read.contacts.common(i)
        similarity = read.contacts.similarity(i, common)
        similarity[i] = 0.0
        is_near = (common >= CUTOFF * sizes[i]) & (
            common >= CUTOFF * STRICTNESS * sizes
        )
        is_near &= common > 0
        is_near[i] = False
        neighbours[i] = np.packbits(is_near)
        first = _first_twin(
            read, i, np.flatnonzero(is_first & (similarity >= TWIN_SIMILARITY))
        )
        is_first[i] = first is None
        comparison = Comparison(
            cluster=None,
            consensus=round(float(similarity.sum()) / (n - 1), 6) if n > 1 else None,
            twin_of="" if first is None else read.names[first],
        )
        comparisons.append(comparison)
    for number, members in enumerate(clusters(neighbours), 1):
        for i in members:
            comparisons[i] = comparisons[i]._replace(cluster=number)
    return dict(zip(read.names, comparisons, strict=True))


def clusters(neighbours: np.ndarray) -> list[np.ndarray]:
    """The members of each cluster, largest cluster first.

    A cluster is a decoy with those of its neighbours that are in no cluster yet.

    The decoy with most of these comes next; of equals, the first. neighbours : row i has a bit for
    each neighbour of decoy i, uint8, shape (n, n / 8 rounded up).
    """
    free = np.ones(len(neighbours), dtype=bool)
    members_of = []
    while free.any():
        n = np.bitwise_count(neighbours & np.packbits(free)).sum(axis=1, dtype=int)
        n[~free] = -1
        centre = int(n.argmax())
        if n[centre] + 1 < SMALLEST:
            break
        members = free & np.unpackbits(neighbours[centre], count=len(free)).astype(bool)
        members[centre] = True
        members_of.append(np.flatnonzero(members))
        free &= ~members
    return members_of


def _first_twin(decoys: Decoys, i: int, candidates: np.ndarray) -> int | None:
    xyz, interface = decoys.xyz, decoys.interface
    for start in range(0, len(candidates), AT_ONCE):
        some = candidates[start : start + AT_ONCE]
        is_twin = (
            interface_rmsd(xyz[i], interface[i], xyz[some], interface[some]) <= TWIN
        )
        if is_twin.any():
            return int(some[is_twin.argmax()])
    return None


def maps_of_target(decoys: Iterable[tuple[str, bytes]]) -> dict[str, ChainMap]:
    """Decoy → which chain of the target each of its chains is (`correspondence.chain_maps`).

    decoys : names in order, with their `contacts.contact_bytes`.
    """
    touching = {}
    reader = _ContactReader()
    for name, content in decoys:
        tensors = safetensors.numpy.load(content)
        touching[name] = TouchingChains(reader.chains(tensors), tensors["contacts"])
    return chain_maps(touching)


class _ContactReader:
    """Takes the chains of decoys apart, once for all decoys that have the same residues.

    Most decoys of a target have the same.
    """

    def __init__(self) -> None:
        self._chains: dict[tuple[bytes, bytes], dict[str, Chain]] = {}

    def chains(self, tensors: Mapping[str, np.ndarray]) -> dict[str, Chain]:
        """The chains of the first decoy with these residues.

        tensors : of `contacts.contact_bytes`.
        """
        key = tensors["residues"].tobytes(), tensors["letters"].tobytes()
        if key not in self._chains:
            residues = [ResidueId(*residue) for residue in json.loads(key[0])]
            self._chains[key] = chains_by_name(residues, key[1].decode(), tensors["ca"])
        return self._chains[key]


def read_decoys(decoys: Iterable[Compared]) -> Decoys:
    """Return decoys of one target, each residue in its place among those of the target.

    Nobody may change them.
    """
    keys = []
    for name, content, chain_map in decoys:
        keys.append((name, content, tuple(sorted(chain_map.items()))))
    return _read(tuple(keys))


@functools.lru_cache(maxsize=REMEMBERED)
def _read(decoys: tuple[tuple[str, bytes, tuple], ...]) -> Decoys:
    reader = _ContactReader()
    tensors = [safetensors.numpy.load(content) for _, content, _ in decoys]
    chains = [reader.chains(of_decoy) for of_decoy in tensors]
    maps = [dict(chain_map) for *_, chain_map in decoys]
    target = TargetResidues(_longest(chains, maps))
    further: dict[tuple, int] = {}
    # the same for the same residues and map
    places_of: dict[tuple, tuple[np.ndarray, dict[int, ResidueId]]] = {}
    of_chains: dict[str, set[int]] = {}
    placed = []
    for of_decoy, chain_map in zip(chains, maps, strict=True):
        key = id(of_decoy), tuple(chain_map.items())
        if key not in places_of:
            places = target.places(of_decoy, chain_map)
            for name, chain in of_decoy.items():
                for i in np.flatnonzero(places[chain.index] < 0).tolist():
                    # a residue that the target's chains lack gets a further place
                    other = chain_map.get(name, name), *chain.residues[i][1:]
                    place = further.setdefault(other, target.n + len(further))
                    places[chain.index[i]] = place
                of_chain = of_chains.setdefault(chain_map.get(name, name), set())
                of_chain.update(places[chain.index].tolist())
            places_of[key] = places, _names(of_decoy, places)
        placed.append(places_of[key])
    n_residues = target.n + len(further)
    xyz = np.full((len(decoys), n_residues, 3), np.nan, dtype=np.float32)
    interface = np.zeros((len(decoys), n_residues), dtype=bool)
    contacts = []
    for i, (places, _) in enumerate(placed):
        xyz[i, places] = tensors[i]["ca"]
        interface[i, places] = tensors[i]["interface"]
        contacts.append(places[tensors[i]["contacts"]])
    return Decoys(
        names=[name for name, *_ in decoys],
        contacts=Contacts(contacts),
        xyz=xyz,
        interface=interface,
        residues=[names for _, names in placed],
        chains=chains,
        places=of_chains,
    )


def _longest(chains: list[dict[str, Chain]], maps: list[ChainMap]) -> dict[str, Chain]:
    """The chains of the target: of each the longest that a decoy has, of equal ones the first."""
    longest: dict[str, Chain] = {}
    for of_decoy, chain_map in zip(chains, maps, strict=True):
        for name, chain in of_decoy.items():
            target = chain_map.get(name, name)
            if target not in longest or len(longest[target].sequence) < len(
                chain.sequence
            ):
                longest[target] = chain
    return longest


def _names(chains: Mapping[str, Chain], places: np.ndarray) -> dict[int, ResidueId]:
    """Place → what the decoy calls that residue."""
    names: dict[int, ResidueId] = {}
    for chain in chains.values():
        names.update(zip(places[chain.index].tolist(), chain.residues, strict=True))
    return names
