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
STEPS = ("topology", "nodes", "edges")
"""Kinds that only lead to a graph, two thirds of all bytes."""
UNCOMPRESSED = ("topology", "nodes")
"""Kinds that would shrink by a third only. Others do to a half or a quarter, at 40 to 100 MB/s."""
FAST = 1
"""Level of the compression."""

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

    Parameters
    ----------
    root : the folder
    graphs_only : leave out `STEPS`, for decoys that are scored and not learned from
    """

    def __init__(self, root: Path, *, graphs_only: bool = False):
        self.root = root
        self.graphs_only = graphs_only
        self.computed: Counter[str] = Counter()
        self.reused: Counter[str] = Counter()
        self._last: Scope | None = None

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
        return Scope(self, self.root / name[:2] / (name + SUFFIX))

    def find(self, scope: str, kind: str, sha256: str) -> bytes | None:
        """The bytes of the result in a scope that has this checksum; None where it is missing.

        The scope stays open until another is asked for: many graphs of a decoy are read one after
        another.
        """
        if self._last is None or self._last.path.stem != scope:
            self._last = self.scope(scope)
        return self._last.find(kind, sha256)


class Scope:
    """The results in one file of a store. New ones are in it once it is saved."""

    def __init__(self, store: Store, path: Path):
        self.path = path
        self._store = store
        self._open()

    def cached(self, key: ResultKey, compute: Compute) -> Entry:
        """Return the result of a key, computed where it is missing or damaged.

        compute : may ask for others.
        """
        entry = self.lookup(key)
        if entry is not None:
            return entry
        content, facts = compute()
        entry = Entry(hashlib.sha256(content).hexdigest(), facts, content)
        self._new[_name(key)] = entry
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
        entry = self._entry(self._name_of.get((kind, sha256), ""))
        return entry.content if entry and entry.sha256 == sha256 else None

    def save(self) -> None:
        """Write what is new; what was here before stays, unless damaged."""
        new = {name: entry for name, entry in self._new.items() if self._is_kept(name)}
        if not new:
            return
        entries = {}
        if self._archive:
            entries = {name: self._entry(name) for name in self._archive.namelist()}
        entries.update(new)
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
        self._open()

    def _is_kept(self, name: str) -> bool:
        return not (self._store.graphs_only and name.startswith(STEPS))

    def _open(self) -> None:
        """Read the names of what the file has."""
        self._archive = _opened(self.path)
        self._new: dict[str, Entry] = {}
        self._name_of = {}
        for member in self._archive.infolist() if self._archive else []:
            kind = member.filename.partition("/")[0]
            self._name_of[kind, member.comment.decode("latin-1")] = member.filename

    def _entry(self, name: str) -> Entry | None:
        """The result of a name; None where it is missing or damaged."""
        if name in self._new:
            return self._new[name]
        with _damage_ignored():
            if self._archive:
                facts, _, content = self._archive.read(name).partition(b"\n")
                return Entry(
                    hashlib.sha256(content).hexdigest(), json.loads(facts), content
                )
        return None


def _opened(path: Path) -> zipfile.ZipFile | None:
    with contextlib.suppress(FileNotFoundError), _damage_ignored():
        return zipfile.ZipFile(path)
    return None


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
