"""The network: its formula, its symmetries, its size, and that it can learn."""

from __future__ import annotations

import math

import pytest
import torch
from _synthetic import random_graph
from torch.nn import functional as F
from torch_geometric.data import Data

from toporank.learning.graphs import GraphBatch
from toporank.learning.kernels.attention import Adjacency
from toporank.learning.network import DockQNet, EdgeAwareGATv2

WIDTHS = (5, 3)
SHAPE = {"hidden": 8, "heads": 2, "layers": 2, "attention_dropout": 0.25, "readout": 8}
PUBLISHED = {"hidden": 32, "heads": 8, "layers": 2, "attention_dropout": 0.25, "readout": 64}


def batch_of(graphs: list[Data]) -> GraphBatch:
    """A batch put together by hand."""
    sizes = [len(graph.x) for graph in graphs]
    offsets = [sum(sizes[:i]) for i in range(len(graphs))]
    return GraphBatch(
        x=torch.cat([graph.x for graph in graphs]),
        edge_index=torch.cat([graph.edge_index + o for graph, o in zip(graphs, offsets, strict=True)], dim=1),
        edge_attr=torch.cat([graph.edge_attr for graph in graphs]),
        node_graph=torch.tensor([i for i, graph in enumerate(graphs) for _ in graph.x]),
        edge_graph=torch.tensor([i for i, graph in enumerate(graphs) for _ in graph.edge_attr], dtype=torch.int64),
        y=torch.cat([graph.get("y") if graph.get("y") is not None else torch.tensor([math.nan]) for graph in graphs]),
        index=torch.arange(len(graphs)),
    )


@pytest.fixture
def network() -> DockQNet:
    torch.manual_seed(0)
    return DockQNet(*WIDTHS, **SHAPE).eval()


@pytest.fixture
def graphs() -> list[Data]:
    return [random_graph(seed, dockq=0.5) for seed in range(8)]


@torch.no_grad()
def scores(network: DockQNet, *graphs: Data) -> torch.Tensor:
    return network(batch_of(list(graphs)))


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=0, atol=1e-6)


# ---- symmetries -------------------------------------------------------------------------------------------


def test_graphs_have_different_scores(network, graphs):
    """Without this the tests of symmetry below would prove nothing."""
    found = scores(network, *graphs)
    assert found.shape == (8,)
    assert (found[:, None] - found[None] + torch.eye(8)).abs().min() > 1e-5


def test_a_score_does_not_depend_on_the_other_graphs_of_the_batch(network, graphs):
    alone = torch.cat([scores(network, graph) for graph in graphs])
    assert close(scores(network, *graphs), alone)
    assert close(scores(network, *graphs[::-1]), alone.flip(0))


def test_a_graph_twice_in_a_batch_has_one_score(network, graphs):
    found = scores(network, graphs[0], graphs[1], graphs[0], graphs[0])
    assert close(found[[2, 3]], found[[0, 0]])
    assert close(found[:1], scores(network, graphs[0]))


@pytest.mark.parametrize("seed", range(5))
def test_a_score_does_not_depend_on_the_order_of_nodes(network, seed):
    graph = random_graph(seed)
    order = torch.randperm(len(graph.x), generator=torch.Generator().manual_seed(seed))
    new_number = torch.argsort(order)
    moved = Data(x=graph.x[order], edge_index=new_number[graph.edge_index], edge_attr=graph.edge_attr)
    assert close(scores(network, moved), scores(network, graph))


@pytest.mark.parametrize("seed", range(5))
def test_a_score_does_not_depend_on_the_order_of_edges(network, seed):
    graph = random_graph(seed)
    order = torch.randperm(graph.edge_index.shape[1], generator=torch.Generator().manual_seed(seed))
    moved = Data(x=graph.x, edge_index=graph.edge_index[:, order], edge_attr=graph.edge_attr[order])
    assert close(scores(network, moved), scores(network, graph))


def test_a_score_depends_on_nodes_on_edges_and_on_what_joins_what(network):
    graph = random_graph(3, nodes=6, edges=12)
    found = scores(network, graph)
    for change in (
        {"x": graph.x.flip(0)},
        {"edge_attr": graph.edge_attr.flip(0)},
        {"edge_index": graph.edge_index.flip(0)},
    ):
        parts = {name: graph[name] for name in ("x", "edge_index", "edge_attr")} | change
        assert (scores(network, Data(**parts)) - found).abs() > 1e-6, change.keys()


def test_dropout_is_for_training_alone(network, graphs):
    assert torch.equal(scores(network, *graphs), scores(network, *graphs))
    network.train()
    assert not torch.equal(scores(network, *graphs), scores(network, *graphs))


def test_a_score_is_a_fraction_whatever_the_features(network):
    graph = random_graph(1)
    graph.x = graph.x * 1e4
    assert 0 <= float(scores(network, graph)) <= 1


def test_a_graph_without_edges_has_a_score_of_its_own(network, graphs):
    bare = random_graph(9, edges=0)
    found = scores(network, graphs[0], bare, graphs[1])
    assert torch.isfinite(found).all()
    assert close(found[1:2], scores(network, bare))


# ---- the formula ------------------------------------------------------------------------------------------


def gatv2_by_hand(layer: EdgeAwareGATv2, x, edge_index, edge):
    """One layer in plain loops: Brody, Alon & Yahav 2022, equation 7, with edges, heads averaged.

    Node i attends to the nodes j of its incoming edges; then every edge sees the new vectors of its ends.
    """
    a = layer.attention
    heads, width = a.att.shape[1:]
    edges = list(enumerate(edge_index.T.tolist()))
    new = []
    for i in range(len(x)):
        incoming = [(e, j) for e, (j, to) in edges if to == i]
        result = torch.zeros(width, dtype=x.dtype)
        for h in range(heads):
            rows = slice(h * width, (h + 1) * width)
            source = [a.lin_l.weight[rows] @ x[j] + a.lin_l.bias[rows] for _, j in incoming]
            target = a.lin_r.weight[rows] @ x[i] + a.lin_r.bias[rows]
            raw = []
            for (e, _), s in zip(incoming, source, strict=True):
                z = s + target + a.lin_edge.weight[rows] @ edge[e]
                raw.append(sum(a.att[0, h, c] * (z[c] if z[c] > 0 else 0.2 * z[c]) for c in range(width)))
            weights = [math.exp(r) for r in raw]
            for weight, s in zip(weights, source, strict=True):
                result = result + weight / sum(weights) * s / heads
        new.append(result + a.bias)
    x = torch.stack(new)
    update = layer.edge_update
    edge = torch.stack([update.weight @ torch.cat([x[j], x[i], edge[e]]) + update.bias for e, (j, i) in edges])
    return x, edge


@torch.no_grad()
def test_a_layer_is_the_published_formula():
    torch.manual_seed(1)
    layer = EdgeAwareGATv2(hidden=3, heads=2, attention_dropout=0.25).double().eval()
    for parameter in layer.parameters():  # biases begin at zero, where a test sees nothing
        torch.nn.init.normal_(parameter)
    edge_index = torch.tensor(
        [[0, 1, 2, 0, 1, 3, 1], [1, 0, 1, 2, 2, 1, 0]]
    )  # node 3 has no incoming edge, 1→0 is double
    x, edge = torch.randn(4, 3, dtype=torch.float64), torch.randn(7, 3, dtype=torch.float64)
    order = torch.argsort(edge_index[1])
    edge_index, edge = edge_index[:, order], edge[order]
    by_hand = gatv2_by_hand(layer, x, edge_index, edge)
    for ours, expected in zip(layer(x, Adjacency.of(edge_index, 4), edge), by_hand, strict=True):
        torch.testing.assert_close(ours, F.elu(expected), rtol=1e-12, atol=1e-12)


@torch.no_grad()
def test_the_network_is_its_layers_then_means_then_the_head():
    torch.manual_seed(2)
    network = DockQNet(*WIDTHS, **SHAPE).double().eval()
    graph = random_graph(4, nodes=5, edges=9)
    graph.x, graph.edge_attr = graph.x.double(), graph.edge_attr.double()
    x = graph.x @ network.embed_nodes.weight.T + network.embed_nodes.bias
    edge = graph.edge_attr @ network.embed_edges.weight.T + network.embed_edges.bias
    for layer in network.layers:
        x, edge = (F.elu(v) for v in gatv2_by_hand(layer, x, graph.edge_index, edge))
    pooled = edge.sum(dim=0) / 9 @ network.pooled_edges.weight.T + network.pooled_edges.bias
    score = torch.cat([x.sum(dim=0) / 5, pooled])
    first, second, last = network.head[0], network.head[2], network.head[4]
    score = (score @ first.weight.T + first.bias).clamp(min=0)
    score = (score @ second.weight.T + second.bias).clamp(min=0)
    score = float(score @ last.weight[0] + last.bias)
    assert float(scores(network, graph)) == pytest.approx(1 / (1 + math.exp(-score)), abs=1e-12)


# ---- local quality of edges and dropout -------------------------------------------------------------------


@pytest.fixture
def local() -> DockQNet:
    """With a column that says which edges are contacts."""
    torch.manual_seed(0)
    return DockQNet(*WIDTHS, **SHAPE, local=True, contact=1).eval()


@torch.no_grad()
def test_the_head_sees_the_mean_local_quality_of_all_edges_and_of_contacts(local, graphs):
    batch = batch_of([*graphs, random_graph(9, nodes=2, edges=0)])
    found = local.predictions(batch)
    seen, quality = found.pooled, torch.sigmoid(found.edge_logit)
    order = torch.argsort(batch.edge_index[1], stable=True)
    of, contact = batch.edge_graph[order], batch.edge_attr[order, 1] > 0
    for i in range(8):
        assert seen[i, -2] == pytest.approx(float(quality[of == i].mean()), abs=1e-6)
        assert seen[i, -1] == pytest.approx(float(quality[(of == i) & contact].mean()), abs=1e-6)
    assert seen[8, -2:].tolist() == [0, 0]
    assert torch.equal(found.local, seen[:, -2])
    assert torch.equal(found.score, local(batch))


def test_gradients_of_dockq_alone_reach_the_local_head_and_those_of_edges_the_layers(local, graphs):
    local.train()
    batch = batch_of(graphs)
    F.mse_loss(local(batch), torch.linspace(0, 1, 8)).backward()
    assert all(p.grad.abs().sum() > 0 for p in local.parameters())
    local.zero_grad()
    local.predictions(batch).edge_logit.sum().backward()
    reached = {name.split(".")[0] for name, p in local.named_parameters() if p.grad is not None and p.grad.any()}
    assert reached == {"embed_nodes", "embed_edges", "layers", "local_head"}


def test_local_quality_follows_the_order_of_nodes_and_edges(local, graphs):
    batch = batch_of(graphs)
    order = torch.randperm(batch.edge_index.shape[1], generator=torch.Generator().manual_seed(1))
    other = batch._replace(**{name: getattr(batch, name)[order] for name in ("edge_attr", "edge_graph")},
                           edge_index=batch.edge_index[:, order])  # fmt: skip
    with torch.no_grad():
        one, two = local.predictions(batch), local.predictions(other)
    assert close(one.local, two.local)
    assert close(one.edge_logit.sort().values, two.edge_logit.sort().values)


def test_dropout_of_the_head_is_for_training_alone(network, graphs):
    batch = batch_of(graphs)
    dropping = DockQNet(*WIDTHS, **{**SHAPE, "attention_dropout": 0.0}, dropout=0.5)
    dropping.load_state_dict(network.state_dict())
    with torch.no_grad():
        assert not close(dropping(batch), network(batch))
        assert torch.equal(dropping.eval()(batch), network(batch))


# ---- size and learning ------------------------------------------------------------------------------------


@pytest.mark.parametrize("widths", [(172, 11), (172, 24), (1, 1), (40, 2)])
def test_input_widths_come_from_the_data(widths):
    network = DockQNet(*widths, **SHAPE).eval()
    assert scores(network, random_graph(0, widths=widths)).shape == (1,)


def test_the_published_shape_has_70769_parameters():
    network = DockQNet(172, 11, **PUBLISHED)
    embeddings = (172 + 1) * 32 + (11 + 1) * 32
    attention = 2 * (32 + 1) * 256 + 32 * 256 + 8 * 32 + 32  # ends of an edge, the edge, attention vector, bias
    layer = attention + (3 * 32 + 1) * 32
    head = (32 + 1) * 16 + (32 + 16 + 1) * 64 + (64 + 1) * 64 + (64 + 1)
    assert embeddings + 2 * layer + head == 70_769
    assert sum(parameter.numel() for parameter in network.parameters()) == 70_769


def test_gradients_reach_every_parameter(network, graphs):
    network.train()
    F.mse_loss(network(batch_of(graphs)), torch.linspace(0, 1, 8)).backward()
    silent = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert silent == []


def test_it_learns_eight_random_graphs_by_heart():
    """Labels have nothing to do with the graphs: only a network whose every part works can fit them."""
    torch.manual_seed(0)
    graphs = [random_graph(seed, nodes=6, edges=14) for seed in range(8)]
    batch, labels = batch_of(graphs), torch.tensor([0.9, 0.1, 0.5, 0.3, 0.7, 0.05, 0.6, 0.2])
    network = DockQNet(*WIDTHS, hidden=16, heads=4, layers=2, attention_dropout=0.0, readout=16)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    losses = []
    for _ in range(300):
        optimizer.zero_grad()
        loss = F.mse_loss(network(batch), labels)
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
        if losses[-1] < 5e-4:
            break
    assert losses[0] > 0.05
    assert float(F.mse_loss(scores(network.eval(), *graphs), labels)) < 1e-3
