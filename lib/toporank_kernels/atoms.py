"""Surfaces and typed distances between atoms.

One file that needs no other: numba notices its changes.
"""

from __future__ import annotations

import numpy as np

from toporank_kernels.compilation import compiled


@compiled
def shared_surface(xyz, reach, group, wanted, near_start, near, sphere):
    """How the surfaces of atoms are shared out among their neighbours.

    Each point of a sphere around an atom goes to the ball that covers it deepest (the largest
    r² − d²), or is free.

    xyz : (A, 3). reach : (A,), radii with that of water. group : (A,). wanted : (w,), atoms.
    near_start : (w + 1,), near : the atoms near the wanted atom k are near[near_start[k] :
    near_start[k + 1]]. sphere : (n, 3), unit vectors. Returns areas (m,) of atom of[m] that atom
    by[m] covers, and free surface (w, 2): in the complex, and when atoms of other groups are taken
    away. Å².
    """
    of, by = np.empty(len(near), np.int64), np.empty(len(near), np.int64)
    area, free = np.empty(len(near)), np.zeros((len(wanted), 2))
    n_shared = 0
    most = 0
    for k in range(len(wanted)):
        most = max(most, near_start[k + 1] - near_start[k])
    points, n = np.zeros(most, np.int64), len(sphere)
    px, py, pz = sphere[:, 0].copy(), sphere[:, 1].copy(), sphere[:, 2].copy()
    best, deepest, deepest_own = np.empty(n, np.int64), np.empty(n), np.empty(n)
    for k in range(len(wanted)):
        a = wanted[k]
        first, count = near_start[k], near_start[k + 1] - near_start[k]
        best[:], deepest[:], deepest_own[:] = -1, 0.0, 0.0
        for m in range(
            count
        ):  # point p is in ball b when |r p - d|² < R², that is when 2 r p·d > r² + d² - R²
            b = near[first + m]
            dx, dy, dz = (
                xyz[b, 0] - xyz[a, 0],
                xyz[b, 1] - xyz[a, 1],
                xyz[b, 2] - xyz[a, 2],
            )
            square = dx * dx + dy * dy + dz * dz
            limit = (reach[a] * reach[a] + square - reach[b] * reach[b]) / (
                2 * reach[a]
            )
            if limit * limit >= square and limit > 0.0:
                continue  # they do not overlap
            is_same = group[b] == group[a]
            # without branches, so that several points are done at once
            for p in range(n):
                depth = px[p] * dx + py[p] * dy + pz[p] * dz - limit
                best[p] = m if depth > deepest[p] else best[p]
                deepest[p] = depth if depth > deepest[p] else deepest[p]
                deepest_own[p] = (
                    depth if is_same and depth > deepest_own[p] else deepest_own[p]
                )
        points[:count] = 0
        each = 4 * np.pi * reach[a] * reach[a] / n
        for p in range(n):
            if best[p] >= 0:
                points[best[p]] += 1
            else:
                free[k, 0] += each
            if deepest_own[p] <= 0.0:
                free[k, 1] += each
        for m in range(count):
            if points[m]:
                of[n_shared], by[n_shared], area[n_shared] = (
                    a,
                    near[first + m],
                    points[m] * each,
                )
                n_shared += 1
    return of[:n_shared], by[:n_shared], area[:n_shared], free


@compiled
def near_atoms(
    xyz, start, wanted, ball_of, residues, counts, centre, radius, cutoff, cell, rows
):
    """The atoms, of `residues` that count, within `cutoff` of each wanted atom but itself.

    start : (R + 1,), the atoms of residue r. ball_of : (w,), the place in `residues` of each wanted
    atom's; atoms of one residue stand together. counts : (n,), bool. centre : (n, 3) and radius :
    (n,), balls around residues' atoms. cell : (n,), the number of the cube that each centre is in,
    and rows : (9,), see `neighbours.Cubes`; cubes are as wide as two balls and the cutoff. Returns
    near_start (w + 1,) and near.
    """
    near_start = np.zeros(len(wanted) + 1, np.int64)
    near = np.empty(64 * len(wanted) + 64, np.int64)
    order = np.argsort(cell, kind="mergesort")
    key, around = cell[order], np.empty(len(cell), np.int64)
    n_near, ball, candidates = 0, -1, 0
    for k in range(len(wanted)):
        a = wanted[k]
        x, y, z = xyz[a, 0], xyz[a, 1], xyz[a, 2]
        if ball_of[k] != ball:
            ball, candidates = ball_of[k], 0
            for row in rows:
                first = np.searchsorted(key, cell[ball] + row - 1)
                for s in range(first, len(key)):
                    if key[s] > cell[ball] + row + 1:
                        break
                    n, square = order[s], 0.0
                    for axis in range(3):
                        square += (centre[n, axis] - centre[ball, axis]) ** 2
                    far = cutoff + radius[n] + radius[ball] + 1e-6
                    if counts[n] and square <= far * far:
                        around[candidates] = n
                        candidates += 1
            around[:candidates] = np.sort(around[:candidates])
        for c in range(candidates):
            n = around[c]
            far = cutoff + radius[n]
            if (centre[n, 0] - x) ** 2 + (centre[n, 1] - y) ** 2 + (
                centre[n, 2] - z
            ) ** 2 > far * far:
                continue
            r = residues[n]
            for b in range(start[r], start[r + 1]):
                square = (
                    (xyz[b, 0] - x) ** 2 + (xyz[b, 1] - y) ** 2 + (xyz[b, 2] - z) ** 2
                )
                if b != a and square < cutoff * cutoff and square > 1e-4:
                    if n_near == len(near):
                        longer = np.empty(2 * len(near), np.int64)
                        longer[:n_near] = near
                        near = longer
                    near[n_near] = b
                    n_near += 1
        near_start[k + 1] = n_near
    return near_start, near[:n_near]


@compiled
def typed_distances(xyz, types, start, pairs, limits, energy, ranges, classes):
    """Count the atom distances of pairs of residues by bin; sum energies and count contacts.

    types : (A,), -1 for atoms that do not count. pairs : (P, 2). limits : (B + 1,), rising; bin b
    is [limits[b], limits[b + 1]). energy : (T, T, B). ranges : (B,), the range that the energy of a
    bin belongs to. classes : (C, T, T), Å below which a pair of types counts for a class. Returns
    counts (P, B), energies (P, G), contacts (P, C), nearest (P,).
    """
    bins, n_ranges, n_classes = len(limits) - 1, ranges.max() + 1, len(classes)
    counts, energies = np.zeros((len(pairs), bins)), np.zeros((len(pairs), n_ranges))
    contacts, nearest = np.zeros((len(pairs), n_classes)), np.full(len(pairs), np.inf)
    farthest = limits[bins] * limits[bins]
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        for a in range(start[i], start[i + 1]):
            if types[a] < 0:
                continue
            x, y, z = xyz[a, 0], xyz[a, 1], xyz[a, 2]
            for b in range(start[j], start[j + 1]):
                if types[b] < 0:
                    continue
                square = (
                    (x - xyz[b, 0]) ** 2 + (y - xyz[b, 1]) ** 2 + (z - xyz[b, 2]) ** 2
                )
                if square < nearest[p]:
                    nearest[p] = square
                if square < farthest:
                    distance = np.sqrt(square)
                    place = 0
                    while distance >= limits[place + 1]:
                        place += 1
                    counts[p, place] += 1.0
                    energies[p, ranges[place]] += energy[types[a], types[b], place]
                    for c in range(n_classes):
                        if distance < classes[c, types[a], types[b]]:
                            contacts[p, c] += 1.0
    return counts, energies, contacts, np.sqrt(nearest)


@compiled
def count_distances(xyz, start, pairs, limits):
    """Counts of atom–atom distances in each bin, of pairs of residues: (P, B).

    xyz: (A, 3). start: (R + 1,), the atoms of residue r are start[r] to start[r + 1]. pairs: (P,
    2). limits: (B + 1,), rising; bin b is [limits[b], limits[b + 1]).
    """
    bins = len(limits) - 1
    counts = np.zeros((len(pairs), bins))
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        for a in range(start[i], start[i + 1]):
            x, y, z = xyz[a, 0], xyz[a, 1], xyz[a, 2]
            for b in range(start[j], start[j + 1]):
                distance = np.sqrt(
                    (x - xyz[b, 0]) ** 2 + (y - xyz[b, 1]) ** 2 + (z - xyz[b, 2]) ** 2
                )
                if limits[0] <= distance < limits[bins]:
                    place = 0
                    while distance >= limits[place + 1]:
                        place += 1
                    counts[p, place] += 1.0
    return counts
