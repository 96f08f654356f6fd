"""Which graphs an epoch sees, and in which order: a pure function of the draw, seed and epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from torch.utils.data import Sampler

from toporank.learning.hyperparameters import Schedule

Ints = NDArray[np.int64]
Order = Callable[[np.random.Generator], Ints]
"""The graphs of one epoch, drawn anew each time."""


def balanced(levels: Sequence[Ints], draw: np.random.Generator) -> Ints:
    """As many rows as there are, drawn so that every group has the same number of them, give or take one.

    levels : the group of each row, (n,); further ones divide these groups, whose draws are shared out likewise. Inside
    a group of the last level every row is drawn before one is drawn again.
    """
    rows = np.arange(len(levels[0]))
    return draw.permutation(_shared_out(rows, len(rows), levels, draw))


def _shared_out(rows: Ints, size: int, levels: Sequence[Ints], draw: np.random.Generator) -> Ints:
    """So many draws from some rows, shared out equally among their groups."""
    if not levels:
        rounds = [draw.permutation(rows) for _ in range(-(-size // len(rows)))]
        return np.concatenate([rows[:0], *rounds])[:size]
    of = levels[0][rows]
    groups = np.unique(of)
    sizes = draw.permutation([len(share) for share in np.array_split(np.arange(size), len(groups))])
    parts = zip(groups, sizes, strict=True)
    return np.concatenate([_shared_out(rows[of == group], n, levels[1:], draw) for group, n in parts])


def keep_targets_together(rows: Ints, targets: Ints, size: int, draw: np.random.Generator) -> Ints:
    """The same rows in groups of up to `size` decoys of one target, the groups in random order.

    rows : (n,), in random order. targets : (n,), the target of each.
    """
    groups = []
    for target in np.unique(targets):
        own = rows[targets == target]
        groups += [own[i : i + size] for i in range(0, len(own), size)]
    return np.concatenate([groups[i] for i in draw.permutation(len(groups))])


def order(indices: Ints, decoys: pd.DataFrame, schedule: Schedule, cluster_of: Mapping[str, str]) -> Order:
    """How the epochs of a schedule are drawn.

    indices : (n,), positions of the training graphs in `decoys`, which has the column target. cluster_of :
    each of their targets; needed only where clusters are balanced.
    """
    names = decoys["target"].to_numpy()[indices]
    targets = pd.factorize(names)[0]
    if schedule.sampling == "shuffle":
        levels = []
    else:
        levels = [pd.factorize(np.array([cluster_of[name] for name in names]))[0], targets]
    return partial(_draw, indices, levels, targets, schedule.decoys_together)


def _draw(indices: Ints, levels: list[Ints], targets: Ints, per_target: int, draw: np.random.Generator) -> Ints:
    rows = balanced(levels, draw) if levels else draw.permutation(len(indices))
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
