"""The choice of poses: classes as asked for, and neither size nor anything else that tells
DockQ.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from toporank_sampling import choice
from toporank_sampling.choice import (
    SHARES,
    balanced,
    classes,
    matched,
    quotas,
    spearman,
)


@pytest.fixture
def pool():
    """DockQ and sizes of poses among which the better ones are larger, as docking gives them."""
    rng = np.random.default_rng(1)
    dockq = np.concatenate([rng.uniform(0, 0.1, 900), rng.uniform(0.1, 0.95, 600)])
    return dockq, rng.uniform(20, 160, 1500) + 60 * dockq, rng.integers(0, 2, 1500)


def test_classes_end_where_capri_says():
    assert classes(np.array([0.0, 0.1, 0.2299, 0.23, 0.8, 1.0])).tolist() == [
        0,
        1,
        1,
        2,
        5,
        5,
    ]


def test_quotas_follow_the_shares_and_others_fill_in_for_a_group_that_is_short():
    assert quotas([100, 100], 10, [0.7, 0.3]).tolist() == [7, 3]
    assert quotas([2, 100], 10, [0.7, 0.3]).tolist() == [2, 8]
    assert quotas([1, 2], 10, [0.5, 0.5]).tolist() == [1, 2]


def test_matched_poses_are_of_the_same_sizes_in_every_class(pool):
    dockq, size, origin = pool
    chosen = matched(dockq, size, origin, 100.0, 120, np.random.default_rng(2))
    assert len(set(chosen.tolist())) == 120
    assert (
        abs(spearmanr(dockq[chosen], size[chosen]).statistic)
        < 0.1
        < spearmanr(dockq, size).statistic
    )
    share = np.bincount(classes(dockq[chosen]), minlength=len(SHARES)) / 120
    np.testing.assert_allclose(share, SHARES, atol=0.03)
    assert 0.4 < origin[chosen].mean() < 0.6


def test_a_balanced_choice_halves_correlations_and_keeps_the_classes():
    rng = np.random.default_rng(3)
    dockq = np.concatenate(
        [rng.uniform(0, 0.1, 13), rng.uniform(0.1, 0.23, 5), rng.uniform(0.23, 0.8, 14)]
    )
    properties = np.array([dockq + rng.normal(0, 0.4, 32), rng.random(32) < 0.5])
    chosen = balanced(dockq, properties, 24, np.random.default_rng(4))
    assert len(set(chosen.tolist())) == 24
    before, after = (
        np.abs(spearman(dockq[one], properties[:, one])).max()
        for one in (np.arange(32), chosen)
    )
    assert after < 0.5 * before
    assert np.mean((dockq[chosen] >= 0.23) & (dockq[chosen] < 0.8)) >= sum(SHARES[2:5])


def test_a_balanced_choice_gets_no_better_by_any_exchange_within_a_class(monkeypatch):
    rng = np.random.default_rng(6)
    monkeypatch.setattr(choice, "BLOCK", 7)
    dockq = np.concatenate([rng.uniform(0, 0.2, 12), rng.uniform(0.25, 0.7, 12)])
    properties = np.array([dockq + rng.normal(0, 0.4, 24), rng.random(24) < 0.5])

    # among all poses
    ranks = np.array([rankdata(values) for values in (dockq, *properties)])

    def disagreement(chosen: list[int]) -> float:
        _, first, second = np.corrcoef(ranks[:, chosen])[0]
        return first**2 + second**2 / 2

    chosen = balanced(dockq, properties, 12, rng).tolist()
    others = [
        [*(set(chosen) - {old}), new]
        for old in chosen
        for new in {*range(24)} - {*chosen}
        if (dockq[old] < 0.23) == (dockq[new] < 0.23)
    ]
    assert min(map(disagreement, others)) > disagreement(chosen) - 1e-5


def test_rank_correlation_is_that_of_scipy_with_ties_and_0_for_constants():
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 6, 30), rng.integers(0, 4, 30)
    found = spearman(x, np.array([y, np.ones(30)]))
    assert found == pytest.approx([spearmanr(x, y).statistic, 0])
