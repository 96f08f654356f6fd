"""DockQ of poses of one pair of partners: what can be is computed once, a pose takes about 1 ms."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from toporank.chains.match import same_residues
from toporank.comparing.native.dockq import Side, joined_sides, residue_sides, score
from toporank.comparing.native.label import Native
from toporank.structures.complex import Complex


class Reference:
    """A native to which rigid poses of its two partners, as they are in some form, are compared.

    partners : receptor and ligand. names : the chain of the partners for each chain of the native,
    where it is not the same; with names the ligand takes the place of the native's receptor.
    """

    def __init__(
        self,
        native: Native,
        partners: tuple[Complex, Complex],
        names: Mapping[str, str] | None = None,
    ):
        of_native = dict(zip(native.partners, partners, strict=True))
        if names:
            of_native = dict(zip(native.partners, partners[::-1], strict=True))
        in_file = sorted(native.partners, key=native.place_in_file)
        interface = native.interface(*in_file)
        assert interface
        self._native = interface
        self._ligand = [of_native[chains] is partners[1] for chains in in_file].index(
            True
        )
        self._sides = [
            _in_residues_of(native, chains, of_native[chains], names or {})
            for chains in in_file
        ]

    @property
    def covered(self) -> float:
        """Share of the native's contacts between residues that the partners have, too."""
        both = np.ones(int(self._native.contact.sum()), dtype=np.bool)
        for side, residue in zip(
            self._sides, self._native.pairs[self._native.contact].T, strict=True
        ):
            has_residue = ~np.isnan(side.atoms).all(axis=(1, 2))
            both = both & has_residue[residue]
        return float(np.mean(both))

    def dockq(self, place: Callable[[np.ndarray], np.ndarray]) -> float:
        """DockQ once the ligand is moved; 0 where too little is there to compare.

        place : gives coordinates (..., 3) of the ligand in the pose.
        """
        sides = list(self._sides)
        sides[self._ligand] = Side(*map(place, sides[self._ligand]))
        first, second = sides
        scores = score(self._native, (first, second))
        return scores.dockq if scores else 0.0


def _in_residues_of(
    native: Native, names: tuple[str, ...], partner: Complex, other: Mapping[str, str]
) -> Side:
    """A partner in the residues of the native's chains of these names.

    NaN where it has no such residue.
    """
    sides = residue_sides(partner)
    of_chains = []
    for name in names:
        of_native = native.chains[name]
        chain = partner.protein_chains.get(other.get(name, name))
        index = np.full(len(of_native.sequence), -1)
        if chain:
            residue = same_residues(of_native, chain)
            index = np.where(residue >= 0, chain.index[residue], -1)
        of_chains.append(sides.of(index))
    return joined_sides(of_chains)
