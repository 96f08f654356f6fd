"""The order of epochs, the losses, and scaling by the training set on its way into the checkpoint
and out again.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from _synthetic import (
    METADATA,
    labelled,
    members,
    packed,
    random_graph,
    small_run,
    training_graphs,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from messages import messages
from toporank.building.packing import write_pack
from toporank.errors import ConfigError
from toporank.features.registry import choose, modules
from toporank.learning.data import (
    GraphStore,
    Standardise,
    balanced,
    cluster_levels,
    epoch_order,
    statistics,
)
from toporank.learning.hyperparameters import Hyperparameters, SweepConfig
from toporank.learning.lightning import dockq_loss, local_loss
from toporank.learning.shapes import is_scaled
from toporank.learning.train import TrainingGraphs, train_run
from toporank.learning.weights import load_weights
from toporank.settings import checked

# ---- the order of an epoch -----------------------------------------------------------------------

TARGETS = np.repeat(["A", "B", "C", "D"], [30, 6, 3, 1])
INDICES = np.arange(40)[::-1].copy()
LEVELS = {
    "shuffle": [],
    "cluster_balanced": cluster_levels(
        TARGETS[INDICES], {"A": "A", "B": "A", "C": "A", "D": "D"}
    ),
}


def epochs(kind: str, seed: int = 1, n: int = 3) -> list[list[int]]:
    """The graphs of the first epochs."""
    return [
        epoch_order(INDICES, LEVELS[kind], seed, epoch).tolist() for epoch in range(n)
    ]


@pytest.mark.parametrize("kind", LEVELS)
def test_an_epoch_depends_on_seed_and_epoch_alone_and_all_decoys_are_seen(kind):
    first = epochs(kind)
    assert first == epochs(kind)
    assert first[0] != first[1] != first[2]
    assert first != epochs(kind, seed=2)
    assert [len(epoch) for epoch in first] == [len(INDICES)] * 3
    assert {i for epoch in epochs(kind, n=20) for i in epoch} == set(INDICES.tolist())


def test_every_cluster_is_drawn_equally_often_and_so_is_every_target_in_it():
    for epoch in epochs("cluster_balanced"):
        drawn = Counter(TARGETS[epoch])
        assert drawn["D"] == 20
        assert sorted(drawn[target] for target in "ABC") == [6, 7, 7]


def test_targets_of_a_cluster_with_fewer_draws_than_targets_take_turns():
    cluster, target = np.repeat([0, 1], 8), np.arange(16)
    cluster[8:] = np.arange(1, 9)
    draws = [
        balanced([cluster, target], np.random.default_rng(seed)) for seed in range(40)
    ]
    assert {len(rows) for rows in draws} == {16}
    assert {(rows < 8).sum() for rows in draws} <= {1, 2}
    assert {row for rows in draws for row in rows.tolist()} == set(range(16))


def test_draws_of_a_group_take_turns_and_the_spare_ones_are_not_always_of_the_same_groups():
    """Ten rows of three groups: one group is drawn four times, each group in some epoch."""
    groups = np.repeat([0, 1, 2], [4, 3, 3])
    favoured = set()
    for seed in range(30):
        rows = Counter(balanced([groups], np.random.default_rng(seed)).tolist())
        of_group = Counter(groups[list(rows.elements())].tolist())
        assert sorted(of_group.values()) == [3, 3, 4]
        favoured.add(of_group.most_common(1)[0][0])
        for group in range(3):
            counts = [rows[row] for row in np.flatnonzero(groups == group)]
            assert max(counts) - min(counts) <= 1
    assert favoured == {0, 1, 2}


# ---- losses --------------------------------------------------------------------------------------

Y = torch.tensor([0.9, 0.5, 0.1, 0.8, 0.2])
P = torch.tensor([0.7, 0.6, 0.2, 0.1, 0.3])


def test_losses_follow_their_formula_and_are_least_where_the_prediction_is_right():
    assert float(dockq_loss("mse", P, Y)) == pytest.approx(float(((P - Y) ** 2).mean()))
    expected = -(Y * P.log() + (1 - Y) * (1 - P).log()).mean()
    assert float(dockq_loss("bce", P, Y)) == pytest.approx(float(expected))
    scores = torch.linspace(0.01, 0.99, 99)
    for name in ("mse", "bce"):
        losses = torch.stack(
            [dockq_loss(name, score[None], torch.tensor([0.3])) for score in scores]
        )
        assert float(scores[losses.argmin()]) == pytest.approx(0.3)
        assert not dockq_loss(name, torch.tensor([math.nan, 0.5]), Y[:2]).isfinite()


def test_cross_entropy_of_a_certain_and_wrong_score_is_large_and_finite():
    losses = [
        float(dockq_loss("bce", torch.tensor([p]), torch.tensor([1 - p])))
        for p in (0.0, 1.0)
    ]
    # of single precision
    assert losses == pytest.approx([126 * math.log(2), 24 * math.log(2)])


@pytest.mark.parametrize("logit", [-110.0, 17.0, 40.0])
@pytest.mark.parametrize("dockq", [0.0, 0.5, 1.0])
def test_gradients_of_the_cross_entropy_of_a_certain_score_are_numbers(logit, dockq):
    logits = torch.tensor([logit, 0.0], requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        dockq_loss("bce", torch.sigmoid(logits), torch.full((2,), dockq)).backward()
    assert logits.grad.isfinite().all()
    assert logits.grad[1] == pytest.approx((0.5 - dockq) / 2)


def test_the_local_loss_is_a_mean_over_graphs_of_the_edges_that_have_a_native():
    q, y = (
        torch.tensor([0.8, 0.3, 0.5, 0.9, 0.6]),
        torch.tensor([1.0, 0.25, math.nan, 0.0, math.nan]),
    )
    logit = torch.logit(q).requires_grad_()
    loss = local_loss(logit, y, torch.tensor([0, 0, 0, 1, 2]), 3)
    of_graphs = [
        float(dockq_loss("bce", q[:2], y[:2])),
        float(dockq_loss("bce", q[3:4], y[3:4])),
    ]
    assert float(loss.detach()) == pytest.approx(np.mean(of_graphs), rel=1e-5)
    loss.backward()
    assert logit.grad.isfinite().all()
    assert (logit.grad != 0).tolist() == [True, True, False, True, False]
    assert (
        local_loss(
            logit, torch.full((5,), math.nan), torch.zeros(5, dtype=torch.int64), 1
        )
        is None
    )


@pytest.mark.parametrize(("keys", "message"), messages("packs"))
def test_an_impossible_or_former_choice_is_refused_with_what_to_do(keys, message):
    with pytest.raises(ConfigError, match=message):
        checked(SweepConfig, {"name": "x", **keys}, where="training.sweep.configs")


def test_a_weight_above_zero_makes_a_network_predict_local_quality():
    assert not Hyperparameters().local
    assert Hyperparameters(local_weight=0.1).local


SCALED = {
    **METADATA,
    "features": {
        **METADATA["features"],
        "nodes": {"module": "nodes/dssp_topology/v1", "scaling": "training_set"},
        "edges": {"module": "edges/contacts/v1", "scaling": "training_set"},
    },
}
NODES_ONLY = {
    **METADATA,
    "features": {**SCALED["features"], "edges": {"module": "edges/legacy_v11"}},
}
BUFFERS = {
    f"scale_{part}.{name}" for part in ("nodes", "edges") for name in ("mean", "sd")
}


def pack(path: Path, metadata, seed: int = 0) -> Path:
    """Graphs whose columns have sizes of their own."""
    graphs = training_graphs(seed=seed, metadata=metadata)
    for graph in graphs.values():
        graph.x = graph.x * torch.tensor([1.0, 100.0, 0.01, 5.0, 1.0]) + torch.tensor(
            [0.0, 300.0, 0.0, -5.0, 1.0]
        )
        graph.edge_attr = graph.edge_attr * 7 + 40
    return packed(path, graphs)


def train(folder: Path, *packs: Path, parent: Path | None = None, **other) -> Path:
    train_run(
        small_run(parent=parent, max_epochs=2, **other),
        TrainingGraphs(list(packs)),
        1,
        folder,
        folder.parent / "store",
    )
    return folder / "best_loss.ckpt"


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[Path, Path]:
    """A pack of graphs to be scaled, and a checkpoint trained on it."""
    folder = tmp_path_factory.mktemp("scaled")
    graphs = pack(folder / "graphs.safetensors", SCALED)
    return graphs, train(folder / "run", graphs)


# ---- statistics ----------------------------------------------------------------------------------


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(sum),
)
def test_statistics_are_those_of_all_rows_however_they_come(seed, sizes):
    rows = np.random.default_rng(seed).normal(
        [0, 50, 1e4], [1, 0.1, 300], size=(sum(sizes) + 1, 3)
    )
    tables = torch.from_numpy(rows).split([*sizes, 1])
    mean, sd = statistics(tables)
    assert mean.dtype == sd.dtype == torch.float32
    np.testing.assert_allclose(mean, rows.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(sd, rows.std(axis=0), rtol=1e-5)


def test_yes_and_no_stay_and_a_constant_becomes_zero():
    values = torch.tensor([[0.0, 1.0, 0.0, 7.0, 0.5], [1.0, 1.0, 0.0, 7.0, 1.0]])
    scale = Standardise(5)
    scale.mean, scale.sd = statistics([values])
    assert scale.mean.tolist() == [0, 0, 0, 7, 0.75]
    assert scale.sd.tolist() == [1, 1, 1, 1, 0.25]
    assert scale(torch.tensor([[1.0, 0.0, 1.0, 9.0, 0.5]])).tolist() == [
        [1, 0, 1, 2, -1]
    ]


def test_a_column_that_is_constant_but_for_rounding_is_constant():
    _, sd = statistics([torch.tensor([[1e6], [1e6 + 0.0625]])])
    assert sd.tolist() == [1.0]


# ---- which features ------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["nodes", "edges"])
def test_every_module_of_nodes_and_edges_can_leave_scaling_to_the_training_set(stage):
    for module in (m for m in modules().values() if m.stage == stage):
        for scaling in ("per_decoy", "training_set", "none"):
            record = choose(stage, {"module": module.id, "scaling": scaling}).record()
            assert is_scaled({stage: record}, stage) == (scaling == "training_set")


def test_graphs_of_another_pipeline_are_scaled_since_they_may_have_any_scale():
    assert is_scaled(None, "nodes")
    assert is_scaled(None, "edges")


# ---- in a checkpoint -----------------------------------------------------------------------------


def test_a_checkpoint_carries_the_statistics_of_the_training_split(trained):
    path, checkpoint = trained
    network, description = load_weights(checkpoint)
    store = GraphStore.open([path])
    train = store.batch(store.decoys.index[store.decoys["split"] == "train"].tolist())
    every = store.batch(list(range(len(store))))
    for scale, values, all_values in (
        (network.scale_nodes, train.x, every.x),
        (network.scale_edges, train.edge_attr, every.edge_attr),
    ):
        np.testing.assert_allclose(scale.mean, values.double().mean(0), rtol=1e-5)
        np.testing.assert_allclose(
            scale.sd, values.double().std(0, correction=0), rtol=1e-5
        )
        assert not np.allclose(scale.mean, all_values.mean(0), rtol=1e-3)
    assert (
        description["features"]["nodes"]["scaling"]
        == description["features"]["edges"]["scaling"]
        == "training_set"
    )
    assert set(network.state_dict()) >= BUFFERS


def test_graphs_without_label_have_no_part_in_the_statistics(tmp_path, trained):
    graphs = {("T0", "extra", "train"): random_graph(1, metadata=SCALED)}
    for decoy in range(3):
        graphs |= {("T0", f"d{decoy}", "train"): labelled(decoy, metadata=SCALED),
                   ("V0", f"d{decoy}", "val"): labelled(9 + decoy, metadata=SCALED)}  # fmt: skip
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    network, _ = load_weights(train(tmp_path / "run", tmp_path / "pack"))
    x = torch.cat([graphs["T0", f"d{d}", "train"].x for d in range(3)])
    np.testing.assert_allclose(network.scale_nodes.mean, x.mean(0), rtol=1e-4)


def test_nodes_and_edges_are_scaled_each_for_itself(tmp_path):
    for name, metadata, expected in (
        ("one", NODES_ONLY, {"scale_nodes.mean", "scale_nodes.sd"}),
        ("none", METADATA, set()),
    ):
        network, _ = load_weights(
            train(tmp_path / name, pack(tmp_path / f"{name}_graphs", metadata))
        )
        assert BUFFERS & set(network.state_dict()) == expected


def test_a_fine_tuned_network_keeps_the_statistics_of_its_parent(tmp_path, trained):
    """Whatever it is fine-tuned on: its weights were learnt on features scaled by these."""
    other = pack(tmp_path / "other", SCALED, seed=5)
    child, _ = load_weights(
        train(tmp_path / "child", other, parent=trained[1], name="child")
    )
    parent, _ = load_weights(trained[1])
    fresh, _ = load_weights(train(tmp_path / "fresh", other, name="fresh"))
    for name in BUFFERS:
        assert torch.equal(child.state_dict()[name], parent.state_dict()[name])
        assert not torch.equal(fresh.state_dict()[name], parent.state_dict()[name])
    assert not torch.equal(child.embed_nodes.weight, parent.embed_nodes.weight)
