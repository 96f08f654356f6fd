"""Elementwise work of networks that pass messages. One file that needs no other: numba notices its changes."""

from __future__ import annotations

import functools

import numpy as np

from toporank.compilation import compiled, inlined

reordered = functools.partial(compiled, fastmath={"reassoc", "contract"})
"""Sums of a row may be taken in any order, so that several numbers are added at once."""
END, STEPS = 6.0, 512
"""The integral of the Gaussian is tabulated from -`END` to `END`, at so many points per unit: right to 1.3e-7."""


def gaussian_integral():
    """The integral of the standard normal density up to each tabulated point; float32, (12 * `STEPS` + 2,)."""
    from scipy.special import ndtr  # slow to import

    return ndtr(np.arange(-END, END + 1.5 / STEPS, 1 / STEPS)).astype(np.float32)


@inlined
def _gelu(value, table):
    at = (min(max(value, np.float32(-END)), np.float32(END)) + np.float32(END)) * np.float32(STEPS)
    low = np.int32(at)
    return value * (table[low] + (at - np.float32(low)) * (table[low + 1] - table[low]))


@compiled
def activate(x, bias, table):
    """GELU of x + bias, in the place of x: float32, (n, m). bias : (m,). table : of `gaussian_integral`."""
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            x[row, column] = _gelu(x[row, column] + bias[column], table)


@compiled
def join(x, own, neighbour, near, table):
    """GELU of the sum of what an edge, its node and its neighbour give, in the place of x.

    x : float32, (r * k, m), of edges. own : (r, m). neighbour : (n, m). near : int, (r, k). table : of
    `gaussian_integral`.
    """
    count = near.shape[1]
    for row in range(x.shape[0]):
        node, other = row // count, near[row // count, row % count]
        for column in range(x.shape[1]):
            x[row, column] = _gelu(x[row, column] + own[node, column] + neighbour[other, column], table)


@reordered
def normalise_rows(x, scale, shift):
    """Give each row mean 0 and variance 1, then scale and shift it, in the place of x: float32, (n, m).

    scale, shift : (m,). 1e-5 is added to the variance, as PyTorch does.
    """
    for row in range(x.shape[0]):
        mean, square = np.float32(0), np.float32(0)
        for column in range(x.shape[1]):
            mean += x[row, column]
        mean /= np.float32(x.shape[1])
        for column in range(x.shape[1]):
            square += (x[row, column] - mean) * (x[row, column] - mean)
        factor = np.float32(1) / np.sqrt(square / np.float32(x.shape[1]) + np.float32(1e-5))
        for column in range(x.shape[1]):
            x[row, column] = (x[row, column] - mean) * factor * scale[column] + shift[column]
