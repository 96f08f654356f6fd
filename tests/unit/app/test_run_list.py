"""`toporank runs` lists what was trained."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest
from _synthetic import small_run, training_pack

from toporank.__main__ import main
from toporank.learning.train import TrainingGraphs, train_run


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Two runs in the store, of which results show the second."""
    monkeypatch.chdir(tmp_path)
    source = TrainingGraphs([training_pack(tmp_path / "pack")])
    for seed, place in ((1, "gone"), (2, "results/training/run_seed2")):
        run = small_run(f"run_seed{seed}", seed, max_epochs=seed)
        train_run(run, source, 1, Path(place), Path(".toporank/store"))
    return tmp_path


def test_runs_of_results_and_store_are_listed_once(folder, capsys):
    assert main(["runs", "--csv"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out), keep_default_na=False)
    table = table.sort_values("run", ignore_index=True)
    assert table[["run", "seed", "epochs", "folder"]].values.tolist() == [
        ["run_seed1", 1, 1, ""],
        ["run_seed2", 2, 2, "results/training/run_seed2"],
    ]
    metrics = pd.read_csv(folder / "results/training/run_seed2/metrics.csv")
    assert table["val_loss"][1] == pytest.approx(metrics["val_loss"].min())
    assert "hidden=8 heads=2 layers=1" in table["configuration"][0]
    assert table["commit"].str.len().min() > 0
    assert table["finished"].str.match(r"\d{4}-\d\d-\d\d \d\d:\d\d").all()


def test_a_folder_without_runs_says_so(tmp_path):
    with pytest.raises(SystemExit, match="no finished training run"):
        main(["runs", str(tmp_path)])
