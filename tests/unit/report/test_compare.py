"""`toporank compare`: which of two runs to trust, target by target, and whether their scores mean the same."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scored_folders import LOST, RECORD, write_answer
from toporank import layout
from toporank.__main__ import main
from toporank.app.commands.shown import answer_folder
from toporank.files.atomic import write_text
from toporank.report.compare import compare, unlike
from toporank.scorer.record import read_record


def compared(tmp_path: Path, a: dict, b: dict, of_a: dict | None = None, of_b: dict | None = None) -> pd.DataFrame:
    """The table of two runs with these scores by target; further arguments of `write_answer` for either."""
    run_a = write_answer(tmp_path / "a", a, **(of_a or {}))
    run_b = write_answer(tmp_path / "b", b, **(of_b or {}))
    return compare(answer_folder(run_a), answer_folder(run_b))


def row(tmp_path: Path, a: dict, b: dict, of_a: dict | None = None, of_b: dict | None = None) -> Any:
    """The row of the only target, called T."""
    (found,) = compared(tmp_path, {"T": a}, {"T": b}, of_a, of_b).itertuples()
    return found


@pytest.mark.parametrize(
    ("a", "b", "status", "trust"),
    [
        (0.9, 0.5, "a_better", "A"),  # 0.8 is more than 0.6
        (0.3, 0.6, "b_better", "B"),
        (0.6, 0.5, "a_higher", "unclear"),
        (0.5, 0.51, "same", "either"),
        (0.10, 0.20, "b_higher", "neither"),  # both are wrong
        (0.02, 0.24, "b_better", "neither"),
        (LOST, 0.6, "not_scored", ""),
        (0.9, LOST, "not_scored", ""),
        (LOST, LOST, "not_scored", ""),
    ],
)
def test_status_and_which_run_to_trust(tmp_path, a, b, status, trust):
    found = row(tmp_path, {"m": a}, {"m": b})
    assert (found.status, found.trust) == (status, trust)
    assert found.why


def test_the_difference_is_that_of_the_best_models(tmp_path):
    found = row(tmp_path, {"m": 0.5, "n": 0.3}, {"x": 0.2, "y": 0.9})
    assert found.difference == pytest.approx(0.4)
    assert (found.best_a, found.best_b, found.n_models_a) == ("m", "y", 2)
    assert found.why == "B is better, and the intervals do not overlap"


def test_a_run_whose_model_is_out_of_domain_is_not_trusted_for_it(tmp_path):
    found = row(tmp_path, {"m": 0.9}, {"m": 0.3}, {"domain": ("T",)})
    assert (found.status, found.trust) == ("a_better", "unclear")
    assert "out of domain" in found.why


def test_other_chains_under_one_name_are_said_and_no_run_is_trusted(tmp_path):
    found = row(tmp_path, {"m": 0.9}, {"m": 0.3}, {"chains": {"T": ("left", "other")}})
    assert (found.status, found.trust) == ("a_better", "unclear")
    assert "is it the same complex?" in found.why


def test_no_run_is_trusted_for_a_target_that_only_it_has(tmp_path):
    a = {"both": {"m": 0.5}, "mine": {"m": 0.9}, "bad": {"m": 0.1}}
    b = {"both": {"m": 0.5}, "yours": {"m": 0.9}}
    chains = {"chains": {"mine": ("left", "left"), "bad": ("other", "other")}}
    found = compared(tmp_path, a, b, chains)
    assert [*zip(found["target"], found["status"], found["trust"], strict=True)] == [
        ("both", "same", "either"), ("bad", "only_a", ""), ("mine", "only_a", ""), ("yours", "only_b", ""),
    ]  # fmt: skip


def test_targets_with_other_names_belong_together_by_their_sequences(tmp_path):
    found = compared(tmp_path, {"1avz": {"m": 0.5}}, {"fold_1avz": {"m": 0.5}})
    assert [*zip(found["target"], found["name_in_b"], found["status"], strict=True)] == [("1avz", "fold_1avz", "same")]


def test_two_targets_of_the_same_chains_are_not_guessed_together(tmp_path):
    found = compared(tmp_path, {"one": {"m": 0.5}}, {"x": {"m": 0.5}, "y": {"m": 0.5}})
    assert [*zip(found["target"], found["status"], strict=True)] == [
        ("one", "only_a"),
        ("x", "only_b"),
        ("y", "only_b"),
    ]


def test_the_largest_differences_come_first_and_then_what_cannot_be_compared(tmp_path):
    a = {"small": {"m": 0.5}, "large": {"m": 0.9}, "lost": {"m": 0.9}, "alone": {"m": 0.9}}
    b = {"small": {"m": 0.55}, "large": {"m": 0.3}, "lost": {"m": LOST}}
    assert [*compared(tmp_path, a, b)["target"]] == ["large", "small", "lost", "alone"]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (RECORD._replace(scorer="f" * 64), f"scorer is {RECORD.scorer[:16]} in A and ffffffffffffffff in B"),
        (RECORD._replace(use_confidence=False), "use_confidence is True in A and False in B"),
        (RECORD._replace(rank_by="min_interface"), "rank_by is complex in A and min_interface in B"),
        (None, "run B does not record its scorer"),
    ],
)
def test_scores_that_do_not_mean_the_same_are_said_and_no_run_is_trusted(tmp_path, record, text):
    found = row(tmp_path, {"m": 0.9}, {"m": 0.3}, of_b={"record": record})
    assert (found.status, found.trust) == ("a_better", "unclear")
    assert text in found.why


def test_another_version_and_what_only_it_records_are_no_difference(tmp_path):
    a, b = (answer_folder(write_answer(tmp_path / name, {"T": {"m": 0.5}})) for name in "ab")
    file = b / "scored_with.json"
    write_text(file, file.read_text().replace(RECORD.version, "9").replace("{", '{"merged": [], ', 1))
    assert read_record(file).version == "9"
    assert unlike(a, b) == []


def test_the_command_writes_a_table_and_a_scatter_and_says_what_differs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a = {f"T{i:02}": {"m": 0.9 - i / 100} for i in range(12)} | {"=1+1": {"m": 0.5}}
    b = {f"T{i:02}": {"m": 0.3} for i in range(12)} | {"=1+1": {"m": 0.5}}
    write_answer(tmp_path / "toporank_x", a)
    write_answer(tmp_path / "y", b)
    assert main(["compare", "toporank_x", "y"]) == 0
    said = capsys.readouterr().out
    assert "targets: 12 a_better, 1 same\n" in said
    assert said.count("trust: A") == 10
    assert "  T00 -0.60: A likely, B doubtful; trust: A\n" in said
    out = Path("toporank_compare_x_y")
    with open(out / "compare.csv", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert len(rows) == 13
    assert (rows[0]["dockq_a"], rows[0]["dockq_b"], rows[0]["difference"]) == ("0.9", "0.3", "-0.6")
    assert Path(rows[0]["file_a"]).is_absolute()
    assert rows[-1]["target"] == "'=1+1"  # which no spreadsheet computes
    drawn = (out / "compare.png").is_file()
    assert drawn == bool(importlib.util.find_spec("matplotlib"))


def refused(*arguments: object) -> str:
    with pytest.raises(SystemExit) as caught:
        main([str(argument) for argument in arguments])
    assert len(str(caught.value.code).splitlines()) == 1
    return str(caught.value.code)


def test_a_damaged_table_is_named(tmp_path):
    run, other = (write_answer(tmp_path / name, {"T": {"m": 0.5}}) for name in ("run", "other"))
    targets = other / "results/scores/part/targets.csv"
    write_text(targets, targets.read_text().replace("verdict", "opinion"))
    assert f"{targets}: is damaged, or another version wrote it: KeyError('verdict')" in refused("compare", run, other)


def test_an_answer_is_found_from_both_ends_and_of_several_the_last_counts(tmp_path):
    run = write_answer(tmp_path / "run", {"T": {"m": 0.5}}, name="first")
    write_answer(tmp_path / "run", {"T": {"m": 0.6}}, name="last")
    scores = run / "results/scores"
    assert answer_folder(run) == answer_folder(scores / "last") == scores / "last"
    (run / layout.SETTINGS).unlink()
    assert "several folders were scored here (give one of" in refused("compare", run, run)
    (tmp_path / "empty").mkdir()
    assert "there is no ranking in this folder (give the folder that" in refused("figure", tmp_path / "empty")
    assert "there is no such folder" in refused("figure", tmp_path / "nowhere")


def test_runs_that_share_no_target_are_refused(tmp_path):
    a = write_answer(tmp_path / "a", {"one": {"m": 0.5}})
    b = write_answer(tmp_path / "b", {"two": {"m": 0.5}}, chains={"two": ("other", "other")})
    assert f"{b}: has no target of {a}" in refused("compare", a, b)
    assert not Path("toporank_compare_a_b").exists()
