"""Parts of a large complex, so that what two of its chains cost does not grow with the number of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from toporank.structures.complex import Complex


@dataclass(frozen=True)
class Surroundings:
    """The chains of a complex and the boxes around their atoms.

    Attributes
    ----------
    complex_ : whole, length R
    chains : dict, name → its place in the boxes
    residues : list of C int arrays, the residues of each chain, hetero groups included, in rising order
    low, high : float64, shape (C, 3), corners of the boxes in Å
    """

    complex_: Complex
    chains: dict[str, int]
    residues: list[np.ndarray]
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, complex_: Complex) -> Surroundings:
        """Of every chain that has atoms."""
        names, chain = np.unique([residue.chain for residue in complex_.residues], return_inverse=True)
        by_chain = np.argsort(chain, kind="stable")
        residues = np.split(by_chain, np.cumsum(np.bincount(chain))[:-1])
        low, high = np.full((len(names), 3), np.inf), np.full((len(names), 3), -np.inf)
        of_atoms = chain[complex_.residue_of]
        np.minimum.at(low, of_atoms, complex_.xyz)
        np.maximum.at(high, of_atoms, complex_.xyz)
        places = {str(name): place for place, name in enumerate(names)}
        return cls(complex_, places, residues, low, high)

    def around(self, chains: Iterable[str], reach: float) -> Complex:
        """The complex without the chains that have no atom within `reach`, Å, of these; maybe with some farther ones.

        Infinite reach gives the whole complex.
        """
        if np.isinf(reach):
            return self.complex_
        near = np.zeros(len(self.chains), dtype=bool)
        for place in (self.chains[chain] for chain in chains):
            near |= ((self.low < self.high[place] + reach) & (self.high > self.low[place] - reach)).all(axis=1)
            near[place] = True
        return self.complex_.only(np.sort(np.concatenate([self.residues[c] for c in np.flatnonzero(near)])))
