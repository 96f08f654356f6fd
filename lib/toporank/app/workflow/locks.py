"""One run at a time for each data set, for the training, and for a folder that a command writes to.

Snakemake's own lock does not last: a second run that shares no files with the first, such as `snakemake coverage`, is
let in and removes all locks of the folder when it ends. The locks here belong to a process and end with it.
"""

from __future__ import annotations

import errno
import fcntl
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from toporank import layout
from toporank.errors import ConfigError

_held: dict[str, IO[str]] = {}
"""Open files by path: their locks end when they are closed, at the latest with this process."""


def take(names: Iterable[str], folder: Path | None = None, place: str = "another place with --directory") -> None:
    """Lock these names in a folder, or the working directory, until this process and its copies end.

    Raises ConfigError when another process holds one of them. A file system without locks is no error.
    """
    folder = (folder or Path()).resolve()
    for name in sorted(set(names)):
        path = folder / layout.LOCK.format(name=name)
        if str(path) in _held:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                remedy = f"wait for its end, or choose {place}"
                raise ConfigError(f"another run is working on {name}", where=folder, remedy=remedy) from error
        else:
            _held[str(path)] = file


def take_all(folder: Path) -> bool:
    """Lock all that was ever locked in a folder, as `take` does; whether no other process holds any of it.

    It is not certain where the file system has no locks. Raises ConfigError when another process holds one.
    """
    folder = folder.resolve()
    names = [path.name for path in (folder / layout.LOCK.format(name="x")).parent.glob("*")]
    take(names, folder)
    return bool(names) and all(str(folder / layout.LOCK.format(name=name)) in _held for name in names)
