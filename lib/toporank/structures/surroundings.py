"""Parts of a large complex.

What two of its chains cost does not grow with the number of all.
"""

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
    chain_of_residue : int, shape (R,), place of each residue's chain
    low, high : float64, shape (C, 3), corners of the boxes in Å
    """

    complex_: Complex
    chains: dict[str, int]
    chain_of_residue: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, complex_: Complex) -> Surroundings:
        """Of every chain that has atoms."""
        names, chain = np.unique(complex_.chain_of, return_inverse=True)
        chain_of_atom = chain[complex_.residue_of]
        low = np.full((len(names), 3), np.inf)
        high = np.full((len(names), 3), -np.inf)
        np.minimum.at(low, chain_of_atom, complex_.xyz)
        np.maximum.at(high, chain_of_atom, complex_.xyz)
        return cls(
            complex_=complex_,
            chains={str(name): place for place, name in enumerate(names)},
            chain_of_residue=chain,
            low=low,
            high=high,
        )

    def around(self, chains: Iterable[str], reach: float) -> Complex:
        """The complex without the chains that have no atom within `reach`, Å, of these.

        It may have some farther ones.

        Infinite reach gives the whole complex.
        """
        if np.isinf(reach):
            return self.complex_
        is_near = np.zeros(len(self.chains), dtype=bool)
        for name in chains:
            place = self.chains[name]
            overlaps = (self.low < self.high[place] + reach) & (
                self.high > self.low[place] - reach
            )
            is_near |= overlaps.all(axis=1)
            is_near[place] = True
        return self.complex_.only(np.flatnonzero(is_near[self.chain_of_residue]))
