"""The network: its formula, its symmetries, its size; the loops equal PyTorch Geometric, forth and
back.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
import torch
from _synthetic import random_graph
from torch import nn
from torch.nn import functional as F
from torch_geometric.data import Data

from toporank.learning.data import GraphBatch
from toporank.learning.message_passing import PublishedNetwork, with_message_passing
from toporank.learning.network import (
    Architecture,
    DockQNet,
    EdgeAwareGATv2,
)

WIDTHS = (5, 3)
SHAPE = Architecture(hidden=8, heads=2, layers=2, readout=8, attention_dropout=0.25)
PUBLISHED = Architecture(
    hidden=32, heads=8, layers=2, readout=64, attention_dropout=0.25
)


def batch_of(graphs: list[Data]) -> GraphBatch:
    """A batch put together by hand."""
    sizes = torch.tensor([len(graph.x) for graph in graphs])
    offsets = sizes.cumsum(0) - sizes
    n_edges = torch.tensor([len(graph.edge_attr) for graph in graphs])
    place = torch.arange(len(graphs))
    return GraphBatch(
        x=torch.cat([graph.x for graph in graphs]),
        edge_index=torch.cat([graph.edge_index for graph in graphs], dim=1)
        + offsets.repeat_interleave(n_edges),
        edge_attr=torch.cat([graph.edge_attr for graph in graphs]),
        node_graph=place.repeat_interleave(sizes),
        edge_graph=place.repeat_interleave(n_edges),
        y=torch.full((len(graphs),), 0.5),
        index=place,
    )


@pytest.fixture
def network() -> DockQNet:
    torch.manual_seed(0)
    return DockQNet(*WIDTHS, SHAPE).eval()


@pytest.fixture
def graphs() -> list[Data]:
    return [random_graph(seed, dockq=0.5) for seed in range(8)]


@torch.no_grad()
def scores(network: DockQNet, *graphs: Data) -> torch.Tensor:
    return network(batch_of(list(graphs)))


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=0, atol=1e-6)


# ---- symmetries ----------------------------------------------------------------------------------


def test_graphs_have_different_scores(network, graphs):
    """Without this the tests of symmetry below would prove nothing."""
    found = scores(network, *graphs)
    assert found.shape == (8,)
    assert (found[:, None] - found[None] + torch.eye(8)).abs().min() > 1e-5


def test_a_score_does_not_depend_on_the_other_graphs_of_the_batch(network, graphs):
    alone = torch.cat([scores(network, graph) for graph in graphs])
    assert close(scores(network, *graphs), alone)
    assert close(scores(network, *graphs[::-1]), alone.flip(0))


@pytest.mark.parametrize("seed", range(5))
def test_a_score_does_not_depend_on_the_order_of_nodes(network, seed):
    graph = random_graph(seed)
    order = torch.randperm(len(graph.x), generator=torch.Generator().manual_seed(seed))
    new_number = torch.argsort(order)
    moved = Data(
        x=graph.x[order],
        edge_index=new_number[graph.edge_index],
        edge_attr=graph.edge_attr,
    )
    assert close(scores(network, moved), scores(network, graph))


def test_a_score_depends_on_nodes_on_edges_and_on_what_joins_what(network):
    graph = random_graph(3, nodes=6, edges=12)
    found = scores(network, graph)
    for change in (
        {"x": graph.x.flip(0)},
        {"edge_attr": graph.edge_attr.flip(0)},
        {"edge_index": graph.edge_index.flip(0)},
    ):
        parts = {
            name: graph[name] for name in ("x", "edge_index", "edge_attr")
        } | change
        assert (scores(network, Data(**parts)) - found).abs() > 1e-6, change.keys()


def test_a_graph_without_edges_has_a_score_of_its_own(network, graphs):
    bare = random_graph(9, edges=0)
    found = scores(network, graphs[0], bare, graphs[1])
    assert torch.isfinite(found).all()
    assert close(found[1:2], scores(network, bare))


# ---- the formula ---------------------------------------------------------------------------------


def gatv2_by_hand(layer: EdgeAwareGATv2, x, edge_index, edge):
    """One layer in plain loops: Brody, Alon & Yahav 2022, equation 7, with edges, heads averaged.

    Node i attends to the nodes j of its incoming edges; then every edge sees the new vectors of its
    ends.
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
            source = [
                a.lin_l.weight[rows] @ x[j] + a.lin_l.bias[rows] for _, j in incoming
            ]
            target = a.lin_r.weight[rows] @ x[i] + a.lin_r.bias[rows]
            raw = []
            for (e, _), s in zip(incoming, source, strict=True):
                z = s + target + a.lin_edge.weight[rows] @ edge[e]
                raw.append(
                    sum(
                        a.att[0, h, c] * (z[c] if z[c] > 0 else 0.2 * z[c])
                        for c in range(width)
                    )
                )
            weights = [math.exp(r) for r in raw]
            for weight, s in zip(weights, source, strict=True):
                result = result + weight / sum(weights) * s / heads
        new.append(result + a.bias)
    x = torch.stack(new)
    update = layer.edge_update
    edge = torch.stack(
        [
            update.weight @ torch.cat([x[j], x[i], edge[e]]) + update.bias
            for e, (j, i) in edges
        ]
    )
    return x, edge


@torch.no_grad()
def test_the_network_is_its_layers_then_means_then_the_head():
    network = filled(DockQNet(*WIDTHS, SHAPE)).double().eval()
    graph = random_graph(4, nodes=5, edges=9)
    graph.x, graph.edge_attr = graph.x.double(), graph.edge_attr.double()
    x = graph.x @ network.embed_nodes.weight.T + network.embed_nodes.bias
    edge = graph.edge_attr @ network.embed_edges.weight.T + network.embed_edges.bias
    for layer in network.layers:
        x, edge = map(F.elu, gatv2_by_hand(layer, x, graph.edge_index, edge))
    pooled = (
        edge.sum(dim=0) / 9 @ network.pooled_edges.weight.T + network.pooled_edges.bias
    )
    score = torch.cat([x.sum(dim=0) / 5, pooled])
    first, second, last = network.head[0], network.head[2], network.head[4]
    score = (score @ first.weight.T + first.bias).clamp(min=0)
    score = (score @ second.weight.T + second.bias).clamp(min=0)
    score = float(score @ last.weight[0] + last.bias)
    assert float(scores(network, graph)) == pytest.approx(
        1 / (1 + math.exp(-score)), abs=1e-12
    )


# ---- the loops against PyTorch Geometric ---------------------------------------------------------

HEADS = 4


def some_batch(n_edges: int = 1300, *, ordered: bool = True) -> GraphBatch:
    """Three graphs; more edges than fit in one tile, nodes without edges, and edges from a node to
    itself.
    """
    draw = torch.Generator().manual_seed(0)
    first, size = torch.tensor([0, 40, 43]), torch.tensor([40, 3, 60])
    graph = torch.randint(0, 3, (n_edges,), generator=draw).sort().values
    ends = (torch.rand(2, n_edges, generator=draw) * (size[graph] - 1)).long() + first[
        graph
    ]  # not to the last node
    if ordered:
        order = torch.argsort(ends[1], stable=True)
        ends, graph = ends[:, order], graph[order]
    return GraphBatch(
        x=torch.randn(103, WIDTHS[0], generator=draw),
        edge_index=ends,
        edge_attr=torch.randn(n_edges, WIDTHS[1], generator=draw),
        node_graph=torch.arange(3).repeat_interleave(size),
        edge_graph=graph,
        y=torch.rand(3, generator=draw),
        index=torch.arange(3),
    )


def filled(module: nn.Module) -> nn.Module:
    """With random weights everywhere: biases begin at zero, where a test sees nothing."""
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    return module


def new_network(dropout: float = 0.0) -> DockQNet:
    return filled(
        DockQNet(*WIDTHS, SHAPE._replace(heads=HEADS, attention_dropout=dropout))
    )


def outcome(
    network: nn.Module, batch: GraphBatch
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Scores and gradients of the loss, with the dropout of one seed."""
    torch.manual_seed(5)
    scores = network(batch)
    F.mse_loss(scores, batch.y).backward()
    gradients = {}
    for name, parameter in network.named_parameters():
        gradient, name = parameter.grad, name.removeprefix("network.")
        if gradient is not None:
            # The published network has an edge update for each head; ours is their mean.
            published = (
                ".edge_update." in name and len(gradient) == HEADS * SHAPE.hidden
            )
            gradients[name] = (
                gradient.unflatten(0, (HEADS, -1)).sum(0) if published else gradient
            )
    return scores.detach(), gradients


def assert_same(one, other, tolerance: float) -> None:
    torch.testing.assert_close(one[0], other[0], rtol=0, atol=tolerance)
    assert one[1].keys() == other[1].keys()
    for name, gradient in other[1].items():
        torch.testing.assert_close(
            one[1][name],
            gradient,
            rtol=0,
            atol=tolerance,
            msg=lambda m, n=name: f"{n}: {m}",
        )


@pytest.mark.parametrize("n_edges", [0, 1, 511, 512, 1300])
@pytest.mark.parametrize("dropout", [0.0, 0.25])
def test_the_network_is_the_published_one_in_value_and_gradient(n_edges, dropout):
    batch = some_batch(n_edges)
    expected = outcome(PublishedNetwork(new_network(dropout)), batch)
    assert_same(outcome(new_network(dropout), batch), expected, 1e-6)
    assert_same(
        outcome(with_message_passing(new_network(dropout)), batch), expected, 1e-6
    )


def test_in_double_precision_nothing_but_rounding_is_left():
    batch = some_batch()
    batch = batch._replace(
        x=batch.x.double(), edge_attr=batch.edge_attr.double(), y=batch.y.double()
    )
    networks = new_network(0.25), PublishedNetwork(new_network(0.25))
    assert_same(*[outcome(network.double(), batch) for network in networks], 1e-13)


def test_the_order_of_edges_does_not_matter_and_scores_far_apart_do_not_overflow():
    networks = new_network(), PublishedNetwork(new_network())
    assert_same(
        *[outcome(network, some_batch(ordered=False)) for network in networks], 1e-6
    )
    for network in networks:
        network.zero_grad()
        network.layers[0].attention.att.data *= 1e4
    (scores, gradients), (expected, _) = [
        outcome(network, some_batch()) for network in networks
    ]
    assert all(value.isfinite().all() for value in [scores, *gradients.values()])
    torch.testing.assert_close(scores, expected, rtol=0, atol=1e-5)


def test_what_is_not_a_number_stays_visible():
    batch = some_batch()
    batch.x[50] = float("nan")
    assert torch.isnan(new_network()(batch)).tolist() == [False, False, True]


@pytest.mark.parametrize("dropout", [0.0, 0.25])
def test_without_the_loops_it_is_the_same(monkeypatch, dropout):
    """As on a GPU, and within torch.compile."""
    expected = outcome(new_network(dropout), some_batch())
    for module in ("network", "message_passing"):
        monkeypatch.setattr(f"toporank.learning.{module}.can_loop", lambda x: False)
    assert_same(
        outcome(with_message_passing(new_network(dropout)), some_batch()),
        expected,
        1e-6,
    )


def test_pyg_leaves_no_file_of_the_code_that_it_makes():
    _ = with_message_passing(new_network()), PublishedNetwork(new_network())
    made = [sys.modules[name] for name in [*sys.modules] if "GATv2Conv_" in name]
    assert len(made) == 4
    assert not any(Path(module.__file__).exists() for module in made)


def test_bfloat16_agrees_with_single_precision_to_its_eight_bits():
    """`precision: bf16-mixed`; scores and gradients themselves are of single precision."""
    scores, gradients = outcome(with_message_passing(new_network()), some_batch())
    with torch.autocast("cpu", torch.bfloat16):
        rounded_scores, rounded_gradients = outcome(
            with_message_passing(new_network()), some_batch()
        )
    apart = (rounded_scores - scores).abs().max()
    assert 0 < apart < 2**-8
    assert rounded_scores.argsort().tolist() == scores.argsort().tolist()
    assert {value.dtype for value in [rounded_scores, *rounded_gradients.values()]} == {
        torch.float32
    }
    whole = torch.cat([gradient.flatten() for gradient in gradients.values()])
    rounded = torch.cat([gradient.flatten() for gradient in rounded_gradients.values()])
    assert (rounded - whole).norm() < 4 * 2**-8 * whole.norm()


def test_gradients_are_the_same_bits_every_time_and_with_two_threads_but_for_rounding():
    first, second = (outcome(new_network(0.25), some_batch()) for _ in range(2))
    assert_same(first, second, 0)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        assert_same(outcome(new_network(0.25), some_batch()), first, 1e-6)
    finally:
        torch.set_num_threads(before)


def test_layers_that_are_computed_again_give_the_same_bits_and_keep_less():
    results = []
    for recompute in (False, True):
        network = new_network(0.5).train()
        network.recompute = recompute
        kept = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t, kept=kept: kept.append(t.nbytes) or t, lambda t: t
        ):
            torch.manual_seed(4)
            loss = network(some_batch()).square().sum()
        loss.backward()
        results.append(
            (loss, sum(kept), [weight.grad for weight in network.parameters()])
        )
    (loss, kept, gradients), (loss_again, kept_again, gradients_again) = results
    assert torch.equal(loss, loss_again)
    assert all(
        torch.equal(a, b) for a, b in zip(gradients, gradients_again, strict=True)
    )
    assert kept_again < kept / 2


# ---- local quality of edges and dropout ----------------------------------------------------------


@pytest.fixture
def local() -> DockQNet:
    """With a column that says which edges are contacts."""
    torch.manual_seed(0)
    return DockQNet(*WIDTHS, SHAPE._replace(local=True), contact=1).eval()


@torch.no_grad()
def test_the_head_sees_the_mean_local_quality_of_all_edges_and_of_contacts(
    local, graphs
):
    batch = batch_of([*graphs, random_graph(9, nodes=2, edges=0)])
    found = local.predictions(batch)
    seen, quality = found.pooled, torch.sigmoid(found.edge_logit)
    order = torch.argsort(batch.edge_index[1], stable=True)
    of, contact = batch.edge_graph[order], batch.edge_attr[order, 1] > 0
    for i in range(8):
        assert seen[i, -2] == pytest.approx(float(quality[of == i].mean()), abs=1e-6)
        assert seen[i, -1] == pytest.approx(
            float(quality[(of == i) & contact].mean()), abs=1e-6
        )
    assert seen[8, -2:].tolist() == [0, 0]
    assert torch.equal(found.local, seen[:, -2])
    assert torch.equal(found.score, local(batch))


def test_gradients_of_dockq_alone_reach_the_local_head_and_those_of_edges_the_layers(
    local, graphs
):
    local.train()
    batch = batch_of(graphs)
    F.mse_loss(local(batch), torch.linspace(0, 1, 8)).backward()
    assert all(p.grad.abs().sum() > 0 for p in local.parameters())
    local.zero_grad()
    local.predictions(batch).edge_logit.sum().backward()
    reached = {
        name.split(".")[0]
        for name, p in local.named_parameters()
        if p.grad is not None and p.grad.any()
    }
    assert reached == {"embed_nodes", "embed_edges", "layers", "local_head"}


def test_local_quality_follows_the_order_of_nodes_and_edges(local, graphs):
    batch = batch_of(graphs)
    order = torch.randperm(
        batch.edge_index.shape[1], generator=torch.Generator().manual_seed(1)
    )
    other = batch._replace(**{name: getattr(batch, name)[order] for name in ("edge_attr", "edge_graph")},
                           edge_index=batch.edge_index[:, order])  # fmt: skip
    with torch.no_grad():
        one, two = local.predictions(batch), local.predictions(other)
    assert close(one.local, two.local)
    assert close(one.edge_logit.sort().values, two.edge_logit.sort().values)


def test_dropout_of_the_head_is_for_training_alone(network, graphs):
    batch = batch_of(graphs)
    dropping = DockQNet(*WIDTHS, SHAPE._replace(attention_dropout=0.0, dropout=0.5))
    dropping.load_state_dict(network.state_dict())
    with torch.no_grad():
        assert not close(dropping(batch), network(batch))
        assert torch.equal(dropping.eval()(batch), network(batch))


# ---- size and learning ---------------------------------------------------------------------------


def test_the_published_shape_has_70769_parameters():
    network = DockQNet(172, 11, PUBLISHED)
    embeddings = (172 + 1) * 32 + (11 + 1) * 32
    attention = (
        2 * (32 + 1) * 256 + 32 * 256 + 8 * 32 + 32
    )  # ends of an edge, the edge, attention vector, bias
    layer = attention + (3 * 32 + 1) * 32
    head = (32 + 1) * 16 + (32 + 16 + 1) * 64 + (64 + 1) * 64 + (64 + 1)
    assert embeddings + 2 * layer + head == 70_769
    assert sum(parameter.numel() for parameter in network.parameters()) == 70_769
