"""Which chains and residues of the decoys of a target are the same, whatever the files call them.

Chains are matched by sequence, as a decoy is mapped on its native (`chains.mapping`). Of
the ways to map the copies of a chain the one that shares most contacts with the other decoys
counts. Residues are matched by number where numbers agree, else by alignment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from toporank.chains.chain import Chain, inverted, n_residues
from toporank.chains.mapping import mappings
from toporank.chains.match import matched
from toporank.chains.partners import ChainMap
from toporank.files.printable_names import free_name
from toporank.lookup import only

PASSES = 2
"""How often each decoy's mapping is chosen: the first time beside those before it, then beside all
others.
"""


class TouchingChains(NamedTuple):
    """What the decoys of a target are matched by.

    These are the chains of one decoy, and its contacts, int, (P, 2), by residues.
    """

    chains: dict[str, Chain]
    contacts: np.ndarray


def chain_maps(decoys: Mapping[str, TouchingChains]) -> dict[str, ChainMap]:
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
    precedence = {}
    for name, decoy in decoys.items():
        precedence[name] = -len(decoy.chains), -n_residues(decoy.chains), name
    reference = min(decoys, key=precedence.__getitem__)
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
    decoys: Mapping[str, TouchingChains], reference: str
) -> tuple[dict[str, list[ChainMap]], dict[str, Chain]]:
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
    return only(possible, decoys), target_chains


def _maps(
    target_chains: Mapping[str, Chain], chains: Mapping[str, Chain]
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


class TargetResidues:
    """The residues of a target, in one row: chain by chain.

    Parameters
    ----------
    chains : of the target, by name

    Attributes
    ----------
    n : number of residues
    """

    def __init__(self, chains: Mapping[str, Chain]):
        self._chains = chains
        self._start: dict[str, int] = {}
        self.n = 0
        for name, chain in chains.items():
            self._start[name] = self.n
            self.n += len(chain.sequence)
        self._matched: dict[tuple, np.ndarray] = {}

    def places(self, chains: Mapping[str, Chain], chain_map: ChainMap) -> np.ndarray:
        """Where the residues of a decoy are in this row, int, (n,); -1 of those that it lacks."""
        places = np.full(n_residues(chains), -1)
        for name, chain in chains.items():
            target = chain_map.get(name, name)
            if target in self._start:
                in_chain = self._in_chain(target, chain)
                in_row = in_chain + self._start[target]
                places[chain.index] = np.where(in_chain >= 0, in_row, -1)
        return places

    def contacts(self, decoy: TouchingChains, chain_map: ChainMap) -> list[int]:
        """The contacts of a decoy, sorted, as numbers that mean the same in all decoys.

        Contacts of residues that the target lacks are left out.
        """
        places = self.places(decoy.chains, chain_map)
        pairs = np.sort(places[decoy.contacts], axis=1).reshape(-1, 2)
        pairs = pairs[(pairs >= 0).all(axis=1)]
        return sorted((pairs[:, 0] * self.n + pairs[:, 1]).tolist())

    def _in_chain(self, target: str, chain: Chain) -> np.ndarray:
        key = target, chain.sequence, chain.residues
        if key not in self._matched:
            self._matched[key] = matched(self._chains[target], chain)
        return self._matched[key]


def _chosen(
    decoys: Mapping[str, TouchingChains],
    target_chains: Mapping[str, Chain],
    possible: Mapping[str, list[ChainMap]],
) -> dict[str, ChainMap]:
    """Of the possible maps of each decoy the one with most contacts in common with the others.

    Of several, as where no contact is shared, the one whose contacts come first in the target's
    chains: it does not depend on names.
    """
    chosen = {name: maps[0] for name, maps in possible.items()}
    if len(decoys) < 2 or all(len(maps) == 1 for maps in possible.values()):
        return chosen
    target = TargetResidues(target_chains)
    n_decoys_with: Counter[int] = Counter()
    contacts: dict[str, list[int]] = {}
    for _ in range(PASSES):
        for name, decoy in decoys.items():
            n_decoys_with.subtract(contacts.get(name, ()))
            maps = []
            for place, chain_map in enumerate(possible[name]):
                of_map = target.contacts(decoy, chain_map)
                n_shared = sum(n_decoys_with[contact] for contact in of_map)
                maps.append((-n_shared, of_map, place))
            _, contacts[name], place = min(maps)
            chosen[name] = possible[name][place]
            n_decoys_with.update(contacts[name])
    return chosen
