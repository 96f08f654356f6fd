"""Which graphs an epoch sees: all of them once, or a balanced draw; alone, or with others of their target."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from _synthetic import SMALL

from toporank.learning.epochs import EpochSampler, balanced, keep_targets_together, order
from toporank.learning.hyperparameters import Hyperparameters

SIZES = {"A": 30, "B": 6, "C": 3, "D": 1}
DECOYS = pd.DataFrame(
    [(target, i / max(1, size - 1) * 0.6) for target, size in SIZES.items() for i in range(size)],
    columns=["target", "dockq"],
)
INDICES = np.arange(len(DECOYS))[::-1].copy()
KINDS = ["shuffle", "cluster_balanced"]
CLUSTERS = {"A": "A", "B": "A", "C": "A", "D": "D"}


def epochs(kind: str, seed: int = 1, n: int = 3, **keys: object) -> list[list[int]]:
    """The graphs of the first epochs."""
    schedule = Hyperparameters(**{**SMALL, "sampling": kind, **keys})
    sampler = EpochSampler(order(INDICES, DECOYS, schedule, CLUSTERS), len(INDICES), seed)
    found = []
    for epoch in range(n):
        sampler.set_epoch(epoch)
        found.append(list(sampler))
    return found


@pytest.mark.parametrize("per_target", [1, 4])
def test_a_shuffled_epoch_sees_every_decoy_once(per_target):
    for epoch in epochs("shuffle", decoys_per_target=per_target):
        assert sorted(epoch) == sorted(INDICES)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("per_target", [1, 4])
def test_an_epoch_depends_on_seed_and_epoch_alone(kind, per_target):
    one, again = (epochs(kind, decoys_per_target=per_target) for _ in range(2))
    assert one == again
    assert one[0] != one[1] != one[2]
    assert one != epochs(kind, seed=2, decoys_per_target=per_target)
    assert [len(epoch) for epoch in one] == [len(INDICES)] * 3


def test_every_cluster_is_drawn_equally_often_and_so_is_every_target_in_it():
    for epoch in epochs("cluster_balanced"):
        drawn = Counter(DECOYS["target"][epoch])
        assert drawn["D"] == len(DECOYS) / 2
        assert sorted(drawn[target] for target in "ABC") == [6, 7, 7]


def test_targets_of_a_cluster_with_fewer_draws_than_targets_take_turns():
    cluster, target = np.repeat([0, 1], 8), np.arange(16)
    cluster[8:] = np.arange(1, 9)
    draws = [balanced([cluster, target], np.random.default_rng(seed)) for seed in range(40)]
    assert {len(rows) for rows in draws} == {16}
    assert {(rows < 8).sum() for rows in draws} <= {1, 2}
    assert {row for rows in draws for row in rows.tolist()} == set(range(16))


def test_no_decoy_is_drawn_twice_before_all_of_its_group_were_drawn_once():
    groups = np.array([0] * 30 + [1] * 6 + [2] * 3 + [3])
    times = Counter(balanced([groups], np.random.default_rng(0)).tolist())
    for group in range(4):
        counts = [times[row] for row in np.flatnonzero(groups == group)]
        assert max(counts) - min(counts) <= 1


def test_the_spare_draws_are_not_always_of_the_same_groups():
    """Ten rows of three groups: one group is drawn four times, each group in some epoch."""
    groups = np.array([0] * 4 + [1] * 3 + [2] * 3)
    draws = [Counter(groups[balanced([groups], np.random.default_rng(seed))].tolist()) for seed in range(30)]
    assert {counts.most_common(1)[0][0] for counts in draws} == {0, 1, 2}
    assert all(sorted(counts.values()) == [3, 3, 4] for counts in draws)


def test_over_many_epochs_every_decoy_is_seen():
    for kind in KINDS:
        assert {i for epoch in epochs(kind, n=20) for i in epoch} == set(INDICES.tolist()), kind


def test_decoys_of_one_target_follow_each_other():
    targets = np.repeat(np.arange(5), 8)
    rows = np.random.default_rng(0).permutation(40)
    found = keep_targets_together(rows, targets[rows], 4, np.random.default_rng(1))
    assert sorted(found) == sorted(rows)
    groups = targets[found].reshape(-1, 4)
    assert (groups == groups[:, :1]).all()
    assert len({tuple(group) for group in groups}) == 5
    assert (np.diff(groups[:, 0]) != 0).any()
    assert groups[:, 0].tolist() != sorted(groups[:, 0])


def test_a_target_with_too_few_decoys_has_a_smaller_group():
    (epoch, *_) = epochs("shuffle", decoys_per_target=4)
    runs = DECOYS["target"][epoch].tolist()
    assert runs.count("D") == 1
    assert sum(a == b for a, b in pairwise(runs)) >= 24
