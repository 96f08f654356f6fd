"""Arrays with a description: a safetensors file whose metadata is one JSON text.

Such a file is eight bytes with the length of its header, the header, which is JSON, and the numbers
(https://github.com/huggingface/safetensors). The header is read here where safetensors does not
give what is in it.
"""

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
TYPES: dict[str, type] = {"F32": np.float32, "I32": np.int32, "I64": np.int64}
"""Numbers that are mapped into memory, as a header calls them."""


def to_bytes(arrays: Mapping[str, np.ndarray], description: Any) -> bytes:
    """Return arrays with a description as the bytes of a safetensors file.

    Equal arrays give equal bytes.

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
    return arrays, _description(_header(content)[0].get("__metadata__", {}))


def _header(content: bytes | np.ndarray) -> tuple[dict[str, Any], int]:
    """The header of a file that safetensors has checked, and where its numbers begin."""
    begin = 8 + int.from_bytes(bytes(content[:8]), "little")
    return json.loads(bytes(content[8:begin])), begin


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


def mapped(path: Path | str) -> tuple[dict[str, np.ndarray], Any]:
    """Return the arrays of a file, mapped into memory and read-only, and its description.

    Raises
    ------
    OSError : where the file cannot be opened
    ValueError : where it is damaged, another program wrote it, or has numbers of other types than
        `TYPES`
    """
    # safetensors checks that all arrays lie inside the file
    description = read_description(path)
    whole = np.asarray(np.memmap(path, np.uint8, "r"))
    header, begin = _header(whole)
    arrays = {}
    for name, about in header.items():
        if name == "__metadata__":
            continue
        if about["dtype"] not in TYPES:
            raise ValueError(f"{name} has numbers of type {about['dtype']}")
        first, last = about["data_offsets"]
        arrays[name] = (
            whole[begin + first : begin + last]
            .view(TYPES[about["dtype"]])
            .reshape(about["shape"])
        )
    return arrays, description


def _description(metadata: Mapping[str, str]) -> Any:
    if KEY not in metadata:
        raise ValueError("TopoRank did not write it: its metadata has no description")
    return json.loads(metadata[KEY])
