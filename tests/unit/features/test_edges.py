"""The published edge features: which nodes are joined, and the columns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import reference
from structures_text import (
    EXAMPLES,
    Atom,
    complex_of,
    in_line,
    random_complex,
)
from toporank.errors import FeatureError
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.features.legacy_edges import LegacyV11, legacy_columns, legacy_edges
from toporank.structures.read import read_complex

RAW = LegacyV11(scaling="none")
SCALED = LegacyV11(scaling="per_decoy")
raw_and_scaled = pytest.mark.parametrize(
    "parameters", [RAW, SCALED], ids=["raw", "scaled"]
)


def nodes_of(complex_) -> np.ndarray:
    return np.flatnonzero(complex_.ca >= 0)


# ---- which nodes are joined ----------------------------------------------------------------------


@raw_and_scaled
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), chains=st.sampled_from(["AB", "ABC"]))
def test_each_directed_edge_stands_once_with_its_opposite_next_to_it(
    parameters, seed, chains
):
    complex_ = random_complex(seed, chains=chains, spread=4.0)
    nodes = nodes_of(complex_)
    edges = legacy_edges(parameters, complex_, nodes)
    ca, chain = complex_.xyz[complex_.ca], [r.chain for r in complex_.residues]
    expected = [
        (i, j)
        for i, j in itertools.combinations(range(len(nodes)), 2)
        if chain[i] != chain[j] and np.linalg.norm(ca[i] - ca[j]) < parameters.cutoff
    ]
    assert edges.index.dtype == np.int64
    assert edges.index.T[0::2].tolist() == [list(pair) for pair in expected]
    assert edges.index.T[1::2].tolist() == [list(pair[::-1]) for pair in expected]
    assert len(edges.attributes) == 2 * len(expected)
    assert np.isfinite(edges.attributes).all()


def test_the_cutoff_itself_is_already_too_far_and_a_distance_of_zero_too_near():
    complex_ = in_line(("A", 0.0), ("B", 0.0), ("B", 9.999), ("B", 10.0), ("B", 10.001))
    edges = legacy_edges(RAW, complex_, np.arange(5))
    assert edges.index.tolist() == [[0, 2], [2, 0]]


def test_indices_count_the_nodes_and_not_the_residues():
    complex_ = in_line(("A", 0.0), ("A", 1.0), ("B", 5.0), ("B", 6.0))
    edges = legacy_edges(RAW, complex_, np.array([3, 1]))
    assert edges.index.tolist() == [[0, 1], [1, 0]]
    assert edges.attributes[:, 0].tolist() == [5.0, 5.0]


@raw_and_scaled
def test_without_any_edge_the_error_tells_the_cutoff(parameters):
    with pytest.raises(
        FeatureError, match=r"no two nodes of different partners within 10 Å"
    ):
        legacy_edges(
            parameters, in_line(("A", 0.0), ("A", 5.0), ("B", 50.0)), np.arange(3)
        )


# ---- legacy_v11 ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decoy",
    ["1GCQ/mid1.pdb", "1AVZ/far1.pdb", "1PPE/near1.pdb.gz", "1GCQ/wrong2.cif.gz"],
)
def test_real_decoys_have_the_edges_that_plain_loops_give(decoy):
    path = EXAMPLES / decoy
    complex_ = read_complex(path)
    nodes = ca_cutoff_interface(CaCutoff(), complex_).index
    index, attributes = reference.edges(path)
    raw, scaled = (
        legacy_edges(parameters, complex_, nodes) for parameters in (RAW, SCALED)
    )
    assert (
        raw.index.T.tolist()
        == scaled.index.T.tolist()
        == [list(pair) for pair in index]
    )
    np.testing.assert_allclose(raw.attributes, attributes, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        scaled.attributes, reference.scaled_columns(attributes), rtol=0, atol=1e-12
    )


def test_the_eleven_columns_are_the_distance_and_a_count_for_each_bin():
    assert legacy_columns(RAW) == [
        "ca_distance",
        *(f"atom_pairs_from_{edge}" for edge in range(1, 11)),
    ]


def test_bins_begin_at_their_lower_edge_the_last_has_no_end_and_below_the_first_nothing_counts():
    """One CA against atoms at chosen distances."""
    distances = [5.0, 0.999, 1.0, 1.999, 2.0, 9.999, 10.0, 40.0]
    atoms = [Atom("CA", "ALA", "A", 1, 0.0, 0.0, 0.0)]
    atoms += [
        Atom("CA" if n == 0 else "CB", "ALA", "B", 1, 0.0, d, 0.0)
        for n, d in enumerate(distances)
    ]
    edges = legacy_edges(RAW, complex_of(atoms), np.arange(2))
    assert edges.attributes.tolist() == [[5.0, 2, 1, 0, 0, 1, 0, 0, 0, 1, 2]] * 2


def test_hydrogens_take_part_in_the_histogram():
    bare = [
        Atom("CA", "ALA", "A", 1, 0.0, 0.0, 0.0),
        Atom("CA", "ALA", "B", 1, 5.0, 0.0, 0.0),
    ]
    with_h = [bare[0], Atom("H", "ALA", "A", 1, 0.0, 1.0, 0.0), bare[1]]
    counts = [
        legacy_edges(RAW, complex_of(atoms), np.arange(2)).attributes[0, 1:].sum()
        for atoms in (bare, with_h)
    ]
    assert counts == [1, 2]


def test_scaling_is_over_the_edges_of_one_decoy_and_a_constant_column_becomes_zero():
    complex_ = in_line(("A", 0.0), ("B", 5.2), ("B", 5.6), ("B", 7.2))
    raw, scaled = (
        legacy_edges(p, complex_, np.arange(4)).attributes for p in (RAW, SCALED)
    )
    np.testing.assert_allclose(raw[::2, 0], [5.2, 5.6, 7.2])
    np.testing.assert_allclose(scaled[::2, 0], [0.0, 0.2, 1.0])
    # two pairs from 5 to 6
    np.testing.assert_array_equal(scaled[::2, 5], [1.0, 1.0, 0.0])
    assert not scaled[:, 1:5].any()
