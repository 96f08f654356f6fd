"""What results/ shows of a data set: links to finished artefacts in the reuse store.

Only people read it, and packing, which compares checksums. It may be deleted, moved or edited: what differs from the
ledgers is restored. Links are followed for writing, but nothing is ever deleted through one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from toporank import layout
from toporank.building.ledger import LedgerRow
from toporank.building.store import Entry
from toporank.decoys.identity import Status
from toporank.errors import RecordError
from toporank.files import link_or_copy, sha256

Seen = dict[tuple[str, str], tuple[int, int]]
"""(target, decoy) → size in bytes and modification time in ns of its artefact."""


def place(dataset: str, stage: str, key: tuple[str, str]) -> Path:
    """Where an artefact is shown."""
    return Path(layout.ARTEFACTS.format(dataset=dataset, stage=stage), key[0], key[1] + layout.SUFFIX[stage])


def show(path: Path, entry: Entry) -> int:
    """Show an artefact there, unless it already is; its modification time in ns. Raises RecordError if it cannot be."""
    try:
        if not (path.exists() and (path.samefile(entry.path) or _is(path, entry.size, entry.sha256))):
            link_or_copy(entry.path, path)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise RecordError("something else is in the place of a result", where=path, remedy="remove it") from error
    return path.stat().st_mtime_ns


def withdraw(path: Path) -> None:
    """Remove what is shown there, unless the path goes through a link."""
    if not _behind_a_link(path):
        path.unlink(missing_ok=True)


def look(dataset: str, stage: str) -> Seen:
    """Every artefact of a stage that results/ shows."""
    root, suffix = layout.ARTEFACTS.format(dataset=dataset, stage=stage), layout.SUFFIX[stage]
    seen: Seen = {}
    for target in _entries(root):
        for file in _entries(target.path):
            if file.name.endswith(suffix):
                with contextlib.suppress(FileNotFoundError):  # a build beside this run removed it
                    stat = file.stat(follow_symlinks=False)
                    seen[target.name, file.name.removesuffix(suffix)] = (stat.st_size, stat.st_mtime_ns)
    return seen


def differing(dataset: str, stage: str, rows: Iterable[LedgerRow], seen: Seen) -> Iterator[tuple[str, str]]:
    """Decoys whose artefact is missing or has other content than its ledger says.

    A file is read only if its time differs and its size does not.
    """
    for row in rows:
        if row.status != Status.OK or seen.get(row.key) == (row.size, row.mtime_ns):
            continue
        if row.key not in seen or not _is(place(dataset, stage, row.key), row.size, row.sha256):
            yield row.key


def remove_orphans(dataset: str, planned: Iterable[tuple[str, str]]) -> list[Path]:
    """Delete artefacts of decoys that are no longer part of the data set; return their paths.

    planned : (target, decoy) of every decoy of the data set.
    """
    kept, removed = set(planned), []
    for stage in layout.STAGES:
        for key in look(dataset, stage).keys() - kept:
            path = place(dataset, stage, key)
            if not _behind_a_link(path) and not path.is_dir():
                path.unlink()
                removed.append(path)
                with contextlib.suppress(OSError):  # it holds other files
                    path.parent.rmdir()
    return sorted(removed)


def _behind_a_link(path: Path) -> bool:
    """Whether the path goes through a linked folder; results/ itself may be a link."""
    return any(folder.is_symlink() for folder in path.parents[:-2])


def _is(path: Path, size: int, digest: str) -> bool:
    try:
        return path.stat().st_size == size and sha256(path) == digest
    except OSError:
        return False


def _entries(folder: str) -> list[os.DirEntry]:
    try:
        return list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
