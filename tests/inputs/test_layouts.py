"""The output folders of predictors, as they lie: see layouts.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest
from _cases import LAYOUTS, OF_PROGRAMS, Layout

from structures_text import by_target, lay, mmcif, pair, pdb, write
from toporank.finding.folders import find_decoys
from toporank.finding.scan import (
    EARLIER,
    GIVEN,
    PACKED,
    Scan,
    describe_passed_over,
    no_decoys,
)
from toporank.programs.catalogue import PLAIN, programs_of
from toporank.structures.identity import Status
from toporank.structures.read import read_complex


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.program)
def test_the_folder_of_a_predictor(tmp_path, layout: Layout):
    folder = lay(tmp_path / "given", *layout.files)
    decoys = find_decoys("set", folder)
    assert by_target(decoys) == layout.decoys
    names = [str(path.relative_to(folder)) for path in Scan(folder).passed_over(decoys)]
    assert names == [*layout.passed_over]
    if layout.program == "anything else":
        assert programs_of(decoys) == PLAIN
    else:
        assert layout.program.startswith(programs_of(decoys).split(" and ")[0])


@pytest.mark.parametrize("row", OF_PROGRAMS["found"], ids=lambda row: row["name"])
def test_each_model_has_the_target_that_its_place_says(tmp_path, row):
    assert (
        by_target(find_decoys("set", lay(tmp_path / "given", *row["files"])))
        == row["decoys"]
    )


def test_no_link_leads_in_circles_and_what_lies_in_a_linked_folder_is_read_once(
    tmp_path,
):
    elsewhere = lay(tmp_path / "elsewhere", "a.pdb", "deeper/b.pdb")
    folder = lay(tmp_path / "given", "T/c.pdb", "T/inner/d.pdb")
    (folder / "linked").symlink_to(elsewhere)
    (elsewhere / "deeper" / "up").symlink_to(elsewhere)
    (folder / "T" / "round").symlink_to(folder / "T")
    (folder / "T" / "above").symlink_to(tmp_path)
    (folder / "T" / "itself").symlink_to(folder / "T" / "itself")
    decoys = find_decoys("set", folder)
    assert [decoy.key for decoy in decoys] == [
        ("T", "c"),
        ("T", "inner_d"),
        ("linked", "a"),
        ("linked", "deeper_b"),
    ]
    assert Scan(folder).passed_over(decoys) == {}


def test_no_decoy_of_the_working_directory_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(lay(tmp_path, "a.pdb", "T/b.pdb", "T/deeper/c.pdb", "T/d.pdb.7z"))
    decoys = find_decoys("set", Path("."))
    assert [decoy.path for decoy in decoys] == ["T/b.pdb", "T/deeper/c.pdb", "a.pdb"]
    assert Scan(Path(".")).passed_over(decoys) == {Path("T/d.pdb.7z"): PACKED}


BESIDE = {
    "ColabFold": ["q_unrelaxed_rank_001_alphafold2_multimer_v3_model_1.pdb", "q.a3m"],
    "Boltz": ["predictions/q/q_model_0.cif", "predictions/q/confidence_q_model_0.json"],
    "AlphaFold 2": ["ranked_0.pdb", "timings.json"],
    "another predictor": ["best.pdb", "best.json"],
}
GIVEN_FOLDERS = [
    ("ColabFold", "q_env/templates_101/1abc.cif"),
    ("ColabFold", "templates_1/1abc.cif"),
    ("Boltz", "processed/structures/q.cif"),
    ("AlphaFold 2", "msas/A/x.pdb"),
    ("another predictor", "templates/1abc.cif"),
]


@pytest.mark.parametrize(("program", "given"), GIVEN_FOLDERS)
def test_what_a_predictor_was_given_is_named_and_not_read_beside_what_it_wrote(
    tmp_path, program, given
):
    folder = lay(tmp_path, "other/a.pdb", given, *BESIDE[program])
    decoys = find_decoys("set", folder)
    assert len(decoys) == 2
    unread = Scan(folder).passed_over(decoys)
    assert unread == {folder / given: GIVEN}
    (line,) = describe_passed_over(folder, unread)
    assert line.startswith(
        f"1 file is not read, such as {given}: a predictor was given"
    )


@pytest.mark.parametrize("given", [given for _, given in GIVEN_FOLDERS] + ["HIV_env/model_0.pdb"])  # fmt: skip
@pytest.mark.parametrize(
    "beside",
    [[], ["other/a.pdb"], ["README.md", "labels.csv"], ["CD4_unrelaxed_rank_001_x.pdb"]],
)  # fmt: skip
def test_a_folder_of_models_may_have_any_name(tmp_path, given, beside):
    if beside and "CD4" in beside[0] and "_env" not in given:
        beside = []
    folder = lay(tmp_path, given, *beside)
    decoys = find_decoys("set", folder)
    assert str(folder / given) in {decoy.path for decoy in decoys}
    assert Scan(folder).passed_over(decoys) == {}


@pytest.mark.parametrize("program", BESIDE)
def test_what_a_predictor_wrote_is_read_in_a_folder_of_any_name(tmp_path, program):
    inside = [f"processed/{name}" for name in BESIDE[program]]
    folder = lay(tmp_path, *inside, "predictions/q/q_model_0.cif")
    assert len(find_decoys("set", folder)) == 2


def test_earlier_steps_of_haddock_are_named_and_not_read(tmp_path):
    folder = lay(tmp_path, "T/a.pdb", "run/2_emref/emref_1.pdb", "run/1_rigidbody/r_1.pdb.gz")  # fmt: skip
    decoys = find_decoys("set", folder)
    assert [decoy.key for decoy in decoys] == [("2_emref", "emref_1"), ("T", "a")]
    assert Scan(folder).passed_over(decoys) == {folder / "run/1_rigidbody/r_1.pdb.gz": EARLIER.format("HADDOCK")}  # fmt: skip


NEW_MODULES = [
    ["0_topoaa/m_haddock.pdb", "1_gdock/gdock_1_1.pdb", "1_gdock/gdock_1_2.pdb", "data/0_topoaa/m.pdb"],
    ["0_topocg/m_haddock.pdb", "0_topocg/io.json", "1_dock9/d_1.pdb", "1_dock9/d_2.pdb", "2_caprieval/c.tsv"],
    ["1_a/x.pdb", "1_a/io.json", "2_b/y_1.pdb", "2_b/y_2.pdb", "2_b/io.json", "3_c/io.json"],
]  # fmt: skip


@pytest.mark.parametrize("files", NEW_MODULES, ids=["gdock", "all new", "no first step"])  # fmt: skip
def test_a_run_of_haddock_is_one_by_its_form(tmp_path, files):
    decoys = find_decoys("set", lay(tmp_path / "run", *files))
    assert len(decoys) == 2
    assert len({decoy.target for decoy in decoys}) == 1


def test_numbered_targets_are_no_run_of_haddock(tmp_path):
    files = ("1_barnase/barnase_1.pdb", "2_trypsin/trypsin_1.pdb", "data/x.csv")
    assert len(find_decoys("set", lay(tmp_path, *files))) == 2


def test_results_of_toporank_are_no_input(tmp_path):
    results = (
        "x/.toporank/store/a",
        "x/results/scores/d/models/T/a.pdb",
        "x/input/y/b.pdb",
        "results/c.pdb",
    )
    folder = lay(tmp_path, "T/a.pdb", *results)
    assert [decoy.key for decoy in find_decoys("set", folder)] == [
        ("T", "a"),
        ("results", "c"),
    ]
    (folder / ".toporank").mkdir()
    decoys = find_decoys("set", folder)
    assert ([decoy.key for decoy in decoys], Scan(folder).passed_over(decoys)) == (
        [("T", "a")],
        {},
    )


@pytest.mark.parametrize("files", [(), ("T/a.pdb.7z",), ("deep/T/a.bcif",)])
def test_where_nothing_can_be_read_the_form_of_a_data_set_is_said(tmp_path, files):
    folder = lay(tmp_path, *files)
    assert (
        "expected <target>/<model>.pdb"
        in no_decoys("set", folder, Scan(folder).passed_over([])).remedy
    )


def test_an_odd_name_that_is_passed_over_can_be_printed(tmp_path):
    folder = lay(tmp_path, "T/deeper/a\tb\x1b.pdb")
    assert str(no_decoys("set", folder, Scan(folder).passed_over([]))).isprintable()


@pytest.mark.parametrize(
    ("program", "files"),
    [
        (
            "OpenFold3",
            "one_seed_42_sample_1_model.cif one_seed_42_sample_1_confidences_aggregated.json",
        ),
        ("Chai-1", "jobA.pred.rank_0.cif jobA.scores.rank_0.json"),
        ("Protenix", "x_sample_0.cif x_summary_confidence_sample_0.json"),
        (PLAIN, "x_sample_0.cif y_summary_confidence_sample_0.json"),
        (
            "AlphaFold-Multimer and Chai-1",
            "T/ranked_0.pdb T/ranked_1.pdb T/pred.model_idx_0.cif",
        ),
        (
            "Boltz and others",
            "predictions/one/one_model_0.cif predictions/one/two_model_0.cif",
        ),
    ],
)
def test_models_and_the_files_beside_them_name_the_program(tmp_path, program, files):
    assert (
        programs_of(find_decoys("set", lay(tmp_path / "given", *files.split())))
        == program
    )


@pytest.mark.parametrize("row", OF_PROGRAMS["parts"], ids=lambda row: row["program"])
def test_the_part_of_an_output_folder_that_is_scored(tmp_path, row):
    folder = lay(tmp_path / "given", *row["files"])
    assert Scan(folder).part_to_score().folder == folder / row["part"]


@pytest.mark.parametrize(
    "row", OF_PROGRAMS["intermediates"], ids=lambda row: row["name"]
)
def test_recycles_and_trajectories_are_no_models(tmp_path, row):
    decoys = find_decoys("set", lay(tmp_path, *row["files"]))
    assert len(decoys) == len(row["files"])
    assert [decoy.name for decoy in decoys if not decoy.refused] == row["models"]
    assert all(
        decoy.refused_as == Status.INTERMEDIATE for decoy in decoys if decoy.refused
    )


# ---- files without an ending ---------------------------------------------------------------------

CASP = (
    "PFRMAT TS\nTARGET H9999\nAUTHOR 0000-0000\nMETHOD none\nMODEL  1\nPARENT N/A\n"
    + pdb(pair())
    + "TER\nEND\n"
)


@pytest.mark.parametrize(
    ("name", "text", "decoy"),
    [
        ("H9999TS001_1", CASP, "H9999TS001_1"),
        ("H9999/T1234TS001_1-D1", CASP, "T1234TS001_1-D1"),
        ("complex.12", pdb(pair()), "complex.12"),
        ("model_1.pdb.txt", pdb(pair()), "model_1"),
        ("model_1.TXT", mmcif(pair()), "model_1.TXT"),
        ("pose", mmcif(pair()), "pose"),
    ],
)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_structure_whose_name_does_not_say_so_is_read_by_its_content(
    tmp_path, name, text, decoy, ending
):
    path = tmp_path / f"{name}{ending}"
    path.parent.mkdir(exist_ok=True)
    write(path, text)
    (found,) = find_decoys("set", tmp_path)
    assert (found.name, found.path) == (decoy, str(path))
    assert read_complex(Path(found.path)).chains == ["A", "B"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ATOM \n",
        "REMARK nothing\n",
        "ATOM      1  CA  ALA A   1      not a number\n",
        "data_x\n#\n",
    ],
)
@pytest.mark.parametrize(
    "name", ["README", "log.txt", "H9999TS001_1", "LICENSE.gz", "x.1"]
)
def test_other_files_without_an_ending_are_none(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (tmp_path / "a.pdb").touch()
    decoys = find_decoys("set", tmp_path)
    assert ([decoy.name for decoy in decoys], Scan(tmp_path).passed_over(decoys)) == (
        ["a"],
        {},
    )
