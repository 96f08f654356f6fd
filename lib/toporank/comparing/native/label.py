"""The label of a decoy: DockQ between the partners of its native, or the mean over its interfaces."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from toporank.comparing.native.alignment import align
from toporank.comparing.native.chains import CA, Chain, chains_of, in_pieces
from toporank.comparing.native.dockq import Interface, Scores, Side, near_pairs, score
from toporank.comparing.native.joined import Cuts, cuts
from toporank.comparing.native.mapping import LEAST_IDENTITY, Mapping, mappings
from toporank.errors import LabelError, NativeError, OtherProteinError
from toporank.structures.complex import Complex
from toporank.structures.partners import Partners

Partner = tuple[str, ...]
"""Chains of the native that dock as one."""


class Label(NamedTuple):
    """What a decoy is worth.

    dockq : mean over the interfaces
    mapping : chain of the native → the chains of the decoy that hold its residues
    interfaces : scores of each pair of partners, by chains of the native
    notes : what was joined and what was left out, one sentence each
    counterparts : where the CA of each residue of the decoy is in the native, float32, shape (R, 3), Å; NaN where it is
        not there
    partners : those that were compared, by chains of the native
    """

    dockq: float
    mapping: dict[str, tuple[str, ...]]
    interfaces: dict[tuple[Partner, Partner], Scores]
    notes: tuple[str, ...]
    counterparts: np.ndarray
    partners: Partners


class Native:
    """A native. Its contacts are found when they are first needed.

    partners : its chains as they dock; every chain by itself when empty. are_given : whether somebody said so; then
    they stay as they are, also where a decoy has several of them in one chain.
    Raises NativeError when the partners do not fit its chains, or no two of them touch.
    """

    def __init__(self, complex_: Complex, partners: Partners = (), *, are_given: bool = True):
        chains = chains_of(complex_)
        self.are_given = bool(partners) and are_given
        self.partners = partners or tuple((name,) for name in chains)
        _check(self.partners, list(chains))
        named = {name for partner in self.partners for name in partner}
        self._set_chains({name: chain for name, chain in chains.items() if name in named})
        self._in_pieces: dict[str, Native] = {}
        if not any(self.interface(one, other) for one, other in combinations(self.partners, 2)):
            what = "no two partners of the native touch" if partners else "no two chains of the native touch"
            raise NativeError(what, remedy="is it the whole complex, and are these its partners?")

    def _set_chains(self, chains: dict[str, Chain]) -> None:
        self.chains = chains
        self.each: Partners = tuple((name,) for name in chains)
        self._near: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}
        self._interfaces: dict[tuple[Partner, Partner], Interface | None] = {}

    def in_pieces(self, cuts: Cuts) -> Native:
        """The native with some of its chains cut; the pieces of a chain are of one partner."""
        key = repr(sorted(cuts.items()))
        if key not in self._in_pieces:
            native = copy.copy(self)
            native._set_chains(in_pieces(self.chains, cuts))
            native.partners = tuple(
                tuple(name for name, chain in native.chains.items() if chain.of_file in partner)
                for partner in self.partners
            )
            self._in_pieces[key] = native
        return self._in_pieces[key]

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

    Residues correspond, not chains: where several chains of one structure are one chain of the other
    (`native.joined`), the pieces are mapped. Without given partners they count as one.

    Raises OtherProteinError when no chain is one of the native's, LabelError when no interface of the native is there
    or one chain of the decoy has residues of two given partners.
    """
    chains = chains_of(decoy)
    possible = mappings(native.chains, chains)
    if not possible[0]:
        what = f"no chain shares {LEAST_IDENTITY:.0%} of its residues with a chain of the native"
        raise OtherProteinError(what, remedy="is it a decoy of this target?")
    of_native, of_decoy = cuts(native.chains, chains, possible[0])
    if of_native or of_decoy:
        native, chains = native.in_pieces(of_native), in_pieces(chains, of_decoy)
        possible = mappings(native.chains, chains)
    scored = _Decoy(native, chains)
    mapping = max(possible, key=lambda mapping: sum(s.dockq for s in scored.interfaces(mapping, native.each).values()))
    groups = _joined(native, chains, mapping)
    partners = _bodies(native, chains, mapping)
    interfaces = scored.interfaces(mapping, partners)
    mapped = {native.chains[name].of_file for name in mapping}
    missing = [name for name in _of_file(native.chains) if name not in mapped]
    absent = [f"no counterpart of {_chains(missing)} of the native"] if missing else []
    if not interfaces:
        raise LabelError("; ".join(["nothing of the native's interface is there", *absent]), remedy="is it complete?")
    used = {chains[name].of_file for name in mapping.values()}
    left = [name for name in _of_file(chains) if name not in used]
    notes = [f"{_chains(own)} of the native as {_chains(other)} of the decoy" for own, other in groups]
    notes += absent + ([f"{_chains(left)} of the decoy left out"] if left else [])
    dockq = sum(scores.dockq for scores in interfaces.values()) / len(interfaces)
    return Label(
        dockq=dockq,
        mapping=_mapping_of_file(native, chains, mapping),
        interfaces={
            (_names(native, one), _names(native, other)): scores for (one, other), scores in interfaces.items()
        },
        notes=tuple(notes),
        counterparts=_counterparts(native, chains, mapping, len(decoy.residues)),
        partners=tuple(_names(native, partner) for partner in partners),
    )


def _joined(native: Native, chains: dict[str, Chain], mapping: Mapping) -> list[tuple[list[str], list[str]]]:
    """Chains of the native, and of the decoy, that hold the same residues and are not one and one."""
    groups: list[tuple[list[str], list[str]]] = []
    for own, other in mapping.items():
        pair = native.chains[own].of_file, chains[other].of_file
        group = next((group for group in groups if pair[0] in group[0] or pair[1] in group[1]), None)
        if group is None:
            groups.append(([pair[0]], [pair[1]]))
            continue
        for names, name in zip(group, pair, strict=True):
            if name not in names:
                names.append(name)
    return [group for group in groups if len(group[0]) > 1 or len(group[1]) > 1]


def _bodies(native: Native, chains: dict[str, Chain], mapping: Mapping) -> Partners:
    """The partners to compare. Where none are given, what is one chain of the decoy is one partner.

    Raises LabelError when a chain of the decoy belongs to two given partners, or all of the native is one chain.
    """
    partners = list(native.partners)
    for chain in _of_file(chains):
        members = {own for own, other in mapping.items() if chains[other].of_file == chain}
        met = [partner for partner in partners if members & {*partner}]
        if len(met) < 2:
            continue
        if native.are_given:
            parted = " and ".join("+".join(_names(native, partner)) for partner in met)
            what = f"chain {chain} of the decoy has residues of {len(met)} partners, {parted}"
            raise LabelError(what, remedy="give partners that do not part it")
        place = partners.index(met[0])
        partners[place] = tuple(name for partner in met for name in partner)
        partners = [partner for partner in partners if partner not in met]
    if len(partners) < 2:
        raise LabelError("all chains of the native are one chain of the decoy", remedy="there is no interface in it")
    return tuple(partners)


def _counterparts(native: Native, chains: dict[str, Chain], mapping: Mapping, n_residues: int) -> np.ndarray:
    """As `Label.counterparts`."""
    found = np.full((n_residues, 3), np.nan, np.float32)
    for name, other in mapping.items():
        own, chain = native.chains[name], chains[other]
        residue = align(own.sequence, chain.sequence).residue
        found[chain.index[residue[residue >= 0]]] = own.backbone[residue >= 0, CA]
    return found


def _mapping_of_file(native: Native, chains: dict[str, Chain], mapping: Mapping) -> dict[str, tuple[str, ...]]:
    """As `Label.mapping`."""
    found: dict[str, list[str]] = {}
    for own, other in mapping.items():
        names = found.setdefault(native.chains[own].of_file, [])
        if chains[other].of_file not in names:
            names.append(chains[other].of_file)
    return {own: tuple(names) for own, names in found.items()}


def _names(native: Native, partner: Partner) -> Partner:
    """The chains of the file that a partner consists of."""
    return tuple(dict.fromkeys(native.chains[name].of_file for name in partner))


def _of_file(chains: dict[str, Chain]) -> list[str]:
    """The chains of the file, in its order."""
    return list(dict.fromkeys(chain.of_file for chain in chains.values()))


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
