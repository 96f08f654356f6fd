"""A training run: what it leaves behind, what it repeats exactly, and how it goes on after an
interruption.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from _chains import chain
from _scoring import score_pack
from _synthetic import (
    METADATA,
    SMALL,
    labelled,
    local_pack,
    packed,
    predict,
    random_graph,
    small_run,
    train_in_a_process,
    training_graphs,
    training_pack,
)
from pytorch_lightning.callbacks import Callback

from toporank.comparing.homology.chain_tables import ChainRow, write_chains
from toporank.errors import CheckpointError, ConfigError, TrainingError
from toporank.files.packfile import PackedGraphs
from toporank.learning import fit
from toporank.learning import train as training
from toporank.learning.checkpoint import choose_fitting, read_description
from toporank.learning.data import GraphStore
from toporank.learning.inference import predict_all
from toporank.learning.lightning import ScorerTraining
from toporank.learning.run import CHECKPOINT_OF, Run
from toporank.learning.splits import fingerprint, open_graphs, split_indices
from toporank.learning.train import TrainingGraphs, train_run
from toporank.learning.weights import OfTorch, load_weights

METRIC_OF = {name: metric for metric, name in CHECKPOINT_OF.items()}
FILES = [
    *(f"{name}.ckpt" for name in METRIC_OF),
    "config.yaml",
    "last.ckpt",
    "metrics.csv",
    "summary.json",
]
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
    assert checkpoints == [
        path.relative_to(other) for path in sorted(other.rglob("*.ckpt"))
    ]
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
    assert {path.name for path in finished.iterdir()} == {*FILES, "runners_up"}
    (kept,) = (finished.parent / STORE / "runs").iterdir()
    names = {path.name for path in kept.iterdir()}
    assert names == {*FILES, "runners_up", "checksums.json", "lock"}


def test_folders_that_an_interrupted_run_of_deepspeed_left_are_in_no_ones_way(pack):
    run = small_run(max_epochs=1)
    train(run, pack)
    (kept,) = (STORE / "runs").iterdir()
    names = {path.name for path in kept.iterdir()}
    shutil.rmtree(kept)
    for name in ("last.ckpt", "best_loss.epoch7.ckpt"):
        (kept / name / "checkpoint").mkdir(parents=True)
    train(run, pack)
    assert {path.name for path in kept.iterdir()} == names
    assert (kept / "last.ckpt").is_file()


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
    assert [read_description(finished / file)["epoch"] for file in files] == best[
        "epoch"
    ].tolist()[:3]
    network, description = load_weights(finished / f"{name}.ckpt")
    assert description["metrics"] == {
        k: v for k, v in best.iloc[0].items() if k.startswith("val_")
    }
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
    pd.testing.assert_series_equal(
        table["val_selection"], expected, check_names=False, rtol=1e-5
    )


def test_constant_predictions_have_no_correlation_and_none_counts_for_them(
    pack, monkeypatch
):
    def constant(self, batch, _):
        rows = [batch.index, batch.y, torch.full_like(batch.y, 0.5)]
        self._validated.append(torch.stack(rows, dim=1).double())

    monkeypatch.setattr(ScorerTraining, "validation_step", constant)
    folder = train(small_run(max_epochs=1, spearman_weight=0.5), pack)
    (row,) = metrics(folder).to_dict("records")
    assert np.isnan(row["val_spearman"])
    assert row["val_selection"] == row["val_loss"] > 0


def test_the_written_configuration_makes_the_same_run_again(finished):
    config = yaml.safe_load((finished / "config.yaml").read_text())
    assert Run.parse(config["run"], config, None) == small_run(
        max_epochs=8, plateau_patience=1
    )


def test_the_checkpoint_says_what_it_was_trained_on(finished):
    description = read_description(finished / "best_loss.ckpt")
    assert (
        description["training_set"]["train"],
        description["training_set"]["val"],
    ) == (18, 12)
    assert {key: description[key] for key in METADATA} == METADATA
    assert (description["node_width"], description["edge_width"]) == (5, 3)


def test_the_best_checkpoints_are_without_the_optimiser_and_far_smaller_than_the_last(
    pack,
):
    """Of a network as large as the default one, where weights are most of a checkpoint."""
    folder = train(
        small_run(max_epochs=1, hidden=32, heads=8, layers=2, readout=64), pack
    )
    last = folder / "last.ckpt"
    assert torch.load(last, weights_only=True)["optimizer_states"][0]["state"]
    for name in METRIC_OF:
        assert not torch.load(folder / f"{name}.ckpt", weights_only=True).get(
            "optimizer_states"
        )
        assert same_weights(folder / f"{name}.ckpt", last)
        assert (folder / f"{name}.ckpt").stat().st_size < 0.4 * last.stat().st_size


def test_the_log_says_how_far_how_good_and_how_long(pack, caplog):
    caplog.set_level("INFO", logger="toporank.learning.lightning")
    train(small_run(max_epochs=2), pack)
    first, line = [record.message for record in caplog.records]
    minutes = re.search(r"at most (\d+\.\d) min left", first)[1]
    assert float(minutes) < 5  # an epoch takes a second
    assert line.startswith("epoch 2 of at most 2, step 6: train_loss 0.")
    assert all(
        word in line
        for word in ("val_loss", "(best", "Spearman", "at most 0.0 min left")
    )


# ---- batches, steps and schedule -----------------------------------------------------------------


def test_every_epoch_sees_every_training_graph_once_in_another_order(pack, seen):
    train(small_run(max_epochs=3), pack)
    expected = split_indices(GraphStore.open([pack]), "train").tolist()
    first, second, third = by_epoch(seen)
    assert sorted(first) == sorted(second) == sorted(third) == sorted(expected)
    assert first != second != third != first
    size = SMALL["batch_size"]
    assert {len(batch) for _, batch in seen} <= {size, len(expected) % size}


def test_accumulated_batches_make_the_step_of_one_batch_as_large_as_all_of_them(
    tmp_path,
):
    """Without dropout, which draws other numbers; two targets with eight decoys each."""
    pack = training_pack(tmp_path / "pack", train=2, decoys=8)

    def trained(size: int, accumulate: int) -> torch.Tensor:
        choice = {
            "batch_size": size,
            "accumulate": accumulate,
            "attention_dropout": 0.0,
        }
        run = small_run(max_epochs=2, **choice)
        folder = train(run, pack, output=f"{size}{accumulate}")
        return torch.cat(
            [value.flatten() for value in weights(folder / "last.ckpt").values()]
        )

    whole = trained(8, 1)
    torch.testing.assert_close(trained(4, 2), whole, rtol=0, atol=1e-5)
    assert (trained(4, 1) - whole).abs().max() > 1e-3


def test_validation_goes_by_target_and_decoy_whatever_the_order_of_the_pack(tmp_path):
    graphs = list(training_graphs().items())
    np.random.default_rng(3).shuffle(graphs)
    store = GraphStore.open([packed(tmp_path / "pack", dict(graphs))])
    names = store.decoys.iloc[split_indices(store, "val")]
    expected = [f"V{t}d{d}" for t in range(2) for d in range(6)]
    assert (names["target"] + names["decoy"]).tolist() == expected


def test_the_learning_rate_falls_to_a_fifth_when_the_loss_stops_falling(pack):
    table = metrics(
        train(small_run(max_epochs=10, plateau_patience=0, learning_rate=0.1), pack)
    )
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
    assert (
        not ((losses >= best_before) & (losses.shift() >= best_before.shift()))
        .iloc[:-1]
        .any()
    )


def test_a_run_can_be_trained_inside_a_cluster_allocation_of_several_tasks(
    pack, monkeypatch
):
    """As in a batch script with `--ntasks=4` that calls Snakemake."""
    for variable in (
        "NTASKS=4",
        "JOB_NAME=study",
        "JOB_ID=1",
        "PROCID=0",
        "LOCALID=0",
        "NODEID=0",
    ):
        monkeypatch.setenv(*f"SLURM_{variable}".split("="))
    assert len(metrics(train(small_run(max_epochs=1), pack))) == 1


# ---- what cannot be trained ----------------------------------------------------------------------


def changed(
    changes: dict[tuple[str, str, str], dict] | None = None, **of_splits: float
) -> dict:
    """The graphs with other tensors in some, and with one label in all of a split."""
    graphs = training_graphs()
    for key, graph in graphs.items():
        if key[2] in of_splits:
            graph.y = torch.tensor([of_splits[key[2]]])
        graph.update((changes or {}).get(key, {}))
    return graphs


def of_split(split: str) -> dict:
    return {key: graph for key, graph in training_graphs().items() if key[2] == split}


IN_T1 = ("T1", "d2", "train")
UNTRAINABLE = {
    "label": (
        changed({IN_T1: {"y": torch.tensor([49.0])}}),
        "T1/d2: 1 labels are not in 0 to 1",
    ),
    "equal": (changed(train=0.3), "labels of split 'train' are 0.3"),
    "equal val": (changed(val=0.3), "labels of split 'val' are 0.3"),
    "no train": (of_split("val"), "model with a graph in split 'train'"),
    "no val": (of_split("train"), "model with a graph in split 'val'"),
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
     (("V1", "d3", "val"), r"the prediction is not a finite number in epoch 0, models V1/d3 ")],
)  # fmt: skip
def test_a_number_that_is_not_finite_from_the_start_is_an_error_that_names_the_decoys(
    tmp_path, decoy, message
):
    graphs = training_graphs()
    graphs[decoy].x *= torch.inf
    with pytest.raises(TrainingError, match=message):
        train(small_run(max_epochs=2, batch_size=1), packed(tmp_path / "pack", graphs))


def test_a_run_that_diverges_later_ends_with_the_best_epochs_before_and_says_why(
    pack, monkeypatch
):
    step = ScorerTraining.training_step

    def diverges(self, batch, number):
        wrong = self.current_epoch == 2 and number == 1
        return step(
            self, batch._replace(x=batch.x * torch.nan) if wrong else batch, number
        )

    monkeypatch.setattr(ScorerTraining, "training_step", diverges)
    folder = train(small_run(), pack)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["epochs"] == len(metrics(folder)) == 2
    assert (
        "the training loss is not a finite number in epoch 2, models T"
        in summary["stopped"]
    )
    assert read_description(folder / "last.ckpt")["epoch"] == 1
    assert all(
        value.isfinite().all() for value in weights(folder / "best_loss.ckpt").values()
    )


# ---- repeating -----------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_network(pack):
    for place in ("here", "there"):
        train_run(
            small_run(), TrainingGraphs([pack]), 1, Path(place), Path(f"store_{place}")
        )
    for name in {*FILES} - {"last.ckpt"}:
        assert Path("here", name).read_bytes() == Path("there", name).read_bytes(), name
    assert same_weights(Path("here/last.ckpt"), Path("there/last.ckpt"))
    other = train(small_run("other", 2), pack)
    assert not same_weights(Path("here/last.ckpt"), other / "last.ckpt")


def test_a_finished_run_is_not_trained_again(pack, seen):
    first = train(small_run(), pack)
    seen.clear()
    again = train(small_run(), pack, output="again")
    assert seen == []
    for name in FILES:
        assert (again / name).read_bytes() == (first / name).read_bytes()


@pytest.mark.parametrize("name", ["last.ckpt", "summary.json"])
def test_a_damaged_run_is_trained_again(pack, name):
    run = small_run(max_epochs=2)
    folder = train(run, pack)
    whole = Path(shutil.copytree(folder, "whole"))
    with open(folder / name, "r+b") as file:  # the file of the store, too
        file.write(b"\0\0\0\0")
    assert_same_run(train(run, pack), whole)


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 2},
        {"learning_rate": 0.01},
        {"hidden": 4},
        {"spearman_weight": 0.5},
        {"loss": "bce"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_decides_the_result_makes_it_another_run(pack, seen, other):
    train(small_run(max_epochs=1), pack)
    seen.clear()
    train(small_run(max_epochs=1, **other), pack, output="other")
    assert seen != []


def test_a_finished_run_is_taken_from_the_store_without_torch(pack):
    """Which takes seconds to import, as often as there are runs in a sweep."""
    run = small_run(max_epochs=1)
    whole = train(run, pack, output="whole")
    heavy = "torch,pandas"
    taken = train_in_a_process(run, pack, Path("again"), without=heavy)
    assert taken.returncode == 0, taken.stderr
    assert_same_run(Path("again"), whole)
    other = dataclasses.replace(run, seed=2)
    trained = train_in_a_process(other, pack, Path("again"), without=heavy)
    assert "halted; None in sys.modules" in trained.stderr


# ---- interruptions -------------------------------------------------------------------------------

HOOKS = [
    "on_train_epoch_start",
    "on_train_batch_end",
    "on_validation_start",
    "on_train_epoch_end",
]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory, pack) -> Callable[[Run], Path]:
    """The folder of a run that nothing interrupted, trained once."""
    folders: dict[str, Path] = {}

    def of(run: Run) -> Path:
        place = folders.setdefault(repr(run), tmp_path_factory.mktemp("whole"))
        train_run(run, TrainingGraphs([pack]), 1, place / run.name, place / "store")
        return place / run.name

    return of


@pytest.mark.parametrize(
    ("hook", "epoch", "choice"),
    [*[(hook, epoch, {"plateau_patience": 0, "learning_rate": 0.1}) for hook in HOOKS for epoch in (1, 4)],
     ("on_train_batch_end", 0, {"plateau_patience": 50}), ("on_train_epoch_end", 4, {"plateau_patience": 50})],
)  # fmt: skip
def test_an_interrupted_run_ends_as_if_nothing_had_happened(
    pack, uninterrupted, interrupt, seen, hook, epoch, choice
):
    run = small_run(max_epochs=6, **choice)
    whole = uninterrupted(run)
    assert (metrics(whole)["learning_rate"].nunique() > 1) == (
        choice["plateau_patience"] == 0
    )
    interrupt(hook, epoch)
    with pytest.raises(Interrupted):
        train(run, pack)
    assert not Path("run").exists(), "half a run was published"
    seen.clear()
    assert_same_run(train(run, pack), whole)
    assert min(trained for trained, _ in seen) >= epoch


@pytest.mark.parametrize("choice", [STOPPING_EARLY, {"max_epochs": 2}])
def test_a_run_that_was_killed_after_its_last_epoch_is_finished_without_training(
    pack, uninterrupted, monkeypatch, seen, choice
):
    def power_cut(*_):
        raise Interrupted

    run = small_run(**choice)
    with monkeypatch.context() as patch:
        patch.setattr(training, "_finish", power_cut)
        with pytest.raises(Interrupted):
            train(run, pack)
    whole = uninterrupted(run)
    seen.clear()
    assert_same_run(train(run, pack), whole)
    assert seen == []


def test_a_run_whose_folder_was_moved_begins_again(
    pack, uninterrupted, interrupt, seen
):
    """Lightning would forget its best epochs."""
    run = small_run(max_epochs=6, plateau_patience=50)
    whole = uninterrupted(run)
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


def test_graphs_that_nobody_learns_from_or_is_judged_by_do_not_make_it_another_training(
    tmp_path,
):
    graphs = training_graphs()
    digest = digest_of(tmp_path, graphs)
    assert digest_of(tmp_path, {**others(), **graphs}) == digest
    among = dict(sorted({**graphs, **others()}.items()))
    assert digest_of(tmp_path, among) == digest
    renamed = {
        (t, f"x{decoy}", split): graph for (t, decoy, split), graph in graphs.items()
    }
    assert digest_of(tmp_path, renamed) == digest
    # so the digest leaves out nothing that counts
    for place, these in enumerate((graphs, among)):
        path = packed(tmp_path / f"pack{place}", these)
        train_run(
            small_run(max_epochs=2),
            TrainingGraphs([path]),
            1,
            Path(f"run{place}"),
            Path(f"store{place}"),
        )
    assert_same_run(Path("run0"), Path("run1"))


def test_the_same_graphs_in_two_packs_are_the_same_training(tmp_path):
    paths = [packed(tmp_path / split, of_split(split)) for split in ("train", "val")]
    for order in (paths, paths[::-1]):
        assert fingerprint(open_graphs(order, order)) == digest_of(
            tmp_path, training_graphs()
        )


def nudged(name: str, row: tuple[int, ...]) -> dict:
    graphs = training_graphs()
    graph = graphs["V1", "d5", "val"]
    old = graph[name][row]
    graph[name][row] = (
        old * 0.5 if old.is_floating_point() else (old + 1) % len(graph.x)
    )
    return graphs


def renamed(change: Callable[[str, str, str], tuple[str, str, str] | None]) -> dict:
    """The graphs under other keys; without those whose key becomes None."""
    graphs = {change(*key): graph for key, graph in training_graphs().items()}
    graphs.pop(None, None)
    return graphs


def swap(target: str, decoy: str, split: str) -> tuple[str, str, str]:
    """Exchange the first two decoys of T0."""
    other = {"d0": "d1", "d1": "d0"} if target == "T0" else {}
    return target, other.get(decoy, decoy), split


CHANGES = {
    "a node feature": nudged("x", (1, 2)),
    "an edge feature": nudged("edge_attr", (3, 0)),
    "the origin of an edge": nudged("edge_index", (0, 2)),
    "the end of an edge": nudged("edge_index", (1, 2)),
    "a label": nudged("y", (0,)),
    "the name of a target": renamed(lambda t, d, s: (t.replace("T1", "Ta"), d, s)),
    "the split of a target": renamed(lambda t, d, s: (t, d, "val" if t == "T1" else s)),
    "one decoy less": renamed(
        lambda *key: None if key == ("T0", "d3", "train") else key
    ),
    "the order of two": renamed(swap),
    "what the features are": training_graphs(metadata={**METADATA, "format": 2}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_is_learned_from_or_judged_by_makes_it_another_training(
    tmp_path, name
):
    assert digest_of(tmp_path, CHANGES[name]) != digest_of(tmp_path, training_graphs())


# ---- fine-tuning ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parent(finished) -> Path:
    return finished / "best_loss.ckpt"


def test_a_fine_tuned_network_starts_from_its_parents_weights_with_a_fresh_optimiser(
    pack, parent
):
    content = parent.read_bytes()
    phase = {"parent": parent, "learning_rate": 1e-9, "max_epochs": 1, "accumulate": 1}
    tuned = train(small_run("tuned", **phase), pack)
    before, after = weights(parent), weights(tuned / "last.ckpt")
    for name, value in before.items():
        torch.testing.assert_close(after[name], value, rtol=0, atol=1e-6)
    (optimiser,) = torch.load(tuned / "last.ckpt", weights_only=True)[
        "optimizer_states"
    ]
    # 18 graphs by 4
    assert {int(entry["step"]) for entry in optimiser["state"].values()} == {5}
    assert metrics(tuned)[["epoch", "learning_rate"]].values.tolist() == [[0, 1e-9]]
    origin = {"run": "run", "epoch": read_description(parent)["epoch"]}
    assert read_description(tuned / "last.ckpt")["parent"] == origin
    assert parent.read_bytes() == content


def phase_of(parent: Path, **hyperparameters) -> Run:
    """A run of a configuration that goes on with a checkpoint."""
    choice = {"seed": 7, "hyperparameters": hyperparameters, "selection": {}}
    return Run.parse("phase", choice, parent)


def test_a_fine_tuned_network_has_its_parents_shape_and_its_own_schedule(parent):
    run = phase_of(parent, learning_rate=0.001, batch_size=4, max_epochs=1)
    for key in ("hidden", "heads", "layers", "readout"):
        assert getattr(run.hyperparameters, key) == SMALL[key]
    assert (run.hyperparameters.learning_rate, run.seed, run.parent) == (
        0.001,
        7,
        parent,
    )


def test_another_parent_of_the_same_name_and_epoch_makes_it_another_run(pack, seen):
    for rate in (0.01, 0.02):
        folder = train(
            small_run("p", max_epochs=1, learning_rate=rate), pack, output=f"p{rate}"
        )
        seen.clear()
        train(
            small_run("t", parent=folder / "last.ckpt", max_epochs=1),
            pack,
            output=f"t{rate}",
        )
        assert seen != []
    assert not same_weights(Path("t0.01/last.ckpt"), Path("t0.02/last.ckpt"))


def test_a_parent_trained_on_other_features_or_widths_is_refused(tmp_path, parent):
    features = {**METADATA["features"], "edges": {"module": "edges/other"}}
    other = training_pack(
        tmp_path / "other", metadata={**METADATA, "features": features}
    )
    with pytest.raises(
        CheckpointError, match=r"best_loss\.ckpt: was trained on other features"
    ):
        train(small_run("tuned", parent=parent), other)
    narrow = training_pack(tmp_path / "narrow", metadata=None)
    wide = training_pack(tmp_path / "wide", metadata=None, widths=(6, 3))
    unnamed = train(small_run(max_epochs=1), narrow) / "last.ckpt"
    with pytest.raises(CheckpointError, match="was trained on other graphs"):
        train(small_run("tuned", parent=unnamed), wide)


def test_graphs_that_lack_columns_of_a_checkpoint_are_scored_and_learned_from(tmp_path):
    def pack_with(*columns: str) -> Path:
        kind = {"edge_columns": [*columns], "node_columns": METADATA["node_columns"]}
        path = tmp_path / "".join(columns)
        return training_pack(path, metadata=kind, widths=(5, len(columns)))

    wide = train(small_run("w", max_epochs=1), pack_with("a", "b", "c")) / "last.ckpt"
    narrow = pack_with("c", "a")
    scores = score_pack(wide, [], narrow)
    network, description = load_weights(wide)
    store = GraphStore.of(PackedGraphs.open([narrow]).with_columns(description))
    assert store.edge_width == 3
    expected = predict(network, store).tolist()
    assert [score.pred_dockq for score in scores] == pytest.approx(expected, abs=1e-5)
    tuned = train(small_run("t", parent=wide, max_epochs=1), narrow) / "last.ckpt"
    assert read_description(tuned)["edge_columns"] == ["a", "b", "c"]
    others = pack_with("c", "d")
    with pytest.raises(
        CheckpointError, match=r"was trained on other graphs: .*give a checkpoint of"
    ):
        score_pack(wide, [], others)
    of_others = train(small_run("o", max_epochs=1), others) / "last.ckpt"
    assert choose_fitting([of_others, wide], [narrow]) == wide
    assert choose_fitting([wide, of_others], [others]) == of_others
    with pytest.raises(CheckpointError, match=r"none of .* fits: .*; .*last\.ckpt"):
        choose_fitting([wide, tuned], [others])


def test_a_frozen_part_keeps_its_parents_weights_and_the_rest_learns(pack, parent):
    run = small_run("tuned", parent=parent, max_epochs=1)
    train(run, pack)  # another run than the one with frozen parts
    run = dataclasses.replace(run, freeze=("embed_nodes", "layers.0"))
    before, after = weights(parent), weights(train(run, pack) / "last.ckpt")
    same = {name for name, value in before.items() if torch.equal(after[name], value)}
    starts = ("network.embed_nodes.", "network.layers.0.")
    frozen = {name for name in before if name.startswith(starts)}
    assert frozen
    assert frozen <= same
    assert any(name.startswith("network.head.") for name in before.keys() - same)


def test_a_part_that_does_not_exist_or_all_of_them_cannot_be_frozen(pack, parent):
    run = small_run("tuned", parent=parent)
    parts = {name.split(".")[1] for name in weights(parent)} - {
        "scale_nodes",
        "scale_edges",
    }
    with pytest.raises(
        ConfigError,
        match=r"the network has no part 'heads', did you .*embed_nodes.*head",
    ):
        train(dataclasses.replace(run, freeze=("heads",)), pack)
    with pytest.raises(ConfigError, match="every part of the network is frozen"):
        train(dataclasses.replace(run, freeze=tuple(parts)), pack)


def other_targets() -> dict:
    graphs = training_graphs(seed=5, train=1, val=1)
    return {
        (f"O{t[1:]}", decoy, split): graph
        for (t, decoy, split), graph in graphs.items()
    }


def test_a_phase_may_learn_from_other_data_and_is_judged_on_the_same(
    tmp_path, pack, seen
):
    other = packed(tmp_path / "other", other_targets())
    folder = train(small_run("tuned", max_epochs=1), other, validation=[pack])
    assert len(by_epoch(seen)[0]) == 6
    training_set = read_description(folder / "last.ckpt")["training_set"]
    assert (training_set["train"], training_set["val"]) == (6, 12)
    both = packed(
        tmp_path / "both", {("V0", f"d{i}", "train"): labelled(i) for i in range(2)}
    )
    with pytest.raises(
        ConfigError, match="target 'V0' is in split train and in split val"
    ):
        train(small_run(), both, validation=[pack])


# ---- local quality -------------------------------------------------------------------------------


def test_local_quality_is_learned_beside_dockq_and_comes_with_the_score(tmp_path):
    pack = local_pack(tmp_path / "pack", training_graphs(decoys=12))
    folder = train(
        small_run(local_weight=1.0, dropout=0.1, max_epochs=20, accumulate=1), pack
    )
    network, _ = load_weights(folder / "best_loss.ckpt")
    store = GraphStore.open([pack])
    (predicted,) = predict_all([OfTorch(network)], store)
    assert predicted.score.tolist() == predict(network, store).tolist()
    batch = store.batch(split_indices(store, "val").tolist())
    of_graphs = [
        batch.edge_y[batch.edge_graph == i].mean() for i in range(len(batch.index))
    ]
    assert np.corrcoef(predicted.local[batch.index], torch.stack(of_graphs))[0, 1] > 0.8
    assert phase_of(folder / "last.ckpt", max_epochs=1).hyperparameters.local
    without = GraphStore.open([training_pack(tmp_path / "other", decoys=12)])
    assert fingerprint(store) != fingerprint(without)


def test_local_quality_without_natives_is_refused(pack, parent):
    with pytest.raises(ConfigError, match="no graph says how good its contacts are"):
        train(small_run(local_weight=0.1), pack, output="refused")
    with pytest.raises(ConfigError, match="its parent does not"):
        phase_of(parent, local_weight=0.1)


# ---- what a checkpoint remembers of its training -------------------------------------------------


def chains_file(path: Path, *targets: str) -> Path:
    """chains.csv of targets with a chain each."""
    rows = [
        ChainRow(t, "d0", "0", "A", "protein", chain(place))
        for place, t in enumerate(targets)
    ]
    write_chains(path, rows)
    return path


def remembered_targets(folder: Path) -> list[str] | None:
    record = read_description(folder / "best_loss.ckpt")["training_set"].get("chains")
    return record and record["targets"]


def test_a_checkpoint_remembers_its_training_targets_and_those_of_its_parent(
    tmp_path, pack
):
    table = chains_file(tmp_path / "chains.csv", "T0", "T1", "T2", "V0", "V1")
    with_chains = train(small_run("one", max_epochs=1), pack, chains=[table])
    assert remembered_targets(with_chains) == ["T0", "T1", "T2"]
    assert remembered_targets(train(small_run("old", max_epochs=1), pack)) is None
    other = packed(tmp_path / "other", other_targets())
    more = chains_file(tmp_path / "more.csv", "O0")
    for parent, expected in (("one", ["O0", "T0", "T1", "T2"]), ("old", None)):
        run = small_run("tuned", parent=Path(parent, "best_loss.ckpt"), max_epochs=1)
        child = train(
            run, other, output=f"of_{parent}", validation=[pack], chains=[more]
        )
        assert remembered_targets(child) == expected
