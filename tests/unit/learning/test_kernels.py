"""Attention and edge update: the same numbers as PyTorch Geometric and plain torch, forth and back."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from toporank.learning.graphs import GraphBatch
from toporank.learning.kernels import attention
from toporank.learning.kernels.attention import Adjacency, attend, join
from toporank.learning.network import DockQNet
from toporank.learning.topoqa.pyg_network import PlainNetwork

WIDTHS, HIDDEN, HEADS = (6, 3), 8, 4
SHAPE = {"hidden": HIDDEN, "heads": HEADS, "layers": 2, "readout": 8}


def some_batch(n_edges: int = 1300, *, seed: int = 0, ordered: bool = True) -> GraphBatch:
    """Three graphs; more edges than fit in one tile, nodes without edges, and edges from a node to itself."""
    draw = torch.Generator().manual_seed(seed)
    graph_of_node = torch.tensor([0] * 40 + [1] * 3 + [2] * 60)
    first, size = torch.tensor([0, 40, 43]), torch.tensor([40, 3, 60])
    graph = torch.randint(0, 3, (n_edges,), generator=draw).sort().values
    ends = (torch.rand(2, n_edges, generator=draw) * (size[graph] - 1)).long() + first[graph]  # not to the last node
    if ordered:
        order = torch.argsort(ends[1], stable=True)
        ends, graph = ends[:, order], graph[order]
    return GraphBatch(
        x=torch.randn(103, WIDTHS[0], generator=draw), edge_index=ends,
        edge_attr=torch.randn(n_edges, WIDTHS[1], generator=draw), node_graph=graph_of_node, edge_graph=graph,
        y=torch.rand(3, generator=draw), index=torch.arange(3),
    )  # fmt: skip


def double(batch: GraphBatch) -> GraphBatch:
    return batch._replace(x=batch.x.double(), edge_attr=batch.edge_attr.double(), y=batch.y.double())


def both(dropout: float = 0.0) -> tuple[DockQNet, DockQNet]:
    """Ours and the plain network, with the same weights."""
    torch.manual_seed(0)
    ours = DockQNet(*WIDTHS, **SHAPE, attention_dropout=dropout)
    for parameter in ours.parameters():  # biases begin at zero, where a test sees nothing
        nn.init.normal_(parameter, std=0.3)
    return ours, PlainNetwork.of(ours)


def outcome(network: DockQNet, batch: GraphBatch) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Scores and gradients of the loss, with the dropout of one seed."""
    torch.manual_seed(5)
    scores = network(batch)
    F.mse_loss(scores, batch.y).backward()
    return scores.detach(), {name: per_network(name, p.grad) for name, p in network.named_parameters()}


def per_network(name: str, gradient: torch.Tensor) -> torch.Tensor:
    """The plain network has an edge update for each head; ours is their mean."""
    if ".edge_update." in name and len(gradient) == HEADS * HIDDEN:
        return gradient.view(HEADS, HIDDEN, *gradient.shape[1:]).sum(0)
    return gradient


def assert_same(one, other, tolerance: float) -> None:
    torch.testing.assert_close(one[0], other[0], rtol=0, atol=tolerance)
    for name, gradient in other[1].items():
        torch.testing.assert_close(one[1][name], gradient, rtol=0, atol=tolerance, msg=lambda m, n=name: f"{n}: {m}")


# ---- against PyTorch Geometric ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_edges", [0, 1, 511, 512, 1300])
@pytest.mark.parametrize("dropout", [0.0, 0.25])
def test_the_network_is_the_plain_one_in_value_and_gradient(n_edges, dropout):
    ours, plain = both(dropout)
    batch = some_batch(n_edges)
    assert_same(outcome(ours, batch), outcome(plain, batch), 1e-6)


@pytest.mark.parametrize("dropout", [0.0, 0.25])
def test_in_double_precision_nothing_but_rounding_is_left(dropout):
    ours, plain = (network.double() for network in both(dropout))
    assert_same(outcome(ours, double(some_batch())), outcome(plain, double(some_batch())), 1e-13)


def test_the_order_of_edges_does_not_matter():
    ours, plain = both()
    assert_same(outcome(ours, some_batch(ordered=False)), outcome(plain, some_batch(ordered=False)), 1e-6)


def test_scores_far_apart_do_not_overflow():
    ours, plain = both()
    batch = some_batch()
    for network in (ours, plain):
        network.layers[0].attention.att.data *= 1e4
    scores, gradients = outcome(ours, batch)
    assert torch.isfinite(scores).all()
    assert all(torch.isfinite(gradient).all() for gradient in gradients.values())
    torch.testing.assert_close(scores, outcome(plain, batch)[0], rtol=0, atol=1e-5)


def test_what_is_not_a_number_stays_visible():
    ours, _ = both()
    batch = some_batch()
    batch.x[50] = float("nan")
    assert torch.isnan(ours(batch)).tolist() == [False, False, True]


# ---- the way back, and the other way forth ----------------------------------------------------------------


def operands(keep: bool):
    """Small double-precision arguments of `attend` that want gradients."""
    draw = torch.Generator().manual_seed(3)
    edge_index = torch.tensor([[1, 2, 0, 2, 0, 1, 3], [0, 0, 1, 1, 2, 2, 2]])
    make = lambda *shape: torch.randn(*shape, generator=draw, dtype=torch.float64, requires_grad=True)  # noqa: E731
    x, source, destination = make(4, 3), (make(6, 3), make(6)), (make(6, 3), make(6))
    factors = torch.rand(7, 2, generator=draw, dtype=torch.float64) if keep else None
    return x, source, destination, make(7, 2), make(6, 2), make(2, 3), factors, Adjacency.of(edge_index, 4)


@pytest.mark.parametrize("keep", [False, True])
def test_the_gradient_of_attention_is_that_of_finite_differences(keep):
    x, source, destination, edge, weight, att, factors, adjacency = operands(keep)

    def function(x, ws, bs, wd, bd, edge, weight, att):
        return attend(x, (ws, bs), (wd, bd), edge, weight, att, factors, adjacency)

    assert torch.autograd.gradcheck(function, (x, *source, *destination, edge, weight, att))


def test_the_gradient_of_the_edge_update_is_that_of_finite_differences():
    x, *_, edge, _, _, _, adjacency = operands(False)
    draw = torch.Generator().manual_seed(4)
    other = torch.randn(4, 3, generator=draw, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(3, 2, generator=draw, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *given: join(*given, adjacency), (x, other, edge, weight))


@pytest.mark.parametrize("dropout", [0.0, 0.25])
def test_without_compiled_loops_it_is_the_same(monkeypatch, dropout):
    """As on a GPU, and within torch.compile."""
    ours, plain = both(dropout)
    expected = outcome(plain, some_batch())
    monkeypatch.setattr(attention, "_by_loops", lambda tensor: False)
    assert_same(outcome(ours, some_batch()), expected, 1e-6)


def test_gradients_are_the_same_bits_every_time():
    first, second = (outcome(both(0.25)[0], some_batch()) for _ in range(2))
    assert torch.equal(first[0], second[0])
    assert all(torch.equal(gradient, second[1][name]) for name, gradient in first[1].items())


def test_two_threads_differ_from_one_by_rounding_alone():
    before = torch.get_num_threads()
    try:
        outcomes = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            outcomes.append(outcome(both(0.25)[0], some_batch()))
    finally:
        torch.set_num_threads(before)
    assert_same(*outcomes, 1e-6)


# ---- where there are no loops -----------------------------------------------------------------------------


def test_torch_operations_in_bfloat16_agree_with_single_precision_to_its_eight_bits(monkeypatch):
    """As on a GPU with `precision: bf16-mixed`; scores and gradients themselves are of single precision."""
    monkeypatch.setattr(attention, "_by_loops", lambda tensor: False)
    batch = some_batch()
    scores, gradients = outcome(both()[0], batch)
    with torch.autocast("cpu", torch.bfloat16):
        rounded_scores, rounded_gradients = outcome(both()[0], batch)
    apart = (rounded_scores - scores).abs().max()
    assert 0 < apart < 2**-8
    assert rounded_scores.argsort().tolist() == scores.argsort().tolist()
    assert {value.dtype for value in [rounded_scores, *rounded_gradients.values()]} == {torch.float32}
    whole, rounded = (torch.cat([g.flatten() for g in found.values()]) for found in (gradients, rounded_gradients))
    assert (rounded - whole).norm() < 4 * 2**-8 * whole.norm()
