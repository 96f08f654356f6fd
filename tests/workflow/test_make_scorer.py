"""A cross-validation of a few decoys ends with a scorer, and that scores."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

from conftest import CONFIG, DECOYS, EXAMPLE, REPOSITORY, make_study
from quick_python import quickly
from toporank.scorer.scorer import Scorer

pytestmark = pytest.mark.slow


def test_training_ends_with_a_scorer_that_scores_and_is_refused_when_a_byte_changed(
    tmp_path,
):
    """Four targets are too few for a judge; natives of three are read for the quality of
    residues.
    """
    study = make_study(tmp_path / "home", {**DECOYS, "1EMV": ["near1.pdb.gz"]})
    contacts = {"nodes": {"module": "contacts"}, "edges": {"module": "contacts"}}
    natives = study.home / "natives"
    natives.mkdir()
    for target in ("1AVZ", "1GCQ", "1KTZ"):
        shutil.copy(
            EXAMPLE / "decoys" / target / "near1.pdb.gz", natives / f"{target}.pdb.gz"
        )
    sweep = {
        "defaults": {"batch_size": 4, "accumulate": 1, "max_epochs": 1},
        "configs": [
            {"name": "tiny", "hidden": 8, "heads": 2, "local_weight": 1.0},
            {"name": "touch", "network": "contacts", "hidden": 8, "local_weight": 4.0},
        ],
        "seeds": [1, 2],
    }
    training = {
        "sweep": sweep,
        "split_by": "cluster",
        "folds": 3,
        "scorer": {"config": ["tiny", "touch"]},
    }
    datasets = [{**CONFIG["datasets"][0], "natives": "natives"}]
    study.configure(features=contacts, training=training, datasets=datasets)
    of_more_folds = (
        study.results / "cross_validation/fold7/tiny_seed1"
    )  # as an earlier configuration left them
    of_more_folds.mkdir(parents=True)
    (of_more_folds / "summary.json").write_text("{}")
    words = ["-m", "toporank", "train", "config/config.yaml", "--cores", "2"]
    done = quickly(words, study.home, PYTHONPATH=str(REPOSITORY / "lib"))
    assert done.returncode == 0, done.stdout
    named = ["results/final", "results/scorer", "results/report.html"]
    assert [line for line in done.stdout.splitlines() if line in named] == named
    assert "mini: 14 models = 13 ok + 1 no_interface; 14 labels = " in done.stdout
    assert "toy: the scorer was trained on models of 4 targets only" in done.stdout
    printed = study.home.joinpath("logs/cross_validation/scorer.log").read_text()
    assert "toy: the scorer was trained on models of 4 targets only" in printed
    scorer = Scorer.open(study.results / "scorer")
    assert scorer.missing.startswith(
        "the scorer has no judge.json (its networks alone give the score"
    )
    assert [path.name for path in scorer.members] == [
        f"fold{fold}_{config}_seed1.safetensors"
        for fold in range(3)
        for config in ("tiny", "touch")
    ]
    assert "| all | 4 | 4 |" in study.text("scorer/README.md")
    trained = {
        path.parent.name
        for path in study.results.glob("cross_validation/*/*/summary.json")
    }
    assert trained == {
        "tiny_seed1",
        "touch_seed1",
    }  # what the scorer needs, and no more

    mine = study.home / "mine/1AVZ"
    mine.mkdir(parents=True)
    for name in ("near1.pdb.gz", "far1.pdb"):
        shutil.copy(EXAMPLE / "decoys/1AVZ" / name, mine)
    chosen = "--config", f"score_decoys={mine.parent}", "scorer=results/scorer"
    printed = study.run("score", *chosen).stdout
    assert scorer.missing in printed
    ranking = pd.read_csv(study.results / "scores/mine/models.csv")
    assert ranking["dockq"].notna().all()

    with open(scorer.members[0], "r+b") as file:
        file.seek(-1, 2)
        (last,) = file.read()
        file.seek(-1, 2)
        file.write(bytes([last ^ 1]))
    printed = study.run("score", *chosen, check=False).stdout
    assert (
        f"{scorer.members[0].name}: it was changed after the scorer was made" in printed
    )
