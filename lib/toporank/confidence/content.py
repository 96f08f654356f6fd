"""Files of predictors as numbers. What they hold is not trusted: nothing is unpickled, sizes are bounded."""

from __future__ import annotations

import gzip
import io
import json
import math
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from toporank.confidence.pickles import read_pickle
from toporank.errors import ConfidenceError

MAX_BYTES = 1 << 30
"""Of a file, unpacked: the PAE of 5,000 residues has half of this as JSON."""


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked if its name ends in `.gz`. Raises ConfidenceError."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _too_large(path)
        if path.suffix != ".gz":
            return path.read_bytes()
        with gzip.open(path) as unpacked:
            content = unpacked.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfidenceError(f"{path.name} cannot be read: {error}", remedy="make or fetch it again") from error
    if len(content) > MAX_BYTES:
        raise _too_large(path)
    return content


def _too_large(path: Path) -> ConfidenceError:
    return ConfidenceError(f"{path.name} has more than {MAX_BYTES >> 20} MiB", remedy="is it the right file?")


def read_values(path: Path) -> dict[str, Any]:
    """What a JSON file, an npz archive or the pickle of an AlphaFold 2 result holds, by name.

    A list that holds one object, as AlphaFold 2 writes its PAE, counts as that object. Raises ConfidenceError.
    """
    content, kind = read_bytes(path), Path(path.name.removesuffix(".gz")).suffix
    try:
        found = {".npz": _arrays, ".pkl": read_pickle}.get(kind, json.loads)(content)
    except ConfidenceError as error:
        raise ConfidenceError(f"{path.name}: {error.what}", remedy=error.remedy) from error
    except MemoryError as error:  # also of a small file that claims to hold a large array
        raise ConfidenceError(f"{path.name} asks for more memory than there is") from error
    except (ValueError, OSError, EOFError, LookupError, zlib.error, zipfile.BadZipFile, RecursionError) as error:
        raise ConfidenceError(f"{path.name} is no readable {kind[1:]} file", remedy="make or fetch it again") from error
    found = found[0] if isinstance(found, list) and len(found) == 1 else found
    if not isinstance(found, dict):
        raise ConfidenceError(f"{path.name} holds no values by name", remedy="is it the right file?")
    return found


def _arrays(content: bytes) -> dict[str, np.ndarray]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
            raise ConfidenceError(f"it unpacks to more than {MAX_BYTES >> 20} MiB", remedy="is it the right file?")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays}


def number(values: dict[str, Any], name: str) -> float | None:
    """A single number; None where there is none of this name, or it is not finite. Raises ConfidenceError."""
    if values.get(name) is None:
        return None
    found = array(values, name)
    if found.size != 1:
        raise ConfidenceError(f"{name} is not one number")
    return float(found.item()) if math.isfinite(found.item()) else None


def array(values: dict[str, Any], name: str) -> np.ndarray:
    """Numbers as float32, in the shape they have. Raises ConfidenceError."""
    try:
        return np.asarray(values[name], dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfidenceError(f"{name} is no array of numbers") from error


def square(values: dict[str, Any], name: str) -> np.ndarray:
    """A square matrix without negative numbers; what is no number counts as the largest. Raises ConfidenceError."""
    found = array(values, name)
    found = found[0] if found.ndim == 3 and len(found) == 1 else found
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not found.size:
        raise ConfidenceError(f"{name} is no square matrix, but of shape {found.shape}")
    known = np.isfinite(found)
    if not known.any() or (found[known] < 0).any():
        raise ConfidenceError(f"{name} holds negative numbers, or none")
    return np.where(known, found, found[known].max())
