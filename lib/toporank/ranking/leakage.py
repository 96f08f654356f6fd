"""Which of the scored targets a network knows from its training."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from toporank.comparing.homology.clusters import Chains, nearest
from toporank.comparing.homology.kmers import ALIKE
from toporank.comparing.homology.remembered import merged, recall

SEEN, NEW, UNKNOWN = "yes", "no", "unknown"


class LeakageRow(NamedTuple):
    """A target, and the training target with the chain most like one of its own.

    seen_in_training : `yes`, `no` or `unknown`. containment : share of the 5-mers of the smaller
    chain that are in the other, in [0, 1], None where nothing is compared. why : in words.
    """

    target: str
    seen_in_training: str
    nearest_training_target: str
    containment: float | None
    why: str


def leakage(
    targets: Iterable[str], chains: Chains, descriptions: Iterable[Mapping[str, Any]]
) -> list[LeakageRow]:
    """What the networks that give a score know of each target, sorted.

    chains : the sequences of each target with a graph that are compared. descriptions : of their
    checkpoints.
    """
    records = [
        (description.get("training_set") or {}).get("chains") for description in descriptions
    ]
    if None in records:
        why = "the checkpoint does not say what it was trained on"
        return [LeakageRow(target, UNKNOWN, "", None, why) for target in sorted(targets)]
    near = nearest(chains, recall(functools.reduce(merged, records)))
    return [_row(target, target in chains, near.get(target)) for target in sorted(targets)]


def _row(target: str, built: bool, near: tuple[str, float] | None) -> LeakageRow:
    if near is None:
        why = (
            "all its chains are antibodies or peptides, which are not compared"
            if built
            else "no decoy of it was built"
        )
        return LeakageRow(target, UNKNOWN, "", None, why)
    name, shared = near
    if shared < ALIKE:
        return LeakageRow(
            target, NEW, name, shared, "no training target has a chain like one of its chains"
        )
    what = (
        "it is a training target"
        if name == target
        else f"it shares a chain with the training target {name}"
    )
    return LeakageRow(target, SEEN, name, shared, what)


def describe(rows: Iterable[LeakageRow]) -> str:
    """How many targets were seen in training, are new, and are unknown, and why: one sentence."""
    rows = list(rows)
    counts = Counter(row.seen_in_training for row in rows)
    reasons = sorted({row.why for row in rows if row.seen_in_training == UNKNOWN})
    parts = [f"{counts[SEEN]} seen in training", f"{counts[NEW]} new"]
    if reasons:
        parts.append(f"{counts[UNKNOWN]} unknown ({'; '.join(reasons)})")
    return f"{len(rows)} target{'s' * (len(rows) != 1)} = {' + '.join(parts)}"
