"""A training run: what it leaves behind, what it repeats exactly, and how it goes on after an
interruption.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
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
    labelled,
    local_pack,
    members,
    predict,
    random_graph,
    small_run,
    training_graphs,
    training_pack,
)
from pytorch_lightning.callbacks import Callback

from toporank.building.packing import write_pack
from toporank.comparing.homology.chain_tables import Chain, write_chains
from toporank.errors import CheckpointError, ConfigError, TrainingError
from toporank.learning import fit
from toporank.learning import train as training
from toporank.learning.checkpoint import read_description
from toporank.learning.data import GraphStore
from toporank.learning.lightning import ScorerTraining
from toporank.learning.run import CHECKPOINT_OF, Run
from toporank.learning.splits import fingerprint, open_graphs, split_indices
from toporank.learning.train import TrainingGraphs, train_run
from toporank.learning.weights import load_weights, predict_all

METRIC_OF = {name: metric for metric, name in CHECKPOINT_OF.items()}
FILES = sorted(
    [
        *(f"{name}.ckpt" for name in METRIC_OF),
        "config.yaml",
        "last.ckpt",
        "metrics.csv",
        "summary.json",
    ]
)
STORE = Path("store")
STOPPING_EARLY = {"max_epochs": 60, "early_stop_patience": 2, "learning_rate": 0.1}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        fit, "provenance", lambda: {"versions": {}, "git": "of a test"}
    )  # may change while tests run


@pytest.fixture(scope="module")
def pack(tmp_path_factory) -> Path:
    """Three training and two validation targets with six labelled decoys each."""
    return training_pack(tmp_path_factory.mktemp("pack") / "graphs.safetensors")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, pack) -> Path:
    """The folder of a run over eight epochs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("finished"))
        patch.setattr(fit, "provenance", lambda: {"versions": {}, "git": "of a test"})
        return train(small_run(max_epochs=8, plateau_patience=1), pack).resolve()


def train(run: Run, *packs: Path, output: str | None = None, **other) -> Path:
    """Train below the working directory; the folder of the run."""
    folder = Path(output or run.name)
    train_run(run, TrainingGraphs(list(packs), **other), 1, folder, STORE)
    return folder


def packed(path: Path, graphs: dict) -> Path:
    write_pack(path, members(path.with_suffix(".graphs"), graphs))
    return path


def metrics(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "metrics.csv")


def weights(path: Path) -> dict[str, torch.Tensor]:
    return torch.load(path, weights_only=True)["state_dict"]


def same_weights(one: Path, other: Path) -> bool:
    a, b = weights(one), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def assert_same_run(one: Path, other: Path) -> None:
    for name in ("metrics.csv", "summary.json", "config.yaml"):
        assert (one / name).read_text() == (other / name).read_text(), name
    checkpoints = [path.relative_to(one) for path in sorted(one.rglob("*.ckpt"))]
    assert checkpoints == [path.relative_to(other) for path in sorted(other.rglob("*.ckpt"))]
    for name in checkpoints:
        assert same_weights(one / name, other / name), name
        assert read_description(one / name) == read_description(other / name), name


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
    batches, step = [], ScorerTraining.training_step

    def watched(self, batch, number):
        batches.append((self.current_epoch, batch.index.tolist()))
        return step(self, batch, number)

    monkeypatch.setattr(ScorerTraining, "training_step", watched)
    return batches


def by_epoch(seen: list[tuple[int, list[int]]]) -> list[list[int]]:
    """The graphs in the order each epoch saw them."""
    orders: dict[int, list[int]] = {}
    for epoch, batch in seen:
        orders.setdefault(epoch, []).extend(batch)
    return list(orders.values())


# ---- what a run leaves behind --------------------------------------------------------------------


def test_a_run_leaves_its_files_and_nothing_else(finished):
    assert sorted(path.name for path in finished.iterdir()) == sorted([*FILES, "runners_up"])
    (kept,) = (finished.parent / STORE / "runs").iterdir()
    assert sorted(path.name for path in kept.iterdir()) == sorted(
        [*FILES, "runners_up", "checksums.json", "lock"]
    )


def test_metrics_have_one_row_an_epoch_and_training_lowers_the_loss(finished):
    table = metrics(finished)
    assert table["epoch"].tolist() == list(range(8))
    assert list(table.columns) == [
        "epoch", "learning_rate", "train_loss", "val_loss", "val_pearson", "val_pearson_per_target",
        "val_ranking_loss", "val_selection", "val_spearman", "val_spearman_per_target",
    ]  # fmt: skip
    assert table.notna().all().all()
    assert table["train_loss"].iloc[-1] < 0.8 * table["train_loss"].iloc[0]


@pytest.mark.parametrize(("name", "metric"), METRIC_OF.items())
def test_the_best_checkpoints_are_those_of_the_epochs_with_the_lowest_metric(
    finished, pack, name, metric
):
    table = metrics(finished)
    best = table.sort_values(metric, kind="stable")
    files = [f"{name}.ckpt", f"runners_up/{name}_2.ckpt", f"runners_up/{name}_3.ckpt"]
    assert [read_description(finished / file)["epoch"] for file in files] == best["epoch"].tolist()[
        :3
    ]
    network, description = load_weights(finished / f"{name}.ckpt")
    assert description["metrics"] == {k: v for k, v in best.iloc[0].items() if k.startswith("val_")}
    store = GraphStore.open([pack])
    batch = store.batch(split_indices(store, "val").tolist())
    with torch.no_grad():
        loss = float(((network(batch) - batch.y) ** 2).mean())
    assert loss == pytest.approx(description["metrics"]["val_loss"], rel=1e-5)
    summary = json.loads((finished / "summary.json").read_text())
    assert summary[name] == {"epoch": description["epoch"], **description["metrics"]}
    assert (summary["run"], summary["seed"], summary["epochs"]) == ("run", 1, 8)


def test_selection_is_loss_minus_weighted_correlation(pack):
    table = metrics(train(small_run(spearman_weight=0.5, max_epochs=2), pack))
    expected = table["val_loss"] - 0.5 * table["val_spearman"]
    pd.testing.assert_series_equal(table["val_selection"], expected, check_names=False, rtol=1e-5)


def test_constant_predictions_have_no_correlation_and_none_counts_for_them(pack):
    """Of a network whose head is frozen at zero."""
    run = small_run(max_epochs=1, spearman_weight=0.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScorerTraining, "validation_step", lambda self, batch, _: self._validated.append(
            torch.stack([batch.index, batch.y, torch.full_like(batch.y, 0.5)], dim=1).double()))  # fmt: skip
        (row,) = metrics(train(run, pack)).to_dict("records")
    assert np.isnan(row["val_spearman"])
    assert row["val_selection"] == row["val_loss"] > 0


def test_the_written_configuration_makes_the_same_run_again(finished):
    config = yaml.safe_load((finished / "config.yaml").read_text())
    assert Run.parse(config["run"], config, None) == small_run(max_epochs=8, plateau_patience=1)


def test_the_checkpoint_says_what_it_was_trained_on(finished):
    description = read_description(finished / "best_loss.ckpt")
    assert (description["training_set"]["train"], description["training_set"]["val"]) == (18, 12)
    assert {key: description[key] for key in METADATA} == METADATA
    assert (description["node_width"], description["edge_width"]) == (5, 3)


def test_the_best_checkpoints_are_without_the_optimiser_and_far_smaller_than_the_last(pack):
    """Of a network as large as the default one, where weights are most of a checkpoint."""
    folder = train(small_run(max_epochs=1, hidden=32, heads=8, layers=2, readout=64), pack)
    last = folder / "last.ckpt"
    assert torch.load(last, weights_only=True)["optimizer_states"][0]["state"]
    for name in METRIC_OF:
        assert not torch.load(folder / f"{name}.ckpt", weights_only=True).get("optimizer_states")
        assert same_weights(folder / f"{name}.ckpt", last)
        assert (folder / f"{name}.ckpt").stat().st_size < 0.4 * last.stat().st_size


def test_the_log_says_how_far_how_good_and_how_long(pack, caplog):
    caplog.set_level("INFO", logger="toporank.learning.lightning")
    train(small_run(max_epochs=2), pack)
    lines = [record.message for record in caplog.records]
    assert len(lines) == 2
    assert lines[1].startswith("epoch 2 of at most 2, step 6: train_loss 0.")
    assert all(
        word in lines[1] for word in ("val_loss", "(best", "Spearman", "at most 0.0 min left")
    )


# ---- batches, steps and schedule -----------------------------------------------------------------


def test_every_epoch_sees_every_training_graph_once_in_another_order(pack, seen):
    train(small_run(max_epochs=3), pack)
    expected = split_indices(GraphStore.open([pack]), "train").tolist()
    first, second, third = by_epoch(seen)
    assert sorted(first) == sorted(second) == sorted(third) == sorted(expected)
    assert first != second != third != first
    assert {len(batch) for _, batch in seen} <= {
        SMALL["batch_size"],
        len(expected) % SMALL["batch_size"],
    }


def test_accumulated_batches_make_the_step_of_one_batch_as_large_as_all_of_them(tmp_path):
    """Without dropout, which draws other numbers; two targets with eight decoys each."""
    pack, trained = training_pack(tmp_path / "pack", train=2, decoys=8), {}
    for size, accumulate in ((8, 1), (4, 2), (4, 1)):
        choice = {
            "batch_size": size,
            "accumulate": accumulate,
            "attention_dropout": 0.0,
            "max_epochs": 2,
        }
        trained[size, accumulate] = weights(
            train(small_run(**choice), pack, output=f"{size}{accumulate}") / "last.ckpt"
        )
    for name, value in trained[8, 1].items():
        torch.testing.assert_close(trained[4, 2][name], value, rtol=0, atol=1e-5)
    assert any(
        (trained[4, 1][name] - value).abs().max() > 1e-3 for name, value in trained[8, 1].items()
    )


def test_validation_goes_by_target_and_decoy_whatever_the_order_of_the_pack(tmp_path):
    graphs = training_graphs()
    shuffled = np.random.default_rng(3).permutation(list(graphs))
    packed(tmp_path / "pack", {tuple(key): graphs[tuple(key)] for key in shuffled})
    store = GraphStore.open([tmp_path / "pack"])
    names = store.decoys.iloc[split_indices(store, "val")]
    assert (names["target"] + names["decoy"]).tolist() == [
        f"V{t}d{d}" for t in range(2) for d in range(6)
    ]


def test_two_data_sets_are_trained_on_together(tmp_path, pack, seen):
    other = training_pack(tmp_path / "other.safetensors", seed=5, train=1, val=1)
    folder = train(small_run(max_epochs=1), pack, other)
    assert len(by_epoch(seen)[0]) == 18 + 6
    assert read_description(folder / "last.ckpt")["training_set"]["val"] == 12 + 6


def test_the_learning_rate_falls_to_a_fifth_when_the_loss_stops_falling(pack):
    table = metrics(train(small_run(max_epochs=10, plateau_patience=0, learning_rate=0.1), pack))
    expected, rate, best = [], 0.1, float("inf")
    for loss in table["val_loss"]:
        expected.append(rate)
        if loss < best * (1 - 1e-4):  # PyTorch's threshold of what counts as lower
            best = loss
        else:
            rate *= 0.2
    assert table["learning_rate"].tolist() == pytest.approx(expected)
    assert table["learning_rate"].nunique() > 2


def test_training_stops_early_when_the_loss_does_not_fall(pack):
    losses = metrics(train(small_run(**STOPPING_EARLY), pack))["val_loss"]
    assert len(losses) < 60
    best_before = losses.cummin().shift(fill_value=np.inf)
    assert (losses < best_before).tolist()[-3:] == [True, False, False]
    assert not ((losses >= best_before) & (losses.shift() >= best_before.shift())).iloc[:-1].any()


def test_a_run_can_be_trained_inside_a_cluster_allocation_of_several_tasks(pack, monkeypatch):
    """As in a batch script with `--ntasks=4` that calls Snakemake."""
    allocation = {
        "NTASKS": "4",
        "JOB_NAME": "study",
        "JOB_ID": "1",
        "PROCID": "0",
        "LOCALID": "0",
        "NODEID": "0",
    }
    for name, value in allocation.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    assert len(metrics(train(small_run(max_epochs=1), pack))) == 1


def test_another_number_of_threads_gives_the_same_metrics_within_a_thousandth(pack):
    """Sums in another order differ in the last bit, which training carries on: equal bits are not
    promised.
    """
    try:
        tables = []
        for threads in (1, 2):
            train_run(
                small_run(max_epochs=4),
                TrainingGraphs([pack]),
                threads,
                Path(f"t{threads}"),
                Path(f"store{threads}"),
            )
            tables.append(metrics(Path(f"t{threads}")))
    finally:
        torch.set_num_threads(1)
    pd.testing.assert_frame_equal(*tables, rtol=1e-3, atol=1e-3)


# ---- what cannot be trained ----------------------------------------------------------------------


def relabelled(value: float, split: str) -> dict:
    graphs = training_graphs()
    for key, graph in graphs.items():
        if key[2] == split:
            graph.y = torch.tensor([value])
    return graphs


def changed(key: tuple[str, str, str], **tensors) -> dict:
    graphs = training_graphs()
    for name, value in tensors.items():
        graphs[key][name] = value
    return graphs


def without(split: str) -> dict:
    return {key: graph for key, graph in training_graphs().items() if key[2] != split}


T1_D2 = ("T1", "d2", "train")
UNTRAINABLE = {
    "label": (changed(T1_D2, y=torch.tensor([49.0])), "T1/d2: 1 labels are not in 0 to 1"),
    "below": (changed(T1_D2, y=torch.tensor([-0.1])), "T1/d2: 1 labels are not in 0 to 1"),
    "equal": (relabelled(0.3, "train"), "labels of split 'train' are 0.3"),
    "equal val": (relabelled(0.3, "val"), "labels of split 'val' are 0.3"),
    "no train": (without("train"), "decoy with a graph in split 'train'"),
    "no val": (without("val"), "decoy with a graph in split 'val'"),
    "both": (
        {**training_graphs(), ("V0", "x", "train"): labelled(5)},
        "target 'V0' is in split train and in split val",
    ),
}


@pytest.mark.parametrize("name", UNTRAINABLE)
def test_what_nothing_can_be_learned_from_is_an_error_that_says_where(tmp_path, name):
    graphs, message = UNTRAINABLE[name]
    with pytest.raises(ConfigError, match=message):
        train(small_run(), packed(tmp_path / "pack", graphs))


@pytest.mark.parametrize(
    ("decoy", "message"),
    [(("T1", "d3", "train"), r"run run: the training loss is not a finite number in epoch 0.*T1/d3"),
     (("V1", "d3", "val"), r"the prediction is not a finite number in epoch 0, decoys V1/d3 ")],
)  # fmt: skip
def test_a_number_that_is_not_finite_from_the_start_is_an_error_that_names_the_decoys(
    tmp_path, decoy, message
):
    graphs = training_graphs()
    graphs[decoy].x *= torch.inf
    with pytest.raises(TrainingError, match=message):
        train(small_run(max_epochs=2, batch_size=1), packed(tmp_path / "pack", graphs))


def test_a_run_that_diverges_later_ends_with_the_best_epochs_before_and_says_why(pack, monkeypatch):
    step = ScorerTraining.training_step

    def diverges(self, batch, number):
        wrong = self.current_epoch == 2 and number == 1
        return step(self, batch._replace(x=batch.x * torch.nan) if wrong else batch, number)

    monkeypatch.setattr(ScorerTraining, "training_step", diverges)
    folder = train(small_run(), pack)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["epochs"] == len(metrics(folder)) == 2
    assert "the training loss is not a finite number in epoch 2, decoys T" in summary["stopped"]
    assert read_description(folder / "last.ckpt")["epoch"] == 1
    assert all(value.isfinite().all() for value in weights(folder / "best_loss.ckpt").values())


# ---- repeating -----------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_network(pack):
    for place in ("here", "there"):
        train_run(small_run(), TrainingGraphs([pack]), 1, Path(place), Path(f"store_{place}"))
    for name in FILES:
        if name != "last.ckpt":
            assert Path("here", name).read_bytes() == Path("there", name).read_bytes(), name
    assert same_weights(Path("here/last.ckpt"), Path("there/last.ckpt"))
    other = train(small_run("other", 2), pack)
    assert not same_weights(Path("here/last.ckpt"), other / "last.ckpt")


def test_a_finished_run_is_not_trained_again(pack, seen):
    first = train(small_run(), pack)
    before = {name: (first / name).read_bytes() for name in FILES}
    seen.clear()
    again = train(small_run(), pack, output="again")
    assert seen == []
    assert {name: (again / name).read_bytes() for name in FILES} == before


@pytest.mark.parametrize("name", ["last.ckpt", "summary.json"])
def test_a_damaged_run_is_trained_again(pack, name):
    run = small_run(max_epochs=2)
    folder = train(run, pack)
    whole = Path(shutil.copytree(folder, "whole"))
    with open(folder / name, "r+b") as file:  # the file of the store, too
        file.write(b"\0\0\0\0")
    assert_same_run(train(run, pack), whole)


OTHER_RUNS = [
    {"seed": 2},
    {"learning_rate": 0.01},
    {"hidden": 4},
    {"spearman_weight": 0.5},
    {"loss": "bce"},
]


@pytest.mark.parametrize("other", OTHER_RUNS, ids=lambda change: next(iter(change)))
def test_whatever_decides_the_result_makes_it_another_run(pack, seen, other):
    train(small_run(max_epochs=1), pack)
    seen.clear()
    train(small_run(max_epochs=1, **other), pack, output="other")
    assert seen != []


def test_a_finished_run_is_taken_from_the_store_without_torch(pack):
    """Which takes seconds to import, as often as there are runs in a sweep."""
    run = small_run(max_epochs=1)
    whole = train(run, pack, output="whole")
    parameters = {
        "seed": 1,
        "hyperparameters": vars(run.hyperparameters),
        "selection": vars(run.selection),
    }
    script = Path(__file__).resolve().parents[3] / "workflow_scripts/train.py"
    program = (
        "import sys, runpy; sys.modules.update(torch=None, pandas=None); sys.argv.pop(0);"
        "runpy.run_path(sys.argv[0], None, '__main__')"
    )
    answers = []
    for seed in (1, 2):
        command = [
            sys.executable,
            "-c",
            program,
            script,
            "--name",
            "run",
            "--packs",
            pack,
            "--store",
            STORE,
        ]
        command += ["--output", "again", "--parameters", json.dumps({**parameters, "seed": seed})]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        answers.append(
            subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        )
    assert "halted; None in sys.modules" in answers[1].stderr  # the control: another run is trained
    assert answers[0].returncode == 0, answers[0].stderr
    assert_same_run(Path("again"), whole)


# ---- interruptions -------------------------------------------------------------------------------

HOOKS = ["on_train_epoch_start", "on_train_batch_end", "on_validation_start", "on_train_epoch_end"]


@pytest.mark.parametrize(
    ("hook", "epoch", "choice"),
    [*[(hook, epoch, {"plateau_patience": 0, "learning_rate": 0.1}) for hook in HOOKS for epoch in (1, 4)],
     ("on_train_batch_end", 0, {"plateau_patience": 50}), ("on_train_epoch_end", 4, {"plateau_patience": 50})],
)  # fmt: skip
def test_an_interrupted_run_ends_as_if_nothing_had_happened(
    pack, interrupt, seen, hook, epoch, choice
):
    run = small_run(max_epochs=6, **choice)
    whole = train(run, pack, output="whole")
    assert (metrics(whole)["learning_rate"].nunique() > 1) == (choice["plateau_patience"] == 0)
    shutil.rmtree(STORE)
    interrupt(hook, epoch)
    with pytest.raises(Interrupted):
        train(run, pack, output="resumed")
    assert not Path("resumed").exists(), "half a run was published"
    seen.clear()
    assert_same_run(train(run, pack, output="resumed"), whole)
    assert min(trained for trained, _ in seen) >= epoch


@pytest.mark.parametrize(
    "choice",
    [{"max_epochs": 60, "early_stop_patience": 2, "learning_rate": 0.1}, {"max_epochs": 2}],
)
def test_a_run_that_was_killed_after_its_last_epoch_is_finished_without_training(
    pack, monkeypatch, seen, choice
):
    run = small_run(**choice)
    whole = train(run, pack, output="whole")
    shutil.rmtree(STORE)

    def power_cut(*_):
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(training, "_finish", power_cut)
        with pytest.raises(Interrupted):
            train(run, pack, output="resumed")
    seen.clear()
    assert_same_run(train(run, pack, output="resumed"), whole)
    assert seen == []


def test_a_run_whose_folder_was_moved_begins_again(pack, interrupt, seen):
    """Lightning would forget its best epochs."""
    run = small_run(max_epochs=5)
    whole = train(run, pack, output="whole")
    shutil.rmtree(STORE)
    interrupt("on_train_epoch_start", 4)
    with pytest.raises(Interrupted):
        train(run, pack)
    STORE.rename("moved")
    seen.clear()
    train_run(run, TrainingGraphs([pack]), 1, Path("run"), Path("moved"))
    assert seen[0][0] == 0
    assert_same_run(Path("run"), whole)


# ---- what makes a training another one -----------------------------------------------------------


def digest_of(folder: Path, graphs: dict) -> str:
    path = packed(folder / "pack", graphs)
    return fingerprint(open_graphs([path], [path]))


def others() -> dict:
    """Graphs that nobody learns from and nobody is judged by, before, among and after those of
    `training_graphs`.
    """
    return {
        ("A0", "d0", "train"): random_graph(70), ("T0", "d00", "train"): random_graph(71),
        ("V0", "d9", "val"): random_graph(72), ("T1", "d0", "test"): random_graph(73, dockq=0.5),
        ("Z", "d0", ""): random_graph(74, dockq=0.4),
    }  # fmt: skip


def test_graphs_that_nobody_learns_from_or_is_judged_by_do_not_make_it_another_training(tmp_path):
    graphs = training_graphs()
    digest = digest_of(tmp_path, graphs)
    assert digest_of(tmp_path, {**others(), **graphs}) == digest
    among = dict(sorted({**graphs, **others()}.items()))
    assert digest_of(tmp_path, among) == digest
    renamed = {
        (target, f"x{decoy}", split): graph for (target, decoy, split), graph in graphs.items()
    }
    assert digest_of(tmp_path, renamed) == digest
    for place, these in enumerate((graphs, among)):  # so the digest leaves out nothing that counts
        path = packed(tmp_path / f"pack{place}", these)
        run, source = small_run(max_epochs=2), TrainingGraphs([path])
        train_run(run, source, 1, Path(f"run{place}"), Path(f"store{place}"))
    assert_same_run(Path("run0"), Path("run1"))


def test_the_same_graphs_in_two_packs_are_the_same_training(tmp_path):
    graphs = training_graphs()
    paths = []
    for split in ("train", "val"):
        paths.append(
            packed(
                tmp_path / split, {key: graph for key, graph in graphs.items() if key[2] == split}
            )
        )
    for order in (paths, paths[::-1]):
        assert fingerprint(open_graphs(order, order)) == digest_of(tmp_path, graphs)


def nudged(name: str, row: tuple[int, ...]) -> dict:
    graphs = training_graphs()
    graph = graphs["V1", "d5", "val"]
    values = graph[name].clone()
    values[row] = (
        values[row] * 0.5 if values.is_floating_point() else (values[row] + 1) % len(graph.x)
    )
    graph[name] = values
    return graphs


def swapped() -> dict:
    graphs = training_graphs()
    first, second = ("T0", "d0", "train"), ("T0", "d1", "train")
    graphs[first], graphs[second] = graphs[second], graphs[first]
    return graphs


CHANGES = {
    "a node feature": nudged("x", (1, 2)),
    "an edge feature": nudged("edge_attr", (3, 0)),
    "the origin of an edge": nudged("edge_index", (0, 2)),
    "the end of an edge": nudged("edge_index", (1, 2)),
    "a label": nudged("y", (0,)),
    "the name of a target": {
        (t.replace("T1", "Ta"), d, s): g for (t, d, s), g in training_graphs().items()
    },
    "the split of a target": {
        (t, d, "val" if t == "T1" else s): g for (t, d, s), g in training_graphs().items()
    },
    "one decoy less": {
        key: g for key, g in training_graphs().items() if key != ("T0", "d3", "train")
    },
    "the order of two": swapped(),
    "what the features are": training_graphs(metadata={**METADATA, "format": 2}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_is_learned_from_or_judged_by_makes_it_another_training(tmp_path, name):
    assert digest_of(tmp_path, CHANGES[name]) != digest_of(tmp_path, training_graphs())


# ---- fine-tuning ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parent(finished) -> Path:
    return finished / "best_loss.ckpt"


def test_a_fine_tuned_network_starts_from_its_parents_weights_with_a_fresh_optimiser(pack, parent):
    content = parent.read_bytes()
    phase = {"parent": parent, "learning_rate": 1e-9, "max_epochs": 1, "accumulate": 1}
    tuned = train(small_run("tuned", **phase), pack)
    before, after = weights(parent), weights(tuned / "last.ckpt")
    for name, value in before.items():
        torch.testing.assert_close(after[name], value, rtol=0, atol=1e-6)
    state = torch.load(tuned / "last.ckpt", weights_only=True)
    assert {int(entry["step"]) for entry in state["optimizer_states"][0]["state"].values()} == {
        5
    }  # 18 graphs by 4
    assert metrics(tuned)[["epoch", "learning_rate"]].values.tolist() == [[0, 1e-9]]
    origin = {"run": "run", "epoch": read_description(parent)["epoch"]}
    assert read_description(tuned / "last.ckpt")["parent"] == origin
    assert parent.read_bytes() == content


def test_a_fine_tuned_network_has_its_parents_shape_and_its_own_schedule(parent):
    phase = {"learning_rate": 0.001, "batch_size": 4, "max_epochs": 1}
    run = Run.parse("phase1", {"seed": 7, "hyperparameters": phase, "selection": {}}, parent)
    for key in ("hidden", "heads", "layers", "readout"):
        assert getattr(run.hyperparameters, key) == SMALL[key]
    assert (run.hyperparameters.learning_rate, run.seed, run.parent) == (0.001, 7, parent)


def test_another_parent_of_the_same_name_and_epoch_makes_it_another_run(pack, seen):
    for rate in (0.01, 0.02):
        folder = train(small_run("p", max_epochs=1, learning_rate=rate), pack, output=f"p{rate}")
        seen.clear()
        train(small_run("t", parent=folder / "last.ckpt", max_epochs=1), pack, output=f"t{rate}")
        assert seen != []
    assert not same_weights(Path("t0.01/last.ckpt"), Path("t0.02/last.ckpt"))


def test_a_parent_trained_on_other_features_or_widths_is_refused(tmp_path, parent):
    features = {**METADATA["features"], "edges": {"module": "edges/other"}}
    other = training_pack(
        tmp_path / "other.safetensors", metadata={**METADATA, "features": features}
    )
    with pytest.raises(CheckpointError, match=r"best_loss\.ckpt: was trained on other features"):
        train(small_run("tuned", parent=parent), other)
    narrow = training_pack(tmp_path / "narrow.safetensors", metadata=None)
    wide = training_pack(tmp_path / "wide.safetensors", metadata=None, widths=(6, 3))
    unnamed = train(small_run(max_epochs=1), narrow) / "last.ckpt"
    with pytest.raises(CheckpointError, match="was trained on other graphs"):
        train(small_run("tuned", parent=unnamed), wide)


def test_a_frozen_part_keeps_its_parents_weights_and_the_rest_learns(pack, parent):
    run = small_run("tuned", parent=parent, max_epochs=1)
    train(run, pack)
    run = dataclasses.replace(run, freeze=("embed_nodes", "layers.0"))
    before, after = (
        weights(parent),
        weights(train(run, pack) / "last.ckpt"),
    )  # another run than without
    same = {name for name, value in before.items() if torch.equal(after[name], value)}
    frozen = {
        name for name in before if name.startswith(("network.embed_nodes.", "network.layers.0."))
    }
    assert frozen
    assert frozen <= same
    assert any(name.startswith("network.head.") for name in before.keys() - same)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("heads",), "the network has no part 'heads' .*embed_nodes.*head"),
        (None, "every part of the network is frozen"),
    ],
)
def test_a_part_that_does_not_exist_or_all_of_them_cannot_be_frozen(pack, parent, parts, message):
    everything = tuple(
        {name.split(".")[1] for name in weights(parent)} - {"scale_nodes", "scale_edges"}
    )
    run = dataclasses.replace(
        small_run("tuned", parent=parent), freeze=everything if parts is None else parts
    )
    with pytest.raises(ConfigError, match=message):
        train(run, pack)


def other_targets() -> dict:
    graphs = training_graphs(seed=5, train=1, val=1)
    return {
        (f"O{target[1:]}", decoy, split): graph for (target, decoy, split), graph in graphs.items()
    }


def test_a_phase_may_learn_from_other_data_and_is_judged_on_the_same(tmp_path, pack, seen):
    folder = train(
        small_run("tuned", max_epochs=1),
        packed(tmp_path / "other", other_targets()),
        validation=[pack],
    )
    assert len(by_epoch(seen)[0]) == 6
    training_set = read_description(folder / "last.ckpt")["training_set"]
    assert (training_set["train"], training_set["val"]) == (6, 12)
    both = packed(tmp_path / "both", {("V0", f"d{i}", "train"): labelled(i) for i in range(2)})
    with pytest.raises(ConfigError, match="target 'V0' is in split train and in split val"):
        train(small_run(), both, validation=[pack])


# ---- local quality -------------------------------------------------------------------------------


def test_local_quality_is_learned_beside_dockq_and_comes_with_the_score(tmp_path):
    pack = local_pack(tmp_path / "pack", training_graphs(decoys=12))
    folder = train(small_run(local_weight=1.0, dropout=0.1, max_epochs=20, accumulate=1), pack)
    network, _ = load_weights(folder / "best_loss.ckpt")
    store = GraphStore.open([pack])
    (predicted,) = predict_all([network], store)
    assert torch.equal(predicted.score, predict(network, store))
    batch = store.batch(split_indices(store, "val").tolist())
    truth = torch.stack(
        [batch.edge_y[batch.edge_graph == i].mean() for i in range(len(batch.index))]
    )
    assert np.corrcoef(predicted.local[batch.index], truth)[0, 1] > 0.8
    tuned = Run.parse(
        "tuned",
        {"seed": 1, "hyperparameters": {"max_epochs": 1}, "selection": {}},
        folder / "last.ckpt",
    )
    assert tuned.hyperparameters.local
    assert fingerprint(store) != fingerprint(
        GraphStore.open([training_pack(tmp_path / "other", decoys=12)])
    )


def test_local_quality_without_natives_is_refused(pack, parent):
    with pytest.raises(ConfigError, match="no graph says how good its contacts are"):
        train(small_run(local_weight=0.1), pack, output="refused")
    with pytest.raises(ConfigError, match="its parent does not"):
        Run.parse(
            "phase", {"seed": 1, "hyperparameters": {"local_weight": 0.1}, "selection": {}}, parent
        )


# ---- what a checkpoint remembers of its training -------------------------------------------------


def chains_file(path: Path, *targets: str) -> Path:
    """chains.csv of targets with a chain each."""
    write_chains(
        path, [Chain(t, "d0", "0", "A", "protein", chain(place)) for place, t in enumerate(targets)]
    )
    return path


def remembered_targets(folder: Path) -> list[str] | None:
    record = read_description(folder / "best_loss.ckpt")["training_set"].get("chains")
    return record and record["targets"]


def test_a_checkpoint_remembers_its_training_targets_and_those_of_its_parent(tmp_path, pack):
    table = chains_file(tmp_path / "chains.csv", "T0", "T1", "T2", "V0", "V1")
    assert remembered_targets(train(small_run("one", max_epochs=1), pack, chains=[table])) == [
        "T0",
        "T1",
        "T2",
    ]
    assert remembered_targets(train(small_run("old", max_epochs=1), pack)) is None
    other = packed(tmp_path / "other", other_targets())
    more = chains_file(tmp_path / "more.csv", "O0")
    for parent, expected in (("one", ["O0", "T0", "T1", "T2"]), ("old", None)):
        run = small_run("tuned", parent=Path(parent, "best_loss.ckpt"), max_epochs=1)
        child = train(run, other, output=f"of_{parent}", validation=[pack], chains=[more])
        assert remembered_targets(child) == expected
