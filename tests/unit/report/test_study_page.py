"""The small page of a study."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from described_checkpoint import METRICS
from toporank import layout
from toporank.finding.labels import Label, write_labels
from toporank.learning.out_of_fold import GroupMetric, write_metrics
from toporank.learning.selection import leaderboard
from toporank.metrics import summarise
from toporank.report.study_page import render
from toporank.scorer.embeddings import vector_table, write_embeddings


@pytest.fixture
def study(tmp_path) -> dict[str, Path]:
    """Two runs, one with two seeds' worth of curves, a labelled data set and vectors."""
    summaries = []
    for name, seed in (("a_seed1", 1), ("a_seed2", 2), ("<b>", 3)):
        folder = tmp_path / "training" / name
        folder.mkdir(parents=True)
        values = {"epoch": 1, **METRICS, "val_loss": 0.1 * seed}
        best = dict.fromkeys(("best_loss", "best_selection", "best_ranking"), values)
        summaries.append(folder / "summary.json")
        summaries[-1].write_text(
            json.dumps(
                {
                    "run": name,
                    "seed": seed,
                    "epochs": 2,
                    "stopped": "",
                    "parent": None,
                    **best,
                }
            )
        )
        curve = {
            "epoch": [0, 1],
            "train_loss": [0.2, 0.1],
            "val_loss": [0.2, 0.1],
            "val_spearman_per_target": [0.1, 0.5],
        }
        pd.DataFrame(curve).to_csv(folder / "metrics.csv", index=False)
    board = tmp_path / "leaderboard.csv"
    leaderboard(summaries, "val_loss").to_csv(board, index=False)
    rows = [(target, f"d{i}", i / 4, i / 5) for target in "TU" for i in range(4)]
    table = pd.DataFrame(rows, columns=["target", "decoy", "dockq", "pred_dockq"])
    evaluation = tmp_path / "bench/summary.json"
    evaluation.parent.mkdir()
    evaluation.write_text(
        json.dumps({"val": summarise(table), "test": {"n_labels": 1}})
    )
    draw = np.random.default_rng(0)
    embeddings = tmp_path / layout.EMBEDDINGS.format(dataset="bench")
    embeddings.parent.mkdir(parents=True)
    vectors = {("T", f"d{i}"): draw.normal(size=4) for i in range(12)}
    write_embeddings(embeddings, vector_table(vectors))
    labels = [Label("T", f"d{i}", i / 12, "val") for i in range(10)]
    (tmp_path / "results/bench").mkdir()
    write_labels(tmp_path / layout.LABELS.format(dataset="bench"), labels)
    folds = tmp_path / "folds.csv"
    write_metrics(
        folds, [GroupMetric("a", "bench", "ranking_loss", 0.1, 0.05, 0.2, 8, 2, 2)]
    )
    return {
        "leaderboard": board,
        "evaluation": evaluation,
        "embeddings": embeddings,
        "folds": folds,
    }


def test_the_page_has_leaderboard_curves_metrics_and_maps_and_loads_nothing(study):
    page = render(
        study["leaderboard"],
        [study["evaluation"]],
        [study["embeddings"]],
        study["folds"],
        "my <study>",
    )
    for section in (
        "Leaderboard",
        "Learning curves",
        "Metrics",
        "Cross-validation",
        "Maps of models",
    ):
        assert f"<h2>{section}</h2>" in page
    assert (
        page.count("<img")
        == page.count('src="data:image/png')
        == page.count('alt="')
        >= 4
    )
    assert "<b>" not in page.replace("<b>DockQ", "")
    assert "my &lt;study&gt;" in page
    assert "0.100 [0.050, 0.200]" in page
    assert "ranking loss of a random pick" in page
    assert "Mean and deviation over seeds" in page
    assert "12 models of 1 data sets, 10 coloured by DockQ" in page
    assert page.count("PCA (") == 1
    is_installed = find_spec("sklearn") is not None
    assert ('alt="t-SNE of 12' in page) == is_installed
    assert ("t-SNE needs scikit-learn: pip" in page) != is_installed
    assert "://" not in page


def test_what_is_missing_has_no_section(study, tmp_path):
    page = render(study["leaderboard"], [], [tmp_path / "bench/gone.csv"], None, "s")
    assert "<h2>Metrics</h2>" not in page
    assert "<h2>Maps of models</h2>" not in page
