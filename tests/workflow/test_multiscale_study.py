"""From a configuration that names the 24-column edges to scores by the checkpoint that was trained
on them.
"""

from __future__ import annotations

import csv

import pytest

from conftest import make_study
from toporank.learning.checkpoint import read_description

DECOYS = {
    "1AVZ": ["near1.pdb.gz", "wrong1.pdb.gz"],
    "1GCQ": ["near1.pdb.gz", "mid4.cif"],
    "1KTZ": ["near1.pdb.gz", "mid2.ent.gz"],
}
TRAINING = {
    "sweep": {
        "defaults": {"batch_size": 4, "accumulate": 1, "max_epochs": 1},
        "configs": [{"name": "tiny", "hidden": 8, "heads": 2}],
        "seeds": [1],
    }
}


def scores(table: str) -> dict[tuple[str, str], float]:
    rows = csv.DictReader(table.splitlines())
    return {(row["target"], row["decoy"]): float(row["dockq"]) for row in rows}


def test_a_checkpoint_of_24_edge_columns_scores_with_them_whatever_the_configuration_says(
    tmp_path,
):
    study = make_study(tmp_path, DECOYS)
    features = {"edges": "edges/multiscale_v24"}
    study.configure(
        features=features, training=TRAINING, coverage={"minimum_percent": 50}
    )
    study.run("score")
    checkpoint = study.results / "final/best.ckpt"
    description = read_description(checkpoint)
    assert description["edge_width"] == 24
    assert description["features"]["edges"]["module"] == "edges/multiscale_v24"
    by_study = scores(study.text("scores/mini/models.csv"))
    assert len(by_study) == 6

    study.configure(training=TRAINING)
    study.run(
        "score",
        "--config",
        "score_decoys=decoys",
        "score_name=again",
        f"scorer={checkpoint}",
    )
    assert scores(study.text("scores/again/models.csv")) == pytest.approx(
        by_study, abs=1e-6
    )
