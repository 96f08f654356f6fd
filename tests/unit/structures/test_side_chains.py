"""Chains whose side chains nobody modelled are named with what they have."""

from __future__ import annotations

import numpy as np
import pytest

from toporank.structures.side_chains import FEWEST, lacking_side_chains

BACKBONE = ["N", "CA", "C", "O"]


def notes(parent: str, atoms: list[str], n: int = FEWEST, whole: int = 0) -> str:
    """What is said of a chain A of n residues, of which the last `whole` have a side chain."""
    names, residue_of = [], []
    for residue in range(n):
        further = ["CB", "CG"] if residue >= n - whole else []
        for atom in [*atoms, *further]:
            names.append(atom)
            residue_of.append(residue)
    return lacking_side_chains(
        ["A"] * n, [parent] * n, np.array(names, dtype="S8"), np.array(residue_of)
    )


@pytest.mark.parametrize(
    ("parent", "atoms", "kind"),
    [
        ("LEU", ["CA"], "CA atoms only"),
        ("LEU", BACKBONE, "backbone only"),
        ("GLY", BACKBONE, "all glycine"),
        ("ALA", [*BACKBONE, "CB"], "all alanine"),
        ("ALA", BACKBONE, "backbone only"),
    ],
)
def test_what_a_chain_without_side_chains_is(parent, atoms, kind):
    said = f"no side chains in chain A ({kind}): the score means little"
    assert notes(parent, atoms) == said


def test_a_peptide_and_a_chain_with_more_than_a_tenth_of_its_side_chains_are_not_named():
    assert notes("LEU", BACKBONE, n=FEWEST - 1) == ""
    assert notes("LEU", BACKBONE, n=20, whole=2)
    assert notes("LEU", BACKBONE, n=20, whole=3) == ""
    assert notes("", BACKBONE) == ""
