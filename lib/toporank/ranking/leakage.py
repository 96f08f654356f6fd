"""Which of the scored targets a network knows from its training."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from toporank.chains.thresholds import ALIKE
from toporank.comparing.homology.clusters import TargetSequences, nearest
from toporank.comparing.homology.remembered import merged, recall

SEEN, NEW, UNKNOWN = "yes", "no", "unknown"


class LeakageRow(NamedTuple):
    """A target, and the training target with the chain most like one of its own.

    Attributes
    ----------
    seen_in_training : `yes`, `no` or `unknown`
    containment : share of the 5-mers of the smaller chain that are in the other, in [0, 1], None
        where nothing is compared
    why : in words
    """

    target: str
    seen_in_training: str = UNKNOWN
    nearest_training_target: str = ""
    containment: float | None = None
    why: str = ""

    @property
    def is_training_target(self) -> bool:
        """Whether a network learned from the target itself."""
        return (
            self.seen_in_training == SEEN
            and self.nearest_training_target == self.target
        )


def leakage(
    targets: Iterable[str],
    chains: TargetSequences,
    descriptions: Iterable[Mapping[str, Any]],
) -> list[LeakageRow]:
    """Return what the networks that give a score know of each target, sorted.

    Parameters
    ----------
    targets : that were scored
    chains : the sequences of each target with a graph that are compared
    descriptions : of the checkpoints
    """
    records: list[Any] = []
    for description in descriptions:
        training_set = description.get("training_set") or {}
        records.append(training_set.get("chains"))
    if None in records:
        why = "the checkpoint does not say what it was trained on"
        return [LeakageRow(target, why=why) for target in sorted(targets)]
    near = nearest(chains, recall(functools.reduce(merged, records)))
    rows = []
    for target in sorted(targets):
        nearest_to = near.get(target)
        if nearest_to:
            rows.append(_row(target, *nearest_to))
        elif target in chains:
            why = "all its chains are antibodies or peptides, which are not compared"
            rows.append(LeakageRow(target, why=why))
        else:
            rows.append(LeakageRow(target, why="no model of it was built"))
    return rows


def _row(target: str, training_target: str, containment: float) -> LeakageRow:
    if containment < ALIKE:
        seen, why = NEW, "no training target has a chain like one of its chains"
    elif training_target == target:
        seen, why = SEEN, "it is a training target"
    else:
        seen, why = (
            SEEN,
            f"it shares a chain with the training target {training_target}",
        )
    return LeakageRow(target, seen, training_target, containment, why)


def describe(rows: Iterable[LeakageRow]) -> str:
    """How many targets were seen in training, are new, and are unknown, and why: one sentence."""
    rows = list(rows)
    counts = Counter(row.seen_in_training for row in rows)
    reasons = sorted({row.why for row in rows if row.seen_in_training == UNKNOWN})
    n = len(rows)
    what = "The target was" if n == 1 else f"Of {n} targets {counts[SEEN]} were"
    if n == 1 and not counts[SEEN]:
        what += " not"
    text = f"{what} seen in training"
    if not reasons:
        return text
    if n == 1:
        return f"Whether training has seen the target is not known: {reasons[0]}"
    return f"{text}; of {counts[UNKNOWN]} it is not known: {'; '.join(reasons)}"
