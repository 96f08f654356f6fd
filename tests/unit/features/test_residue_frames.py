"""How residues are turned to each other: every column of edges against its definition. That nothing
else matters is proved in test_invariance.py.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from structures_text import EXAMPLES, Atom, alanine, complex_of
from toporank.features.contact_edges import ContactsV1, columns, contact_edges
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.features.residue_frames import Orientation, orientation
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex


def plain_frame(atoms: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Rows: along CA–C, towards N at right angles to that, and their cross product."""
    c, n = atoms["C"] - atoms["CA"], atoms["N"] - atoms["CA"]
    first = c / math.dist(c, (0, 0, 0))
    second = n - np.dot(n, first) * first
    second = second / math.dist(second, (0, 0, 0))
    return [first, second, np.cross(first, second)]


def plain_edge(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> dict[str, float]:
    """Columns of the edge from residue a to residue b, {atom: position}, heavy atoms only, in plain
    loops.
    """
    distance = math.dist(a["CA"], b["CA"])
    unit = (b["CA"] - a["CA"]) / distance
    frames = [plain_frame(atoms) for atoms in (a, b)]
    centres = []
    for atoms in (a, b):
        side = [
            p for name, p in atoms.items() if name not in ("N", "CA", "C", "O", "OXT")
        ]
        centres.append(sum(side) / len(side) if side else atoms["CA"])
    sides = [
        centre - atoms["CA"] for centre, atoms in zip(centres, (a, b), strict=True)
    ]
    sides = [s / np.linalg.norm(s) if s.any() else s for s in sides]
    edge = {
        "ca_distance": distance,
        "side_chain_distance": math.dist(*centres),
        "side_chains": np.dot(*sides),
    }
    for k, axis in enumerate("xyz"):
        edge[f"axes_{axis}"] = np.dot(frames[0][k], frames[1][k])
        edge[f"from_{axis}"], edge[f"to_{axis}"] = (
            np.dot(frames[0][k], unit),
            np.dot(frames[1][k], -unit),
        )
    return {
        **edge,
        "side_chain_from": np.dot(sides[0], unit),
        "side_chain_to": np.dot(sides[1], -unit),
    }


def test_edges_of_real_decoys_have_the_columns_that_plain_loops_give():
    complex_ = read_complex(EXAMPLES / "1GCQ/mid1.pdb").without_hydrogens()
    nodes = ca_cutoff_interface(CaCutoff(), complex_).index
    edges = contact_edges(ContactsV1(scaling="none"), complex_, nodes)
    start = complex_.atom_slices
    atoms = [
        {
            complex_.atom_names[k].decode(): complex_.xyz[k]
            for k in range(start[r], start[r + 1])
        }
        for r in nodes
    ]
    assert edges.index.shape[1] > 100
    names = columns(ContactsV1())
    for (i, j), row in zip(edges.index.T, edges.attributes, strict=True):
        expected = plain_edge(atoms[i], atoms[j])
        assert {name: row[names.index(name)] for name in expected} == pytest.approx(
            expected, abs=1e-9
        )


# ---- what is missing -----------------------------------------------------------------------------

PAIR = alanine("A", 1, 0.0) + alanine("B", 1, 5.0, 1.0)


def turned(complex_: Complex) -> Orientation:
    """Of its two residues, 5 Å and 1 Å apart."""
    return orientation(
        complex_, np.arange(2), np.array([[0, 1]]), np.array([math.sqrt(26)])
    )


def without(chain: str, *names: str) -> Complex:
    return complex_of(a for a in PAIR if a.chain != chain or a.name not in names)


@pytest.mark.parametrize("name", ["N", "C"])
def test_a_residue_without_n_or_c_has_no_frame_and_its_directions_are_zero(name):
    whole, partial = turned(complex_of(PAIR)), turned(without("A", name))
    assert not partial.from_first[0, :3].any()
    assert not partial.axes.any()
    np.testing.assert_array_equal(partial.from_second, whole.from_second)
    assert partial.from_first[0, 3] == whole.from_first[0, 3] != 0


def test_backbone_atoms_in_line_give_no_frame_either():
    place = {"N": -1.5, "CA": 0.0, "C": 1.5}
    in_line = [
        replace(a, x=place[a.name], y=0.0, z=0.0)
        if a.chain == "A" and a.name in place
        else a
        for a in PAIR
    ]
    straight = turned(complex_of(in_line))
    assert not straight.from_first[0, :3].any()
    assert all(np.isfinite(values).all() for values in straight)


def test_a_residue_without_side_chain_is_where_its_ca_is_and_faces_nowhere():
    bare = turned(without("A", "CB"))
    assert (bare.side_chains[0], bare.from_first[0, 3]) == (0, 0)
    assert bare.from_second[0, 3] != 0
    cb = np.array(
        next([a.x, a.y, a.z] for a in PAIR if a.chain == "B" and a.name == "CB")
    )
    assert bare.apart[0] == pytest.approx(np.linalg.norm(cb))


def test_of_a_trace_of_ca_atoms_alone_only_the_distance_is_known():
    trace = turned(complex_of(a for a in PAIR if a.name == "CA"))
    assert trace.apart[0] == math.sqrt(26)
    assert not any(values.any() for values in trace[1:])


@pytest.mark.parametrize(
    "names", [("H", "HA", "1HB", "2HB", "HB3"), ("D", "DA", "1DB")]
)
def test_hydrogens_change_nothing(names):
    extra = [
        Atom(n, "ALA", c, 1, x, 0.4, 0.3 * k)
        for c, x in (("A", 0.9), ("B", 5.9))
        for k, n in enumerate(names)
    ]
    both = sorted([*PAIR, *extra], key=lambda a: a.chain)
    here, there = (
        contact_edges(ContactsV1(), complex_of(atoms), np.arange(2)).attributes
        for atoms in (PAIR, both)
    )
    np.testing.assert_array_equal(here, there)
