"""Which chains may lie near others."""

from __future__ import annotations

import pytest

from structures_text import Atom, complex_of
from toporank.structures.surroundings import Surroundings


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_chain_counts_up_to_the_reach_on_either_side(axis):
    atoms = []
    for chain, place in (("L", -20.0), ("M", 0.0), ("R", 20.0)):
        xyz = [0.0, 0.0, 0.0]
        xyz[axis] = place
        atoms.append(Atom("CA", "ALA", chain, 1, *xyz))
    surroundings = Surroundings.of(complex_of(atoms))

    def around(chain: str, reach: float) -> set[str]:
        return set(surroundings.around([chain], reach).chain_of.tolist())

    assert around("M", 21) == {"L", "M", "R"}
    assert around("M", 19) == {"M"}
    assert around("L", 21) == {"L", "M"}
    assert around("R", 21) == {"M", "R"}
    assert around("L", float("inf")) == {"L", "M", "R"}
