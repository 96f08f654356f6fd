"""Which files scoring a folder opens: every model once, and nothing that it needs not."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from conftest import REPOSITORY
from processes import printed

MODELS = REPOSITORY / "resources/example/made_up_colabfold"
SCORER = REPOSITORY / "resources/scorer"
SCORE = """
import os, sys
folder, scorer, cache, log = sys.argv[1:]
log = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)

def note(event, args):
    if event == "open" and isinstance(args[0], str) and args[0].startswith((folder, scorer)):
        os.write(log, args[0].encode() + b"\\n")

sys.addaudithook(note)  # processes that are forked have it, too
import toporank
from toporank.finding import look
from toporank.scorer.scorer import Scorer

look.FILES_PER_WORKER = 1  # as in a large folder, several processes look into the files
opened = Scorer.open
Scorer.open = lambda path: os.write(log, b"scorer\\n") and opened(path)
for _ in range(2):
    toporank.score(folder, cache=cache, workers=2)
    os.write(log, b"done\\n")
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory) -> list[Counter[str]]:
    """How often each file of five models and of the scorer was opened, scored for the first time
    and again.
    """
    room = tmp_path_factory.mktemp("opened")
    shutil.copytree(MODELS, room / "models")
    shutil.copy(REPOSITORY / "resources/example/decoys/1AVZ/far1.pdb", room / "models")
    places = [room / "models", SCORER, room / "cache", room / "log"]
    printed(SCORE, *places, cwd=room)
    first, again, _ = (room / "log").read_text().split("done\n")
    return [
        Counter(Path(line).name for line in run.splitlines()) for run in (first, again)
    ]


def test_every_model_and_every_file_of_its_predictor_is_opened_once(opened):
    files = {path.name for path in MODELS.iterdir() if path.suffix == ".gz"} | {
        "far1.pdb"
    }
    assert len(files) == 11
    assert {name: opened[0][name] for name in files} == dict.fromkeys(files, 1)


def test_what_was_scored_before_is_not_opened_again(opened):
    scorers = {path.name for path in SCORER.rglob("*")} | {"scorer"}
    assert opened[1].keys() <= scorers


def test_the_scorer_is_opened_once_for_all_targets(opened):
    assert [run["scorer"] for run in opened] == [1, 1]
    assert opened[0]["judge.json"] == 2  # for its digest, and for what is in it
