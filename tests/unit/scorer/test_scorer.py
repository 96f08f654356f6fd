"""A scorer is one thing: what opens, what is refused by name, and what it says it does without."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from described_checkpoint import write_description
from toporank.errors import CheckpointError, TopoRankError
from toporank.layout import repository
from toporank.scorer.manifest import JUDGE, MANIFEST, parts_of, read_manifest, seal
from toporank.scorer.scorer import Scorer, files_of

SHIPPED = repository() / "resources/scorer"
LISTED = [MANIFEST, *json.loads((SHIPPED / MANIFEST).read_text())["files"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the scorer that ships."""
    return Path(shutil.copytree(SHIPPED, tmp_path / "scorer"))


# ---- opening -------------------------------------------------------------------------------------


def test_the_shipped_scorer_is_whole_and_says_what_it_is():
    scorer, manifest = Scorer.open(SHIPPED), read_manifest(SHIPPED)
    assert (scorer.missing, scorer.toy) == ("", "")
    assert scorer.mean
    assert len(scorer.members) == 10
    assert scorer.features == manifest.features
    assert manifest.learned_from.targets == 1023
    everything = {
        str(path.relative_to(SHIPPED)) for path in SHIPPED.rglob("*") if path.is_file()
    }
    assert {*manifest.files} == everything - {MANIFEST, "README.md"}


@pytest.mark.parametrize("path", ["", MANIFEST, "best.safetensors"])
def test_a_folder_opens_by_its_name_its_manifest_and_its_checkpoint(path):
    assert Scorer.open(SHIPPED / path).digest == Scorer.open(SHIPPED).digest


@pytest.mark.parametrize("path", ["", "best.safetensors"])
def test_a_scorer_that_was_not_finished_is_refused(folder, path):
    """Its networks alone would give other scores, without a word."""
    (folder / MANIFEST).unlink()
    with pytest.raises(
        CheckpointError,
        match=r"is missing.*make the scorer again.*a copy of best.safetensors",
    ):
        Scorer.open(folder / path)
    alone = folder / "alone"
    alone.mkdir()
    shutil.copy(folder / "best.safetensors", alone)
    assert Scorer.open(alone).members == []


def test_a_checkpoint_by_itself_is_a_scorer_of_one_network():
    """Also where it lies in the folder of another scorer."""
    scorer = Scorer.open(SHIPPED / "ensemble/fold0_local_seed222.safetensors")
    assert (scorer.mean, scorer.members, scorer.judge) == (False, [], None)
    assert "no judge.json (its networks alone give the score" in scorer.missing


def test_a_scorer_of_few_targets_is_a_toy(tmp_path):
    training_set = {"fingerprint": "", "train": 10, "val": 2}
    write_description(tmp_path / "best.ckpt", training_set=training_set)
    assert Scorer.open(tmp_path).toy.startswith(
        "toy: the scorer was trained on 10 models only"
    )


def test_a_scorer_that_is_a_mean_learned_from_the_targets_of_all_its_networks(tmp_path):
    """Each of them has seen a part only, and is a toy by itself."""
    for part in range(3):
        names = [f"T{part}{i}" for i in range(8)]
        chains = {"targets": names, "chains": []}
        training_set = {"fingerprint": "", "train": 900, "val": 2, "chains": chains}
        write_description(tmp_path / f"ensemble/{part}.ckpt", training_set=training_set)
    shutil.copy(tmp_path / "ensemble/0.ckpt", tmp_path / "best.ckpt")
    seal(tmp_path, mean=True)
    assert Scorer.open(tmp_path).toy == ""
    assert "models of 8 targets only" in Scorer.open(tmp_path / "ensemble/0.ckpt").toy


def test_nothing_that_could_be_a_scorer_is_an_error_that_says_so(tmp_path):
    with pytest.raises(
        CheckpointError,
        match=r"elsewhere: there is no such scorer or checkpoint \(is it spelled",
    ):
        Scorer.open(tmp_path / "elsewhere")
    with pytest.raises(
        CheckpointError,
        match=r"neither scorer\.json nor best\.\w+ nor best\.ckpt \(give the",
    ):
        Scorer.open(tmp_path)


# ---- every byte counts ---------------------------------------------------------------------------


@pytest.mark.parametrize("where", [0, 0.5, 1], ids=["first", "middle", "last"])
@pytest.mark.parametrize("name", LISTED)
def test_one_changed_byte_in_any_file_is_refused_by_name(folder, name, where):
    path = folder / name
    content = bytearray(path.read_bytes())
    content[round(where * (len(content) - 1))] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        Scorer.open(folder)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value).splitlines()) == 1
    assert "restore the folder" in str(caught.value)


def test_a_manifest_that_another_hand_wrote_is_refused(folder):
    said = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(said, indent=1) + "\n")
    Scorer.open(folder)  # the same bytes
    (folder / MANIFEST).write_text(
        json.dumps({**said, "score": "best"}, indent=1) + "\n"
    )
    with pytest.raises(
        CheckpointError, match=r"scorer\.json: it was changed after the scorer was made"
    ):
        Scorer.open(folder)
    (folder / MANIFEST).write_text(
        json.dumps({**said, "checkpoint": "../../elsewhere.ckpt"}, indent=1)
    )
    with pytest.raises(
        CheckpointError,
        match=r"not a usable scorer\.json: .*checkpoint: String should match",
    ):
        Scorer.open(folder)


def test_a_scorer_without_its_judge_says_so(folder):
    assert Scorer.open(folder).missing == ""
    (folder / JUDGE).unlink()
    missing = Scorer.open(folder).missing
    assert missing.startswith(f"the scorer has no {JUDGE} (its networks alone")


def test_a_missing_network_is_refused_by_name(folder):
    (folder / "ensemble/fold3_local_seed222.safetensors").unlink()
    with pytest.raises(
        CheckpointError,
        match=r"fold3_local_seed222\.safetensors: cannot be read: No such file",
    ):
        Scorer.open(folder)


def test_a_part_that_came_later_is_not_taken_for_the_scorers_own(folder):
    judge = folder / JUDGE
    kept = judge.read_bytes()
    judge.unlink()
    seal(folder, mean=True)
    Scorer.open(folder)
    judge.write_bytes(kept)
    with pytest.raises(
        CheckpointError, match=r"judge\.json: it is not part of the scorer"
    ):
        Scorer.open(folder)


def test_the_same_files_have_the_same_manifest(folder):
    shipped = (folder / MANIFEST).read_text()
    seal(folder, mean=True, made_with=_others(read_manifest(folder).made_with))
    assert (folder / MANIFEST).read_text() == shipped


def _others(made_with: dict[str, str]) -> dict[str, str]:
    return {name: version for name, version in made_with.items() if name != "toporank"}


def test_the_files_of_a_scorer_are_known_without_looking_into_them(folder):
    assert [str(path.relative_to(folder)) for path in files_of(folder)] == LISTED
    assert files_of(folder / "nothing") == [folder / "nothing"]


@pytest.mark.parametrize("inner", ["", "scorer"])
def test_an_archive_of_a_folder_is_the_same_scorer(tmp_path, monkeypatch, inner):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    archive = shutil.make_archive(
        tmp_path / "mine", "zip", SHIPPED.parent if inner else SHIPPED, inner or None
    )
    scorer, same = Scorer.open(archive), Scorer.open(SHIPPED)
    assert (scorer.digest, scorer.features, scorer.missing) == (
        same.digest,
        same.features,
        "",
    )
    assert files_of(archive) == [Path(archive)]
    unpacked = {
        path: path.stat().st_mtime_ns
        for path in (tmp_path / "cache").rglob("*")
        if path.is_file()
    }
    copy = shutil.copy(archive, tmp_path / "a copy.zip")
    for path in (archive, copy):
        assert Scorer.open(path).digest == same.digest
    assert unpacked == {
        path: path.stat().st_mtime_ns
        for path in (tmp_path / "cache").rglob("*")
        if path.is_file()
    }


def test_jobs_that_begin_at_the_same_time_share_an_archive(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    archive = Path(shutil.make_archive(tmp_path / "mine", "zip", SHIPPED))
    with ThreadPoolExecutor(4) as jobs:
        folders = {parts.folder for parts in jobs.map(parts_of, [archive] * 4)}
    assert len(folders) == 1


def test_a_damaged_archive_is_refused_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    archive = Path(shutil.make_archive(tmp_path / "mine", "zip", SHIPPED))
    archive.write_bytes(archive.read_bytes()[:-1000])
    with pytest.raises(TopoRankError, match=r"mine\.zip"):
        Scorer.open(archive)
    left = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert [path.suffix for path in left] == [".lock"]
