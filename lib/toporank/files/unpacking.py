"""Archives from servers: unpacked whole or not at all, within their own folder, and no larger than a disk can take."""

from __future__ import annotations

import bz2
import contextlib
import errno
import functools
import gzip
import hashlib
import itertools
import json
import lzma
import os
import shutil
import struct
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

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
MARK = ".toporank_unpacked.json"
"""In a folder that was unpacked: the archive, and the state of its files."""
UNFINISHED = ".unpacking-"
"""How the name of a folder begins until everything is in it."""
MAC_ICON = "Icon\r"
"""The icon of a folder on a Mac, which is left out."""
BY_HAND = "unpack what you need of it yourself and give the folder"
AGAIN = "fetch it again, or unpack it and give the folder"
OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
"""How a compressed file begins, and what opens it."""
DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, OverflowError, RuntimeError, LookupError, MemoryError),
)
"""What the standard library raises of a damaged or encrypted archive."""


class _Member(NamedTuple):
    """A file of an archive. entry : what the archive knows it by. same_as : of a hard link, the file it is."""

    parts: tuple[str, ...]
    size: int
    modified: float
    entry: Any
    same_as: tuple[str, ...] = ()


class _Opened(NamedTuple):
    """An archive. members : from its headers, read once, to the end. content : opens one of them."""

    members: Iterator[_Member]
    content: Callable[[_Member], IO[bytes]]


def archive_name(path: Path) -> str:
    """The name of an archive without its suffix; empty where the file cannot be unpacked.

    >>> archive_name(Path("fold_x.zip")), archive_name(Path("run1.tar.gz")), archive_name(Path("model.pdb.gz"))
    ('fold_x', 'run1', '')
    """
    suffixes = [suffix for suffix in ZIP + TAR if path.name.lower().endswith(suffix)]
    return path.name[: -len(suffixes[0])] if suffixes else ""


def folder_name(archive: Path) -> str:
    """The folder an archive is unpacked into: its name, which cannot lead elsewhere or hide.

    >>> folder_name(Path("fold_x.zip")), folder_name(Path("...zip")), folder_name(Path(".x.tar"))
    ('fold_x', 'archive', 'x')
    """
    return archive_name(archive).lstrip(".") or "archive"


def may_hold(archive: Path, wanted: Callable[[str], bool]) -> bool:
    """Whether a file of a wanted name is in an archive, or in an archive in it; also where it cannot be opened.

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
    opened = _opened_zip if archive.name.lower().endswith(ZIP) else _opened_tar
    try:
        with opened(archive, archive.parent) as (headers, _):
            return any(wanted(member.parts[-1]) or _is_archive(member.parts[-1]) for member in headers if member.parts)
    except (OSError, TopoRankError, *DAMAGE):
        return True


def _is_archive(filename: str) -> bool:
    return bool(archive_name(Path(filename)))


def file_sizes(archive: Path) -> dict[tuple[str, ...], int]:
    """Folders and name of each file of an archive → its size in bytes. Raises ConfigError when it cannot be read."""
    opened = _opened_zip if archive.name.lower().endswith(ZIP) else _opened_tar
    with _errors_of(archive), opened(archive, archive.parent) as (headers, _):
        return {member.parts: member.size for member in headers if member.parts}


def job_name(archive: Path) -> str:
    """The name of the job whose results are in an archive: that of its folder, without what ColabFold adds.

    >>> job_name(Path("query.result.zip"))
    'query'
    """
    return folder_name(archive).removesuffix(".result") or "archive"


def unpacked(archive: Path, folder: Path, name: str = "") -> Path:
    """The folder with the files of an archive; once unpacked, it is used as it is.

    It appears when it is complete. One that was unpacked before gives way only if its archive has changed and its own
    files have not. Archives in the archive are unpacked, too, but not those in these.

    Parameters
    ----------
    archive : a zip or tar file
    folder : where the folder will be
    name : of the new folder; that of the archive by default

    Raises
    ------
    ConfigError
        when the archive is damaged, needs a password, is too large or has files that cannot lie there; when another
        archive of its name was unpacked there; and when a folder stands there that is not ours
    """
    to, source = folder / (name or folder_name(archive)), _source(archive)
    if os.path.lexists(to):
        if _mark(to).get("source") == source:
            return to
        _check_ours(to, source)
    folder.mkdir(parents=True, exist_ok=True)
    with _unfinished(folder) as new:
        with _errors_of(archive):
            left = _unpack(archive, new, MOST_BYTES)
        _unpack_inner(new, left)
        (new / MARK).write_text(json.dumps({"source": source, "files": _state(new)}), encoding="utf-8")
        if to.exists():
            to.rename(new.with_name(f"{new.name}-old"))
        new.rename(to)
    return to


def _source(archive: Path) -> list[Any]:
    """What tells whether it is the same archive: its path and state."""
    return [str(archive.absolute()), *state_of(archive)]


def _mark(folder: Path) -> dict[str, Any]:
    """What was written down when a folder was unpacked; nothing if it was not, or is a link."""
    with contextlib.suppress(OSError, ValueError):
        found = json.loads((folder / MARK).read_text(encoding="utf-8"))
        if isinstance(found, dict) and not folder.is_symlink():
            return found
    return {}


def _state(folder: Path) -> str:
    """A digest of the names, sizes and times of all files below a folder; one that was moved or copied has the same."""
    files = sorted((path.relative_to(folder).as_posix(), path.lstat()) for path in folder.rglob("*") if path.is_file())
    known = [[name, stat.st_size, stat.st_mtime_ns] for name, stat in files if not name.endswith(MARK)]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()


def _check_ours(to: Path, source: list[Any]) -> None:
    """Raise ConfigError unless what stands at `to` was unpacked from an archive at the same place and left alone."""
    mark = _mark(to)
    before = str((mark.get("source") or [""])[0])
    if not before:
        what = f"{to} is in the way: it was not unpacked by this command"
    elif before != source[0]:
        what = f"holds results of the same name, of {before}, not of {source[0]}"
    elif mark.get("files") != _state(to):
        what = f"the archive {source[0]} has changed, and so have files in {to}, which would be lost"
    else:
        return
    remedy = f"choose another folder with -o, or move {to} away"
    raise ConfigError(what, where=to.parent.parent, remedy=remedy)


@contextlib.contextmanager
def _unfinished(folder: Path) -> Iterator[Path]:
    """A new folder in `folder` that is gone at the end unless it was renamed, as are those of runs that were killed."""
    new = folder / f"{UNFINISHED}{os.urandom(8).hex()}"
    try:
        new.mkdir()
        yield new
    finally:
        for left in folder.glob(f"{UNFINISHED}*"):
            shutil.rmtree(left)


@contextlib.contextmanager
def _errors_of(archive: Path) -> Iterator[None]:
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


def _unpack_inner(folder: Path, most: int) -> None:
    """Unpack the archives in a folder where they lie; one that cannot be stays as it is. most : bytes."""
    for archive in sorted(path for path in folder.rglob("*") if path.is_file() and archive_name(path)):
        to = archive.with_name(free_folder(job_name(archive), archive.parent))
        to.mkdir()
        try:
            with _errors_of(archive):
                most = _unpack(archive, to, most)
        except ConfigError:
            shutil.rmtree(to)
            continue
        (to / MARK).write_text("{}", encoding="utf-8")
        archive.unlink()


def free_folder(name: str, parent: Path) -> str:
    """The name, or the first of `name_2`, `name_3` … at which nothing is in a folder."""
    names = (name if k == 1 else f"{name}_{k}" for k in itertools.count(1))
    return next(free for free in names if not os.path.lexists(parent / free))


def _unpack(archive: Path, to: Path, most: int) -> int:
    """Write the files of an archive below `to`, once its headers say that all of them can be.

    most : bytes that they may have. Returns how many of these are left.
    """
    opened = _opened_zip if archive.name.lower().endswith(ZIP) else _opened_tar
    with opened(archive, to) as (headers, content):
        members = _checked(archive, headers, min(most, shutil.disk_usage(to).free))
        links = [member for member in members if member.same_as]
        for member in members:
            if not member.same_as:
                with content(member) as source:
                    _write(member, source, to)
        for member in links:
            _write(member, to.joinpath(*member.same_as).open("rb"), to)
    return most - sum(member.size for member in members)


def _write(member: _Member, source: IO[bytes], to: Path) -> None:
    """Write a file with its time."""
    path = to.joinpath(*member.parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    with source, open(path, "xb") as handle:
        shutil.copyfileobj(source, handle, MOST_AT_ONCE)
    modified = member.modified if 0 <= member.modified < LATEST else 0
    os.utime(path, (modified, modified))


# ---- what the headers say -------------------------------------------------------------------------------------


def _checked(archive: Path, headers: Iterator[_Member], room: int) -> list[_Member]:
    """The files to unpack. Raises ConfigError when they are too many or too large, or two would share a place."""
    members: dict[tuple[str, ...], _Member] = {}
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
    if not parts or parts[-1] in (MAC_ICON, MARK):
        return ()
    if not names[0] or ".." in parts or ":" in parts[0]:
        raise _refused(archive, "a file in it would lie elsewhere", name)
    if not name.isprintable():
        raise _refused(archive, "the name of a file in it has characters that cannot be written", name)
    if len(name) > LONGEST // 4 and max(len(part.encode()) for part in parts) > LONGEST:
        raise _refused(archive, f"the name of a file in it is longer than {LONGEST} bytes", name)
    return parts


@contextlib.contextmanager
def _opened_zip(archive: Path, _: Path) -> Iterator[_Opened]:
    def headers() -> Iterator[_Member]:
        for info in opened.infolist():
            parts = () if info.is_dir() else _parts(archive, info.filename)
            yield _Member(parts, info.file_size, time.mktime((*info.date_time, 0, 0, -1)), info)

    with zipfile.ZipFile(archive) as opened:
        yield _Opened(headers(), lambda member: opened.open(member.entry))


@contextlib.contextmanager
def _opened_tar(archive: Path, to: Path) -> Iterator[_Opened]:
    """Files and hard links of a tar file; symbolic links and devices are left out.

    Its headers are read to the end of the compressed file, where the checksum of all content is.
    """

    def headers() -> Iterator[_Member]:
        for info in opened:
            parts = _parts(archive, info.name) if info.isreg() or info.islnk() else ()
            yield _Member(parts, info.size, info.mtime, info, _parts(archive, info.linkname) if info.islnk() else ())
        _check_end(raw, opened.offset)

    def content(member: _Member) -> IO[bytes]:
        return opened.extractfile(tarfile.data_filter(member.entry, os.fspath(to)))

    with open(archive, "rb") as packed:
        start = packed.read(6)
        packed.seek(0)
        opener = next((opener for magic, opener in OPENERS.items() if start.startswith(magic)), None)
        with opener(packed) if opener else packed as raw, tarfile.open(fileobj=_InPieces(raw), mode="r:") as opened:
            yield _Opened(headers(), content)


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
