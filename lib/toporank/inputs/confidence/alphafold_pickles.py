"""The pickles in which AlphaFold 2 keeps its results: plain values and NumPy arrays only, nothing from them is run."""

from __future__ import annotations

import io
import math
import pickle
from typing import Any

import numpy as np

from toporank.errors import ConfidenceError

NUMPY = ("numpy.core.multiarray", "numpy._core.multiarray")
KINDS = {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"}
"""Types of numbers that are read."""


def read_pickle(content: bytes) -> dict[str, Any]:
    """What a pickled dictionary holds, arrays and numbers as NumPy arrays; other values are left out.

    Raises ConfidenceError, also where the pickle names anything but NumPy arrays, such as those of JAX.
    """
    try:
        values = _Unpickler(io.BytesIO(content)).load()
    except ConfidenceError:
        raise
    except Exception as error:
        raise _refused(f"it is damaged: {error}") from error
    if not isinstance(values, dict):
        raise ConfidenceError("it holds no values by name", remedy="is it the right file?")
    numbers = {name: _numbers(value) for name, value in values.items() if isinstance(name, str)}
    return {name: value for name, value in numbers.items() if value is not None}


def _refused(why: str) -> ConfidenceError:
    remedy = "AlphaFold 2.3.2 and later write JSON files that are read"
    return ConfidenceError(f"it is not read: {why}", remedy=remedy)


class _Kind:
    """Stands for a type of numbers of NumPy."""

    def __init__(self, name: Any, *_: Any):
        self.name, self.order = name, "<"

    def __setstate__(self, state: Any) -> None:
        self.order = ">" if isinstance(state, tuple) and state[1:2] == (">",) else "<"


class _Array:
    """Stands for an array or a number of NumPy, made from its parts."""

    def __init__(self, kind: Any = None, content: Any = None, shape: Any = (), by_column: Any = False):
        self.kind, self.content, self.shape, self.by_column = kind, content, shape, by_column

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple) and len(state) == 5:
            _, self.shape, self.kind, self.by_column, self.content = state


class _Unpickler(pickle.Unpickler):
    """Calls stand-ins where a pickle names functions of NumPy, and refuses all others."""

    def find_class(self, module: str, name: str) -> Any:
        if module in NUMPY and name == "_reconstruct":
            return lambda *_: _Array()
        if module in NUMPY and name == "scalar":
            return _Array
        if module == "numpy" and name in ("dtype", "ndarray"):
            return _Kind
        raise _refused(f"it asks for {module}.{name}, which is not run")


def _numbers(value: Any) -> np.ndarray | float | None:
    """A number, or an array from its parts; None for anything else. Raises ConfidenceError."""
    if isinstance(value, int | float):
        return value
    if not isinstance(value, _Array) or not isinstance(value.kind, _Kind):
        return None
    kind, shape = value.kind, value.shape
    if type(kind.name) is not str or kind.name not in KINDS:
        return None
    dtype = np.dtype(kind.order + kind.name)
    whole = isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
    if not whole or type(value.content) is not bytes or math.prod(shape) * dtype.itemsize != len(value.content):
        raise ConfidenceError("an array does not have the numbers that its shape asks for")
    if value.by_column:
        return np.frombuffer(value.content, dtype).reshape(shape[::-1]).T
    return np.frombuffer(value.content, dtype).reshape(shape)
