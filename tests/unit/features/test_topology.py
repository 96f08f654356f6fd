"""Persistent homology: shapes whose bars are known, GUDHI's own answers, and what must not change
them.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from oracle import reference
from structures_text import EXAMPLES, Atom, complex_of, random_complex
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.features.topology import (
    STATISTICS,
    Persistence,
    columns,
    persistence_topology,
)
from toporank.structures.read import read_complex


@pytest.fixture(params=["compiled", "gudhi"])
def engine(request) -> str:
    """Both engines, for what must hold for either."""
    return request.param


def around(points: np.ndarray, engine: str, name: str = "C1") -> np.ndarray:
    """Topology columns of one residue with its CA in the origin and atoms of a name around it."""
    atoms = [Atom("CA", "ALA", "A", 1, 0.0, 0.0, 0.0)]
    atoms += [Atom(name, "ALA", "A", 1, *map(float, point)) for point in points]
    return persistence_topology(
        Persistence(engine=engine), complex_of(atoms), np.array([0])
    )[0]


def column(values: np.ndarray, name: str) -> float:
    return values[columns(Persistence()).index(name)]


# ---- shapes with known bars ----------------------------------------------------------------------


def test_a_ring_around_a_residue_stands_in_the_columns_of_its_element_sets(engine):
    angle = 2 * np.pi * np.arange(12) / 12
    ring = np.column_stack(
        [5 * np.cos(angle), 5 * np.sin(angle), 0.3 * (-1.0) ** np.arange(12)]
    )
    values = around(ring, engine, "N")
    assert column(values, "h1_N_death_sum") == pytest.approx(25.0)
    assert column(values, "h1_NO_death_max") == pytest.approx(25.0)
    assert column(values, "h1_N_length_mean") == pytest.approx(
        25.0 - (2.5 * 2 * np.sin(np.pi / 12)) ** 2 - 0.09
    )
    assert (
        column(values, "h1_C_death_sum") == column(values, "h1_O_death_sum") == 0.0
    )  # one CA, no oxygen
    assert column(values, "h0_C_death_sum") == 0.0
    assert column(values, "h0_CN_death_sum") > column(values, "h0_N_death_sum") > 0.0


# ---- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decoy",
    ["1GCQ/mid1.pdb", "1AVZ/far1.pdb", "1PPE/near1.pdb.gz", "1GCQ/wrong2.cif.gz"],
)
def test_real_decoys_have_the_columns_that_plain_loops_give(decoy, engine):
    path = EXAMPLES / decoy
    complex_ = read_complex(path)
    residues = ca_cutoff_interface(CaCutoff(), complex_).index
    values = persistence_topology(Persistence(engine=engine), complex_, residues)
    assert values.shape == (len(residues), 140)
    np.testing.assert_allclose(values, reference.topology(path), rtol=0, atol=1e-9)


def test_waters_count_only_when_all_atoms_are_asked_for(engine):
    path = EXAMPLES / "1AVZ" / "far1.pdb"
    complex_ = read_complex(path)
    residues = ca_cutoff_interface(CaCutoff(), complex_).index
    values = persistence_topology(
        Persistence(atoms="all", engine=engine), complex_, residues
    )
    np.testing.assert_allclose(
        values, reference.topology(path, with_hetero=True), rtol=0, atol=1e-9
    )
    assert not np.allclose(
        values, reference.topology(path)
    )  # the decoy carries two waters in the interface


def test_all_h0_columns_stand_before_all_h1_columns_in_the_order_of_the_element_sets():
    names = columns(Persistence())
    assert len(names) == len(set(names)) == 140
    assert names[:6] == [f"h0_C_death_{s}" for s in STATISTICS] + ["h0_N_death_sum"]
    assert names[34:37] == ["h0_CNO_death_std", "h1_C_length_sum", "h1_C_length_min"]
    assert names[40] == "h1_C_birth_sum"
    assert names[-1] == "h1_CNO_death_std"


def test_fewer_element_sets_give_the_same_columns_for_those_that_stay(engine):
    complex_ = random_complex(0)
    some = Persistence(element_sets=("CNO", "N"), engine=engine)
    few, all_ = (
        persistence_topology(p, complex_, np.arange(4))
        for p in (some, Persistence(engine=engine))
    )
    places = [columns(Persistence()).index(name) for name in columns(some)]
    assert few.shape == (4, 40)
    np.testing.assert_allclose(
        few, all_[:, places], rtol=1e-12, atol=1e-12
    )  # to the order of additions


def test_an_atom_exactly_at_the_radius_belongs_to_the_cloud_and_one_beyond_does_not(
    engine,
):
    at, beyond = np.array([[8.0, 0, 0]]), np.array([[np.nextafter(8.0, 9.0), 0, 0]])
    assert column(around(at, engine), "h0_C_death_sum") == 8.0
    assert column(around(beyond, engine), "h0_C_death_sum") == 0.0


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("CG", True),
        ("C", True),
        ("N", False),
        ("H", False),
        ("1HC", False),
        ("SE", False),
    ],
)
def test_the_element_is_the_first_letter_of_the_atom_name_so_hydrogens_never_count(
    name, counted, engine
):
    assert column(around(np.array([[2.0, 0, 0]]), engine, name), "h0_C_death_sum") == (
        2.0 if counted else 0.0
    )


def test_std_is_that_of_the_population(engine):
    values = around(np.array([[1.0, 0, 0], [4.0, 0, 0]]), engine)
    assert [column(values, f"h0_C_death_{s}") for s in STATISTICS] == [
        4.0,
        1.0,
        3.0,
        2.0,
        1.0,
    ]


def test_single_precision_rounds_the_coordinates_and_no_more(engine):
    complex_ = random_complex(2)
    rounded = dataclasses.replace(
        complex_, xyz=complex_.xyz.astype(np.float32).astype(np.float64)
    )
    residues = np.arange(6)
    double, single = [
        Persistence(precision=p, engine=engine) for p in ("float64", "float32")
    ]
    expected = persistence_topology(double, rounded, residues)
    single = persistence_topology(single, complex_, residues)
    np.testing.assert_allclose(single, expected, rtol=1e-12)
    double = persistence_topology(double, complex_, residues)
    assert 0 < np.abs(single - double).max() < 1e-3


def test_rows_follow_the_order_in_which_residues_are_asked_for(engine):
    complex_ = random_complex(1)
    values = persistence_topology(Persistence(engine=engine), complex_, np.arange(5))
    some = persistence_topology(Persistence(engine=engine), complex_, np.array([3, 0]))
    np.testing.assert_array_equal(some, values[[3, 0]])
