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
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toporank.features.registry import canonical
from toporank.files import write_bytes

BOX = ".zip"
_DAMAGED = (zipfile.BadZipFile, KeyError, EOFError, ValueError, OverflowError, RuntimeError, struct.error, zlib.error)
"""What `zipfile` raises where bytes are missing or other than they were."""

Make = Callable[[], tuple[bytes, dict[str, Any]]]
"""Returns the bytes of an artefact, and facts to keep with it (JSON)."""


@dataclass(frozen=True)
class Entry:
    """A finished artefact: the checksum of its bytes, facts about it, the bytes."""

    sha256: str
    facts: dict[str, Any]
    content: bytes = field(repr=False)


class Store:
    """A folder of boxes. Counts what was computed and what was reused, by kind.

    `make_seconds` are CPU seconds, children included, of making artefacts. The first of each kind is left out:
    it also loads libraries and compiled code, which is a cost of the job and not of the features.
    """

    def __init__(self, root: Path):
        self.root = root
        self.computed: Counter[str] = Counter()
        self.reused: Counter[str] = Counter()
        self.make_seconds = 0.0
        self._depth = 0

    def box(self, name: str) -> Box:
        """The box of this name, in hexadecimal digits; empty if it is not there."""
        return Box(self, self.root / name[:2] / (name + BOX))

    def obtain(self, kind: str, depends_on: dict[str, Any], make: Make) -> Entry:
        """The artefact that `depends_on` describes, in a box of its own; made if it is missing or damaged."""
        box = self.box(_key(kind, depends_on))
        entry = box.obtain(kind, depends_on, make)
        box.save()
        return entry

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
        self._store, self._made = store, {}
        self._archive = _opened(path)

    def obtain(self, kind: str, depends_on: dict[str, Any], make: Make) -> Entry:
        """The artefact that `depends_on` describes, made if it is missing or damaged. make : may obtain others."""
        name = f"{kind}/{_key(kind, depends_on)}"
        entry = self._entry(name)
        if entry is not None:
            self._store.reused[kind] += 1
            return entry
        content, facts = self._store.timed(kind, make)
        self._made[name] = canonical(facts).encode() + b"\n" + content
        self._store.computed[kind] += 1
        return Entry(hashlib.sha256(content).hexdigest(), facts, content)

    def find(self, kind: str, sha256: str) -> bytes | None:
        """The artefact of a kind that has this checksum; None if it is not here."""
        entries = (self._entry(name) for name in self._names() if name.startswith(f"{kind}/"))
        return next((entry.content for entry in entries if entry and entry.sha256 == sha256), None)

    def save(self) -> None:
        """Write what was made since; what was here before stays, unless damaged. The file's time shows its use."""
        if not self._made:
            with contextlib.suppress(OSError):  # it is of someone else, or gone
                os.utime(self.path)
            return
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w") as archive:
            for name in self._names():
                if (content := self._read(name)) is not None:
                    archive.writestr(zipfile.ZipInfo(name), content)
        write_bytes(self.path, whole.getbuffer())
        self._archive, self._made = _opened(self.path), {}

    def _names(self) -> list[str]:
        return [*{**dict.fromkeys(self._archive.namelist() if self._archive else ()), **self._made}]

    def _entry(self, name: str) -> Entry | None:
        whole = self._read(name)
        if whole is None:
            return None
        facts, _, content = whole.partition(b"\n")
        return Entry(hashlib.sha256(content).hexdigest(), json.loads(facts), content)

    def _read(self, name: str) -> bytes | None:
        """What is in the file under a name: facts in one line, and the artefact; None if it is not here or damaged."""
        if name in self._made:
            return self._made[name]
        with _damage_ignored():
            return self._archive.read(name) if self._archive else None
        return None


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
