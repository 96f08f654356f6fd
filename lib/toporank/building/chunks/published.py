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
from toporank.building.chunks.plan import read_chunk, read_current
from toporank.building.chunks.store import Store
from toporank.errors import RecordError
from toporank.features.registry import Choice
from toporank.files.atomic import sha256, write_bytes, write_text

Key = tuple[str, str, str]
"""Stage, target and decoy."""
State = tuple[int, int]
"""Size in bytes and modification time in ns."""
COLUMNS = ("stage", "target", "decoy", "artefact_sha256", "file_sha256", "size", "mtime_ns")
AsFile = Callable[[str, bytes], bytes]
"""Takes a stage and an artefact of the store, returns what is in the file that people open."""


class Published(NamedTuple):
    """An artefact as it was published. artefact, file : SHA-256 of it in the store, and of its
    file.
    """

    artefact: str
    file: str
    state: State


def place(dataset: str, stage: str, target: str, decoy: str) -> Path:
    """Where an artefact is published."""
    return Path(
        layout.ARTEFACTS.format(dataset=dataset, stage=stage), target, decoy + layout.SUFFIX[stage]
    )


def publish(
    dataset: str, choices: dict[str, Choice], store: Store, as_file: AsFile
) -> tuple[int, int]:
    """Publish the artefacts of the decoys of the last build, and remove all that are of none; how
    many of each.

    What a partial build leaves out stays as it is. Raises RecordError where something else is in
    the place of one.
    """
    current = read_current(dataset)
    members = {
        member.key: member for chunk in current.chunks for member in read_chunk(dataset, chunk)
    }
    rows = last_fates(dataset, current)
    table, there, written = read_published(dataset), _look(dataset), 0
    wanted = {
        (stage, *row.key): digest
        for row in rows.values()
        for stage, digest in row.artefacts.items()
    }
    kept = {key: known for key, known in table.items() if key in wanted and key[1:] not in members}
    for key, digest in wanted.items():
        if key[1:] not in members:
            continue
        path, known = place(dataset, *key), table.get(key)
        is_there = known is not None and (there.get(key) == known.state or _is(path, known.file))
        if is_there and known.artefact == digest:
            file_digest = known.file
        else:
            content = as_file(
                key[0], artefact(key[0], digest, members[key[1:]], rows[key[1:]], choices, store)
            )
            _write(path, content)
            file_digest = hashlib.sha256(content).hexdigest()
            written += 1
        stat = path.lstat()
        kept[key] = Published(
            artefact=digest, file=file_digest, state=(stat.st_size, stat.st_mtime_ns)
        )
    removed = sum(_remove(place(dataset, *key)) for key in there.keys() - wanted.keys())
    write_published(dataset, kept)
    return written, removed


def publish_decoy(
    dataset: str, chunk: str, choices: dict[str, Choice], store: Store, as_file: AsFile
) -> LedgerRow:
    """Publish the artefacts of a decoy that was built by itself; what became of it."""
    (member,) = read_chunk(dataset, chunk)
    (row,) = read_outcomes(dataset, chunk, [member.key]).rows
    for stage, digest in row.artefacts.items():
        content = as_file(stage, artefact(stage, digest, member, row, choices, store))
        _write(place(dataset, stage, *row.key), content)
    return row


def write_published(dataset: str, table: Mapping[Key, Published]) -> None:
    """Write what is published."""
    lines = [
        "\t".join((*key, row.artefact, row.file, *map(str, row.state)))
        for key, row in sorted(table.items())
    ]
    write_text(
        layout.PUBLISHED.format(dataset=dataset), "\n".join(["\t".join(COLUMNS), *lines, ""])
    )


def read_published(dataset: str) -> dict[Key, Published]:
    """What is published of a data set; nothing if its table is not there or is something else."""
    try:
        _, *lines = (
            Path(layout.PUBLISHED.format(dataset=dataset))
            .read_text(encoding="utf-8")
            .split("\n")[:-1]
        )
        rows = [line.split("\t") for line in lines]
        return {
            (stage, target, decoy): Published(artefact, file, (int(size), int(mtime)))
            for stage, target, decoy, artefact, file, size, mtime in rows
        }
    except (FileNotFoundError, ValueError):
        return {}


def damaged(dataset: str) -> set[Key]:
    """Published artefacts that are gone or have other content. A file is read only if its time
    differs.
    """
    table = read_published(dataset)
    there = _look(dataset) if table else {}
    differing = [key for key, known in table.items() if there.get(key) != known.state]
    return {key for key in differing if not _is(place(dataset, *key), table[key].file)}


def _look(dataset: str) -> dict[Key, State]:
    """Every artefact that is there."""
    seen: dict[Key, State] = {}
    for stage in layout.STAGES:
        suffix = layout.SUFFIX[stage]
        for target in _entries(layout.ARTEFACTS.format(dataset=dataset, stage=stage)):
            for file in _entries(target.path):
                if file.name.endswith(suffix):
                    with contextlib.suppress(
                        FileNotFoundError
                    ):  # a build beside this run removed it
                        stat = file.stat(follow_symlinks=False)
                        seen[stage, target.name, file.name.removesuffix(suffix)] = (
                            stat.st_size,
                            stat.st_mtime_ns,
                        )
    return seen


def _entries(folder: str) -> list[os.DirEntry]:
    try:
        return list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is(path: Path, digest: str) -> bool:
    try:
        return sha256(path) == digest
    except OSError:
        return False


def _write(path: Path, content: bytes) -> None:
    try:
        write_bytes(path, content)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise RecordError(
            "something else is in the place of a result", where=path, remedy="remove it"
        ) from error


def _remove(path: Path) -> bool:
    """Remove what is published there, unless the path goes through a linked folder; results/ itself
    may be a link.
    """
    if path.is_dir() or any(folder.is_symlink() for folder in path.parents[:-2]):
        return False
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # it holds other files
        path.parent.rmdir()
    return True
