"""Which graphs an epoch sees, and in which order: a pure function of the draw, seed and epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from torch.utils.data import Sampler

from toporank.config.training import Schedule
from toporank.evaluation.metrics import capri_class

Ints = NDArray[np.int64]
Order = Callable[[np.random.Generator], Ints]
"""The graphs of one epoch, drawn anew each time."""


def balanced(groups: Ints, draw: np.random.Generator) -> Ints:
    """As many rows as there are, drawn so that every group has the same number of them, give or take one.

    Inside a group every row is drawn before one is drawn again. groups : (n,), the group of each row.
    """
    shares = np.array_split(np.arange(len(groups)), len(np.unique(groups)))
    sizes = draw.permutation([len(share) for share in shares])
    chosen = []
    for group, size in zip(np.unique(groups), sizes, strict=True):
        rows = np.flatnonzero(groups == group)
        rounds = [draw.permutation(rows) for _ in range(-(-size // len(rows)))]
        chosen.append(np.concatenate(rounds)[:size])
    return draw.permutation(np.concatenate(chosen))


def keep_targets_together(rows: Ints, targets: Ints, size: int, draw: np.random.Generator) -> Ints:
    """The same rows in groups of up to `size` decoys of one target, the groups in random order.

    rows : (n,), in random order. targets : (n,), the target of each.
    """
    groups = []
    for target in np.unique(targets):
        own = rows[targets == target]
        groups += [own[i : i + size] for i in range(0, len(own), size)]
    return np.concatenate([groups[i] for i in draw.permutation(len(groups))])


def order(indices: Ints, decoys: pd.DataFrame, schedule: Schedule) -> Order:
    """How the epochs of a schedule are drawn.

    indices : (n,), positions of the training graphs in `decoys`, which has the columns target and dockq.
    """
    targets = pd.factorize(decoys["target"].to_numpy()[indices])[0]
    classes = capri_class(decoys["dockq"].to_numpy()[indices])
    groups = {"shuffle": None, "target_balanced": targets, "dockq_balanced": classes}[schedule.sampling]
    return partial(_draw, indices, groups, targets, schedule.decoys_together)


def _draw(indices: Ints, groups: Ints | None, targets: Ints, per_target: int, draw: np.random.Generator) -> Ints:
    rows = draw.permutation(len(indices)) if groups is None else balanced(groups, draw)
    if per_target > 1:
        rows = keep_targets_together(rows, targets[rows], per_target, draw)
    return indices[rows]


class EpochSampler(Sampler):
    """Graph indices in an order that depends on seed and epoch alone."""

    def __init__(self, drawn: Order, length: int, seed: int):
        self.drawn, self.length, self.seed, self.epoch = drawn, length, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Called by Lightning before each epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[int]:
        return iter(self.drawn(np.random.default_rng([self.seed, self.epoch])).tolist())
