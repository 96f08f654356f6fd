"""Parts and chunks: lists of decoys. A job scores one part, or computes the features of one chunk.

Snakemake tracks one ledger for each chunk, not four files for each decoy: ten thousand decoys cost
as much as a hundred files. A part has whole targets; it is one chunk, or several where it is large,
so that the scores of a part wait for its own chunks alone. Both are named by their content, which
has the state (`files.state`) and the label of each decoy. So a plan never changes: when a decoy
changes, a new chunk replaces the old one; its job computes what the change affects and takes the
rest from the reuse store. A dry run during a build may add plans, but changes none.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from toporank import layout
from toporank.chains.resolve import BY_NATURE, NO_PARTNERS, Chosen
from toporank.errors import RecordError
from toporank.files.atomic import write_text, write_text_if_changed
from toporank.files.records import from_lines, to_lines
from toporank.files.state import FileState, state_if_there
from toporank.structures.identity import Decoy, DecoyKey


class Keyed(Protocol):
    """A row of a decoy."""

    @property
    def key(self) -> DecoyKey:
        """Its target and name."""


AnyRow = TypeVar("AnyRow", bound=Keyed)
NAME = re.compile(r"[0-9a-f]{16}(?=\.|$)")
"""Name of a chunk or a part: a digest of its decoys."""


class PlannedDecoy(NamedTuple):
    """One decoy of a chunk. `dockq` is empty without a label, `refused` says why it is not read.

    size, version : of its file, as in `files.state.FileState`.
    partners : by the chains of its file, as `partners.partners_text` writes them; empty when each
        chain is one.
    partners_given : as they were given, if by other names.
    refused_as, model, lacks, spare : as in `structures.identity.Decoy`.
    source : who says the partners, as in `chains.resolve.Chosen`; empty where nobody does.
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
    source: str = ""
    joined: str = ""
    of_monomers: str = ""
    refused_as: str = ""

    @property
    def native_partners(self) -> str:
        """The partners by the chains of its native, which are those that a user names.

        `EACH_CHAIN` keeps each apart.

        Empty where nobody gave any: then those of the native are recognised, too.
        """
        return "" if self.is_by_nature else self.partners_given or self.partners

    @property
    def is_by_nature(self) -> bool:
        """Whether there are partners that nobody gave."""
        return self.source in BY_NATURE

    @property
    def key(self) -> DecoyKey:
        """Identity within the data set."""
        return self.target, self.decoy


Chunks = dict[str, list[PlannedDecoy]]
"""Chunk by name."""


def planned(
    decoys: Iterable[Decoy],
    labels: Mapping[DecoyKey, float],
    chosen: Mapping[DecoyKey, Chosen] | None = None,
    states: Mapping[str, FileState] | None = None,
) -> list[PlannedDecoy]:
    """Decoys with the state of their files, labels and partners.

    Parameters
    ----------
    decoys : iterable of Decoy
        In any order.
    labels : mapping
        Target and decoy → DockQ.
    chosen : mapping, optional
        Target and decoy → partners, as from `chains.resolve.resolve`.
    states : mapping, optional
        Path → state of the file, where it is known.
    """
    chosen, states = chosen or {}, states or {}
    rows = []
    for decoy in decoys:
        state = states.get(decoy.path) or state_if_there(decoy.path)
        key = decoy.key
        dockq = labels.get(key)
        partners, named, source, note = chosen.get(key, NO_PARTNERS)
        row = PlannedDecoy(
            target=decoy.target,
            decoy=decoy.name,
            path="" if decoy.refused else decoy.path,
            size=state.size,
            version=state.version,
            dockq="" if dockq is None else repr(float(dockq)),
            refused=decoy.refused,
            refused_as=decoy.refused_as,
            partners=partners,
            model=decoy.model,
            lacks=decoy.lacks,
            spare=decoy.spare,
            partners_given="" if named == partners else named,
            source=source,
            joined=note,
        )
        rows.append(row)
    return rows


def parts_of(rows: Iterable[PlannedDecoy], chunk_size: int) -> list[list[PlannedDecoy]]:
    """Whole targets in the order of their names, about `chunk_size` decoys together.

    A target ends a part by a hash of its name, more likely the more decoys it has, once the part
    has half of `chunk_size`; or where the part has twice of it. So a decoy more or less moves the
    end of its own part at most, and other parts stay finished: counting alone would move all ends
    behind it.

    Returns
    -------
    list of list of PlannedDecoy
        None of them is empty. They have from half of `chunk_size` to twice of it, but for the last
        and for those that end with a large target.
    """
    parts: list[list[PlannedDecoy]] = []
    part: list[PlannedDecoy] = []
    for target, decoys in groupby(sorted(rows), key=attrgetter("target")):
        n_before = len(part)
        part += decoys
        n_decoys = len(part) - n_before
        hashed = zlib.crc32(target.encode()) / 2**32
        ends_here = hashed < n_decoys / (chunk_size / 2)
        if (len(part) >= chunk_size / 2 and ends_here) or len(part) >= 2 * chunk_size:
            parts.append(part)
            part = []
    return [*parts, part] if part else parts


def deal(rows: Iterable[PlannedDecoy], chunk_size: int) -> Chunks:
    """Deal decoys into chunks of about `chunk_size`; as `dealt_in_parts`, without the parts."""
    chunks: Chunks = {}
    for of_part in dealt_in_parts(rows, chunk_size).values():
        chunks |= of_part
    return chunks


def dealt_in_parts(
    rows: Iterable[PlannedDecoy], chunk_size: int, *, split: bool = True
) -> dict[str, Chunks]:
    """Deal decoys into parts, and the decoys of a part into chunks of about `chunk_size`.

    split : whether a part may have several chunks.

    Returns
    -------
    dict
        Name of each part, such as `89ff52dd1c48501f`, → its chunks: name → decoys.
    """
    parts = {}
    for part in parts_of(rows, chunk_size):
        n_chunks = max(1, round(len(part) / chunk_size)) if split else 1
        name = _digest(part)
        parts[name] = _chunks_of(part, n_chunks) if n_chunks > 1 else {name: part}
    return parts


def _chunks_of(part: list[PlannedDecoy], count: int) -> Chunks:
    """Deal the decoys of a part into `count` chunks by a hash of their names.

    Linear hashing: when one more chunk is needed, one chunk is split in two and all others stay the
    same.
    """
    bits = (count - 1).bit_length()
    dealt: dict[int, list[PlannedDecoy]] = {}
    for row in part:
        hashed = zlib.crc32(f"{row.target}/{row.decoy}".encode())
        place = hashed & ((1 << bits) - 1)
        place = place if place < count else hashed & ((1 << (bits - 1)) - 1)
        dealt.setdefault(place, []).append(row)
    return {_digest(members): members for _, members in sorted(dealt.items())}


def by_target(plan: Iterable[PlannedDecoy]) -> list[list[PlannedDecoy]]:
    """The decoys of each target, in the order of their names."""
    targets = groupby(sorted(plan), key=attrgetter("target"))
    return [list(decoys) for _, decoys in targets]


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

    folder : of the decoys, as given and as resolved.

    of_all : the chunks of all decoys, which are more in a partial build

    parts : name of each part of all decoys → its chunks.
    """

    folder: tuple[str, str] = "", ""
    chunks: list[str] = []  # noqa: RUF012 -- read, never changed
    of_all: list[str] = []  # noqa: RUF012
    parts: dict[str, list[str]] = {}  # noqa: RUF012


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


def what_was_built(dataset: str) -> Current:
    """As `read_current`. Raises RecordError where it has none."""
    current = read_current(dataset)
    if current is None:
        path = layout.CURRENT.format(dataset=dataset)
        raise RecordError("no record of a run", where=path, remedy="build it again")
    return current


def read_current(dataset: str) -> Current | None:
    """What the last run built; None if there was none or its record cannot be read."""
    try:
        text = Path(layout.CURRENT.format(dataset=dataset)).read_text(encoding="utf-8")
        record = json.loads(text)
        return Current(**record | {"folder": tuple(record["folder"])})
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
    row = PlannedDecoy._make(cells)
    return row._replace(
        size=int(row.size), version=int(row.version), model=int(row.model)
    )


def _text(members: list[PlannedDecoy]) -> str:
    return to_lines(PlannedDecoy._fields, members)
