"""Tensors that grow on the disk and become one safetensors file, so that no more than a piece of them is in memory.

The file: length of its header as 8 bytes, little-endian; the header, which is JSON filled up with spaces to a multiple
of 8 bytes; the numbers of all tensors (https://github.com/huggingface/safetensors). The bytes are those of safetensors.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

PIECE = 2**22
"""Bytes that are copied at once."""
KINDS = {"int64": "I64", "float32": "F32", "int32": "I32"}
"""Types as a header calls them, in the order in which safetensors sorts the tensors of a file."""


class Growing:
    """A tensor to which rows or, with axis 1, columns are added. Files without a name hold them until `files` ends."""

    def __init__(self, files: ExitStack, folder: Path, dtype: str, axis: int = 0):
        self.dtype, self.shape = dtype, (0,)
        self._files, self._folder, self._axis = files, folder, axis
        self._blocks: list = []

    def add(self, values: np.ndarray) -> None:
        """Append an array; the first one says what shape the others have, but for the number of rows or columns."""
        blocks = [values] if self._axis == 0 else list(values)
        if not self._blocks:
            opened = (tempfile.TemporaryFile(dir=self._folder) for _ in blocks)  # noqa: SIM115 -- closed by `files`
            self._blocks = [self._files.enter_context(file) for file in opened]
            self.shape = tuple(0 if axis == self._axis else size for axis, size in enumerate(values.shape))
        for file, block in zip(self._blocks, blocks, strict=True):
            file.write(np.ascontiguousarray(block, dtype=self.dtype))
        more = values.shape[self._axis]
        self.shape = tuple(size + more * (axis == self._axis) for axis, size in enumerate(self.shape))

    def pieces(self) -> Iterator[bytes]:
        """All its bytes, in order."""
        for file in self._blocks:
            file.seek(0)
            while piece := file.read(PIECE):
                yield piece


def write_tensors(path: Path, tensors: dict[str, Growing], metadata: dict[str, str]) -> None:
    """Write a safetensors file."""
    order = sorted(tensors, key=lambda name: (list(KINDS).index(tensors[name].dtype), name))
    header, end = {"__metadata__": metadata}, 0
    for name in order:
        dtype, shape = tensors[name].dtype, tensors[name].shape
        start, end = end, end + np.dtype(dtype).itemsize * int(np.prod(shape))
        header[name] = {"dtype": KINDS[dtype], "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            file.writelines(tensors[name].pieces())
