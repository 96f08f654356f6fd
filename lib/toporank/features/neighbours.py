"""Points near points."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

PAIRS_AT_ONCE = 1 << 20
"""Most pairs of points held in memory at a time."""


def pairs_between_groups(
    xyz: np.ndarray, group: np.ndarray, cutoff: float, most: float = np.inf
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs i < j of points of different groups nearer than `cutoff`: int, shape (m, 2), and their distances, (m,).

    xyz : float64, shape (n, 3). group : int, shape (n,). The search ends once more than `most` pairs are found. Pairs
    within groups, which can be very many, are never held all at once.

    Points are compared with those that follow them within reach along one axis: for a few thousand points as quick as
    a tree, whose library takes longer to import than many decoys to compare.
    """
    axis = np.ptp(xyz, axis=0).argmax() if len(xyz) else 0
    order = np.argsort(xyz[:, axis])
    along = xyz[order, axis]
    reach = np.searchsorted(along, np.nextafter(along + cutoff, np.inf), side="right")
    follow = reach - np.arange(len(xyz)) - 1
    pairs, distance = [np.zeros((0, 2), dtype=np.intp)], [np.zeros(0)]
    for rows in portions(follow):
        first = np.repeat(rows, follow[rows])
        nth = np.arange(len(first)) - np.repeat(np.cumsum(follow[rows]) - follow[rows], follow[rows])
        found = np.column_stack([order[first], order[first + 1 + nth]])
        found = np.sort(found[group[found[:, 0]] != group[found[:, 1]]], axis=1)
        apart = np.linalg.norm(xyz[found[:, 0]] - xyz[found[:, 1]], axis=1)
        pairs.append(found[apart < cutoff])
        distance.append(apart[apart < cutoff])
        if sum(map(len, distance)) > most:
            break
    return np.concatenate(pairs), np.concatenate(distance)


def smallest_distance(a: np.ndarray, b: np.ndarray) -> float:
    """Between any point of one set and any of the other. a : float64, shape (n, 3); b : shape (m, 3)."""
    a, b = a - b[0], b - b[0]
    step = max(1, PAIRS_AT_ONCE // len(b))
    portions = (a[i : i + step] for i in range(0, len(a), step))
    squares = (b**2).sum(axis=1)
    least = min((((p**2).sum(axis=1)[:, None] + squares) - 2 * p @ b.T).min() for p in portions)
    return float(np.sqrt(max(least, 0.0)))


def near_any(points: np.ndarray, others: np.ndarray, cutoff: float) -> np.ndarray:
    """Which points are nearer than `cutoff` to any of the others, bool, shape (n,).

    points : float64, shape (n, 3). others : float64, shape (m, 3). Searched along one axis, as in
    `pairs_between_groups`.
    """
    axis = np.ptp(others, axis=0).argmax()
    others = others[np.argsort(others[:, axis])]
    first, stop = (np.searchsorted(others[:, axis], points[:, axis] + by) for by in (-cutoff, cutoff))
    near = np.zeros(len(points), dtype=bool)
    for rows in portions(stop - first):
        count = stop[rows] - first[rows]
        point = np.repeat(rows, count)
        other = np.arange(len(point)) + np.repeat(first[rows] - (np.cumsum(count) - count), count)
        near[point[np.linalg.norm(points[point] - others[other], axis=1) < cutoff]] = True
    return near


def portions(sizes: np.ndarray) -> Iterator[np.ndarray]:
    """The places of `sizes` in portions that have no more than `PAIRS_AT_ONCE` in all, or one place each."""
    start, ends = 0, np.cumsum(sizes)
    while start < len(sizes):
        before = ends[start] - sizes[start]
        stop = max(start + 1, int(np.searchsorted(ends, before + PAIRS_AT_ONCE, side="right")))
        yield np.arange(start, stop)
        start = stop
