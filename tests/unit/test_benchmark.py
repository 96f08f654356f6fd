"""The comparison of training with its baseline: both train the same network, and the gate can say no."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from _synthetic import SMALL, members, training_graphs

from toporank.config.training import Hyperparameters
from toporank.graphs.packing import write_pack
from toporank.report.benchmark import markdown_table, mean_and_interval
from toporank.training.benchmark import train, verdict


def outcomes(**optimised: float) -> pd.DataFrame:
    """Two seeds of both arms; the optimised one three times as fast and as good, unless said otherwise."""
    base = {"epoch_s": 3.0, "loading_s": 0.5, "peak_mib": 200.0, "val_loss": 0.1, "val_spearman": 0.5}
    ours = {**base, "epoch_s": 1.0, "loading_s": 0.01, **optimised}
    return pd.DataFrame(
        [{"arm": a, "seed": s, **v} for s in (1, 2) for a, v in (("baseline", base), ("optimised", ours))]
    )


@pytest.mark.parametrize(
    ("change", "passes"),
    [({}, True), ({"epoch_s": 1.01}, False), ({"val_loss": 0.1029}, True), ({"val_loss": 0.1031}, False),
     ({"val_spearman": 0.486}, True), ({"val_spearman": 0.484}, False), ({"val_loss": 0.05, "val_spearman": 0.9}, True),
     ({"val_loss": float("nan")}, False), ({"val_spearman": float("nan")}, False)],
)  # fmt: skip
def test_it_passes_only_when_three_times_as_fast_and_as_good_within_three_percent(change, passes):
    ratios, passed = verdict(outcomes(**change))
    assert passed is passes
    assert ("Passed" if passes else "Failed") in markdown_table(outcomes(**change), ratios, passed)


def test_both_arms_train_the_same_network_on_the_same_batches(tmp_path):
    """So what differs between them is rounding, and not luck."""
    graphs = training_graphs()
    table = members(tmp_path, graphs)
    for row in table.itertuples():
        (tmp_path / "graphs" / row.target).mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{row.target}_{row.decoy}.pt").rename(tmp_path / "graphs" / row.target / f"{row.decoy}.pt")
    table["graph"] = [str(tmp_path / "graphs" / r.target / f"{r.decoy}.pt") for r in table.itertuples()]
    write_pack(tmp_path / "graphs.safetensors", table)
    hp = Hyperparameters(**{**SMALL, "learning_rate": 0.002})
    one, other = (train(arm, 7, [tmp_path / "graphs.safetensors"], hp, 1) for arm in ("baseline", "optimised"))
    assert other.val_loss == pytest.approx(one.val_loss, abs=1e-5)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 3.0], "2 ± 13"),
        ([2.0], "2"),
        ([700.0, 800.0, 900.0], "800 ± 248"),
        ([0.044, 0.046, 0.048], "0.0460 ± 0.0050"),
        ([0.5, 0.5], "0.500 ± 0.000"),
    ],
)
def test_an_interval_is_students(values, expected):
    assert mean_and_interval(np.array(values)) == expected
