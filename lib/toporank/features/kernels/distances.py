"""Distances between the atoms of two residues. One file that needs no other: numba notices its changes."""

from __future__ import annotations

import numpy as np

from toporank.compilation import compiled


@compiled
def count_distances(xyz, start, pairs, limits):
    """Counts of atom–atom distances in each bin, of pairs of residues: (P, B).

    xyz: (A, 3). start: (R + 1,), the atoms of residue r are start[r] to start[r + 1]. pairs: (P, 2). limits:
    (B + 1,), rising; bin b is [limits[b], limits[b + 1]).
    """
    bins = len(limits) - 1
    counts = np.zeros((len(pairs), bins))
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        for a in range(start[i], start[i + 1]):
            x, y, z = xyz[a, 0], xyz[a, 1], xyz[a, 2]
            for b in range(start[j], start[j + 1]):
                distance = np.sqrt((x - xyz[b, 0]) ** 2 + (y - xyz[b, 1]) ** 2 + (z - xyz[b, 2]) ** 2)
                if limits[0] <= distance < limits[bins]:
                    place = 0
                    while distance >= limits[place + 1]:
                        place += 1
                    counts[p, place] += 1.0
    return counts
