"""Evaluation of a ranking against labels, split by split."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from toporank.confidence.table import MEASURES
from toporank.finding.labels import Label
from toporank.metrics import per_target, spearman, summarise
from toporank.scorer.prediction import KEY, LEVEL
from toporank.tables.columns import CONFIDENCE as CONFIDENCES
from toporank.tables.columns import INTERFACES
from toporank.tables.frames import of_records
from toporank.tables.of_predictors import LOWER_IS_BETTER

CONSENSUS = "consensus"
"""Key of a summary, and beginning of columns, for what the consensus of the decoys would have
ranked: it costs nothing, so a prediction that ranks no better is worth nothing.
"""
CONFIDENCE = "confidence"
"""Key of a summary for what each measure of the predictor's own confidence would have ranked, of
the decoys that have it; `scorer` in it is the ranking that is evaluated, for the same decoys.
"""
OF_MEASURE = ["ranking_loss", "success_at_1", "spearman"]
"""Metrics of each target that are written for every measure."""
NO_DOCKQ = ("mae", "rmse")
"""Metrics that are valid for DockQ values only."""
PREDICTED = ("pred_dockq", "pred_sd", "dockq_low", "dockq_high", "consensus")
"""Columns of the ranking that are compared with labels; `pred_dockq` is the score that decides on
the order.
"""
BINS = 5
"""Rows of the reliability table."""


def evaluate(
    models: pd.DataFrame,
    labels: Iterable[Label],
    interfaces: pd.DataFrame | None = None,
    clusters: Mapping[str, str] | None = None,
    confidence: pd.DataFrame | None = None,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return metrics of each target, with its split, and a summary of each split.

    Only `val` and `test` say how good a scorer is; `train` shows how far it has memorised its
    labels.

    Parameters
    ----------
    models : as from `model_table`
    labels : of decoys and interfaces
    interfaces : the table of that name
    clusters : the cluster of each target, where they are known; intervals are then over clusters,
        not targets
    confidence : the table of that name

    Returns
    -------
    table : as from `metrics.per_target`, with `split`, the metrics of the consensus and of the
        predictor's measures
    summary : of each split as from `metrics.summarise`, and `n_labels` and `n_not_scored`;
        `calibration` compares pred_sd with the error; `intervals` has the share of labels in their
        interval (`level` is expected), if there are intervals; `consensus` has the metrics of the
        consensus for the same decoys, if it is known, `confidence` those of each measure;
        `interfaces` sums up labels of single interfaces: those of one name are ranked within their
        target, and all of a target count as one where nothing is known of its cluster
    """
    if interfaces is None:
        interfaces = of_records(INTERFACES, ())
    if confidence is None:
        confidence = of_records(CONFIDENCES, ())
    rows = pd.DataFrame(labels, columns=Label._fields).astype({"dockq": float})
    is_whole = rows["interface"] == ""
    decoys = _with_predictions(rows[is_whole], models, confidence)
    tables: list[pd.DataFrame] = []
    summary: dict[str, dict[str, Any]] = {}
    for split, part in decoys.groupby("split"):
        scored = part[part["pred_dockq"].notna()]
        summary[split] = _counts(part)
        if len(scored):
            table, further = _of_split(scored, clusters)
            tables.append(table.assign(split=split))
            summary[split] |= further
    parts = _with_interfaces(rows[~is_whole], interfaces, clusters)
    of_parts = dict(zip(parts["target"], parts["cluster"], strict=True))
    for split, part in parts.groupby("split"):
        scored = part[part["pred_dockq"].notna()]
        of_split = summary.setdefault(split, {"n_labels": 0, "n_not_scored": 0})
        of_split["interfaces"] = _counts(part)
        if len(scored):
            of_split["interfaces"] |= summarise(scored, clusters=of_parts)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(), summary


def _with_predictions(
    labels: pd.DataFrame, models: pd.DataFrame, confidence: pd.DataFrame
) -> pd.DataFrame:
    """Labels of decoys with the predictions, and the measures of confidence, higher is better."""
    of_models = models.rename(columns={"score": "pred_dockq", "network_sd": "pred_sd"})
    decoys = labels.merge(of_models[[*KEY, *PREDICTED]], how="left", on=KEY)
    decoys = decoys.merge(confidence[[*KEY, *MEASURES]], how="left", on=KEY)
    for measure in MEASURES:
        values = decoys[measure].astype(float)
        decoys[measure] = -values if measure in LOWER_IS_BETTER else values
    return decoys


def _with_interfaces(
    labels: pd.DataFrame,
    interfaces: pd.DataFrame,
    clusters: Mapping[str, str] | None,
) -> pd.DataFrame:
    """Labels of interfaces with predictions and clusters, each interface as a target of its own."""
    keys = [*KEY, "interface"]
    scores = interfaces.rename(columns={"dockq": "pred_dockq", "network_sd": "pred_sd"})
    table = labels.merge(scores[[*keys, "pred_dockq", "pred_sd"]], how="left", on=keys)
    cluster_of = clusters or {}
    cluster = [cluster_of.get(target, target) for target in table["target"]]
    return table.assign(
        cluster=cluster, target=table["target"] + " " + table["interface"]
    )


def _counts(part: pd.DataFrame) -> dict[str, int]:
    return {"n_labels": len(part), "n_not_scored": int(part["pred_dockq"].isna().sum())}


def _of_split(
    scored: pd.DataFrame, clusters: Mapping[str, str] | None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The metrics of each target, and the summary of all, of the scored decoys of a split."""
    table = per_target(scored)
    summary = summarise(scored, clusters=clusters)
    summary["calibration"] = calibration(
        scored["dockq"], scored["pred_dockq"], scored["pred_sd"]
    )
    bounded = scored[scored["dockq_low"].notna()]
    if len(bounded):
        inside = bounded["dockq"].between(bounded["dockq_low"], bounded["dockq_high"])
        summary["intervals"] = {
            "n": len(bounded),
            "level": LEVEL,
            "inside": float(inside.mean()),
        }
    if scored[CONSENSUS].notna().any():
        # a target with one decoy has no consensus
        by_consensus = scored.assign(pred_dockq=scored[CONSENSUS].fillna(0.0))
        of_labels = ["n_decoys", "best_dockq", "random_pick_loss"]
        metrics = per_target(by_consensus).drop(columns=of_labels).set_index("target")
        table = table.join(metrics.add_prefix(f"{CONSENSUS}_"), on="target")
        summary[CONSENSUS] = _baseline(by_consensus, clusters)
    for measure in MEASURES:
        known = scored[scored[measure].notna()]
        if known.empty:
            continue
        by_measure = known.assign(pred_dockq=known[measure])
        metrics = per_target(by_measure).set_index("target")[OF_MEASURE]
        table = table.join(metrics.add_prefix(f"{measure}_"), on="target")
        means = per_target(known)[OF_MEASURE].mean().astype(object)
        baseline = _baseline(by_measure, clusters)
        baseline["scorer"] = means.where(means.notna(), None).to_dict()
        summary.setdefault(CONFIDENCE, {})[measure] = baseline
    return table, summary


def _baseline(
    decoys: pd.DataFrame, clusters: Mapping[str, str] | None
) -> dict[str, Any]:
    """A summary of what ranks decoys and is no DockQ."""
    summary = summarise(decoys, clusters=clusters)
    for metric in NO_DOCKQ:
        del summary["pooled"][metric]
    return summary


def calibration(
    dockq: ArrayLike, predicted: ArrayLike, sd: ArrayLike
) -> dict[str, Any] | None:
    """Return how the standard deviation over an ensemble relates to the error |p − y| of its mean.

    Parameters
    ----------
    dockq, predicted, sd : true and predicted DockQ and the deviation, shape (n,) each

    Returns
    -------
    None where no decoy has a deviation, otherwise a dict: `n`, the decoys with one; `spearman` of
    deviation and error; `within_1_sd` and `within_2_sd`, the shares of errors that are no larger
    (0.68 and 0.95 if errors were normal with that deviation); `table`, decoys by increasing
    deviation in up to `BINS` equal parts, each with `n`, mean `sd` and `rmse`, which are equal
    where the deviation is reliable

    Examples
    --------
    >>> dockq = np.linspace(0, 1, 40)
    >>> found = calibration(dockq, dockq + 0.1, np.full(40, 0.2))
    >>> found["n"], found["within_1_sd"]
    (40, 1.0)
    """
    error = np.abs(np.subtract(predicted, dockq))
    rows = pd.DataFrame({"error": error, "sd": np.asarray(sd, dtype=float)}).dropna()
    if rows.empty:
        return None
    rows = rows.sort_values(["sd", "error"])
    error, deviation = rows.to_numpy().T
    table = []
    for part in np.array_split(np.arange(len(rows)), min(BINS, len(rows))):
        rmse = math.sqrt(np.square(error[part]).mean())
        table.append(
            {"n": len(part), "sd": float(deviation[part].mean()), "rmse": rmse}
        )
    rank = spearman(error, deviation)
    return {
        "n": len(rows),
        "spearman": None if math.isnan(rank) else rank,
        "within_1_sd": float((error <= deviation).mean()),
        "within_2_sd": float((error <= 2 * deviation).mean()),
        "table": table,
    }
