"""Whether a file is what it was, without reading it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class FileState(NamedTuple):
    """The state of a file, another one where its content may have changed.

    size : in bytes. version : of all else, opaque.

    Models of a complex often have the same size, and archives, `cp -p` and `mv` bring their own
    modification times. So the version also has the time of the last change of any kind, which no
    program can choose, and the inode: two folders may exchange their names, or two links what they
    lead to.
    """

    size: int
    version: int


MISSING = FileState(-1, 0)
"""Of a file that cannot be looked at, such as a dangling link."""


def state_of(path: Path | str) -> FileState:
    """The state of a file, or of what a link leads to. Raises OSError."""
    status = os.stat(path)
    # Python hashes numbers the same way in each process
    version = hash((status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
    return FileState(status.st_size, version)


def state_if_there(path: Path | str, content: str = "") -> FileState:
    """As `state_of`; `MISSING` where it raises.

    Reading the file fails later, with the reason.

    content : SHA-256 of the file, if it is known. Then it alone is the version: a copy is what it
    was.
    """
    try:
        if content:
            return known_state(os.stat(path).st_size, content)
        return state_of(path)
    except OSError:
        return MISSING


def known_state(size: int, content: str) -> FileState:
    """The state of a file by its size in bytes and its SHA-256."""
    return FileState(size, int(content[:16], 16))
