"""Files of predictors as numbers.

What they hold is not trusted: nothing is run, sizes are bounded.
"""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.errors import ConfidenceError
from toporank.files import state as files_state
from toporank.files.compressed import DAMAGED, plain, without_compression

MAX_BYTES = 1 << 30
"""Of a file, unpacked: the PAE of 5,000 residues has half of this as JSON. Also of one array as
float32.
"""
KEPT_FILES, KEPT_BYTES = 128, 1 << 29
"""Number and size of all files whose values are kept: the readers of one model, and the models of a
job, share some.
"""
MOST_PAE = 100.0
"""Å. Predictors write up to 32."""
ARRAY = "array"
"""What the array of a `.npy` file is called, which has no name."""
OF_NUMPY = (
    "numpy.dtype",
    "numpy.ndarray",
    "numpy._core.multiarray._reconstruct",
    "numpy._core.multiarray.scalar",
    # of protocol 5, which says dtype and shape as well
    "numpy._core.numeric._frombuffer",
)
"""What a pickle may name: the functions that make arrays and numbers of NumPy."""
OF_BYTES = ("_codecs.encode", "__builtin__.bytes")
"""What protocols 0 to 2 name to make bytes of text in Latin-1, and none of nothing."""
WRONG_FILE = "is it the right file?"
ROUNDED = 1e-4
"""By which a number may be outside its range: 1.0000001 is a 1 of float32."""


Values = dict[str, Any]
"""What a file holds, by name."""


class ContentState(NamedTuple):
    """Which content a file has.

    It is parsed again when this changes. size, version : as in `files.state.FileState`.
    """

    path: Path
    size: int
    version: int


def state_of(path: Path) -> ContentState:
    """Return the state of a file.

    Raises
    ------
    ConfidenceError
        when it cannot be looked at
    """
    try:
        return ContentState(path, *files_state.state_of(path))
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> ConfidenceError:
    """Return the error of a file that cannot be opened or unpacked."""
    what = error.strerror if isinstance(error, OSError) and error.strerror else error
    return ConfidenceError(
        f"{path.name} cannot be read: {what}", remedy="make or fetch it again"
    )


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked.

    Raises
    ------
    ConfidenceError
    """
    too_large = ConfidenceError(
        f"{path.name} has more than {MAX_BYTES >> 20} MiB", remedy=WRONG_FILE
    )
    if state_of(path).size > MAX_BYTES:
        raise too_large
    try:
        packed = path.read_bytes()
        content = plain(packed, MAX_BYTES)
    except DAMAGED as error:
        raise unreadable(path, error) from error
    if content is not packed and len(content) > MAX_BYTES:
        raise too_large
    return content


def read_values(path: Path) -> Values:
    """Return what a JSON file, an npz archive or a pickle of AlphaFold 2 holds, by name.

    Do not change it.

    The array of a `.npy` file is called `ARRAY`. A list that holds one object, as AlphaFold 2
    writes its PAE, counts as that object.

    Raises
    ------
    ConfidenceError
    """
    state = state_of(path)
    if state not in _parsed:
        try:
            _parsed[state] = _values_of(path)
        except ConfidenceError as error:
            _parsed[state] = error
    _parsed.move_to_end(state)
    while len(_parsed) > KEPT_FILES or (
        len(_parsed) > 1 and sum(each.size for each in _parsed) > KEPT_BYTES
    ):
        _parsed.popitem(last=False)
    values = _parsed[state]
    if isinstance(values, ConfidenceError):
        raise values.with_traceback(None)
    return values


_parsed: OrderedDict[ContentState, Values | ConfidenceError] = OrderedDict()
"""What files hold, or why they cannot be used, those that were used last at the end."""


def _values_of(path: Path) -> Values:
    name = path.name
    content = read_bytes(path)
    kind = Path(without_compression(name)).suffix.lower()
    parsers = {".npz": _read_numpy, ".npy": _read_numpy, ".pkl": read_pickle}
    try:
        values = parsers.get(kind, json.loads)(content)
    except ConfidenceError as error:
        raise ConfidenceError(f"{name}: {error.what}", remedy=error.remedy) from error
    except (
        Exception
    ) as error:  # whatever parsers of JSON, NumPy's files and pickles raise
        what = f"{name} is no readable {kind[1:]} file"
        raise ConfidenceError(what, remedy="make or fetch it again") from error
    if isinstance(values, list) and len(values) == 1:
        values = values[0]
    if not isinstance(values, dict):
        raise ConfidenceError(f"{name} holds no values by name", remedy=WRONG_FILE)
    return {key: _compact(value) for key, value in values.items()}


def _compact(value: Any) -> Any:
    """A matrix of JSON as an array, which takes an eighth of the memory.

    Everything else stays as it is.
    """
    if not (isinstance(value, list) and value and isinstance(value[0], list)):
        return value
    try:
        return array({"": value}, "")
    except ConfidenceError:  # `array` says so again, if someone needs the value
        return value


def _read_numpy(content: bytes) -> dict[str, np.ndarray]:
    """The arrays of an npz archive or of a `.npy` file; sizes count before anything is unpacked."""
    file = io.BytesIO(content)
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > MAX_BYTES:
            what = f"it unpacks to more than {MAX_BYTES >> 20} MiB"
            raise ConfidenceError(what, remedy=WRONG_FILE)
    file.seek(0)
    arrays = np.load(file, allow_pickle=False)
    values = {ARRAY: arrays} if isinstance(arrays, np.ndarray) else dict(arrays)
    if not all(_is_numeric(value) for value in values.values()):
        raise ConfidenceError("an array does not hold numbers", remedy=WRONG_FILE)
    return values


def _is_numeric(value: Any) -> bool:
    """Whether it is an array, or a number of NumPy."""
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fiub"


def _in_latin1(text: str = "", encoding: str = "") -> bytes:
    """The bytes of text, whatever encoding a pickle names."""
    return text.encode("latin1")


class _NumbersOnly(pickle.Unpickler):
    """Makes arrays and numbers of NumPy, and refuses whatever else a pickle names."""

    def find_class(self, module: str, name: str) -> Any:
        current = module.replace("numpy.core", "numpy._core")  # before NumPy 2
        if f"{module}.{name}" in OF_BYTES:
            return _in_latin1
        if f"{current}.{name}" not in OF_NUMPY:
            raise ConfidenceError(
                f"it asks for {module}.{name}, which is not run",
                remedy="AlphaFold 2.3.2 and later write JSON files that are read",
            )
        return super().find_class(current, name)


def read_pickle(content: bytes) -> Values:
    """Return the arrays and numbers of a pickled dictionary, as AlphaFold 2 keeps its results.

    It leaves out other values.

    Raises
    ------
    ConfidenceError
        where the pickle names anything but NumPy arrays, such as those of JAX, and any error where
        it is damaged
    """
    # arrays that Python 2 wrote have their bytes as text
    values = _NumbersOnly(io.BytesIO(content), encoding="latin1").load()
    if not isinstance(values, dict):
        raise ConfidenceError("it holds no values by name", remedy=WRONG_FILE)
    numbers: Values = {}
    for name, value in values.items():
        if isinstance(name, str) and (
            _is_numeric(value) or isinstance(value, int | float)
        ):
            numbers[name] = value
    return numbers


def number(values: Values, name: str, low: float, high: float) -> float | None:
    """Return a single number from low to high; None where there is none of this name.

    Raises
    ------
    ConfidenceError
    """
    if values.get(name) is None:
        return None
    numbers = array(values, name)
    if numbers.size != 1:
        raise ConfidenceError(f"{name} is not one number")
    value = float(numbers.item())
    if not low - ROUNDED <= value <= high + ROUNDED:
        raise ConfidenceError(
            f"{name} is {value:.6g}, not a number from {low:g} to {high:g}"
        )
    return min(max(value, low), high)


def array(values: Values, name: str) -> np.ndarray:
    """Return numbers as float32, in the shape they have.

    Raises
    ------
    ConfidenceError
    """
    value = values[name]
    if isinstance(value, np.ndarray) and 4 * value.size > MAX_BYTES:
        raise ConfidenceError(f"{name} has {value.size} numbers", remedy=WRONG_FILE)
    first = value
    while isinstance(first, list) and first:
        first = first[0]
    if isinstance(first, str | bool):
        raise ConfidenceError(f"{name} is no array of numbers")
    try:
        with np.errstate(over="ignore"):
            return np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfidenceError(f"{name} is no array of numbers") from error


def plddt(values: Values, name: str) -> np.ndarray:
    """Return pLDDT from 0 to 100, shape (T,), of a list from 0 to 1 or from 0 to 100.

    Raises
    ------
    ConfidenceError
    """
    numbers = array(values, name)
    if numbers.ndim != 1 or not numbers.size:
        raise ConfidenceError(
            f"{name} is no list of numbers, but of shape {numbers.shape}"
        )
    if not (numbers.min() >= 0 and numbers.max() <= 100):  # also where one is no number
        raise ConfidenceError(f"{name} holds other numbers than those from 0 to 100")
    return numbers * 100 if numbers.max() <= 1 else numbers


def square(values: Values, name: str) -> np.ndarray:
    """Return PAE in Å, shape (T, T); what is no number counts as the largest.

    Raises
    ------
    ConfidenceError
    """
    matrix = array(values, name)
    if matrix.ndim == 3 and len(matrix) == 1:
        matrix = matrix[0]
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ConfidenceError(
            f"{name} is no square matrix, but of shape {matrix.shape}"
        )
    is_known = np.isfinite(matrix)
    if not is_known.any() or (matrix[is_known] < 0).any():
        raise ConfidenceError(f"{name} holds negative numbers, or none")
    largest = matrix[is_known].max()
    if largest > MOST_PAE:
        raise ConfidenceError(f"{name} holds {largest:g} Å; predictors write up to 32")
    return np.where(is_known, matrix, largest)
