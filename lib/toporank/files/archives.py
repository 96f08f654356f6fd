"""Archives from servers.

They are unpacked whole or not at all, within their own folder, and no larger than a disk can
take.
"""

from __future__ import annotations

import contextlib
import functools
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
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from toporank.errors import ConfigError, printable
from toporank.files.state import FileState, state_of

ZIP, TAR = (".zip",), (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
UNKNOWN = (".7z", ".rar", ".zst", ".bz2", ".xz", ".z")
UNREADABLE_ARCHIVES = (".7z", ".rar", ".tar.zst", ".tar.z")
MOST_FILES, MOST_BYTES = 100_000, 20 * 2**30
"""Files of an archive, and bytes of all of them, that are unpacked at most."""
LATEST = 2**32
"""Modification times, in seconds, are below it; a file with another gets 0."""
MARK = ".toporank_unpacked.json"
"""In a folder that was unpacked: the archive, and the state of its files."""
LEFT_OUT = ("Icon\r", MARK)
"""Files that are left out: the icon of a folder on a Mac, and what TopoRank writes."""
UNFINISHED = ".unpacking-"
"""How the name of a folder begins until everything is in it."""
REMEDY = "fetch it again, or unpack it and give the folder"
DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(
        EOFError,
        ValueError,
        OverflowError,
        RuntimeError,
        LookupError,
        MemoryError,
        OSError,
    ),
)
"""What the standard library raises of a damaged or encrypted archive."""
Packed = zipfile.ZipFile | tarfile.TarFile


class ArchiveMember(NamedTuple):
    """A file of an archive. name : with its folders. size : in bytes. modified : in seconds.

    entry : a ZipInfo of a zip file, a TarInfo of a tar file
    """

    name: str
    size: int
    modified: float
    entry: Any


# ---- names ---------------------------------------------------------------------------------------


def archive_name(path: Path) -> str:
    """The name of an archive without its suffix; empty where the file cannot be unpacked.

    >>> names = ["fold_x.zip", "run1.tar.gz", "model.pdb.gz"]
    >>> [archive_name(Path(name)) for name in names]
    ['fold_x', 'run1', '']
    """
    for suffix in ZIP + TAR:
        if path.name.lower().endswith(suffix):
            return path.name[: -len(suffix)]
    return ""


def folder_name(archive: Path) -> str:
    """The folder an archive is unpacked into: its name, which cannot lead elsewhere or hide.

    >>> folder_name(Path("fold_x.zip")), folder_name(Path("...zip")), folder_name(Path(".x.tar"))
    ('fold_x', 'archive', 'x')
    """
    return archive_name(archive).lstrip(".") or "archive"


def job_name(archive: Path) -> str:
    """The name of the job whose results are in an archive.

    It is the name of its folder, without what ColabFold adds.

    >>> job_name(Path("query.result.zip"))
    'query'
    """
    return folder_name(archive).removesuffix(".result") or "archive"


def free_folder(name: str, parent: Path) -> str:
    """The name, or the first of `name_2`, `name_3` … at which nothing is in a folder."""
    numbers = itertools.count(2)
    free = name
    while os.path.lexists(parent / free):
        free = f"{name}_{next(numbers)}"
    return free


# ---- what is in an archive -----------------------------------------------------------------------


def may_hold(archive: Path, wanted: Callable[[str], bool]) -> bool:
    """Whether a file of a wanted name is in an archive, or another archive.

    It is true where the archive cannot be opened, too.

    Parameters
    ----------
    archive : a zip or tar file
    wanted : function of the name of a file
    """
    try:
        return _may_hold(archive, state_of(archive), wanted)
    except OSError:
        return True


@functools.lru_cache(maxsize=4096)
def _may_hold(archive: Path, _: FileState, wanted: Callable[[str], bool]) -> bool:
    try:
        with _opened(archive) as (members, _packed):
            names = [member.name.rpartition("/")[2] for member in members]
    except DAMAGE:
        return True
    return any(wanted(name) or archive_name(Path(name)) for name in names)


def holds_only(
    archive: Path, wanted: Callable[[str], bool], files: Mapping[str, list[Path]]
) -> bool:
    """Whether each wanted file of an archive has the content of a file of its name.

    Parameters
    ----------
    archive : a zip or tar file
    wanted : function of the name of a file
    files : by name

    Raises
    ------
    ConfigError
        when the archive cannot be read
    """
    with _errors_of(archive), _opened(archive) as (members, packed):
        of_members = []
        for member in members:
            name = member.name.rpartition("/")[2]
            if not wanted(name):
                continue
            paths = [
                path
                for path in files.get(name, [])
                if path.stat().st_size == member.size
            ]
            if not paths:  # before any content is read
                return False
            of_members.append((member, paths))
        for member, paths in of_members:
            content = _content(packed, member)
            if all(path.read_bytes() != content for path in paths):
                return False
        return bool(of_members)


def _content(packed: Packed, member: ArchiveMember) -> bytes:
    if isinstance(packed, zipfile.ZipFile):
        return packed.read(member.entry)
    file = packed.extractfile(member.entry)
    return file.read() if file else b""


@contextlib.contextmanager
def _opened(archive: Path) -> Iterator[tuple[Iterator[ArchiveMember], Packed]]:
    """The files of an archive, from its headers one by one, and the archive."""
    if archive.name.lower().endswith(ZIP):
        with zipfile.ZipFile(archive) as packed:
            yield _of_zip(packed), packed
    else:
        with tarfile.open(archive) as packed:
            yield _of_tar(packed), packed


def _of_zip(packed: zipfile.ZipFile) -> Iterator[ArchiveMember]:
    for info in packed.infolist():
        name = "" if info.is_dir() else _safe_name(info.filename)
        if name:
            info.filename = name
            modified = time.mktime((*info.date_time, 0, 0, -1))
            yield ArchiveMember(
                name, size=info.file_size, modified=_time(modified), entry=info
            )


def _of_tar(packed: tarfile.TarFile) -> Iterator[ArchiveMember]:
    """Symbolic links and devices are left out."""
    for info in packed:
        name = _safe_name(info.name) if info.isreg() or info.islnk() else ""
        if info.size < 0:
            raise ValueError("a header in it is damaged")
        if name:
            info.name = name
            info.mtime = _time(info.mtime)
            info.linkname = _safe_name(info.linkname)
            yield ArchiveMember(name, size=info.size, modified=info.mtime, entry=info)
    # `tarfile` takes a damaged header for the end: nothing but zeros may follow, and some of them
    # have to.
    packed.fileobj.seek(packed.offset)
    left = 0
    while block := packed.fileobj.read(2**20):
        left += len(block)
        if block.strip(b"\0") or left > MOST_BYTES:
            raise ValueError("a header in it is damaged")
    if left < tarfile.BLOCKSIZE:
        raise ValueError("it ends too early")


def _safe_name(name: str) -> str:
    """The name of a file with its folders; empty where it is left out.

    Raises ValueError when it cannot lie there.
    """
    parts = [
        part for part in name.replace("\\", "/").split("/") if part not in ("", ".")
    ]
    if not parts or parts[-1] in LEFT_OUT:
        return ""
    if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
        raise ValueError(f"a file in it would lie elsewhere: {name}")
    if not name.isprintable():
        raise ValueError(
            f"the name of a file in it has characters that cannot be written: {name}"
        )
    return "/".join(parts)


def _time(seconds: float) -> float:
    """A time that a file can have."""
    return seconds if 0 <= seconds < LATEST else 0


@contextlib.contextmanager
def _errors_of(archive: Path) -> Iterator[None]:
    """Say in one line why an archive cannot be unpacked."""
    try:
        yield
    except DAMAGE as error:
        cause = getattr(error, "strerror", None) or str(error) or type(error).__name__
        what = f"cannot be unpacked: {printable(cause.splitlines()[0].rstrip(':'))}"
        raise ConfigError(what, where=archive, remedy=REMEDY) from error


# ---- unpacking -----------------------------------------------------------------------------------


def unpacked(archive: Path, folder: Path, name: str = "") -> Path:
    """The folder with the files of an archive; once unpacked, it is used as it is.

    It appears when it is complete. One that was unpacked before gives way only if its archive has
    changed and its files have not. Archives in the archive are unpacked, too, but not those in
    these.

    Parameters
    ----------
    archive : a zip or tar file
    folder : where the folder will be
    name : of the new folder; that of the archive by default

    Raises
    ------
    ConfigError
        when the archive is damaged, needs a password, is too large or has files that cannot lie
        there; when another archive of its name was unpacked there; and when a folder is there that
        TopoRank did not make
    """
    to = folder / (name or folder_name(archive))
    with _errors_of(archive):  # a link may lead to nothing
        source: list[Any] = [str(archive.absolute()), *state_of(archive)]
    if os.path.lexists(to):
        if _mark(to).get("source") == source:
            return to
        _check_ours(to, source[0])
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f"{UNFINISHED}{os.urandom(8).hex()}"
    try:
        new.mkdir()
        _unpack_inner(new, _extract(archive, new, MOST_BYTES))
        mark = json.dumps({"source": source, "files": _state(new)})
        (new / MARK).write_text(mark, encoding="utf-8")
        if to.exists():
            to.rename(new.with_name(f"{new.name}-old"))
        new.rename(to)
    finally:
        for left in folder.glob(f"{UNFINISHED}*"):  # also of runs that were killed
            shutil.rmtree(left)
    return to


def _extract(archive: Path, to: Path, most: int) -> int:
    """Write the files of an archive below a folder, once its headers say that all of them can be.

    most : bytes that all of them may have. Returns how many of these are left. Raises ConfigError.
    """
    room = min(most, shutil.disk_usage(to).free)
    members: dict[str, ArchiveMember] = {}
    total = 0
    with _errors_of(archive), _opened(archive) as (headers, packed):
        for member in headers:
            total += member.size
            if total > room or len(members) == MOST_FILES:
                most_gb = f"{MOST_BYTES / 2**30:.0f} GB"
                what = f"more than {MOST_FILES:,} files, {most_gb}, or the room on the disk"
                raise ValueError(what)
            if member.name in members:
                raise ValueError(f"two files in it have the same name: {member.name}")
            members[member.name] = member
        entries = [member.entry for member in members.values()]
        if isinstance(packed, tarfile.TarFile):
            packed.extractall(to, entries, filter="data")
        else:
            packed.extractall(to, entries)
        for name, member in members.items():
            os.utime(to / name, (member.modified, member.modified))
    return most - total


def _unpack_inner(folder: Path, most: int) -> None:
    """Unpack the archives in a folder where they lie.

    An archive that cannot be unpacked stays as it is. most : bytes.
    """
    archives = [
        path for path in folder.rglob("*") if path.is_file() and archive_name(path)
    ]
    for archive in sorted(archives):
        to = archive.with_name(free_folder(job_name(archive), archive.parent))
        to.mkdir()
        try:
            most = _extract(archive, to, most)
        except ConfigError:
            shutil.rmtree(to)
            continue
        (to / MARK).write_text("{}", encoding="utf-8")
        archive.unlink()


def _mark(folder: Path) -> dict[str, Any]:
    """What was written down when a folder was unpacked; nothing if it was not, or is a link."""
    with contextlib.suppress(OSError, ValueError):
        mark = json.loads((folder / MARK).read_text(encoding="utf-8"))
        if isinstance(mark, dict) and not folder.is_symlink():
            return mark
    return {}


def _state(folder: Path) -> str:
    """A digest of the names, sizes and times of all files below a folder.

    A folder that was moved or copied has the same digest.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != MARK:
            status = path.lstat()
            for part in (path.relative_to(folder), status.st_size, status.st_mtime_ns):
                digest.update(f"{part}\0".encode())
    return digest.hexdigest()


def _check_ours(to: Path, archive: str) -> None:
    """Raise ConfigError unless the folder was unpacked from an archive here and left alone."""
    mark = _mark(to)
    before = (mark.get("source") or [""])[0]
    if not before:
        what = f"{to} is in the way: it was not unpacked by this command"
    elif before != archive:
        what = f"holds results of the same name, of {before}, not of {archive}"
    elif mark.get("files") != _state(to):
        what = f"the archive {archive} has changed, and so have files in {to}, which would be lost"
    else:
        return
    remedy = f"choose another folder with -o, or move {to} away"
    raise ConfigError(what, where=to.parent.parent, remedy=remedy)
