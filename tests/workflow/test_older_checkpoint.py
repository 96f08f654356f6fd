"""Scoring with a checkpoint of the published implementation, from the user's own file to the
ranking.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import torch

from building import published_graph
from conftest import EXAMPLE, Study
from published_checkpoint import published_state, write_published_checkpoint
from toporank.features.presets import PRESETS


def score(home: Path, decoys: Path, checkpoint: Path) -> pd.DataFrame:
    """Score a folder in a working directory; the ranking by decoy."""
    home.mkdir()
    Study(home).run(
        "score",
        "--config",
        f"score_decoys={decoys}",
        f"scorer={checkpoint}",
        "partners=chains",
    )
    return pd.read_csv(home / f"results/scores/{decoys.name}/models.csv").set_index(
        "decoy"
    )


def test_decoys_are_scored_with_an_older_checkpoint_on_published_features(tmp_path):
    decoys = tmp_path / "models"
    decoys.mkdir()
    for file in ("near1.pdb.gz", "mid4.cif"):
        shutil.copy(EXAMPLE / "decoys/1GCQ" / file, decoys / file)
    checkpoint = write_published_checkpoint(
        tmp_path / "older.ckpt", published_state(seed=1)
    )
    ranking = score(tmp_path / "home", decoys, checkpoint)
    assert list(ranking["status"]) == ["ok", "ok"]
    assert ranking["dockq"].between(0, 1).all()
    # scoring publishes none
    assert not (tmp_path / "home/results/models/graphs").exists()
    page = (tmp_path / "home/results/scores/models/report.html").read_text()
    assert "What gave these scores" in page


def test_a_foreign_checkpoint_stops_before_anything_is_computed(tmp_path):
    decoys = tmp_path / "models"
    decoys.mkdir()
    shutil.copy(EXAMPLE / "decoys/1GCQ/mid4.cif", decoys)
    torch.save(
        {"state_dict": {"encoder.weight": torch.zeros(3, 3)}}, tmp_path / "foreign.ckpt"
    )
    answer = Study(tmp_path).run(
        "score",
        "--config",
        f"score_decoys={decoys}",
        f"scorer={tmp_path / 'foreign.ckpt'}",
        check=False,
    )
    assert answer.returncode != 0
    assert (
        "foreign.ckpt: not a TopoRank checkpoint (use a best.ckpt that this workflow trained"
        in answer.stdout
    )
    assert not (tmp_path / "results").exists()


def test_features_by_name_are_written_into_the_graphs(tmp_path):
    decoys = tmp_path / "models"
    decoys.mkdir()
    shutil.copy(EXAMPLE / "decoys/1GCQ/mid4.cif", decoys)
    study = Study(tmp_path)
    datasets = json.dumps([{"name": "one", "decoys": str(decoys)}])
    study.run(
        "build_graphs", "--config", f"datasets={datasets}", "features=topoqa_compat"
    )
    graph = published_graph(study.results / "one/graphs/models/mid4.pt")
    assert graph.metadata["features"] == PRESETS["topoqa_compat"]


def test_decoys_of_the_reference_get_their_published_scores(tmp_path, reference_dir):
    """Of two and three chains, modelled and docked; unit/test_compat.py does it with all, but
    without workflow.
    """
    reference, decoys = reference_dir / "topoqa", tmp_path / "models"
    decoys.mkdir()
    for name in ("1A2K_trimer_model", "1AY7_bound", "6AL0_af2_0"):
        (decoys / f"{name}.pdb.gz").symlink_to(reference / f"pdb/{name}.pdb.gz")
    ranking = score(tmp_path / "home", decoys, reference / "topoqa.ckpt")
    published = pd.read_csv(reference / "predictions.csv").set_index("name")[
        "pred_official_xyy"
    ]
    assert len(ranking) == 3
    details = pd.read_csv(next(tmp_path.rglob("details.csv"))).set_index("decoy")
    assert (details["score"] - published[details.index]).abs().max() < 1e-6
