"""Which native belongs to which target, and what a user hears about the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from messages import messages
from structures_text import lay
from toporank.errors import ConfigError
from toporank.finding.natives import (
    find_natives,
    natives_of,
    unbound_files,
    unmatched,
)


def natives(*names: str) -> dict[str, Path]:
    return {name: Path(f"natives/{name}.pdb") for name in names}


@pytest.mark.parametrize(
    ("names", "target", "native"),
    [
        (["1KTZ", "1ktz"], "1KTZ", "1KTZ"),
        (["1ktz", "pdb1ktz"], "1KTZ", "1ktz"),
        (["pdb1ktz"], "1KTZ", "pdb1ktz"),
        (["1ktz-assembly2"], "1KTZ", "1ktz-assembly2"),
        (["pdb_00001ktz_xyz"], "1ktz", "pdb_00001ktz_xyz"),
        (["1AVZ"], "1KTZ", None),
        (["1ktz-assembly1", "1ktz-assembly2"], "1KTZ", None),
    ],
)
def test_the_native_that_comes_nearest_in_name_is_taken(names, target, native):
    matched, unclear = natives_of(natives(*names), [target])
    assert matched == ({target: Path(f"natives/{native}.pdb")} if native else {})
    is_unclear = native is None and len(names) > 1
    assert bool(unclear) == is_unclear
    if is_unclear:
        assert all(f"{name}.pdb" in unclear[target] for name in names)


@pytest.mark.parametrize(("names", "targets", "lines"), messages("natives"))
def test_what_belongs_to_nothing_is_named_with_what_was_meant(names, targets, lines):
    assert unmatched(natives(*names), targets) == lines


@pytest.fixture
def folder(tmp_path) -> Path:
    in_b = ("b/native.cif.gz", "b/unbound_r.pdb", "b/model.pdb", "b/unbound.txt")
    return lay(tmp_path, "a.pdb", "notes.txt", ".hidden.pdb", *in_b)


def test_a_native_is_a_structure_or_native_in_the_folder_of_its_target(folder):
    found = {"a": folder / "a.pdb", "b": folder / "b/native.cif.gz"}
    assert find_natives(folder) == found


def test_two_natives_of_a_name_and_a_folder_that_is_none_are_errors(folder):
    (folder / "a.cif").touch()
    with pytest.raises(ConfigError, match=r"a has two natives, \S*a\.cif and"):
        find_natives(folder)
    with pytest.raises(
        ConfigError, match=r"nowhere: there is no such folder of natives"
    ):
        find_natives(folder / "nowhere")


def test_unbound_partners_lie_beside_a_native_in_the_folder_of_its_target(folder):
    assert unbound_files(folder / "b/native.cif.gz") == [folder / "b/unbound_r.pdb"]
    assert unbound_files(folder / "a.pdb") == []
