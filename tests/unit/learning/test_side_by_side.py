"""A batch that several processes compute: the same predictions and gradient as by one."""

from __future__ import annotations

import multiprocessing

import numpy as np
import pytest
import torch
from _synthetic import local_pack, small_run, training_graphs

from toporank.errors import TopoRankError
from toporank.learning.data import GraphStore
from toporank.learning.lightning import dockq_loss, local_loss
from toporank.learning.message_passing import with_message_passing
from toporank.learning.network import DockQNet
from toporank.learning.run import Run
from toporank.learning.side_by_side import shares, side_by_side
from toporank.learning.train import TrainingGraphs, train_run
from toporank.learning.weights import build_network

DROPOUT = 0.25


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> GraphStore:
    """Graphs whose edges have a local quality."""
    path = tmp_path_factory.mktemp("pack") / "graphs.safetensors"
    return GraphStore.open([local_pack(path, training_graphs())])


def network_of(store: GraphStore, dropout: float = 0.0) -> DockQNet:
    run = small_run(attention_dropout=dropout, local_weight=1.0)
    torch.manual_seed(0)
    network = build_network(
        store.node_width,
        store.edge_width,
        run.hyperparameters.model_dump(),
        store.metadata.get("features"),
    )
    return with_message_passing(network).train()


def gradient(network: DockQNet, store: GraphStore, graphs: list[int]) -> torch.Tensor:
    """Of the loss in training, of all weights in one row."""
    batch = store.batch(graphs)
    torch.manual_seed(1)
    network.zero_grad()
    found = network.predictions(batch)
    local = local_loss(found.edge_logit, batch.edge_y, batch.edge_graph, len(graphs))
    (dockq_loss("bce", found.score, batch.y) + local).backward()
    trained = [weights for weights in network.parameters() if weights.requires_grad]
    return torch.cat([weights.grad.flatten() for weights in trained])


@pytest.mark.parametrize("graphs", [[3, 1, 0, 5, 2], [4], [0, 0, 1]])
def test_processes_give_the_predictions_and_the_gradient_of_one(store, graphs):
    network = network_of(store)
    expected = gradient(network, store, graphs)
    predictions = network.predictions(store.batch(graphs))
    with side_by_side(network, store, 3):
        found = network.predictions(store.batch(graphs))
        torch.testing.assert_close(
            gradient(network, store, graphs), expected, rtol=1e-4, atol=1e-6
        )
    for value, other in zip(found, predictions, strict=True):
        torch.testing.assert_close(value, other, rtol=1e-5, atol=1e-6)
    assert gradient(network, store, graphs).equal(expected)  # one process again


def test_weights_that_an_optimiser_changed_are_those_of_all_processes(store):
    graphs = [0, 1, 2, 3]
    network = network_of(store)
    with side_by_side(network, store, 2):
        optimiser = torch.optim.SGD(network.parameters(), lr=0.5)
        gradient(network, store, graphs)
        optimiser.step()
        found = gradient(network, store, graphs)
    torch.testing.assert_close(
        found, gradient(network, store, graphs), rtol=1e-4, atol=1e-6
    )


def test_frozen_weights_have_no_gradient(store):
    network = network_of(store)
    network.embed_nodes.requires_grad_(False)
    expected = gradient(network, store, [0, 1, 2])
    with side_by_side(network, store, 2):
        found = gradient(network, store, [0, 1, 2])
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)
    assert network.embed_nodes.weight.grad is None


def test_the_same_number_of_processes_drops_the_same(store):
    network = network_of(store, DROPOUT)
    found = []
    for processes in (2, 2, 3):
        with side_by_side(network, store, processes):
            found.append(gradient(network, store, [0, 1, 2, 3]))
    assert found[0].equal(found[1])
    assert not torch.allclose(found[0], found[2])


def test_shares_are_in_order_and_have_about_as_many_edges(store):
    batch = store.batch([5, 3, 2, 0, 1, 4])
    assert shares(batch, 1) == [[5, 3, 2, 0, 1, 4]]
    assert np.concatenate(shares(batch, 4)).tolist() == [5, 3, 2, 0, 1, 4]
    assert shares(batch, 99) == [[5], [3], [2], [0], [1], [4]]


def test_a_process_that_was_killed_is_said_to_be(store):
    network = network_of(store)
    with side_by_side(network, store, 2):
        (started,) = multiprocessing.active_children()
        started.kill()
        started.join()
        with pytest.raises(TopoRankError, match="process of the training was killed"):
            gradient(network, store, [0, 1, 2])


def test_what_fails_in_a_process_fails_here(store):
    network = network_of(store)
    with side_by_side(network, store, 2), pytest.raises(IndexError):
        network.predictions(store.batch([0, 1])._replace(index=torch.tensor([0, 999])))


def test_a_run_with_two_threads_learns_what_one_with_one_does(tmp_path, store):
    def losses(threads: int) -> list[float]:
        run: Run = small_run(max_epochs=2, attention_dropout=0.0)
        path = tmp_path / "graphs.safetensors"
        if not path.exists():
            local_pack(path, training_graphs())
        folder = tmp_path / f"threads{threads}"
        train_run(run, TrainingGraphs([path]), threads, folder, tmp_path / str(threads))
        lines = (folder / "metrics.csv").read_text().splitlines()
        return [float(cell) for line in lines[1:] for cell in line.split(",") if cell]

    assert losses(2) == pytest.approx(losses(1), abs=1e-4)
