"""The reuse store: finished artefacts by the content they were made from.

An entry is a pair of files, `<key>.json` (size, SHA-256 and facts; its presence completes the entry) and
`<key><suffix>` (the artefact). The key names everything the artefact depends on, so an entry is never
wrong, only unused: a changed parameter changed back, a renamed decoy or a moved data set find their work
again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toporank.features.registry import canonical
from toporank.files import replacing, sha256, write_text


@dataclass(frozen=True)
class Entry:
    """A finished artefact in the store."""

    path: Path
    sha256: str
    size: int
    facts: dict[str, Any]


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

    def obtain(
        self, kind: str, depends_on: dict[str, Any], suffix: str, make: Callable[[Path], dict[str, Any]]
    ) -> Entry:
        """The entry for what `depends_on` describes, made by `make(path)` if it is not there or damaged.

        `make` writes the artefact and returns facts to keep with it (JSON).
        """
        key = hashlib.sha256(canonical({"kind": kind, **depends_on}).encode()).hexdigest()
        path = self.root / key[:2] / (key + suffix)
        entry = self._read(path)
        if entry is not None:
            self.reused[kind] += 1
            return entry
        with replacing(path) as temporary:
            started = cpu_seconds()
            facts = make(temporary)
            if self.computed[kind]:
                self.make_seconds += cpu_seconds() - started
            entry = Entry(path, sha256(temporary), temporary.stat().st_size, facts)
        record = {"kind": kind, "sha256": entry.sha256, "size": entry.size, "facts": facts}
        write_text(path.with_suffix(".json"), canonical(record))
        self.computed[kind] += 1
        return entry

    def _read(self, path: Path) -> Entry | None:
        """The entry if it is complete and its artefact's bytes are those that were stored."""
        try:
            record = json.loads(path.with_suffix(".json").read_text())
            if path.stat().st_size == record["size"] and sha256(path) == record["sha256"]:
                return Entry(path, record["sha256"], record["size"], record["facts"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):  # no record, or none that can be read
            return None
        return None


def cpu_seconds() -> float:
    """CPU seconds of this process so far, and of the children it waited for."""
    return sum(os.times()[:4])
