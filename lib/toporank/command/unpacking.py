"""Archives from servers: unpacked without leaving their folder, and only as much as a disk can take."""

from __future__ import annotations

import contextlib
import os
import shutil
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from toporank.errors import ConfigError, printable
from toporank.files import write_text

ZIP, TAR = (".zip",), (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
UNKNOWN = (".7z", ".rar", ".zst", ".bz2", ".xz", ".z")
MOST_FILES, MOST_BYTES = 100_000, 20 * 2**30
"""Files of an archive, and bytes of all of them, that are unpacked at most."""
BY_HAND = "unpack what you need of it yourself and give the folder"


class _Member(NamedTuple):
    name: str
    size: int
    modified: float
    content: IO[bytes]


def archive_name(path: Path) -> str:
    """The name of an archive without its suffix; empty where the file is none that can be unpacked.

    >>> archive_name(Path("fold_x.zip")), archive_name(Path("run1.tar.gz")), archive_name(Path("model.pdb.gz"))
    ('fold_x', 'run1', '')
    """
    suffixes = [suffix for suffix in ZIP + TAR if path.name.lower().endswith(suffix)]
    return path.name[: -len(suffixes[0])] if suffixes else ""


def unpacked(archive: Path, folder: Path) -> Path:
    """The folder `<folder>/<name of the archive>` with what is in it; what was unpacked before is not unpacked again.

    Raises ConfigError when it is damaged, needs a password, is too large, or has a file that would lie elsewhere, or
    when another archive of its name was unpacked there.
    """
    to, mark = folder / archive_name(archive), folder / f"{archive_name(archive)}.unpacked"
    now = f"{archive.absolute()}\n{archive.stat().st_size}\n{archive.stat().st_mtime_ns}\n"
    before = mark.read_text(encoding="utf-8") if mark.is_file() else now
    if to.is_dir() and mark.is_file() and before == now:
        return to
    if (other := before.split("\n")[0]) != str(archive.absolute()):
        what = f"holds results of the same name, of {other}, not of {archive.absolute()}"
        remedy = f"choose another folder with -o, or delete {to} and {mark}"
        raise ConfigError(what, where=folder.parent, remedy=remedy)
    mark.unlink(missing_ok=True)
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    room, files = min(MOST_BYTES, shutil.disk_usage(to).free), 0
    try:
        for member in _members(archive):
            room, files = room - member.size, files + 1
            if room < 0 or files > MOST_FILES:
                much = f"more than {MOST_FILES:,} files, {MOST_BYTES / 2**30:.0f} GB, or the room on the disk"
                raise ConfigError(much, where=archive, remedy=BY_HAND)
            _write(member, to, archive)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        remedy = "fetch it again, or unpack it and give the folder"
        raise ConfigError(f"cannot be unpacked: {printable(str(error))}", where=archive, remedy=remedy) from error
    write_text(mark, now)
    return to


def _members(archive: Path) -> Iterator[_Member]:
    """The files of an archive, in its order; links and devices are left out."""
    with contextlib.ExitStack() as stack:
        if archive.name.lower().endswith(ZIP):
            opened = stack.enter_context(zipfile.ZipFile(archive))
            for info in opened.infolist():
                if not info.is_dir():
                    modified = time.mktime((*info.date_time, 0, 0, -1))
                    with opened.open(info) as content:
                        yield _Member(info.filename, info.file_size, modified, content)
        else:
            opened = stack.enter_context(tarfile.open(archive))
            for info in opened:
                if info.isreg():
                    yield _Member(info.name, info.size, info.mtime, opened.extractfile(info))


def _write(member: _Member, to: Path, archive: Path) -> None:
    """Write a file with its time, so that it is the same decoy when it is unpacked again."""
    parts = PurePosixPath(member.name.replace("\\", "/")).parts
    if not parts or ".." in parts or parts[0].startswith("/") or ":" in parts[0] or not member.name.isprintable():
        raise ConfigError(
            f"a file in it would lie elsewhere: {printable(member.name)}",
            where=archive,
            remedy=BY_HAND,
        )
    path = to.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as handle:
        shutil.copyfileobj(member.content, handle)
    os.utime(path, (member.modified, member.modified))
