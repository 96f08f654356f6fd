"""The zip archive that a file of `torch.save` is: its pickle, and an entry for the numbers of each storage.

What the pickle says of its tensors is compared with what the file contains before anything of that size is made.
"""

from __future__ import annotations

import contextlib
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np

from toporank.files.torch_pickles import LONGEST, DamagedFileError, SavedTensor, load

MOST_BEYOND = 2**26
"""Bytes that entries and tensors may have in all beyond the size of the file: some archives are compressed, and a
tensor may repeat its numbers."""
LONGEST_SIDE, MOST_SIDES = 2**26, 32
"""Largest dimension of a tensor, and largest number of dimensions."""

STORAGES = {
    "FloatStorage": "f4", "DoubleStorage": "f8", "HalfStorage": "f2", "LongStorage": "i8", "IntStorage": "i4",
    "ShortStorage": "i2", "CharStorage": "i1", "ByteStorage": "u1", "BoolStorage": "?", "BFloat16Storage": "bf2",
    "uint16": "u2", "uint32": "u4", "uint64": "u8",
}  # fmt: skip
"""Types of numbers as torch calls them and as numpy does; bfloat16, the upper half of a float32, has no name there."""

DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, LookupError, OverflowError)
"""What `zipfile` raises for a damaged file."""


@contextlib.contextmanager
def _damage_reported() -> Iterator[None]:
    try:
        yield
    except DamagedFileError:
        raise
    except DAMAGE as error:
        raise DamagedFileError(" ".join(str(error).split()) or type(error).__name__) from error


class TorchFile:
    """An open file, to be used in a `with`.

    content : what was saved, as `torch_pickles.load` gives it; None in an archive of another kind.
    """

    def __init__(self, path: Path | str | BytesIO):
        """Raises OSError, and DamagedFileError when the file is something else."""
        size = path.getbuffer().nbytes if isinstance(path, BytesIO) else Path(path).stat().st_size
        self._size, self._left, self._storages = size, 2 * (size + MOST_BEYOND), {}
        with contextlib.ExitStack() as opened, _damage_reported():
            self._archive = opened.enter_context(zipfile.ZipFile(path))
            entries = self._archive.namelist()
            pickled = next((name for name in entries if name.endswith("/data.pkl")), None)
            self._folder = (pickled or "").removesuffix("data.pkl")
            order = f"{self._folder}byteorder"
            self._order = ">" if order in entries and self._read(order, 10) == b"big" else "<"
            self.content = None if pickled is None else load(self._read(pickled, LONGEST))
            self._opened = opened.pop_all()

    def __enter__(self) -> TorchFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @_damage_reported()
    def numbers(self, tensor: SavedTensor) -> np.ndarray:
        """The numbers of a tensor, not to be written to; those of type bfloat16 as float32.

        Raises OSError, and DamagedFileError when the file does not have them.
        """
        storage, shape, stride = tensor.storage, tensor.shape, tensor.stride
        if len(shape) > MOST_SIDES or max(shape, default=0) > LONGEST_SIDE:
            raise DamagedFileError("a tensor has a shape that no tensor here needs")
        kind = STORAGES.get(tensor.dtype or storage.kind)
        if kind is None:
            raise DamagedFileError(f"numbers of type {tensor.dtype or storage.kind} are not read")
        dtype = np.dtype(self._order + kind.replace("bf2", "u2"))
        size = storage.size * (1 if storage.kind == "UntypedStorage" else dtype.itemsize)
        n_stored, n = size // dtype.itemsize, math.prod(shape)
        reach = tensor.offset + sum((side - 1) * step for side, step in zip(shape, stride, strict=True)) + 1 if n else 0
        if reach > n_stored:
            raise DamagedFileError(f"a tensor of shape {shape} does not fit into its {n_stored:,} numbers")
        self._spend(n * dtype.itemsize, f"a tensor of shape {shape}")
        if not n:
            return np.zeros(shape, dtype)
        stored = np.frombuffer(self._storage(storage.key, size), dtype, n_stored)
        steps = [step * dtype.itemsize for step in stride]
        values = np.lib.stride_tricks.as_strided(stored[tensor.offset :], shape, steps, writeable=False)
        return (values.astype(np.uint32) << 16).view(np.float32) if kind == "bf2" else values

    def _storage(self, key: str, size: int) -> bytes:
        """The bytes of a storage, which several tensors may share."""
        if key not in self._storages:
            self._storages[key] = self._read(f"{self._folder}data/{key}", size)
        if len(self._storages[key]) != size:
            raise DamagedFileError(f"the numbers {key} are not all there")
        return self._storages[key]

    def _read(self, name: str, most: int) -> bytes:
        """An entry of at most so many bytes."""
        try:
            entry = self._archive.getinfo(name)
        except KeyError:
            raise DamagedFileError(f"{name} is missing") from None
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DamagedFileError(f"{name} is compressed in a way that torch.save never uses")
        if entry.file_size > most or entry.compress_size > self._size:
            raise DamagedFileError(f"{name} has {entry.file_size:,} bytes, at most {most:,} are expected")
        self._spend(entry.file_size, name)
        return self._archive.read(entry)

    def _spend(self, n_bytes: int, on: str) -> None:
        self._left -= n_bytes
        if self._left < 0:
            raise DamagedFileError(f"{on} has more numbers than a file of {self._size:,} bytes can hold")
