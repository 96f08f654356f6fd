"""Writing files so that a reader sees the old content or the new one, never half of it."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from toporank.errors import ConfigError


def user_cache() -> Path:
    """Where a user's programs keep what they can make again."""
    return Path(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    ).absolute()


def first_writable(folders: Iterable[Path]) -> Path:
    """The first of the folders that can be written to.

    Otherwise a new temporary one, which goes when the program ends.
    """
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
    temporary = tempfile.mkdtemp(prefix="toporank-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return Path(temporary)


def check_writable(folder: Path, remedy: str, *, make: bool = True) -> None:
    """Raise ConfigError unless files can be written in a folder.

    It is made where it is missing or, without `make`, the folder above is looked at.
    """
    place = folder
    try:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        while not os.path.lexists(place):
            place = place.parent
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise ConfigError(what, where=folder.absolute(), remedy=remedy) from error


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it into place on success, remove it on failure.

    The temporary name is drawn at random: processes of several machines, threads, and the orphan of
    a killed run may write the same file at the same time. It is short, so that `path` may be as
    long as names can be.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path | str, text: str) -> None:
    """Write UTF-8 text in one step."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_bytes(path: Path | str, content: bytes | memoryview) -> None:
    """Write bytes in one step."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_text_if_changed(path: Path | str, text: str) -> bool:
    """Write only when the content differs, so that the modification time shows a real change."""
    path = Path(path)
    if path.exists() and path.read_bytes() == text.encode():
        return False
    write_text(path, text)
    return True


def note_progress(path: Path | str, done: int, failed: int) -> None:
    """Write how many decoys of a job are done, and how many of them failed.

    `app.workflow.progress` reads it.
    """
    with contextlib.suppress(OSError):  # not worth ending a job for
        write_text(path, f"{done}\t{failed}\n")


def counted_progress(path: Path | str) -> Callable[[int], None]:
    """A function that takes the number of further decoys that are done, for `note_progress`."""
    done = 0

    def show(n: int) -> None:
        nonlocal done
        done += n
        note_progress(path, done, 0)

    return show


def sha256(path: Path | str) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def link_or_copy(source: Path, destination: Path) -> None:
    """Make `destination` the same file as `source`.

    It is a hard link, or a copy where links are not possible.
    """
    import shutil

    with replacing(destination) as temporary:
        try:
            os.link(source, temporary)
        except OSError:
            shutil.copyfile(source, temporary)
