"""Points near points."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

PAIRS_AT_ONCE = 1 << 20
"""Most pairs of points held in memory at a time."""


def pairs_between_groups(
    xyz: np.ndarray, group: np.ndarray, cutoff: float, most: float = np.inf
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs i < j of points of different groups nearer than `cutoff`.

    The result is int, shape (m, 2), and their distances, (m,).

    xyz : float64, shape (n, 3). group : int, shape (n,). The search ends once more than `most`
    pairs are found. Pairs within groups, which can be very many, are never held all at once.
    """
    pairs, distance = [np.zeros((0, 2), dtype=np.intp)], [np.zeros(0)]
    for candidates in candidate_pairs(xyz, cutoff):
        i, j = candidates.T
        candidates = candidates[group[i] != group[j]]
        i, j = candidates.T
        apart = np.linalg.norm(xyz[i] - xyz[j], axis=1)
        pairs.append(candidates[apart < cutoff])
        distance.append(apart[apart < cutoff])
        if sum(map(len, distance)) > most:
            break
    return np.concatenate(pairs), np.concatenate(distance)


def candidate_pairs(xyz: np.ndarray, cutoff: float) -> Iterator[np.ndarray]:
    """Pairs i < j of points, int, (m, 2), in portions.

    Each pair nearer than `cutoff` is there once, and some farther ones are.

    xyz : float64, shape (n, 3). Points are sorted into cubes as wide as the cutoff, so that each is
    compared with those of the cubes around it: the work for a point does not grow with their
    number. For a few thousand points this is as quick as a tree, whose library takes longer to
    import than many decoys to compare.
    """
    cubes = Cubes.of(xyz, cutoff)
    order = np.argsort(cubes.cell, kind="stable")
    key = cubes.cell[order]
    # Its own row of cubes from the next point on, then the four rows behind it.
    start = [np.arange(len(key)) + 1]
    stop = [np.searchsorted(key, key + 1, side="right")]
    for row in cubes.rows[5:]:
        start.append(np.searchsorted(key, key + row - 1, side="left"))
        stop.append(np.searchsorted(key, key + row + 1, side="right"))
    first, begin = np.tile(np.arange(len(key)), len(start)), np.concatenate(start)
    count = np.concatenate(stop) - begin
    for rows in portions(count):
        n = count[rows]
        nth = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        places = [np.repeat(first[rows], n), np.repeat(begin[rows], n) + nth]
        yield np.sort(order[places].T, axis=1)


class Cubes(NamedTuple):
    """Space cut into cubes.

    cell : int, (n,), the number of the cube that each point is in; neighbours along z have
        neighbouring numbers.
    rows : int, (9,), rising: cube c and the 26 around it are those from c + row - 1 to c + row + 1.
    """

    cell: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, xyz: np.ndarray, width: float) -> Cubes:
        """Points in cubes: nearer ones than `width`, Å, are in one or in neighbours.

        xyz : float64, (n, 3).
        """
        x, y, z = _steps(np.floor(xyz / (width * (1 + 1e-9))))
        n_y = y.max(initial=0) + 3  # empty ones between the last and the first
        n_z = z.max(initial=0) + 3
        shifts = np.array([-1, 0, 1])
        rows = (shifts[:, None] * n_y + shifts).ravel() * n_z
        return cls((x * n_y + y) * n_z + z, rows)


def _steps(cells: np.ndarray) -> list[np.ndarray]:
    """Small whole numbers for cells, float64, (n, 3), along each axis.

    Neighbours stay neighbours, and gaps become short.
    """
    steps = []
    for along in cells.T:
        occupied, which = np.unique(along, return_inverse=True)
        step = np.minimum(np.diff(occupied, prepend=occupied[:1] - 1), 2)
        steps.append(np.cumsum(step).astype(np.int64)[which])
    return steps


def members(group: np.ndarray, n_groups: int) -> list[np.ndarray]:
    """The places of each group in `group`, int, (n,), in rising order.

    Negative numbers are of no group.
    """
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(n_groups + 1))
    return [order[start:end] for start, end in pairwise(ends.tolist())]


def smallest_distance(a: np.ndarray, b: np.ndarray) -> float:
    """Between any point of one set and any of the other. a : float64, shape (n, 3).

    b : shape (m, 3).
    """
    a, b = a - b[0], b - b[0]
    n_portions = 1 + len(a) * len(b) // PAIRS_AT_ONCE
    least = np.inf
    for part in np.array_split(a, min(n_portions, len(a))):
        squares = (part**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * part @ b.T
        least = min(least, squares.min())
    return float(np.sqrt(max(least, 0.0)))


def portions(sizes: np.ndarray) -> Iterator[np.ndarray]:
    """The places of `sizes` in portions of at most `PAIRS_AT_ONCE` in all, or one each."""
    start, ends = 0, np.cumsum(sizes)
    while start < len(sizes):
        before = ends[start] - sizes[start]
        stop = max(
            start + 1, int(np.searchsorted(ends, before + PAIRS_AT_ONCE, side="right"))
        )
        yield np.arange(start, stop)
        start = stop
