"""Bars of one cloud from beginning to end, and which points make up a cloud."""

from __future__ import annotations

import numpy as np

from toporank_kernels.compilation import compiled
from toporank_kernels.persistence.alpha import (
    Filtration,
    face_values,
    solid_radii,
    sort_by_value,
)
from toporank_kernels.persistence.delaunay import Scratch
from toporank_kernels.persistence.pairing import Loops, pair_up

LARGEST = 2000
"""Points of the largest cloud worked out here: the table of point pairs grows with the square."""


@compiled
def room_for(count):
    """Tetrahedra to make room for.

    A triangulation of `count` points in general position has about 7 each.
    """
    return 12 * count + 64


@compiled
def work_space(count):
    """Scratch, Filtration and Loops for clouds of up to `count` points."""
    room = room_for(count)
    words = 1 + count // 128
    edges, triangles = (
        room + count + 2,
        2 * room,
    )  # Euler: edges = tetrahedra + points, on the sphere
    scratch = Scratch(
        np.empty(room),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty((count + 1) * (count + 1), np.int32),
    )
    filtration = Filtration(
        np.empty(room),
        np.empty(room, np.uint8),
        np.empty((edges, 2), np.int32),
        np.empty(edges),
        np.empty(edges),
        np.empty((edges, 2), np.int32),
        np.empty((triangles, 3), np.int32),
        np.empty(triangles),
        np.empty((2, edges + triangles)),
        np.empty((2, edges + triangles), np.int32),
        np.zeros(2, np.int64),
    )
    loops = Loops(
        np.empty((words, edges + 1), np.uint64),
        np.empty(edges, np.int32),
        np.empty(count + 1, np.int32),
        np.empty(64 * words, np.int64),
        np.empty(64 * words),
        np.empty((edges, 2)),
        np.empty(count + 1),
        np.zeros(2, np.int64),
    )
    return scratch, filtration, loops


@compiled
def gather(xyz, members, count, raw, points):
    """Write members to `raw`, (count, 3), and centred with squared norms to `points`, (count, 4).

    Returns the extent, the longest side of their box. Signs are worked out on the centred points,
    whose small size keeps error bounds small; values on the raw ones, whose differences are better
    known.
    """
    extent = 0.0
    for axis in range(3):
        low, high = np.inf, -np.inf
        for m in range(count):
            raw[m, axis] = xyz[members[m], axis]
            low, high = min(low, raw[m, axis]), max(high, raw[m, axis])
        extent = max(extent, high - low)
        for m in range(count):
            points[m, axis] = raw[m, axis] - 0.5 * (low + high)
    for m in range(count):
        points[m, 3] = points[m, 0] ** 2 + points[m, 1] ** 2 + points[m, 2] ** 2
    return extent


@compiled
def persist(mesh, scratch, raw, infinity, filtration, loops):
    """Bars and deaths of a triangulated cloud, into `loops`. False if a value is in doubt."""
    if not solid_radii(mesh, raw, infinity, filtration) or not face_values(
        mesh, scratch, raw, infinity, filtration
    ):
        return False
    sort_by_value(filtration)
    return pair_up(filtration, loops)


@compiled
def balls(xyz, centres, radius):
    """Points within `radius` (inclusive) of each centre, by plain search.

    xyz: (A, 3), centres: (R, 3). Returns start (R + 1,) and member (M,): the points of ball r, in
    rising order, are member[start[r]:start[r + 1]].
    """
    start = np.zeros(len(centres) + 1, np.int64)
    member = np.empty(128 * len(centres) + len(xyz), np.int64)
    x, y, z = xyz[:, 0].copy(), xyz[:, 1].copy(), xyz[:, 2].copy()
    square, total = np.empty(len(xyz)), 0
    for r in range(len(centres)):
        cx, cy, cz = centres[r, 0], centres[r, 1], centres[r, 2]
        for a in range(len(x)):  # no branches: runs several points at a time
            square[a] = (x[a] - cx) ** 2 + (y[a] - cy) ** 2 + (z[a] - cz) ** 2
        if total + len(x) > len(member):
            more = np.empty(2 * len(member) + len(x), np.int64)
            more[:total] = member[:total]
            member = more
        for a in range(len(x)):
            if square[a] <= radius * radius:
                member[total] = a
                total += 1
        start[r + 1] = total
    return start, member[:total]
