"""Potentials of mean force: what the table that ships says of known chemistry, and how counts
become potentials.
"""

from __future__ import annotations

import numpy as np
import pytest

from scorer_potentials import APART, EXPONENT, LARGEST, Counts, write_potentials
from structures_text import Atom, complex_of
from toporank.features.atom_types import ATOM_TYPES
from toporank.features.potentials import LIMITS, RESIDUES, TABLE, read_potentials

SHIPPED = read_potentials()


def of_atoms(one: str, other: str, low: float, high: float) -> np.ndarray:
    """The potential of two types of atoms in the shells between two distances in Å."""
    return SHIPPED.atoms[
        ATOM_TYPES.index(one),
        ATOM_TYPES.index(other),
        LIMITS.index(low) : LIMITS.index(high),
    ]


def of_residues(one: str, other: str) -> float:
    return SHIPPED.residues[RESIDUES.index(one), RESIDUES.index(other)]


# ---- the table that ships ------------------------------------------------------------------------


def test_every_pair_is_there_both_ways_and_within_bounds():
    assert SHIPPED.atoms.shape == (22, 22, 12)
    assert SHIPPED.water.shape == (22,)
    for values in (SHIPPED.atoms, SHIPPED.surface, SHIPPED.residues):
        np.testing.assert_array_equal(values, values.swapaxes(0, 1))
    assert all((np.abs(values) <= LARGEST).all() and values.any() for values in SHIPPED)


@pytest.mark.parametrize(
    ("one", "other", "low", "high", "attract"),
    [
        ("N_lys", "O_acid", 2.5, 4.5, True),
        ("N_arg", "O_acid", 2.5, 4.0, True),
        ("methyl", "methyl", 3.5, 4.5, True),
        ("N_lys", "N_lys", 2.5, 5.0, False),
        ("methyl", "methyl", 2.5, 3.0, False),
        ("CB", "CB", 2.5, 3.0, False),
        ("aromatic", "aromatic", 2.5, 3.0, False),
    ],
)
def test_opposite_charges_and_methyl_groups_attract_and_no_atoms_lie_in_each_other(
    one, other, low, high, attract
):
    assert ((of_atoms(one, other, low, high) < 0) == attract).all()


def test_residues_attract_and_repel_and_water_would_rather_be_at_charges():
    assert of_residues("LYS", "GLU") < 0 < of_residues("LYS", "LYS")
    assert of_residues("ARG", "ASP") < 0 < of_residues("ASP", "ASP")
    assert of_residues("LEU", "LEU") < 0 < of_residues("LEU", "LYS")
    lysine, methyl = ATOM_TYPES.index("N_lys"), ATOM_TYPES.index("methyl")
    assert SHIPPED.surface[methyl, methyl] < 0
    assert SHIPPED.water[lysine] < 0 < SHIPPED.water[methyl]


def test_hydrogen_bonds_of_the_backbone_have_their_length():
    """2.9 Å between N and O."""
    of_shells = of_atoms("N", "O", 2.5, 10.0)
    assert of_shells.argmin() == 0
    assert of_shells[2] - of_shells[0] > 1


def test_a_table_that_is_read_and_written_is_the_same(tmp_path):
    write_potentials(SHIPPED, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == TABLE.read_bytes()


# ---- counting ------------------------------------------------------------------------------------


def counted(*atoms: tuple[str, str, str, int, float]) -> Counts:
    """(name, residue, chain, number, x) of atoms along a line, and a far-away pair so that the
    chains touch.
    """
    counts = Counts()
    touching = [("N", "GLY", "A", 500, 500.0), ("N", "GLY", "B", 500, 504.0)]
    counts.add(
        complex_of(
            Atom(*what, x, 0.0, 0.0)
            for *what, x in sorted([*atoms, *touching], key=lambda a: a[2:4])
        )
    )
    return counts


def test_a_pair_of_different_chains_counts_in_both_orders_in_its_shell():
    counts = counted(("NZ", "LYS", "A", 1, 0.0), ("OD1", "ASP", "B", 1, 2.8))
    lysine, acid, end = (ATOM_TYPES.index(name) for name in ("N_lys", "O_acid", "N"))
    expected = np.zeros_like(counts.atoms)
    expected[lysine, acid, 1] = expected[acid, lysine, 1] = 1
    expected[end, end, 4] = 2  # 4.0 Å is in the shell that begins there
    np.testing.assert_array_equal(counts.atoms, expected)
    numbers = [RESIDUES.index(name) for name in ("LYS", "ASP", "GLY")]
    assert (
        counts.residues[numbers[0], numbers[1]]
        == counts.residues[numbers[1], numbers[0]]
        == 1
    )
    assert counts.residues.sum() == 4
    assert counts.surface[lysine, acid] == counts.surface[acid, lysine] > 10
    assert counts.water[lysine] > 10
    assert counts.water[ATOM_TYPES.index("methyl")] == 0


def test_within_a_chain_only_residues_far_along_it_count():
    assert APART == 4
    methyl = ATOM_TYPES.index("methyl")
    first = "CB", "ALA", "A", 1, 0.0
    for number, n_pairs in ((2, 0), (4, 0), (5, 2)):
        # of no type
        between = [("CB", "GLY", "A", i, 50.0 * i) for i in range(2, number)]
        counts = counted(first, *between, ("CB", "ALA", "A", number, 4.2))
        assert counts.atoms[methyl, methyl].sum() == n_pairs


def test_what_is_as_frequent_as_by_chance_has_no_potential_and_what_is_more_frequent_a_negative_one():
    counts, middles = Counts(), (np.array(LIMITS[:-1]) + LIMITS[1:]) / 2
    gas = 1e6 * middles**EXPONENT * np.diff(LIMITS)
    counts.atoms[:] = gas
    counts.atoms[0, 1, 2] *= np.e
    counts.surface[:], counts.water[:], counts.residues[:] = 100.0, 7000.0, 1e5
    found = counts.potentials()
    assert found.atoms[0, 1, 2] == pytest.approx(-1, abs=1e-3)
    found.atoms[0, 1, 2] = 0
    for values in found:
        np.testing.assert_allclose(values, 0, atol=1e-3)


def test_what_was_never_seen_has_a_large_potential_not_an_infinite_one():
    counts = Counts()
    counts.atoms[:, :, -1] = counts.surface[0, 0] = 1e6
    found = counts.potentials()
    assert (found.atoms[:, :, 3] == LARGEST).all()
    assert all(np.isfinite(values).all() for values in found)
