"""Two scored folders as one table of targets."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scored_folders import LOST, RECORD, open_folder, write_answer
from toporank.__main__ import main
from toporank.errors import TopoRankError
from toporank.ranking.scored_folder import open_answer
from toporank.report.compare import compare


def compared(
    tmp_path: Path, a: dict, b: dict, of_a: dict | None = None, of_b: dict | None = None
) -> pd.DataFrame:
    """The table of two runs with these scores by target; further arguments of `write_answer` for
    either.
    """
    write_answer(tmp_path / "a", a, **(of_a or {}))
    write_answer(tmp_path / "b", b, **(of_b or {}))
    return compare(open_folder(tmp_path / "a"), open_folder(tmp_path / "b"))


def row(tmp_path: Path, a: float | None, b: float | None, **options: dict) -> Any:
    """The row of the only target, called T."""
    (found,) = compared(
        tmp_path, {"T": {"m": a}}, {"T": {"m": b}}, **options
    ).itertuples()
    return found


@pytest.mark.parametrize(
    ("a", "b", "status", "trust"),
    [
        (0.9, 0.5, "a_better", "A"),  # 0.8 is more than 0.6
        (0.3, 0.6, "b_better", "B"),
        (0.6, 0.5, "a_higher", "unclear"),
        (0.5, 0.51, "same", "either"),
        (0.10, 0.20, "b_higher", "neither"),
        (0.02, 0.24, "b_better", "neither"),
        (LOST, 0.6, "not_scored", ""),
        (LOST, LOST, "not_scored", ""),
    ],
)
def test_status_and_which_run_to_trust(tmp_path, a, b, status, trust):
    found = row(tmp_path, a, b)
    assert (found.status, found.trust) == (status, trust)
    assert found.why


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"of_a": {"domain": ("T",)}}, "unlike what TopoRank learned from"),
        ({"of_a": {"chains": {"T": ("left", "other")}}}, "is it the same complex?"),
        ({"of_b": {"record": RECORD._replace(scorer="f" * 64)}}, f"scorer is {RECORD.scorer[:16]} in A and ffff"),
        ({"of_b": {"record": RECORD._replace(use_confidence=False)}}, "use_confidence is True in A and False in B"),
        ({"of_b": {"record": None}}, "run B does not record its scorer"),
    ],
)  # fmt: skip
def test_what_makes_runs_unlike_is_said_and_no_run_is_trusted(tmp_path, options, text):
    found = row(tmp_path, 0.9, 0.3, **options)
    assert (found.status, found.trust) == ("a_better", "unclear")
    assert text in found.why


def test_targets_belong_together_by_name_or_by_sequences_and_none_is_guessed(tmp_path):
    found = compared(tmp_path, {"1avz": {"m": 0.5}}, {"fold_1avz": {"m": 0.5}})
    assert found[["target", "name_in_b", "status"]].values.tolist() == [
        ["1avz", "fold_1avz", "same"]
    ]
    found = compared(
        tmp_path / "other", {"one": {"m": 0.5}}, {"x": {"m": 0.5}, "y": {"m": 0.5}}
    )
    assert found[["target", "status"]].values.tolist() == [
        ["one", "only_a"],
        ["x", "only_b"],
        ["y", "only_b"],
    ]


def test_the_largest_differences_come_first_and_then_what_cannot_be_compared(tmp_path):
    a = {
        "small": {"m": 0.5},
        "large": {"m": 0.9, "n": 0.3},
        "lost": {"m": 0.9},
        "alone": {"m": 0.9},
    }
    b = {"small": {"m": 0.55}, "large": {"x": 0.3}, "lost": {"m": LOST}}
    found = compared(tmp_path, a, b)
    assert found["target"].tolist() == ["large", "small", "lost", "alone"]
    assert found.loc[0, ["best_a", "best_b", "n_models_a"]].tolist() == ["m", "x", 2]
    assert found.loc[0, "difference"] == pytest.approx(-0.6)


def test_the_command_writes_a_table_and_a_scatter_and_says_what_differs(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    write_answer(
        tmp_path / "a",
        {"T": {"m": 0.9}, "=1+1": {"m": 0.5}, "mine": {"m": 0.5}},
        chains={"mine": ("other",)},
    )
    write_answer(tmp_path / "b", {"T": {"m": 0.3}, "=1+1": {"m": 0.5}})
    assert main(["compare", "a", "b"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 targets in both runs: A 1, either 1"
    assert lines[1] == "further targets: only a 1"
    assert lines[2] == (
        "  T: DockQ 0.90 in A and 0.30 in B (believe, check); "
        "trust A: A is better, and the intervals do not overlap"
    )
    assert lines[3] == "  unchanged (DockQ within 0.02, the same verdict): 1 target"
    assert "'=1+1" in (tmp_path / "toporank_compare_a_b/compare.csv").read_text()
    assert (tmp_path / "toporank_compare_a_b/compare.png").stat().st_size > 5000


def test_a_copied_answer_is_compared_and_what_it_lacks_is_said(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    write_answer(tmp_path / "a", {"T": {"m": 0.9}})
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / "a/results/scores/part", copy)
    assert main(["compare", "a", "copy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"WARNING: {copy} has no chains.csv")
    assert lines[1] == "1 target in both runs: either 1"
    shutil.copy(tmp_path / "a/results/part/chains.csv", copy)
    assert main(["compare", "a", "copy"]) == 0
    assert "WARNING" not in capsys.readouterr().out


TABLES = ("targets", "models", "interfaces", "confidence", "chains")


@pytest.mark.parametrize(
    "name", [*(f"{table}.csv" for table in TABLES), "toporank.json"]
)
def test_a_damaged_file_is_an_error_that_names_it(tmp_path, name):
    write_answer(tmp_path, {"T": {"m": 0.9}})
    (file,) = tmp_path.rglob(name)
    file.write_bytes(b"\xff\x00")
    with pytest.raises(TopoRankError, match=re.escape(str(file))):
        _ = [getattr(open_answer(tmp_path), table) for table in TABLES]


def test_runs_without_a_common_target_and_folders_without_an_answer_are_errors(
    tmp_path,
):
    write_answer(tmp_path / "a", {"T": {"m": 0.9}}, chains={"T": ("other", "other")})
    write_answer(tmp_path / "b", {"U": {"m": 0.3}})
    (tmp_path / "c").mkdir()
    for other, text in (
        ("b", "has no target of"),
        ("c", "there is no models.csv"),
        ("d", "there is no such folder"),
    ):
        with pytest.raises(SystemExit, match=text):
            main(
                [
                    "compare",
                    str(tmp_path / "a"),
                    str(tmp_path / other),
                    "-o",
                    str(tmp_path / "out"),
                ]
            )
    write_answer(tmp_path / "b", {"T": {"m": 0.3}}, name="second")
    (tmp_path / "b/toporank.json").unlink()
    with pytest.raises(SystemExit, match="several folders were scored here"):
        main(["compare", str(tmp_path / "a"), str(tmp_path / "b")])
