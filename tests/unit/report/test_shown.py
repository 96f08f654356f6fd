"""What the command prints: the same number and verdict as every table, in lines that fit."""

from __future__ import annotations

import pytest

from scored_folders import LOST, UNLIKE, open_folder, write_answer
from structures_text import put
from toporank.app.commands.shown import answer, near
from toporank.app.commands.terminal import Terminal
from toporank.confidence.table import Confidence
from toporank.ranking.interfaces import MAIN, InterfaceRow
from toporank.ranking.scored import Scored


def scored_in(tmp_path, models: dict, **options: object) -> Scored:
    return open_folder(write_answer(tmp_path, models, **options))


def test_one_target_in_a_few_lines(tmp_path):
    said = [
        Confidence("T", name, "Boltz", ranking_score=score, status="ok")
        for name, score in (("a", 0.9), ("b", 0.5))
    ]
    models = {"T": {"a": 0.8, "b": 0.3, "lost": LOST}}
    scored = scored_in(tmp_path, models, domain=["T"], confidence=said)
    assert answer(scored, tmp_path) == [
        "T: DockQ 0.80 (80 % interval 0.70 to 0.90), acceptable or better with 80 %: believe",
        "  best of 2:  a, Boltz's rank 1 (ranking score 0.90)",
        f"  file:       {tmp_path}/models/T/a.pdb",
        "  caveat:     The networks may err here: 9 chains; its interface is 7.1 away from all in training",
        "              (usual: up to 6.2)",
        "  note:       1 of 3 models has no score: 1 unreadable",
        f"page:    {tmp_path}/results/scores/part/report.html",
        f"models:  {tmp_path}/results/scores/part/models.csv",
    ]
    assert UNLIKE.startswith("9 chains; its")
    caveat, _ = scored.notes
    assert caveat.endswith(UNLIKE)


def test_a_weak_partner_is_named_once(tmp_path):
    rows = [
        InterfaceRow("T", "a", name, n, n, 5.0, dockq, None, "ok", name, MAIN, n)
        for name, n, dockq in (("A:B", 40, 0.82), ("B:C", 30, 0.1))
    ]
    lines = answer(scored_in(tmp_path, {"T": {"a": 0.8}}, interfaces=rows), tmp_path)
    weak = "C looks wrong (B:C, 30 residues, 0.10)"
    assert " ".join(" ".join(lines).split()).count(weak) == 1
    assert lines[0].startswith("T: DockQ 0.80"), "and that is in the answer itself"


def test_a_folder_is_named_as_one_types_it(tmp_path, monkeypatch):
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    assert near(tmp_path / "models") == near("models") == "models"
    assert near(tmp_path) == str(tmp_path), "not a mere full stop"
    assert near(tmp_path.parent) == str(tmp_path.parent)


def test_of_a_target_that_networks_learned_from_nobody_says_that_they_may_err(tmp_path):
    targets = {"T": {"a": 0.9}, "U": {"a": 0.8}}
    scored = scored_in(tmp_path, targets, domain=["T", "U"], learned=["T"])
    caveats = dict(
        zip(scored.targets["target"], scored.targets["caveats"], strict=True)
    )
    assert caveats == {"T": "", "U": f"The networks may err here: {UNLIKE}"}


@pytest.mark.parametrize(("least", "has_hint"), [(0.4, True), (0.5, False)])
def test_a_hint_is_no_caveat_and_is_shown_where_joining_may_help(
    tmp_path, least, has_hint
):
    names = ("A:B", "A:C", "B:C")
    rows = [
        InterfaceRow("T", "a", name, 40, 90, 4.0, dockq, None, "ok", name, MAIN)
        for name, dockq in zip(names, (0.9, 0.9, least), strict=True)
    ]
    scored = scored_in(tmp_path, {"T": {"a": 0.9}, "U": {"a": 0.9}}, interfaces=rows)
    assert scored.targets["caveats"].tolist() == ["", ""]
    hint = (
        "hint: A and B always touch; to score only how C lies to both: --partners A+B:C"
    )
    assert (hint in " ".join(" ".join(answer(scored, tmp_path)).split())) is has_hint
    assert any("always touch" in note for note in scored.notes) is has_hint


def screen(tmp_path, **options: object) -> Scored:
    targets = {f"T{i:02}": {"m": 0.9 - i / 15} for i in range(13)}
    put(tmp_path / "models/T00", {"m.pdb": "", "scores.json": {}})
    confidence = [Confidence("T00", "m", status="incomplete", reason="its file")]
    models = {**targets, "lost": {"m": LOST}}
    return scored_in(tmp_path, models, confidence=confidence, **options)


def test_a_screen_has_a_row_for_the_most_promising_and_sums_up_the_verdicts(tmp_path):
    lines = answer(screen(tmp_path), tmp_path)
    assert lines[:2] == [
        "target  verdict  DockQ  80 % interval  acceptable  best model  models",
        "T00     believe   0.90  0.80 to 1.00         90 %  m                1  caveat",
    ]
    assert [line.split()[0] for line in lines[1:11]] == [f"T{i:02}" for i in range(10)]
    assert lines[11:13] == [
        "TopoRank does not read scores.json in folder T00, which looks like a predictor's file",
        "(docs/inputs.md lists the names that it reads)",
    ]
    assert lines[13].startswith("  T00: TopoRank does not use all files"), "its caveat"
    start = next(i for i, line in enumerate(lines) if line.startswith("14 targets"))
    assert lines[start : start + 3] == [
        "14 targets: believe 3, check 7, do not believe 3, not scored 1",
        "4 more in targets.csv; 2 have a caveat",
        "1 of 14 models has no score: 1 unreadable, such as lost/m: it is empty",
    ]
    assert lines[-2].startswith("targets: ")


def test_new_targets_are_listed_wherever_they_stand(tmp_path):
    scored = screen(tmp_path)
    new = scored.targets["target"].eq("T12").map({True: "yes", False: ""})
    scored.targets = scored.targets.assign(new=new)
    lines = answer(scored, tmp_path)
    assert lines[11].split()[0] == "T12"
    assert lines[11].endswith("new")
    assert "4 more in targets.csv; 1 new; 2 have a caveat" in lines


def test_of_new_targets_rank_and_score_of_the_predictor_are_shown_and_other_firsts_counted(
    tmp_path,
):
    firsts = {f"T{i}": "m0" for i in range(3)} | {"T2": "m1"}
    said = [
        Confidence(
            target,
            model,
            "Boltz",
            ranking_score=0.5 + 0.4 * (model == first),
            status="ok",
        )
        for target, first in firsts.items()
        for model in ("m0", "m1")
    ]
    targets = {target: {"m0": 0.9, "m1": 0.8} for target in firsts}
    scored = scored_in(tmp_path, targets, confidence=said)
    between = scored.targets["predictor_first"].map({"m1": 0.9})
    scored.targets = scored.targets.assign(
        new="yes", caveats="its confidence", p_interact=0.5, dockq_between=between
    )
    lines = answer(scored, tmp_path)
    assert "predictor's" in lines[0]
    assert lines[1].endswith("new, caveat")
    n_caveats = sum("its confidence" in line for line in lines)
    assert n_caveats == (len(firsts) if len(firsts) <= 3 else 0), "few are printed"
    assert "rank 1 (0.90)" in lines[1]
    assert "rank 2 (0.50)" in lines[3]
    said = "of 1 the predictor ranks another model first; in all of these the two bind alike"
    assert said in lines
    assert max(map(len, lines[:4])) <= 100


def test_an_order_by_confidence_is_called_after_its_measure(tmp_path):
    targets = {f"T{i}": {"a": 0.9, "b": 0.8} for i in range(3)}
    said = [
        Confidence(target, model, "", iptm=0.7, interface_plddt=plddt, status="ok")
        for target in targets
        for model, plddt in (("a", 81.0), ("b", 90.0))
    ]
    lines = answer(scored_in(tmp_path, targets, confidence=said), tmp_path)
    assert "rank 2 by interface pLDDT" in lines[1], "ipTM is equal and decides nothing"
    assert max(map(len, lines[:4])) <= 100


def test_lines_fit_and_long_names_lose_their_middle(tmp_path):
    name = "fold_" + "x" * 90
    targets = {f"{name}_{i}": {f"{name}_model": 0.5} for i in range(3)}
    scored = scored_in(tmp_path, targets)
    for width in (100, 80):
        lines = answer(scored, tmp_path, terminal=Terminal(width))
        paths = ("page:", "targets:", "models:")
        assert all(len(line) <= width or line.startswith(paths) for line in lines)
        assert lines[1].startswith("fold_x")
        assert "…" in lines[1]
    assert "80 % interval" in lines[0], "narrow: names are short"
    narrow = answer(scored, tmp_path, terminal=Terminal(50))
    assert narrow[0].split()[:3] == ["target", "verdict", "DockQ"]
    assert "interval" not in narrow[0]


def test_a_verdict_has_its_colour_in_a_terminal_that_shows_colours(tmp_path):
    lines = answer(screen(tmp_path), tmp_path, terminal=Terminal(colours=True))
    assert "\033[32mbelieve\033[0m" in lines[1].replace(" \033", "\033")
    plain = answer(screen(tmp_path), tmp_path)
    assert not any("\033" in line for line in plain)


def test_nothing_scored_and_no_calibration_are_said(tmp_path):
    lines = answer(scored_in(tmp_path / "lost", {"T": {"m": LOST}}), tmp_path)
    assert lines[0] == "T: no model was scored"
    assert "  m:          it is empty" in lines
    raw = scored_in(tmp_path / "raw", {"T": {"m": 0.9}}, width=None)
    lines = answer(raw, tmp_path)
    assert lines[0] == "T: DockQ 0.90: check"
    assert lines[1] == "  only model: m"
    assert "DockQ is its raw score" in " ".join(lines)


def test_terminal_tables_and_titles_have_one_number(tmp_path):
    """The model ranked first has the same DockQ, probability and verdict wherever it is named."""
    scored = scored_in(tmp_path, {"T": {"a": 0.8, "b": 0.3}})
    columns = ["dockq", "dockq_low", "dockq_high", "p_acceptable", "capri", "verdict"]
    assert (
        scored.targets.loc[0, columns].tolist()
        == scored.models.loc[0, columns].tolist()
    )
    names = {*scored.targets.columns, *scored.models.columns}
    assert not {name for name in names if name.startswith(("pred_", "expected_"))}
