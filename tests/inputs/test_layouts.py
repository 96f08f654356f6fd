"""The output folders of predictors, as they lie: see the table in `_layouts.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from _layouts import LAYOUTS, PARTS, Layout

from toporank.errors import ConfigError
from toporank.inputs.folders import find_decoys, no_decoys, passed_over
from toporank.inputs.predictors import PLAIN, all_decoys, part_to_score, programs


def laid(folder: Path, files: tuple[str, ...]) -> Path:
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
    assert [str(path.relative_to(folder)) for path in passed_over(folder, decoys)] == list(layout.passed_over)


def test_early_alphafold_3_jobs_side_by_side_are_targets_too(tmp_path):
    files = ("a/seed-1_sample-0/model.cif", "a/seed-1_sample-1/model.cif.gz", "b/seed-1_sample-0/model.cif")
    keys = [decoy.key for decoy in find_decoys("set", laid(tmp_path, files))]
    assert keys == [("a", "seed-1_sample-0_model"), ("a", "seed-1_sample-1_model"), ("b", "seed-1_sample-0_model")]


def test_a_file_that_is_called_like_the_folder_of_predictions_hides_no_sample(tmp_path):
    folder = laid(tmp_path, ("T/seed_101/predictions", "T/seed_101/sample_0.cif"))
    assert [decoy.key for decoy in find_decoys("set", folder)] == [("T", "seed_101_sample_0")]


def test_a_file_in_the_folder_of_a_target_is_of_that_target_whatever_its_name(tmp_path):
    folder = laid(tmp_path, ("T/query_unrelaxed_rank_001_model_1.pdb",))
    assert [decoy.key for decoy in find_decoys("set", folder)] == [("T", "query_unrelaxed_rank_001_model_1")]


def test_what_is_passed_over_in_a_linked_target_is_seen_once_and_no_link_leads_in_circles(tmp_path):
    elsewhere = laid(tmp_path / "elsewhere", ("a.pdb", "deeper/b.pdb"))
    folder = laid(tmp_path / "given", ("T/c.pdb",))
    (folder / "linked").symlink_to(elsewhere)
    (elsewhere / "deeper" / "up").symlink_to(elsewhere)
    decoys = find_decoys("set", folder)
    assert [decoy.key for decoy in decoys] == [("T", "c"), ("linked", "a")]
    assert passed_over(folder, decoys) == [folder / "linked/deeper/b.pdb"]


def test_no_decoy_of_the_working_directory_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(laid(tmp_path, ("a.pdb", "T/b.pdb", "T/deeper/c.pdb")))
    decoys = find_decoys("set", Path("."))
    assert len(decoys) == 2
    assert passed_over(Path("."), decoys) == [Path("T/deeper/c.pdb")]


@pytest.mark.parametrize(
    ("files", "better"),
    [
        (("predictions/one/one_model_0.cif", "predictions/two/two_model_0.cif", "processed/x/a/b.pdb"), "predictions"),
        (("boltz_results_a/predictions/one/one_model_0.cif",), "boltz_results_a/predictions"),
        (("run/jobs/hello/seed-1_sample-0/model.cif",), "run/jobs"),
        (("1_rigidbody/x/a.pdb", "4_seletopclusts/x/a.pdb.gz", "4_seletopclusts/x/b.pdb.gz"), "4_seletopclusts"),
    ],
)
def test_where_structures_lie_deeper_the_folder_to_give_is_named(tmp_path, monkeypatch, files, better):
    folder = laid(tmp_path / "given", files)
    error = no_decoys("set", folder, passed_over(folder, []))
    assert error.remedy == f"give {folder / better}"
    assert str(error).startswith(f"dataset set, {folder}: no structure file found; {len(files)} file")
    assert find_decoys("set", folder / better)
    monkeypatch.chdir(folder)
    assert no_decoys("set", Path("."), passed_over(Path("."), [])).remedy == f"give {better}"


@pytest.mark.parametrize("files", [(), ("T/a.pdb.7z",), ("deep/T/a.bcif",)])
def test_where_nothing_can_be_read_deeper_down_the_form_of_a_data_set_is_told(tmp_path, files):
    folder = laid(tmp_path, files)
    assert "expected <target>/<decoy>.pdb" in no_decoys("set", folder, passed_over(folder, [])).remedy


def test_an_odd_name_that_is_passed_over_can_be_printed(tmp_path):
    folder = laid(tmp_path, ("T/deeper/a\tb\x1b.pdb",))
    assert str(no_decoys("set", folder, passed_over(folder, []))).isprintable()


@pytest.mark.parametrize("layout", [each for each in LAYOUTS if each.decoys], ids=lambda layout: layout.program)
def test_the_program_that_wrote_a_folder_is_recognised(tmp_path, layout: Layout):
    said = programs(find_decoys("set", laid(tmp_path / "given", layout.files)))
    if layout.program == "anything else":
        assert said == PLAIN
    else:
        assert layout.program.startswith(said.split(" and ")[0])


def test_decoys_of_two_programs_are_those_of_both(tmp_path):
    files = ("T/ranked_0.pdb", "T/ranked_1.pdb", "T/pred.model_idx_0.cif")
    assert programs(find_decoys("set", laid(tmp_path, files))) == "AlphaFold-Multimer and Chai-1"


def test_a_model_in_the_folders_of_boltz_is_known_without_the_file_of_its_confidence(tmp_path):
    folder = laid(tmp_path, ("predictions/one/one_model_0.cif", "predictions/one/two_model_0.cif"))
    assert programs(find_decoys("set", folder / "predictions")) == f"Boltz and {PLAIN}"


@pytest.mark.parametrize(("program", "files", "part"), PARTS)
def test_the_part_of_an_output_folder_that_is_scored(tmp_path, program, files, part):
    folder = laid(tmp_path / "given", files)
    assert part_to_score(folder) == folder / part


def test_several_runs_are_scored_together_and_targets_of_one_name_are_told_apart(tmp_path):
    files = ("a/predictions/one/one_model_0.cif", "b/predictions/two/two_model_0.cif", "b/processed/x/y/z.cif")
    folder = laid(tmp_path / "boltz", files)
    assert part_to_score(folder) == folder
    assert [decoy.key for decoy in all_decoys("set", folder)] == [("one", "one_model_0"), ("two", "two_model_0")]
    seeds = laid(tmp_path / "seeds", ("seed1/1AVX/model.pdb", "seed2/1AVX/model.pdb"))
    assert [decoy.key for decoy in all_decoys("set", seeds)] == [("seed1_1AVX", "model"), ("seed2_1AVX", "model")]


def test_of_runs_of_haddock_the_last_steps_are_scored(tmp_path):
    steps = ("1_rigidbody/rigidbody_1.pdb", "3_emref/emref_1.pdb")
    folder = laid(tmp_path, tuple(f"run{k}/{step}" for k in (1, 2) for step in steps))
    assert [(d.target, d.name) for d in all_decoys("set", folder)] == [
        ("run1_3_emref", "emref_1"),
        ("run2_3_emref", "emref_1"),
    ]


def test_of_outputs_that_are_no_runs_of_one_program_one_must_be_given(tmp_path):
    folder = laid(tmp_path, ("a/predictions/one/one_model_0.cif", "deeper/b/predictions/two/two_model_0.cif"))
    with pytest.raises(ConfigError, match=r"no structure file found.*give \S*/a/predictions"):
        part_to_score(folder)
