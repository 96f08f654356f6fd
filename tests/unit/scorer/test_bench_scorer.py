"""What judges the scorer that ships: targets by hand, intervals over clusters, and trees that have not seen them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scorer import DRAWS, FEWEST, judged, of_targets
from toporank.metrics import spearman
from toporank.scorer.make import LEAN, TrainingTable


def decoys(n_clusters: int, of_each: int = 4) -> pd.DataFrame:
    """A target in each cluster, of DockQ 0.1, 0.2 and so on, in the order of the decoys."""
    n = n_clusters * of_each
    number = np.arange(n) // of_each
    return pd.DataFrame({
        "dataset": "d", "target": [f"T{i}" for i in number], "decoy": [f"m{i}" for i in range(n)], "group": "g",
        "cluster": [f"c{i}" for i in number], "fold": number % 2, "dockq": (np.arange(n) % of_each + 1) / 10,
    })  # fmt: skip


def value(table: pd.DataFrame, metric: str, of: str = "value") -> float:
    return table.set_index("metric").loc[metric, of]


def test_loss_and_order_of_targets_by_hand():
    table = decoys(3)
    table.loc[table["target"] == "T2", "dockq"] = [0.50, 0.51, 0.52, 0.53]  # not worth ranking
    found = of_targets(table, np.array([4.0, 3, 2, 1, 1, 2, 4, 3, 0, 0, 0, 0]))
    assert found["cluster"].tolist() == ["c0", "c1"]
    assert found["ranking_loss"].tolist() == pytest.approx([0.3, 0.1])
    assert found["spearman"].tolist() == pytest.approx([-1.0, 0.8])


def test_what_was_not_answered_costs_the_loss_of_the_best_and_what_is_undecided_a_random_pick():
    unknown = of_targets(decoys(1), np.array([1.0, 3, 2, np.nan]))
    assert unknown["ranking_loss"].tolist() == pytest.approx([0.2])  # the best of those answered is 0.2 behind 0.4
    undecided = of_targets(decoys(1), np.ones(4))
    assert (undecided["ranking_loss"].tolist(), undecided["spearman"].tolist()) == ([pytest.approx(0.15)], [0.0])


def test_figures_are_means_over_rounds():
    table = decoys(6)
    y = table["dockq"].to_numpy()
    both = judged(table, {"scorer": [y, 0.5 - y]})
    one, other = (judged(table, {"scorer": [p]}) for p in (y, 0.5 - y))
    for metric in ("ranking_loss", "spearman_per_target", "spearman_pooled", "mse"):
        assert value(both, metric) == pytest.approx((value(one, metric) + value(other, metric)) / 2)
    assert value(one, "mse") == 0
    assert value(other, "ranking_loss") == pytest.approx(0.3)


def test_intervals_are_those_of_clusters_drawn_with_replacement():
    table = decoys(9)
    rng = np.random.default_rng(7)
    p = rng.uniform(size=len(table))
    found = judged(table, {"scorer": [p]})
    parts = [table.index[table["cluster"] == name] for name in table["cluster"].unique()]
    draws = [np.concatenate([parts[i] for i in rng.integers(9, size=9)]) for _ in range(DRAWS)]
    y = table["dockq"].to_numpy()
    expected = np.percentile([spearman(y[rows], p[rows]) for rows in draws], [2.5, 97.5])
    np.testing.assert_allclose([value(found, "spearman_pooled", side) for side in ("low", "high")], expected, atol=0.06)
    errors = [((y[rows] - p[rows]) ** 2).mean() for rows in draws]
    low_high = [value(found, "mse", side) for side in ("low", "high")]
    np.testing.assert_allclose(low_high, np.percentile(errors, [2.5, 97.5]), atol=0.01)


@pytest.mark.parametrize(("n", "known"), [(FEWEST - 1, False), (FEWEST, True)])
def test_few_clusters_have_no_interval(n, known):
    table = decoys(n)
    found = judged(table, {"scorer": [np.random.default_rng(n).uniform(size=len(table))]})
    assert found["low"].notna().tolist() == found["high"].notna().tolist() == [known] * 4
    assert found["value"].notna().all()


def test_trees_have_not_seen_the_cluster_that_they_are_judged_on():
    """A descriptor that tells the cluster tells everything of DockQ to trees that saw it, and nothing to others."""
    table = decoys(60, 3)
    number = np.arange(len(table)) // 3
    table["dockq"] = np.random.default_rng(1).uniform(size=60)[number]
    table = table.assign(pred_dockq=0.5, pred_local=0.5)
    alike = {("d", target): np.ones((3, 3)) for target in table["target"]}
    alike["d", "T0"] = np.array([[1, 0.8, 0], [0.8, 1, 0.4], [0, 0.4, 1]])
    seen = TrainingTable(table, number[:, None].astype(float), ["which"], alike)
    inputs, every = ["which"], np.ones(len(table), bool)
    inside = seen.grow(inputs, every, 0).predict(number[:, None].astype(float))
    outside = seen.out_of_fold(inputs, 0)
    assert spearman(table["dockq"], inside) > 0.8
    assert abs(spearman(table["dockq"], outside)) < 0.4
    outside = np.clip(outside, 0.3, 0.7)
    moved = seen.leaning(outside) - outside
    np.testing.assert_allclose(moved[3:], 0, atol=1e-9)  # all agree alike
    consensus = np.array([0.4, 0.6, 0.2])
    expected = LEAN * (consensus - 0.4) / (consensus.std() + 0.01) * 0.8 / (0.8 + 2)  # 0.4 of two others
    np.testing.assert_allclose(moved[:3], expected, atol=1e-9)
