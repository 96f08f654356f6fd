"""The published folder: the artefacts of a data set as files under `results/<dataset>/<stage>/`.

They are made from what is in the store, once a build is finished, in formats that other programs
read. A table says which there are; what differs from it is published again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank import layout
from toporank.building.chunks.chunk import artefact
from toporank.building.chunks.ledger import LedgerRow, last_fates, read_outcomes
from toporank.building.chunks.plan import read_chunk, read_chunks, read_current
from toporank.building.chunks.store import Store
from toporank.errors import RecordError
from toporank.features.registry import FeatureChoice
from toporank.files.atomic import sha256, write_bytes, write_text
from toporank.files.records import from_lines, to_lines

ArtefactKey = tuple[str, str, str]
"""Stage, target and decoy."""
SizeAndTime = tuple[int, int]
"""Size in bytes and modification time in ns."""
COLUMNS = (
    "stage",
    "target",
    "decoy",
    "artefact_sha256",
    "file_sha256",
    "size",
    "mtime_ns",
)
AsFile = Callable[[str, bytes], bytes]
"""Takes a stage and an artefact of the store, returns what is in the file that people open."""


class Published(NamedTuple):
    """An artefact as it was published.

    artefact, file : SHA-256 of it in the store, and of its file.
    """

    artefact: str
    file: str
    state: SizeAndTime


def place(dataset: str, stage: str, target: str, decoy: str) -> Path:
    """Where an artefact is published."""
    folder = layout.ARTEFACTS.format(dataset=dataset, stage=stage)
    return Path(folder, target, decoy + layout.SUFFIX[stage])


def publish(
    dataset: str, choices: dict[str, FeatureChoice], store: Store, as_file: AsFile
) -> tuple[int, int]:
    """Publish the artefacts of the last build, and remove those of decoys that no longer exist.

    What a partial build leaves out stays as it is.

    Parameters
    ----------
    dataset : str
        Whose decoys were built.
    choices, store : dict, Store
        The feature modules, and the reuse store.
    as_file : callable
        Stage and artefact → what is in the file that people open.

    Returns
    -------
    tuple of int
        How many were published, and how many removed.

    Raises
    ------
    RecordError
        Where something else is in the place of one.
    """
    current = read_current(dataset)
    members = read_chunks(dataset, current.chunks)
    before, states, table = read_published(dataset), _states(dataset), {}
    n_written, stale = 0, set(states)
    for row in last_fates(dataset, current).values():
        for stage, digest in row.artefacts.items():
            key = stage, *row.key
            stale.discard(key)
            path, published = place(dataset, *key), before.get(key)
            if row.key not in members:
                if published:
                    table[key] = published
                continue
            is_there = published and (
                states.get(key) == published.state or _has_content(path, published.file)
            )
            if is_there and published.artefact == digest:
                file_digest = published.file
            else:
                member = members[row.key]
                content = as_file(
                    stage, artefact(stage, digest, member, row, choices, store)
                )
                _write(path, content)
                file_digest = hashlib.sha256(content).hexdigest()
                n_written += 1
            table[key] = Published(
                artefact=digest, file=file_digest, state=_state(path.lstat())
            )
    n_removed = sum(_remove(place(dataset, *key)) for key in stale)
    write_published(dataset, table)
    return n_written, n_removed


def publish_decoy(
    dataset: str,
    chunk: str,
    choices: dict[str, FeatureChoice],
    store: Store,
    as_file: AsFile,
) -> LedgerRow:
    """Publish the artefacts of a decoy that was built alone; its outcome."""
    (member,) = read_chunk(dataset, chunk)
    (row,) = read_outcomes(dataset, chunk, [member.key]).rows
    for stage, digest in row.artefacts.items():
        content = as_file(stage, artefact(stage, digest, member, row, choices, store))
        _write(place(dataset, stage, *row.key), content)
    return row


def write_published(dataset: str, table: Mapping[ArtefactKey, Published]) -> None:
    """Write what is published."""
    rows = [
        (*key, row.artefact, row.file, *row.state) for key, row in sorted(table.items())
    ]
    write_text(layout.PUBLISHED.format(dataset=dataset), to_lines(COLUMNS, rows))


def read_published(dataset: str) -> dict[ArtefactKey, Published]:
    """What is published of a data set; nothing if its table is missing or is something else."""
    table = {}
    try:
        text = Path(layout.PUBLISHED.format(dataset=dataset)).read_text(
            encoding="utf-8"
        )
        _, *lines = from_lines(text)
        for stage, target, decoy, artefact_digest, file_digest, size, mtime in lines:
            state = int(size), int(mtime)
            table[stage, target, decoy] = Published(artefact_digest, file_digest, state)
    except (FileNotFoundError, ValueError):
        return {}
    return table


def damaged(dataset: str) -> set[ArtefactKey]:
    """Published artefacts that are gone or have other content.

    A file is read only if its time differs.
    """
    table = read_published(dataset)
    states = _states(dataset) if table else {}
    differing = [
        key for key, published in table.items() if states.get(key) != published.state
    ]
    return {
        key
        for key in differing
        if not _has_content(place(dataset, *key), table[key].file)
    }


def _states(dataset: str) -> dict[ArtefactKey, SizeAndTime]:
    """Every artefact that is published, with the state of its file."""
    states: dict[ArtefactKey, SizeAndTime] = {}
    for stage in layout.STAGES:
        suffix = layout.SUFFIX[stage]
        for target in _entries(layout.ARTEFACTS.format(dataset=dataset, stage=stage)):
            for file in _entries(target.path):
                if file.name.endswith(suffix):
                    key = stage, target.name, file.name.removesuffix(suffix)
                    # a build beside this removed it
                    with contextlib.suppress(FileNotFoundError):
                        states[key] = _state(file.stat(follow_symlinks=False))
    return states


def _state(status: os.stat_result) -> SizeAndTime:
    return status.st_size, status.st_mtime_ns


def _entries(folder: str) -> list[os.DirEntry]:
    try:
        return list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _has_content(path: Path, digest: str) -> bool:
    try:
        return sha256(path) == digest
    except OSError:
        return False


def _write(path: Path, content: bytes) -> None:
    try:
        write_bytes(path, content)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        what = "something else is in the place of a result"
        raise RecordError(what, where=path, remedy="remove it") from error


def _remove(path: Path) -> bool:
    """Remove what is published there, unless the path goes through a linked folder.

    `results/` itself may be a link.
    """
    if path.is_dir() or any(folder.is_symlink() for folder in path.parents[:-2]):
        return False
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # it holds other files
        path.parent.rmdir()
    return True
