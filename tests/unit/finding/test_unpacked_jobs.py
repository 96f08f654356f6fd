"""Archives that lie beside structures, or alone in a folder: each is read as the folder that is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from archived import packed
from given_models import look_at
from structures_text import by_target, pair, pdb, shifted
from toporank.app.request import STORE, folder_to_score
from toporank.errors import ConfigError
from toporank.finding.complexes import BY_FOLDER, BY_SEQUENCE
from toporank.finding.discovery import decoys_of
from toporank.finding.folders import find_decoys
from toporank.finding.scan import Scan

TAG = "unrelaxed_rank_001_alphafold2_multimer_v3_model_1_seed_000"
RESIDUES = ("ALA", "GLY", "SER", "THR", "VAL", "LEU")


def model(n: int, seed: int = 0) -> str:
    """A model of another complex for each number, and another model of it for each seed."""
    return pdb(shifted(pair(), float(seed))).replace("ALA", RESIDUES[n])


def of_casp(n: int) -> str:
    return f"PFRMAT TS\nTARGET H9999\nMODEL  1\nPARENT N/A\n{model(n)}TER\nEND\n"


def laid(folder: Path, files: dict[str, object]) -> Path:
    """Files by their text; an archive by the files in it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            packed(name, content) if isinstance(content, dict) else content.encode()
        )
    return folder


def targets(given: Path, out: Path, by: str = BY_SEQUENCE) -> dict[str, list[str]]:
    """Target → its decoys, as `score` finds them."""
    folder = folder_to_score(given, lambda: out / "input").scan.folder
    return by_target(decoys_of("d", folder, by, out / STORE).decoys)


@pytest.mark.parametrize("by", [BY_SEQUENCE, BY_FOLDER])
def test_what_colabfold_zips_of_each_query_is_a_target_beside_the_one_that_it_works_on(
    tmp_path, by
):
    given = laid(tmp_path / "screen", {
        "first.result.zip": {f"first_{TAG}.pdb": model(1), "config.json": "{}"},
        "second.result.zip": {f"second_{TAG}.pdb": model(2), "second.a3m": ">x"},
        f"third_{TAG}.pdb": model(3),
        "cite.bibtex": "",
    })  # fmt: skip
    assert targets(given, tmp_path / "out", by) == {
        name: [f"{name}_{TAG}"] for name in ("first", "second", "third")
    }
    first, note = look_at(given, tmp_path / "out").said.splitlines()
    assert first == f"ColabFold: 3 models of 3 targets in {given}"
    assert note.startswith("  2 archives, such as first.result.zip, are unpacked into ")


@pytest.mark.parametrize(
    "files",
    [
        {"fold_p_1.zip": "1", "fold_p_2.tar.gz": "2", "fold_p_3": "3"},
        {"fold_p_1.zip": "1", "fold_p_2.zip": "2"},
        {"fold_p_1.tgz": "1", "": "2"},
        {"one.zip": "1", "run/fold_p_2.zip": "2", "run/three": "3"},
    ],
    ids=[
        "two archives and a folder",
        "archives",
        "an archive and loose files",
        "deeper",
    ],
)
def test_models_of_one_complex_are_a_target_as_if_all_archives_were_unpacked(tmp_path, files):  # fmt: skip
    packed_files, unpacked_files = {}, {}
    for place, seed in files.items():
        name = f"fold_p_{seed}_model_0.pdb"
        inside = {name: model(0, int(seed)), f"{name}.json": "{}"}
        folder = place.partition(".")[0]
        for inner, content in inside.items():
            unpacked_files[f"{folder}/{inner}".lstrip("/")] = content
        if place == folder:
            packed_files |= {f"{folder}/{inner}".lstrip("/"): content for inner, content in inside.items()}  # fmt: skip
        else:
            packed_files[place] = inside
    found = targets(laid(tmp_path / "a/jobs", packed_files), tmp_path / "out")
    assert found == targets(
        laid(tmp_path / "b/jobs", unpacked_files), tmp_path / "out2"
    )
    assert [len(models) for models in found.values()] == [len(files)]


@pytest.mark.parametrize("ending", ["zip", "tar.gz", "tgz", "tar"])
def test_a_folder_of_archives_is_scored_each_as_a_job(tmp_path, ending):
    jobs = {
        f"fold_{job}.{ending}": {
            f"fold_{job}_model_{n}.cif": f"x{job}{n}" for n in (0, 1)
        }
        for job in ("a", "b", "a_1")
    }
    given = laid(tmp_path / "jobs", jobs)
    assert targets(given, tmp_path / "out") == {
        f"fold_{job}": [f"fold_{job}_model_0", f"fold_{job}_model_1"] for job in ("a", "a_1", "b")
    }  # fmt: skip


def test_archives_deeper_down_and_archives_in_archives_are_unpacked(tmp_path):
    given = laid(tmp_path / "all", {
        "T/a.pdb": model(1),
        "T/x/b.zip": {"inner/b.pdb": model(1, 2)},
        "both.zip": {"one.result.zip": {"one_1.pdb": model(3)}, "two.tar.gz": {"two/two_1.pdb": model(4)}},
    })  # fmt: skip
    expected = {"T": ["a", "x_b_inner_b"], "one": ["one_1"], "two": ["two_1"]}
    assert targets(given, tmp_path / "out") == expected
    alone = laid(
        tmp_path,
        {
            "both.zip": {
                "one.result.zip": {"o.pdb": model(3)},
                "two.zip": {"t.pdb": model(4)},
            }
        },
    )
    assert targets(alone / "both.zip", tmp_path / "out2") == {
        "one": ["o"],
        "two": ["t"],
    }
    below = laid(
        tmp_path,
        {
            "jobs.zip": {
                "all/one.zip": {"o.pdb": model(3)},
                "all/two.zip": {"t.pdb": model(4)},
            }
        },
    )
    assert targets(below / "jobs.zip", tmp_path / "out3") == {
        "one": ["o"],
        "two": ["t"],
    }


def test_a_zip_of_one_structure_is_a_model_and_no_job(tmp_path):
    given = laid(
        tmp_path / "x",
        {f"model_{n}.pdb.zip": {f"model_{n}.pdb": model(0, n)} for n in (1, 2)},
    )
    laid(given, {"model_3.pdb": model(0, 3)})
    assert targets(given, tmp_path / "out") == {"x": ["model_1", "model_2", "model_3"]}
    (given / "model_2.pdb.zip").unlink()
    assert targets(given, tmp_path / "out") == {"x": ["model_1", "model_3"]}


@pytest.mark.parametrize("out", ["out", "T/out", "T/x/out"])
def test_results_may_lie_in_the_folder_with_the_archives(tmp_path, out):
    given = laid(
        tmp_path / "g",
        {"T/a.pdb": model(1), "T/x/b.pdb": model(1, 2), "j.zip": {"j.pdb": model(3)}},
    )
    expected = {"T": ["a", "x_b"], "j": ["j"]}
    for _ in range(2):
        assert targets(given, given / out) == expected
        (given / out / ".toporank").mkdir(parents=True, exist_ok=True)


def test_models_of_casp_in_their_tar_files_are_read(tmp_path):
    files = {f"H{n}/H{n}TS{group:03}_1": of_casp(n - 9998) for n in (9998, 9999) for group in (1, 2)}  # fmt: skip
    given = laid(tmp_path / "casp", {
        f"H{n}.tar.gz": {name: text for name, text in files.items() if name.startswith(f"H{n}")} for n in (9998, 9999)
    })  # fmt: skip
    assert targets(given, tmp_path / "out") == {
        f"H{n}": [f"H{n}TS001_1", f"H{n}TS002_1"] for n in (9998, 9999)
    }  # fmt: skip


def test_an_archive_that_cannot_be_unpacked_stops_nothing_and_is_named_with_the_reason(
    tmp_path,
):
    given = laid(
        tmp_path / "x",
        {
            "a.zip": {"a.pdb": model(1)},
            "b.zip": "no archive",
            "c.pdb": model(2),
            "d.7z": "x",
        },
    )
    lines = look_at(given, tmp_path / "out").said.splitlines()
    assert "2 models of 2 targets" in lines[0]
    assert (
        lines[2]
        == "  b.zip cannot be unpacked: File is not a zip file (fetch it again, or unpack it and give the folder)"
    )
    assert lines[3].startswith("  2 files are not read, such as b.zip: an archive")
    only = laid(tmp_path / "y", {"b.zip": "no archive", "c.pdb": model(2)})
    lines = look_at(only, tmp_path / "out2").said.splitlines()
    assert lines[0].endswith(f"1 model of 1 target in {only}")
    assert len(lines) == 3


def test_a_link_to_an_archive_that_is_gone_is_named(tmp_path):
    given = laid(tmp_path / "x", {"c.pdb": model(2)})
    (given / "b.zip").symlink_to("gone.zip")
    said = look_at(given, tmp_path / "out").said
    assert "b.zip cannot be unpacked: No such file or directory" in said


def test_where_no_archive_can_be_unpacked_the_message_says_why(tmp_path):
    given = laid(tmp_path / "x", {"a.zip": "no archive", "b.tar.gz": "nor this"})
    with pytest.raises(
        ConfigError,
        match=r"no structure file.*a\.zip cannot be unpacked: File is not a zip",
    ):
        folder_to_score(given, lambda: tmp_path / "out/input")


def test_an_archive_without_structures_is_nothing_to_speak_of_and_one_whose_files_lie_beside_is_left_alone(
    tmp_path,
):
    given = laid(tmp_path / "x", {
        "fold_a.zip": {"fold_a_model_0.cif": "x", "terms.md": "y"},
        "fold_a/fold_a_model_0.cif": "x",
        "msas.tar.gz": {"A/pdb_hits.sto": "x", "B.a3m": "y"},
        "download.result.zip": {"x/y/fold_a_model_0.cif": "x"},
    })  # fmt: skip
    first, note = look_at(given, tmp_path / "out").said.splitlines()
    assert "1 model of 1 target" in first
    assert (
        note
        == "  2 archives, such as download.result.zip, are not unpacked: the same files lie beside"
    )
    changed_since = laid(given, {"fold_a/fold_a_model_0.cif": "changed"})
    expected = {
        "fold_a": ["fold_a_model_0"],
        "fold_a_2": ["fold_a_model_0"],
        "y": ["fold_a_model_0"],
    }
    assert targets(changed_since, tmp_path / "out2") == expected


def test_what_was_unpacked_follows_the_folder(tmp_path):
    out = tmp_path / "out"
    given = laid(
        tmp_path / "x",
        {"a.zip": {"a.pdb": model(1)}, "b.zip": {"b.pdb": model(2)}, "c.pdb": model(3)},
    )
    assert targets(given, out) == {"a": ["a"], "b": ["b"], "x": ["c"]}
    before = (out / "input/x/a/a.pdb").stat()
    (given / "b.zip").unlink()
    (given / "c.pdb").unlink()
    laid(given, {"d.pdb": model(4)})
    assert targets(given, out) == {"a": ["a"], "x": ["d"]}
    assert (out / "input/x/a/a.pdb").stat() == before
    laid(given, {"a.zip": {"other.pdb": model(5)}})
    assert targets(given, out) == {"a": ["other"], "x": ["d"]}
    with pytest.raises(ConfigError, match="is in the way: it was made for"):
        targets(laid(tmp_path / "y/x", {"a.zip": {"a.pdb": model(1)}}), out)


def test_where_nothing_is_unpacked_archives_are_named(tmp_path):
    """A data set of a configuration."""
    given = laid(
        tmp_path / "x",
        {
            "T/a.pdb": model(1),
            "b.zip": {"b.pdb": model(2)},
            "c.zip": {"c.json": "x"},
            "d.rar": "x",
        },
    )
    assert [*Scan(given).passed_over(find_decoys("d", given))] == [
        given / "b.zip",
        given / "d.rar",
    ]
