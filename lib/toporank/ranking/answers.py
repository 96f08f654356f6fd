"""What targets came out with, kept in the reuse store: one that came out before costs next to nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from toporank.building.chunks.built import Built
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.store import Store
from toporank.building.compared import ComparedDecoy
from toporank.building.coverage import CoverageRow
from toporank.code import code_of
from toporank.inputs.confidence.table import Confidence
from toporank.ranking.interfaces import InterfaceRow
from toporank.ranking.ranked import RankedDecoy

KIND = "answers"
OF_ROWS, OF_DECOYS = ("table", "interfaces", "comparison"), ("vectors", "residues", "contacts")
"""The fields of `Answer`: lists of rows, and what each scored decoy has."""


class Made(NamedTuple):
    """What became of a decoy, and the residues that are left out of it."""

    target: str
    fate: LedgerRow
    masked: str


class Given(NamedTuple):
    """All that the answers for some targets are made from: rows of tables."""

    coverage: list[CoverageRow]
    interfaces: list[InterfaceRow]
    stated: list[Confidence]
    made: list[Made]


class Answer(NamedTuple):
    """What a target came out with.

    table, interfaces, comparison : its rows of the ranking and of the tables of interfaces and of comparisons.
    vectors, residues, contacts : of scored decoys, pooled vectors and lines of residues.csv and contacts.csv.
    """

    table: list[RankedDecoy]
    interfaces: list[InterfaceRow]
    comparison: list[ComparedDecoy]
    vectors: dict[str, list[float]]
    residues: dict[str, str]
    contacts: dict[str, str]


def by_target(rows: Iterable[Any]) -> dict[str, list[Any]]:
    """Target → its rows."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row.target, []).append(row)
    return found


def given_by_target(given: Given) -> dict[str, Given]:
    """Target → what its answer is made from."""
    parts = [by_target(rows) for rows in given]
    return {target: Given(*(part.get(target, []) for part in parts)) for target in parts[0]}


def made_of(coverage: Iterable[CoverageRow], built: Built) -> list[Made]:
    """What became of the decoys of a table, in its order."""
    keys = [key for row in coverage if (key := (row.target, row.decoy)) in built.fates]
    return [Made(key[0], built.fates[key], built.plan[key].masked) for key in keys]


class Answers:
    """The answers in a store. by : what they depend on besides what was given, such as the scorer (JSON)."""

    def __init__(self, store: Store, by: Mapping[str, Any]):
        self._store = store
        self._by = {**by, "code": code_of("ranking.score")}

    def find(self, target: str, given: Given) -> Answer | None:
        """The answer for a target, if it was kept."""
        entry = self._box(target).known(KIND, self._key(given))
        if entry is None:
            return None
        found = Answer(*json.loads(entry.content))
        kinds = zip((RankedDecoy, InterfaceRow, ComparedDecoy), OF_ROWS, strict=True)
        return found._replace(**{name: [kind(*row) for row in getattr(found, name)] for kind, name in kinds})

    def keep(self, target: str, given: Given, answer: Answer) -> None:
        """Keep the answer for a target."""
        box = self._box(target)
        box.obtain(KIND, self._key(given), lambda: (json.dumps(answer).encode(), {}))
        box.save()

    def _box(self, target: str) -> Any:
        return self._store.box(hashlib.sha256(f"{KIND} {target}".encode()).hexdigest())

    def _key(self, given: Given) -> dict[str, Any]:
        """Where a file lies does not matter."""
        coverage = [row._replace(path="") for row in given.coverage]
        return {**self._by, "given": given._replace(coverage=coverage)}
