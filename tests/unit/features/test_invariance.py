"""What must not matter: how a complex lies, what its chains are called, in what order and format a
file lists it.

A decoy is written anew in each of these ways, read again, and its features are compared residue by
residue and pair by pair, then its scores. Two things limit how equal they can be. A PDB file has
three decimals, so a turned complex is not quite the same one. And DSSP counts points of a sphere
that does not turn with the complex: as the file lies, accessibilities change by about 1 Å²; with
`orientation: principal_axes` they do not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from _synthetic import decoy_graph, members, predict
from hypothesis import given, settings
from hypothesis import strategies as st

from structures_text import EXAMPLES, Atom, mmcif, moved, pdb, random_complex, write
from toporank.building.packing import write_pack
from toporank.features.dssp_nodes import along_principal_axes
from toporank.features.registry import DEFAULT_MODULES, resolve
from toporank.features.steps import graph_metadata
from toporank.learning.data import GraphStore, set_statistics
from toporank.learning.weights import build_network
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

torch.set_num_threads(1)

DECOYS = ["1GCQ/mid1.pdb", "1AVZ/near1.pdb.gz"]
LEGACY = {"module": "edges/legacy_v11"}
CONTACTS = {"module": "edges/contacts/v1"}
NEW_NAMES = {"A": "q", "B": "C"}
"""Sorts the other way round."""


def atoms_of(complex_: Complex) -> list[Atom]:
    """Its atoms in file order, with all digits of their coordinates."""
    atoms = []
    for name, xyz, r in zip(
        complex_.atom_names, complex_.xyz, complex_.residue_of, strict=True
    ):
        chain, number, code = complex_.residues[r]
        place = map(float, xyz)
        atom = Atom(
            name.decode(), complex_.names[r], chain, number, *place, insertion_code=code
        )
        atoms.append(atom)
    return atoms


def turned(atoms: list[Atom], seed: int) -> list[Atom]:
    """Turned at random and shifted by tens of Å; rounded as a PDB file does."""
    draw = np.random.default_rng(seed)
    xyz = np.array([[a.x, a.y, a.z] for a in atoms])
    turn = np.linalg.qr(draw.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    places = (xyz @ turn + draw.uniform(-50, 50, 3)).tolist()
    return [
        replace(a, x=x, y=y, z=z) for a, (x, y, z) in zip(atoms, places, strict=True)
    ]


def renamed(atoms: list[Atom]) -> list[Atom]:
    return [replace(a, chain=NEW_NAMES[a.chain]) for a in atoms]


def chains_reversed(atoms: list[Atom]) -> list[Atom]:
    return sorted(atoms, key=lambda a: a.chain, reverse=True)


def atoms_shuffled(atoms: list[Atom]) -> list[Atom]:
    """Atoms of each residue in random order; residues stay where they are."""
    draw = np.random.default_rng(5)
    keys = [(a.chain, a.number, a.insertion_code) for a in atoms]
    place = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    order = sorted(range(len(atoms)), key=lambda i: (place[keys[i]], draw.random()))
    return [atoms[i] for i in order]


def original(residue) -> str:
    """The name of a residue before its chain was renamed."""
    old = {new: name for name, new in NEW_NAMES.items()}
    return str(residue._replace(chain=old.get(residue.chain, residue.chain)))


EXACT = {
    "turned": lambda atoms: mmcif(turned(atoms, 1)),
    "turned otherwise": lambda atoms: mmcif(turned(atoms, 2)),
    "chains renamed": lambda atoms: mmcif(renamed(atoms)),
    "chains in another order": lambda atoms: mmcif(chains_reversed(atoms)),
    "atoms in another order": lambda atoms: mmcif(atoms_shuffled(atoms)),
    "as PDB": pdb,
    "as mmCIF": mmcif,
    "all at once": lambda atoms: mmcif(
        atoms_shuffled(chains_reversed(renamed(turned(atoms, 3))))
    ),
}
"""Ways to write a decoy that keep every digit."""


@pytest.fixture(scope="module", params=DECOYS)
def decoy(request) -> Complex:
    return read_complex(EXAMPLES / request.param)


@pytest.fixture
def rewritten(decoy, tmp_path):
    """The decoy as read back from a file written in a way."""

    def again(way: str) -> Complex:
        text = EXACT[way](atoms_of(decoy))
        suffix = "cif" if text.startswith("data_") else "pdb"
        return read_complex(write(tmp_path / f"x.{suffix}", text))

    return again


Rows = dict[tuple[str, ...], np.ndarray]


def by_residues(complex_: Complex, residues: np.ndarray, values: np.ndarray) -> Rows:
    """Rows by the names of their residues, shape (N,), or pairs of residues, shape (N, 2)."""
    rows = {}
    for these, row in zip(residues.reshape(len(values), -1), values, strict=True):
        rows[tuple(original(complex_.residues[r]) for r in these)] = row
    return rows


def largest_difference(here: Rows, there: Rows) -> float:
    assert here.keys() == there.keys()
    return max(np.abs(there[key] - here[key]).max() for key in here)


def interface_of(complex_: Complex) -> np.ndarray:
    return resolve_all()["interface"](complex_).index


def resolve_all(**other):
    """The default features, or others."""
    return resolve({stage: other.get(stage, {}) for stage in DEFAULT_MODULES})


# ---- features ------------------------------------------------------------------------------------


def interface_rows(complex_: Complex) -> Rows:
    interface = resolve_all()["interface"](complex_)
    assert len(interface.index) > 20
    values = np.column_stack([interface.contacts, interface.nearest])
    return by_residues(complex_, interface.index, values)


def topology_rows(complex_: Complex) -> Rows:
    residues = interface_of(complex_)
    return by_residues(
        complex_, residues, resolve_all()["topology"](complex_, residues)
    )


def edge_rows(complex_: Complex, record: dict) -> Rows:
    residues = interface_of(complex_)
    edges = resolve_all(edges=record)["edges"](complex_, residues)
    return by_residues(complex_, residues[edges.index.T], edges.attributes)


def node_rows(
    complex_: Complex,
    module: str = "dssp_topology",
    orientation: str = "principal_axes",
) -> Rows:
    """Node features without topology."""
    record = {"module": module, "orientation": orientation, "scaling": "none"}
    choice, residues = resolve_all(nodes=record)["nodes"], interface_of(complex_)
    no_topology = np.zeros((len(residues), 0))
    return by_residues(
        complex_, residues, choice(complex_, residues, no_topology).values
    )


ROWS = {
    "interface": (interface_rows, 1e-9),
    "topology": (topology_rows, 1e-7),  # squared radii of nearly flat tetrahedra
    "legacy edges": (partial(edge_rows, record=LEGACY), 1e-9),
    "scaled edges": (
        partial(edge_rows, record={**LEGACY, "scaling": "per_decoy"}),
        1e-9,
    ),
    "edges": (
        partial(edge_rows, record=CONTACTS),
        1e-7,
    ),  # roots of energies that cancel out: of 1e-16 it is 1e-8
    "DSSP": (node_rows, 1e-9),
    "nodes": (partial(node_rows, module="contacts"), 1e-7),
}


@pytest.mark.parametrize("way", EXACT)
@pytest.mark.parametrize("stage", ROWS)
def test_features_are_the_same(decoy, rewritten, stage, way):
    rows, atol = ROWS[stage]
    assert largest_difference(rows(decoy), rows(rewritten(way))) <= atol


def test_published_edges_are_not_once_a_complex_is_turned(decoy, rewritten):
    """The control: what the tests above would have found in the original, which reads y as z."""
    rows = partial(edge_rows, record={**LEGACY, "coordinates": "xyy"})
    assert largest_difference(rows(decoy), rows(rewritten("turned"))) > 0.01


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6), turn=st.integers(0, 10**6), chains=st.sampled_from(["AB", "ABC", "A+B:C"]),
    record=st.sampled_from([LEGACY, CONTACTS]),
)  # fmt: skip
def test_edges_of_random_complexes_are_the_same_however_they_are_turned(
    seed, turn, chains, record
):
    """Incomplete residues among them: some have no side chain."""
    complex_ = random_complex(
        seed, chains=chains.replace("+", "").replace(":", ""), spread=4.0
    )
    complex_ = complex_.with_partners((("A", "B"), ("C",)) if ":" in chains else ())
    nodes, module = np.flatnonzero(complex_.ca >= 0), resolve_all(edges=record)["edges"]
    here, there = module(complex_, nodes), module(moved(complex_, turn), nodes)
    np.testing.assert_array_equal(here.index, there.index)
    np.testing.assert_allclose(here.attributes, there.attributes, rtol=0, atol=1e-7)


def test_nodes_as_the_file_lies_depend_on_that_by_a_little_accessibility(
    decoy, rewritten
):
    """And on nothing else, but for angles, which are rounded to 0.1°."""
    here, there = (
        node_rows(c, orientation="file") for c in (decoy, rewritten("turned"))
    )
    apart = np.array([np.abs(there[k] - here[k]) for k in here])
    assert 0 < apart[:, 0].max() < 0.08  # relative accessibility
    angles = np.minimum(apart[:, 1:3], 360 - apart[:, 1:3])
    assert angles.max() < 0.11
    assert not apart[:, 3:].any()


@pytest.mark.parametrize("seed", range(5))
def test_along_its_principal_axes_a_complex_lies_the_same_way_wherever_it_came_from(
    seed,
):
    complex_ = random_complex(seed, residues=20)
    every = np.arange(len(complex_.residues))
    here, there = (
        along_principal_axes(one, every) for one in (complex_, moved(complex_, seed))
    )
    np.testing.assert_allclose(here.xyz, there.xyz, rtol=0, atol=1e-9)
    ca = here.xyz[here.ca]
    np.testing.assert_allclose(ca.mean(axis=0), 0, atol=1e-9)
    spread = ca.T @ ca
    np.testing.assert_allclose(spread - np.diag(np.diag(spread)), 0, atol=1e-8)
    apart = np.linalg.norm(complex_.xyz[:, None] - complex_.xyz, axis=2)
    np.testing.assert_allclose(
        np.linalg.norm(here.xyz[:, None] - here.xyz, axis=2), apart, atol=1e-9
    )
    chirality = np.linalg.det(complex_.xyz[1:4] - complex_.xyz[0])
    assert np.linalg.det(here.xyz[1:4] - here.xyz[0]) == pytest.approx(chirality)


# ---- scores --------------------------------------------------------------------------------------

HYPERPARAMETERS = {
    "hidden": 16,
    "heads": 4,
    "layers": 2,
    "readout": 16,
    "attention_dropout": 0.0,
}
WAYS = {**EXACT, "turned, PDB": lambda atoms: pdb(turned(atoms, 1))}


def graph_of(complex_: Complex):
    """As the feature stages make it."""
    choices = resolve_all()
    residues = choices["interface"](complex_).index
    nodes = choices["nodes"](
        complex_, residues, choices["topology"](complex_, residues)
    )
    edges = choices["edges"](complex_, residues)
    names = [str(complex_.residues[r]) for r in residues]
    return decoy_graph(nodes.values, edges, graph_metadata(choices), names)


def store_of(folder: Path, complexes: list[Complex]) -> GraphStore:
    folder.mkdir()
    graphs = {}
    for name, complex_ in zip("ab", complexes, strict=True):
        graphs["T", name, "train"] = graph_of(complex_)
    write_pack(folder / "pack", members(folder, graphs))
    return GraphStore.open([folder / "pack"])


def random_network(store: GraphStore):
    torch.manual_seed(3)
    widths = store.node_width, store.edge_width
    network = build_network(*widths, HYPERPARAMETERS, store.metadata["features"])
    set_statistics(network, store, range(len(store)))
    for parameter in network.parameters():
        # As they usually begin, all graphs have almost one score.
        torch.nn.init.normal_(parameter, std=0.15)
    return network.eval()


def test_the_score_is_the_same(tmp_path):
    """But for the order of sums in single precision, of which 1e-5 leaves room for a hundred."""
    decoys = [read_complex(EXAMPLES / name) for name in DECOYS]
    store = store_of(tmp_path / "as is", decoys)
    network = random_network(store)
    scores = predict(network, store)
    apart = {}
    for way, text in WAYS.items():
        again = []
        for k, complex_ in enumerate(decoys):
            written = text(atoms_of(complex_))
            suffix = "cif" if written.startswith("data_") else "pdb"
            again.append(read_complex(write(tmp_path / f"{k}.{suffix}", written)))
        difference = predict(network, store_of(tmp_path / way, again)) - scores
        apart[way] = float(difference.abs().max())
    assert apart.pop("turned, PDB") < 0.005
    assert max(apart.values()) < 1e-5
    assert abs(scores[0] - scores[1]) > 10 * max(apart.values()), (
        "equality would prove little"
    )
