"""Ways in which other content comes to a path with the size and the modification time that were
there.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

STEP = 0.02
"""Seconds: Linux counts the times of files in steps of up to 10 ms."""


def written_over(path: Path, content: bytes) -> None:
    """As an archive with times of its own is unpacked, a moment later."""
    times = path.stat()
    time.sleep(STEP)
    assert len(content) == times.st_size
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _other(path: Path, content: bytes) -> Path:
    other = path.with_name(f"{path.name}.other")
    other.write_bytes(path.read_bytes())
    shutil.copystat(path, other)
    written_over(other, content)
    return other


def moved_there(path: Path, content: bytes) -> None:
    """As `mv` does."""
    _other(path, content).replace(path)


def copied_there(path: Path, content: bytes) -> None:
    """As `cp -p` does."""
    other = _other(path, content)
    shutil.copy2(other, path)
    other.unlink()


def folder_exchanged(path: Path, content: bytes) -> None:
    """As when a folder is renamed and another takes its name: the files in both stay as they
    are.
    """
    folder = path.parent
    other = shutil.copytree(folder, folder.with_name(f"{folder.name}.other"))
    written_over(other / path.name, content)
    old = folder.rename(folder.with_name(f"{folder.name}.old"))
    other.rename(folder)
    shutil.rmtree(old)


WAYS: list[Callable[[Path, bytes], None]] = [
    written_over,
    moved_there,
    copied_there,
    folder_exchanged,
]
