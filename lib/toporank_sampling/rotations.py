"""Rotations to dock with: spread evenly over all of them, or near the native orientation.

Matrices, (n, 3, 3).
"""

from __future__ import annotations

import numpy as np

PHI, PSI = np.sqrt(2.0), 1.533751168755204288118041
"""Constants of the spiral; PSI is the positive root of ψ⁴ = ψ + 4."""


def even(n: int, rng: np.random.Generator) -> np.ndarray:
    """`n` rotations spread evenly, turned at random as a whole.

    They form a super-Fibonacci spiral of quaternions.

    Alexa 2022, doi:10.1109/CVPR52688.2022.00811.
    """
    s = np.arange(n) + 0.5
    inner, outer = np.sqrt(s / n), np.sqrt(1 - s / n)
    alpha, beta = 2 * np.pi * s / PHI, 2 * np.pi * s / PSI
    ring = inner * [np.sin(alpha), np.cos(alpha)]
    other_ring = outer * [np.sin(beta), np.cos(beta)]
    return of_quaternions(np.vstack([ring, other_ring]).T) @ uniform(rng)


def uniform(rng: np.random.Generator) -> np.ndarray:
    """One rotation, (3, 3), any as likely as any other."""
    return of_quaternions(rng.normal(size=(1, 4)))[0]


def near(n: int, largest: float, rng: np.random.Generator) -> np.ndarray:
    """`n` rotations by at most `largest` degrees, about evenly dense up to 60°."""
    axis = rng.normal(size=(n, 3))
    half = np.radians(largest) / 2 * np.cbrt(rng.random((n, 1)))
    axis *= np.sin(half) / np.linalg.norm(axis, axis=1, keepdims=True)
    return of_quaternions(np.hstack([np.cos(half), axis]))


def of_quaternions(quaternions: np.ndarray) -> np.ndarray:
    """Rotations of quaternions (w, x, y, z), shape (n, 4), of any length but 0."""
    w, x, y, z = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)
