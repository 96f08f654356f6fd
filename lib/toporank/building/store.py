"""The reuse store: finished artefacts, keyed by what they were made from.

An entry is a pair of files, `<key><suffix>` (the artefact) and `<key>.json` (its size, SHA-256 and facts; the record
completes the entry). An artefact that no results folder shows is sealed instead: one file, its SHA-256 and then its
bytes, for on most file systems a file more costs as much as what is in it.

The key names everything the artefact depends on, so an entry is never wrong, only unused: after a parameter is changed
back, a decoy renamed or a data set moved, earlier work is found again. What is read is compared with its digest, so
that damage is never passed on.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toporank.features.registry import canonical
from toporank.files import write_bytes, write_text

SEALED = {".complex": "complex", ".contacts": "contacts", ".edges": "edges", ".counterparts": "counterparts"}
"""Suffixes of sealed artefacts, and their kinds. They have no facts."""
_DIGEST = hashlib.sha256().digest_size

Make = Callable[[], tuple[bytes, dict[str, Any]]]
"""Returns the bytes of an artefact, and facts to keep with it (JSON)."""


@dataclass(frozen=True)
class Entry:
    """A finished artefact: its file in the store, the checksum of its bytes, its size in bytes, facts about it."""

    path: Path
    sha256: str
    size: int
    facts: dict[str, Any]
    content: bytes = field(repr=False)


class Store:
    """A folder of entries. Counts what was computed and what was reused, by kind.

    `make_seconds` are CPU seconds, children included, of making artefacts. The first of each kind is left out:
    it also loads libraries and compiled code, which is a cost of the job and not of the features.
    """

    def __init__(self, root: Path):
        self.root = root
        self.computed: Counter[str] = Counter()
        self.reused: Counter[str] = Counter()
        self.make_seconds = 0.0
        self._depth = 0

    def obtain(self, kind: str, depends_on: dict[str, Any], suffix: str, make: Make) -> Entry:
        """The entry for what `depends_on` describes, made if it is missing or damaged.

        make : may obtain other entries.
        """
        key = hashlib.sha256(canonical({"kind": kind, **depends_on}).encode()).hexdigest()
        path = self.root / key[:2] / (key + suffix)
        entry = _read(path)
        if entry is not None:
            self.reused[kind] += 1
            return entry
        content, facts = self._timed(kind, make)
        entry = Entry(path, hashlib.sha256(content).hexdigest(), len(content), facts, content)
        if suffix in SEALED:
            write_bytes(path, bytes.fromhex(entry.sha256) + content)
        else:
            self._write_pair(kind, entry)
        self.computed[kind] += 1
        return entry

    def _write_pair(self, kind: str, entry: Entry) -> None:
        write_bytes(entry.path, entry.content)
        record = {"kind": kind, "sha256": entry.sha256, "size": entry.size, "facts": entry.facts}
        write_text(entry.path.with_suffix(".json"), canonical(record))

    def _timed(self, kind: str, make: Make) -> tuple[bytes, dict[str, Any]]:
        started, first = cpu_seconds(), not self.computed[kind]
        self._depth += 1
        try:
            return make()
        finally:
            self._depth -= 1
            if not first and not self._depth:  # the outermost call counts the seconds of all entries it obtains
                self.make_seconds += cpu_seconds() - started


def _read(path: Path) -> Entry | None:
    """The entry if it is complete and its artefact's bytes are those that were stored."""
    try:
        if path.suffix in SEALED:
            whole = path.read_bytes()
            digest, content = whole[:_DIGEST], whole[_DIGEST:]
            sound = hashlib.sha256(content).digest() == digest
            return Entry(path, digest.hex(), len(content), {}, content) if sound else None
        record = json.loads(path.with_suffix(".json").read_bytes())
        content = path.read_bytes()
        if len(content) == record["size"] and hashlib.sha256(content).hexdigest() == record["sha256"]:
            return Entry(path, record["sha256"], record["size"], record["facts"], content)
    except (FileNotFoundError, ValueError, KeyError, TypeError):  # no record, or none that can be read
        return None
    return None


def cpu_seconds() -> float:
    """CPU seconds of this process so far, and of the children it waited for."""
    return sum(os.times()[:4])
