"""Which run is best: places under both rules, and the copy of the winner."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from toporank.selection import CHECKPOINT_OF, leaderboard, winner, write_ensemble, write_selection


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def finished(run: str, loss: float, selection: float, seed: int = 1) -> Path:
    """The folder of a run as training leaves it, with checkpoints that are just text; path of its summary."""
    folder = Path("runs", run)
    folder.mkdir(parents=True)
    metrics = {"val_spearman": 0.5, "val_spearman_per_target": 0.4, "val_ranking_loss": 0.1, "val_pearson": 0.6}
    best = {
        "best_loss": {"epoch": 3, "val_loss": loss, "val_selection": selection + 1, **metrics},
        "best_selection": {"epoch": 5, "val_loss": loss + 1, "val_selection": selection, **metrics},
    }
    for name in best:
        (folder / f"{name}.ckpt").write_text(f"{name} of {run}")
    (folder / "summary.json").write_text(json.dumps({"run": run, "seed": seed, "epochs": 9, **best}))
    return folder / "summary.json"


@pytest.fixture
def summaries() -> list[Path]:
    """`b` has the lowest loss, `c` the lowest selection metric."""
    return [finished("c", 0.03, -0.9, seed=7), finished("a", 0.02, -0.5), finished("b", 0.01, -0.7)]


def test_each_run_has_a_place_under_both_rules(summaries):
    table = leaderboard(summaries, "val_loss").set_index("run")
    assert table["rank_val_loss"].to_dict() == {"b": 1, "a": 2, "c": 3}
    assert table["rank_val_selection"].to_dict() == {"c": 1, "b": 2, "a": 3}


@pytest.mark.parametrize(("rule", "order"), [("val_loss", ["b", "a", "c"]), ("val_selection", ["c", "b", "a"])])
def test_the_rule_decides_the_order_and_the_winner(summaries, rule, order):
    table = leaderboard(summaries, rule)
    assert table["run"].tolist() == order
    assert table["chosen"].tolist() == [True, False, False]
    assert winner(table, rule)["run"] == order[0]


def test_a_run_is_ranked_by_its_best_checkpoint_under_each_rule(summaries):
    row = leaderboard(summaries, "val_loss").set_index("run").loc["a"]
    assert (row["best_loss.val_loss"], row["best_selection.val_selection"]) == (0.02, -0.5)
    assert (row["best_loss.epoch"], row["best_selection.epoch"]) == (3, 5)
    assert (row["seed"], row["epochs"], row["folder"]) == (1, 9, str(Path("runs/a")))


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
def test_ties_go_by_name_whatever_the_order_of_the_files(order):
    paths = [finished(run, 0.01, -0.5) for run in ("x_seed2", "x_seed10", "w")]
    table = leaderboard([paths[i] for i in order], "val_loss")
    assert table["run"].tolist() == ["w", "x_seed10", "x_seed2"]
    assert table["rank_val_loss"].tolist() == table["rank_val_selection"].tolist() == [1, 2, 3]


def test_a_single_run_wins():
    assert leaderboard([finished("only", 0.5, 0.5)], "val_selection")["chosen"].tolist() == [True]


@pytest.mark.parametrize("rule", CHECKPOINT_OF)
def test_a_run_that_diverged_is_last_and_stops_nothing(rule):
    paths = [finished("a", math.nan, math.nan), finished("b", 0.9, 0.9), finished("c", 0.8, 0.8)]
    table = leaderboard(paths, rule)
    assert table["run"].tolist() == ["c", "b", "a"]
    assert winner(table, rule)["run"] == "c"


@pytest.mark.parametrize(
    ("rule", "content", "run", "epoch"),
    [("val_loss", "best_loss of b", "b", 3), ("val_selection", "best_selection of c", "c", 5)],
)
def test_the_winners_file_is_copied_with_the_reason_beside_it(summaries, rule, content, run, epoch):
    chosen = write_selection(summaries, rule, Path("out/leaderboard.csv"), Path("out/best"))
    assert Path("out/best.ckpt").read_text() == content
    reason = json.loads(Path("out/best.json").read_text())
    assert reason == chosen
    assert (reason["run"], reason["rule"], reason["epoch"]) == (run, rule, epoch)
    assert Path(reason["checkpoint"]).read_text() == content
    assert reason["val_loss"] == {"b": 0.01, "c": 1.03}[run]


def test_the_written_leaderboard_is_the_leaderboard(summaries):
    write_selection(summaries, "val_loss", Path("leaderboard.csv"), Path("best"))
    pd.testing.assert_frame_equal(pd.read_csv("leaderboard.csv"), leaderboard(summaries, "val_loss"), check_dtype=False)


def test_the_copy_does_not_change_when_the_run_is_trained_again(summaries):
    write_selection(summaries, "val_loss", Path("leaderboard.csv"), Path("best"))
    Path("runs/b/best_loss.ckpt").write_text("trained again")
    assert Path("best.ckpt").read_text() == "best_loss of b"


@pytest.mark.parametrize(("rule", "name"), CHECKPOINT_OF.items())
def test_the_ensemble_is_the_best_checkpoint_of_every_run(summaries, rule, name):
    write_ensemble(summaries, rule, Path("final/ensemble"))
    found = {path.name: path.read_text() for path in Path("final/ensemble").iterdir()}
    assert found == {f"{run}.ckpt": f"{name} of {run}" for run in "abc"}
