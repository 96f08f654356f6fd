"""What the command prints: the same number and verdict as every table, and where to look."""

from __future__ import annotations

from scored_folders import LOST, UNLIKE, open_folder, write_answer
from toporank.app.commands.shown import answer
from toporank.inputs.confidence.table import Confidence
from toporank.inputs.confidence.unread import UNREAD


def test_one_target_in_a_few_lines(tmp_path):
    write_answer(tmp_path, {"T": {"a": 0.8, "b": 0.3, "lost": LOST}}, domain=["T"])
    lines = answer(open_folder(tmp_path), tmp_path)
    assert lines == [
        "T: a is best of 2, DockQ 0.80 (80 % interval 0.70 to 0.90), acceptable or better with 80 "
        "%: believe",
        f"  file: {tmp_path}/models/T/a.pdb",
        f"  Unlike what TopoRank learned from, so DockQ is a guess: {UNLIKE}",
        "  1 of 3 models has no score: 1 unreadable",
        f"page:    {tmp_path}/results/scores/part/report.html",
        f"models:  {tmp_path}/results/scores/part/models.csv",
    ]


def test_a_screen_has_a_line_for_the_most_promising_and_sums_up_the_verdicts(tmp_path):
    confidence = [Confidence("T00", "m", status="incomplete", reason=f"{UNREAD} x")]
    targets = {f"T{i:02}": {"m": 0.9 - i / 15} for i in range(13)} | {
        "lost": {"m": LOST}
    }
    write_answer(tmp_path, targets, confidence=confidence)
    lines = answer(open_folder(tmp_path), tmp_path)
    assert [line.split(":")[0] for line in lines[:10]] == [
        f"T{i:02}" for i in range(10)
    ]
    assert lines[10] == f"{UNREAD} x"
    assert (
        lines[11]
        == "verdict on the best model of 14 targets: believe 3, check 7, do not believe 3"
    )
    assert lines[12] == "4 more targets in targets.csv; 1 with something to mind"
    assert (
        lines[13]
        == "1 of 14 models has no score: 1 unreadable, such as lost/m: it is empty"
    )
    assert lines[-2].startswith("targets: ")


def test_nothing_scored_and_no_calibration_are_said(tmp_path):
    out = write_answer(tmp_path / "lost", {"T": {"m": LOST}})
    lines = answer(open_folder(out), out)
    assert lines[0] == "T: no model was scored"
    assert "  m: it is empty" in lines
    out = write_answer(tmp_path / "raw", {"T": {"m": 0.9}}, width=None)
    lines = answer(open_folder(out), out)
    assert lines[0] == "T: m is the only model with a score, DockQ 0.90: check"
    assert any("DockQ is its raw score" in line for line in lines)


def test_terminal_tables_and_titles_have_one_number(tmp_path):
    """The model ranked first has the same DockQ, probability and verdict wherever it is named."""
    scored = open_folder(write_answer(tmp_path, {"T": {"a": 0.8, "b": 0.3}}))
    columns = ["dockq", "dockq_low", "dockq_high", "p_acceptable", "capri", "verdict"]
    assert (
        scored.targets.loc[0, columns].tolist()
        == scored.models.loc[0, columns].tolist()
    )
    names = {*scored.targets.columns, *scored.models.columns}
    assert not {name for name in names if name.startswith(("pred_", "expected_"))}
