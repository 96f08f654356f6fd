"""What scoring found out about one target, and the cache that keeps it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.building.compared import ComparedDecoy
from toporank.building.coverage import CoverageRow
from toporank.code import SCORES, code_of
from toporank.comparing.homology.chain_tables import ChainRow
from toporank.confidence.beside import state_beside
from toporank.confidence.table import Confidence
from toporank.programs.catalogue import place_of
from toporank.ranking.interfaces import InterfaceRow
from toporank.tables.columns import CONTACTS, RESIDUES
from toporank.tables.frames import of_records, packed, unpacked

KIND = "target"
"""Kind of the entries in the store."""
ROWS: dict[str, type[NamedTuple]] = {
    "coverage": CoverageRow,
    "fates": LedgerRow,
    "chains": ChainRow,
    "confidence": Confidence,
    "interfaces": InterfaceRow,
    "comparison": ComparedDecoy,
}
"""Fields of `TargetResult` that are rows of a table, with the type of a row."""
FRAMES = ("residues", "contacts")
"""Those that are tables."""


@dataclass
class TargetResult:
    """All tables of one target.

    Attributes
    ----------
    target : its name
    coverage, fates, chains, confidence, interfaces, comparison : rows, in the order of the tables
    scores : `model_table.score_record` of each scored decoy
    vectors : decoy → pooled vector of the first network, of scored decoys
    residues, contacts : the tables of these names
    is_new : computed by this run
    digest : SHA-256 of what the store keeps; empty where it keeps nothing
    """

    target: str
    coverage: list[CoverageRow] = field(default_factory=list)
    fates: list[LedgerRow] = field(default_factory=list)
    chains: list[ChainRow] = field(default_factory=list)
    confidence: list[Confidence] = field(default_factory=list)
    interfaces: list[InterfaceRow] = field(default_factory=list)
    comparison: list[ComparedDecoy] = field(default_factory=list)
    scores: list[dict[str, Any]] = field(default_factory=list)
    vectors: dict[str, list[float]] = field(default_factory=dict)
    residues: pd.DataFrame = field(default_factory=lambda: of_records(RESIDUES, ()))
    contacts: pd.DataFrame = field(default_factory=lambda: of_records(CONTACTS, ()))
    is_new: bool = True
    digest: str = ""

    def to_json(self) -> str:
        """The result as text, every digit included: the same, whichever run computed it."""
        values = vars(self).copy()
        del values["digest"], values["is_new"]
        for name in FRAMES:
            values[name] = packed(values[name])
        return json.dumps(values)

    @classmethod
    def from_json(cls, text: str | bytes) -> TargetResult:
        """The inverse of `to_json`.

        Raises ValueError, KeyError or TypeError where the text is something else.
        """
        values = json.loads(text)
        for name, row_type in ROWS.items():
            values[name] = [row_type(*cells) for cells in values[name]]
        for name in FRAMES:
            values[name] = unpacked(values[name])
        return cls(**values)

    def at(self, plan: Sequence[PlannedDecoy]) -> TargetResult:
        """The same result with the paths that the files of its decoys have now."""
        paths = {decoy.decoy: decoy.path for decoy in plan}
        return replace(
            self,
            coverage=[row._replace(path=paths[row.decoy]) for row in self.coverage],
        )


def read_parts(paths: Iterable[Path]) -> list[TargetResult]:
    """The results of all targets in order of name. paths : files with a line for each target."""
    results: list[TargetResult] = []
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        results += map(TargetResult.from_json, lines)
    return sorted(results, key=lambda result: result.target)


class TargetCache:
    """The results of targets in a reuse store: one entry for each target, one key.

    Parameters
    ----------
    store : the reuse store
    depends_on : what all results depend on beside the files of a target, such as the scorer and the
        options (JSON)
    """

    def __init__(self, store: Store, depends_on: Mapping[str, Any]):
        self.store = store
        self.depends_on = {**depends_on, "code": code_of(*SCORES)}
        self._keys: dict[str, dict[str, Any]] = {}

    def find(self, plan: Sequence[PlannedDecoy]) -> TargetResult | None:
        """The result for a target whose decoys are these; None if the store has none."""
        # `keep` takes the same key: what is written while models are scored gives another one
        key = self._keys[plan[0].target] = self._key(plan)
        entry = self.store.lookup(scope_of_target(plan), key)
        if entry is None:
            return None
        result = TargetResult.from_json(entry.content).at(plan)
        result.digest = entry.sha256
        result.is_new = False
        return result

    def keep(self, plan: Sequence[PlannedDecoy], result: TargetResult) -> None:
        """Keep the result that `find` did not find, unless a model's file could not be read.

        The key would not show that it can be read later.
        """
        not_refused = {decoy.key for decoy in plan if decoy.path}
        unread = any(
            row.key in not_refused and not row.structure_sha256 for row in result.fates
        )
        if not unread:
            content = result.to_json().encode()
            key = self._keys[result.target]
            entry = self.store.cached(scope_of_target(plan), key, lambda: (content, {}))
            result.digest = entry.sha256

    def _key(self, plan: Sequence[PlannedDecoy]) -> dict[str, Any]:
        """What the result depends on.

        Where the files lie does not matter, but what lies beside them does.
        """
        places = [place_of(Path(decoy.path)) for decoy in plan if decoy.path]
        decoys = []
        for decoy in plan:
            name = os.path.basename(decoy.path)
            decoys.append([name, *decoy._replace(path="", dockq="")])
        beside = state_beside(places)
        return {"kind": KIND, **self.depends_on, "decoys": decoys, "beside": beside}


def scope_of_target(plan: Sequence[PlannedDecoy]) -> str:
    """Return the scope of the reuse store with the results of a target. plan : its decoys."""
    return hashlib.sha256(f"{KIND} {plan[0].target}".encode()).hexdigest()
