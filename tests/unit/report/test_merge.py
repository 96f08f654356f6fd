"""`toporank merge`: the parts of a screen become one answer, row by row, or the message says why they cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scored_folders import LOST, RECORD, write_answer
from toporank import layout
from toporank.__main__ import main
from toporank.building.coverage import read_coverage, write_coverage
from toporank.inputs.confidence.table import NOTHING, read_confidence
from toporank.layout import repository
from toporank.ranking.ranked import read_ranking
from toporank.ranking.residues import read_residues
from toporank.report.runs.folder import Place, Run
from toporank.report.runs.merge import joinable
from toporank.report.targets import read_targets
from toporank.scorer.embeddings import read_embeddings
from toporank.scorer.record import read_record

TABLES = (
    layout.RANKING,
    layout.SCORED_INTERFACES,
    layout.LEAKAGE,
    layout.RESIDUES,
    layout.CONTACTS,
    layout.EMBEDDINGS,
    layout.CHAINS,
)
FIRST = {"1AVZ": {"m": 0.4, "n": 0.9}, "3XYZ": {"m": 0.1, "lost": LOST}}
SECOND = {"2I25": {"m": 0.7, "n": 0.2}}


def refused(*arguments: object) -> str:
    with pytest.raises(SystemExit) as caught:
        main([str(argument) for argument in arguments])
    assert len(str(caught.value.code).splitlines()) == 1
    return str(caught.value.code)


def merged(*runs: Path, into: Path) -> Place:
    assert main(["merge", *map(str, runs), "--into", str(into)]) == 0
    return Place.find(into)


def test_the_whole_has_the_tables_that_one_run_would_have_written(tmp_path, capsys):
    parts = [write_answer(tmp_path / name, models, name=name) for name, models in (("b", SECOND), ("a", FIRST))]
    found = merged(*parts, into=tmp_path / "whole")
    one = Place.find(write_answer(tmp_path / "one", FIRST | SECOND, name="whole"))
    for pattern in TABLES:
        assert found.path(pattern).read_bytes() == one.path(pattern).read_bytes()
    assert [row.target for row in read_targets(found.path(layout.TARGETS))] == ["1AVZ", "2I25", "3XYZ"]
    assert (
        "of 3 targets the best model is acceptable or better: 1 likely, 1 doubtful, 1 wrong" in capsys.readouterr().out
    )
    assert {path.parent.name for path in found.path(layout.MODELS).glob("*/*.cif")} == {"1AVZ", "2I25", "3XYZ"}
    assert "2I25" in found.path(layout.SCORE_REPORT).read_text()
    assert "1 of 2 models has no score" in found.path(layout.TARGETS).read_text()
    assert Run(found).contents == {**Run(Place.find(parts[0])).contents, **Run(Place.find(parts[1])).contents}


def test_the_whole_says_what_gave_its_scores_and_of_which_runs_it_is(tmp_path):
    parts = [write_answer(tmp_path / "a", FIRST), write_answer(tmp_path / "b", SECOND, record=RECORD)]
    found = merged(*parts, into=tmp_path / "whole")
    assert read_record(found.path(layout.SCORED_WITH)) == RECORD._replace(merged=("a", "b"))
    assert len(read_embeddings(found.path(layout.EMBEDDINGS))) == 5


def test_a_merge_can_be_merged_again_and_made_again(tmp_path):
    a, b = write_answer(tmp_path / "a", FIRST, name="a"), write_answer(tmp_path / "b", SECOND, name="b")
    c = write_answer(tmp_path / "c", {"9ZZZ": {"m": 0.3}}, name="c")
    first = merged(a, b, into=tmp_path / "ab")
    whole = merged(first.out, c, into=tmp_path / "whole")
    before = {path: path.read_bytes() for path in whole.out.rglob("*.*") if path.is_file()}
    again = merged(first.out, c, into=tmp_path / "whole")
    assert {path: path.read_bytes() for path in again.out.rglob("*.*") if path.is_file()} == before
    smaller = merged(a, c, into=tmp_path / "whole")
    assert {row.target for row in read_ranking(smaller.path(layout.RANKING))} == {"1AVZ", "3XYZ", "9ZZZ"}
    assert not smaller.path(layout.MODELS).joinpath("2I25").exists()


def test_a_target_that_two_runs_have_with_the_same_rows_is_in_the_whole_once(tmp_path, capsys):
    a, b = write_answer(tmp_path / "a", FIRST, name="a"), write_answer(tmp_path / "b", SECOND | FIRST, name="b")
    found = merged(a, b, into=tmp_path / "whole")
    assert [row.target for row in read_ranking(found.path(layout.RANKING))].count("1AVZ") == 2
    assert len(list(read_residues(found.path(layout.RESIDUES)))) == 10
    assert len(found.path(layout.CONTACTS).read_text().splitlines()) == 6  # one of each model
    assert "1AVZ and 1 more: several runs have the same rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("theirs", "differs"),
    [({"m": 0.4, "x": 0.9}, "2 of its models only one of them has"), ({"m": 0.4, "n": 0.91}, "its models have other")],
)
def test_a_target_with_other_models_or_scores_is_refused_by_name(tmp_path, theirs, differs):
    a, b = write_answer(tmp_path / "a", FIRST), write_answer(tmp_path / "b", {"1AVZ": theirs})
    said = refused("merge", a, b, "--into", tmp_path / "whole")
    assert said.startswith(f"{b}: the target 1AVZ is in {a}, too, and {differs}")
    assert "score all models of this target in one run" in said
    assert not (tmp_path / "whole").exists()


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (RECORD._replace(scorer="f" * 64), "different scorers scored the two runs"),
        (RECORD._replace(use_confidence=False), "--without-confidence"),
        (RECORD._replace(mask_disorder=True), "--mask-disorder"),
    ],
)
def test_runs_of_other_scorers_are_refused_with_the_reason(tmp_path, record, reason):
    a, b = write_answer(tmp_path / "a", FIRST), write_answer(tmp_path / "b", SECOND, record=record)
    said = refused("merge", a, b, "--into", tmp_path / "whole")
    assert reason in said
    assert f"cannot be joined with {a} (A)" in said


def test_a_scorer_that_did_not_score_the_runs_gives_no_page(tmp_path):
    of_another = RECORD._replace(scorer="f" * 64)
    a, b = (write_answer(tmp_path / n, models, record=of_another) for n, models in (("a", FIRST), ("b", SECOND)))
    assert "give the scorer that scored the runs with --scorer" in refused("merge", a, b, "--into", tmp_path / "whole")
    nowhere = refused("merge", a, b, "--into", tmp_path / "whole", "--scorer", tmp_path / "nowhere")
    assert "the page needs the scorer of the runs" in nowhere
    assert not (tmp_path / "whole").exists()


def test_where_predictors_speak_of_some_runs_only_the_others_have_empty_rows(tmp_path):
    a = write_answer(tmp_path / "a", FIRST, predictor="chai1")
    found = merged(a, write_answer(tmp_path / "b", SECOND), into=tmp_path / "whole")
    rows = {(row.target, row.decoy): row for row in read_confidence(found.path(layout.CONFIDENCE))}
    assert rows["1AVZ", "m"].iptm == 0.8
    assert rows["2I25", "m"].status == NOTHING
    assert len(rows) == 6


def test_files_that_a_run_names_from_its_own_folder_are_still_found(tmp_path):
    a, b = write_answer(tmp_path / "a", FIRST), write_answer(tmp_path / "b", SECOND)
    table = a / "results/part/coverage.tsv"
    write_coverage(table, [row._replace(path=os.path.relpath(row.path, a)) for row in read_coverage(table)])
    found = merged(a, b, into=tmp_path / "whole")
    assert {Path(row.path).parents[2] for row in read_coverage(found.path(layout.COVERAGE))} == {a, b}


def test_a_folder_that_holds_something_else_is_refused(tmp_path):
    a, b = write_answer(tmp_path / "a", FIRST), write_answer(tmp_path / "b", SECOND)
    other = write_answer(tmp_path / "other", SECOND)
    assert "is one of the runs" in refused("merge", a, b, "--into", a)
    assert "holds results of `toporank score`" in refused("merge", a, b, "--into", other)
    assert "a single run is whole" in refused("merge", a, "--into", tmp_path / "whole")
    assert "is given 2 times" in refused("merge", a, a, "--into", tmp_path / "whole")


def test_every_part_keeps_its_own_targets(tmp_path):
    """Residues are read while they are written: each stream must know its own part."""
    places = [Place.find(write_answer(tmp_path / n, m, name=n)) for n, m in (("a", FIRST), ("b", SECOND))]
    assert [part.targets for part in joinable(places).parts] == [{"1AVZ", "3XYZ"}, {"2I25"}]


@pytest.mark.slow
def test_two_halves_of_a_real_screen_become_what_one_run_writes(tmp_path):
    """The example, scored as a whole and in halves: the same tables but for the paths of files."""
    example = repository() / "resources/example/decoys"
    halves = {"a": ("1AVZ",), "b": ("1PPE",), "whole": ("1AVZ", "1PPE")}
    for name, targets in halves.items():
        for target in targets:
            for model in ("near1", "mid1", "far1"):
                (source,) = example.glob(f"{target}/{model}.*")
                link = tmp_path / "models" / name / target / source.name
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(source)
        command = [sys.executable, "-m", "toporank", "score", f"models/{name}", "-o", name]
        environment = os.environ | {"PYTHONPATH": str(repository() / "lib")}
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    found, one = merged(tmp_path / "a", tmp_path / "b", into=tmp_path / "x" / "whole"), Place.find(tmp_path / "whole")
    for pattern in (*TABLES, layout.CONFIDENCE, layout.MODEL_PRED_DOCKQ, layout.MULTIQC, layout.TOP_PML):
        assert found.path(pattern).read_bytes() == one.path(pattern).read_bytes()
    rows = [read_targets(place.path(layout.TARGETS)) for place in (found, one)]
    assert [row._replace(file="") for row in rows[0]] == [row._replace(file="") for row in rows[1]]
    assert Run(found).contents == Run(one).contents
    assert main(["compare", str(found.out), str(one.out), "-o", str(tmp_path / "c")]) == 0
