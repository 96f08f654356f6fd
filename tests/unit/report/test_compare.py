"""`toporank compare`: which of two runs to trust, target by target, and what makes the runs different as a whole."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from browser import NAMES, Browser, find_browser
from scored_folders import LOST, RECIPES, RECORD, write_answer
from toporank import layout
from toporank.__main__ import main
from toporank.files.atomic import write_text
from toporank.report.runs.compare import COLUMNS, compare, compare_text
from toporank.report.runs.compare_page import render
from toporank.report.runs.folder import Place, Run


def runs(tmp_path: Path, a: dict, b: dict, of_a: dict | None = None, of_b: dict | None = None) -> tuple[Run, Run]:
    """Two runs with these scores; further arguments of `write_answer` for either."""
    folders = [
        write_answer(tmp_path / name, models, **(more or {})) for name, models, more in (("a", a, of_a), ("b", b, of_b))
    ]
    return tuple(Run(Place.find(folder)) for folder in folders)


def row(tmp_path: Path, a: dict, b: dict, of_a: dict | None = None, of_b: dict | None = None):
    """The row of the only target, called T."""
    (found,) = compare(*runs(tmp_path, {"T": a}, {"T": b}, of_a, of_b)).rows
    return found


def page(tmp_path: Path, a: Run, b: Run) -> str:
    return render(compare(a, b), a, b, tmp_path)


# ---- one target -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "change", "trust"),
    [
        (0.9, 0.5, "a_better verdict", "A"),  # 0.8 is more than 0.6
        (0.3, 0.6, "b_better", "B"),
        (0.6, 0.5, "a_higher", "unclear"),
        (0.5, 0.51, "same", "either"),
        (0.10, 0.20, "b_higher", "neither"),  # both are wrong
        (0.02, 0.24, "b_better", "neither"),
        (LOST, 0.6, "only_b_scored", "B"),
        (0.9, LOST, "only_a_scored", "A"),
        (0.1, LOST, "only_a_scored", "neither"),
        (LOST, LOST, "none_scored", "neither"),
    ],
)
def test_what_changed_and_which_run_to_trust(tmp_path, a, b, change, trust):
    found = row(tmp_path, {"m": a}, {"m": b})
    assert (found.status, found.change, found.trust) == ("both", change, trust)
    assert found.why


def test_the_difference_is_that_of_the_best_models(tmp_path):
    found = row(tmp_path, {"m": 0.5, "n": 0.3}, {"x": 0.2, "y": 0.9})
    assert found.difference == pytest.approx(0.4)
    assert (found.a.best, found.b.best) == ("m", "y")
    assert "B is better by 0.40" in found.why


def test_a_likely_model_counts_more_than_a_wrong_one_although_intervals_overlap(tmp_path):
    found = row(tmp_path, {"m": 0.9}, {"m": 0.2}, {"width": 0.4}, {"width": 0.4})
    assert (found.change, found.trust) == ("a_higher verdict", "A")
    assert "the verdict is likely in A and wrong in B" in found.why


def test_a_run_whose_model_is_out_of_domain_is_not_trusted_for_it(tmp_path):
    found = row(tmp_path, {"m": 0.9}, {"m": 0.3}, {"domain": ("T",)})
    assert (found.change, found.trust) == ("a_better verdict", "unclear")
    assert "out of domain" in found.why


def test_other_chains_under_one_name_are_said_and_no_run_is_trusted(tmp_path):
    found = row(tmp_path, {"m": 0.9}, {"m": 0.3}, {"chains": {"T": ("left", "other")}})
    assert found.codes == ["a_better", "verdict", "chains"]
    assert found.trust == "unclear"
    assert "is it the same complex?" in found.why


def test_targets_that_one_run_has_are_rows_and_nothing_is_lost(tmp_path):
    given = {"both": {"m": 0.5}, "mine": {"m": 0.9}, "bad": {"m": 0.1}}
    other = {"both": {"m": 0.5}, "yours": {"m": 0.9}}
    chains = {"chains": {"mine": ("left", "left"), "bad": ("other", "other")}}
    found = compare(*runs(tmp_path, given, other, chains))
    assert {r.target: (r.status, r.trust) for r in found.rows} == {
        "both": ("both", "either"), "mine": ("only_a", "A"), "bad": ("only_a", "neither"), "yours": ("only_b", "B"),
    }  # fmt: skip


def test_targets_with_other_names_belong_together_by_their_sequences(tmp_path):
    found = compare(*runs(tmp_path, {"1avz": {"m": 0.5}}, {"fold_1avz": {"m": 0.5}}))
    assert [(r.target, r.name_in_b, r.status) for r in found.rows] == [("1avz", "fold_1avz", "both")]


def test_two_targets_of_the_same_chains_are_not_guessed_together(tmp_path):
    found = compare(*runs(tmp_path, {"one": {"m": 0.5}}, {"x": {"m": 0.5}, "y": {"m": 0.5}}))
    assert [(r.target, r.status) for r in found.rows] == [("one", "only_a"), ("x", "only_b"), ("y", "only_b")]


def test_the_largest_differences_come_first_and_then_what_cannot_be_compared(tmp_path):
    a = {"small": {"m": 0.5}, "large": {"m": 0.9}, "lost": {"m": 0.9}, "alone": {"m": 0.9}}
    b = {"small": {"m": 0.55}, "large": {"m": 0.3}, "lost": {"m": LOST}}
    found = compare(*runs(tmp_path, a, b))
    assert [r.target for r in found.rows] == ["large", "small", "lost", "alone"]


# ---- the same models --------------------------------------------------------------------------------------------


def test_models_of_the_same_atoms_are_found_whatever_they_are_called(tmp_path):
    contents = {"T/old": "1", "T/new": "1", "T/b": "2", "T/c": "3"}
    more = {"contents": contents}
    a, b = runs(tmp_path, {"T": {"old": 0.5, "b": 0.3}}, {"T": {"new": 0.625, "c": 0.3}}, more, more)
    found = compare(a, b).shared
    assert (found.n, found.changed, found.largest, found.where) == (1, 1, 0.125, "T/old")
    assert found.company == 1  # b and c are other models
    assert "1 model with the same atoms is in both runs" in " ".join(page(tmp_path, a, b).split())


def test_the_last_digits_are_no_change(tmp_path):
    found = compare(*runs(tmp_path, {"T": {"m": 0.5, "n": 0.4}}, {"T": {"m": 0.500001, "n": 0.4}})).shared
    assert (found.n, found.changed) == (2, 0)


def test_without_ledgers_nothing_is_said_of_the_same_models(tmp_path):
    a, b = runs(tmp_path, {"T": {"m": 0.5}}, {"T": {"m": 0.5}})
    for file in (a.place.out / "results/part/ledger").iterdir():
        file.unlink()
    assert compare(a, b).shared is None
    assert "does not say what its models contain" in page(tmp_path, a, b)


# ---- the runs as a whole ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of_b", "text"),
    [
        ({"record": RECORD._replace(scorer="f" * 64)}, "different scorers scored the two runs"),
        ({"record": RECORD._replace(use_confidence=False)}, "run B was scored with --without-confidence"),
        ({"record": RECORD._replace(mask_disorder=True)}, "run B was scored with --mask-disorder"),
        ({"record": RECORD._replace(fold_twins=True)}, "twins share a rank in run B only"),
        ({"recipes": {**RECIPES, "nodes": ["code", '{"x":1}']}}, "the features are others: nodes"),
        ({"interface": "A:B+C"}, "1 target has other partners, such as T: no partner of several chains in A"),
    ],
)
def test_scores_that_do_not_mean_the_same_are_an_alarm_and_no_run_is_trusted(tmp_path, of_b, text):
    a, b = runs(tmp_path, {"T": {"m": 0.9}}, {"T": {"m": 0.3}}, of_b=of_b)
    found = compare(a, b)
    assert [alarm for alarm in found.alarms if text in alarm]
    assert found.rows[0].trust == "unclear"
    assert 'role="alert"' in page(tmp_path, a, b)


def test_of_runs_of_an_earlier_version_the_checkpoints_are_compared(tmp_path):
    found = compare(*runs(tmp_path, {"T": {"m": 0.5}}, {"T": {"m": 0.5}}, {"record": None}))
    assert found.alarms == []
    assert "run A does not record the scorer" in found.notes[0]
    other = {"record": RECORD._replace(scorer="", checkpoint="0" * 64)}
    found = compare(*runs(tmp_path / "x", {"T": {"m": 0.5}}, {"T": {"m": 0.5}}, {"record": None}, other))
    assert "different scorers" in found.alarms[0]


def test_another_version_of_the_code_and_a_confidence_that_one_run_lacks_are_notes(tmp_path):
    of_b = {"recipes": {**RECIPES, "nodes": ["newer", "{}"]}, "record": RECORD._replace(version="9")}
    found = compare(*runs(tmp_path, {"T": {"m": 0.5}}, {"T": {"m": 0.5}}, of_b=of_b))
    assert found.alarms == []
    assert any("scored run A, 9 run B" in note for note in found.notes)
    assert any("another version of the code computed these features: nodes" in note for note in found.notes)


# ---- table, page and command ------------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_target_and_columns_of_both_runs(tmp_path):
    a, b = runs(tmp_path, {"T": {"m": 0.9}, "=1+1": {"m": 0.9}}, {"T": {"m": 0.3}})
    header, *rows = csv.reader(compare_text(compare(a, b).rows).splitlines())
    assert tuple(header) == COLUMNS
    known = dict(zip(header, rows[0], strict=True))
    assert (known["dockq_a"], known["dockq_b"], known["difference"]) == ("0.9", "0.3", "-0.6")
    assert (known["verdict_a"], known["verdict_b"], known["trust"]) == ("likely", "doubtful", "A")
    assert rows[1][0] == "'=1+1"  # which no spreadsheet computes


def test_a_file_that_a_run_names_from_its_own_folder_is_linked_from_the_page(tmp_path):
    a, b = runs(tmp_path, {"T": {"m": 0.9}}, {"T": {"m": 0.3}})
    table = a.place.path(layout.TARGETS)
    write_text(table, table.read_text().replace(f"{a.place.out}/", ""))
    assert 'href="a/models/T/m.pdb"' in page(tmp_path, Run(a.place), b)


def test_names_on_the_page_are_escaped_and_it_loads_nothing(tmp_path):
    text = page(tmp_path, *runs(tmp_path, {"<b>x": {"m": 0.9}}, {"<b>x": {"m": 0.3}}))
    assert "<b>x" not in text
    assert "default-src 'none'" in text
    assert text.count("<circle") == 1


@pytest.fixture
def opened(tmp_path) -> Iterator[Callable[[Path], Browser]]:
    """Opens a page in a browser, which is closed at the end."""
    program = find_browser()
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed (apt-get install chromium)")
    browser = Browser(program, tmp_path)

    def load(file: Path) -> Browser:
        browser.open(file)
        return browser

    yield load
    browser.close()


SHOWN = (
    "[...document.querySelectorAll('#table tbody tr')].filter(row => !row.hidden).map(row => row.cells[0].textContent)"
)
"""Targets of the rows that are seen, in their order."""


def test_the_page_filters_sorts_and_leads_from_a_dot_to_its_row(tmp_path, opened):
    a = {"T2": {"m": 0.9}, "T10": {"m": 0.5}, "T1": {"m": 0.4}, "gone": {"m": 0.9}}
    b = {"T2": {"m": 0.3}, "T10": {"m": 0.5}, "T1": {"m": 0.9}}
    write_text(tmp_path / "page.html", page(tmp_path, *runs(tmp_path, a, b, {"chains": {"gone": ("left", "left")}})))
    browser = opened(tmp_path / "page.html")
    assert browser.run(SHOWN) == ["T2", "T1", "T10", "gone"]
    browser.run("document.querySelector('#table thead th button').click()")
    assert browser.run(SHOWN) == ["gone", "T1", "T2", "T10"]
    browser.run("document.querySelector('#table thead th[data-c=\"3\"] button').click()")
    assert browser.run(SHOWN) == ["T2", "T10", "T1", "gone"]  # −0.60 comes first, the target of one run last
    browser.run("kind.value = 'a_better'; kind.dispatchEvent(new Event('input'))")
    assert browser.run(SHOWN) == ["T2"]
    assert browser.run("document.getElementById('count').textContent") == "1 of 4 targets"
    browser.run("document.querySelector('svg a[href=\"#t1\"]').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    assert browser.run("new Promise(done => setTimeout(() => done(location.hash), 200))") == "#t1"
    assert len(browser.run(SHOWN)) == 4
    assert browser.complaints == []
    assert len(browser.requests) == 1


def test_the_command_writes_table_and_page_and_says_what_differs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a = {f"T{i:02}": {"m": 0.9 - i / 100} for i in range(12)} | {"even": {"m": 0.5}}
    b = {f"T{i:02}": {"m": 0.3} for i in range(12)} | {"even": {"m": 0.5}}
    write_answer(tmp_path / "toporank_x", a)
    write_answer(tmp_path / "y", b)
    assert main(["compare", "toporank_x", "y"]) == 0
    said = capsys.readouterr().out
    assert "13 targets in both runs, 0 only in A, 0 only in B" in said
    assert "A is better for 12 and B for 0" in said
    assert said.count("trust A") == 10
    assert "  T00 −0.60: A 0.90 [0.80, 1.00] likely, B 0.30 [0.20, 0.40] doubtful; trust A\n" in said
    assert "13 models have the same atoms in both runs: 12 have another score, by 0.6 at most (T00/m)" in said
    assert {path.name for path in Path("toporank_compare_x_y").glob("*.*")} == {
        ".toporank",
        "compare.csv",
        "compare.html",
    }


def test_the_command_shouts_when_scorers_differ(tmp_path, capsys):
    write_answer(tmp_path / "a", {"T": {"m": 0.5}})
    write_answer(tmp_path / "b", {"T": {"m": 0.5}}, record=RECORD._replace(scorer="f" * 64))
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "-o", str(tmp_path / "c")]) == 0
    assert "WARNING: different scorers" in capsys.readouterr().out


def refused(*arguments: object) -> str:
    with pytest.raises(SystemExit) as caught:
        main([str(argument) for argument in arguments])
    assert len(str(caught.value.code).splitlines()) == 1
    return str(caught.value.code)


def test_what_is_no_run_is_refused_with_what_to_do(tmp_path):
    run = write_answer(tmp_path / "run", {"T": {"m": 0.5}})
    (tmp_path / "empty").mkdir()
    assert "there is no such folder" in refused("compare", run, tmp_path / "nowhere")
    assert "did not write this folder" in refused("compare", run, tmp_path / "empty")
    assert "both runs are the same folder" in refused("compare", run, run / "results/scores/part")


def test_a_missing_and_a_damaged_table_are_named(tmp_path):
    run, other = (write_answer(tmp_path / name, {"T": {"m": 0.5}}) for name in ("run", "other"))
    targets = other / "results/scores/part/targets.csv"
    write_text(targets, targets.read_text().replace("verdict", "opinion"))
    assert f"{targets}: is damaged, or another version wrote it: KeyError 'verdict'" in refused("compare", run, other)
    targets.unlink()
    said = refused("compare", run, other)
    assert "results/scores/part/targets.csv is missing (run `toporank score` there again" in said


def test_a_folder_with_several_answers_asks_which(tmp_path):
    run = write_answer(tmp_path / "run", {"T": {"m": 0.5}}, name="part")
    write_answer(tmp_path / "run", {"T": {"m": 0.6}}, name="parts")
    (run / layout.SETTINGS).unlink()
    assert "has 2 answers: part, parts (give one of them, such as" in refused("compare", run, run)
    a, b = (Place.find(run / "results/scores" / name) for name in ("part", "parts"))
    assert (a.out, b.out) == (run, run)
    assert compare(Run(a), Run(b)).rows[0].difference == pytest.approx(0.1)


def test_runs_that_share_no_target_are_refused_with_their_targets(tmp_path):
    a = write_answer(tmp_path / "a", {"one": {"m": 0.5}})
    b = write_answer(tmp_path / "b", {"two": {"m": 0.5}}, chains={"two": ("other", "other")})
    said = refused("compare", a, b)
    assert "the runs share no target" in said
    assert f"{a} has one; {b} has two" in said
    assert not Path("toporank_compare_a_b").exists()
