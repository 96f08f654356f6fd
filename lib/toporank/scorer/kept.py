"""Where the reuse store has what a scorer said of single graphs. Nothing here imports torch."""

from __future__ import annotations

import hashlib
from importlib import metadata
from typing import Any

from toporank.building.chunks.store import Box, Store
from toporank.code import code_of
from toporank.features.registry import canonical
from toporank.scorer.scorer import Scorer

KIND = "judged"
JUDGED_BY = "scorer.judged"
PACKAGES = ("torch", "numpy", "numba")
"""Those that decide the last digit."""


def judging_code() -> str:
    """Digest of the code by which scorers judge graphs."""
    return code_of(JUDGED_BY, without=("building.chunks", "building.coverage", "ranking"))


class Kept:
    """The answers of a scorer. digest : of all they depend on but the graph."""

    def __init__(self, scorer: Scorer):
        self._boxes: dict[str, Box] = {}
        networks = [scorer.digests[path] for path in (scorer.checkpoint, *scorer.members)]
        self._of = {
            "networks": networks, "mean": scorer.mean, "described": scorer.trees is not None,
            "code": judging_code(), "packages": [metadata.version(package) for package in PACKAGES],
        }  # fmt: skip
        self.digest = hashlib.sha256(canonical(self._of).encode()).hexdigest()

    def key(self, graph: str, part: bool) -> dict[str, Any]:
        """What an answer depends on. graph : checksum. part : whether it is that of an interface of a decoy."""
        return {**self._of, "graph": graph, "part": part}

    def has(self, store: Store, target: str, graph: str, part: bool) -> bool:
        """Whether the store had the answer for a graph when its target was first asked about."""
        if target not in self._boxes:
            self._boxes[target] = self.box(store, target)
        return self._boxes[target].known(KIND, self.key(graph, part)) is not None

    @staticmethod
    def box(store: Store, target: str) -> Box:
        """The box with the answers of a target."""
        return store.box(hashlib.sha256(f"{KIND} {target}".encode()).hexdigest())
