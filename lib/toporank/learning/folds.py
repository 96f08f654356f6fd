"""The networks of a cross-validation predict what they were trained without."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from toporank.comparing.homology.chain_tables import TargetSplit
from toporank.inputs.labels import Label
from toporank.learning.graphs import GraphStore
from toporank.learning.out_of_fold import Prediction
from toporank.learning.selection import CHECKPOINT_OF
from toporank.learning.weights import load_weights, predict_all

Key = tuple[str, str, str]
"""Data set, target and decoy."""


def out_of_fold(
    summaries: list[Path], rule: str, packs: list[Path], splits: list[TargetSplit], labels: Mapping[str, list[Label]]
) -> list[Prediction]:
    """A prediction of every configuration for every labelled decoy, by configuration, data set, target and decoy.

    summaries : summary.json of all runs, in `fold<number>/<run>/`; of each the best checkpoint under `rule` predicts.
    labels : by data set.
    """
    store = GraphStore.open(packs)
    dataset = np.array([packs[part].parent.name for part in store.part_of], dtype=object)
    where = {row[:2]: row for row in splits}
    fold = np.array([where[key].fold if key in where else -1 for key in zip(dataset, store.target, strict=True)])
    found: dict[str, dict[Key, list[tuple[float, float | None]]]] = {}
    for path in summaries:
        summary = json.loads(path.read_text(encoding="utf-8"))
        config = found.setdefault(summary["run"].removesuffix(f"_seed{summary['seed']}"), {})
        chosen = np.flatnonzero(fold == int(path.parent.parent.name.removeprefix("fold")))
        network, _ = load_weights(path.with_name(f"{CHECKPOINT_OF[rule]}.ckpt"))
        part = store.some(chosen)
        keys = zip(dataset[chosen], part.target, part.decoy, strict=True)
        ((score, local, *_),) = predict_all([network], part)
        both = zip(
            score.double().tolist(), [None] * len(score) if local is None else local.double().tolist(), strict=True
        )
        for key, values in zip(keys, both, strict=True):
            config.setdefault(key, []).append(values)
    return [
        _prediction(config, name, label, where[name, label.target], values.get((name, label.target, label.decoy), []))
        for config, values in found.items()
        for name, rows in labels.items()
        for label in rows
    ]


def _prediction(config: str, dataset: str, label: Label, where: TargetSplit, found: list[tuple]) -> Prediction:
    values, locals_ = [score for score, _ in found], [local for _, local in found if local is not None]
    mean, local = (round(statistics.fmean(each), 7) if each else None for each in (values, locals_))
    deviation = round(statistics.stdev(values), 7) if len(values) > 1 else None
    place = label.target, label.decoy, label.group or dataset, where.cluster, where.fold, label.dockq
    return Prediction(config, dataset, *place, mean, deviation, local)
