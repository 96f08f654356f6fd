"""What predictors say of a model is looked up once, and again where one of their files is
another.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

import toporank
from conftest import REPOSITORY
from replacing import written_over
from toporank.confidence import confidences


@pytest.fixture
def folder(tmp_path) -> Path:
    """Five models of ColabFold and what it says of them."""
    return shutil.copytree(
        REPOSITORY / "resources/example/made_up_colabfold", tmp_path / "models"
    )


@pytest.fixture
def looked_at(monkeypatch) -> list[str]:
    """The models that were looked at."""
    names, one = [], confidences.examine

    def counted(asked, choice):
        names.append(asked.decoy)
        return one(asked, choice)

    monkeypatch.setattr(confidences, "examine", counted)
    return names


def scored(folder: Path) -> pd.DataFrame:
    """The parts of the score of each model."""
    return toporank.score(folder, cache=folder.with_name("cache")).details


def test_a_model_is_looked_at_once(folder, looked_at):
    first = scored(folder)
    assert len(looked_at) == len(first) == 5
    pd.testing.assert_frame_equal(scored(folder), first)
    assert len(looked_at) == 5
    assert first["confidence"].notna().all()


def test_a_changed_file_of_the_predictor_is_read_again(folder, looked_at):
    first = scored(folder)
    file = min(folder.glob("*scores*.json.gz"))
    said = json.loads(gzip.decompress(file.read_bytes()))
    file.write_bytes(gzip.compress(json.dumps({**said, "iptm": 0.01}).encode()))
    later = scored(folder)
    assert len(looked_at) == 10
    assert (later["confidence"] != first["confidence"]).any()


def test_a_file_of_the_predictor_is_read_again_where_another_has_its_size_and_time(
    folder,
):
    packed = min(folder.glob("*scores*.json.gz"))
    said, file = (
        json.loads(gzip.decompress(packed.read_bytes())),
        packed.with_suffix(""),
    )
    packed.unlink()
    file.write_text(json.dumps({**said, "iptm": 0.81}))
    first = scored(folder)
    written_over(file, json.dumps({**said, "iptm": 0.11}).encode())
    assert (scored(folder)["confidence"] < first["confidence"]).any()


def test_files_that_a_predictor_wrote_meanwhile_are_seen_by_the_same_process(folder):
    aside = folder.with_name("aside")
    aside.mkdir()
    for file in folder.glob("*scores*.json.gz"):
        shutil.move(file, aside / file.name)
    before = scored(folder)
    for file in aside.iterdir():
        shutil.move(file, folder / file.name)
    assert (scored(folder)["confidence"] != before["confidence"]).any()
