"""Predictions for decoys whose cluster the network has never seen, and what they are worth."""

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
    """A row of predictions.csv: a labelled decoy and what the networks trained without its fold predict.

    group : that of the label, or the data set. pred_dockq : mean over the seeds, pred_sd : standard deviation. None for
    a decoy without graph, or with one seed. pred_local : predicted local quality, None of networks without.
    """

    config: str
    dataset: str
    target: str
    decoy: str
    group: str
    cluster: str
    fold: int
    dockq: float
    pred_dockq: float | None
    pred_sd: float | None
    pred_local: float | None = None


class GroupMetric(NamedTuple):
    """A row of metrics.csv: a metric of a configuration for a group of decoys.

    metric : as in evaluation; a mean over targets, or `pooled …`. low, high : 95 % bootstrap interval over clusters.
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
    """Metrics of every configuration, for all decoys and then for each group of decoys, if there are any."""
    table = pd.DataFrame(predictions, columns=Prediction._fields)
    table = table[table["pred_dockq"].notna()]
    table = table.assign(target=table["dataset"] + "/" + table["target"])  # names may occur in several data sets
    found = []
    for config, part in table.groupby("config", sort=False):
        groups = [(ALL, part), *((name, rows) for name, rows in part.groupby("group") if name)]
        found += [row for name, rows in groups for row in _metrics(config, name, rows)]
    return found


def _metrics(config: str, group: str, rows: pd.DataFrame) -> list[GroupMetric]:
    summary: dict[str, Any] = summarise(rows, clusters=dict(zip(rows["target"], rows["cluster"], strict=True)))
    sizes = [summary[name] for name in ("n_decoys", "n_targets", "n_clusters")]
    values = {name: (of["mean"], of["low"], of["high"]) for name, of in summary["per_target"].items()}
    values |= {f"pooled {name}": (of["value"], of["low"], of["high"]) for name, of in summary["pooled"].items()}
    return [GroupMetric(config, group, name, *of, *sizes) for name, of in values.items()]


def write_predictions(path: Path | str, rows: Iterable[Prediction]) -> None:
    """Write predictions.csv."""
    write_rows(path, Prediction._fields, rows)


def write_metrics(path: Path | str, rows: Iterable[GroupMetric]) -> None:
    """Write metrics.csv."""
    write_rows(path, GroupMetric._fields, rows)


def read_metrics(path: Path | str) -> list[GroupMetric]:
    """Read metrics.csv. Raises RecordError when it is something else."""
    try:
        rows = [GroupMetric(**row) for row in read_rows(path)]
        values = [[float(value) if value else None for value in row[3:6]] for row in rows]
        return [GroupMetric(*row[:3], *found, *map(int, row[6:])) for row, found in zip(rows, values, strict=True)]
    except (TypeError, ValueError) as error:
        raise RecordError("not the metrics of a cross-validation", where=path, remedy="delete it") from error
