"""The reuse store: finished artefacts, keyed by what they were made from.

A file of the store is a box: a zip archive with everything that was made of one thing, such as all artefacts of the
atoms of a decoy, for on most file systems a file more costs as much as what is in it. A key names everything that its
artefact depends on, so an artefact is never wrong, only unused: after a parameter is changed back, a decoy renamed or
a data set moved, earlier work is found again. What is read is checked, so that damage is never passed on.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from toporank.errors import RecordError
from toporank.features.registry import canonical
from toporank.files.atomic import write_bytes

BOX = ".zip"
_DAMAGED = (zipfile.BadZipFile, KeyError, EOFError, ValueError, OverflowError, RuntimeError, zlib.error)
"""What `zipfile` raises where bytes are missing or other than they were."""

STEPS = ("topology", "nodes", "edges")
"""Kinds that only lead to a graph: a thin store has their checksums and facts, and makes them anew in the rare case."""
STORED = ("topology", "nodes")
"""Kinds that are not compressed: they would shrink by a third. Others do to a half or a quarter, at 40 to 100 MB/s."""
_COMPRESSION = dict.fromkeys(STORED, zipfile.ZIP_STORED)
FAST = 1
"""Level of the compression."""

Make = Callable[[], tuple[bytes, dict[str, Any]]]
"""Returns the bytes of an artefact, and facts to keep with it (JSON)."""


@dataclass(frozen=True)
class Entry:
    """A finished artefact: the checksum of its bytes, facts about it, the bytes or what makes them anew."""

    sha256: str
    facts: dict[str, Any]
    kept: bytes | Callable[[], bytes] | None = field(repr=False)

    @property
    def content(self) -> bytes:
        """Its bytes. Raises RecordError when they come out differently now."""
        return self.kept() if callable(self.kept) else self.kept


class Store:
    """A folder of boxes. Counts what was computed and what was reused, by kind.

    thin : without the bytes of `STEPS`, two thirds of all: for decoys that are scored and not learned from.
    `make_seconds` are CPU seconds, children included, of making artefacts. The first of each kind is left out:
    it also loads libraries and compiled code, which is a cost of the job and not of the features.
    """

    def __init__(self, root: Path, *, thin: bool = False):
        self.root, self.thin = root, thin
        self.computed: Counter[str] = Counter()
        self.reused: Counter[str] = Counter()
        self.make_seconds = 0.0
        self._depth = 0
        self._last: Box | None = None

    def box(self, name: str) -> Box:
        """The box of this name, in hexadecimal digits; empty if it is not there."""
        return Box(self, self._path(name))

    def touch(self, name: str) -> bool:
        """Note that a box is used, in the time of its file. Returns whether the box is there."""
        try:
            os.utime(self._path(name))
        except PermissionError:  # it is of someone else
            return True
        except FileNotFoundError:
            return False
        return True

    def find(self, name: str, kind: str, sha256: str) -> bytes | None:
        """The artefact in a box that has this checksum; None if it is not there.

        The box stays open until another is asked for: many artefacts of one decoy are read one after another.
        """
        if self._last is None or self._last.path != self._path(name):
            self._last = self.box(name)
        return self._last.find(kind, sha256)

    def obtain(self, kind: str, depends_on: dict[str, Any], make: Make) -> Entry:
        """The artefact that `depends_on` describes, in a box of its own; made if it is missing or damaged."""
        box = self.box(_key(kind, depends_on))
        entry = box.obtain(kind, depends_on, make)
        box.save()
        return entry

    def _path(self, name: str) -> Path:
        return self.root / name[:2] / (name + BOX)

    def timed(self, kind: str, make: Make) -> tuple[bytes, dict[str, Any]]:
        """What `make` returns; its time is counted."""
        started, first = cpu_seconds(), not self.computed[kind]
        self._depth += 1
        try:
            return make()
        finally:
            self._depth -= 1
            if not first and not self._depth:  # the outermost call counts the seconds of all entries it obtains
                self.make_seconds += cpu_seconds() - started


class Box:
    """The artefacts in one file of the store. New ones are in it once it is saved."""

    def __init__(self, store: Store, path: Path):
        self.path = path
        self._store = store
        self._open()

    def obtain(self, kind: str, depends_on: dict[str, Any], make: Make) -> Entry:
        """The artefact that `depends_on` describes, made if it is missing or damaged. make : may obtain others."""
        name = f"{kind}/{_key(kind, depends_on)}"
        entry = self._entry(name)
        if entry is not None:
            self._store.reused[kind] += 1
            if entry.kept is None:  # a thin store keeps only the checksum
                return replace(entry, kept=partial(self._again, name, entry, make))
            return entry
        return self._new(name, make)

    def _new(self, name: str, make: Make) -> Entry:
        """Make an artefact."""
        kind = name.partition("/")[0]
        content, facts = self._store.timed(kind, make)
        entry = Entry(hashlib.sha256(content).hexdigest(), facts, content)
        self._made[name] = entry
        self._name_of[kind, entry.sha256] = name
        self._store.computed[kind] += 1
        return entry

    def _again(self, name: str, entry: Entry, make: Make) -> bytes:
        """The bytes that a thin store is without."""
        made = self._made.get(name) or self._new(name, make)
        if made.sha256 != entry.sha256:
            what = f"{name.partition('/')[0]}: the features come out differently than when this file was written"
            raise RecordError(what, where=self.path, remedy="delete the file and run again")
        return made.content

    def known(self, kind: str, depends_on: dict[str, Any]) -> Entry | None:
        """The artefact that `depends_on` describes; None if it is not here."""
        entry = self._entry(f"{kind}/{_key(kind, depends_on)}")
        self._store.reused[kind] += entry is not None
        return entry

    def find(self, kind: str, sha256: str) -> bytes | None:
        """The artefact of a kind that has this checksum; None if it is not here."""
        entry = self._entry(self._name_of.get((kind, sha256), ""))
        return entry.content if entry and entry.kept is not None and entry.sha256 == sha256 else None

    def save(self) -> None:
        """Write what was made since; what was here before stays, unless damaged. The file's time shows its use."""
        if not self._made:
            with contextlib.suppress(OSError):  # it is of someone else, or gone
                os.utime(self.path)
            return
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w") as archive:
            for name in self._names():
                if (entry := self._entry(name)) is not None:
                    member = zipfile.ZipInfo(name)
                    member.comment = entry.sha256.encode()  # so that `find` reads nothing else
                    kind, facts = name.partition("/")[0], canonical(entry.facts).encode()
                    has_bytes = entry.kept is not None and not (self._store.thin and kind in STEPS)
                    content = facts + b"\n" + entry.content if has_bytes else facts
                    archive.writestr(member, content, _COMPRESSION.get(kind, zipfile.ZIP_DEFLATED), FAST)
        write_bytes(self.path, whole.getbuffer())
        self._open()

    def _open(self) -> None:
        """See what the file has."""
        self._archive, self._made = _opened(self.path), {}
        members = self._archive.infolist() if self._archive else []
        kinds = ((member, member.filename.partition("/")[0]) for member in members)
        self._name_of = {(kind, member.comment.decode("latin-1")): member.filename for member, kind in kinds}

    def _names(self) -> list[str]:
        return [*{**dict.fromkeys(self._archive.namelist() if self._archive else ()), **self._made}]

    def _entry(self, name: str) -> Entry | None:
        """The artefact under a name: made since, or in the file; None if it is not here or damaged."""
        if name in self._made:
            return self._made[name]
        whole = None
        with _damage_ignored():
            whole = self._archive.read(name) if self._archive else None
        if whole is None:
            return None
        facts, kept, content = whole.partition(b"\n")
        if not kept:
            return Entry(self._archive.getinfo(name).comment.decode("latin-1"), json.loads(facts), None)
        return Entry(hashlib.sha256(content).hexdigest(), json.loads(facts), content)


def _opened(path: Path) -> zipfile.ZipFile | None:
    with contextlib.suppress(FileNotFoundError), _damage_ignored():
        return zipfile.ZipFile(path)
    return None


@contextlib.contextmanager
def _damage_ignored() -> Iterator[None]:
    """Go on where bytes of an archive are missing or other than they were; what is read is then None."""
    try:
        yield
    except _DAMAGED:
        pass
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place in the file that is none
            raise


def _key(kind: str, depends_on: dict[str, Any]) -> str:
    return hashlib.sha256(canonical({"kind": kind, **depends_on}).encode()).hexdigest()


def cpu_seconds() -> float:
    """CPU seconds of this process so far, and of the children it waited for."""
    return sum(os.times()[:4])
