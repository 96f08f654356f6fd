"""Which poses become decoys: right and wrong ones of the same size, so that size does not tell DockQ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

BINS = (0.1, 0.23, 0.4, 0.6, 0.8)
"""DockQ at which one class ends and the next begins."""
SIZES = (0.65, 1.35)
"""Wanted sizes of interfaces, as multiples of the native's."""
RARE = 0.1
"""Classes of a smaller share do not limit the sizes."""
FEW = 5
"""Nor do classes with fewer poses."""
COARSE = (0.23, 0.8)
"""Classes that the last choice keeps: within them poses are exchanged."""
STARTS = 10
"""Random choices from which the last choice begins."""
LEAST_GAIN = 1e-6
"""Of an exchange."""
BLOCK = 256
"""Exchanges that are looked at together: each takes memory for all chosen poses."""
SURE = 1e-9
"""More than the sums of ranks and the correlations of all poses can disagree by rounding."""


class Law(NamedTuple):
    """What poses are chosen by, a number for each class.

    shares : of the decoys. left : share of the size of a pose's interface that its decoy has, about.
    """

    shares: tuple[float, ...]
    left: tuple[float, ...]


MINIMISED = Law(shares=(0.40, 0.15, 0.15, 0.13, 0.12, 0.05), left=(0.88, 0.75, 1.0, 1.0, 1.0, 1.0))
"""Of poses that are minimised: wrong ones fit less well, and minimisation leaves less of their interfaces."""
RIGID = Law(shares=(0.40, 0.10, 0.10, 0.10, 0.12, 0.18), left=(1.0,) * 6)
"""Of poses that stay as they are: where the partners are those of the native, programs find it or miss it."""


def classes(dockq: np.ndarray) -> np.ndarray:
    """Class of each DockQ by `BINS`, from 0: int, shape (n,)."""
    return np.digitize(dockq, BINS)


def quotas(available: Sequence[int], wanted: int, shares: Sequence[float]) -> np.ndarray:
    """How many of each group to take: by shares, as far as there are so many; what one lacks the others give."""
    available, shares = np.asarray(available), np.asarray(shares, dtype=float)
    taken = np.zeros(len(available), dtype=int)
    for _ in range(min(wanted, available.sum())):
        behind = np.where(taken < available, (taken + 0.5) / np.maximum(shares, 1e-9), np.inf)
        taken[behind.argmin()] += 1
    return taken


def matched(
    dockq: np.ndarray,
    size: np.ndarray,
    pool: np.ndarray,
    native: float,
    wanted: int,
    law: Law,
    rng: np.random.Generator,
) -> np.ndarray:
    """Indices of the chosen poses: the shares of each class, equally from each pool, and sizes alike in all classes.

    dockq, size, pool : of each pose, (n,). Sizes, as they will be in the decoys, are drawn from `native` times `SIZES`
    as far as all larger classes have poses of such sizes; the nearest pose is taken.
    """
    of, pools = classes(dockq), np.unique(pool)
    size = size * np.array(law.left)[of]
    groups = [np.flatnonzero((of == c) & (pool == p)) for c in range(len(law.shares)) for p in pools]
    taken = quotas([len(group) for group in groups], wanted, np.repeat(law.shares, len(pools)))
    common = [size[of == c] for c, share in enumerate(law.shares) if share > RARE]
    smallest, largest = _common_sizes(common, native)
    chosen: list[int] = []
    for group, n in zip(groups, taken, strict=True):
        left = group.tolist()
        for _ in range(n):
            goal = rng.uniform(smallest, largest)
            chosen.append(left.pop(int(np.abs(size[left] - goal).argmin())))
    return np.array(chosen, dtype=np.intp)


def _common_sizes(sizes: list[np.ndarray], native: float) -> tuple[float, float]:
    """Smallest and largest size that are within `SIZES` and that each class has; equal where there is none."""
    ranges = [np.quantile(own, [0.1, 0.9]) for own in sizes if len(own) >= FEW]
    smallest, largest = (native * factor for factor in SIZES)
    if ranges:
        smallest, largest = max(smallest, *(r[0] for r in ranges)), min(largest, *(r[1] for r in ranges))
    return (smallest, largest) if smallest <= largest else ((smallest + largest) / 2,) * 2


def balanced(dockq: np.ndarray, properties: np.ndarray, wanted: int, law: Law, rng: np.random.Generator) -> np.ndarray:
    """Indices of poses, about the shares of each class, with properties that hardly correlate with DockQ by rank.

    properties : shape (k, n), the first the most important. From several random choices exchanges are made, the best
    first and each within a class of `COARSE`, as long as the sum of squared correlations falls.
    """
    members = [np.flatnonzero(classes(dockq) == c) for c in range(len(law.shares))]
    taken = quotas([len(poses) for poses in members], wanted, law.shares)
    ranks = np.array([_ranks(values) for values in (dockq, *properties)])
    coarse = np.digitize(dockq, COARSE)
    best, least = np.arange(0), np.inf
    for _ in range(STARTS):
        drawn = [rng.permutation(poses)[:n] for poses, n in zip(members, taken, strict=True)]
        inside = np.concatenate(drawn).astype(np.intp)
        disagreement = _disagreement(ranks[:, inside])
        while True:
            tried, found = _best_exchange(ranks, coarse, inside)
            if found >= disagreement - LEAST_GAIN:
                break
            inside, disagreement = tried, found
        if disagreement < least:
            best, least = inside, disagreement
    return best


def _best_exchange(ranks: np.ndarray, coarse: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, float]:
    """The choice that disagrees least of those with one pose exchanged within its class, and by how much; or infinity.

    By sums of ranks all exchanges are compared, and those that may be the best by the correlations themselves.
    """
    outside = np.setdiff1d(np.arange(ranks.shape[1]), inside)
    place, new = np.nonzero(coarse[inside][:, None] == coarse[outside])
    blocks = np.split(np.arange(len(place)), range(BLOCK, len(place) - 1, BLOCK)) if len(place) else []
    sums = _sums(ranks)
    chosen = sums[..., inside].sum(axis=-1, keepdims=True)
    by_sums = [
        _disagreement_by(chosen - sums[..., inside[place[b]]] + sums[..., outside[new[b]]], len(inside)).min()
        for b in blocks
    ]
    best, least = inside, np.inf
    for block, value in zip(blocks, by_sums, strict=True):
        if value <= min(by_sums) + SURE:
            tried = np.repeat(inside[None], len(block), axis=0)
            tried[np.arange(len(block)), place[block]] = outside[new[block]]
            found = _disagreement(ranks[:, tried])
            if found.min() < least:
                best, least = tried[found.argmin()], found.min()
    return best, least


def _sums(ranks: np.ndarray) -> np.ndarray:
    """What correlations are made of when summed over poses: twice the ranks, their squares, and times the first.

    Shape (k + 1, n) to (3, k + 1, n), in whole numbers, so that nothing is lost when poses come and go.
    """
    twice = (2 * ranks).astype(np.int64)
    return np.stack([twice, twice**2, twice * twice[0]])


def _disagreement_by(sums: np.ndarray, n: int) -> np.ndarray:
    """`_disagreement` of n poses by the sums of `_sums` over them: shape (3, k + 1, m) to (m,)."""
    total, squares, products = sums
    spread, shared = ((n * own - total * by).astype(float) for own, by in ((squares, total), (products, total[0])))
    scale = spread[0] * spread[1:]
    squared = np.divide(shared[1:] ** 2, scale, out=np.zeros_like(scale), where=scale > 0)
    return _weights(len(squared)) @ squared


def _disagreement(ranks: np.ndarray) -> np.ndarray:
    """Weighted sum of squared correlations of the first row with the others: shape (k + 1, ..., n) to (...)."""
    squared = np.square(_correlations(ranks))
    return np.tensordot(_weights(len(squared)), squared, axes=1)


def _weights(k: int) -> np.ndarray:
    """Of k properties, the first the most important."""
    return 1 / np.arange(1, k + 1)


def _correlations(rows: np.ndarray) -> np.ndarray:
    """Of the first row with each other, along the last axis; 0 where one side is constant."""
    rows = rows - rows.mean(axis=-1, keepdims=True)
    length = np.sqrt(np.square(rows).sum(axis=-1))
    scale = length[0] * length[1:]
    return np.divide((rows[1:] * rows[0]).sum(axis=-1), scale, out=np.zeros_like(scale), where=scale > 0)


def spearman(x: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """Rank correlation of x, (n,), with each row of ys, (k, n); 0 where one side is constant."""
    return _correlations(np.array([_ranks(values) for values in (x, *ys)]))


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks of values, (n,); equal ones share the mean of theirs. SciPy's are slow to import and to call."""
    ordered = np.sort(values)
    return (np.searchsorted(ordered, values) + np.searchsorted(ordered, values, side="right")) / 2
