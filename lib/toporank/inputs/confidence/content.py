"""Files of predictors as numbers. What they hold is not trusted: nothing is unpickled, sizes are bounded.

Each reader knows what a damaged file of its kind raises and turns it into a ConfidenceError. A file is parsed once in a
process, whatever the number of models that share it.
"""

from __future__ import annotations

import io
import json
import math
import tokenize
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.errors import ConfidenceError
from toporank.files import state as files_state
from toporank.files.compressed import DAMAGED as DAMAGED_COMPRESSION
from toporank.files.compressed import compression_of, unpacked, without_compression
from toporank.inputs.confidence.alphafold_pickles import read_pickle

MAX_BYTES = 1 << 30
"""Of a file, unpacked: the PAE of 5,000 residues has half of this as JSON. Also of one array as float32."""
KEPT_BYTES = 1 << 30
"""Of all files that are kept in case another model shares them: 25 models of 3,000 residues with PAE."""
MOST_PAE = 100.0
"""Å. Predictors write up to 32."""
ARRAY = "array"
"""What the array of a `.npy` file is called, which has no name."""
NPY_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Those in which NumPy writes npz archives."""
DAMAGED = (
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    SyntaxError,
    RuntimeError,
    OSError,
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
    tokenize.TokenError,
)
"""What the parsers of JSON, of zip archives and of the headers of NumPy's arrays raise on damaged content."""


class State(NamedTuple):
    """Which content a file has: it is parsed again when this changes. size, version : as in `files.state.FileState`."""

    path: Path
    size: int
    version: int


def state_of(path: Path) -> State:
    """The state of a file. Raises ConfidenceError when it cannot be looked at."""
    try:
        return State(path, *files_state.state_of(path))
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> ConfidenceError:
    """The error of a file that cannot be opened or unpacked."""
    what = error.strerror if isinstance(error, OSError) and error.strerror else error
    return ConfidenceError(f"{path.name} cannot be read: {what}", remedy="make or fetch it again")


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked if its name says that it is compressed. Raises ConfidenceError."""
    if state_of(path).size > MAX_BYTES:
        raise _too_large(path)
    compression = compression_of(path.name)
    try:
        content = path.read_bytes()
        content = unpacked(content, compression, MAX_BYTES) if compression else content
    except DAMAGED_COMPRESSION as error:
        raise unreadable(path, error) from error
    if compression and len(content) > MAX_BYTES:
        raise _too_large(path)
    return content


def _too_large(path: Path) -> ConfidenceError:
    return ConfidenceError(f"{path.name} has more than {MAX_BYTES >> 20} MiB", remedy="is it the right file?")


class _Kept:
    """What the files that were parsed last hold, or why they cannot be used."""

    def __init__(self) -> None:
        self._files: OrderedDict[State, tuple[dict[str, Any] | ConfidenceError, int]] = OrderedDict()
        self._bytes = 0

    def obtain(self, state: State, parse: Callable[[Path], tuple[dict[str, Any], int]]) -> dict[str, Any]:
        """The values of a file. parse : gives them with their size in bytes, or raises ConfidenceError."""
        if state not in self._files:
            try:
                found, size = parse(state.path)
            except ConfidenceError as error:
                found, size = error, 0
            self._files[state] = found, size
            self._bytes += size
        self._files.move_to_end(state)
        while self._bytes > KEPT_BYTES and len(self._files) > 1:
            self._bytes -= self._files.popitem(last=False)[1][1]
        values, _ = self._files[state]
        if isinstance(values, ConfidenceError):
            raise values.with_traceback(None)
        return values


_kept = _Kept()


def read_values(path: Path) -> dict[str, Any]:
    """What a JSON file, an npz archive or the pickle of an AlphaFold 2 result holds, by name; for reading only.

    The array of a `.npy` file is called `ARRAY`. A list that holds one object, as AlphaFold 2 writes its PAE, counts as
    that object. Raises ConfidenceError.
    """
    return _kept.obtain(state_of(path), _parsed)


def _parsed(path: Path) -> tuple[dict[str, Any], int]:
    """The values of a file by name, and how many bytes they take, roughly. Raises ConfidenceError."""
    content, kind = read_bytes(path), Path(without_compression(path.name)).suffix.lower()
    try:
        found = {".npz": _arrays, ".npy": _one_array, ".pkl": read_pickle}.get(kind, json.loads)(content)
    except ConfidenceError as error:
        raise ConfidenceError(f"{path.name}: {error.what}", remedy=error.remedy) from error
    except DAMAGED as error:
        raise ConfidenceError(f"{path.name} is no readable {kind[1:]} file", remedy="make or fetch it again") from error
    found = found[0] if isinstance(found, list) and len(found) == 1 else found
    if not isinstance(found, dict):
        raise ConfidenceError(f"{path.name} holds no values by name", remedy="is it the right file?")
    values = {name: _compact(value) for name, value in found.items()}
    arrays = sum(value.nbytes for value in values.values() if isinstance(value, np.ndarray))
    return values, max(arrays, len(content))


def _compact(value: Any) -> Any:
    """A matrix of JSON as an array, which takes an eighth of the memory; everything else as it is."""
    if not (isinstance(value, list) and value and isinstance(value[0], list)):
        return value
    try:
        with np.errstate(over="ignore"):
            return np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):  # `array` says so, if it is asked for
        return value


def _arrays(content: bytes) -> dict[str, np.ndarray]:
    """The arrays of an npz archive; sizes are compared with `MAX_BYTES` before anything is unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > MAX_BYTES:
            raise ConfidenceError(f"it unpacks to more than {MAX_BYTES >> 20} MiB", remedy="is it the right file?")
        if any(member.flag_bits & 1 for member in members):
            raise ConfidenceError("it is encrypted", remedy="save it without a password")
        if any(member.compress_type not in COMPRESSIONS for member in members):
            raise ConfidenceError("it is not compressed as NumPy does it", remedy="save it with numpy.savez again")
        return {member.filename.removesuffix(".npy"): _array(archive.read(member)) for member in members}


def _one_array(content: bytes) -> dict[str, np.ndarray]:
    """The array of a `.npy` file."""
    return {ARRAY: _array(content)}


def _array(content: bytes) -> np.ndarray:
    """An array of numbers in NumPy's own format. Raises ConfidenceError, and `DAMAGED` for what is no such array."""
    file = io.BytesIO(content)
    shape, by_column, kind = NPY_HEADERS[np.lib.format.read_magic(file)](file)
    if kind.kind not in "fiub":
        raise ConfidenceError("an array does not hold numbers", remedy="is it the right file?")
    numbers = memoryview(content)[file.tell() :]
    if min(shape, default=0) < 0 or math.prod(shape) * kind.itemsize != len(numbers):
        raise ConfidenceError("an array does not have the numbers that its shape asks for", remedy="make it again")
    return np.frombuffer(numbers, kind).reshape(shape, order="F" if by_column else "C")


def number(values: dict[str, Any], name: str, low: float, high: float) -> float | None:
    """A single number from low to high; None where there is none of this name. Raises ConfidenceError."""
    if values.get(name) is None:
        return None
    found = array(values, name)
    if found.size != 1:
        raise ConfidenceError(f"{name} is not one number")
    if not low <= found.item() <= high:
        raise ConfidenceError(f"{name} is {found.item():g}, not a number from {low:g} to {high:g}")
    return float(found.item())


def array(values: dict[str, Any], name: str) -> np.ndarray:
    """Numbers as float32, in the shape they have. Raises ConfidenceError."""
    value = values[name]
    if isinstance(value, np.ndarray) and 4 * value.size > MAX_BYTES:
        raise ConfidenceError(f"{name} has {value.size} numbers", remedy="is it the right file?")
    try:
        with np.errstate(over="ignore"):
            return np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfidenceError(f"{name} is no array of numbers") from error


def plddt(values: dict[str, Any], name: str) -> np.ndarray:
    """pLDDT of each token, 0 to 100, shape (T,), of numbers from 0 to 100 or from 0 to 1. Raises ConfidenceError."""
    found = array(values, name)
    if found.ndim != 1 or not found.size:
        raise ConfidenceError(f"{name} is no list of numbers, but of shape {found.shape}")
    if not (found.min() >= 0 and found.max() <= 100):  # also where one is no number
        raise ConfidenceError(f"{name} holds other numbers than those from 0 to 100")
    return found * 100 if found.max() <= 1 else found


def square(values: dict[str, Any], name: str) -> np.ndarray:
    """PAE, a square matrix of Å; what is no number counts as the largest. Raises ConfidenceError."""
    found = array(values, name)
    found = found[0] if found.ndim == 3 and len(found) == 1 else found
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not found.size:
        raise ConfidenceError(f"{name} is no square matrix, but of shape {found.shape}")
    known = np.isfinite(found)
    if not known.any() or (found[known] < 0).any():
        raise ConfidenceError(f"{name} holds negative numbers, or none")
    largest = found[known].max()
    if largest > MOST_PAE:
        raise ConfidenceError(f"{name} holds {largest:g} Å; predictors write up to 32")
    return np.where(known, found, largest)
