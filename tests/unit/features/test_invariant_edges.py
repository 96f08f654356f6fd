"""Edges in the frames of the residues: every column against its definition. That nothing else matters is proved in
test_invariance.py."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from structures_text import EXAMPLES, Atom, alanine, complex_of, random_complex
from toporank.errors import FeatureError
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.features.invariant_edges import Invariant, columns, invariant_edges, residue_poses
from toporank.features.multiscale_edges import MultiscaleV24, multiscale_columns, multiscale_edges
from toporank.features.registry import choose
from toporank.structures.read import read_complex

RAW = Invariant(scaling="none")
NAMES = columns(RAW)


def nodes_of(complex_) -> np.ndarray:
    return np.flatnonzero(complex_.ca >= 0)


def edges_of(complex_, parameters=RAW):
    return invariant_edges(parameters, complex_, nodes_of(complex_))


def column(edges, name: str) -> np.ndarray:
    return edges.attributes[:, NAMES.index(name)]


def part(edges, prefix: str) -> np.ndarray:
    return edges.attributes[:, [name.startswith(prefix) for name in NAMES]]


@pytest.fixture(scope="module")
def decoy():
    complex_ = read_complex(EXAMPLES / "1GCQ/mid1.pdb")
    nodes = ca_cutoff_interface(CaCutoff(), complex_).index
    return complex_, nodes, invariant_edges(RAW, complex_, nodes)


def plain_frame(atoms: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Rows: along CA–C, towards N at right angles to that, and their cross product."""
    c, n = atoms["C"] - atoms["CA"], atoms["N"] - atoms["CA"]
    first = c / math.dist(c, (0, 0, 0))
    second = n - np.dot(n, first) * first
    second = second / math.dist(second, (0, 0, 0))
    return [first, second, np.cross(first, second)]


def plain_edge(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> list[float]:
    """All columns of the edge from residue a to residue b, {atom: position}, heavy atoms only, in plain loops."""
    distance = math.dist(a["CA"], b["CA"])
    unit = (b["CA"] - a["CA"]) / distance
    apart = [math.dist(p, q) for p in a.values() for q in b.values()]
    limits = RAW.bins
    counts = [sum(low <= d < high for d in apart) for low, high in pairwise(limits)]
    frames = [plain_frame(atoms) for atoms in (a, b)]
    centres = []
    for atoms in (a, b):
        side = [p for name, p in atoms.items() if name not in ("N", "CA", "C", "O", "OXT")]
        centres.append(sum(side) / len(side) if side else atoms["CA"])
    sides = [centre - atoms["CA"] for centre, atoms in zip(centres, (a, b), strict=True)]
    sides = [s / np.linalg.norm(s) if s.any() else s for s in sides]
    return [
        distance, 1 / distance, distance < 6, 6 <= distance < 10, distance >= 10,
        min(apart), math.dist(*centres), *(sum(d < limit for d in apart) for limit in (2.5, 5, 10)),
        *(count / sum(counts) for count in counts),
        *(np.dot(x, y) for x, y in zip(*frames, strict=True)), np.dot(*sides),
        *(np.dot(axis, unit) for axis in frames[0]), np.dot(sides[0], unit),
        *(np.dot(axis, -unit) for axis in frames[1]), np.dot(sides[1], -unit),
    ]  # fmt: skip


# ---- columns ----------------------------------------------------------------------------------------------


def test_every_column_has_its_name():
    assert len(NAMES) == len(set(NAMES)) == 37
    assert choose("edges", {"module": "invariant"}).columns == NAMES
    fewer = Invariant(bins=(0, 5, 10), contacts=(4.5,))
    complex_ = random_complex(0)
    assert edges_of(complex_, fewer).attributes.shape[1] == len(columns(fewer)) == 5 + 2 + 1 + 2 + 12


def test_real_decoys_have_the_edges_that_plain_loops_give(decoy):
    complex_, nodes, edges = decoy
    start = complex_.atom_slices
    atoms = [{complex_.atom_names[k].decode(): complex_.xyz[k] for k in range(start[r], start[r + 1])} for r in nodes]
    assert edges.index.shape[1] > 200
    expected = [plain_edge(atoms[i], atoms[j]) for i, j in edges.index.T]
    np.testing.assert_allclose(edges.attributes, np.array(expected, dtype=float), rtol=0, atol=1e-9)


def test_edges_are_those_of_multiscale_v24_in_the_same_order(decoy):
    complex_, nodes, edges = decoy
    np.testing.assert_array_equal(edges.index, multiscale_edges(MultiscaleV24(), complex_, nodes).index)


def test_what_multiscale_v24_says_beside_frame_and_names_is_all_there(decoy):
    """Each of its columns is a sum of columns here, but for the frame of the file, chain letters and residue types."""
    complex_, nodes, edges = decoy
    original = multiscale_edges(MultiscaleV24(), complex_, nodes)
    theirs = dict(zip(multiscale_columns(MultiscaleV24()), original.attributes.T, strict=True))
    for name in ("ca_distance", "inverse_distance", "band_short", "band_medium", "band_long"):
        np.testing.assert_array_equal(column(edges, name), theirs[name])
    np.testing.assert_array_equal(column(edges, "contacts_5"), theirs["contacts"])
    for low in range(0, 10, 2):
        fine = column(edges, f"atom_pairs_{low}_{low + 1}") + column(edges, f"atom_pairs_{low + 1}_{low + 2}")
        np.testing.assert_allclose(fine, theirs[f"atom_pairs_{low}_{low + 2}"], atol=1e-12)
    for low in range(10, 20, 2):
        name = f"atom_pairs_{low}_{low + 2}"
        np.testing.assert_allclose(column(edges, name), theirs[name], atol=1e-12)


def test_directions_are_the_unit_vector_seen_from_either_end(decoy):
    """Turned back by the frame it is the unit vector again: nothing is lost."""
    complex_, nodes, edges = decoy
    poses = residue_poses(complex_, nodes)
    i, j = edges.index
    unit = (poses.ca[j] - poses.ca[i]) / np.linalg.norm(poses.ca[j] - poses.ca[i], axis=1)[:, None]
    back = np.einsum("pak,pa->pk", poses.frame[i], part(edges, "from_"))
    np.testing.assert_allclose(back, unit, atol=1e-9)
    np.testing.assert_allclose(np.einsum("pak,pa->pk", poses.frame[j], part(edges, "to_")), -unit, atol=1e-9)


def test_the_other_direction_changes_the_ends_and_nothing_else(decoy):
    there, back = decoy[2].attributes[0::2], decoy[2].attributes[1::2]
    swap = {"from_x": "to_x", "from_y": "to_y", "from_z": "to_z", "side_chain_from": "side_chain_to"}
    swap |= {b: a for a, b in swap.items()}
    for k, name in enumerate(NAMES):
        np.testing.assert_array_equal(there[:, k], back[:, NAMES.index(swap.get(name, name))])


def test_a_mirror_image_is_another_complex(decoy):
    """A turn cannot be told, a reflection can: proteins are not their mirror images."""
    complex_, nodes, edges = decoy
    mirrored = invariant_edges(RAW, replace(complex_, xyz=complex_.xyz * [1, 1, -1]), nodes)
    np.testing.assert_allclose(column(mirrored, "from_z"), -column(edges, "from_z"), atol=1e-9)
    np.testing.assert_allclose(column(mirrored, "from_x"), column(edges, "from_x"), atol=1e-9)


# ---- what is missing --------------------------------------------------------------------------------------

PAIR = alanine("A", 1, 0.0) + alanine("B", 1, 5.0, 1.0)


def without(chain: str, *names: str):
    return complex_of(a for a in PAIR if a.chain != chain or a.name not in names)


@pytest.mark.parametrize("name", ["N", "C"])
def test_a_residue_without_n_or_c_has_no_frame_and_its_directions_are_zero(name):
    whole, edges = edges_of(complex_of(PAIR)), edges_of(without("A", name))
    assert not part(edges, "from_")[0].any()
    assert not part(edges, "axes_").any()
    np.testing.assert_array_equal(part(edges, "to_")[0], part(whole, "to_")[0])
    np.testing.assert_array_equal(column(edges, "side_chain_from"), column(whole, "side_chain_from"))
    assert np.isfinite(edges.attributes).all()


def test_backbone_atoms_in_line_give_no_frame_either():
    place = {"N": -1.5, "CA": 0.0, "C": 1.5}
    in_line = [replace(a, x=place[a.name], y=0.0, z=0.0) if a.chain == "A" and a.name in place else a for a in PAIR]
    edges = edges_of(complex_of(in_line))
    assert not part(edges, "from_")[0].any()
    assert np.isfinite(edges.attributes).all()


def test_a_residue_without_side_chain_is_where_its_ca_is_and_faces_nowhere():
    edges = edges_of(without("A", "CB"))
    assert column(edges, "side_chains").tolist() == [0, 0]
    assert column(edges, "side_chain_from")[0] == column(edges, "side_chain_to")[1] == 0
    cb = np.array(next([a.x, a.y, a.z] for a in PAIR if a.chain == "B" and a.name == "CB"))
    assert column(edges, "side_chain_distance")[0] == pytest.approx(np.linalg.norm(cb))


def test_a_trace_of_ca_atoms_alone_has_edges():
    edges = edges_of(complex_of(a for a in PAIR if a.name == "CA"))
    values = dict(zip(NAMES, edges.attributes[0], strict=True))
    assert values["nearest_atoms"] == values["side_chain_distance"] == values["ca_distance"] == math.sqrt(26)
    assert values["atom_pairs_5_6"] == values["contacts_10"] == 1
    assert not part(edges, "from_").any()


@pytest.mark.parametrize("names", [("H", "HA", "1HB", "2HB", "HB3"), ("D", "DA", "1DB")])
def test_hydrogens_change_nothing(names):
    extra = [Atom(n, "ALA", c, 1, x, 0.4, 0.3 * k) for c, x in (("A", 0.9), ("B", 5.9)) for k, n in enumerate(names)]
    both = sorted([*PAIR, *extra], key=lambda a: a.chain)
    np.testing.assert_array_equal(edges_of(complex_of(both)).attributes, edges_of(complex_of(PAIR)).attributes)


def test_without_any_edge_the_error_tells_the_cutoff():
    with pytest.raises(FeatureError, match="within 14 Å"):
        edges_of(complex_of(alanine("A", 1, 0.0) + alanine("B", 1, 14.0)))


# ---- scaling ----------------------------------------------------------------------------------------------


def test_for_the_training_set_values_stay_as_they_are_and_per_decoy_they_go_from_zero_to_one(decoy):
    complex_, nodes, edges = decoy
    assert Invariant().scaling == "training_set"
    np.testing.assert_array_equal(invariant_edges(Invariant(), complex_, nodes).attributes, edges.attributes)
    scaled = invariant_edges(Invariant(scaling="per_decoy"), complex_, nodes).attributes
    varying = np.ptp(edges.attributes, axis=0) > 0
    assert varying.sum() > 30
    np.testing.assert_array_equal(scaled.min(axis=0), 0)
    np.testing.assert_array_equal(scaled.max(axis=0), varying.astype(float))
