"""Archives from servers: unpacked whole or not at all, within their own folder, and no larger than a disk can take."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toporank.errors import ConfigError
from toporank.files.archives import LEFT_OUT, archive_name, extract
from toporank.files.state import state_of

MARK = LEFT_OUT[1]
"""In a folder that was unpacked: the archive, and the state of its files."""
UNFINISHED = ".unpacking-"
"""How the name of a folder begins until everything is in it."""


def folder_name(archive: Path) -> str:
    """The folder an archive is unpacked into: its name, which cannot lead elsewhere or hide.

    >>> folder_name(Path("fold_x.zip")), folder_name(Path("...zip")), folder_name(Path(".x.tar"))
    ('fold_x', 'archive', 'x')
    """
    return archive_name(archive).lstrip(".") or "archive"


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
        _unpack_inner(new, extract(archive, new))
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


def _unpack_inner(folder: Path, most: int) -> None:
    """Unpack the archives in a folder where they lie; one that cannot be stays as it is. most : bytes."""
    for archive in sorted(path for path in folder.rglob("*") if path.is_file() and archive_name(path)):
        to = archive.with_name(free_folder(job_name(archive), archive.parent))
        to.mkdir()
        try:
            most = extract(archive, to, most)
        except ConfigError:
            shutil.rmtree(to)
            continue
        (to / MARK).write_text("{}", encoding="utf-8")
        archive.unlink()


def free_folder(name: str, parent: Path) -> str:
    """The name, or the first of `name_2`, `name_3` … at which nothing is in a folder."""
    names = (name if k == 1 else f"{name}_{k}" for k in itertools.count(1))
    return next(free for free in names if not os.path.lexists(parent / free))
