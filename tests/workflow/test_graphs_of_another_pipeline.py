"""Graphs that another pipeline made: from a folder of PyTorch Geometric files to leaderboard,
checkpoint and scores.
"""

from __future__ import annotations

import csv
import shutil

import torch
import yaml
from torch_geometric.data import Data

from conftest import Study

WIDTHS = (7, 4)
CONFIG = {
    "datasets": [
        {"name": "theirs", "graphs": "theirs", "labels": "labels.csv"},
        {"name": "new", "graphs": "new"},
    ],
    "training": {
        "datasets": ["theirs"],
        "sweep": {
            "defaults": {"batch_size": 4, "accumulate": 1, "max_epochs": 1},
            "configs": [{"name": "tiny", "hidden": 8, "heads": 2}],
            "seeds": [1],
        },
    },
}


def save_graph(
    study: Study,
    name: str,
    seed: int,
    *,
    edges: int = WIDTHS[1],
    dockq: float | None = None,
) -> None:
    """Save a random graph; it has no label where the table has to give it."""
    draw = torch.Generator().manual_seed(seed)
    data = Data(
        x=torch.rand(5, WIDTHS[0], generator=draw),
        edge_index=torch.randint(0, 5, (2, 8), generator=draw),
        edge_attr=torch.rand(8, edges, generator=draw),
    )
    if dockq is not None:
        data.y = torch.tensor([dockq])
    path = study.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(data, path)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def scores_of_wider_and_of_fitting(study: Study) -> str:
    """The ranking of graphs by the one of two checkpoints that takes them; nothing is trained."""
    wider = study.repository / "resources/scorer/best.safetensors"
    fitting = study.home / "fitting.ckpt"
    shutil.copy(study.results / "final/best.ckpt", fitting)
    data_set = {"name": "given", "graphs": "new", "scorer": [str(wider), str(fitting)]}
    settings = study.home / "given.yaml"
    settings.write_text(yaml.safe_dump({"datasets": [data_set]}))
    printed = study.run("score", "--configfile", str(settings)).stdout
    assert f"2 graphs scored by {fitting}" in printed
    assert "train_sweep" not in printed
    return study.text("scores/given/models.csv")


def test_a_folder_of_graphs_becomes_a_leaderboard_a_checkpoint_and_scores(tmp_path):
    study = Study(tmp_path)
    labels = ["Target,Model,DockQ"]
    for t in range(3):
        for d in range(3):
            in_table = d == 0
            dockq = 0.1 + 0.2 * d
            save_graph(
                study,
                f"theirs/T{t}/d{d}.pt",
                10 * t + d,
                dockq=None if in_table else dockq,
            )
            if in_table:
                labels.append(f"T{t},d{d},{dockq}")
    for d in range(2):
        save_graph(study, f"new/X/d{d}.pt", 100 + d)
    (study.home / "labels.csv").write_text("\n".join(labels) + "\n")
    (study.home / "config").mkdir()
    (study.home / "config/config.yaml").write_text(yaml.safe_dump(CONFIG))

    printed = study.run("all").stdout
    assert "theirs: 9 graphs of another pipeline; 3 labels in the table" in printed
    assert "9 models = 9 ok; 9 labels = 9 with a graph" in printed
    assert "TopoRank cannot name the features" in printed
    assert "there are no clusters: each target is split alone" in printed
    assert (study.results / "final/best.ckpt").exists()
    assert [row["run"] for row in rows(study.text("final/leaderboard.csv"))] == [
        "tiny_seed1"
    ]
    assert sorted(row["split"] for row in rows(study.text("splits.csv"))) == [
        "train",
        "train",
        "val",
    ]
    assert len(rows(study.text("scores/theirs/models.csv"))) == 9
    assert {row["target"] for row in rows(study.text("scores/new/models.csv"))} == {"X"}
    assert '"n_labels": 3' in study.text("evaluation/theirs/summary.json")
    assert "The models are graphs of another pipeline" in study.text(
        "scores/theirs/report.html"
    )
    assert "Nothing to be done" in study.run("all").stdout

    refused = study.run(
        "score", "--config", "score_decoys=decoys", "scorer=results/final", check=False
    )
    assert (
        "best.ckpt: does not say which features it was trained on, so it cannot score structures"
        in refused.stdout
    )
    chosen = scores_of_wider_and_of_fitting(study)
    assert chosen == study.text("scores/new/models.csv")

    save_graph(study, "new/X/d1.pt", 1, edges=3)
    refused = study.run("all", check=False)
    assert (
        "new/X/d1.pt: edge_attr has 3 columns, in new/X/d0.pt it has 4"
        in refused.stdout
    )
