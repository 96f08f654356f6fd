"""The comparison of training with its baseline: both train the same network, and the gate can say no."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from _synthetic import SMALL, members, training_graphs

from benchmarks.bench_training import interval, text, train, verdict
from toporank.building.packing import write_pack
from toporank.learning.hyperparameters import Hyperparameters


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
    assert ("Passed" if passes else "Failed") in text(outcomes(**change), ratios, passed)


def test_both_arms_train_the_same_network_on_the_same_batches(tmp_path):
    """So what differs between them is rounding, and not luck."""
    found = members(tmp_path, training_graphs())
    for member in found:
        (tmp_path / "graphs" / member.target).mkdir(parents=True, exist_ok=True)
        member.graph.rename(tmp_path / "graphs" / member.target / f"{member.decoy}.pt")
    found = [m._replace(graph=tmp_path / "graphs" / m.target / f"{m.decoy}.pt") for m in found]
    write_pack(tmp_path / "graphs.safetensors", found)
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
    assert interval(np.array(values)) == expected
