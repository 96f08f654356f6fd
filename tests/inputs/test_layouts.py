"""The output folders of predictors, as they lie: see layouts.yaml."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

import pytest
from _cases import LAYOUTS, PARTS, Layout

from structures_text import mmcif, pair, pdb
from toporank.inputs.folders import find_decoys, no_decoys, part_to_score, passed_over
from toporank.inputs.predictors import PLAIN, programs
from toporank.structures.identity import INTERMEDIATE
from toporank.structures.read import read_complex


def laid(folder: Path, files: Iterable[str]) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    return folder


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.program)
def test_the_folder_of_a_predictor(tmp_path, layout: Layout):
    folder = laid(tmp_path / "given", layout.files)
    decoys = find_decoys("set", folder)
    expected = {(target, name) for target, names in layout.decoys.items() for name in names}
    assert {decoy.key for decoy in decoys} == expected
    assert len(decoys) == len(expected)
    names = [str(path.relative_to(folder)) for path in passed_over(folder, decoys)]
    assert names == [*layout.passed_over]


def test_early_alphafold_3_jobs_side_by_side_are_targets_too(tmp_path):
    files = (
        "a/seed-1_sample-0/model.cif",
        "a/seed-1_sample-1/model.cif.gz",
        "b/seed-1_sample-0/model.cif",
    )
    keys = [decoy.key for decoy in find_decoys("set", laid(tmp_path, files))]
    assert keys == [
        ("a", "seed-1_sample-0_model"),
        ("a", "seed-1_sample-1_model"),
        ("b", "seed-1_sample-0_model"),
    ]


def test_a_file_that_is_called_like_the_folder_of_predictions_hides_no_sample(tmp_path):
    folder = laid(tmp_path, ("T/seed_101/predictions", "T/seed_101/sample_0.cif"))
    assert [decoy.key for decoy in find_decoys("set", folder)] == [("T", "seed_101_sample_0")]


def test_a_file_in_the_folder_of_a_target_is_of_that_target_whatever_its_name(tmp_path):
    folder = laid(tmp_path, ("T/query_unrelaxed_rank_001_model_1.pdb",))
    assert [decoy.key for decoy in find_decoys("set", folder)] == [
        ("T", "query_unrelaxed_rank_001_model_1")
    ]


def test_no_link_leads_in_circles_and_what_lies_in_a_linked_folder_is_read_once(tmp_path):
    elsewhere = laid(tmp_path / "elsewhere", ("a.pdb", "deeper/b.pdb"))
    folder = laid(tmp_path / "given", ("T/c.pdb", "T/inner/d.pdb"))
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
    assert passed_over(folder, decoys) == []


def test_no_decoy_of_the_working_directory_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(laid(tmp_path, ("a.pdb", "T/b.pdb", "T/deeper/c.pdb", "T/d.pdb.7z")))
    decoys = find_decoys("set", Path("."))
    assert [decoy.path for decoy in decoys] == ["T/b.pdb", "T/deeper/c.pdb", "a.pdb"]
    assert passed_over(Path("."), decoys) == [Path("T/d.pdb.7z")]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (("a.pdb", "x/y/z/b.pdb"), {"given": ["a"], "z": ["b"]}),
        (("T/a.pdb", "T/x/y/b.pdb", "T/x/c.pdb"), {"T": ["a", "x_c", "x_y_b"]}),
        (("T/a.pdb", "deep/one/m.pdb", "deep/two/m.pdb"), {"T": ["a"], "one": ["m"], "two": ["m"]}),
        (("T/a.pdb", "r1/one/m.pdb", "r2/one/m.pdb"), {"T": ["a"], "r1_one": ["m"], "r2_one": ["m"]}),
        (("x/y/one/m.pdb", "one/m.pdb"), {"one": ["m"], "x_y_one": ["m"]}),
        (("a.pdb", "out/predictions/q/q_model_0.cif"), {"given": ["a"], "q": ["q_model_0"]}),
        (("T/a.pdb", "run/1_rigidbody/r.pdb", "run/2_emref/e.pdb", "run/data/x.pdb"), {"T": ["a"], "2_emref": ["e"]}),
        (("T/a.pdb", "af3/job/seed-1_sample-0/model.cif"), {"T": ["a"], "job": ["seed-1_sample-0_model"]}),
    ],
    ids=["below models", "below a target", "beside", "runs", "one name", "Boltz", "HADDOCK", "AlphaFold 3"],
)  # fmt: skip
def test_models_are_found_at_any_depth_whatever_lies_above_them(tmp_path, files, expected):
    found: dict[str, list[str]] = {}
    for decoy in find_decoys("set", laid(tmp_path / "given", files)):
        found.setdefault(decoy.target, []).append(decoy.name)
    assert found == expected


@pytest.mark.parametrize(
    "given",
    ["templates/1abc.cif", "templates_101/1abc.cif", "q_env/templates_101/1abc.cif", "T/msas/A/x.pdb",
     "processed/structures/q.cif", "run/1_rigidbody/rigidbody_1.pdb.gz"],
)  # fmt: skip
def test_what_a_predictor_was_given_is_named_and_not_read(tmp_path, given):
    folder = laid(tmp_path, ("T/a.pdb", "run/2_emref/emref_1.pdb", given))
    decoys = find_decoys("set", folder)
    assert [decoy.key for decoy in decoys] == [("2_emref", "emref_1"), ("T", "a")]
    assert passed_over(folder, decoys) == [folder / given]


def test_results_of_toporank_are_no_input(tmp_path):
    results = (
        "x/.toporank/store/a",
        "x/results/scores/d/models/T/a.pdb",
        "x/input/y/b.pdb",
        "results/c.pdb",
    )
    folder = laid(tmp_path, ("T/a.pdb", *results))
    assert [decoy.key for decoy in find_decoys("set", folder)] == [("T", "a"), ("results", "c")]
    (folder / ".toporank").mkdir()
    decoys = find_decoys("set", folder)
    assert ([decoy.key for decoy in decoys], passed_over(folder, decoys)) == ([("T", "a")], [])


def test_jobs_of_the_alphafold_server_in_one_folder_are_called_after_themselves(tmp_path):
    jobs = {
        job: tuple(f"fold_{job}_model_{n}.cif" for n in range(5)) for job in ("a", "a_1", "a_1_2")
    }
    decoys = find_decoys(
        "set", laid(tmp_path, tuple(file for files in jobs.values() for file in files))
    )
    assert {decoy.target: decoy.name.rpartition("_model_")[0] for decoy in decoys} == {
        f"fold_{job}": f"fold_{job}" for job in jobs
    }


@pytest.mark.parametrize("files", [(), ("T/a.pdb.7z",), ("deep/T/a.bcif",)])
def test_where_nothing_can_be_read_the_form_of_a_data_set_is_said(tmp_path, files):
    folder = laid(tmp_path, files)
    assert (
        "expected <target>/<decoy>.pdb" in no_decoys("set", folder, passed_over(folder, [])).remedy
    )


def test_an_odd_name_that_is_passed_over_can_be_printed(tmp_path):
    folder = laid(tmp_path, ("T/deeper/a\tb\x1b.pdb",))
    assert str(no_decoys("set", folder, passed_over(folder, []))).isprintable()


@pytest.mark.parametrize(
    "layout", [each for each in LAYOUTS if each.decoys], ids=lambda layout: layout.program
)
def test_the_program_that_wrote_a_folder_is_recognised(tmp_path, layout: Layout):
    said = programs(find_decoys("set", laid(tmp_path / "given", layout.files)))
    if layout.program == "anything else":
        assert said == PLAIN
    else:
        assert layout.program.startswith(said.split(" and ")[0])


def test_decoys_of_two_programs_are_those_of_both(tmp_path):
    files = ("T/ranked_0.pdb", "T/ranked_1.pdb", "T/pred.model_idx_0.cif")
    assert programs(find_decoys("set", laid(tmp_path, files))) == "AlphaFold-Multimer and Chai-1"


COLLECTED = {
    "OpenFold3": [
        "one_seed_42_sample_1_model.cif",
        "one_seed_42_sample_1_confidences_aggregated.json",
    ],
    "Chai-1": ["jobA.pred.rank_0.cif", "jobA.scores.rank_0.json"],
    "Protenix": ["x_sample_0.cif", "x_summary_confidence_sample_0.json"],
    PLAIN: ["x_sample_0.cif", "y_summary_confidence_sample_0.json"],
}


@pytest.mark.parametrize("program", COLLECTED)
def test_the_files_beside_models_name_the_program_whatever_the_folders_are_called(
    tmp_path, program
):
    assert programs(find_decoys("set", laid(tmp_path / "given", COLLECTED[program]))) == program


def test_a_model_in_the_folders_of_boltz_is_known_without_the_file_of_its_confidence(tmp_path):
    folder = laid(tmp_path, ("predictions/one/one_model_0.cif", "predictions/one/two_model_0.cif"))
    assert programs(find_decoys("set", folder / "predictions")) == f"Boltz and {PLAIN}"


@pytest.mark.parametrize("row", PARTS, ids=lambda row: row["program"])
def test_the_part_of_an_output_folder_that_is_scored(tmp_path, row):
    folder = laid(tmp_path / "given", row["files"])
    assert part_to_score(folder) == folder / row["part"]


def test_several_runs_are_scored_together_and_targets_of_one_name_are_told_apart(tmp_path):
    files = (
        "a/predictions/one/one_model_0.cif",
        "b/predictions/two/two_model_0.cif",
        "b/processed/x/y/z.cif",
    )
    folder = laid(tmp_path / "boltz", files)
    assert part_to_score(folder) == folder
    assert [decoy.key for decoy in find_decoys("set", folder)] == [
        ("one", "one_model_0"),
        ("two", "two_model_0"),
    ]
    seeds = laid(tmp_path / "seeds", ("seed1/1AVX/model.pdb", "seed2/1AVX/model.pdb"))
    assert [decoy.key for decoy in find_decoys("set", seeds)] == [
        ("seed1_1AVX", "model"),
        ("seed2_1AVX", "model"),
    ]


def test_of_runs_of_haddock_the_last_steps_are_scored(tmp_path):
    steps = ("1_rigidbody/rigidbody_1.pdb", "3_emref/emref_1.pdb")
    folder = laid(tmp_path, tuple(f"run{k}/{step}" for k in (1, 2) for step in steps))
    assert part_to_score(folder) == folder
    assert [decoy.key for decoy in find_decoys("set", folder)] == [
        ("run1_3_emref", "emref_1"),
        ("run2_3_emref", "emref_1"),
    ]


# ---- states on the way to a model ----------------------------------------------------------------

Q = "q_unrelaxed_rank_001_alphafold2_multimer_v3_model_1_seed_000"
RELAXED = Q.replace("unrelaxed", "relaxed")
EARLY = "q_unrelaxed_alphafold2_multimer_v3_model_2_seed_000"


@pytest.mark.parametrize(
    ("files", "models"),
    [
        ((f"{Q}.pdb", f"{Q}.r0.pdb", f"{Q}.r1.pdb"), [Q]),
        ((f"{Q}.pdb.gz", f"{Q}.r0.pdb.gz", f"{Q}.r10.cif"), [Q]),
        ((f"T/{Q}.pdb", f"T/{Q}.r0.pdb"), [Q]),
        ((f"{RELAXED}.pdb", f"{Q}.r0.pdb", f"{Q}.r1.pdb"), [RELAXED]),
        ((f"{EARLY}.r0.pdb", f"{EARLY}.r2.pdb", f"{EARLY}.r10.pdb"), [f"{EARLY}.r10"]),
        (("T/m.pdb", "T/m_recycle_3.pdb", "T/m.recycled01.pdb"), ["m"]),
        (
            ("design_0.pdb", "traj/design_0_pX0_traj.pdb", "traj/design_0_Xt-1_traj.pdb"),
            ["design_0"],
        ),
        (("T/m.r1.pdb", "T/m.r2.pdb"), ["m.r1", "m.r2"]),
    ],
    ids=[
        "ColabFold",
        "gzipped",
        "in a folder",
        "relaxed alone",
        "stopped",
        "others",
        "RFdiffusion",
        "names that mean something else",
    ],
)
def test_recycles_and_trajectories_are_no_models(tmp_path, files, models):
    decoys = find_decoys("set", laid(tmp_path, files))
    assert len(decoys) == len(files)
    assert [decoy.name for decoy in decoys if not decoy.refused] == models
    assert all(decoy.refused.startswith(INTERMEDIATE) for decoy in decoys if decoy.refused)


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
@pytest.mark.parametrize("zipped", [False, True])
def test_a_structure_whose_name_does_not_say_so_is_read_by_its_content(
    tmp_path, name, text, decoy, zipped
):
    path = tmp_path / (f"{name}.gz" if zipped else name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
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
@pytest.mark.parametrize("name", ["README", "log.txt", "H9999TS001_1", "LICENSE.gz", "x.1"])
def test_other_files_without_an_ending_are_none(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (tmp_path / "a.pdb").touch()
    decoys = find_decoys("set", tmp_path)
    assert ([decoy.name for decoy in decoys], passed_over(tmp_path, decoys)) == (["a"], [])
