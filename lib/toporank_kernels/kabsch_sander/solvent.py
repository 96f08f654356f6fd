"""Accessible surface of residues by points on spheres (Shrake & Rupley 1973).

The radii are those of Kabsch & Sander.
"""

from __future__ import annotations

import numpy as np

from toporank_kernels.compilation import compiled, inlined

PROBE = 1.4
"""Å, the radius of water."""
RADII = {b"N": 1.65, b"CA": 1.87, b"C": 1.76, b"O": 1.40}
"""Å, of backbone atoms by name."""
SIDE_CHAIN = 1.80
"""Å, the radius of every other atom."""
SAME_PLACE = 1e-4
"""Å², the squared distance up to which atoms do not cover each other: an atom itself, and twins
laid over it.
"""
HALF = 200
POINTS = 2 * HALF + 1


def fibonacci_sphere() -> np.ndarray:
    """`POINTS` unit vectors spread evenly over a sphere, shape (`POINTS`, 3)."""
    # Point i lies at latitude arcsin(2i / n) and longitude 2πi / Φ with the golden ratio Φ, so that
    # each point has the same area of the sphere and none lies below another (González 2010, Math.
    # Geosci. 42:49). mkdssp does the same.
    golden_ratio = (1 + np.sqrt(5)) / 2
    i = np.arange(-HALF, HALF + 1)
    latitude = np.arcsin(2 * i / POINTS)
    longitude = np.fmod(i, golden_ratio) * 2 * np.pi / golden_ratio
    x = np.sin(longitude) * np.cos(latitude)
    y = np.cos(longitude) * np.cos(latitude)
    return np.ascontiguousarray(np.stack([x, y, np.sin(latitude)], axis=1))


@inlined
def _square(a, b):
    """Squared distance."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2


@compiled
def _bounds(xyz, reach, start):
    """A ball around each residue and its atoms with water: centre and radius, shape (n, 4)."""
    balls = np.zeros((len(start) - 1, 4))
    for r in range(len(balls)):
        atoms = xyz[start[r] : start[r + 1]]
        for axis in range(3):
            balls[r, axis] = 0.5 * (atoms[:, axis].min() + atoms[:, axis].max())
        for a in range(start[r], start[r + 1]):
            balls[r, 3] = max(
                balls[r, 3], np.sqrt(_square(xyz[a], balls[r])) + reach[a]
            )
    return balls


@compiled
def _free_points(centre, reach, sphere, near, count):
    """How many points of a sphere of radius `reach` are in none of the balls near[:count].

    A ball is its centre and its squared radius.
    """
    free, last = 0, 0
    for p in range(len(sphere)):
        x, y, z = (
            centre[0] + reach * sphere[p, 0],
            centre[1] + reach * sphere[p, 1],
            centre[2] + reach * sphere[p, 2],
        )
        covered = False
        for k in range(count):  # the ball that covered the point before comes first
            b = last + k if last + k < count else last + k - count
            if (near[b, 0] - x) ** 2 + (near[b, 1] - y) ** 2 + (
                near[b, 2] - z
            ) ** 2 < near[b, 3]:
                covered, last = True, b
                break
        free += not covered
    return free


@compiled
def accessible_surface(xyz, reach, start, wanted, sphere):
    """Accessible surface in Å² of the wanted residues, shape (w,).

    xyz : float64, shape (A, 3), atoms in Å. reach : float64, shape (A,), their radii with that of
    water. start : int, shape (n + 1,), the atoms of residue r are start[r] to start[r + 1], at
    least one. wanted : int, shape (w,).
    """
    balls, area = _bounds(xyz, reach, start), np.zeros(len(wanted))
    close, near = np.empty(len(balls), np.int64), np.empty((len(xyz), 4))
    for w in range(len(wanted)):
        r, closes = wanted[w], 0
        # Only residues whose balls overlap can cover an atom of this one.
        for q in range(len(balls)):
            sum_ = balls[q, 3] + balls[r, 3]
            if _square(balls[q], balls[r]) < sum_ * sum_:
                close[closes] = q
                closes += 1
        for a in range(start[r], start[r + 1]):
            count = 0
            for k in range(closes):
                for b in range(start[close[k]], start[close[k] + 1]):
                    if (
                        SAME_PLACE
                        < _square(xyz[a], xyz[b])
                        < (reach[a] + reach[b]) ** 2
                    ):
                        near[count, 0], near[count, 1], near[count, 2] = (
                            xyz[b, 0],
                            xyz[b, 1],
                            xyz[b, 2],
                        )
                        near[count, 3] = reach[b] ** 2
                        count += 1
            free = _free_points(xyz[a], reach[a], sphere, near, count)
            # A = 4π (r + r_water)² · share of the points that water can touch (Shrake & Rupley
            # 1973).
            area[w] += 4 * np.pi * reach[a] ** 2 * free / len(sphere)
    return area
