"""A protein chain: its residues, their letters and CA atoms."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from toporank.chains.thresholds import LONGEST_GAP, SLACK, STEP


class ResidueId(NamedTuple):
    """A residue as the file's author numbers it. Sorts by chain, number, insertion code."""

    chain: str
    number: int
    insertion_code: str = ""

    def __str__(self) -> str:
        return f"{self.chain}:{self.number}{self.insertion_code}"


ChainSequences = tuple[tuple[str, str], ...]
"""Name and sequence of each protein chain of a model, in the order of the file. A sequence has a
letter for each protein residue, as `read_complex` counts them: X for an unknown one, M for MSE.
"""


@dataclass(frozen=True)
class Chain:
    """One protein chain of L residues in the order of the file, or a piece of it.

    Attributes
    ----------
    name : its own name; a piece has another than the chain of the file
    of_file : name of the chain of the file
    residues : what the file calls them; length L
    sequence : L letters, `X` for a residue that counts as none of the 20
    ca : CA atoms in Å, shape (L, 3), NaN for a missing one
    index : int, shape (L,), places of the residues in the complex
    """

    name: str
    of_file: str
    residues: tuple[ResidueId, ...]
    sequence: str
    ca: np.ndarray
    index: np.ndarray

    @classmethod
    def of_sequence(cls, name: str, sequence: str) -> Chain:
        """A chain whose sequence alone is known; its residues count from 0."""
        n = len(sequence)
        residues = tuple(ResidueId(name, number) for number in range(n))
        ca = np.full((n, 3), np.nan)
        return cls(name, name, residues, sequence, ca, np.arange(n))

    @cached_property
    def numbers(self) -> np.ndarray:
        """Residue numbers, int, shape (L,)."""
        return np.array([residue[1] for residue in self.residues], dtype=int)

    @property
    def molecules(self) -> list[slice]:
        """Its stretches between which no peptide bond can be, however many residues are missing."""
        apart = np.linalg.norm(np.diff(self.ca, axis=0), axis=1)
        gap = np.diff(self.numbers)
        too_far = apart > STEP * np.maximum(gap, 1) * SLACK
        is_seam = too_far | ((apart > STEP * SLACK) & ((gap < 0) | (gap > LONGEST_GAP)))
        ends = (np.flatnonzero(is_seam) + 1).tolist()
        return list(itertools.starmap(slice, pairwise([0, *ends, len(self.sequence)])))

    def piece(self, name: str, residues: slice) -> Chain:
        """Some residues of the chain under another name."""
        return replace(
            self,
            name=name,
            residues=self.residues[residues],
            sequence=self.sequence[residues],
            ca=self.ca[residues],
            index=self.index[residues],
        )


def n_residues(chains: Mapping[str, Chain]) -> int:
    """How many residues chains have together."""
    return sum(len(chain.sequence) for chain in chains.values())


def chains_by_name(
    residues: Iterable[ResidueId],
    letters: Iterable[str],
    ca: np.ndarray,
    index: np.ndarray | None = None,
) -> dict[str, Chain]:
    """Sort protein residues by chains.

    Parameters
    ----------
    residues : of a complex; length R
    letters : one-letter code of each; length R
    ca : shape (R, 3), Å, NaN without CA
    index : int, shape (R,), their places in the complex; those among the residues by default

    Returns
    -------
    chains : by name, in the order of the file
    """
    residues = list(residues)
    letters = "".join(letters)
    index = np.arange(len(residues)) if index is None else index
    chain_of = dict(enumerate(residue[0] for residue in residues))
    chains = {}
    for name, places in inverted(chain_of).items():
        chains[name] = Chain(
            name=name,
            of_file=name,
            residues=tuple(residues[i] for i in places),
            sequence="".join(letters[i] for i in places),
            ca=ca[places],
            index=index[places],
        )
    return chains


K = TypeVar("K")
V = TypeVar("V")


def overlapping(groups: Iterable[Iterable[K]]) -> list[set[K]]:
    """Join groups that share a member, directly or through others.

    >>> overlapping([["A", "B"], ["C"], ["D", "B"]]) == [{"C"}, {"A", "B", "D"}]
    True
    """
    joined: list[set[K]] = []
    for group in groups:
        merged = set(group)
        apart = []
        for other in joined:
            if merged.isdisjoint(other):
                apart.append(other)
            else:
                merged |= other
        joined = [*apart, merged] if merged else apart
    return joined


def inverted(table: Mapping[K, V]) -> dict[V, list[K]]:
    """The keys that have each value, in their order."""
    keys: dict[V, list[K]] = {}
    for key, value in table.items():
        keys.setdefault(value, []).append(key)
    return keys
