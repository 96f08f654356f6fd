"""Compressed files: what their names end in, and their content.

Predictors compress what they write themselves.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any

OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
"""Ending of a compressed file → what opens it."""
ZSTANDARD = ".zst"
ENDINGS = (*OPENERS, ZSTANDARD)
AT_ONCE = 1 << 10
"""Bytes of Zstandard that are unpacked at once: they may become 30,000 times as many."""
DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What these raise on damaged content; of a plain file called `.gz` that is `gzip.BadGzipFile`, an
OSError.
"""
TWICE = 2
BEGINNINGS = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\0": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
"""How a compressed file begins → its ending."""


def compression_of(filename: str) -> str:
    """The ending that says how a file is compressed, in small letters; empty for a plain file.

    >>> compression_of("model.cif.ZST"), compression_of("model.cif")
    ('.zst', '')
    """
    ending = filename[filename.rfind(".") :].lower()
    return ending if ending in ENDINGS else ""


def compression_in(content: bytes) -> str:
    """The ending of files that begin like this one; empty for a plain file."""
    for start, ending in BEGINNINGS.items():
        if content.startswith(start) and not content.isascii():
            return ending
    return ""


def without_compression(filename: str) -> str:
    """The name without that ending.

    >>> without_compression("confidences.json.xz"), without_compression("model.cif")
    ('confidences.json', 'model.cif')
    """
    return filename[: len(filename) - len(compression_of(filename))]


def plain(content: bytes, most: int) -> bytes:
    """The content of a file, compressed or not, whatever it is called.

    Browsers unpack `.gz` and leave the name, and mail programs compress again.

    most, raises : as for `unpacked`
    """
    for _ in range(TWICE):
        ending = compression_in(content)
        if not ending:
            break
        content = unpacked(content, ending, most)
    return content


def unpacked(content: bytes, compression: str, most: int) -> bytes:
    """The content of a compressed file, or its first `most` + 1 bytes.

    That keeps anything large from being unpacked.

    Parameters
    ----------
    content : of the file
    compression : one of `ENDINGS`
    most : bytes that are allowed

    Raises
    ------
    OSError, EOFError, zlib.error, lzma.LZMAError
        `DAMAGED`: when the content is damaged or something else
    """
    if compression == ZSTANDARD:
        return _of_zstandard(content, most)
    # most files are such, and have one part: this takes half of the time
    if compression == ".gz":
        whole = zlib.decompressobj(wbits=31)
        with contextlib.suppress(zlib.error):
            text = whole.decompress(content, most + 1)
            if whole.eof and not whole.unused_data:
                return text
    with OPENERS[compression](io.BytesIO(content)) as file:
        return file.read(most + 1)


def _of_zstandard(content: bytes, most: int) -> bytes:
    """As `unpacked`. The package's own reader takes a file that was cut off for a whole one."""
    # takes longer than all other imports of this file, and few files need it
    import zstandard

    parts: list[bytes] = []
    size = 0
    frame = None
    for start in range(0, len(content), AT_ONCE):
        piece = content[start : start + AT_ONCE]
        while piece:
            if frame is None or frame.eof:
                frame = zstandard.ZstdDecompressor().decompressobj()
            try:
                parts.append(frame.decompress(piece))
            except zstandard.ZstdError as error:
                raise OSError(str(error)) from error
            size += len(parts[-1])
            if size > most:
                return b"".join(parts)[: most + 1]
            piece = frame.unused_data if frame.eof else b""
    if frame is None or not frame.eof:
        raise EOFError("it ends too early")
    return b"".join(parts)
