"""One command takes decoys through every stage; what it leaves behind is complete and adds up."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from _synthetic import predict

from conftest import (
    DECOYS,
    N_DECOYS,
    UNLABELLED,
    WITHOUT_DECOY,
    Study,
    clone_to,
    make_study,
)
from toporank.learning.data import GraphStore
from toporank.learning.weights import load_weights

PROMISED = [
    "mini/interface/1AVZ/near1.csv", "mini/topology/1AVZ/near1.csv", "mini/nodes/1AVZ/near1.csv",
    "mini/graphs/1AVZ/near1.pt", "mini/coverage.tsv",
    *(f"training/tiny_seed{seed}/{name}" for seed in (1, 2) for name in (
        "best_loss.ckpt", "best_selection.ckpt", "best_ranking.ckpt", "last.ckpt", "metrics.csv", "summary.json",
        "config.yaml")),
    "training/tiny_seed1/runners_up/best_loss_2.ckpt", "training/winners.csv", "training/configs.csv",
    "training/leaderboard.csv", "training/best.ckpt", "training/best.json",
    "finetune/phase1_seed3/best_loss.ckpt", "finetune/phase2_seed4/best_loss.ckpt",
    "final/best.ckpt", "final/best.json", "final/scorer.json", "scores/mini/models.csv",
    "scores/mini/details.csv", "scores/mini/targets.csv",
    "scores/mini/residues.csv", "scores/mini/contacts.csv",
    "mini/chains.csv", "splits.csv", "leakage.csv",
    "scores/mini/confidence.csv",
    "evaluation/mini/per_target.csv", "evaluation/mini/summary.json", "report.html",
]  # fmt: skip
SECOND = {"tiny_seed2", "phase2_seed4"}


def coverage(study) -> pd.DataFrame:
    return pd.read_csv(
        study.results / "mini/coverage.tsv", sep="\t", keep_default_na=False
    )


def test_every_promised_file_is_there(finished):
    assert [path for path in PROMISED if not (finished.results / path).is_file()] == []


def test_every_decoy_and_every_label_has_a_row_and_the_counts_add_up(finished):
    table = coverage(finished)
    assert len(table) == N_DECOYS + 1
    assert dict(table["status"].value_counts()) == {
        "ok": N_DECOYS - 1,
        "no_interface": 1,
        "label_without_decoy": 1,
    }
    unlabelled = table[table["dockq"] == ""]
    assert list(zip(unlabelled["target"], unlabelled["decoy"], strict=True)) == [
        UNLABELLED
    ]
    lost = table[table["status"] == "label_without_decoy"].iloc[0]
    assert (lost.target, lost.decoy) == WITHOUT_DECOY
    assert (
        f"mini: {N_DECOYS} models = {N_DECOYS - 1} ok + 1 no_interface; "
        f"{N_DECOYS} labels = {N_DECOYS - 2} with a graph + 1 label_without_decoy + 1 "
        "no_interface; "
        "1 model without label" in (finished.home / "printed.txt").read_text()
    )


def models_of(study) -> pd.DataFrame:
    """models.csv and details.csv in one table."""
    models, details = (
        pd.read_csv(study.results / f"scores/mini/{name}.csv")
        for name in ("models", "details")
    )
    return models.merge(details, on=["target", "decoy"])


def test_every_decoy_with_a_graph_is_compared_with_the_others_of_its_target(finished):
    models = models_of(finished)
    consensus = models.loc[models["status"] == "ok", "consensus"]
    assert consensus.between(0, 1).all()
    assert consensus.max() > 0


def test_a_decoy_without_interface_is_ranked_last_and_said_to_be_so(finished):
    models = models_of(finished)
    apart = models[models["decoy"] == "apart1"].iloc[0]
    assert (apart["status"], apart["n_interface_residues"], apart["n_chains"]) == (
        "no_interface",
        0,
        2,
    )
    assert pd.isna(apart["dockq"])
    assert len(models) == N_DECOYS
    for target, part in models.groupby("target"):
        assert list(part["rank"]) == list(range(1, len(DECOYS[target]) + 1))
        assert part["dockq"].dropna().is_monotonic_decreasing
    assert models["network_sd"].notna().sum() == N_DECOYS - 1


def test_decoys_are_scored_by_the_mean_of_the_best_two_runs(finished):
    best = pd.read_csv(finished.results / "final/leaderboard.csv")["run"][:2]
    members = [finished.results / f"final/ensemble/{run}.ckpt" for run in best]
    assert sorted((finished.results / "final/ensemble").glob("*.ckpt")) == sorted(
        members
    )
    store = GraphStore.open([finished.results / "mini/graphs.safetensors"])
    found = np.array(
        [predict(load_weights(member)[0], store).numpy() for member in members],
        dtype=float,
    )
    expected = store.decoys[["target", "decoy"]].assign(
        mean=found.mean(axis=0), sd=abs(found[0] - found[1]) / 2**0.5
    )
    models = models_of(finished).merge(expected, on=["target", "decoy"])
    assert len(models) == N_DECOYS - 1
    assert models["score"].tolist() == pytest.approx(models["mean"].tolist(), abs=1e-6)
    assert models["network_sd"].tolist() == pytest.approx(
        models["sd"].tolist(), abs=1e-6
    )
    assert models["sd"].max() > 1e-4


def test_the_best_checkpoint_is_the_best_of_the_leaderboard(finished):
    leaderboard = pd.read_csv(finished.results / "final/leaderboard.csv")
    assert set(leaderboard["run"]) == {
        "tiny_seed1",
        "tiny_seed2",
        "phase1_seed3",
        "phase2_seed4",
    }
    best = json.loads(finished.text("final/best.json"))
    assert best["val_loss"] == pytest.approx(leaderboard["best_loss.val_loss"].min())
    chosen = leaderboard[leaderboard["chosen"]].iloc[0]
    assert (chosen["run"], chosen["rank_val_loss"]) == (best["run"], 1)
    kept = finished.home / best["checkpoint"]
    assert (finished.results / "final/best.ckpt").read_bytes() == kept.read_bytes()


def test_fine_tuning_starts_from_its_parent(finished):
    sweep = json.loads(finished.text("training/best.json"))
    assert f"run: {sweep['run']}" in finished.text("finetune/phase1_seed3/config.yaml")
    assert "run: phase1_seed3" in finished.text("finetune/phase2_seed4/config.yaml")


def test_what_training_has_seen_of_each_target_is_told(finished):
    leakage = pd.read_csv(
        finished.results / "scores/mini/targets.csv", keep_default_na=False
    ).set_index("target")
    splits = pd.read_csv(
        finished.results / "splits.csv", keep_default_na=False
    ).set_index("target")["split"]
    trained = splits[splits == "train"].index.drop("2I25")
    assert set(leakage.index) == set(DECOYS)
    assert (leakage.loc[trained, "nearest_training_target"] == trained).all()
    assert (
        leakage.loc["2I25", "seen_in_training"],
        leakage.loc["2I25", "why_seen"],
    ) == (
        "unknown",
        "no model of it was built",
    )
    assert "seen in training" in (finished.home / "printed.txt").read_text()


def test_a_second_run_does_nothing_and_says_so(finished):
    again = finished.run("all")
    assert "Nothing to be done" in again.stdout


@pytest.mark.parametrize(
    ("file", "text", "steps"),
    [
        ("report/style.css", "/* changed */", {"report_scores", "report_study"}),
        (
            "scorer/judge.py", "CHANGED = True",
            {"select_final", "score_targets", "collect_scores", "evaluate_ranking", "report_scores", "report_study"},
        ),
    ],
)  # fmt: skip
def test_changed_code_is_followed_by_the_steps_that_use_it_alone(
    finished, tmp_path, file, text, steps
):
    """Also where the program lies in another place."""
    clone = clone_to(tmp_path / "toporank")
    with open(clone / "lib/toporank" / file, "a") as changed:
        changed.write(f"{text}\n")
    printed = Study(finished.home, clone).run("all", "-n").stdout
    planned = set(re.findall(r"^([a-z]\w+) +\d+$", printed, re.MULTILINE))
    assert planned == {"all", "total", *steps}


@pytest.mark.slow
def test_the_same_seeds_give_the_same_results(finished, tmp_path):
    """A run in another place gives every file byte for byte.

    It has nothing to reuse but the second run of each kind, which is taken if its seed, parent and
    graphs are the same.
    """
    other = make_study(tmp_path / "elsewhere")
    for kept in finished.home.glob(".toporank/store/runs/*"):
        if json.loads((kept / "summary.json").read_text())["run"] in SECOND:
            shutil.copytree(kept, other.home / kept.relative_to(finished.home))
    other.run("all")
    logs = [
        log
        for stage in ("training", "finetune")
        for log in other.home.glob(f"logs/{stage}/*.log")
    ]
    assert {
        log.stem for log in logs if "taken from the reuse store" in log.read_text()
    } == SECOND
    theirs, ours = other.tree(), finished.tree()
    assert theirs.keys() == ours.keys()
    of_folder = {
        name for name in ours if name.endswith("/last.ckpt")
    }  # Lightning writes its folder into it
    assert [
        name for name in ours if theirs[name] != ours[name] and name not in of_folder
    ] == []
