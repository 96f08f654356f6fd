"""The pickles in which AlphaFold 2 keeps its results, read without unpickling: plain values and NumPy arrays only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from toporank.errors import ConfidenceError
from toporank.files.torch_pickles import DamagedFileError, Global, Instance, load

MOST_BYTES = 1 << 30
NUMPY = {
    Global(package + name, function)
    for package in ("numpy.core.", "numpy._core.")
    for name, function in (("multiarray", "_reconstruct"), ("multiarray", "scalar"))
}
DTYPE, NDARRAY = Global("numpy", "dtype"), Global("numpy", "ndarray")
KINDS = {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"}
"""Types of numbers that are read."""


def read_pickle(content: bytes) -> dict[str, Any]:
    """What a pickled dictionary holds, arrays and numbers as NumPy arrays; other values are left out.

    Raises ConfidenceError, also where the pickle names anything but NumPy arrays, such as those of JAX.
    """
    try:
        found = load(content, NUMPY | {DTYPE, NDARRAY}, longest=MOST_BYTES)
    except DamagedFileError as error:
        remedy = "AlphaFold 2.3.2 and later write JSON files that are read"
        raise ConfidenceError(f"it is not read: {error}", remedy=remedy) from error
    if not isinstance(found, dict):
        raise ConfidenceError("it holds no values by name", remedy="is it the right file?")
    values = {name: _value(value) for name, value in found.items() if isinstance(name, str)}
    return {name: value for name, value in values.items() if value is not None}


def _value(found: Any) -> np.ndarray | float | None:
    if isinstance(found, int | float):
        return found
    if not isinstance(found, Instance) or found.kind not in NUMPY:
        return None
    if found.kind.name == "scalar":
        return _numbers(*found.arguments, ()) if len(found.arguments) == 2 else None
    if not isinstance(found.state, tuple) or len(found.state) != 5:
        return None
    _, shape, kind, by_column, content = found.state
    values = _numbers(kind, content, shape[::-1] if by_column else shape)
    return values.T if by_column and values is not None else values


def _numbers(kind: Any, content: Any, shape: Any) -> np.ndarray | None:
    """Numbers of a type and shape from their bytes; None of another type. Raises ConfidenceError."""
    name = kind.arguments[0] if isinstance(kind, Instance) and kind.kind == DTYPE and kind.arguments else None
    if type(name) is not str or name not in KINDS:
        return None
    about = kind.state if isinstance(kind.state, tuple) else ()
    dtype = np.dtype((">" if about[1:2] == (">",) else "<") + name)
    whole = isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
    if not whole or type(content) is not bytes or math.prod(shape) * dtype.itemsize != len(content):
        raise ConfidenceError("an array does not have the numbers that its shape asks for")
    return np.frombuffer(content, dtype).reshape(shape)
