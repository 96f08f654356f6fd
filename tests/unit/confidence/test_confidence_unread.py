"""What lies beside models, looks like a predictor's file, and is not read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from predictor_files import FILES
from structures_text import pair, pdb
from toporank.confidence.beside import Unread, unread
from toporank.confidence.confidences import confidences
from toporank.confidence.examine import DecoyFile
from toporank.programs.catalogue import PROGRAMS
from toporank.programs.file_names import look_anew

TAG = "rank_00{0}_alphafold2_multimer_v3_model_{0}_seed_000"
COLABFOLD = [
    f"q_{kind}_{TAG.format(k)}.{end}"
    for k in (1, 2)
    for kind, end in (("unrelaxed", "pdb"), ("scores", "json"))
]


def folder_of(folder: Path, *names: str) -> str:
    """What is said of a folder with files of these names."""
    return unread_in(folder, *names).sentence


def unread_in(folder: Path, *names: str) -> Unread:
    """What is not read in a folder with files of these names."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text("{}")
    look_anew()
    return unread(folder)


LAYOUTS = FILES["layouts"]
WHOLE = {
    program: [row["model"], *row["beside"], *row.get("further", ())]
    for program, row in LAYOUTS.items()
} | {
    "ColabFold, the best model alone": [*COLABFOLD[:2], *COLABFOLD[3:]],
    "HADDOCK3": ["emref_1.pdb.gz", "io.json", "capri_ss.tsv", "capri_clt.tsv", "params.cfg"],
    "mine": ["one.pdb", "two.pdb", "labels.csv", "notes.json", "one.fasta", "dockq.csv", "results.csv"],
}  # fmt: skip


def test_each_program_with_files_has_a_row():
    programs = {program.name for program in PROGRAMS if program.readers}
    programs.remove("AlphaFold Database")  # which writes its numbers into the model
    assert {row.partition(",")[0] for row in LAYOUTS} >= programs


@pytest.mark.parametrize("program", WHOLE)
def test_of_what_programs_write_nothing_is_named(tmp_path, program):
    names = [Path(name).name for name in WHOLE[program]]
    assert folder_of(tmp_path / "d", *names) == ""


NAMED = FILES["unread"]


@pytest.mark.parametrize("case", NAMED)
def test_what_is_not_read_is_named(tmp_path, case):
    names, expected = NAMED[case].values()
    like = (
        "looks like a predictor's file"
        if len(expected) == 1
        else "look like a predictor's files"
    )
    said = folder_of(tmp_path / "d", *names)
    assert said.startswith(
        f"TopoRank does not read {', '.join(expected)} in folder d, which {like} ("
    )


def test_of_many_files_three_are_named(tmp_path):
    said = folder_of(tmp_path / "d", "m.pdb", *(f"scores_{i}.json" for i in range(9)))
    assert said.startswith(
        "TopoRank does not read scores_0.json, scores_1.json, scores_2.json and 6 more files in "
        "folder"
    )


OF_ONE = FILES["unread_of_models"]


@pytest.mark.parametrize("case", OF_ONE)
def test_a_file_called_after_a_model_is_of_this_model_alone(tmp_path, case):
    names, expected = OF_ONE[case].values()
    files = unread_in(tmp_path / "d", *names)
    models = [Path(name) for name in names if name.endswith(".pdb")]
    assert {model.stem for model in models if files.about(model)} == {*expected}


def test_a_row_is_ok_only_if_nothing_was_passed_over_and_each_folder_is_named_once(
    tmp_path,
):
    asked = []
    for name in ("one", "other", "plain"):
        folder = tmp_path / name
        folder.mkdir()
        for k in (0, 1):
            (folder / f"x_model_{k}.pdb").write_text(pdb(pair()))
            if name != "plain":
                (folder / f"confidence_x_model_{k}.json").write_text(
                    json.dumps({"iptm": 0.5})
                )
            asked.append(DecoyFile("T", f"{name}{k}", folder / f"x_model_{k}.pdb"))
    (tmp_path / "other/metrics.json").write_text("{}")
    (tmp_path / "one/x_model_1_notes.npz").write_text("{}")
    rows = confidences(asked)
    assert [row.status for row in rows] == ["ok", *["incomplete"] * 3, "none", "none"]
    assert [row.iptm for row in rows] == [0.5] * 4 + [None] * 2
    first, second = dict.fromkeys(row.reason for row in rows if row.reason)
    assert first.startswith("TopoRank does not read x_model_1_notes.npz in folder one")
    assert second.startswith("TopoRank does not read metrics.json in folder other")
