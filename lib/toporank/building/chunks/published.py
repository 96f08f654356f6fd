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

from filelock import FileLock

from toporank import layout
from toporank.building.chunks.chunk import artefact, run_stage
from toporank.building.chunks.ledger import LedgerRow, Recipes, last_fates
from toporank.building.chunks.plan import (
    PlannedDecoy,
    read_chunks,
    what_was_built,
)
from toporank.building.chunks.stages import recipes
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
    "made_of",
    "asked",
)
AsFile = Callable[[str, bytes], bytes]
"""Takes a stage and an artefact of the store, returns what is in the file that people open."""


class Published(NamedTuple):
    """An artefact as it was published.

    artefact, file : SHA-256 of it in the store, and of its file. made_of : as `made_of` gives it.
    asked : `yes` where somebody asked for it alone; the next build looks whether it is its own.
    """

    artefact: str
    file: str
    state: SizeAndTime
    made_of: str
    asked: str = ""


def made_of(decoy: PlannedDecoy, stage: str, recipes_of: Recipes) -> str:
    """Digest of everything that the artefact of a stage is made from.

    It holds the file of the decoy and its partners, code and parameters of this stage and of those
    before it and, of a graph, the label.
    """
    before = layout.STAGES[: layout.STAGES.index(stage) + 1]
    label = decoy.dockq if stage == layout.STAGES[-1] else ""
    of_file = decoy.size, decoy.version, decoy.model, decoy.refused
    depends_on = (of_file, decoy.partners, label, [recipes_of[s] for s in before])
    return hashlib.sha256(repr(depends_on).encode()).hexdigest()[:16]


def used_by(stage: str, decoy: PlannedDecoy) -> PlannedDecoy:
    """A decoy as far as the artefact of a stage depends on it, and without its path."""
    return PlannedDecoy(
        *decoy.key,
        path="",
        size=decoy.size,
        version=decoy.version,
        dockq=decoy.dockq if stage == layout.STAGES[-1] else "",
        refused=decoy.refused,
        partners=decoy.partners,
        model=decoy.model,
        refused_as=decoy.refused_as,
    )


def place(dataset: str, stage: str, target: str, decoy: str) -> Path:
    """Where an artefact is published."""
    path = layout.ARTEFACT[stage].format(dataset=dataset, target=target, decoy=decoy)
    return Path(path)


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
    current = what_was_built(dataset)
    members = read_chunks(dataset, current.chunks)
    recipes_of = recipes(choices)
    before, states, table = read_published(dataset), _states(dataset), {}
    n_written, stale = 0, set(states)
    for row in last_fates(dataset, current).values():
        for stage in layout.STAGES:
            key = stage, *row.key
            digest = row.artefacts.get(stage)
            # of a decoy that fails, a job for one artefact writes an empty file
            if digest is None and row.key in members and states.get(key, (1, 0))[0]:
                continue
            stale.discard(key)
            path, published = place(dataset, *key), before.get(key)
            if digest is None:
                continue
            if row.key not in members:
                if published:
                    table[key] = published
                continue
            is_there = published and published.artefact == digest
            if (
                published
                and is_there
                and (
                    states.get(key) == published.state
                    or _has_content(path, published.file)
                )
            ):
                file_digest = published.file
            else:
                member = members[row.key]
                content = as_file(
                    stage, artefact(stage, digest, member, row, choices, store)
                )
                file_digest = hashlib.sha256(content).hexdigest()
                if not _has_content(path, file_digest):
                    _write(path, content)
                    n_written += 1
            table[key] = Published(
                artefact=digest,
                file=file_digest,
                state=_state(path.lstat()),
                made_of=made_of(members[row.key], stage, recipes_of),
            )
    n_removed = sum(_remove(place(dataset, *key)) for key in stale)
    write_published(dataset, table)
    return n_written, n_removed


def publish_artefact(
    dataset: str,
    decoy: PlannedDecoy,
    stage: str,
    choices: dict[str, FeatureChoice],
    store: Store,
    as_file: AsFile,
    *,
    record: bool,
) -> LedgerRow:
    """Make the artefact of one stage of one decoy and publish it; the outcome of the decoy.

    Where the decoy fails, its file is empty: nothing takes that for an artefact.

    record : whether the table of what is published gets a row. Where each artefact has a job,
    `publish` writes it once for all of them.
    """
    row, content = run_stage(decoy, stage, choices, store)
    written = as_file(stage, content) if content else b""
    path = place(dataset, stage, *decoy.key)
    _write(path, written)
    if not record:
        return row
    lock = Path(layout.LOCK.format(name=f"{dataset}.published"))
    lock.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        table = read_published(dataset)
        key = stage, *decoy.key
        table.pop(key, None)
        if content:
            table[key] = Published(
                artefact=hashlib.sha256(content).hexdigest(),
                file=hashlib.sha256(written).hexdigest(),
                state=_state(path.lstat()),
                made_of=made_of(decoy, stage, recipes(choices)),
                asked="yes",
            )
        write_published(dataset, table)
    return row


def write_published(dataset: str, table: Mapping[ArtefactKey, Published]) -> None:
    """Write what is published."""
    rows = [
        (*key, row.artefact, row.file, *row.state, row.made_of, row.asked)
        for key, row in sorted(table.items())
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
        for stage, target, decoy, artefact_digest, file_digest, *others in lines:
            size, mtime, origin, asked = others
            table[stage, target, decoy] = Published(
                artefact=artefact_digest,
                file=file_digest,
                state=(int(size), int(mtime)),
                made_of=origin,
                asked=asked,
            )
    except (FileNotFoundError, ValueError):
        return {}
    return table


def damaged(
    dataset: str, table: Mapping[ArtefactKey, Published] | None = None
) -> set[ArtefactKey]:
    """Published artefacts that are gone or have other content.

    A file is read only if its time differs.

    table : what is published, where it was read before
    """
    table = read_published(dataset) if table is None else table
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
