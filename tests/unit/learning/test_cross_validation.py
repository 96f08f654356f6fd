"""Every decoy is predicted by networks that were trained without its cluster."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from _synthetic import predict, small_run, training_pack

from toporank.comparing.homology.chain_tables import TargetSplit, write_splits
from toporank.errors import ConfigError, RecordError
from toporank.finding.labels import Label
from toporank.learning.checkpoint import read_description
from toporank.learning.data import GraphStore
from toporank.learning.folds import out_of_fold
from toporank.learning.out_of_fold import (
    Prediction,
    group_metrics,
    read_metrics,
    write_metrics,
    write_predictions,
)
from toporank.learning.splits import open_graphs, split_indices
from toporank.learning.train import TrainingGraphs, train_run
from toporank.learning.weights import load_weights

SPLITS = [
    TargetSplit("set", f"T{i}", f"T{i}", "train", i % 3, "", None) for i in range(4)
] + [TargetSplit("set", f"V{i}", f"V{i}", "val", i, "", None) for i in range(2)]
"""T0 T3 V0, T1 V1 and T2 are the folds."""


@pytest.fixture(scope="module")
def crossed(tmp_path_factory) -> Path:
    """A folder with a pack, its splits, and the runs of three folds with two seeds."""
    folder = tmp_path_factory.mktemp("crossed")
    (folder / "set").mkdir()
    pack = training_pack(folder / "set" / "graphs.safetensors", train=4, decoys=4)
    write_splits(folder / "splits.csv", SPLITS)
    for fold, seed in ((0, 1), (0, 2), (1, 1), (2, 1)):
        run, output = (
            small_run(f"tiny_seed{seed}", seed, max_epochs=1),
            folder / f"fold{fold}" / f"tiny_seed{seed}",
        )
        source = TrainingGraphs([pack], splits=folder / "splits.csv", fold=fold)
        train_run(run, source, 1, output, folder / "store")
    return folder


def test_a_fold_is_neither_learned_from_nor_judged(crossed):
    packs = [crossed / "set" / "graphs.safetensors"]
    graphs = open_graphs(packs, packs, crossed / "splits.csv", fold=0)
    sides = {
        split: set(graphs.target[split_indices(graphs, split)])
        for split in ("train", "val")
    }
    assert sides == {"train": {"T2"}, "val": {"T1", "V1"}}


def test_outside_a_cross_validation_the_table_says_what_is_learned_from(
    crossed, tmp_path
):
    packs = [crossed / "set" / "graphs.safetensors"]
    rows = [
        row._replace(split="val" if row.target == "T0" else "train")
        for row in SPLITS
        if row.target != "V1"
    ]
    write_splits(tmp_path / "splits.csv", rows)
    graphs = open_graphs(packs, packs, tmp_path / "splits.csv")
    held = set(graphs.target[split_indices(graphs, "val")])
    assert held == {"T0", "V1"}  # of V1 the table says nothing, its labels do


def test_every_labelled_decoy_is_predicted_by_the_runs_of_its_fold(crossed):
    pack = crossed / "set" / "graphs.safetensors"
    labels = [
        Label(target, f"d{d}", 0.5, "", "docked")
        for target in ("T0", "T1", "T2", "V1")
        for d in range(4)
    ]
    labels.append(Label("T0", "no_graph", 0.25, ""))
    summaries = sorted(crossed.glob("fold*/*/summary.json"))
    found = {
        row[2:4]: row
        for row in out_of_fold(summaries, "val_loss", [pack], SPLITS, {"set": labels})
    }
    assert found.keys() == {(label.target, label.decoy) for label in labels}
    store = GraphStore.open([pack])
    place = {
        (t, d): i
        for i, (t, d) in enumerate(zip(store.target, store.decoy, strict=True))
    }
    for target, runs in {
        "T0": ["fold0/tiny_seed1", "fold0/tiny_seed2"],
        "V1": ["fold1/tiny_seed1"],
    }.items():
        expected = [
            predict(load_weights(crossed / run / "best_loss.ckpt")[0], store).numpy()
            for run in runs
        ]
        row, i = found[target, "d2"], place[target, "d2"]
        assert row.pred_dockq == pytest.approx(
            np.mean([e[i] for e in expected]), abs=1e-6
        )
        assert (row.pred_sd is None) == (len(runs) == 1)
        assert row[:6] == ("tiny", "set", target, "d2", "docked", target)
    missing = found["T0", "no_graph"]
    assert (missing.dockq, missing.pred_dockq, missing.fold) == (0.25, None, 0)


def test_clusters_are_balanced_as_the_table_of_splits_says_and_not_without_it(
    crossed, tmp_path
):
    pack, rows = (
        crossed / "set" / "graphs.safetensors",
        [row._replace(cluster="T") for row in SPLITS],
    )
    write_splits(
        tmp_path / "splits.csv",
        [row._replace(cluster="T0") if row.target == "T0" else row for row in rows],
    )
    run = small_run("balanced", sampling="cluster_balanced", max_epochs=1)
    source = TrainingGraphs([pack], splits=tmp_path / "splits.csv")
    train_run(run, source, 1, tmp_path / "run", crossed / "store")
    known = read_description(tmp_path / "run" / "last.ckpt")["training_set"]["clusters"]
    assert known == {"T0": "T0", "T1": "T", "T2": "T", "T3": "T"}
    with pytest.raises(
        ConfigError,
        match=r"cluster_balanced: .*4 training targets belong, such as T0 \(give",
    ):
        train_run(run, TrainingGraphs([pack]), 1, tmp_path / "run", crossed / "store")


def predictions() -> list[Prediction]:
    """Three targets in two clusters: docked models ranked right, predicted ones ranked wrong, one
    not predicted.
    """
    rows = []
    for target, cluster in (("A", "A"), ("B", "A"), ("C", "C")):
        for group, values in (
            ("docked", (0.1, 0.5, 0.9)),
            ("predicted", (0.9, 0.5, 0.1)),
        ):
            for true, value in zip((0.0, 0.4, 0.8), values, strict=True):
                rows.append(
                    Prediction(
                        "one",
                        "set",
                        target,
                        f"{group}{true}",
                        group,
                        cluster,
                        0,
                        true,
                        value,
                        None,
                    )
                )
    return [
        *rows,
        Prediction("one", "set", "C", "none", "docked", "C", 0, 0.5, None, None),
    ]


def test_groups_of_decoys_are_judged_apart_with_clusters_as_samples(tmp_path):
    rows = group_metrics(predictions())
    found = {(row.group, row.metric): row for row in rows}
    assert [
        found[group, "spearman"].value for group in ("docked", "predicted")
    ] == pytest.approx([1.0, -1.0])
    assert found["docked", "ranking_loss"][3:] == (0.0, 0.0, 0.0, 9, 3, 2)
    assert found["predicted", "pooled spearman"].value == pytest.approx(-1.0)
    assert found["all", "ranking_loss"].n_decoys == 18
    assert [row.group for row in rows if row.metric == "spearman"] == [
        "all",
        "docked",
        "predicted",
    ]
    write_metrics(tmp_path / "metrics.csv", rows)
    assert read_metrics(tmp_path / "metrics.csv") == rows
    write_predictions(tmp_path / "predictions.csv", predictions())
    with open(tmp_path / "predictions.csv", newline="") as file:
        assert [row["pred_dockq"] for row in csv.DictReader(file)][-2:] == ["0.1", ""]
    with pytest.raises(RecordError, match="not the metrics of a cross-validation"):
        read_metrics(tmp_path / "predictions.csv")


def test_decoys_without_group_are_judged_together_only():
    rows = group_metrics([row._replace(group="") for row in predictions()])
    assert {row.group for row in rows} == {"all"}


def test_equal_names_in_two_data_sets_are_different_decoys():
    twice = [
        row._replace(dataset=name)
        for name in ("one", "two")
        for row in predictions()
        if row.group == "docked"
    ]
    assert {row.n_targets for row in group_metrics(twice)} == {6}
