"""The label of a decoy: DockQ between the partners of its native, or the mean over its interfaces."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from toporank.comparing.native.alignment import align
from toporank.comparing.native.chains import CA, Chain, chains_of
from toporank.comparing.native.dockq import Interface, Scores, Side, near_pairs, score
from toporank.comparing.native.mapping import LEAST_IDENTITY, Mapping, mappings
from toporank.errors import LabelError, NativeError, OtherProteinError
from toporank.structures.complex import Complex
from toporank.structures.partners import Partners

Partner = tuple[str, ...]
"""Chains of the native that dock as one."""


class Label(NamedTuple):
    """What a decoy is worth.

    dockq : mean over the interfaces
    mapping : chain of the native → chain of the decoy
    interfaces : scores of each pair of partners
    notes : what was left out, one sentence each
    """

    dockq: float
    mapping: Mapping
    interfaces: dict[tuple[Partner, Partner], Scores]
    notes: tuple[str, ...]


class Native:
    """A native. Its contacts are found when they are first needed.

    partners : its chains as they dock; every chain by itself when empty.
    Raises NativeError when the partners do not fit its chains, or no two of them touch.
    """

    def __init__(self, complex_: Complex, partners: Partners = ()):
        chains = chains_of(complex_)
        self.partners = partners or tuple((name,) for name in chains)
        _check(self.partners, list(chains))
        named = {name for partner in self.partners for name in partner}
        self.chains = {name: chain for name, chain in chains.items() if name in named}
        self.each: Partners = tuple((name,) for name in self.chains)
        self._near: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}
        self._interfaces: dict[tuple[Partner, Partner], Interface | None] = {}
        if not any(self.interface(one, other) for one, other in combinations(self.partners, 2)):
            what = "no two partners of the native touch" if partners else "no two chains of the native touch"
            raise NativeError(what, remedy="is it the whole complex, and are these its partners?")

    def interface(self, one: Partner, other: Partner) -> Interface | None:
        """The interface of two groups of chains; None where they do not touch."""
        if (one, other) not in self._interfaces:
            first, second = self._starts(one), self._starts(other)
            found = [(self._pairs(a, b), first[a], second[b]) for a in one for b in other]
            pairs = np.concatenate([near + np.array([start, start2]) for (near, _), start, start2 in found])
            contact = np.concatenate([touching for (_, touching), _, _ in found])
            sides = tuple(_side([self.chains[name] for name in partner]) for partner in (one, other))
            self._interfaces[one, other] = Interface(sides, pairs, contact) if contact.any() else None
        return self._interfaces[one, other]

    def _pairs(self, one: str, other: str) -> tuple[np.ndarray, np.ndarray]:
        if (one, other) not in self._near:
            self._near[one, other] = near_pairs(self.chains[one].atoms, self.chains[other].atoms)
        return self._near[one, other]

    def _starts(self, partner: Partner) -> dict[str, int]:
        """Where the residues of each chain begin on a side."""
        sizes = [len(self.chains[name].sequence) for name in partner]
        return dict(zip(partner, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))


def _check(partners: Partners, chains: list[str]) -> None:
    unknown = sorted({name for partner in partners for name in partner} - set(chains))
    if unknown:
        raise NativeError(
            f"the native has no {_chains(unknown)}, only {', '.join(chains)}",
            remedy="name its chains as the partners are named",
        )
    if len(partners) < 2:
        raise NativeError("the native has fewer than two protein chains", remedy="give the whole complex")


def label(native: Native, decoy: Complex) -> Label:
    """The label under the mapping of chains with the greatest sum of DockQ over all pairs of chains.

    Raises OtherProteinError when no chain is one of the native's, LabelError when no interface of the native is there.
    """
    chains = chains_of(decoy)
    possible = mappings(native.chains, chains)
    if not possible[0]:
        what = f"no chain shares {LEAST_IDENTITY:.0%} of its residues with a chain of the native"
        raise OtherProteinError(what, remedy="is it a decoy of this target?")
    scored = _Decoy(native, chains)
    mapping = max(possible, key=lambda mapping: sum(s.dockq for s in scored.interfaces(mapping, native.each).values()))
    interfaces = scored.interfaces(mapping, native.partners)
    missing = [name for name in native.chains if name not in mapping]
    absent = [f"no counterpart of {_chains(missing)} of the native"] if missing else []
    if not interfaces:
        raise LabelError("; ".join(["nothing of the native's interface is there", *absent]), remedy="is it complete?")
    left = [name for name in chains if name not in mapping.values()]
    notes = absent + ([f"{_chains(left)} of the decoy left out"] if left else [])
    dockq = sum(scores.dockq for scores in interfaces.values()) / len(interfaces)
    return Label(dockq, mapping, interfaces, tuple(notes))


def counterparts(native: Native, decoy: Complex, mapping: Mapping) -> np.ndarray:
    """Where the CA of each residue of a decoy is in the native: float32, shape (R, 3), Å; NaN where it is not there.

    mapping : chain of the native → chain of the decoy, as in the label.
    """
    chains, found = chains_of(decoy), np.full((len(decoy.residues), 3), np.nan, np.float32)
    for name, other in mapping.items():
        own, chain = native.chains[name], chains[other]
        residue = align(own.sequence, chain.sequence).residue
        found[chain.index[residue[residue >= 0]]] = own.backbone[residue >= 0, CA]
    return found


def _chains(names: list[str]) -> str:
    return f"chain{'s' if len(names) > 1 else ''} {', '.join(names)}"


class _Decoy:
    """Scores of the interfaces of one decoy, each computed once for all mappings that share it."""

    def __init__(self, native: Native, chains: dict[str, Chain]):
        self._native, self._chains = native, chains
        self._scores: dict[tuple, Scores | None] = {}
        self._followed: dict[tuple[str, str], Side] = {}

    def interfaces(self, mapping: Mapping, partners: Partners) -> dict[tuple[Partner, Partner], Scores]:
        """Scores of each pair of partners that touch in the native, as far as their chains are in the decoy."""
        found = {}
        for one, other in combinations(partners, 2):
            there = tuple(tuple(name for name in partner if name in mapping) for partner in (one, other))
            if all(there):
                scores = self._score(*there, mapping)
                if scores:
                    found[one, other] = scores
        return found

    def _score(self, one: Partner, other: Partner, mapping: Mapping) -> Scores | None:
        key = tuple((name, mapping[name]) for name in one), tuple((name, mapping[name]) for name in other)
        if key not in self._scores:
            interface = self._native.interface(one, other)
            sides = tuple(_side([self._follow(*pair) for pair in pairs]) for pairs in key)
            self._scores[key] = interface and score(interface, sides)
        return self._scores[key]

    def _follow(self, native: str, decoy: str) -> Side:
        """A chain of the decoy in the residues of one of the native."""
        if (native, decoy) not in self._followed:
            own, other = self._native.chains[native], self._chains[decoy]
            residue = align(own.sequence, other.sequence).residue
            atoms, backbone = other.atoms[residue], other.backbone[residue]
            atoms[residue < 0] = backbone[residue < 0] = np.nan
            self._followed[native, decoy] = Side(atoms, backbone)
        return self._followed[native, decoy]


def _side(chains: Sequence[Chain | Side]) -> Side:
    return Side(np.concatenate([chain.atoms for chain in chains]), np.concatenate([c.backbone for c in chains]))
