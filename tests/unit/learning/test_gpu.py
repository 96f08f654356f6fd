"""What trains on a GPU: the kernels, run by Triton's interpreter, and graphs that lie there."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import torch
from _synthetic import local_pack, random_graph, small_run, training_graphs
from test_network import batch_of

from messages import messages
from toporank.files.packfile import PackedGraphs
from toporank.learning import fit, resident
from toporank.learning.data import GraphStore
from toporank.learning.hardware import Hardware
from toporank.learning.kernels import fused
from toporank.learning.message_passing import PublishedNetwork, with_message_passing
from toporank.learning.network import Architecture, DockQNet, by_destination

pytest.importorskip("triton", reason="Triton comes with builds of PyTorch for CUDA")


@pytest.fixture
def as_on_gpu(monkeypatch):
    """Compute by the kernels, not by the loops of a CPU."""
    monkeypatch.setattr(fused, "can_fuse", lambda x: True)
    for module in ("network", "message_passing"):
        monkeypatch.setattr(f"toporank.learning.{module}.can_loop", lambda x: False)


def outcome(network: torch.nn.Module, batch) -> list[torch.Tensor]:
    """Scores, and the gradient of each weight of the network."""
    network.zero_grad()
    score = network(batch)
    (score**2).sum().backward()
    weights = [weight.grad.clone() for weight in network.parameters()]
    return [score.detach(), *weights]


@pytest.mark.parametrize(
    ("hidden", "heads", "edge_width"), [(32, 8, 42), (8, 2, 3), (40, 3, 20)]
)
def test_kernels_equal_pyg_forth_and_back(as_on_gpu, hidden, heads, edge_width):
    torch.manual_seed(0)
    shape = Architecture(hidden=hidden, heads=heads, layers=2, readout=8)
    ours = with_message_passing(DockQNet(5, edge_width, shape))
    graphs = [random_graph(seed, widths=(5, edge_width)) for seed in range(4)]
    graphs.append(random_graph(9, edges=0, widths=(5, edge_width)))
    batch = by_destination(batch_of(graphs))
    ours.fuse = False
    with patch.object(fused, "can_fuse", lambda x: False):
        expected = outcome(ours, batch)
    published = PublishedNetwork(ours)(batch).detach()
    ours.fuse = True
    with patch.object(
        fused._Attention, "apply", side_effect=fused._Attention.apply
    ) as called:
        found = outcome(ours, batch)
    assert called.call_count == 2
    torch.testing.assert_close(found[0], published, rtol=0, atol=1e-6)
    for one, other in zip(found, expected, strict=True):
        assert (one - other).abs().max() <= 1e-5 * max(1, other.abs().max())


def test_dropped_shares_are_those_that_dropout_draws(as_on_gpu):
    """With dropout, too, the gradient is that of the function: it is where it is 1e-2 away."""
    torch.manual_seed(0)
    shape = Architecture(hidden=8, heads=2, layers=1, readout=8, attention_dropout=0.5)
    network = with_message_passing(DockQNet(5, 3, shape))
    batch = by_destination(batch_of([random_graph(seed) for seed in range(3)]))
    weight = network.layers[0].attention.lin_l.weight

    def total(step: float) -> torch.Tensor:
        torch.manual_seed(1)
        with torch.no_grad():
            weight[0, 0] += step
        return network.predictions(batch).pooled.sum()

    network.zero_grad()
    total(0.0).backward()
    slope = weight.grad[0, 0].item()
    high, low = total(1e-2).item(), total(-2e-2).item()
    assert slope == pytest.approx((high - low) / 2e-2, abs=2e-3)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory) -> PackedGraphs:
    """Ten training graphs, whose last batch is smaller, and five for validation."""
    path = tmp_path_factory.mktemp("pack") / "graphs"
    return PackedGraphs.open(
        [local_pack(path, training_graphs(train=2, val=1, decoys=5))]
    )


def test_a_batch_that_is_cut_there_is_that_of_the_loader_with_padding(graphs):
    store = GraphStore.of(graphs)
    used = np.arange(2, len(store))
    there = resident.ResidentGraphs.load(store, used, torch.device("cpu"))
    chosen = [7, 0, 3, 11]
    expected = by_destination(store.batch(used[chosen].tolist()))
    n, e = len(expected.x), len(expected.edge_attr)
    batch = there.cut(torch.tensor([*chosen, -1]), n + 5, e + 3)
    edges = fused.sorted_edges(expected.edge_index, n)
    for name in ("x", "node_graph"):
        assert getattr(batch, name)[:n].equal(getattr(expected, name))
    for name in ("edge_attr", "edge_graph", "edge_y"):
        one, other = getattr(batch, name)[:e], getattr(expected, name)
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
    for name in ("source", "destination", "order"):
        assert getattr(batch.edge_index, name)[:e].equal(getattr(edges, name))
    for name in ("start", "source_start"):
        found = getattr(batch.edge_index, name)
        assert found[: n + 1].equal(getattr(edges, name))
        assert (found[n:] == e).all()
    assert batch.edge_index.n_edges.equal(edges.n_edges)
    assert batch.y[:4].equal(expected.y)
    assert (batch.node_graph[n:] == 5).all()
    assert (batch.edge_graph[e:] == 5).all()


@pytest.mark.parametrize("size", [1, 1024, 1025, 20_000, 489_000])
def test_padded_sizes_are_few_and_near(size):
    found = resident.padded(size)
    assert size <= found <= max(1024, size * 2**0.5 + 64)
    assert resident.padded(found) in (found, resident.padded(found + 1))


@pytest.mark.parametrize(
    "keys",
    [{}, {"accumulate": 1, "loss": "bce"}, {"local_weight": 1.0}],
    ids=["accumulated", "bce", "local"],
)
def test_an_epoch_there_is_that_of_the_cpu(
    tmp_path, graphs, as_on_gpu, monkeypatch, keys
):
    monkeypatch.setattr(resident, "LEAST_SIZE", 64)
    run = small_run(attention_dropout=0.0, max_epochs=1, **keys)
    tables = {}
    for name, kind in (
        ("cpu", fit.ScorerTraining),
        ("gpu", resident.ResidentTraining),
    ):
        folder = tmp_path / name
        folder.mkdir()
        with (
            patch.object(fused, "can_fuse", lambda x, there=name == "gpu": there),
            patch.object(fit, "_kind", lambda *_, kind=kind: kind),
        ):
            fit.fit(run, graphs, {}, folder, 1)
        tables[name] = fit.epoch_table(folder)
    pd.testing.assert_frame_equal(tables["gpu"], tables["cpu"], rtol=1e-3, atol=1e-5)


def test_a_loss_that_is_not_finite_stops_with_the_decoys_of_its_step(
    tmp_path: Path, graphs, as_on_gpu, monkeypatch
):
    monkeypatch.setattr(resident, "LEAST_SIZE", 64)
    monkeypatch.setattr(fit, "_kind", lambda *_: resident.ResidentTraining)
    run = small_run(learning_rate=1.0, max_epochs=2, accumulate=1)
    real = resident.dockq_loss

    def broken(name, predicted, dockq, reduction):
        errors = real(name, predicted, dockq, reduction)
        return torch.where(dockq == dockq[0], torch.nan, errors)

    with (
        patch.object(resident, "dockq_loss", broken),
        pytest.raises(fit.TrainingError, match="the training loss is not a finite"),
    ):
        fit.fit(run, graphs, {}, tmp_path, 1)


@pytest.mark.parametrize(("hardware", "reason"), messages("hardware"))
def test_what_recorded_steps_do_not_follow_is_trained_batch_by_batch(
    graphs, hardware, reason
):
    run = small_run()
    object.__setattr__(run, "hardware", Hardware(**hardware))
    said = resident.can_reside(run, torch.nn.Identity(), GraphStore.of(graphs))
    assert reason in said
