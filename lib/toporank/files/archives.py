"""What is in a zip or tar file, and writing it: nothing is written before all names and sizes are checked."""

from __future__ import annotations

import bz2
import contextlib
import errno
import functools
import gzip
import lzma
import os
import shutil
import struct
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from toporank.errors import ConfigError, TopoRankError, printable
from toporank.files.state import FileState, state_of

ZIP, TAR = (".zip",), (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
UNKNOWN = (".7z", ".rar", ".zst", ".bz2", ".xz", ".z")
UNREADABLE_ARCHIVES = (".7z", ".rar", ".tar.zst", ".tar.z")
MOST_FILES, MOST_BYTES = 100_000, 20 * 2**30
"""Entries of an archive, and bytes of all of them, that are unpacked at most."""
MOST_AT_ONCE = 2**20
"""Bytes that are read at a time; a header of a tar file that is longer is damaged."""
LONGEST = 255
"""Bytes of the name of a file or folder."""
LATEST = 2**32
"""Modification times, in seconds, are below it; a file with another gets 0."""
LEFT_OUT = ("Icon\r", ".toporank_unpacked.json")
"""Files that are left out: the icon of a folder on a Mac, and what `unpacking` writes."""
BY_HAND = "unpack what you need of it yourself and give the folder"
AGAIN = "fetch it again, or unpack it and give the folder"
OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
"""How a compressed file begins, and what opens it."""
DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, OverflowError, RuntimeError, LookupError, MemoryError),
)
"""What the standard library raises of a damaged or encrypted archive."""


class Member(NamedTuple):
    """A file of an archive.

    Attributes
    ----------
    parts : folders and name; none of what is left out
    size : in bytes
    entry : what the archive knows it by, with the name under which it is written
    modified : in seconds
    same_as : of a hard link, the parts of the file that it is
    """

    parts: tuple[str, ...]
    size: int
    entry: zipfile.ZipInfo | tarfile.TarInfo
    modified: float
    same_as: tuple[str, ...] = ()


def archive_name(path: Path) -> str:
    """The name of an archive without its suffix; empty where the file cannot be unpacked.

    >>> archive_name(Path("fold_x.zip")), archive_name(Path("run1.tar.gz")), archive_name(Path("model.pdb.gz"))
    ('fold_x', 'run1', '')
    """
    suffixes = [suffix for suffix in ZIP + TAR if path.name.lower().endswith(suffix)]
    return path.name[: -len(suffixes[0])] if suffixes else ""


def may_hold(archive: Path, wanted: Callable[[str], bool]) -> bool:
    """Whether a file of a wanted name is in an archive, or another archive; also where it cannot be opened.

    Parameters
    ----------
    archive : a zip or tar file
    wanted : says of the name of a file whether it is wanted
    """
    try:
        return _may_hold(archive, state_of(archive), wanted)
    except OSError:
        return True


@functools.lru_cache(maxsize=4096)
def _may_hold(archive: Path, _: FileState, wanted: Callable[[str], bool]) -> bool:
    try:
        with _opened(archive) as (members, _packed):
            names = (member.parts[-1] for member in members if member.parts)
            return any(wanted(name) or archive_name(Path(name)) for name in names)
    except (OSError, TopoRankError, *DAMAGE):
        return True


def holds_only(archive: Path, wanted: Callable[[str], bool], files: Mapping[str, list[Path]]) -> bool:
    """Whether each wanted file of an archive has the content of a file of its name.

    Parameters
    ----------
    archive : a zip or tar file
    wanted : says of the name of a file whether it is wanted
    files : by name

    Raises
    ------
    ConfigError
        when the archive cannot be read
    """
    with errors_of(archive), _opened(archive) as (members, packed):
        wanted_members = [member for member in members if member.parts and wanted(member.parts[-1])]
        alike = []
        for member in wanted_members:
            alike.append([path for path in files.get(member.parts[-1], []) if path.stat().st_size == member.size])
        if not wanted_members or not all(alike):
            return False
        for member, paths in zip(wanted_members, alike, strict=True):
            tar = isinstance(packed, tarfile.TarFile)
            with packed.extractfile(member.entry) if tar else packed.open(member.entry) as file:
                content = file.read()
            if all(path.read_bytes() != content for path in paths):
                return False
        return True


def extract(archive: Path, to: Path, most: int | None = None) -> int:
    """Write the files of an archive below a folder, with their times, once its headers say that all of them can be.

    Symbolic links and devices are left out.

    Parameters
    ----------
    archive : a zip or tar file
    to : the folder, which exists
    most : bytes that all of them may have, `MOST_BYTES` by default

    Returns
    -------
    How many of these bytes are left.

    Raises
    ------
    ConfigError
        when the archive is damaged, needs a password, is too large or has files that cannot lie there
    """
    most = MOST_BYTES if most is None else most
    with errors_of(archive), _opened(archive) as (headers, packed):
        members = _checked(archive, headers, min(most, shutil.disk_usage(to).free))
        entries = [member.entry for member in members]
        if isinstance(packed, tarfile.TarFile):
            packed.extractall(to, entries, filter="data")
        else:
            packed.extractall(to, entries)
        for member in members:
            os.utime(to.joinpath(*member.parts), (member.modified, member.modified))
    return most - sum(member.size for member in members)


@contextlib.contextmanager
def errors_of(archive: Path) -> Iterator[None]:
    """Say in one line why an archive cannot be unpacked."""
    try:
        yield
    except TopoRankError:
        raise
    except OSError as error:
        of_content = error.errno in (None, errno.EINVAL)  # of a decompressor, or of a place that is not in the file
        why = printable(error.strerror or str(error))
        raise ConfigError(
            f"cannot be unpacked: {why}", where=archive, remedy=AGAIN if of_content else BY_HAND
        ) from error
    except DAMAGE as error:
        why = printable(str(error)) or type(error).__name__
        raise ConfigError(f"cannot be unpacked: {why}", where=archive, remedy=AGAIN) from error


def _checked(archive: Path, headers: Iterator[Member], room: int) -> list[Member]:
    """The files to unpack. Raises ConfigError when they are too many or too large, or two would share a place."""
    members: dict[tuple[str, ...], Member] = {}
    for count, member in enumerate(headers, 1):
        size = members[member.same_as].size if member.same_as in members else member.size
        room -= size
        if room < 0 or count > MOST_FILES:
            much = f"more than {MOST_FILES:,} files, {MOST_BYTES / 2**30:.0f} GB, or the room on the disk"
            raise ConfigError(much, where=archive, remedy=BY_HAND)
        if not member.parts:
            continue
        if member.size < 0 or (member.same_as and member.same_as not in members):
            raise tarfile.ReadError("a header in it is damaged")
        if member.parts in members:
            raise _refused(archive, "two files in it have the same name", member.parts)
        members[member.parts] = member._replace(size=size)
    for parts in members:
        if any(parts[:k] in members for k in range(1, len(parts))):
            raise _refused(archive, "a folder in it has the name of a file", parts)
    return list(members.values())


def _refused(archive: Path, what: str, parts: tuple[str, ...] | str) -> ConfigError:
    name = parts if isinstance(parts, str) else "/".join(parts)
    return ConfigError(f"{what}: {printable(name[:LONGEST])}", where=archive, remedy=BY_HAND)


def _parts(archive: Path, name: str) -> tuple[str, ...]:
    """The folders and the name of a file; none where it is left out. Raises ConfigError when it cannot lie there."""
    names = name.replace("\\", "/").split("/")
    parts = tuple(part for part in names if part not in ("", "."))
    if not parts or parts[-1] in LEFT_OUT:
        return ()
    if not names[0] or ".." in parts or ":" in parts[0]:
        raise _refused(archive, "a file in it would lie elsewhere", name)
    if not name.isprintable():
        raise _refused(archive, "the name of a file in it has characters that cannot be written", name)
    if len(name) > LONGEST // 4 and max(len(part.encode()) for part in parts) > LONGEST:
        raise _refused(archive, f"the name of a file in it is longer than {LONGEST} bytes", name)
    return parts


@contextlib.contextmanager
def _opened(archive: Path) -> Iterator[tuple[Iterator[Member], zipfile.ZipFile | tarfile.TarFile]]:
    """The files of an archive, from its headers as they are asked for, and the archive.

    The headers of a tar file are read to the end of the compressed file, where the checksum of all content is.
    """
    if archive.name.lower().endswith(ZIP):
        with zipfile.ZipFile(archive) as packed:
            yield _of_zip(archive, packed), packed
        return
    with open(archive, "rb") as file:
        start = file.read(6)
        file.seek(0)
        opener = next((opener for magic, opener in OPENERS.items() if start.startswith(magic)), None)
        with opener(file) if opener else file as raw, tarfile.open(fileobj=_InPieces(raw), mode="r:") as packed:
            yield _of_tar(archive, packed, raw), packed


def _of_zip(archive: Path, packed: zipfile.ZipFile) -> Iterator[Member]:
    for info in packed.infolist():
        parts = () if info.is_dir() else _parts(archive, info.filename)
        info.filename = "/".join(parts)
        yield Member(parts, info.file_size, info, _time(time.mktime((*info.date_time, 0, 0, -1))))


def _of_tar(archive: Path, packed: tarfile.TarFile, raw: IO[bytes]) -> Iterator[Member]:
    for info in packed:
        parts = _parts(archive, info.name) if info.isreg() or info.islnk() else ()
        same_as = _parts(archive, info.linkname) if info.islnk() else ()
        modified = _time(info.mtime)
        written = {"name": "/".join(parts), "linkname": "/".join(same_as), "mtime": modified}
        yield Member(parts, info.size, info.replace(**written, deep=False), modified, same_as)
    _check_end(raw, packed.offset)


def _time(seconds: float) -> float:
    """A time that a file can have."""
    return seconds if 0 <= seconds < LATEST else 0


class _InPieces:
    """A file that gives no header more than `MOST_AT_ONCE` bytes."""

    def __init__(self, raw: IO[bytes]):
        self._raw, self.seek, self.tell = raw, raw.seek, raw.tell

    def read(self, size: int) -> bytes:
        if not 0 <= size <= MOST_AT_ONCE:
            raise tarfile.ReadError("a header in it is damaged")
        return self._raw.read(size)


def _check_end(raw: IO[bytes], offset: int) -> None:
    """Raise ReadError unless nothing but zeros, and some of them, follow the last member: else there is more, or less.

    `tarfile` takes a damaged header for the end.
    """
    raw.seek(offset)
    left = 0
    while block := raw.read(MOST_AT_ONCE):
        left += len(block)
        if block.strip(b"\0") or left > MOST_BYTES:
            raise tarfile.ReadError("a header in it is damaged")
    if left < tarfile.BLOCKSIZE:
        raise tarfile.ReadError("it ends too early")
