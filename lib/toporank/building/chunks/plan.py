"""Chunks: lists of decoys. Each feature job handles one chunk.

Snakemake tracks one ledger for each chunk, not four files for each decoy: ten thousand decoys cost
as much as a hundred files. A chunk is named by its content, which has the state (`files.state`) and
the label of each decoy. So a plan never changes: when a decoy changes, a new chunk replaces the old
one; its job computes what the change affects and takes the rest from the reuse store. A dry run
during a build may add plans, but changes none.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import zlib
from collections.abc import Container, Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TypeVar

from toporank import layout
from toporank.errors import RecordError
from toporank.files.atomic import write_text, write_text_if_changed
from toporank.files.records import from_lines, to_lines
from toporank.files.state import state_if_there
from toporank.structures.identity import Decoy, DecoyKey

AnyRow = TypeVar("AnyRow")
NAME = re.compile(r"\d+-[0-9a-f]{16}(?=\.|$)")
"""Name of a chunk: its number, and a digest of its decoys."""


class PlannedDecoy(NamedTuple):
    """One decoy of a chunk. `dockq` is empty without a label, `refused` says why it is not read.

    size, version : of its file, as in `files.state.FileState`.
    partners : by the chains of its file, as `partners.partners_text` writes them; empty when each
        chain is one.
    partners_given : as they were given, if by other names.
    model, lacks, spare : as in `structures.identity.Decoy`.
    recognised : `yes` where nobody gave the partners.
    joined : which chains are one partner by nature, in a sentence.
    of_monomers : `yes` where a chain has the B factors that it has in another complex.
    """

    target: str
    decoy: str
    path: str
    size: int
    version: int
    dockq: str
    refused: str = ""
    partners: str = ""
    model: int = 0
    lacks: str = ""
    spare: str = ""
    partners_given: str = ""
    recognised: str = ""
    joined: str = ""
    of_monomers: str = ""

    @property
    def native_partners(self) -> str:
        """The partners by the chains of its native, which are those that a user names.

        `EACH_CHAIN` keeps each apart.

        Empty where nobody gave any: then those of the native are recognised, too.
        """
        return "" if self.recognised else self.partners_given or self.partners

    @property
    def key(self) -> DecoyKey:
        """Identity within the data set."""
        return self.target, self.decoy


Chunks = dict[str, list[PlannedDecoy]]
"""Chunk by name."""


def planned(
    decoys: Iterable[Decoy],
    labels: Mapping[DecoyKey, float],
    partners: Mapping[DecoyKey, str] | None = None,
    of_files: Mapping[DecoyKey, str] | None = None,
    contents: Mapping[str, str] | None = None,
    recognised: Container[DecoyKey] = (),
) -> list[PlannedDecoy]:
    """Decoys with the state of their files, labels and partners.

    Parameters
    ----------
    decoys : iterable of Decoy
        In any order.
    labels : mapping
        Target and decoy → DockQ.
    partners : mapping, optional
        Target and decoy → partners as text, as they were given.
    of_files : mapping, optional
        The same by the chains of each decoy's own file; as `partners` by default.
    contents : mapping, optional
        Path → SHA-256 of the file, where it is known.
    recognised : container
        Decoys whose partners nobody gave.
    """
    partners, of_files, contents = partners or {}, of_files or {}, contents or {}
    rows = []
    for decoy in decoys:
        state = state_if_there(decoy.path, contents.get(decoy.path, ""))
        dockq = labels.get(decoy.key)
        named = partners.get(decoy.key, "")
        of_file = of_files.get(decoy.key, named)
        is_recognised = decoy.key in recognised
        row = PlannedDecoy(
            target=decoy.target,
            decoy=decoy.name,
            path="" if decoy.refused else decoy.path,
            size=state.size,
            version=state.version,
            dockq="" if dockq is None else repr(float(dockq)),
            refused=decoy.refused,
            partners=of_file,
            model=decoy.model,
            lacks=decoy.lacks,
            spare=decoy.spare,
            partners_given="" if is_recognised or named == of_file else named,
            recognised="yes" if is_recognised else "",
        )
        rows.append(row)
    return rows


def deal(rows: list[PlannedDecoy], chunk_size: int) -> Chunks:
    """Deal decoys into chunks of about `chunk_size` by a hash of their names.

    Linear hashing: when one more chunk is needed, one chunk is split in two and all others stay the
    same.

    Returns
    -------
    dict
        Name of each chunk, such as `001-89ff52dd1c48501f`, → its decoys.
    """
    count = max(1, -(-len(rows) // chunk_size))
    bits = (count - 1).bit_length()
    dealt: dict[int, list[PlannedDecoy]] = {}
    for row in rows:
        hashed = zlib.crc32(f"{row.target}/{row.decoy}".encode())
        place = hashed & ((1 << bits) - 1)
        place = place if place < count else hashed & ((1 << (bits - 1)) - 1)
        dealt.setdefault(place, []).append(row)
    return {
        f"{place + 1:03d}-{_digest(members)}": members
        for place, members in sorted(dealt.items())
    }


def part_of(plan: Iterable[PlannedDecoy], part: str) -> list[list[PlannedDecoy]]:
    """The targets of one of several parts, each with its decoys.

    Parameters
    ----------
    plan : iterable of PlannedDecoy
        All decoys.
    part : str
        Number of the part, from 1, and of all parts, such as "3-of-7".
    """
    number, n_parts = map(int, part.split("-of-"))
    targets = []
    for target, decoys in groupby(sorted(plan), key=attrgetter("target")):
        if zlib.crc32(target.encode()) % n_parts == number - 1:
            targets.append(list(decoys))
    return targets


def _digest(members: list[PlannedDecoy]) -> str:
    return hashlib.sha256(_text(members).encode()).hexdigest()[:16]


def chunk_names(folder: Path) -> list[str]:
    """The chunks that have a file in a folder of plans or ledgers, oldest file first."""
    changed: dict[str, int] = {}
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            name = entry.name.removesuffix(".tsv")
            if NAME.fullmatch(name):
                # a build beside this run removed it
                with contextlib.suppress(FileNotFoundError):
                    changed[name] = entry.stat().st_mtime_ns
    return sorted(changed, key=lambda name: (changed[name], name))


class Current(NamedTuple):
    """The chunks of a data set that a run builds.

    of_all : those of all decoys, which are more in a partial build

    folder : of the decoys, as given and as resolved.
    """

    folder: tuple[str, str]
    chunks: list[str]
    of_all: list[str]


def write_plans(dataset: str, chunks: Chunks) -> None:
    """Write the plans that do not exist yet."""
    for name, members in chunks.items():
        write_text_if_changed(
            layout.PLAN.format(dataset=dataset, chunk=name), _text(members)
        )


def write_current(dataset: str, current: Current) -> None:
    """Record what this run builds, for its jobs. Call it only under the lock of the data set."""
    text = json.dumps(current._asdict(), indent=1) + "\n"
    write_text(layout.CURRENT.format(dataset=dataset), text)


def read_current(dataset: str) -> Current | None:
    """What the last run built; None if there was none or its record cannot be read."""
    try:
        text = Path(layout.CURRENT.format(dataset=dataset)).read_text(encoding="utf-8")
        record = json.loads(text)
        return Current(tuple(record["folder"]), record["chunks"], record["of_all"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def read_chunk(dataset: str, chunk: str) -> list[PlannedDecoy]:
    """The decoys of a chunk.

    Raises RecordError when the plan does not match its name, FileNotFoundError when another version
    wrote it.
    """
    path = Path(layout.PLAN.format(dataset=dataset, chunk=chunk))
    fields = list(PlannedDecoy._fields)
    try:
        columns, *lines = from_lines(path.read_text(encoding="utf-8"))
        if columns != fields and columns[:3] == fields[:3]:
            raise FileNotFoundError(
                errno.ENOENT, "a plan of another version", str(path)
            )
        members = [_from_cells(cells) for cells in lines]
    except (ValueError, TypeError) as error:
        raise RecordError(
            "not a plan", where=path, remedy="delete it and run again"
        ) from error
    if _digest(members) not in chunk:
        raise RecordError(
            "the plan was changed", where=path, remedy="delete it and run again"
        )
    return members


def read_chunks(dataset: str, chunks: Iterable[str]) -> dict[DecoyKey, PlannedDecoy]:
    """The decoys of several chunks by target and name; raises as `read_chunk`."""
    rows: list[PlannedDecoy] = []
    for chunk in chunks:
        rows += read_chunk(dataset, chunk)
    return by_key(rows)


def by_key(rows: Iterable[AnyRow]) -> dict[DecoyKey, AnyRow]:
    """Rows by their `key`, target and decoy; the last where several have the same."""
    return {row.key: row for row in rows}


def _from_cells(cells: list[str]) -> PlannedDecoy:
    """A line of a plan. Raises ValueError or TypeError where it is something else."""
    row = PlannedDecoy(*cells)
    return row._replace(
        size=int(row.size), version=int(row.version), model=int(row.model)
    )


def _text(members: list[PlannedDecoy]) -> str:
    return to_lines(PlannedDecoy._fields, members)
