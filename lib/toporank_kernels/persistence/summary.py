"""Statistics of the bars of many clouds, for several sets of elements each.

Sets share work: the set CN starts from a copy of the finished triangulation of C and inserts only
N.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from toporank_kernels.compilation import compiled
from toporank_kernels.persistence.clouds import (
    LARGEST,
    balls,
    gather,
    persist,
    room_for,
    work_space,
)
from toporank_kernels.persistence.delaunay import copy_mesh, new_mesh, triangulate
from toporank_kernels.persistence.pairing import spanning_tree

STATISTICS = 5
"""sum, min, max, mean, population standard deviation."""


@compiled
def _statistics(values, count, out):
    """sum, min, max, mean and population standard deviation of the first `count` values.

    They are zeros if there are no values.
    """
    out[:] = 0.0
    if count == 0:
        return
    least, most, total = values[0], values[0], 0.0
    for m in range(count):
        least, most, total = (
            min(least, values[m]),
            max(most, values[m]),
            total + values[m],
        )
    mean, square = total / count, 0.0
    for m in range(count):
        square += (values[m] - mean) ** 2
    out[0], out[1], out[2], out[3], out[4] = (
        total,
        least,
        most,
        mean,
        np.sqrt(square / count),
    )


@compiled
def _describe_deaths(deaths, count, max_death, min_persistence, out):
    """Statistics of the H0 deaths within limits; `deaths` is overwritten. out: (5,)."""
    n_bars = 0
    for m in range(count):
        if min_persistence <= deaths[m] <= max_death:
            deaths[n_bars] = deaths[m]
            n_bars += 1
    _statistics(deaths, n_bars, out)


@compiled
def describe_bars(bars, count, min_persistence, column, out):
    """Statistics of length, birth and death of the H1 bars.

    column : work space, (count,). out : (15,).
    """
    for quantity in range(3):
        n_bars = 0
        for m in range(count):
            length = bars[m, 1] - bars[m, 0]
            if length >= min_persistence:
                column[n_bars] = length if quantity == 0 else bars[m, quantity - 1]
                n_bars += 1
        _statistics(
            column, n_bars, out[STATISTICS * quantity : STATISTICS * (quantity + 1)]
        )


@compiled
def _ancestor(wanted, s, counts, sure):
    """The finished set with most points among those before s whose kinds s includes.

    It is -1 if no set qualifies.
    """
    best = -1
    for q in range(s):
        if sure[q] and counts[q] >= 4 and (best < 0 or counts[q] > counts[best]):
            inside = True
            for kind in range(wanted.shape[1]):
                inside &= wanted[s, kind] or not wanted[q, kind]
            if inside:
                best = q
    return best


@compiled
def _choose(kinds, count, wanted, s, ancestor, chosen):
    """List the points of set s, those of its ancestor first.

    Returns how many are the ancestor's, and all.
    """
    done = total = 0
    for first in (True, False):
        for m in range(count):
            old = ancestor >= 0 and wanted[ancestor, kinds[m]]
            if old == first and wanted[s, kinds[m]]:
                chosen[total] = m
                total += 1
        if first:
            done = total
    return done, total


@compiled
def describe(xyz, kind, wanted, start, member, max_death, min_persistence):
    """Statistics of H0 and H1 of every cloud, for several sets of kinds of points at once.

    Parameters
    ----------
    xyz : float64, shape (A, 3), coordinates in Å
    kind : int, shape (A,), kind (element) of each atom, 0 … K - 1, or -1 for atoms of no use
    wanted : bool, shape (S, K), the kinds in each set; later sets reuse earlier ones that they
        include
    start, member : int, shapes (R + 1,) and (M,): the atoms of cloud r are member[start[r]:start[r
        + 1]]
    max_death, min_persistence : limits on the bars, Å for H0 and Å² for H1, as in the features

    Returns
    -------
    values : float64, shape (R, 20 S): 5 columns of H0 for each set, then 15 of H1 (length, birth,
        death)
    sure : bool, shape (R, S): False where the cloud is degenerate; its H1 columns are then NaN, H0
        is right
    """
    sets, clouds = len(wanted), len(start) - 1
    values, sure = (
        np.empty((clouds, 4 * STATISTICS * sets)),
        np.ones((clouds, sets), np.bool_),
    )
    largest = 4
    for r in range(clouds):
        largest = max(largest, start[r + 1] - start[r])
    limit = min(largest, LARGEST)
    scratch, filtration, loops = work_space(limit)
    meshes = [new_mesh(room_for(limit))]
    # not a comprehension: numba 0.68 then loses writes to fields of the namedtuples
    for _ in range(1, sets):
        meshes.append(new_mesh(room_for(limit)))
    raw, points, column = (
        np.empty((largest, 3)),
        np.empty((largest, 4)),
        np.empty(len(filtration.ends)),
    )
    kinds, counts, deaths = (
        np.empty(largest, np.int64),
        np.zeros(sets, np.int64),
        np.empty(largest),
    )
    chosen, members = np.empty(largest, np.int64), np.empty(largest, np.int64)
    for r in range(clouds):
        count = 0
        for m in range(start[r], start[r + 1]):
            if kind[member[m]] >= 0:
                members[count], kinds[count] = member[m], kind[member[m]]
                count += 1
        extent = gather(xyz, members, count, raw, points)
        for s in range(sets):
            ancestor = _ancestor(wanted, s, counts, sure[r])
            done, counts[s] = _choose(kinds, count, wanted, s, ancestor, chosen)
            h0 = values[r, STATISTICS * s : STATISTICS * (s + 1)]
            h1 = values[
                r, STATISTICS * (sets + 3 * s) : STATISTICS * (sets + 3 * s + 3)
            ]
            is_sure = counts[s] >= 4 and count <= limit
            if is_sure:
                if ancestor >= 0:
                    copy_mesh(meshes[ancestor], meshes[s])
                is_sure = triangulate(
                    meshes[s],
                    scratch,
                    points,
                    raw,
                    chosen,
                    done,
                    counts[s],
                    limit,
                    extent,
                ) and persist(meshes[s], scratch, raw, limit, filtration, loops)
            if is_sure:
                _describe_deaths(
                    loops.deaths, loops.tally[1], max_death, min_persistence, h0
                )
                describe_bars(loops.bars, loops.tally[0], min_persistence, column, h1)
            else:
                spanning_tree(raw, chosen, counts[s], deaths)
                _describe_deaths(
                    deaths, max(counts[s] - 1, 0), max_death, min_persistence, h0
                )
                sure[r, s] = counts[s] < 4
                h1[:] = 0.0 if sure[r, s] else np.nan
    return values, sure


@functools.cache
def _prepare() -> None:
    """Compile, or load, what `describe_clouds` and `balls` call, with the types they use."""
    points = np.zeros((4, 3))
    start, member = balls(points, points[:1], 1.0)
    values, _ = describe(
        points, np.zeros(4, np.int64), np.ones((1, 1), bool), start, member, 1.0, 0.0
    )
    describe_bars(np.zeros((0, 2)), 0, 0.0, np.empty(0), values[0, STATISTICS:])


def members_of_balls(
    xyz: np.ndarray, centres: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """Points within `radius` (inclusive) of each centre, as `balls` gives them.

    start : (R + 1,). member : (M,).
    """
    _prepare()
    return balls(_floats(xyz), _floats(centres), float(radius))


def describe_clouds(
    xyz: np.ndarray,
    elements: np.ndarray,
    element_sets: tuple[str, ...],
    start: np.ndarray,
    member: np.ndarray,
    *,
    max_death: float,
    min_persistence: float,
    in_doubt: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Persistence statistics of all clouds for all element sets.

    xyz: float64 (A, 3); elements: one-letter bytes (A,); start, member and the limits: see
    `describe`; in_doubt: gives the H1 bars (birth, death), (m, 2), of the points, (n, 3), of a
    degenerate cloud. Returns float64 (R, 20 S), the columns in the order of `describe`, and bool
    (R, S), False for the clouds that were given to `in_doubt`.
    """
    _prepare()
    letters = sorted(set("".join(element_sets)))
    kind = np.full(len(xyz), -1, np.int64)
    for k, letter in enumerate(letters):
        kind[elements == letter.encode()] = k
    wanted = np.array(
        [np.isin(letters, list(letters_of_set)) for letters_of_set in element_sets]
    )
    # so that a set comes after those it includes
    order = np.argsort(wanted.sum(1), kind="stable")
    limits = float(max_death), float(min_persistence)
    values, sure = describe(_floats(xyz), kind, wanted[order], start, member, *limits)
    sets = len(element_sets)
    h0 = values[:, : STATISTICS * sets].reshape(-1, sets, STATISTICS)
    h1 = values[:, STATISTICS * sets :].reshape(-1, sets, 3 * STATISTICS)
    for r, s in np.argwhere(~sure):
        atoms = member[start[r] : start[r + 1]]
        atoms = atoms[(kind[atoms] >= 0) & wanted[order[s]][kind[atoms]]]
        bars = _floats(in_doubt(xyz[atoms]))
        describe_bars(bars, len(bars), limits[1], np.empty(len(bars)), h1[r, s])
    back = np.argsort(order)
    halves = [
        half[:, back].reshape(len(half), sets * half.shape[2]) for half in (h0, h1)
    ]
    return np.concatenate(halves, axis=1), sure[:, back]


def _floats(values: np.ndarray) -> np.ndarray:
    """The values as the one type of array that was compiled for: float64, contiguous, writable."""
    return np.require(values, np.float64, ["C", "W"])
