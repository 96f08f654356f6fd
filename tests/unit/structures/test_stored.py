"""A complex as bytes: everything comes back exactly, and equal atoms are known as equal."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from toporank.structures.complex import Complex
from toporank.structures.read import read_complex
from toporank.structures.stored import from_bytes, to_bytes

EXAMPLES = [
    "1AVZ/near1.pdb.gz",
    "1AVZ/mid1.cif.gz",
    "1GCQ/mid4.cif",
    "1KTZ/mid2.ent.gz",
]


def same(one: Complex, other: Complex) -> bool:
    pairs = [
        (getattr(one, field.name), getattr(other, field.name))
        for field in fields(Complex)
    ]
    return all(
        np.array_equal(a, b) and a.dtype == b.dtype
        if isinstance(a, np.ndarray)
        else a == b
        for a, b in pairs
    )


@pytest.fixture(params=EXAMPLES)
def complex_(request, example) -> Complex:
    return read_complex(example / "decoys" / request.param)


def test_everything_comes_back_exactly(complex_):
    content = to_bytes(complex_)
    assert same(from_bytes(content), complex_)
    assert to_bytes(from_bytes(content)) == content


@pytest.mark.parametrize("odd", [1 / 3, 1e-9, 2_200_000.0, np.float64("nan")])
def test_coordinates_that_are_no_thousandths_come_back_exactly_too(complex_, odd):
    xyz = complex_.xyz.copy()
    xyz[5, 1] = odd
    other = replace(complex_, xyz=xyz)
    assert np.array_equal(from_bytes(to_bytes(other)).xyz, xyz, equal_nan=True)
