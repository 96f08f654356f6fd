"""The label of a decoy.

DockQ between the partners of its native, or the mean over its interfaces.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from toporank.chains.chain import Chain, inverted
from toporank.chains.mapping import (
    Correspondence,
    Mapping,
    correspond,
    counterparts_of_file,
)
from toporank.chains.match import same_residues
from toporank.chains.partners import Partners
from toporank.chains.thresholds import SAME_CHAIN
from toporank.comparing.native.dockq import (
    NativeInterface,
    Scores,
    Side,
    joined_sides,
    near_pairs,
    residue_sides,
    score,
)
from toporank.errors import LabelError, NativeError, OtherProteinError
from toporank.structures.complex import Complex

Partner = tuple[str, ...]
"""Chains of the native that dock as one."""
Interfaces = dict[tuple[Partner, Partner], Scores]
"""Scores of pairs of partners."""


class NativeLabel(NamedTuple):
    """How good a decoy is.

    Attributes
    ----------
    dockq : mean over the interfaces
    mapping : chain of the native → the chains of the decoy that hold its residues
    interfaces : scores of each pair of partners, by chains of the native
    notes : what was joined and what was left out, one sentence each
    counterparts : which residue of the native each of the decoy is, int, shape (R,); -1 where the
        native lacks it
    partners : those that were compared, by chains of the native

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> from toporank.structures.read import read_complex
    >>> complex_ = read_complex(example / "decoys/1PPE/near1.pdb.gz")
    >>> found = label(Native(complex_), complex_)
    >>> found.mapping, list(found.interfaces)
    ({'B': ('B',), 'A': ('A',)}, [(('B',), ('A',))])
    """

    dockq: float
    mapping: dict[str, tuple[str, ...]]
    interfaces: Interfaces
    notes: tuple[str, ...]
    counterparts: np.ndarray
    partners: Partners


class Native:
    """A native, ready to label decoys. Its contacts are found when they are first needed.

    Parameters
    ----------
    complex_ : the native
    partners : its chains as they dock; each chain is one when empty
    are_given : whether somebody gave the partners; then they stay as they are, also where a decoy
        has several of them in one chain

    Raises
    ------
    NativeError : the partners do not fit its chains, or no two of them touch

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> from toporank.structures.read import read_complex
    >>> complex_ = read_complex(example / "decoys/1PPE/near1.pdb.gz")
    >>> Native(complex_).partners
    (('B',), ('A',))
    """

    def __init__(
        self, complex_: Complex, partners: Partners = (), *, are_given: bool = True
    ):
        chains = complex_.protein_chains
        self._sides = residue_sides(complex_)
        self.are_given = bool(partners) and are_given
        partners = complex_.with_molecules(partners)
        self.partners = partners or tuple((name,) for name in chains)
        _check(self.partners, list(chains))
        named = set().union(*self.partners)
        self._set_chains(
            {name: chain for name, chain in chains.items() if name in named}
        )
        self._cut: dict[tuple, Native] = {}
        if not any(
            self.interface(one, other) for one, other in combinations(self.partners, 2)
        ):
            parts = "partners" if partners else "chains"
            raise NativeError(
                f"no two {parts} of the native touch",
                remedy="is it the whole complex, and are these its partners?",
            )

    def _set_chains(self, chains: dict[str, Chain]) -> None:
        self.chains = chains
        self._interfaces: dict[tuple[Partner, Partner], NativeInterface | None] = {}

    def with_chains(self, chains: dict[str, Chain]) -> Native:
        """Return the native with some of its chains cut.

        The pieces of a chain are of one partner.
        """
        if chains is self.chains:
            return self
        key = tuple((name, len(chain.sequence)) for name, chain in chains.items())
        if key not in self._cut:
            partners = []
            for partner in self.partners:
                pieces = [
                    name for name, chain in chains.items() if chain.of_file in partner
                ]
                partners.append(tuple(pieces))
            native = copy.copy(self)
            native._set_chains(chains)
            native.partners = tuple(partners)
            self._cut[key] = native
        return self._cut[key]

    def _side_of(self, partner: Partner) -> Side:
        """The chains of a partner as one side."""
        return joined_sides([self._side(name) for name in partner])

    def interface(self, one: Partner, other: Partner) -> NativeInterface | None:
        """Return the interface of two groups of chains; None where they do not touch."""
        if (one, other) not in self._interfaces:
            first = self._side_of(one)
            second = self._side_of(other)
            pairs, contact = near_pairs(first.atoms, second.atoms)
            touching = (
                NativeInterface((first, second), pairs, contact)
                if contact.any()
                else None
            )
            self._interfaces[one, other] = touching
        return self._interfaces[one, other]

    def _side(self, name: str) -> Side:
        return self._sides.of(self.chains[name].index)

    def place_in_file(self, partner: Iterable[str]) -> int:
        """Return the place of the first of its chains in the file.

        Of equally long sides the second one is superposed. Names do not decide which that is.
        """
        chains = list(self.chains)
        return min(chains.index(name) for name in partner)

    def of_file(self, partner: Partner) -> Partner:
        """Return the chains of the file that a partner consists of."""
        return tuple(dict.fromkeys(self.chains[name].of_file for name in partner))


def _check(partners: Partners, chains: list[str]) -> None:
    unknown = sorted(set().union(*partners) - set(chains))
    if unknown:
        raise NativeError(
            f"the native has no {_named(unknown)}, only {', '.join(chains)}",
            remedy="name its chains as the partners are named",
        )
    if len(partners) < 2:
        raise NativeError(
            "the native has fewer than two protein chains",
            remedy="give the whole complex",
        )


def label(native: Native, decoy: Complex) -> NativeLabel:
    """Label a decoy under the mapping of chains with the greatest sum of DockQ over pairs.

    Residues correspond, not chains: where several chains of one structure are one chain of the
    other (`mapping.correspond`), the pieces are mapped. Without given partners they count as one.

    Parameters
    ----------
    native : with its partners
    decoy : the complex to label; names and numbers in it do not matter

    Returns
    -------
    NativeLabel

    Raises
    ------
    OtherProteinError : no chain is one of the native's
    LabelError : no interface of the native is there, or one chain of the decoy has residues of two
        given partners

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> from toporank.structures.read import read_complex
    >>> complex_ = read_complex(example / "decoys/1PPE/near1.pdb.gz")
    >>> native = Native(complex_)
    >>> model = read_complex(example / "decoys/1PPE/mid1.cif.gz")
    >>> round(label(native, model).dockq, 2), round(label(native, complex_).dockq, 2)
    (0.83, 1.0)
    """
    correspondence = correspond(native.chains, decoy.protein_chains)
    if not correspondence.mappings[0]:
        what = f"no chain shares {SAME_CHAIN:.0%} of its residues with a chain of the native"
        raise OtherProteinError(what, remedy="is it a model of this target?")
    native = native.with_chains(correspondence.native)
    scored = DecoyScores(native, correspondence.decoy, residue_sides(decoy))
    mapping = max(correspondence.mappings, key=scored.sum_over_chains)
    partners = _partners_to_compare(native, correspondence, mapping)
    interfaces = scored.interfaces(mapping, partners)
    absent = _left_out(correspondence.native, mapping)
    if not interfaces:
        what = "nothing of the native's interface is there"
        if absent:
            what += f"; no counterpart of {_named(absent)} of the native"
        raise LabelError(what, remedy="is it complete?")
    by_file = {}
    for (one, other), scores in interfaces.items():
        by_file[native.of_file(one), native.of_file(other)] = scores
    holders = counterparts_of_file(correspondence, mapping)
    left_out = _left_out(correspondence.decoy, mapping.values())
    return NativeLabel(
        dockq=sum(scores.dockq for scores in interfaces.values()) / len(interfaces),
        mapping=holders,
        interfaces=by_file,
        notes=tuple(_notes(holders, absent, left_out)),
        counterparts=scored.counterparts(mapping, len(decoy.residues)),
        partners=tuple(map(native.of_file, partners)),
    )


def _notes(
    holders: dict[str, tuple[str, ...]], absent: list[str], left_out: list[str]
) -> list[str]:
    """What was joined and left out.

    holders : chain of the native → those of the decoy that hold its residues.
    """
    notes = []
    for decoy, natives in inverted(holders).items():
        if len(natives) > 1 or len(decoy) > 1:
            notes.append(
                f"{_named(natives)} of the native as {_named(decoy)} of the model"
            )
    if absent:
        notes.append(f"no counterpart of {_named(absent)} of the native")
    if left_out:
        notes.append(f"{_named(left_out)} of the model left out")
    return notes


def _partners_to_compare(
    native: Native, correspondence: Correspondence, mapping: Mapping
) -> Partners:
    """The partners to compare. Where none are given, what is one chain of the decoy is one partner.

    Raises LabelError when a chain of the decoy belongs to two given partners, or all of the native
    is one chain.
    """
    partners = list(native.partners)
    for chain in _chains_of_file(correspondence.decoy):
        members = set()
        for native_chain, other in mapping.items():
            if correspondence.decoy[other].of_file == chain:
                members.add(native_chain)
        joined = [partner for partner in partners if not members.isdisjoint(partner)]
        if len(joined) < 2:
            continue
        if native.are_given:
            parted = " and ".join(
                "+".join(native.of_file(partner)) for partner in joined
            )
            what = f"chain {chain} of the model has residues of {len(joined)} partners, {parted}"
            raise LabelError(what, remedy="give partners that do not part it")
        partners[partners.index(joined[0])] = sum(joined, ())
        partners = [partner for partner in partners if partner not in joined]
    if len(partners) < 2:
        raise LabelError(
            "all chains of the native are one chain of the model",
            remedy="there is no interface in it",
        )
    return tuple(partners)


def _chains_of_file(chains: dict[str, Chain]) -> list[str]:
    """The names of chains in the file, each once, in its order."""
    return list(dict.fromkeys(chain.of_file for chain in chains.values()))


def _left_out(chains: dict[str, Chain], mapped: Iterable[str]) -> list[str]:
    """The chains of the file without any mapped residue, in its order."""
    used = {chains[name].of_file for name in mapped}
    return [name for name in _chains_of_file(chains) if name not in used]


def _named(names: Sequence[str]) -> str:
    return f"chain{'s' if len(names) > 1 else ''} {', '.join(names)}"


def _mapped(partner: Partner, mapping: Mapping) -> tuple[tuple[str, str], ...]:
    """Those chains of a partner that are in the decoy, each with its name there."""
    return tuple((name, mapping[name]) for name in partner if name in mapping)


class DecoyScores:
    """Scores of the interfaces of one decoy, each computed once for all mappings that share it.

    Parameters
    ----------
    native : cut like the decoy
    chains : of the decoy
    sides : its atoms, from `dockq.residue_sides`
    find : says which residue of a chain of the decoy each of a chain of the native is
    """

    def __init__(
        self,
        native: Native,
        chains: dict[str, Chain],
        sides: Side,
        find: Callable[[Chain, Chain], np.ndarray] = same_residues,
    ):
        self._native = native
        self._find = find
        self._chains = chains
        self._sides_of_all = sides
        self._scores: dict[tuple, Scores | None] = {}
        self._sides: dict[tuple[str, str], Side] = {}
        self._residues: dict[tuple[str, str], np.ndarray] = {}

    def sum_over_chains(self, mapping: Mapping) -> float:
        """Return the sum of DockQ over all pairs of chains of the native that touch."""
        each = tuple((name,) for name in self._native.chains)
        return sum(scores.dockq for scores in self.interfaces(mapping, each).values())

    def interfaces(self, mapping: Mapping, partners: Partners) -> Interfaces:
        """Return the scores of pairs of partners of the native whose chains are in the decoy."""
        scored = {}
        for one, other in combinations(partners, 2):
            first = _mapped(one, mapping)
            second = _mapped(other, mapping)
            if first and second:
                if (first, second) not in self._scores:
                    self._scores[first, second] = self._score(dict(first), dict(second))
                scores = self._scores[first, second]
                if scores:
                    scored[one, other] = scores
        return scored

    def _score(self, one: Mapping, other: Mapping) -> Scores | None:
        """Scores of two partners, each given as a part of the mapping."""
        one, other = sorted((one, other), key=self._native.place_in_file)
        interface = self._native.interface(tuple(one), tuple(other))
        if interface is None:
            return None
        return score(interface, (self.side(one), self.side(other)))

    def counterparts(self, mapping: Mapping, n_residues: int) -> np.ndarray:
        """As `NativeLabel.counterparts`. n_residues : of the decoy."""
        counterparts = np.full(n_residues, -1)
        for native_chain, other in mapping.items():
            residue = self._residues_of(native_chain, other)
            is_there = residue >= 0
            of_decoy = self._chains[other].index[residue[is_there]]
            counterparts[of_decoy] = self._native.chains[native_chain].index[is_there]
        return counterparts

    def side(self, partner: Mapping) -> Side:
        """Return a partner, given as a part of the mapping, in residues of the native."""
        sides = [self._in_residues_of_native(*pair) for pair in partner.items()]
        return joined_sides(sides)

    def _in_residues_of_native(self, native_chain: str, other: str) -> Side:
        if (native_chain, other) not in self._sides:
            residue = self._residues_of(native_chain, other)
            index = np.where(residue >= 0, self._chains[other].index[residue], -1)
            self._sides[native_chain, other] = self._sides_of_all.of(index)
        return self._sides[native_chain, other]

    def _residues_of(self, native_chain: str, other: str) -> np.ndarray:
        """Which residue of a chain of the decoy each of a chain of the native is."""
        if (native_chain, other) not in self._residues:
            self._residues[native_chain, other] = self._find(
                self._native.chains[native_chain], self._chains[other]
            )
        return self._residues[native_chain, other]
