"""The 24 edge columns of `edges/multiscale_v24`."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from structures_text import EXAMPLES, Atom, ca_trace, complex_of, moved, random_complex
from toporank.errors import FeatureError
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.features.multiscale_edges import (
    MultiscaleV24,
    multiscale_columns,
    multiscale_edges,
)
from toporank.structures.read import read_complex

DEFAULT = MultiscaleV24()
NAMES = multiscale_columns(DEFAULT)
BY_COLUMN = np.arange(1, 25)


def edges_of(complex_, parameters: MultiscaleV24 = DEFAULT):
    return multiscale_edges(parameters, complex_, np.flatnonzero(complex_.ca >= 0))


def column(edges, name: str) -> np.ndarray:
    return edges.attributes[:, NAMES.index(name)]


def two_residues(distance: float):
    return ca_trace([("A", 1, "", (0.0, 0.0, 0.0)), ("B", 1, "", (distance, 0.0, 0.0))])


@pytest.mark.parametrize(
    ("decoy", "n_edges", "total", "by_column"),
    [
        ("1GCQ/mid1.pdb", 442, 7403.800720352803, 43405.640927825094),
        ("1AVZ/far1.pdb", 180, 3098.3326662729232, 21567.40852303554),
        ("1PPE/near1.pdb.gz", 702, 11651.666498311093, 69606.2552631878),
    ],
)
def test_real_decoys_have_the_numbers_of_the_first_version_of_the_module(
    decoy, n_edges, total, by_column
):
    complex_ = read_complex(EXAMPLES / decoy)
    nodes = ca_cutoff_interface(CaCutoff(), complex_).index
    attributes = multiscale_edges(DEFAULT, complex_, nodes).attributes
    assert attributes.shape == (n_edges, 24)
    assert attributes.sum() == pytest.approx(total, abs=1e-6)
    assert (attributes * BY_COLUMN).sum() == pytest.approx(by_column, abs=1e-6)


def test_there_are_24_columns_with_different_names():
    assert len(NAMES) == len(set(NAMES)) == 24
    assert NAMES[13:15] == ["atom_pairs_0_2", "atom_pairs_2_4"]
    assert multiscale_columns(MultiscaleV24(bin_width=1.5))[14] == "atom_pairs_1.5_3"


def test_the_opposite_edge_swaps_the_ends():
    attributes = edges_of(random_complex(0, chains="ABC")).attributes
    there, back = pd.DataFrame(attributes[0::2]), pd.DataFrame(attributes[1::2])
    there.columns = back.columns = NAMES
    unit = [f"unit_{axis}" for axis in "xyz"]
    there[unit] *= -1
    ends = {"chain_from": "chain_to", "residue_from": "residue_to"}
    swapped = ends | {to: start for start, to in ends.items()}
    pd.testing.assert_frame_equal(there.rename(columns=swapped)[NAMES], back)


def test_the_unit_vector_points_from_the_first_node_to_the_second():
    complex_ = ca_trace([("A", 1, "", (1.0, 2.0, 3.0)), ("B", 1, "", (1.0, 5.0, -1.0))])
    np.testing.assert_allclose(
        edges_of(complex_).attributes[0, :5], [5.0, 0.2, 0.0, 0.6, -0.8]
    )


@pytest.mark.parametrize(
    ("distance", "band"),
    [(0.5, 0), (5.999, 0), (6.0, 1), (9.999, 1), (10.0, 2), (13.999, 2)],
)
def test_bands_begin_at_their_lower_limit(distance, band):
    edges = edges_of(two_residues(distance))
    assert column(edges, "band").tolist() == [band, band]
    one_hot = [column(edges, f"band_{name}")[0] for name in ("short", "medium", "long")]
    assert one_hot == [float(k == band) for k in range(3)]


@pytest.mark.parametrize(
    ("bands", "distance"), [((0, 6, 10, 14), 14.0), ((5, 6, 10, 14), 4.9)]
)
def test_residues_outside_of_all_bands_are_not_joined(bands, distance):
    with pytest.raises(FeatureError, match="within 14 Å"):
        edges_of(two_residues(distance), MultiscaleV24(bands=bands))


def test_the_histogram_is_the_share_of_each_bin_and_zero_without_any_distance_in_its_range():
    complex_ = random_complex(1)
    edges = edges_of(complex_)
    histogram = edges.attributes[:, 13:23]
    np.testing.assert_allclose(histogram.sum(axis=1), 1.0)
    i, j = edges.index[:, 0]
    atoms = complex_.atom_slices
    first, second = (
        complex_.xyz[atoms[i] : atoms[i + 1]],
        complex_.xyz[atoms[j] : atoms[j + 1]],
    )
    distances = np.linalg.norm(first[:, None] - second, axis=-1)
    counts, _ = np.histogram(distances, bins=np.arange(0, 22, 2))
    np.testing.assert_allclose(histogram[0], counts / counts.sum())
    assert (
        not edges_of(two_residues(7.0), MultiscaleV24(bin_width=0.1))
        .attributes[:, 13:23]
        .any()
    )


def test_contacts_include_the_limit_itself():
    atoms = [
        Atom("CA", "ALA", "A", 1, 0.0, 0.0, 0.0),
        Atom("CA", "ALA", "B", 1, 0.0, 0.0, 5.0),
    ]
    atoms += [
        Atom("CB", "ALA", "B", 1, 0.0, 0.0, float(np.nextafter(5.0, 6.0))),
        Atom("CG", "ALA", "B", 1, 0, 0, 4.0),
    ]
    assert column(edges_of(complex_of(atoms)), "contacts").tolist() == [2, 2]


def test_chains_are_coded_by_their_first_letter_and_residues_by_their_type():
    atoms = [
        Atom("CA", "GLY", "D", 1, 0.0, 0.0, 0.0),
        Atom("CA", "UNK", "a2", 1, 5.0, 0.0, 0.0),
    ]
    edges = edges_of(complex_of(atoms))
    assert column(edges, "chain_from").tolist() == [3 / 26, 0.0]
    assert column(edges, "residue_from").tolist() == [
        "ACDEFGHIKLMNPQRSTVWY".index("G") / 21,
        20 / 21,
    ]


def test_shifting_changes_nothing_and_turning_changes_the_unit_vector_only():
    complex_ = random_complex(2)
    shifted = dataclasses.replace(
        complex_, xyz=complex_.xyz + np.array([10.0, -20.0, 30.0])
    )
    attributes = edges_of(complex_).attributes
    np.testing.assert_allclose(
        edges_of(shifted).attributes, attributes, rtol=0, atol=1e-9
    )
    turned = edges_of(moved(complex_, 2)).attributes
    unit = np.array([name.startswith("unit_") for name in NAMES])
    np.testing.assert_allclose(
        turned[:, ~unit], attributes[:, ~unit], rtol=0, atol=1e-9
    )
    assert not np.allclose(turned[:, unit], attributes[:, unit])
