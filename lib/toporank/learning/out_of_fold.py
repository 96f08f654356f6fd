"""Predictions for decoys whose cluster the network has never seen, and how good they are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from toporank.errors import RecordError
from toporank.files.spreadsheets import read_rows, write_rows
from toporank.metrics import summarise

ALL = "all"
"""The group of all decoys in the table of metrics."""


class Prediction(NamedTuple):
    """A row of predictions.csv.

    It is a labelled decoy and what the networks trained without its fold predict.

    group : that of the label, or the data set. fold : None of a target in none. pred_dockq : mean
    over the seeds, pred_sd : standard deviation. None for a decoy without graph, or with one seed.
    pred_local : predicted local quality, None of networks without.
    """

    config: str
    dataset: str
    target: str
    decoy: str
    group: str
    cluster: str
    fold: int | None
    dockq: float
    pred_dockq: float | None
    pred_sd: float | None
    pred_local: float | None = None


class GroupMetric(NamedTuple):
    """A row of metrics.csv: a metric of a configuration for a group of decoys.

    metric : as in evaluation; a mean over targets, or `pooled …`. low, high : 95 % bootstrap
    interval over clusters.
    """

    config: str
    group: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n_decoys: int
    n_targets: int
    n_clusters: int


def group_metrics(predictions: Iterable[Prediction]) -> list[GroupMetric]:
    """Return the metrics of every configuration, for all decoys and for each group of decoys."""
    table = pd.DataFrame(predictions, columns=Prediction._fields)
    table = table[table["pred_dockq"].notna()]
    table = table.assign(
        target=table["dataset"] + "/" + table["target"]
    )  # names may occur in several data sets
    rows = []
    for config, of_config in table.groupby("config", sort=False):
        rows += _metrics(config, ALL, of_config)
        for group, of_group in of_config[of_config["group"] != ""].groupby("group"):
            rows += _metrics(config, group, of_group)
    return rows


def _metrics(config: str, group: str, decoys: pd.DataFrame) -> list[GroupMetric]:
    cluster_of = dict(zip(decoys["target"], decoys["cluster"], strict=True))
    summary: dict[str, Any] = summarise(decoys, clusters=cluster_of)
    values = {
        name: (metric["mean"], metric["low"], metric["high"])
        for name, metric in summary["per_target"].items()
    }
    for name, metric in summary["pooled"].items():
        values[f"pooled {name}"] = (metric["value"], metric["low"], metric["high"])
    rows = []
    for name, (value, low, high) in values.items():
        row = GroupMetric(
            config=config,
            group=group,
            metric=name,
            value=value,
            low=low,
            high=high,
            n_decoys=summary["n_decoys"],
            n_targets=summary["n_targets"],
            n_clusters=summary["n_clusters"],
        )
        rows.append(row)
    return rows


def describe(metrics: Iterable[GroupMetric]) -> list[str]:
    """Ranking loss and Spearman of each configuration over all decoys, a line each."""
    lines = []
    for row in metrics:
        is_shown = row.group == ALL and row.metric in ("ranking_loss", "spearman")
        if is_shown and row.value is not None:
            over = f"{row.n_targets} targets in {row.n_clusters} clusters"
            lines.append(f"{row.config}: {row.metric} {row.value:.3f} over {over}")
    return lines


def write_predictions(path: Path | str, rows: Iterable[Prediction]) -> None:
    """Write predictions.csv."""
    write_rows(path, Prediction._fields, rows)


def write_metrics(path: Path | str, rows: Iterable[GroupMetric]) -> None:
    """Write metrics.csv."""
    write_rows(path, GroupMetric._fields, rows)


def read_metrics(path: Path | str) -> list[GroupMetric]:
    """Read metrics.csv. Raises RecordError when it is something else."""
    rows = []
    try:
        for row in read_rows(path):
            values: dict[str, Any] = dict(row)
            for name in ("value", "low", "high"):
                values[name] = float(row[name]) if row[name] else None
            for name in ("n_decoys", "n_targets", "n_clusters"):
                values[name] = int(row[name])
            rows.append(GroupMetric(**values))
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(
            "not the metrics of a cross-validation", where=path, remedy="delete it"
        ) from error
    return rows
