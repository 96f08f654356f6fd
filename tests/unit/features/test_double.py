"""Arithmetic with twice the digits, against fractions."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from toporank.features.persistence.double import cross2, dot2

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-6)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)


def pairs(vector: tuple[float, ...]) -> tuple[tuple[float, float], ...]:
    return tuple((x, 0.0) for x in vector)


def exactly(pair: tuple[float, float]) -> Fraction:
    return Fraction(pair[0]) + Fraction(pair[1])


@settings(max_examples=100)
@given(VECTORS, VECTORS)
def test_products_of_vectors_have_twice_the_digits(a, b):
    (x, y, z), (u, v, w) = (tuple(map(Fraction, vector)) for vector in (a, b))
    terms = [x * u, y * v, z * w]
    assert abs(exactly(dot2(pairs(a), pairs(b))) - sum(terms)) <= sum(map(abs, terms)) * Fraction(
        1, 2**98
    )
    crossed = [(y * w, z * v), (z * u, x * w), (x * v, y * u)]
    for found, (first, second) in zip(cross2(pairs(a), pairs(b)), crossed, strict=True):
        assert abs(exactly(found) - (first - second)) <= (abs(first) + abs(second)) * Fraction(
            1, 2**98
        )
