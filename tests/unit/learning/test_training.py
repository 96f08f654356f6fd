"""A training run: what it leaves behind, what it repeats exactly, and how it goes on after an interruption."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from _chains import chain
from _synthetic import (
    METADATA,
    SMALL,
    local_pack,
    members,
    predict,
    random_graph,
    small_run,
    training_graphs,
    training_pack,
)
from pytorch_lightning.callbacks import Callback
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch_geometric.data import Data

from toporank.building.packing import write_pack
from toporank.comparing.homology.chain_tables import Chain, write_chains
from toporank.errors import CheckpointError, ConfigError, TrainingError
from toporank.learning import fit
from toporank.learning import train as training
from toporank.learning.checkpoint import read_description
from toporank.learning.data import training_batches, validation_batches
from toporank.learning.graphs import GraphStore
from toporank.learning.hyperparameters import Schedule
from toporank.learning.lightning import Scorer
from toporank.learning.run import Run
from toporank.learning.splits import fingerprint, open_graphs, split_indices
from toporank.learning.train import train_run
from toporank.learning.weights import load_weights, predict_all

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*"),
    pytest.mark.filterwarnings("ignore:.*weights_only.*"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.*"),
]

CHECKPOINTS = {"best_loss": "val_loss", "best_selection": "val_selection", "best_ranking": "val_ranking_loss"}
FILES = sorted([*(f"{name}.ckpt" for name in CHECKPOINTS), "config.yaml", "last.ckpt", "metrics.csv", "summary.json"])
STORE = Path("store")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fit, "provenance", lambda: {"versions": {}, "git": "of a test"})  # may change while tests run


@pytest.fixture(scope="module")
def pack(tmp_path_factory) -> Path:
    """Three training and two validation targets with six labelled decoys each."""
    return training_pack(tmp_path_factory.mktemp("pack") / "graphs.safetensors")


def train(run: Run, *packs: Path, output: str | None = None) -> Path:
    """Train below the working directory; the folder of the run."""
    folder = Path(output or run.name)
    train_run(run, list(packs), 1, folder, STORE)
    return folder


def metrics(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "metrics.csv", float_precision="round_trip")  # pandas 2 reads nearly the number


def weights(path: Path) -> dict[str, torch.Tensor]:
    return torch.load(path, weights_only=True)["state_dict"]


def same_weights(one: Path, other: Path) -> bool:
    a, b = weights(one), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


class Interrupted(Exception):
    """Stands for a power cut."""


@pytest.fixture
def interrupt(monkeypatch) -> Callable[[str, int], None]:
    """A function after which training stops with an exception at a hook of an epoch, once."""

    def at(hook: str, epoch: int) -> None:
        build = fit._trainer

        def stop(_, trainer, *rest):
            if trainer.current_epoch == epoch:
                monkeypatch.setattr(fit, "_trainer", build)
                raise Interrupted

        def interrupted(*args):
            trainer = build(*args)
            trainer.callbacks.append(type("PowerCut", (Callback,), {hook: stop})())
            return trainer

        monkeypatch.setattr(fit, "_trainer", interrupted)

    return at


@pytest.fixture
def seen(monkeypatch) -> list[tuple[int, list[int]]]:
    """(epoch, graphs) of every training batch, as it happens."""
    batches, step = [], Scorer.training_step

    def watched(self, batch, number):
        batches.append((self.current_epoch, batch.index.tolist()))
        return step(self, batch, number)

    monkeypatch.setattr(Scorer, "training_step", watched)
    return batches


def by_epoch(seen: list[tuple[int, list[int]]]) -> list[list[int]]:
    """The graphs in the order each epoch saw them."""
    return [[i for epoch, batch in seen if epoch == e for i in batch] for e in sorted({epoch for epoch, _ in seen})]


# ---- what a run leaves behind -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory, pack) -> Path:
    """The folder of a run over eight epochs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("finished"))
        patch.setattr(fit, "provenance", lambda: {"versions": {}, "git": "of a test"})
        return train(small_run(max_epochs=8, plateau_patience=1), pack).resolve()


def test_a_run_leaves_its_files_and_nothing_else(finished):
    assert sorted(path.name for path in finished.iterdir()) == sorted([*FILES, "runners_up"])
    (kept,) = (finished.parent / STORE / "runs").iterdir()
    assert sorted(path.name for path in kept.iterdir()) == sorted([*FILES, "runners_up", "checksums.json", "lock"])


def test_metrics_have_one_row_an_epoch(finished):
    table = metrics(finished)
    assert table["epoch"].tolist() == list(range(8))
    assert set(table.columns) == {
        "epoch", "learning_rate", "train_loss", "val_loss", "val_selection", "val_spearman", "val_pearson",
        "val_spearman_per_target", "val_pearson_per_target", "val_ranking_loss",
    }  # fmt: skip
    assert table.notna().all().all()


@pytest.mark.parametrize(("name", "metric"), CHECKPOINTS.items())
def test_a_best_checkpoint_is_that_of_the_epoch_with_the_lowest_metric(finished, name, metric):
    table = metrics(finished)
    best = table.loc[table[metric].idxmin()]
    description = read_description(finished / f"{name}.ckpt")
    assert description["epoch"] == best["epoch"]
    assert description["metrics"] == {k: v for k, v in best.items() if k.startswith("val_")}


@pytest.mark.parametrize(("name", "metric"), CHECKPOINTS.items())
def test_second_and_third_are_those_of_the_next_lowest_metrics(finished, name, metric):
    order = metrics(finished).sort_values(metric, kind="stable")["epoch"].tolist()
    files = [f"{name}.ckpt", f"runners_up/{name}_2.ckpt", f"runners_up/{name}_3.ckpt"]
    assert [read_description(finished / file)["epoch"] for file in files] == order[:3]


def test_the_run_above_has_its_best_epochs_neither_first_nor_last(finished):
    """Or the test above would prove little."""
    epochs = [read_description(finished / f"{name}.ckpt")["epoch"] for name in ("best_loss", "best_selection")]
    assert any(0 < epoch < 7 for epoch in epochs)


def test_a_best_checkpoint_holds_the_weights_that_had_its_loss(finished, pack):
    store = GraphStore.open([pack])
    for name in ("best_loss", "best_selection"):
        network, description = load_weights(finished / f"{name}.ckpt")
        batch = store.batch(split_indices(store, "val").tolist())
        with torch.no_grad():
            loss = float(((network(batch) - batch.y) ** 2).mean())
        assert loss == pytest.approx(description["metrics"]["val_loss"], rel=1e-5)


def test_selection_is_loss_minus_weighted_correlation(pack):
    table = metrics(train(small_run(spearman_weight=0.5, max_epochs=2), pack))
    pd.testing.assert_series_equal(
        table["val_selection"], table["val_loss"] - 0.5 * table["val_spearman"], check_names=False, rtol=1e-5
    )


def test_selection_may_look_at_the_correlation_per_target(pack):
    table = metrics(train(small_run(spearman="per_target", max_epochs=2), pack))
    expected = table["val_loss"] - table["val_spearman_per_target"]
    pd.testing.assert_series_equal(table["val_selection"], expected, check_names=False, rtol=1e-5)


@pytest.mark.parametrize("spearman", ["pooled", "per_target"])
def test_constant_predictions_have_no_correlation_and_none_counts_for_them(spearman, monkeypatch):
    run, found = small_run(spearman=spearman, spearman_weight=0.5), {}
    scorer = Scorer(torch.nn.Linear(1, 1), run.hyperparameters, run.selection, 1, torch.tensor([0, 0, 0, 1, 1, 1]), {})
    monkeypatch.setattr(scorer, "log_dict", found.update)
    scorer._seen = [(torch.arange(6), torch.linspace(0, 1, 6), torch.full((6,), 0.5))]
    scorer.on_validation_epoch_end()
    assert np.isnan(found["val_spearman"])
    assert found["val_selection"] == found["val_loss"] > 0


def test_the_summary_gives_both_best_epochs_with_their_metrics(finished):
    summary, table = json.loads((finished / "summary.json").read_text()), metrics(finished)
    assert (summary["run"], summary["seed"], summary["epochs"]) == ("run", 1, 8)
    for name in ("best_loss", "best_selection"):
        row = table[table["epoch"] == summary[name]["epoch"]].iloc[0]
        assert {k: summary[name][k] for k in ("val_loss", "val_selection")} == row[
            ["val_loss", "val_selection"]
        ].to_dict()


def test_the_written_configuration_makes_the_same_run_again(finished):
    config = yaml.safe_load((finished / "config.yaml").read_text())
    assert Run.parse(config["run"], config, None) == small_run(max_epochs=8, plateau_patience=1)


def test_the_checkpoint_says_what_it_was_trained_on(finished, pack):
    description = read_description(finished / "best_loss.ckpt")
    assert (description["training_set"]["train"], description["training_set"]["val"]) == (18, 12)
    assert {key: description[key] for key in METADATA} == METADATA
    assert (description["node_width"], description["edge_width"]) == (5, 3)


def test_training_lowers_the_loss(finished):
    table = metrics(finished)
    assert table["train_loss"].iloc[-1] < 0.8 * table["train_loss"].iloc[0]


# ---- steps and what is kept of them -----------------------------------------------------------------------


@pytest.fixture
def norms() -> Iterator[list[float]]:
    """Norm of the gradient of every step, as the optimiser got it."""
    found = []

    def watched(optimizer, *_) -> None:
        gradients = [weight.grad for group in optimizer.param_groups for weight in group["params"]]
        found.append(float(torch.cat([gradient.flatten() for gradient in gradients]).norm()))

    hook = register_optimizer_step_post_hook(watched)
    yield found
    hook.remove()


def test_accumulated_batches_make_the_step_of_one_batch_as_large_as_all_of_them(tmp_path, norms):
    """Without dropout, which draws other numbers; two targets with eight decoys each."""
    pack, steps, found = training_pack(tmp_path / "pack", train=2, decoys=8), {}, {}
    for size, accumulate in ((8, 1), (4, 2), (4, 1)):
        choice = {"batch_size": size, "accumulate": accumulate, "attention_dropout": 0.0, "max_epochs": 2}
        found[size, accumulate] = weights(train(small_run(**choice), pack, output=f"{size}{accumulate}") / "last.ckpt")
        steps[size, accumulate] = list(norms)
        norms.clear()
    assert steps[4, 2] == pytest.approx(steps[8, 1], rel=1e-4)
    assert (len(steps[8, 1]), len(steps[4, 1])) == (4, 8)
    for name, value in found[8, 1].items():
        torch.testing.assert_close(found[4, 2][name], value, rtol=0, atol=1e-5)
    assert any((found[4, 1][name] - value).abs().max() > 1e-3 for name, value in found[8, 1].items())


def test_the_gradient_of_a_step_is_no_longer_than_gradient_clip(pack, norms):
    train(small_run(), pack)
    limit, free = sorted(norms)[len(norms) // 2], list(norms)
    assert min(free) < limit < max(free)
    norms.clear()
    train(small_run(gradient_clip=limit), pack, output="clipped")
    assert max(norms) == pytest.approx(limit, rel=1e-4)  # reached and not exceeded
    assert min(norms) < 0.99 * limit


def test_the_best_checkpoints_are_without_the_optimiser_and_far_smaller_than_the_last(pack):
    """Of a network as large as the default one, where weights are most of a checkpoint."""
    folder = train(small_run(max_epochs=1, hidden=32, heads=8, layers=2, readout=64), pack)
    last = folder / "last.ckpt"
    assert torch.load(last, weights_only=True)["optimizer_states"][0]["state"]
    for name in CHECKPOINTS:
        assert not torch.load(folder / f"{name}.ckpt", weights_only=True).get("optimizer_states")
        assert same_weights(folder / f"{name}.ckpt", last)
        assert (folder / f"{name}.ckpt").stat().st_size < 0.4 * last.stat().st_size


# ---- repeating --------------------------------------------------------------------------------------------


def train_elsewhere(folder: str, run: Run, pack: Path) -> Path:
    """The same run in another working directory."""
    here = Path.cwd()
    Path(folder).mkdir()
    os.chdir(folder)
    try:
        return here / folder / train(run, pack)
    finally:
        os.chdir(here)


def test_the_same_seed_gives_the_same_bytes(pack):
    one, other = (train_elsewhere(folder, small_run(), pack) for folder in ("here", "there"))
    for name in FILES:
        if name != "last.ckpt":
            assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert same_weights(one / "last.ckpt", other / "last.ckpt")


def test_no_checkpoint_knows_the_place_it_was_trained_in(pack):
    one, other = (train_elsewhere(folder, small_run(max_epochs=1), pack) for folder in ("here", "there"))
    for name in ("best_loss.ckpt", "best_selection.ckpt", "last.ckpt"):
        assert str(Path.cwd()).encode() not in (one / name).read_bytes(), name
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_another_seed_gives_another_network(pack):
    one, other = (train(small_run(f"s{seed}", seed), pack) for seed in (1, 2))
    assert (one / "metrics.csv").read_text() != (other / "metrics.csv").read_text()
    assert not same_weights(one / "last.ckpt", other / "last.ckpt")


def test_a_finished_run_is_not_trained_again(pack, seen):
    first = train(small_run(), pack)
    before = {name: (first / name).read_bytes() for name in FILES}
    shutil.rmtree(first)
    seen.clear()
    again = train(small_run(), pack, output="again")
    assert seen == []
    assert {name: (again / name).read_bytes() for name in FILES} == before


@pytest.mark.parametrize("name", ["last.ckpt", "best_loss.ckpt", "metrics.csv", "summary.json"])
def test_a_damaged_run_is_trained_again(pack, name):
    run = small_run(max_epochs=2)
    folder = train(run, pack)
    before = (folder / name).read_bytes()
    with open(folder / name, "r+b") as file:  # the file of the store, too
        file.write(b"\0\0\0\0")
    train(run, pack)
    assert (folder / name).read_bytes() == before


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 2},
        {"learning_rate": 0.01},
        {"hidden": 4},
        {"spearman_weight": 0.5},
        {"minimum_delta": 0.1},
        {"spearman": "per_target"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_decides_the_result_makes_it_another_run(pack, seen, other):
    train(small_run(max_epochs=1), pack)
    seen.clear()
    train(small_run(max_epochs=1, **other), pack, output="other")
    assert seen != []


def test_another_label_makes_it_another_run(pack, tmp_path, seen):
    train(small_run(max_epochs=1), pack)
    graphs = training_graphs()
    graphs["T0", "d0", "train"].y += 0.001
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    seen.clear()
    train(small_run(max_epochs=1), tmp_path / "pack", output="other")
    assert seen != []


# ---- batches ----------------------------------------------------------------------------------------------


def test_every_epoch_sees_every_training_graph_once_and_no_other(pack, seen):
    train(small_run(max_epochs=3), pack)
    expected = sorted(split_indices(GraphStore.open([pack]), "train").tolist())
    assert [sorted(epoch) for epoch in by_epoch(seen)] == [expected] * 3
    assert {len(batch) for _, batch in seen} <= {SMALL["batch_size"], len(expected) % SMALL["batch_size"]}


def test_every_epoch_sees_them_in_another_order(pack, seen):
    train(small_run(max_epochs=3), pack)
    first, second, third = by_epoch(seen)
    assert first != second != third != first


def test_the_order_depends_on_the_seed(pack):
    store = GraphStore.open([pack])
    orders = [
        [i for batch in training_batches(store, Schedule(batch_size=4), seed) for i in batch.index.tolist()]
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]


def test_validation_goes_by_target_and_decoy_whatever_the_order_of_the_pack(tmp_path):
    shuffled = np.random.default_rng(3).permutation(list(training_graphs()))
    graphs = training_graphs()
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", {tuple(key): graphs[tuple(key)] for key in shuffled}))
    store = GraphStore.open([tmp_path / "pack"])
    loader = validation_batches(store, 5)
    for _ in range(2):
        order = [i for batch in loader for i in batch.index.tolist()]
        names = store.decoys.iloc[order]
        expected = [(target, f"d{i}") for target in ("V0", "V1") for i in range(6)]
        assert list(zip(names["target"], names["decoy"], strict=True)) == expected


def test_graphs_without_label_are_left_out(tmp_path):
    graphs = training_graphs()
    graphs["T0", "bare", "train"] = random_graph(77)
    graphs["V0", "bare", "val"] = random_graph(78)
    graphs["X0", "other", "test"] = random_graph(79, dockq=0.5)
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    store = GraphStore.open([tmp_path / "pack"])
    assert len(split_indices(store, "train")) == 18
    assert len(split_indices(store, "val")) == 12


@pytest.mark.parametrize("split", ["train", "val"])
def test_an_empty_split_is_an_error_that_names_it(tmp_path, split):
    graphs = {key: graph for key, graph in training_graphs().items() if key[2] != split}
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    with pytest.raises(ConfigError, match=f"no labelled decoy with a graph in split '{split}'"):
        train(small_run(), tmp_path / "pack")


def test_two_data_sets_are_trained_on_together(tmp_path, pack, seen):
    other = training_pack(tmp_path / "other.safetensors", seed=5, train=1, val=1)
    folder = train(small_run(max_epochs=1), pack, other)
    assert len(by_epoch(seen)[0]) == 18 + 6
    assert read_description(folder / "last.ckpt")["training_set"]["val"] == 12 + 6


# ---- schedules --------------------------------------------------------------------------------------------


def test_the_learning_rate_drops_when_the_loss_stops_falling_and_the_table_says_so(pack):
    table = metrics(train(small_run(max_epochs=10, plateau_patience=0, plateau_factor=0.5, learning_rate=0.1), pack))
    expected, rate, best = [], 0.1, float("inf")
    for loss in table["val_loss"]:
        expected.append(rate)
        if loss < best * (1 - 1e-4):  # PyTorch's threshold of what counts as lower
            best = loss
        else:
            rate *= 0.5
    assert table["learning_rate"].tolist() == pytest.approx(expected)
    assert table["learning_rate"].nunique() > 2


def test_training_stops_early_when_the_loss_does_not_fall(pack):
    table = metrics(train(small_run(max_epochs=60, early_stop_patience=2, learning_rate=0.1), pack))
    best, waited, expected = float("inf"), 0, 0
    for loss in table["val_loss"]:
        assert waited < 2, "went on after its patience was over"
        best, waited = (loss, 0) if loss < best else (best, waited + 1)
        expected += 1
    assert waited == 2
    assert expected == len(table) < 60


@pytest.mark.parametrize("delta", [0.0, 0.002, 0.02, 10.0])
@pytest.mark.parametrize(("name", "metric"), CHECKPOINTS.items())
def test_a_later_epoch_must_be_better_by_more_than_the_minimum_delta(pack, delta, name, metric):
    folder = train(small_run(max_epochs=8, minimum_delta=delta, seed=3), pack)
    table = metrics(folder)
    best = table.iloc[0]
    for _, row in table.iterrows():
        best = row if row[metric] + delta < best[metric] else best
    assert read_description(folder / f"{name}.ckpt")["epoch"] == best["epoch"]


def test_the_minimum_delta_matters_in_the_run_above(pack):
    """Or the test above would prove little."""
    epochs = {
        delta: read_description(
            train(small_run(max_epochs=8, minimum_delta=delta, seed=3), pack, output=str(delta)) / "best_loss.ckpt"
        )["epoch"]
        for delta in (0.0, 0.002, 10.0)
    }
    assert epochs[10.0] == 0
    assert len(set(epochs.values())) >= 2


def test_a_loss_that_is_no_number_from_the_start_is_an_error_that_names_the_decoys_of_the_batch(tmp_path):
    """Features of one training decoy are infinite."""
    graphs = training_graphs()
    graphs["T1", "d3", "train"].x *= torch.inf
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    with pytest.raises(TrainingError, match=r"run run: the training loss is not a finite number in epoch 0.*T1/d3"):
        train(small_run(learning_rate=0.001, max_epochs=2, batch_size=1), tmp_path / "pack")


def test_a_prediction_that_is_no_number_is_an_error_that_names_the_decoy(tmp_path):
    graphs = training_graphs()
    graphs["V1", "d3", "val"].x *= torch.inf
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    with pytest.raises(TrainingError, match=r"the prediction is not a finite number in epoch 0, decoys V1/d3 "):
        train(small_run(), tmp_path / "pack")


def test_a_run_that_diverges_later_ends_with_the_best_epochs_before_and_says_why(pack, monkeypatch):
    step = Scorer.training_step
    monkeypatch.setattr(
        Scorer, "training_step", lambda self, batch, n: step(
            self, batch._replace(x=batch.x * torch.nan) if self.current_epoch == 2 and n == 1 else batch, n
        ),
    )  # fmt: skip
    folder = train(small_run(), pack)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["epochs"] == len(metrics(folder)) == 2
    assert "the training loss is not a finite number in epoch 2, decoys T" in summary["stopped"]
    assert read_description(folder / "last.ckpt")["epoch"] == 1
    assert all(value.isfinite().all() for value in weights(folder / "best_loss.ckpt").values())


# ---- objectives and samplings -----------------------------------------------------------------------------

CHOICES = [
    {"loss": "bce"},
    {"ranking_term": "listwise", "decoys_per_target": 2},
]


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join(map(str, choice.values())))
def test_every_choice_trains_another_network_than_the_default(pack, choice):
    default, other = train(small_run(), pack, output="default"), train(small_run(**choice), pack, output="other")
    assert not same_weights(default / "last.ckpt", other / "last.ckpt")
    assert metrics(other).notna().all().all()


def test_a_run_with_a_ranking_term_goes_on_exactly_where_it_was_interrupted(pack, interrupt):
    run = small_run(max_epochs=4, ranking_term="listwise", decoys_per_target=2)
    whole = train_elsewhere("whole", run, pack)
    assert_same_run(resume(interrupt, run, pack, "on_train_batch_end", 2), whole)


def test_the_validation_loss_is_the_squared_error_whatever_is_minimised(pack):
    store = GraphStore.open([pack])
    folder = train(small_run(loss="bce", max_epochs=2), pack)
    network, description = load_weights(folder / "best_loss.ckpt")
    batch = store.batch(split_indices(store, "val").tolist())
    with torch.no_grad():
        error = float(((network(batch) - batch.y) ** 2).mean())
    assert description["metrics"]["val_loss"] == pytest.approx(error, rel=1e-5)


def test_decoys_of_one_target_share_a_batch(pack, seen):
    train(small_run(max_epochs=1, decoys_per_target=2), pack)
    targets = GraphStore.open([pack]).decoys["target"]
    full = [batch for _, batch in seen if len(batch) == 4]
    assert full
    assert all(targets[b[0]] == targets[b[1]] and targets[b[2]] == targets[b[3]] for b in full)


def test_a_run_can_be_trained_inside_a_cluster_allocation_of_several_tasks(pack, monkeypatch):
    """As in a batch script with `--ntasks=4` that calls Snakemake."""
    allocation = {"NTASKS": "4", "JOB_NAME": "study", "JOB_ID": "1", "PROCID": "0", "LOCALID": "0", "NODEID": "0"}
    for name, value in allocation.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    assert len(metrics(train(small_run(max_epochs=1), pack))) == 1


# ---- interruptions ----------------------------------------------------------------------------------------

HOOKS = ["on_train_epoch_start", "on_train_batch_end", "on_validation_start", "on_train_epoch_end"]


def resume(interrupt, run: Run, pack: Path, hook: str, epoch: int) -> Path:
    """The folder of a run that was interrupted and started again."""
    interrupt(hook, epoch)
    with pytest.raises(Interrupted):
        train(run, pack, output="resumed")
    assert not Path("resumed").exists(), "half a run was published"
    return train(run, pack, output="resumed")


def assert_same_run(one: Path, other: Path) -> None:
    for name in ("metrics.csv", "summary.json", "config.yaml"):
        assert (one / name).read_text() == (other / name).read_text(), name
    checkpoints = [path.relative_to(one) for path in sorted(one.rglob("*.ckpt"))]
    assert checkpoints == [path.relative_to(other) for path in sorted(other.rglob("*.ckpt"))]
    for name in checkpoints:
        assert same_weights(one / name, other / name), name
        assert read_description(one / name) == read_description(other / name), name


def test_an_interrupted_run_goes_on_where_it_stopped(pack, interrupt, seen):
    run = small_run(max_epochs=5)
    interrupt("on_train_epoch_start", 3)
    with pytest.raises(Interrupted):
        train(run, pack)
    assert sorted({epoch for epoch, _ in seen}) == [0, 1, 2]
    seen.clear()
    table = metrics(train(run, pack))
    assert sorted({epoch for epoch, _ in seen}) == [3, 4]
    assert table["epoch"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("epoch", [1, 4])
def test_an_interrupted_run_ends_as_if_nothing_had_happened(pack, interrupt, hook, epoch):
    run = small_run(max_epochs=6, plateau_patience=0, plateau_factor=0.5, learning_rate=0.1)
    whole = train(run, pack, output="whole")
    shutil.rmtree(STORE)
    assert metrics(whole)["learning_rate"].nunique() > 1
    assert_same_run(resume(interrupt, run, pack, hook, epoch), whole)


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("epoch", [0, 1, 4])
def test_an_interrupted_run_of_constant_learning_rate_ends_as_if_nothing_had_happened(pack, interrupt, hook, epoch):
    run = small_run(max_epochs=6, plateau_patience=50)
    whole = train(run, pack, output="whole")
    shutil.rmtree(STORE)
    assert_same_run(resume(interrupt, run, pack, hook, epoch), whole)


def test_a_run_that_stopped_early_and_was_interrupted_before_its_end_does_not_go_on(pack, monkeypatch):
    run = small_run(max_epochs=60, early_stop_patience=2, learning_rate=0.1)
    whole = train(run, pack, output="whole")
    shutil.rmtree(STORE)

    def power_cut(*_):
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(training, "_finish", power_cut)
        with pytest.raises(Interrupted):
            train(run, pack, output="resumed")
    assert_same_run(train(run, pack, output="resumed"), whole)


def test_a_run_that_was_interrupted_after_its_last_epoch_is_finished_without_training(pack, monkeypatch, seen):
    run = small_run(max_epochs=2)

    def power_cut(*_):
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(training, "_finish", power_cut)
        with pytest.raises(Interrupted):
            train(run, pack)
    seen.clear()
    assert metrics(train(run, pack))["epoch"].tolist() == [0, 1]
    assert seen == []


def test_a_finished_run_is_taken_from_the_store_without_torch(pack):
    """Which takes seconds to import, as often as there are runs in a sweep."""
    run = small_run(max_epochs=1)
    whole = train(run, pack, output="whole")
    parameters = {"seed": 1, "hyperparameters": vars(run.hyperparameters), "selection": vars(run.selection)}
    script = Path(__file__).resolve().parents[3] / "workflow_scripts/train.py"
    program = (
        "import sys, runpy; sys.modules.update(torch=None, pandas=None); sys.argv.pop(0);"
        "runpy.run_path(sys.argv[0], None, '__main__')"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", program, script, "--name", "run", "--packs", pack, "--store", STORE, "--output",
             "again", "--parameters", json.dumps({**parameters, "seed": seed})],
            capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
        )
        for seed in (1, 2)
    ]  # fmt: skip
    assert "import of torch halted" in answers[1].stderr  # the control: another run is trained
    assert answers[0].returncode == 0, answers[0].stderr
    assert_same_run(Path("again"), whole)


# ---- what makes a training another one --------------------------------------------------------------------


def digest_of(folder: Path, graphs: dict[tuple[str, str, str], Data]) -> str:
    write_pack(folder / "pack", members(folder / "graphs", graphs))
    return fingerprint(open_graphs([folder / "pack"], [folder / "pack"]))


def others() -> dict[tuple[str, str, str], Data]:
    """Graphs that nobody learns from and nobody is judged by, before, among and after those of `training_graphs`."""
    return {
        ("A0", "d0", "train"): random_graph(70), ("T0", "d00", "train"): random_graph(71),
        ("V0", "d9", "val"): random_graph(72), ("T1", "d0", "test"): random_graph(73, dockq=0.5),
        ("Z", "d0", ""): random_graph(74, dockq=0.4),
    }  # fmt: skip


def test_graphs_that_nobody_learns_from_or_is_judged_by_do_not_make_it_another_training(tmp_path):
    graphs = training_graphs()
    digest = digest_of(tmp_path, graphs)
    assert digest_of(tmp_path, {**others(), **graphs}) == digest
    assert digest_of(tmp_path, dict(sorted({**graphs, **others()}.items()))) == digest
    renamed = {(target, f"x{decoy}", split): graph for (target, decoy, split), graph in graphs.items()}
    assert digest_of(tmp_path, renamed) == digest


def test_the_same_graphs_in_two_packs_are_the_same_training(tmp_path):
    graphs = training_graphs()
    for name, split in (("one", "train"), ("two", "val")):
        part = {key: graph for key, graph in graphs.items() if key[2] == split}
        write_pack(tmp_path / name, members(tmp_path / "graphs", part))
    for packs in (["one", "two"], ["two", "one"]):
        paths = [tmp_path / name for name in packs]
        assert fingerprint(open_graphs(paths, paths)) == digest_of(tmp_path, graphs)


def nudged(name: str, row: tuple[int, ...]) -> Callable[[dict], dict]:
    def change(graphs: dict) -> dict:
        graph = graphs["V1", "d5", "val"]
        values = graph[name].clone()
        values[row] = values[row] * 0.5 if values.is_floating_point() else (values[row] + 1) % len(graph.x)
        graph[name] = values
        return graphs

    return change


CHANGES = {
    "a node feature": nudged("x", (1, 2)),
    "an edge feature": nudged("edge_attr", (3, 0)),
    "the origin of an edge": nudged("edge_index", (0, 2)),
    "the end of an edge": nudged("edge_index", (1, 2)),
    "a label": nudged("y", (0,)),
    "the name of a target": lambda graphs: {(t.replace("T1", "Ta"), d, s): g for (t, d, s), g in graphs.items()},
    "the split of a target": lambda graphs: {(t, d, "val" if t == "T1" else s): g for (t, d, s), g in graphs.items()},
    "one decoy less": lambda graphs: {key: g for key, g in graphs.items() if key != ("T0", "d3", "train")},
    "the order of two": lambda graphs: {
        (t, {"d0": "d1", "d1": "d0"}.get(d, d) if t == "T0" else d, s): g for (t, d, s), g in graphs.items()
    },
    "what the features are": lambda graphs: training_graphs(metadata={**METADATA, "format": 2}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_is_learned_from_or_judged_by_makes_it_another_training(tmp_path, name):
    assert digest_of(tmp_path, CHANGES[name](training_graphs())) != digest_of(tmp_path, training_graphs())


def test_graphs_that_are_not_learned_from_change_no_weight(tmp_path):
    """So the digest leaves out nothing that counts."""
    runs = []
    for place, graphs in enumerate((training_graphs(), dict(sorted({**training_graphs(), **others()}.items())))):
        write_pack(tmp_path / f"pack{place}", members(tmp_path / "graphs", graphs))
        run = small_run(max_epochs=2, spearman="per_target", decoys_per_target=2)
        train_run(run, [tmp_path / f"pack{place}"], 1, Path(f"run{place}"), Path(f"store{place}"))
        runs.append(Path(f"run{place}"))
    assert_same_run(*runs)


def test_a_run_interrupted_in_one_place_goes_on_in_another(pack, interrupt):
    run = small_run(max_epochs=8, learning_rate=0.1, minimum_delta=10.0)  # so that the first epoch stays the best
    Path("here").mkdir()
    os.chdir("here")
    interrupt("on_train_epoch_start", 4)
    with pytest.raises(Interrupted):
        train(run, pack)
    os.chdir("..")
    Path("here").rename("there")
    os.chdir("there")
    folder = train(run, pack)
    assert read_description(folder / "best_loss.ckpt")["epoch"] == 0
    assert read_description(folder / "best_selection.ckpt")["epoch"] == 0


@pytest.mark.parametrize(
    "change", [{"learning_rate": 0.01}, {"seed": 2}, {"max_epochs": 4}], ids=lambda c: next(iter(c))
)
def test_another_configuration_does_not_go_on_from_an_interrupted_run(pack, interrupt, change):
    clean = train(small_run(**{"max_epochs": 3, **change}), pack, output="clean")
    shutil.rmtree(STORE)
    interrupt("on_train_epoch_start", 2)
    with pytest.raises(Interrupted):
        train(small_run(max_epochs=3), pack)
    assert_same_run(train(small_run(**{"max_epochs": 3, **change}), pack), clean)


# ---- fine-tuning ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parent(finished) -> Path:
    return finished / "best_loss.ckpt"


def test_a_fine_tuned_network_starts_from_its_parents_weights(pack, parent):
    tiny = train(small_run("tiny", parent=parent, learning_rate=1e-9, max_epochs=1), pack)
    before, after = weights(parent), weights(tiny / "last.ckpt")
    for name, value in before.items():
        torch.testing.assert_close(after[name], value, rtol=0, atol=1e-6)
    fresh = train(small_run("fresh", learning_rate=1e-9, max_epochs=1), pack)
    assert max((weights(fresh / "last.ckpt")[name] - value).abs().max() for name, value in before.items()) > 0.01


def test_a_fine_tuned_network_starts_with_a_fresh_optimiser_and_schedule(pack, parent):
    folder = train(small_run("tuned", parent=parent, max_epochs=1, accumulate=1, learning_rate=0.003), pack)
    state = torch.load(folder / "last.ckpt", weights_only=True)
    assert {int(entry["step"]) for entry in state["optimizer_states"][0]["state"].values()} == {5}  # 18 graphs by 4
    assert metrics(folder)["epoch"].tolist() == [0]
    assert metrics(folder)["learning_rate"].tolist() == [0.003]


def test_a_fine_tuned_network_has_its_parents_shape_and_its_own_schedule(parent):
    phase = {"learning_rate": 0.001, "batch_size": 4, "max_epochs": 1}
    run = Run.parse("phase1", {"seed": 7, "hyperparameters": phase, "selection": {}}, parent)
    assert {key: getattr(run.hyperparameters, key) for key in ("hidden", "heads", "layers", "readout")} == {
        key: SMALL[key] for key in ("hidden", "heads", "layers", "readout")
    }
    assert (run.hyperparameters.learning_rate, run.seed, run.parent) == (0.001, 7, parent)


def test_local_quality_is_learned_beside_dockq_and_comes_with_the_score(tmp_path):
    pack = local_pack(tmp_path / "pack", training_graphs(decoys=12))
    run = small_run(local_weight=1.0, dropout=0.1, max_epochs=20, accumulate=1)
    folder = train(run, pack)
    network, _ = load_weights(folder / "best_loss.ckpt")
    store = GraphStore.open([pack])
    ((score, local, *_),) = predict_all([network], store)
    assert torch.equal(score, predict(network, store))
    batch = store.batch(split_indices(store, "val").tolist())
    truth = torch.stack([batch.edge_y[batch.edge_graph == i].mean() for i in range(len(batch.index))])
    assert np.corrcoef(local[batch.index], truth)[0, 1] > 0.8
    tuned = Run.parse("tuned", {"seed": 1, "hyperparameters": {"max_epochs": 1}, "selection": {}}, folder / "last.ckpt")
    assert tuned.hyperparameters.local
    assert fingerprint(store) != fingerprint(GraphStore.open([training_pack(tmp_path / "other", decoys=12)]))


def test_local_quality_that_nothing_tells_of_is_refused(pack, parent):
    with pytest.raises(ConfigError, match="no graph says how good its contacts are"):
        train(small_run(local_weight=0.1), pack, output="refused")
    with pytest.raises(ConfigError, match="its parent does not"):
        Run.parse("phase", {"seed": 1, "hyperparameters": {"local_weight": 0.1}, "selection": {}}, parent)


def test_a_fine_tuned_checkpoint_names_its_parent(pack, parent):
    folder = train(small_run("tuned", parent=parent, max_epochs=1), pack)
    named = read_description(folder / "last.ckpt")["parent"]
    assert named == {"run": "run", "epoch": read_description(parent)["epoch"]}


def test_the_parent_is_left_as_it_was(pack, parent):
    before = hashlib.sha256(parent.read_bytes()).hexdigest()
    train(small_run("tuned", parent=parent, max_epochs=1), pack)
    assert hashlib.sha256(parent.read_bytes()).hexdigest() == before


def test_another_parent_of_the_same_name_and_epoch_makes_it_another_run(pack, seen):
    parents = [train(small_run("p", max_epochs=1, learning_rate=r), pack, output=f"p{r}") for r in (0.01, 0.02)]
    tuned = []
    for i, folder in enumerate(parents):
        seen.clear()
        tuned.append(train(small_run("t", parent=folder / "last.ckpt", max_epochs=1), pack, output=f"t{i}"))
        assert seen != []
    assert not same_weights(tuned[0] / "last.ckpt", tuned[1] / "last.ckpt")


def test_a_parent_trained_on_other_features_is_refused(tmp_path, parent):
    features = {**METADATA["features"], "edges": {"module": "edges/other"}}
    other = training_pack(tmp_path / "other.safetensors", metadata={**METADATA, "features": features})
    with pytest.raises(CheckpointError, match=r"best_loss\.ckpt: was trained on other features"):
        train(small_run("tuned", parent=parent), other)


def test_a_parent_trained_on_other_widths_is_refused(tmp_path):
    narrow = training_pack(tmp_path / "narrow.safetensors", metadata=None)
    wide = training_pack(tmp_path / "wide.safetensors", metadata=None, widths=(6, 3))
    parent = train(small_run(max_epochs=1), narrow) / "last.ckpt"
    with pytest.raises(CheckpointError):
        train(small_run("tuned", parent=parent), wide)


def test_a_target_trained_on_in_one_data_set_and_validated_on_in_another_is_refused(tmp_path):
    packs = []
    for name, (first, second) in {"one": ("train", "val"), "two": ("val", "train")}.items():
        graphs = {("A", name, first): random_graph(1, dockq=0.5), ("B", name, second): random_graph(2, dockq=0.5)}
        packs.append(tmp_path / f"{name}.pack")
        write_pack(packs[-1], members(tmp_path / name, graphs))
    with pytest.raises(ConfigError, match="target 'A' is in split train and in split val"):
        train(small_run(), *packs)


# ---- phases that freeze, or learn from other data ---------------------------------------------------------


def test_a_frozen_part_keeps_its_parents_weights_and_the_rest_learns(pack, parent):
    run = dataclasses.replace(small_run("tuned", parent=parent, max_epochs=1), freeze=("embed_nodes", "layers.0"))
    before, after = weights(parent), weights(train(run, pack) / "last.ckpt")
    same = {name for name, value in before.items() if torch.equal(after[name], value)}
    frozen = {name for name in before if name.startswith(("network.embed_nodes.", "network.layers.0."))}
    assert frozen
    assert frozen <= same
    assert any(name.startswith("network.head.") for name in before.keys() - same)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (("heads",), "the network has no part 'heads' .*embed_nodes.*head"),
        (None, "every part of the network is frozen"),
    ],
)
def test_a_part_that_is_not_there_or_all_of_them_cannot_be_frozen(pack, parent, parts, said):
    everything = tuple({name.split(".")[1] for name in weights(parent)} - {"scale_nodes", "scale_edges"})
    run = dataclasses.replace(small_run("tuned", parent=parent), freeze=everything if parts is None else parts)
    with pytest.raises(ConfigError, match=said):
        train(run, pack)


def test_a_frozen_part_makes_it_another_run(pack, parent, seen):
    run = small_run("tuned", parent=parent, max_epochs=1)
    train(run, pack)
    seen.clear()
    train(dataclasses.replace(run, freeze=("embed_nodes",)), pack)
    assert seen != []


def test_a_phase_may_learn_from_other_data_and_is_judged_on_the_same(tmp_path, pack, seen):
    graphs = {(f"O{t[1:]}", d, s): g for (t, d, s), g in training_graphs(seed=5, train=1, val=1).items()}
    write_pack(tmp_path / "other", members(tmp_path / "graphs", graphs))
    folder = Path("tuned")
    train_run(small_run("tuned", max_epochs=1), [tmp_path / "other"], 1, folder, STORE, validation=[pack])
    assert len(by_epoch(seen)[0]) == 6
    said = read_description(folder / "last.ckpt")["training_set"]
    assert (said["train"], said["val"]) == (6, 12)


def test_a_target_learned_from_in_a_phase_and_validated_on_in_the_study_is_refused(tmp_path, pack):
    graphs = {("V0", "d0", "train"): random_graph(1, dockq=0.5), ("V0", "d1", "train"): random_graph(2, dockq=0.6)}
    write_pack(tmp_path / "other", members(tmp_path / "graphs", graphs))
    with pytest.raises(ConfigError, match="target 'V0' is in split train and in split val"):
        train_run(small_run(), [tmp_path / "other"], 1, Path("tuned"), STORE, validation=[pack])


def test_a_chain_of_three_phases(pack, parent):
    for name in ("one", "two", "three"):
        parent = train(small_run(name, parent=parent, max_epochs=1), pack) / "best_loss.ckpt"
    assert read_description(parent)["parent"]["run"] == "two"


# ---- what a checkpoint remembers of its training ----------------------------------------------------------


def chains_file(path: Path, *targets: str) -> Path:
    """chains.csv of targets with a chain each."""
    write_chains(path, [Chain(t, "d0", "0", "A", "protein", chain(place)) for place, t in enumerate(targets)])
    return path


def known_targets(folder: Path) -> list[str] | None:
    record = read_description(folder / "best_loss.ckpt")["training_set"].get("chains")
    return record and record["targets"]


def test_a_checkpoint_knows_the_chains_of_its_training_targets_and_of_those_of_its_parent(tmp_path, pack):
    table = chains_file(tmp_path / "chains.csv", "T0", "T1", "T2", "V0", "V1")
    train_run(small_run("one", max_epochs=1), [pack], 1, Path("one"), STORE, chains=[table])
    assert known_targets(Path("one")) == ["T0", "T1", "T2"]
    graphs = {(f"O{t[1:]}", d, s): g for (t, d, s), g in training_graphs(seed=5, train=1, val=1).items()}
    write_pack(tmp_path / "other", members(tmp_path / "graphs", graphs))
    more = chains_file(tmp_path / "more.csv", "O0")
    train_run(small_run("old", max_epochs=1), [pack], 1, Path("old"), STORE)
    assert known_targets(Path("old")) is None
    for parent, known in (("one", ["O0", "T0", "T1", "T2"]), ("old", None)):
        run, child = small_run("tuned", parent=Path(parent, "best_loss.ckpt"), max_epochs=1), Path(f"of_{parent}")
        train_run(run, [tmp_path / "other"], 1, child, STORE, validation=[pack], chains=[more])
        assert known_targets(child) == known


# ---- labels that cannot be learned from -------------------------------------------------------------------


@pytest.mark.parametrize("label", [-0.1, 1.5, 49.0])
def test_a_label_that_is_no_dockq_is_an_error_that_names_the_decoy(tmp_path, label):
    graphs = training_graphs()
    graphs["T1", "d2", "train"].y = torch.tensor([label])
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    with pytest.raises(ConfigError, match="T1/d2: 1 labels are not in 0 to 1"):
        train(small_run(), tmp_path / "pack")


@pytest.mark.parametrize("split", ["train", "val"])
def test_equal_labels_are_an_error_that_names_the_split(tmp_path, split):
    graphs = training_graphs()
    for key, graph in graphs.items():
        graph.y = torch.tensor([0.3]) if key[2] == split else graph.y
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    with pytest.raises(ConfigError, match=f"labels of split '{split}' are 0.3"):
        train(small_run(), tmp_path / "pack")


# ---- threads ----------------------------------------------------------------------------------------------


def test_another_number_of_threads_gives_the_same_metrics_within_a_thousandth(pack):
    """Sums in another order differ in the last bit, which training carries on: equal bits are not promised."""
    try:
        tables = []
        for threads in (1, 2):
            folder = Path(f"threads{threads}")
            train_run(small_run(max_epochs=4), [pack], threads, folder, Path(f"store{threads}"))
            tables.append(metrics(folder))
    finally:
        torch.set_num_threads(1)
    pd.testing.assert_frame_equal(*tables, rtol=1e-3, atol=1e-3)
