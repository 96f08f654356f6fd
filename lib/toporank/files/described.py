"""Arrays with a description: a safetensors file whose metadata is one JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError, safe_open

KEY = "toporank"
"""Of the description among the metadata. One key alone: safetensors gives several no order."""


def to_bytes(arrays: Mapping[str, np.ndarray], description: Any) -> bytes:
    """Return arrays with a description as the bytes of a safetensors file; equal ones give equal bytes.

    Parameters
    ----------
    arrays : of numbers, by name
    description : what JSON can hold; the order of keys does not count

    Raises
    ------
    TypeError : where JSON cannot hold the description
    """
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return safetensors.numpy.save(contiguous, {KEY: as_text(description)})


def as_text(description: Any) -> str:
    """Return a description as it stands in the metadata of a file."""
    return json.dumps(description, ensure_ascii=False, sort_keys=True)


def from_bytes(content: bytes) -> tuple[dict[str, np.ndarray], Any]:
    """Return the arrays and the description that `to_bytes` was given.

    Raises
    ------
    ValueError : where the bytes are damaged, or another program wrote them
    """
    try:
        arrays = safetensors.numpy.load(content)  # checks the header
    except SafetensorError as error:
        raise ValueError(str(error)) from error
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length]).get("__metadata__", {})
    return arrays, _description(metadata)


def read_description(path: Path | str) -> Any:
    """Return the description in a file, without reading its arrays.

    Raises
    ------
    OSError : where the file cannot be opened
    ValueError : where it is damaged, or another program wrote it
    """
    try:
        with safe_open(path, "np") as file:
            return _description(file.metadata() or {})
    except SafetensorError as error:
        raise ValueError(str(error)) from error


def _description(metadata: Mapping[str, str]) -> Any:
    if KEY not in metadata:
        raise ValueError("TopoRank did not write it: its metadata has no description")
    return json.loads(metadata[KEY])
