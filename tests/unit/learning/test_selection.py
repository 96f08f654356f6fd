"""Which run is best: places under both rules, and the copy of the winner."""

from __future__ import annotations

import json
import math
from operator import itemgetter
from pathlib import Path

import pandas as pd
import pytest

from toporank import layout
from toporank.learning.conclusion import conclusion
from toporank.learning.out_of_fold import GroupMetric, write_metrics
from toporank.learning.selection import (  # fmt: skip
    CHECKPOINT_OF,
    by_config,
    leaderboard,
    verdict,
    winner,
    winners,
    write_ensemble,
    write_selection,
)

pytestmark = pytest.mark.usefixtures("own_folder")


def finished(
    run: str,
    loss: float,
    selection: float,
    ranking: float = 0.1,
    seed: int = 1,
    parent: str = "",
) -> Path:
    """The folder of a run as training leaves it, with checkpoints that are just text; path of its
    summary.
    """
    folder = Path("runs", run)
    folder.mkdir(parents=True)
    metrics = {
        "val_spearman": 0.5,
        "val_spearman_per_target": 0.4,
        "val_pearson": 0.6,
        "val_pearson_per_target": 0.3,
    }
    worse = {
        "val_loss": loss + 1,
        "val_selection": selection + 1,
        "val_ranking_loss": ranking + 0.1,
        **metrics,
    }
    best = {
        "best_loss": {"epoch": 3, **worse, "val_loss": loss},
        "best_selection": {"epoch": 5, **worse, "val_selection": selection},
        "best_ranking": {
            "epoch": 7,
            **worse,
            "val_ranking_loss": ranking,
            "val_spearman_per_target": 0.45,
        },
    }
    for name in best:
        (folder / f"{name}.ckpt").write_text(f"{name} of {run}")
    origin = {"run": parent, "epoch": 3} if parent else None
    summary = {
        "run": run,
        "seed": seed,
        "epochs": 9,
        "stopped": "",
        "parent": origin,
        **best,
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder / "summary.json"


@pytest.fixture
def summaries() -> list[Path]:
    """`b` has the lowest loss, `c` the lowest selection metric, `a` the lowest ranking loss."""
    return [
        finished("c", 0.03, -0.9, 0.3, seed=7),
        finished("a", 0.02, -0.5, 0.1),
        finished("b", 0.01, -0.7, 0.2),
    ]


def test_each_run_has_a_place_under_every_rule(summaries):
    table = leaderboard(summaries, "val_loss").set_index("run")
    assert table["rank_val_loss"].to_dict() == {"b": 1, "a": 2, "c": 3}
    assert table["rank_val_selection"].to_dict() == {"c": 1, "b": 2, "a": 3}
    assert table["rank_val_ranking_loss"].to_dict() == {"a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize(
    ("rule", "order"),
    [
        ("val_loss", ["b", "a", "c"]),
        ("val_selection", ["c", "b", "a"]),
        ("val_ranking_loss", ["a", "b", "c"]),
    ],
)
def test_the_rule_decides_the_order_and_the_winner(summaries, rule, order):
    table = leaderboard(summaries, rule)
    assert table["run"].tolist() == list(order)
    assert table["chosen"].tolist() == [True, False, False]
    assert winner(table, rule)["run"] == order[0]


def test_a_run_is_ranked_by_its_best_checkpoint_under_each_rule(summaries):
    row = leaderboard(summaries, "val_loss").set_index("run").loc["a"]
    assert (row["best_loss.val_loss"], row["best_selection.val_selection"]) == (
        0.02,
        -0.5,
    )
    assert (row["best_loss.epoch"], row["best_selection.epoch"]) == (3, 5)
    assert (row["seed"], row["epochs"], row["folder"]) == (1, 9, str(Path("runs/a")))


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
def test_ties_go_by_name_whatever_the_order_of_the_files(order):
    paths = [finished(run, 0.01, -0.5) for run in ("x_seed2", "x_seed10", "w")]
    table = leaderboard([paths[i] for i in order], "val_loss")
    assert table["run"].tolist() == ["w", "x_seed10", "x_seed2"]
    assert (
        table["rank_val_loss"].tolist()
        == table["rank_val_selection"].tolist()
        == [1, 2, 3]
    )


@pytest.mark.parametrize("rule", CHECKPOINT_OF)
def test_a_run_that_diverged_is_last_and_stops_nothing(rule):
    paths = [
        finished("a", *[math.nan] * 3),
        finished("b", 0.9, 0.9, 0.9),
        finished("c", 0.8, 0.8, 0.8),
    ]
    table = leaderboard(paths, rule)
    assert table["run"].tolist() == ["c", "b", "a"]
    assert winner(table, rule)["run"] == "c"


@pytest.mark.parametrize(
    ("rule", "content", "run", "epoch"),
    [
        ("val_loss", "best_loss of b", "b", 3),
        ("val_selection", "best_selection of c", "c", 5),
        ("val_ranking_loss", "best_ranking of a", "a", 7),
    ],
)
def test_the_winners_file_is_copied_with_the_reason_beside_it(
    summaries, rule, content, run, epoch
):
    chosen = write_selection(
        summaries, rule, Path("out/leaderboard.csv"), Path("out/best")
    )
    assert Path("out/best.ckpt").read_text() == content
    reason = json.loads(Path("out/best.json").read_text())
    assert reason == chosen
    assert (reason["run"], reason["rule"], reason["epoch"]) == (run, rule, epoch)
    assert Path(reason["checkpoint"]).read_text() == content
    assert reason["val_loss"] == {"b": 0.01, "c": 1.03, "a": 1.02}[run]


def test_the_written_leaderboard_is_the_leaderboard(summaries):
    write_selection(summaries, "val_loss", Path("leaderboard.csv"), Path("best"))
    pd.testing.assert_frame_equal(
        pd.read_csv("leaderboard.csv", keep_default_na=False),
        leaderboard(summaries, "val_loss"),
        check_dtype=False,
    )


def test_the_copy_does_not_change_when_the_run_is_trained_again(summaries):
    write_selection(summaries, "val_loss", Path("leaderboard.csv"), Path("best"))
    Path("runs/b/best_loss.ckpt").write_text("trained again")
    assert Path("best.ckpt").read_text() == "best_loss of b"


@pytest.mark.parametrize(("rule", "name"), CHECKPOINT_OF.items())
def test_the_ensemble_is_the_best_checkpoint_of_every_run(summaries, rule, name):
    write_ensemble(summaries, rule, Path("final/ensemble"), None)
    found = {
        path.name: path.read_text() for path in Path("final/ensemble").glob("*.ckpt")
    }
    assert found == {f"{run}.ckpt": f"{name} of {run}" for run in "abc"}


def test_the_ensemble_may_be_the_best_few_runs(summaries):
    assert write_ensemble(summaries, "val_loss", Path("ensemble"), 2) == ["b", "a"]
    assert {path.name for path in Path("ensemble").iterdir()} == {"a.ckpt", "b.ckpt"}


# ---- what the choice costs -----------------------------------------------------------------------


def test_the_winner_under_each_rule_is_shown_whatever_the_rule_that_chose(summaries):
    for rule in CHECKPOINT_OF:
        table = winners(leaderboard(summaries, rule))
        assert dict(zip(table["rule"], table["run"], strict=True)) == {
            "val_loss": "b", "val_selection": "c", "val_ranking_loss": "a",
        }  # fmt: skip


def test_regret_is_the_metric_of_the_chosen_less_the_best_among_all_kept_checkpoints(
    summaries,
):
    table = leaderboard(summaries, "val_loss")
    by_loss, by_ranking = winner(table, "val_loss"), winner(table, "val_ranking_loss")
    assert by_loss["regret.val_loss"] == 0.0
    assert by_loss["regret.val_ranking_loss"] == pytest.approx(0.3 - 0.1)
    assert by_loss["regret.val_spearman_per_target"] == pytest.approx(0.05)
    assert by_ranking["regret.val_ranking_loss"] == 0.0
    assert by_ranking["regret.val_loss"] == pytest.approx(1.02 - 0.01)


def test_seeds_of_one_configuration_have_a_mean_and_a_deviation():
    paths = [
        finished(f"x_seed{s}", loss, 0.0, seed=s)
        for s, loss in ((1, 0.1), (2, 0.2), (3, 0.3))
    ]
    table = by_config(
        leaderboard([*paths, finished("y_seed1", 0.15, 0.0)], "val_loss"), "val_loss"
    )
    assert table["config"].tolist() == ["y", "x"]
    assert table["seeds"].tolist() == [1, 3]
    assert (table["val_loss.mean"][1], table["val_loss.sd"][1]) == pytest.approx(
        (0.2, 0.1)
    )
    assert math.isnan(table["val_loss.sd"][0])


# ---- fine-tunes ----------------------------------------------------------------------------------


PARENT = ("p_seed1", 0.1, "")
NONE_BEATS = (
    "no fine-tune beats its parent: p_seed1 is left as it was, p_seed1 is final"
)
ONE_BEATS = (
    "two (from one) beats its parent, but no fine-tune beats p_seed1, which is final"
)


@pytest.mark.parametrize(
    ("runs", "better", "says"),
    [
        ([PARENT], [], ""),
        ([PARENT, ("a", 0.2, "p_seed1")], [], NONE_BEATS),
        ([PARENT, ("a", 0.1, "p_seed1")], [], NONE_BEATS),
        (
            [PARENT, ("a", 0.05, "p_seed1")],
            ["a"],
            "fine-tune a beats its parent p_seed1 and is final",
        ),
        ([PARENT, ("a", 0.05, "of another study")], [], ""),
        ([PARENT, ("one", 0.4, "p_seed1"), ("two", 0.3, "one")], ["two"], ONE_BEATS),
    ],
    ids=["no fine-tune", "worse", "as good", "better", "of a file", "of another phase"],
)
def test_what_fine_tuning_brought_is_said_and_the_better_one_is_final(
    runs, better, says
):
    paths = [finished(run, loss, 0.0, parent=parent) for run, loss, parent in runs]
    table = leaderboard(paths, "val_loss")
    assert table["run"][table["beats_parent"]].tolist() == better
    chosen = write_selection(paths, "val_loss", Path("leaderboard.csv"), Path("best"))
    assert chosen["fine_tuning"] == verdict(table) == says
    assert chosen["run"] == min(runs, key=itemgetter(1))[0]


# ---- the last paragraph --------------------------------------------------------------------------


def measures(loss: float, random: float) -> dict:
    interval = {"mean": loss, "low": loss - 0.01, "high": loss + 0.01}
    sizes = {"n_decoys": 1200, "n_targets": 28, "n_clusters": 21}
    return {
        **sizes,
        "per_target": {"ranking_loss": interval, "random_pick_loss": {"mean": random}},
    }


def test_training_ends_with_how_good_against_what_on_how_much_where_and_what_next():
    scorer = Path("results/scorer")
    assert conclusion(Path(), ["set"], scorer) == []
    path = Path(layout.EVALUATION.format(dataset="set"))
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"train": {}, "val": measures(0.12, 0.45)}))
    assert conclusion(Path(), ["bare", "set"], None) == []
    (said,) = conclusion(Path(), ["bare", "set"], scorer)
    assert said == (
        "The model that scores best is 0.12 DockQ worse than the best of its target (95 % "
        "interval 0.11 to 0.13); a"
        " model picked at random is 0.45 worse. This was measured on 1,200 models of 28 targets "
        "in 21 clusters of"
        " homologous targets of set that validated: these also chose the epoch, which flatters "
        "the scorer. The scorer"
        " is in results/scorer. Use it: toporank score FOLDER --scorer results/scorer"
    )
    sizes = {"n_decoys": 300, "n_targets": 9, "n_clusters": 7}
    rows = [
        GroupMetric("small", "all", "ranking_loss", 0.2, 0.1, 0.3, **sizes),
        GroupMetric("small", "all", "random_pick_loss", 0.5, None, None, **sizes),
    ]
    Path(layout.FOLD_METRICS).parent.mkdir(parents=True)
    write_metrics(layout.FOLD_METRICS, rows)
    (said,) = conclusion(Path(), ["set"], scorer)
    assert "0.20 DockQ" in said
    assert (
        "7 clusters of homologous targets that the networks of small were trained without."
        in said
    )
