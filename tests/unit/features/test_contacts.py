"""Atoms that touch: their types, how surface is shared out, and the nodes and edges that are made
of both.

Surfaces are compared with the area of a spherical cap and with Biopython; columns with plain loops
over atoms. That nothing else matters, such as how a complex lies, is proved in test_invariance.py.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from Bio.PDB.ic_data import residue_atom_bond_state

from structures_text import EXAMPLES, Atom, alanine, complex_of
from toporank.errors import FeatureError
from toporank.features.atom_types import (
    APOLAR,
    ATOM_TYPES,
    NEGATIVE,
    NO_TYPE,
    POLAR,
    POSITIVE,
    atom_types,
)
from toporank.features.contact_edges import ROOTS, ContactsV1, columns, contact_edges
from toporank.features.contact_nodes import OWN, contact_nodes
from toporank.features.dssp_nodes import DsspTopology, along_principal_axes
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.features.potentials import LIMITS, RESIDUES, read_potentials
from toporank.features.registry import choose
from toporank.features.surface import PROBE, RADII, surfaces
from toporank.structures.complex import STANDARD, Complex
from toporank.structures.read import read_complex

RAW = ContactsV1(scaling="none")
NAMES = columns(RAW)


@pytest.fixture(scope="module")
def decoy() -> Complex:
    return read_complex(EXAMPLES / "1GCQ/mid1.pdb").without_hydrogens()


@pytest.fixture(scope="module")
def nodes(decoy) -> np.ndarray:
    return ca_cutoff_interface(CaCutoff(), decoy).index


# ---- types of atoms ------------------------------------------------------------------------------


def heavy_atoms(residue: str) -> list[str]:
    """As Biopython lists them."""
    names = [
        *residue_atom_bond_state["X"],
        *residue_atom_bond_state.get(STANDARD[residue], ()),
    ]
    return [name for name in names if name != "H" and (residue, name) != ("GLY", "CB")]


def type_of(residue: str, atom: str) -> int:
    return int(atom_types(complex_of([Atom(atom, residue, "A", 1, 0.0, 0.0, 0.0)]))[0])


@pytest.mark.parametrize("residue", STANDARD)
def test_every_heavy_atom_has_a_type_of_its_element(residue):
    for atom in heavy_atoms(residue):
        assert type_of(residue, atom) != NO_TYPE, atom
        name = ATOM_TYPES[type_of(residue, atom)]
        assert (name[0] if name[0] in "NOS" else "C") == atom[0], atom


@pytest.mark.parametrize(
    ("residue", "atom"), [("GLY", "CB"), ("ALA", "CG"), ("UNK", "CA"), ("ALA", "H")]
)
def test_what_no_residue_has_is_of_no_type(residue, atom):
    assert type_of(residue, atom) == NO_TYPE


def test_charged_are_lysine_arginine_aspartate_glutamate_and_the_end_of_a_chain():
    atoms = [(residue, atom) for residue in STANDARD for atom in heavy_atoms(residue)]
    positive = {pair for pair in atoms if POSITIVE[type_of(*pair)]}
    assert positive == {("LYS", "NZ"), ("ARG", "NE"), ("ARG", "NH1"), ("ARG", "NH2")}
    negative = {pair for pair in atoms if NEGATIVE[type_of(*pair)]}
    of_chains = {(residue, "OXT") for residue in STANDARD}
    assert negative - of_chains == {
        ("ASP", "OD1"),
        ("ASP", "OD2"),
        ("GLU", "OE1"),
        ("GLU", "OE2"),
    }


# ---- surfaces ------------------------------------------------------------------------------------

BALLS = {
    "C": ("CB", "ALA"),
    "N": ("NZ", "LYS"),
    "O": ("OD1", "ASP"),
    "S": ("SG", "CYS"),
}


def test_what_is_shared_and_what_is_free_add_up_to_the_ball(decoy, nodes):
    found = surfaces(decoy, nodes)
    shared = np.bincount(found.of, found.area, minlength=len(decoy.xyz))[found.atoms]
    reach = np.array([RADII[e] + PROBE for e in decoy.elements[found.atoms].tolist()])
    np.testing.assert_allclose(shared + found.free, 4 * np.pi * reach**2, rtol=1e-12)
    assert (found.alone >= found.free).all()
    assert (found.alone > found.free).sum() > 50
    assert set(found.atoms) == set(np.flatnonzero(np.isin(decoy.residue_of, nodes)))


def test_a_partner_far_away_covers_nothing_and_one_alone_is_what_it_was_in_the_complex(
    decoy, nodes
):
    first = decoy.body_of[decoy.residue_of] == 0
    apart = replace(decoy, xyz=decoy.xyz + np.where(first[:, None], 0.0, 500.0))
    found, together = surfaces(apart, nodes), surfaces(decoy, nodes)
    body = decoy.body_of[decoy.residue_of]
    assert (body[found.of] == body[found.by]).all()
    np.testing.assert_array_equal(found.free, found.alone)
    np.testing.assert_array_equal(found.alone, together.alone)


@pytest.mark.parametrize("seed", range(3))
def test_a_point_goes_to_the_ball_that_covers_it_deepest(seed):
    """As in a Voronoi tessellation of balls; found with many random points, to three of the 92."""
    draw = np.random.default_rng(seed)
    letters = draw.choice(list(BALLS), 7)
    places = [(0.0, 0.0, 0.0), *draw.normal(0, 3, (6, 3)).tolist()]
    atoms = []
    for letter, chain, place in zip(letters, "ABCDEFG", places, strict=True):
        atoms.append(Atom(*BALLS[letter], chain, 1, *place))
    found = surfaces(complex_of(atoms), np.array([0]))
    reach = np.array([RADII[x.encode()] + PROBE for x in letters])
    points = draw.normal(size=(20000, 3))
    points *= reach[0] / np.linalg.norm(points, axis=1)[:, None]
    depth = reach[1:] ** 2 - ((points[:, None] - np.array(places[1:])) ** 2).sum(axis=2)
    deepest = np.where(depth.max(axis=1) > 0, depth.argmax(axis=1) + 1, 0)
    expected = np.bincount(deepest, minlength=7) / len(points)
    got = np.bincount(found.by, found.area, minlength=7) / (4 * np.pi * reach[0] ** 2)
    got[0] = found.free[0] / (4 * np.pi * reach[0] ** 2)
    np.testing.assert_allclose(got, expected, atol=3 / 92)
    assert (expected > 0.02).sum() > 3


# ---- edges ---------------------------------------------------------------------------------------


def test_every_column_has_its_name():
    assert len(NAMES) == len(set(NAMES)) == 42
    assert choose("edges", {"module": "contacts"}).columns == NAMES
    assert NAMES[ROOTS.start], NAMES[ROOTS.stop - 1] == ("area", "mixed_contacts")
    assert choose("nodes", {"module": "contacts"}).columns[: len(OWN)] == list(OWN)


def plain_edge(complex_: Complex, i: int, j: int) -> dict[str, float]:
    """What pairs of atoms of two residues add up to, in loops over atoms and their names."""
    start, potentials, types = (
        complex_.atom_slices,
        read_potentials(),
        atom_types(complex_),
    )
    found = dict.fromkeys(NAMES[8:30], 0.0)
    nearest = math.inf
    for a in range(start[i], start[i + 1]):
        for b in range(start[j], start[j + 1]):
            apart = math.dist(complex_.xyz[a], complex_.xyz[b])
            nearest = min(nearest, apart)
            for k, (low, high) in enumerate(pairwise(LIMITS)):
                if low <= apart < high:
                    found[f"atom_pairs_{low:g}_{high:g}"] += 1
                    of = "short" if low < 4 else "middle" if low < 6 else "long"
                    found[f"energy_{of}"] += potentials.atoms[types[a], types[b], k]
            one, other = [complex_.atom_names[x].decode() for x in (a, b)]
            product = charge(complex_.parents[i], one) * charge(
                complex_.parents[j], other
            )
            kinds = ["apolar" if APOLAR[types[x]] else "" for x in (a, b)]
            kinds = sorted(
                kind or name[0] for kind, name in zip(kinds, (one, other), strict=True)
            )
            found["hydrogen_bonds"] += apart < 3.5 and {one[0], other[0]} == {"N", "O"}
            found["salt_bridges"] += apart < 4.0 and product == -1
            found["like_charges"] += apart < 5.0 and product == 1
            found["apolar_contacts"] += apart < 4.5 and kinds == ["apolar", "apolar"]
            mixed = kinds in (["N", "apolar"], ["O", "apolar"])
            found["mixed_contacts"] += apart < 4.5 and mixed
    kinds = [RESIDUES.index(complex_.parents[r]) for r in (i, j)]
    found["contact"] = float(nearest < 5)
    found["residue_energy"] = potentials.residues[*kinds] if nearest < 5 else 0.0
    return {"nearest_atoms": nearest, **found}


def charge(residue: str, atom: str) -> int:
    if (residue, atom) in {
        ("LYS", "NZ"),
        ("ARG", "NE"),
        ("ARG", "NH1"),
        ("ARG", "NH2"),
    }:
        return 1
    return -int(atom == "OXT" or (residue, atom[:2]) in {("ASP", "OD"), ("GLU", "OE")})


@pytest.fixture(scope="module")
def edges(decoy, nodes):
    return contact_edges(RAW, decoy, nodes)


def squared(values: np.ndarray) -> np.ndarray:
    """Without the roots."""
    return np.sign(values) * values**2


def test_counts_and_energies_are_those_of_plain_loops(decoy, nodes, edges):
    values = edges.attributes.copy()
    values[:, ROOTS] = squared(values[:, ROOTS])
    seen = np.zeros(len(NAMES))
    for (i, j), row in zip(edges.index.T[::2], values[::2], strict=True):
        expected = plain_edge(decoy, nodes[i], nodes[j])
        got = dict(zip(NAMES, row, strict=True))
        assert {name: got[name] for name in expected} == pytest.approx(
            expected, abs=1e-9
        )
        seen += row != 0
    assert (
        seen[NAMES.index("hydrogen_bonds")],
        seen[NAMES.index("apolar_contacts")],
    ) > (2, 10)


def test_edges_are_pairs_whose_atoms_are_nearer_than_eight_angstrom(
    decoy, nodes, edges
):
    expected = set()
    atoms_of = np.split(decoy.xyz, decoy.atom_slices[1:-1])
    for (i, r), (j, s) in itertools.product(enumerate(nodes), repeat=2):
        ca_distance = math.dist(decoy.xyz[decoy.ca[r]], decoy.xyz[decoy.ca[s]])
        nearest = np.linalg.norm(atoms_of[r][:, None] - atoms_of[s], axis=2).min()
        if decoy.body_of[r] != decoy.body_of[s] and ca_distance < 14 and nearest < 8:
            expected.add((i, j))
    assert set(map(tuple, edges.index.T.tolist())) == expected
    assert len(expected) == edges.index.shape[1] > 100


def test_the_other_direction_swaps_both_ends_and_nothing_else(edges):
    there, back = edges.attributes[0::2], edges.attributes[1::2]
    np.testing.assert_array_equal(edges.index[:, 0::2], edges.index[::-1, 1::2])
    swapped = [*range(NAMES.index("from_x")), *range(38, 42), *range(34, 38)]
    assert NAMES[34:38] == ["from_x", "from_y", "from_z", "side_chain_from"]
    np.testing.assert_array_equal(there, back[:, swapped])


def test_areas_of_pairs_are_what_both_cover_of_each_other(decoy, nodes, edges):
    """The complex lies otherwise here than where the columns come from: each pair to 4 Å² or 15 %."""
    found, types = surfaces(decoy, nodes), atom_types(decoy)
    place = {residue: i for i, residue in enumerate(nodes)}
    expected: dict[tuple[int, int], np.ndarray] = defaultdict(lambda: np.zeros(4))
    for of, by, area in zip(found.of, found.by, found.area, strict=True):
        ends = [place.get(decoy.residue_of[atom]) for atom in (of, by)]
        one, other = types[of], types[by]
        both = [APOLAR[one] and APOLAR[other], POLAR[one] and POLAR[other]]
        mixed = (APOLAR[one] and POLAR[other]) or (POLAR[one] and APOLAR[other])
        expected[tuple(ends)] += area * np.array([1, *both, mixed])
    columns = [
        NAMES.index(f"area{kind}") for kind in ("", "_apolar", "_polar", "_mixed")
    ]
    for (i, j), row in zip(edges.index.T.tolist(), edges.attributes, strict=True):
        got = squared(row[columns])
        shared = (expected[i, j] + expected[j, i]) / 2
        assert got == pytest.approx(shared, rel=0.15, abs=4)
    assert squared(edges.attributes[:, columns]).sum(axis=0).min() > 100


def test_where_residues_are_ca_atoms_only_and_nothing_is_near_the_error_says_what_may_be_missing():
    trace = complex_of(
        a for a in alanine("A", 1, 0.0) + alanine("B", 1, 9.0) if a.name == "CA"
    )
    with pytest.raises(
        FeatureError, match=r"heavy atoms within 8 Å.*are side chains missing"
    ):
        contact_edges(RAW, trace, np.arange(2))
    near = contact_edges(ContactsV1(nearest=9.5, scaling="none"), trace, np.arange(2))
    assert near.attributes[0, :2].tolist() == [9.0, 9.0]
    assert np.isfinite(near.attributes).all()


def test_chains_of_one_partner_do_not_touch_each_other(decoy, nodes):
    """The first chain cut in two: with both halves as one partner, everything is as it was."""
    chain, half = decoy.residues[0].chain, 25
    halves = tuple(
        r._replace(chain="X") if r.chain == chain and i > half else r
        for i, r in enumerate(decoy.residues)
    )
    other = next(r.chain for r in decoy.residues if r.chain != chain)
    cut = replace(decoy, residues=halves)
    joined, unsaid = (
        cut.with_partners(((chain, "X"), (other,))),
        contact_edges(RAW, cut, nodes),
    )
    found = contact_edges(RAW, joined, nodes)
    whole = contact_edges(RAW, decoy, nodes)
    np.testing.assert_array_equal(found.index, whole.index)
    np.testing.assert_allclose(found.attributes, whole.attributes, atol=1e-9)
    assert unsaid.index.shape[1] > found.index.shape[1]


# ---- nodes ---------------------------------------------------------------------------------------


def own_columns(complex_: Complex, residues: np.ndarray) -> dict[str, np.ndarray]:
    table = contact_nodes(
        DsspTopology(), complex_, residues, np.zeros((len(residues), 0))
    )
    return dict(zip(OWN, squared(table.values[:, : len(OWN)]).T, strict=True))


def test_buried_is_what_the_partner_covers_and_clashes_are_atoms_within_three_angstrom(
    decoy, nodes
):
    own = own_columns(decoy, nodes)
    np.testing.assert_allclose(own["heavy_atoms"], np.diff(decoy.atom_slices)[nodes])
    body = decoy.body_of[decoy.residue_of]
    near = np.linalg.norm(decoy.xyz[:, None] - decoy.xyz, axis=2) < 3.0
    n_near = (near & (body[:, None] != body)).sum(axis=1)
    clashes = np.bincount(decoy.residue_of, n_near)[nodes]
    np.testing.assert_allclose(own["clashes"], clashes)
    assert clashes.sum() > 0
    assert (own["buried_apolar"] + own["buried_polar"] <= own["buried"] + 1e-9).all()
    # A point may be covered by its own chain, too.
    assert (own["shared"] <= own["buried"] + 1e-9).sum() < len(nodes)
    assert own["buried"].sum() > 500
    found = surfaces(decoy, nodes)
    assert own["free"].sum() == pytest.approx(found.free.sum(), rel=0.02)
    assert own["buried"].sum() == pytest.approx(
        (found.alone - found.free).sum(), rel=0.02
    )
    found = surfaces(along_principal_axes(decoy, nodes), nodes)
    is_polar = np.isin(decoy.elements[found.atoms], [b"N", b"O"])
    buried_polar = (found.alone - found.free)[is_polar].sum()
    assert own["buried_polar"].sum() == pytest.approx(buried_polar)


def test_other_columns_are_those_of_the_dssp_module(decoy, nodes):
    topology = np.arange(2.0 * len(nodes)).reshape(-1, 2)
    plain = choose("nodes", {"module": "dssp_topology"})(decoy, nodes, topology)
    found = choose("nodes", {"module": "contacts"})(decoy, nodes, topology)
    np.testing.assert_array_equal(found.values[:, len(OWN) :], plain.values)
    assert found.lost == plain.lost


def test_water_and_ligands_change_nothing(decoy, nodes):
    """Even inside the interface: a decoy has none, and where one has they are no part of it."""
    middle = decoy.xyz[decoy.ca[nodes]].mean(axis=0)
    water = replace(
        decoy,
        residues=(*decoy.residues, decoy.residues[0]._replace(number=900)),
        names=(*decoy.names, "HOH"),
        parents=(*decoy.parents, ""),
        xyz=np.vstack([decoy.xyz, middle]),
        atom_names=np.append(decoy.atom_names, b"O"),
        residue_of=np.append(decoy.residue_of, len(decoy.residues)),
        ca=np.append(decoy.ca, -1),
    )
    np.testing.assert_array_equal(
        contact_edges(RAW, water, nodes).attributes,
        contact_edges(RAW, decoy, nodes).attributes,
    )
    here, there = own_columns(decoy, nodes), own_columns(water, nodes)
    for name in OWN:
        np.testing.assert_array_equal(here[name], there[name], err_msg=name)
