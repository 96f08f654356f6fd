"""What targets came out with, kept in the reuse store: one that came out before costs next to nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter
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


class Given(NamedTuple):
    """All that the answer for some targets is made from: rows of tables, by target."""

    coverage: list[CoverageRow]
    interfaces: list[InterfaceRow]
    stated: list[Confidence]
    fates: list[LedgerRow]


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
    """Target → its rows, which come one after another."""
    return {target: list(own) for target, own in groupby(rows, key=attrgetter("target"))}


def given_by_target(given: Given) -> dict[str, Given]:
    """Target → what its answer is made from."""
    parts = [by_target(rows) for rows in given]
    return {target: Given(*(part.get(target, []) for part in parts)) for target in parts[0]}


def fates_of(coverage: Iterable[CoverageRow], built: Built) -> list[LedgerRow]:
    """What became of the decoys of a table, in its order."""
    return [fate for row in coverage if (fate := built.fates.get((row.target, row.decoy)))]


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
        table, interfaces, comparison, *of_decoys = json.loads(entry.content)
        rows = zip((RankedDecoy, InterfaceRow, ComparedDecoy), (table, interfaces, comparison), strict=True)
        return Answer(*([kind(*row) for row in own] for kind, own in rows), *of_decoys)

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
