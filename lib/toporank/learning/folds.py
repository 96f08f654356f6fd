"""The networks of a cross-validation predict what they were trained without."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.comparing.homology.chain_tables import TargetSplit
from toporank.files.packfile import PackedGraphs
from toporank.finding.labels import Label
from toporank.learning.inference import open_network, predict_all
from toporank.learning.out_of_fold import Prediction
from toporank.learning.run import CHECKPOINT_OF

DECOY = ["dataset", "target", "decoy"]


def out_of_fold(
    summaries: list[Path],
    rule: str,
    packs: list[Path],
    splits: list[TargetSplit],
    labels: Mapping[str, list[Label]],
) -> list[Prediction]:
    """Return a prediction of every configuration for every labelled decoy.

    Parameters
    ----------
    summaries : list of Path
        The summary.json of all runs, in `fold<number>/<run>/`; the best checkpoint of each under
        `rule` predicts.
    rule : str
        A selection rule.
    packs : list of Path
        The graphs, each pack in the folder of its data set.
    splits : list of TargetSplit
        The fold and the cluster of each target.
    labels : mapping
        The labels of each data set.

    Returns
    -------
    list of Prediction
        By configuration, then in the order of the labels.
    """
    store = PackedGraphs.open(packs)
    split_of = {(row.dataset, row.target): row for row in splits}
    decoys = store.decoys[["target", "decoy"]]
    decoys.insert(
        0, "dataset", np.array([path.parent.name for path in packs])[store.part_of]
    )
    fold_of = {key: row.fold for key, row in split_of.items()}
    fold = pd.MultiIndex.from_frame(decoys[["dataset", "target"]]).map(fold_of)
    tables = []
    for path in summaries:
        summary = json.loads(path.read_text(encoding="utf-8"))
        chosen = np.flatnonzero(
            fold == int(path.parent.parent.name.removeprefix("fold"))
        )
        network, _ = open_network(path.with_name(f"{CHECKPOINT_OF[rule]}.ckpt"))
        (predicted,) = predict_all([network], store.some(chosen))
        table = decoys.iloc[chosen].copy()
        table["config"] = summary["run"].removesuffix(f"_seed{summary['seed']}")
        table["score"] = predicted.score.astype(np.float64)
        table["local"] = (
            np.nan if predicted.local is None else predicted.local.astype(np.float64)
        )
        tables.append(table)
    predictions = pd.concat(tables)
    by_decoy = predictions.groupby(["config", *DECOY])
    means = by_decoy[["score", "local"]].mean().round(7)
    means["sd"] = by_decoy["score"].std().round(7)
    rows = []
    for config in predictions["config"].unique():
        mean_of = means.loc[config].to_dict("index")
        for name, labels_of_dataset in labels.items():
            for label in labels_of_dataset:
                mean = mean_of.get((name, label.target, label.decoy), {})
                rows.append(
                    _prediction(config, name, label, split_of[name, label.target], mean)
                )
    return rows


def _prediction(
    config: str, dataset: str, label: Label, split: TargetSplit, mean: dict[str, float]
) -> Prediction:
    values = {key: None if np.isnan(value) else value for key, value in mean.items()}
    return Prediction(
        config=config,
        dataset=dataset,
        target=label.target,
        decoy=label.decoy,
        group=label.group or dataset,
        cluster=split.cluster,
        fold=split.fold,
        dockq=label.dockq,
        pred_dockq=values.get("score"),
        pred_sd=values.get("sd"),
        pred_local=values.get("local"),
    )
