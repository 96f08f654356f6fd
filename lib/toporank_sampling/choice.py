"""Which poses become decoys.

Right and wrong ones have the same sizes, so that size does not tell DockQ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

BINS = (0.1, 0.23, 0.4, 0.6, 0.8)
"""DockQ at which one class ends and the next begins."""
SHARES = (0.40, 0.10, 0.10, 0.10, 0.12, 0.18)
"""Of the decoys, for each class: rigid docking of bound partners finds the native or misses it."""
SIZES = (0.65, 1.35)
"""Wanted sizes of interfaces, as multiples of the native's."""
RARE = 0.1
"""Classes of no larger share do not limit the sizes."""
FEW = 5
"""Nor do classes with fewer poses."""
COARSE = (0.23, 0.8)
"""DockQ at which the classes of the last choice end: within them poses are exchanged."""
STARTS = 10
"""Random choices from which the last choice begins."""
LEAST_GAIN = 1e-6
"""Of an exchange."""
BLOCK = 256
"""Exchanges that are compared together, which limits memory."""
ROUNDING = 1e-9
"""By which correlations from sums and from the values may differ."""


def classes(dockq: np.ndarray) -> np.ndarray:
    """Class of each DockQ by `BINS`, from 0: int, shape (n,)."""
    return np.digitize(dockq, BINS)


def quotas(available: ArrayLike, wanted: int, shares: ArrayLike) -> np.ndarray:
    """How many of each group to take: by shares, as far as there are so many.

    Where one group lacks some, the others give them.
    """
    available = np.asarray(available)
    shares = np.asarray(shares)
    taken = np.zeros(len(available), dtype=int)
    for _ in range(min(wanted, available.sum())):
        filled = (taken + 0.5) / np.maximum(shares, 1e-9)
        taken[np.where(taken < available, filled, np.inf).argmin()] += 1
    return taken


def matched(
    dockq: np.ndarray,
    size: np.ndarray,
    pool: np.ndarray,
    native: float,
    wanted: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Indices of poses.

    Classes have their shares, pools give equally, and sizes are alike in all classes.

    A wanted size is drawn from `native` times `SIZES`, as far as all larger classes have poses of
    such sizes, and the pose of the nearest size is taken.

    Parameters
    ----------
    dockq, size, pool : array, shape (n,)
        Of each pose.
    native : float
        Size of the native's interface.
    wanted : int
        Number of poses.
    rng : Generator
        Draws the sizes.
    """
    class_of = classes(dockq)
    pools, pool_of = np.unique(pool, return_inverse=True)
    group_of = class_of * len(pools) + pool_of
    shares = np.repeat(SHARES, len(pools))
    taken = quotas(np.bincount(group_of, minlength=len(shares)), wanted, shares)
    large_classes = np.flatnonzero(np.array(SHARES) > RARE)
    sizes = [size[class_of == number] for number in large_classes]
    smallest, largest = _common_sizes(sizes, native)
    chosen: list[int] = []
    for group, n in enumerate(taken):
        left = np.flatnonzero(group_of == group).tolist()
        for _ in range(n):
            goal = rng.uniform(smallest, largest)
            chosen.append(left.pop(int(np.abs(size[left] - goal).argmin())))
    return np.array(chosen, dtype=np.intp)


def _common_sizes(sizes: list[np.ndarray], native: float) -> tuple[float, float]:
    """Smallest and largest size that are within `SIZES` and that each class has.

    Both are equal where no size is common.
    """
    smallest, largest = native * SIZES[0], native * SIZES[1]
    for of_class in sizes:
        if len(of_class) >= FEW:
            low, high = np.quantile(of_class, [0.1, 0.9])
            smallest, largest = max(smallest, low), min(largest, high)
    if smallest > largest:
        middle = (smallest + largest) / 2
        return middle, middle
    return smallest, largest


def balanced(
    dockq: np.ndarray, properties: np.ndarray, wanted: int, rng: np.random.Generator
) -> np.ndarray:
    """Indices of poses, about the shares of each class.

    Their properties hardly correlate with DockQ by rank.

    From several random choices exchanges are made, the best first and each within a class of
    `COARSE`, as long as the weighted sum of squared rank correlations falls.

    Parameters
    ----------
    dockq : array, shape (n,)
        Of each pose.
    properties : array, shape (k, n)
        The first is the most important.
    wanted : int
        Number of poses.
    rng : Generator
        Draws the first choices.
    """
    class_of = classes(dockq)
    taken = quotas(np.bincount(class_of, minlength=len(SHARES)), wanted, SHARES)
    ranks = _ranks(np.vstack([dockq, properties]))
    coarse = np.digitize(dockq, COARSE)
    best, least = np.arange(0), np.inf
    for _ in range(STARTS):
        drawn = []
        for number, n in enumerate(taken):
            drawn.append(rng.permutation(np.flatnonzero(class_of == number))[:n])
        inside = np.concatenate(drawn)
        disagreement = float(_disagreement(ranks[:, inside]))
        while True:
            exchanged, after = _best_exchange(ranks, coarse, inside)
            if after >= disagreement - LEAST_GAIN:
                break
            inside = exchanged
            disagreement = after
        if disagreement < least:
            best = inside
            least = disagreement
    return best


def _best_exchange(
    ranks: np.ndarray, coarse: np.ndarray, inside: np.ndarray
) -> tuple[np.ndarray, float]:
    """The best choice with one pose exchanged within its class, and its disagreement.

    The disagreement is infinite without an exchange.

    Sums of ranks, in whole numbers, compare all exchanges quickly. The correlations themselves
    decide between those that may be the best.
    """
    outside = np.setdiff1d(np.arange(ranks.shape[1]), inside)
    place, new = np.nonzero(coarse[inside][:, None] == coarse[outside])
    if not len(place):
        return inside, np.inf
    blocks = np.split(np.arange(len(place)), range(BLOCK, len(place) - 1, BLOCK))
    sums = _sums(ranks)
    chosen = sums[..., inside].sum(axis=-1, keepdims=True)
    least_by_sums = []
    for block in blocks:
        after = (
            chosen - sums[..., inside[place[block]]] + sums[..., outside[new[block]]]
        )
        least_by_sums.append(_disagreement_by(after, len(inside)).min())
    best, least = inside, np.inf
    for block, by_sums in zip(blocks, least_by_sums, strict=True):
        if by_sums > min(least_by_sums) + ROUNDING:
            continue
        candidates = np.repeat(inside[None], len(block), axis=0)
        candidates[np.arange(len(block)), place[block]] = outside[new[block]]
        disagreement = _disagreement(ranks[:, candidates])
        if disagreement.min() < least:
            best, least = candidates[disagreement.argmin()], disagreement.min()
    return best, least


def _sums(ranks: np.ndarray) -> np.ndarray:
    """What correlations need when summed over poses.

    These are twice the ranks, their squares, and their products with the first.

    Shape (k + 1, n) to (3, k + 1, n), in whole numbers, so that nothing is lost when poses come and
    go.
    """
    twice = (2 * ranks).astype(np.int64)
    return np.stack([twice, twice**2, twice * twice[0]])


def _disagreement_by(sums: np.ndarray, n: int) -> np.ndarray:
    """`_disagreement` of n poses by the sums of `_sums` over them: shape (3, k + 1, m) to (m,)."""
    total, squares, products = sums
    variance = (n * squares - total * total).astype(float)
    covariance = (n * products - total * total[0]).astype(float)
    scale = variance[0] * variance[1:]
    squared = np.divide(
        covariance[1:] ** 2, scale, out=np.zeros_like(scale), where=scale > 0
    )
    return _weights(len(squared)) @ squared


def _disagreement(ranks: np.ndarray) -> np.ndarray:
    """Weighted sum of squared correlations of the first row with the others.

    It turns shape (k + 1, ..., n) into (...).
    """
    squared = np.square(_correlations(ranks))
    return np.tensordot(_weights(len(squared)), squared, axes=1)


def _weights(k: int) -> np.ndarray:
    """Weights of k properties, the first the most important."""
    return 1 / np.arange(1, k + 1)


def _correlations(rows: np.ndarray) -> np.ndarray:
    """Correlations of the first row with each other, along the last axis.

    0 where one side is constant.
    """
    rows = rows - rows.mean(axis=-1, keepdims=True)
    length = np.sqrt(np.square(rows).sum(axis=-1))
    scale = length[0] * length[1:]
    return np.divide(
        (rows[1:] * rows[0]).sum(axis=-1),
        scale,
        out=np.zeros_like(scale),
        where=scale > 0,
    )


def spearman(x: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """Rank correlation of x, (n,), with each row of ys, (k, n); 0 where one side is constant."""
    return _correlations(_ranks(np.vstack([x, ys])))


def _ranks(rows: np.ndarray) -> np.ndarray:
    """Ranks of the values of each row, (k, n); equal ones share the mean of theirs.

    SciPy's are slow to import and to call.
    """
    ranks = np.empty(rows.shape)
    for row, values in zip(ranks, rows, strict=True):
        ordered = np.sort(values)
        row[:] = np.searchsorted(ordered, values) + np.searchsorted(
            ordered, values, side="right"
        )
    return ranks / 2
