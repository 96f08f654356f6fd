"""What predictors say of a model is looked up once, and again where one of their files is another."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest

import toporank
from conftest import REPOSITORY
from replacing import written_over
from toporank.building import asked as asking


@pytest.fixture
def folder(tmp_path) -> Path:
    """Five models of ColabFold and what it says of them."""
    return shutil.copytree(REPOSITORY / "resources/example/colabfold", tmp_path / "models")


@pytest.fixture
def looked_at(monkeypatch) -> list[str]:
    """The models that were looked at."""
    names, examine = [], asking.examine

    def counted(asked, choice):
        names.append(asked.decoy)
        return examine(asked, choice)

    monkeypatch.setattr(asking, "examine", counted)
    return names


def scored(folder: Path) -> pd.DataFrame:
    return toporank.score(folder, cache=folder.with_name("cache"))


def test_a_model_is_looked_at_once(folder, looked_at):
    first = scored(folder)
    assert len(looked_at) == len(first) == 5
    pd.testing.assert_frame_equal(scored(folder), first)
    assert len(looked_at) == 5
    assert first["pred_confidence"].notna().all()


def test_a_changed_file_of_the_predictor_is_read_again(folder, looked_at):
    first = scored(folder)
    file = min(folder.glob("*scores*.json.gz"))
    said = json.loads(gzip.decompress(file.read_bytes()))
    file.write_bytes(gzip.compress(json.dumps({**said, "iptm": 0.01}).encode()))
    later = scored(folder)
    assert len(looked_at) == 10
    assert (later["pred_confidence"] != first["pred_confidence"]).any()


def unpacked(path: Path) -> Path:
    """The file without `.gz`, in its place."""
    plain = path.with_suffix("")
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    path.unlink()
    return plain


def test_a_file_of_the_predictor_is_read_again_where_another_has_its_size_and_time(folder):
    file = unpacked(min(folder.glob("*scores*.json.gz")))
    said = json.loads(file.read_text())
    file.write_text(json.dumps({**said, "iptm": 0.81}))
    first = scored(folder)
    written_over(file, json.dumps({**said, "iptm": 0.11}).encode())
    assert (scored(folder)["pred_confidence"] < first["pred_confidence"]).any()


def test_models_that_exchange_their_names_exchange_their_scores(folder):
    """They have the same size and time, as from an archive."""
    models = [unpacked(path) for path in sorted(folder.glob("*.pdb.gz"))]
    for model in models:
        os.utime(model, (1, 1))
    first = scored(folder).set_index("decoy")["pred_structure"]
    aside = folder.with_name("aside")
    models[0].rename(aside)
    models[4].rename(models[0])
    aside.rename(models[4])
    later = scored(folder).set_index("decoy")["pred_structure"]
    assert later[models[0].stem] == first[models[4].stem] != first[models[0].stem] == later[models[4].stem]


def test_a_file_that_could_not_be_read_is_tried_again(folder, looked_at):
    file = min(folder.glob("*scores*.json.gz"))
    file.write_bytes(gzip.compress(b"{"))
    scored(folder)
    looked_at.clear()
    scored(folder)
    assert looked_at == [file.name.replace("scores", "unrelaxed").removesuffix(".json.gz")]


def test_files_that_a_predictor_wrote_meanwhile_are_seen_by_the_same_process(folder):
    aside = folder.with_name("aside")
    aside.mkdir()
    for file in folder.glob("*scores*.json.gz"):
        shutil.move(file, aside / file.name)
    before = scored(folder)
    for file in aside.iterdir():
        shutil.move(file, folder / file.name)
    assert (scored(folder)["pred_confidence"] != before["pred_confidence"]).any()
