"""What a decoy is called, and which files are decoys."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest

from structures_text import lay, pair, pdb
from toporank.chains.chain import ResidueId
from toporank.errors import ConfigError
from toporank.files import atomic
from toporank.files.printable_names import LONGEST_NAME
from toporank.finding.folders import find_decoys
from toporank.structures.identity import split_suffix, structure_format
from toporank.structures.read import read_complex


def found(folder: Path) -> list[tuple[str, str, str]]:
    return [
        (d.target, d.name, os.path.basename(d.path)) for d in find_decoys("set", folder)
    ]


# ---- suffixes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filename", "stem", "suffix"),
    [
        ("a.pdb", "a", ".pdb"),
        ("a.pdb.gz", "a", ".pdb.gz"),
        ("a.ent", "a", ".ent"),
        ("a.ent.gz", "a", ".ent.gz"),
        ("a.cif.gz", "a", ".cif.gz"),
        ("a.mmcif", "a", ".mmcif"),
        ("A.PDB", "A", ".PDB"),
        ("a.Cif.GZ", "a", ".Cif.GZ"),
        ("model.v2.pdb", "model.v2", ".pdb"),
        ("1abc.pdb.cif", "1abc.pdb", ".cif"),
        ("rank 1 (β-Faß).pdb.gz", "rank 1 (β-Faß)", ".pdb.gz"),
        ("a..pdb", "a.", ".pdb"),
    ],
)
def test_only_the_structure_suffix_is_taken_off_a_name(filename, stem, suffix):
    assert split_suffix(filename) == (stem, suffix)


@pytest.mark.parametrize(
    "filename",
    [
        "a",
        "pdb",
        ".pdb",
        ".cif.gz",
        "a.gz",
        "a.pdb.txt",
        "a.pdb.gz.gz",
        "a.pdb ",
        "a.pdbqt",
        "a.pdb.7z",
        "",
    ],
)
def test_other_names_are_not_structures(filename):
    assert split_suffix(filename) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.pdb", ("pdb", "")),
        ("a.ENT.GZ", ("pdb", ".gz")),
        ("a.cif", ("mmcif", "")),
        ("a.cif.zst", ("mmcif", ".zst")),
        ("a.pdb.XZ", ("pdb", ".xz")),
        ("a.pdb.bz2", ("pdb", ".bz2")),
        ("a.MMCIF.gz", ("mmcif", ".gz")),
    ],
)
def test_the_suffix_tells_the_format_in_any_case(name, expected):
    assert structure_format(Path("some.dir", name)) == expected


# ---- residues ------------------------------------------------------------------------------------


def test_residues_sort_by_chain_then_number_then_insertion_code():
    order = [
        ("A", -3),
        ("A", 2),
        ("A", 10),
        ("A", 10, "A"),
        ("A", 10, "B"),
        ("A", 11),
        ("AA", 1),
        ("B", -1),
    ]
    residues = [ResidueId(*r) for r in order]
    assert sorted(residues) == residues


# ---- finding decoys ------------------------------------------------------------------------------


def test_folders_are_targets_and_files_in_them_decoys_in_order_of_name(tmp_path):
    lay(tmp_path, "T2/b.pdb", "T1/z.cif.gz", "T1/a.ent", "T1/m.v2.pdb.gz")
    assert found(tmp_path) == [
        ("T1", "a", "a.ent"),
        ("T1", "m.v2", "m.v2.pdb.gz"),
        ("T1", "z", "z.cif.gz"),
        ("T2", "b", "b.pdb"),
    ]


def test_files_that_are_not_structures_and_hidden_ones_are_passed_over(tmp_path):
    lay(
        tmp_path,
        "T/a.pdb",
        "T/README.md",
        "T/labels.csv",
        "T/.b.pdb",
        ".T/c.pdb",
        ".d.pdb",
        "notes.txt",
    )
    assert found(tmp_path) == [("T", "a", "a.pdb")]


def test_a_folder_inside_a_target_is_no_decoy_whatever_it_is_called_but_its_files_are(
    tmp_path,
):
    lay(tmp_path, "T/a.pdb", "T/deeper.pdb/b.pdb", "T/deeper/c.pdb")
    assert found(tmp_path) == [
        ("T", "a", "a.pdb"),
        ("T", "deeper.pdb_b", "b.pdb"),
        ("T", "deeper_c", "c.pdb"),
    ]


# ---- names that no table or artefact can have ----------------------------------------------------


UNPRINTABLE = [
    "a\tb",
    "a\nb",
    "a\rb",
    "a\x1b[31m",
    "a\x7f",
    "a\u2028b",
    "a\u202eb",
    "\udcff",
    "a\u00a0b",
]


@pytest.mark.parametrize("name", UNPRINTABLE)
@pytest.mark.parametrize("place", ["T/{}.pdb", "{}/a.pdb", "T/seed-1_sample-0/{}.cif"])
def test_an_unprintable_name_refuses_its_own_file_only(tmp_path, name, place):
    lay(tmp_path, "T/good.pdb", place.format(name))
    refused, good = sorted(
        find_decoys("set", tmp_path), key=lambda decoy: decoy.refused == ""
    )
    assert (good.key, good.refused) == (("T", "good"), "")
    whose = "folder" if place.startswith("{") else "file"
    assert (
        refused.refused
        == f"the name of the {whose} holds a character that cannot be printed (rename it)"
    )
    assert (refused.target + refused.name).isprintable()
    assert refused.path == str(tmp_path / place.format(name))


@pytest.mark.parametrize("letter", ["x", "ß", "№"])
def test_a_name_that_is_too_long_for_its_artefacts_is_refused_and_shortened(
    tmp_path, letter
):
    size = len(letter.encode())
    longest, longer = (
        letter * (LONGEST_NAME // size),
        letter * (LONGEST_NAME // size + 1),
    )
    lay(tmp_path, f"T/{longest}.pdb", f"T/{longer}.pdb", f"{longer}/a.pdb")
    decoys = find_decoys("set", tmp_path)
    assert [bool(decoy.refused) for decoy in decoys if decoy.name == longest] == [False]
    refused = [decoy for decoy in decoys if decoy.refused]
    assert len(refused) == 2
    for decoy in refused:
        assert re.search(
            r"is 24\d bytes long, at most 240 are possible \(shorten it\)",
            decoy.refused,
        )
        # has room
        atomic.write_text(tmp_path / "results" / decoy.target / f"{decoy.name}.csv", "")


def test_a_missing_folder_is_an_error_that_names_it_and_what_to_give(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere: .*No such file.*<target>/<model>"):
        find_decoys("set", tmp_path / "nowhere")


def test_a_compressed_structure_without_any_ending_is_found_and_read(
    tmp_path,
):
    (tmp_path / "T").mkdir()
    (tmp_path / "T/complex.1").write_bytes(gzip.compress(pdb(pair()).encode()))
    (tmp_path / "T/other.1").write_bytes(gzip.compress(b"no atom"))
    (decoy,) = find_decoys("set", tmp_path)
    assert decoy.name == "complex.1"
    assert read_complex(Path(decoy.path)).chains == ["A", "B"]
