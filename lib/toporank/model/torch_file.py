"""Files of `torch.save`, read without running anything of them and without torch.

Such a file is a zip archive: `data.pkl`, a pickle that says what there is, and one entry for the numbers of each
tensor, none of it compressed. The pickle is followed operation by operation, and only what is written for texts,
numbers, containers and tensors has a meaning; whatever else it calls stays a name. Nothing is made that is larger
than what the file really holds.
"""

from __future__ import annotations

import itertools
import math
import pickletools
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

MOST_OPERATIONS = 300_000
"""Of a pickle: a checkpoint of two layers has 5,000 with its optimiser, of fifty layers 100,000."""
LARGEST_PICKLE = 16 * 2**20
"""Bytes."""

DTYPES = {"DoubleStorage": "<f8", "FloatStorage": "<f4", "HalfStorage": "<f2"}

_FIXED = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_ARGUMENT = {
    "BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8",
    "BINBYTES", "SHORT_BINBYTES",
}  # fmt: skip
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class DamagedFileError(ValueError):
    """The file is not what `torch.save` writes."""


class Global(NamedTuple):
    """The name of a class or function; never looked up."""

    name: str


class Call(NamedTuple):
    """What a pickle would have made by a call."""

    function: Any
    arguments: Any


class Storage(NamedTuple):
    """Where numbers lie: kind such as `FloatStorage`, entry of the archive, how many."""

    kind: str
    key: str
    count: int


class Tensor(NamedTuple):
    """A tensor as the pickle describes it; offset and stride count numbers of the storage."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


class TorchFile:
    """An open file; `content` is what was saved, with a `Tensor` for every tensor, or None in another kind of archive.

    Lists and sets are empty and objects are a `Call`: neither is needed to score.
    """

    def __init__(self, path: Path | str):
        """Raises OSError, zipfile.BadZipFile or DamagedFileError when the file is damaged or something else."""
        self._archive = zipfile.ZipFile(path)
        try:
            name = next((n for n in self._archive.namelist() if n.endswith("/data.pkl")), None)
            self._folder = (name or "").removesuffix("data.pkl")
            self.content = None if name is None else content_of(self._read(name, LARGEST_PICKLE))
        except BaseException:
            self._archive.close()
            raise

    def __enter__(self) -> TorchFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def numbers(self, tensor: Tensor) -> np.ndarray:
        """The numbers of a tensor: float, in its shape. Raises DamagedFileError when the file does not have them."""
        kind, key, count = tensor.storage
        if kind not in DTYPES:
            raise DamagedFileError(f"numbers of an unknown kind, {kind}")
        size = count * np.dtype(DTYPES[kind]).itemsize
        data = self._read(f"{self._folder}data/{key}", size)
        last = tensor.offset + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride, strict=True))
        if len(data) != size or (math.prod(tensor.shape) and last >= count):
            raise DamagedFileError(f"the numbers {key} are not all there")
        numbers = np.frombuffer(data, DTYPES[kind])
        steps = [step * numbers.itemsize for step in tensor.stride]
        return np.lib.stride_tricks.as_strided(numbers[tensor.offset :], tensor.shape, steps)

    def _read(self, name: str, most: int) -> bytes:
        """An entry of at most so many bytes."""
        try:
            entry = self._archive.getinfo(name)
        except KeyError:
            raise DamagedFileError(f"{name} is missing") from None
        if entry.compress_type != zipfile.ZIP_STORED:  # so that nothing is larger than the file
            raise DamagedFileError(f"{name} is compressed, which torch.save does not do")
        if entry.file_size > most:
            raise DamagedFileError(f"{name} has {entry.file_size:,} bytes, at most {most:,} are expected")
        return self._archive.read(entry)


def content_of(pickled: bytes) -> Any:
    """What a pickle holds, as `TorchFile.content`. Raises DamagedFileError."""
    try:
        operations = itertools.islice(pickletools.genops(pickled), MOST_OPERATIONS + 1)
        return _follow([(operation.name, argument) for operation, argument, _ in operations])
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, DamagedFileError):
            raise
        raise DamagedFileError(f"its data.pkl is damaged: {error}") from error


def _follow(operations: list[tuple[str, Any]]) -> Any:
    if len(operations) > MOST_OPERATIONS:
        raise DamagedFileError(f"its data.pkl has more than {MOST_OPERATIONS:,} operations")
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[int, Any] = {}
    for name, argument in operations:
        if name in _ARGUMENT:
            stack.append(argument)
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1]
        elif name == "MEMOIZE":
            memo[len(memo)] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name == "MARK":
            marks.append(len(stack))
        elif name in _FIXED:
            stack.append(_FIXED[name])
        elif name in _TUPLES:
            stack.append(_popped(stack, len(stack) - _TUPLES[name]))
        elif name == "TUPLE":
            stack.append(_popped(stack, marks.pop()))
        elif name == "EMPTY_DICT":
            stack.append({})
        elif name in ("EMPTY_LIST", "EMPTY_SET"):
            stack.append([])
        elif name in ("SETITEM", "SETITEMS"):
            items = _popped(stack, len(stack) - 2 if name == "SETITEM" else marks.pop())
            _set(stack[-1], items)
        elif name in ("APPEND", "BUILD"):
            stack.pop()
        elif name in ("APPENDS", "ADDITEMS"):
            _popped(stack, marks.pop())
        elif name == "GLOBAL":
            stack.append(Global(argument))
        elif name == "STACK_GLOBAL":
            stack.append(Global(" ".join(_popped(stack, len(stack) - 2))))
        elif name in ("REDUCE", "NEWOBJ"):
            stack.append(_called(*_popped(stack, len(stack) - 2)))
        elif name == "BINPERSID":
            stack.append(_storage(stack.pop()))
        elif name == "STOP":
            return stack.pop()
        elif name not in ("PROTO", "FRAME"):
            raise DamagedFileError(f"its data.pkl has the operation {name}, which torch.save does not write")
    raise DamagedFileError("its data.pkl is cut off")


def _popped(stack: list[Any], start: int) -> tuple[Any, ...]:
    if start < 0:
        raise DamagedFileError("its data.pkl is damaged")
    items = tuple(stack[start:])
    del stack[start:]
    return items


def _set(owner: Any, items: tuple[Any, ...]) -> None:
    if isinstance(owner, dict):
        owner.update((key, value) for key, value in zip(items[::2], items[1::2], strict=True) if type(key) is str)


def _called(function: Any, arguments: Any) -> Any:
    if function == Global("collections OrderedDict"):
        return {}
    if function == Global("torch._utils _rebuild_parameter"):
        return arguments[0]
    if function == Global("torch._utils _rebuild_tensor_v2"):
        storage, offset, shape, stride = arguments[:4]
        whole = [offset, *shape, *stride]
        if isinstance(storage, Storage) and len(shape) == len(stride) and all(type(n) is int and n >= 0 for n in whole):
            return Tensor(storage, offset, shape, stride)
        raise DamagedFileError("its data.pkl has a damaged tensor")
    return Call(function, arguments)


def _storage(reference: Any) -> Storage:
    word, kind, key, _, count = reference
    if word != "storage" or type(kind) is not Global or type(key) is not str or type(count) is not int or count < 0:
        raise DamagedFileError("its data.pkl refers to something else than numbers")
    return Storage(kind.name.removeprefix("torch "), key, count)
