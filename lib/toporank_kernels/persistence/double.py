"""Arithmetic with twice the digits: a number is a pair of floats (rounded, rest).

Dekker 1971, doi:10.1007/BF01397083; the error of a sum is that of Knuth (The Art of Computer
Programming 2, 4.2.2).
"""

from __future__ import annotations

from toporank_kernels.compilation import compiled, inlined


@inlined
def _two_sum(a, b):
    """Sum of two floats as a pair (rounded, rest)."""
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


@inlined
def _split(a):
    """A float as the sum of two with half as many digits."""
    v = 134217729.0 * a
    high = v - (v - a)
    return high, a - high


@inlined
def sum2(x, y):
    """Sum of two pairs, with relative error 2⁻¹⁰⁴ (of the sum of magnitudes)."""
    s, e = _two_sum(x[0], y[0])
    e += x[1] + y[1]
    high = s + e
    return high, e - (high - s)


@inlined
def times2(x, y):
    """Product of two pairs, with relative error 2⁻¹⁰²."""
    p = x[0] * y[0]
    (a, b), (c, d) = _split(x[0]), _split(y[0])
    e = ((a * c - p) + a * d + b * c) + b * d + (x[0] * y[1] + x[1] * y[0])
    high = p + e
    return high, e - (high - p)


@inlined
def minor2(a, b, c, d):
    """a · b - c · d of pairs."""
    e = times2(c, d)
    return sum2(times2(a, b), (-e[0], -e[1]))


@compiled
def cross2(a, b):
    """Cross product of two vectors of pairs."""
    return (
        minor2(a[1], b[2], a[2], b[1]),
        minor2(a[2], b[0], a[0], b[2]),
        minor2(a[0], b[1], a[1], b[0]),
    )


@compiled
def dot2(a, b):
    """Scalar product of two vectors of pairs."""
    return sum2(sum2(times2(a[0], b[0]), times2(a[1], b[1])), times2(a[2], b[2]))


@compiled
def from2(raw, i, j):
    """Vector of pairs from point i to point j: exact."""
    return (
        _two_sum(raw[j, 0], -raw[i, 0]),
        _two_sum(raw[j, 1], -raw[i, 1]),
        _two_sum(raw[j, 2], -raw[i, 2]),
    )
