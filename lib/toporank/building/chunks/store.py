"""The reuse store: finished results, keyed by all that they depend on.

A scope is one file: a zip archive of all that was made of one structure, or the result of one
target. A key names everything that a result depends on, so a result is never wrong, only unused:
after a parameter is changed back, a decoy renamed or a data set moved, earlier work is found again.
What is damaged is computed again.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toporank.features.registry import canonical
from toporank.files.atomic import write_bytes

SUFFIX = ".zip"
_DAMAGED = (
    zipfile.BadZipFile,
    KeyError,
    EOFError,
    ValueError,
    OverflowError,
    RuntimeError,
    zlib.error,
)
"""What `zipfile` raises where bytes are missing or other than they were."""
UNCOMPRESSED = ("topology", "nodes")
"""Kinds that would shrink by a third only. Others do to a half or a quarter, at 40 to 100 MB/s."""
FAST = 1
"""Level of the compression."""
MEMORY = 32_000_000
"""Bytes of the scopes that stay open."""

ResultKey = dict[str, Any]
"""All that a result depends on (JSON); `kind` says what it is."""
Compute = Callable[[], tuple[bytes, dict[str, Any]]]
"""Returns the bytes of a result, and facts to keep with it (JSON)."""


@dataclass(frozen=True)
class Entry:
    """A finished result: the SHA-256 of its bytes, facts about it, and the bytes."""

    sha256: str
    facts: dict[str, Any]
    content: bytes = field(repr=False)


class Store:
    """A folder of scopes. `computed` and `reused` count results by kind.

    The scopes that were used last stay open, with what was read and made: several steps look at a
    decoy one after another, and what they make of it is written once.

    Parameters
    ----------
    root : the folder
    graphs_only : for decoys that are scored and not learned from, so that what only leads to a
        graph is left out
    """

    def __init__(self, root: Path, *, graphs_only: bool = False):
        self.root = root
        self.graphs_only = graphs_only
        self.computed: Counter[str] = Counter()
        self.reused: Counter[str] = Counter()
        self._open: dict[str, Scope] = {}
        self._process = os.getpid()

    def cached(self, scope: str, key: ResultKey, compute: Compute) -> Entry:
        """The result of a key in a scope, computed and kept where it is missing or damaged."""
        opened = self.scope(scope)
        entry = opened.cached(key, compute)
        opened.save()
        return entry

    def lookup(self, scope: str, key: ResultKey) -> Entry | None:
        """The result of a key in a scope; None where it is missing or damaged."""
        return self.scope(scope).lookup(key)

    def scope(self, name: str) -> Scope:
        """Open a scope. name : hexadecimal digits."""
        scope = self._open.pop(name, None)
        if scope is None:
            scope = Scope(self, self.root / name[:2] / (name + SUFFIX))
        size = scope.size + sum(other.size for other in self._open.values())
        while self._open and size > MEMORY:
            oldest = self._open.pop(next(iter(self._open)))
            oldest.save()
            size -= oldest.size
        self._open[name] = scope
        return scope

    def save_later(self, scope: Scope) -> None:
        """Save a scope with what this process still makes of it; now, in a copy of the process."""
        if os.getpid() != self._process:
            scope.save()

    def find(self, scope: str, kind: str, sha256: str) -> bytes | None:
        """The bytes of the result in a scope that has this checksum; None where it is missing."""
        return self.scope(scope).find(kind, sha256)


class Scope:
    """The results in one file of a store. New ones are in it once it is saved."""

    def __init__(self, store: Store, path: Path):
        self.path = path
        self.size = 0
        """Bytes in memory."""
        self._store = store
        self._entries: dict[str, Entry] = {}
        self._new: dict[str, Entry] = {}
        self._archive: zipfile.ZipFile | None = None
        self._state: tuple[int, ...] = ()

    def cached(self, key: ResultKey, compute: Compute) -> Entry:
        """Return the result of a key, computed where it is missing or damaged.

        compute : may ask for others.
        """
        entry = self.lookup(key)
        if entry is not None:
            return entry
        content, facts = compute()
        entry = Entry(hashlib.sha256(content).hexdigest(), facts, content)
        name = _name(key)
        self._new[name] = self._entries[name] = entry
        self.size += len(content)
        self._store.computed[key["kind"]] += 1
        return entry

    def lookup(self, key: ResultKey) -> Entry | None:
        """The result of a key; None where it is missing or damaged."""
        entry = self._entry(_name(key))
        if entry is not None:
            self._store.reused[key["kind"]] += 1
        return entry

    def find(self, kind: str, sha256: str) -> bytes | None:
        """The bytes of the result of this kind and checksum.

        None where it is missing or damaged.
        """
        archive = self._opened()
        names = [*self._entries]
        names += [
            member.filename
            for member in (archive.infolist() if archive else [])
            if member.comment == sha256.encode()
        ]
        for name in names:
            entry = self._entry(name) if name.startswith(f"{kind}/") else None
            if entry and entry.sha256 == sha256:
                return entry.content
        return None

    def save(self) -> None:
        """Write what is new; what was here before stays, unless damaged."""
        if not self._new:
            return
        archive = self._opened()
        entries = (
            {name: self._read(name) for name in archive.namelist()} if archive else {}
        )
        if self._new.items() <= entries.items():  # another process has written it
            return
        entries.update(self._new)
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w") as archive:
            for name, entry in entries.items():
                if entry is not None:
                    member = zipfile.ZipInfo(name)
                    # so that `find` reads nothing else
                    member.comment = entry.sha256.encode()
                    is_plain = name.startswith(UNCOMPRESSED)
                    compression = (
                        zipfile.ZIP_STORED if is_plain else zipfile.ZIP_DEFLATED
                    )
                    facts = canonical(entry.facts).encode()
                    archive.writestr(
                        member, facts + b"\n" + entry.content, compression, FAST
                    )
        write_bytes(self.path, whole.getbuffer())
        self._new = {}

    def _entry(self, name: str) -> Entry | None:
        """The result of a name; None where it is missing or damaged."""
        if name in self._entries:
            return self._entries[name]
        entry = self._read(name)
        if entry is not None:
            self._entries[name] = entry
            self.size += len(entry.content)
        return entry

    def _read(self, name: str) -> Entry | None:
        """The same from the file."""
        with _damage_ignored():
            archive = self._opened()
            if archive:
                facts, _, content = archive.read(name).partition(b"\n")
                digest = hashlib.sha256(content).hexdigest()
                return Entry(digest, json.loads(facts), content)
        return None

    def _opened(self) -> zipfile.ZipFile | None:
        """The archive as it is now: another process may have written it. None without one."""
        try:
            status = self.path.stat()
            state = status.st_ino, status.st_size, status.st_mtime_ns
            if state != self._state:
                self._archive, self._state = None, state
                content = self.path.read_bytes()
                self.size += len(content)
                with _damage_ignored():
                    self._archive = zipfile.ZipFile(io.BytesIO(content))
        except FileNotFoundError:
            return None
        return self._archive


@contextlib.contextmanager
def _damage_ignored() -> Iterator[None]:
    """Go on where bytes of an archive are missing or other than they were."""
    try:
        yield
    except _DAMAGED:
        pass
    except OSError as error:
        if error.errno != errno.EINVAL:  # an impossible place in the file
            raise


def _name(key: ResultKey) -> str:
    return f"{key['kind']}/{hashlib.sha256(canonical(key).encode()).hexdigest()}"


def cpu_seconds() -> float:
    """CPU seconds of this process so far, and of the children it waited for."""
    return sum(os.times()[:4])
