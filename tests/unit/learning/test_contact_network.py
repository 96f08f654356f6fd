"""The network of contacts: what it sees, what it adds up, and the same numbers without torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from safetensors.torch import save

from toporank.errors import CheckpointError, ConfigError
from toporank.features.registry import node_columns, resolve
from toporank.features.steps import graph_metadata
from toporank.files.graph_file import Graph
from toporank.learning.checkpoint import KEY, describe
from toporank.learning.contact_columns import AREA, Columns, TouchingPairs, described
from toporank.learning.contact_inference import ContactInference, contact_shapes
from toporank.learning.data import GraphBatch
from toporank.learning.hyperparameters import Hyperparameters
from toporank.learning.inference import open_network, sorted_by_destination
from toporank.learning.weights import OfTorch, build_network

CHOICES = resolve({stage: {} for stage in ("interface", "topology", "nodes", "edges")})
NODES, EDGES = node_columns(CHOICES), list(CHOICES["edges"].columns)
COLUMNS = Columns.of(NODES, EDGES)
SHAPE = {
    "network": "contacts",
    "hidden": 16,
    "heads": 1,
    "layers": 2,
    "readout": 1,
    "attention_dropout": 0.0,
    "local": True,
}
DESCRIPTION = {
    "node_width": len(NODES),
    "edge_width": len(EDGES),
    "hyperparameters": SHAPE,
    "node_columns": NODES,
    "edge_columns": EDGES,
}
ONE_WAY = [i for i, name in enumerate(EDGES) if name.startswith(("from_", "to_"))]


def contacts_of(seed: int, n_sides: tuple[int, int] = (6, 7), share: float = 0.5):
    """A graph of two sides, of whose pairs a share are edges, some of them with an area."""
    draw = np.random.default_rng(seed)
    pairs = np.argwhere(draw.random(n_sides) < share)
    first, second = pairs[:, 0], pairs[:, 1] + n_sides[0]
    values = draw.normal(size=(len(pairs), len(EDGES))).astype(np.float32)
    values[:, COLUMNS.area] = np.maximum(values[:, COLUMNS.area], 0) * 5
    x = draw.normal(size=(sum(n_sides), len(NODES))).astype(np.float32)
    graph = Graph(
        x=x,
        edge_index=np.hstack([[first, second], [second, first]]),
        edge_attr=np.vstack([values, values]),
        y=0.5,
        metadata={"edge_columns": EDGES, "node_columns": NODES},
    )
    return sorted_by_destination(graph)


def network(seed: int = 0, **other):
    torch.manual_seed(seed)
    shape = {**SHAPE, **other}
    made = build_network(len(NODES), len(EDGES), shape, None, EDGES, NODES)
    made.mean.uniform_(-0.5, 0.5)
    made.variance.uniform_(0.5, 2.0)
    return made.eval()


def batch_of(*graphs: Graph) -> GraphBatch:
    n_nodes = [len(graph.x) for graph in graphs]
    starts = np.cumsum([0, *n_nodes[:-1]])
    places = zip(graphs, starts, strict=True)
    index = np.hstack([graph.edge_index + start for graph, start in places])
    n_edges = [len(graph.edge_attr) for graph in graphs]
    numbers = torch.arange(len(graphs))
    return GraphBatch(
        x=torch.from_numpy(np.vstack([graph.x for graph in graphs])),
        edge_index=torch.from_numpy(index),
        edge_attr=torch.from_numpy(np.vstack([graph.edge_attr for graph in graphs])),
        node_graph=numbers.repeat_interleave(torch.tensor(n_nodes)),
        edge_graph=numbers.repeat_interleave(torch.tensor(n_edges)),
        y=torch.tensor([graph.y for graph in graphs]),
        index=numbers,
    )


def seen(graph: Graph) -> np.ndarray:
    n_nodes = len(graph.x)
    contacts = TouchingPairs.of(COLUMNS, graph.edge_index, graph.edge_attr, n_nodes)
    nodes = np.zeros(n_nodes, int)
    return described(COLUMNS, contacts, graph.x, graph.edge_attr, nodes, 1)


def test_a_contact_is_a_pair_of_residues_that_share_a_surface():
    graph = contacts_of(1)
    found = TouchingPairs.of(COLUMNS, graph.edge_index, graph.edge_attr, len(graph.x))
    expected = set()
    for edge, values in zip(graph.edge_index.T, graph.edge_attr, strict=True):
        if values[COLUMNS.area] > 0:
            expected.add(tuple(sorted(edge)))
    assert {*map(tuple, found.ends.T)} == expected
    assert len(found.edge) == len(expected)
    for edge, contact in zip(graph.edge_index.T, found.of_edge, strict=True):
        pair = tuple(sorted(edge))
        assert (contact < 0) == (pair not in expected)
        assert contact < 0 or tuple(found.ends[:, contact]) == pair


def test_which_way_an_edge_points_is_not_seen():
    graph = contacts_of(2)
    turned = graph.edge_attr.copy()
    turned[:, ONE_WAY] += 1
    np.testing.assert_array_equal(seen(graph), seen(graph._replace(edge_attr=turned)))


def test_residues_that_share_no_surface_are_not_seen():
    graph = contacts_of(3)
    touching = graph.edge_attr[:, COLUMNS.area] > 0
    assert 0 < touching.sum() < len(touching)
    fewer = graph._replace(
        edge_index=graph.edge_index[:, touching], edge_attr=graph.edge_attr[touching]
    )
    np.testing.assert_array_equal(seen(graph), seen(fewer))


def test_the_order_of_residues_does_not_matter():
    graph, made = contacts_of(4), network()
    n = len(graph.x)
    order = np.random.default_rng(0).permutation(n)
    place = np.argsort(order)
    other = graph._replace(x=graph.x[order], edge_index=place[graph.edge_index])
    first = OfTorch(made).predict(graph)
    second = OfTorch(made).predict(sorted_by_destination(other))
    np.testing.assert_allclose(first.score, second.score, rtol=1e-4)
    np.testing.assert_allclose(first.pooled, second.pooled, rtol=1e-4, atol=1e-5)


def test_a_batch_has_the_numbers_of_its_graphs():
    graphs, made = [contacts_of(seed) for seed in range(3)], network()
    with torch.inference_mode():
        together = made.predictions(batch_of(*graphs))
    apart = [OfTorch(made).predict(graph) for graph in graphs]
    scores = np.concatenate([one.score for one in apart])
    np.testing.assert_allclose(together.score, scores, rtol=1e-5)
    pooled = np.concatenate([one.pooled for one in apart])
    np.testing.assert_allclose(together.pooled, pooled, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("share", [0.5, 0.02, 0.0])
def test_without_torch_it_predicts_the_same(share):
    made = network()
    weights = {name: values.numpy() for name, values in made.state_dict().items()}
    assert contact_shapes(DESCRIPTION) == {
        name: values.shape for name, values in weights.items()
    }
    graph = contacts_of(5, share=share)
    found = ContactInference(weights, DESCRIPTION).predict(graph)
    expected = OfTorch(made).predict(graph)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_the_mean_is_by_area_and_the_sum_is_the_native_area():
    graph, made = contacts_of(6), network()
    predicted = made.predictions(batch_of(graph))
    quality = torch.sigmoid(predicted.edge_logit).detach().numpy()
    area = graph.edge_attr[:, EDGES.index(AREA)] ** 2
    native = (area * quality).sum() / 2  # each contact has two edges
    whole = area.sum() / 2
    assert predicted.local.item() == pytest.approx(native / whole, rel=1e-4)
    assert predicted.pooled[0, -1].item() == pytest.approx(
        np.log(native + 30), rel=1e-4
    )


def test_dockq_alone_teaches_it_which_contacts_are_right():
    """Where the share of right contacts is DockQ, contacts with apolar area come out as right."""
    apolar = EDGES.index("area_apolar")
    graphs = []
    for seed in range(12):
        graph = contacts_of(seed)
        right = graph.edge_attr[:, apolar] > 0
        area = graph.edge_attr[:, COLUMNS.area] ** 2
        graphs.append(graph._replace(y=float((area * right).sum() / area.sum())))
    made = network(dropout=0.0).train()
    adam = torch.optim.Adam(made.parameters(), 0.02)
    batch = batch_of(*graphs)
    batch = batch._replace(y=batch.y.float())
    for _ in range(60):
        loss = torch.nn.functional.mse_loss(made(batch), batch.y)
        adam.zero_grad()
        loss.backward()
        adam.step()
    quality = made.eval().predictions(batch).edge_logit.detach().numpy()
    has_area = batch.edge_attr[:, COLUMNS.area].numpy() > 0
    right = batch.edge_attr[:, apolar].numpy() > 0
    assert quality[has_area & right].mean() > quality[has_area & ~right].mean() + 1


def test_it_always_predicts_local_quality():
    assert Hyperparameters(network="contacts").local


def test_graphs_without_areas_are_refused_by_the_name_of_the_column():
    with pytest.raises(
        ConfigError, match=r"network contacts: the edges have no column area"
    ):
        build_network(3, 2, SHAPE, None, ["a", "b"], ["x", "y", "z"])


def test_a_checkpoint_is_read_without_torch_and_a_damaged_one_is_refused(tmp_path):
    made = network()
    metadata = graph_metadata(CHOICES)
    of_run = {
        "run": "contacts_seed1",
        "seed": 1,
        "epoch": 1,
        "metrics": {},
        "selection": {"spearman_weight": 1.0},
        "training_set": {"fingerprint": "", "train": 1, "val": 1},
        "provenance": {},
    }
    text = describe({**DESCRIPTION, **of_run, "features": metadata["features"]})
    weights = made.state_dict()
    (tmp_path / "good.safetensors").write_bytes(save(weights, {KEY: text}))
    read, _ = open_network(tmp_path / "good.safetensors")
    assert isinstance(read, ContactInference)
    graph = contacts_of(7)
    score = OfTorch(made).predict(graph).score
    np.testing.assert_allclose(read.predict(graph).score, score, rtol=1e-4)
    del weights["head.bias"]
    (tmp_path / "bad.safetensors").write_bytes(save(weights, {KEY: text}))
    with pytest.raises(
        CheckpointError, match=r"bad\.safetensors: .*head\.bias is missing"
    ):
        open_network(tmp_path / "bad.safetensors")
