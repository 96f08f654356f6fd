"""Evaluation of a ranking against labels, split by split."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from toporank.inputs.confidence.table import MEASURES, Confidence, oriented
from toporank.inputs.labels import Label
from toporank.metrics import per_target, spearman, summarise
from toporank.ranking.interfaces import InterfaceRow
from toporank.scorer.prediction import LEVEL

CONSENSUS = "consensus"
"""Key of a summary, and beginning of columns, for what the consensus of the decoys would have
ranked: it costs nothing, so a prediction that ranks no better is worth nothing.
"""
CONFIDENCE = "confidence"
"""Key of a summary for what each measure of the predictor's own confidence would have ranked, of
the decoys that have it; `scorer` in it is the ranking that is evaluated, for the same decoys.
"""
OF_MEASURE = ("ranking_loss", "success_at_1", "spearman")
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
    interfaces: Iterable[InterfaceRow] = (),
    clusters: Mapping[str, str] | None = None,
    confidence: Iterable[Confidence] = (),
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Metrics of each target, with its split, and a summary of each split.

    models : as from `model_table`. clusters : the cluster of each target, where they are known;
    intervals are then over clusters, not targets.

    Only `val` and `test` say how good a scorer is; `train` shows how far it has memorised its
    labels. Decoys that are labelled but not scored are counted in the summary; `calibration`
    compares `pred_sd` with the error; `intervals` has the share of labels in their interval
    (`level` is expected), if there are intervals; `consensus` has the metrics of the consensus for
    the same decoys, if it is known, `confidence` those of each measure of the predictor's
    confidence; `interfaces` sums up labels of single interfaces; those of one name are ranked
    within their target, and all of a target count as one where nothing is known of its cluster.
    """
    labels = list(labels)
    of_models = models.rename(columns={"score": "pred_dockq", "network_sd": "pred_sd"})
    of_decoys = of_models[["target", "decoy", *PREDICTED]].astype(
        {"target": object, "decoy": object}
    )
    decoys = _table([label for label in labels if not label.interface])
    decoys = decoys.merge(of_decoys, how="left", on=["target", "decoy"])
    said = {(row.target, row.decoy): row for row in confidence}
    rows = [said.get(key) for key in zip(decoys["target"], decoys["decoy"], strict=True)]
    for measure in MEASURES:
        decoys[measure] = pd.Series([row and oriented(row, measure) for row in rows], dtype=float)
    parts, of_parts = _parts(
        [label for label in labels if label.interface], interfaces, clusters or {}
    )
    tables, summary = [], {}
    for split, part in decoys.groupby("split"):
        summary[split], scored = _counted(part)
        if len(scored):
            table = per_target(scored).assign(split=split)
            summary[split] |= summarise(scored, clusters=clusters)
            summary[split]["calibration"] = calibration(
                scored["dockq"], scored["pred_dockq"], scored["pred_sd"]
            )
            if found := _in_intervals(scored):
                summary[split]["intervals"] = found
            if scored[CONSENSUS].notna().any():
                by_consensus = scored.assign(
                    pred_dockq=scored[CONSENSUS].fillna(0.0)
                )  # of a target with one decoy
                table = table.join(_of_consensus(per_target(by_consensus)))
                summary[split][CONSENSUS] = _baseline(by_consensus, clusters)
            for measure in MEASURES:
                known = scored[scored[measure].notna()]
                if len(known):
                    by_measure = known.assign(pred_dockq=known[measure])
                    table = table.merge(
                        _of_measure(measure, per_target(by_measure)), on="target", how="left"
                    )
                    ours = per_target(known)[list(OF_MEASURE)].mean()
                    scorer = {name: None if pd.isna(mean) else mean for name, mean in ours.items()}
                    found = _baseline(by_measure, clusters) | {"scorer": scorer}
                    summary[split].setdefault(CONFIDENCE, {})[measure] = found
            tables.append(table)
    for split, part in parts.groupby("split"):
        found, scored = _counted(part)
        summary.setdefault(split, {"n_labels": 0, "n_not_scored": 0})
        summary[split]["interfaces"] = found | (
            summarise(scored, clusters=of_parts) if len(scored) else {}
        )
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(), summary


def _parts(
    labels: list[Label], interfaces: Iterable[InterfaceRow], clusters: Mapping[str, str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Labels of interfaces with the predictions, each interface as a target of its own, and the
    cluster of each.
    """
    keys = ["target", "decoy", "interface"]
    rows = [(*row[:3], row.dockq, row.network_sd) for row in interfaces]
    scores = pd.DataFrame(rows, columns=[*keys, "pred_dockq", "pred_sd"])
    scores = scores.astype({**dict.fromkeys(keys, object), "pred_dockq": float, "pred_sd": float})
    table = _table(labels).merge(scores, how="left", on=keys)
    whole = table["target"]
    table["target"] = whole + " " + table["interface"]
    names = zip(table["target"], whole, strict=True)
    return table, {part: clusters.get(target, target) for part, target in names}


def _table(labels: list[Label]) -> pd.DataFrame:
    table = pd.DataFrame(labels, columns=Label._fields)
    return table.astype({"target": object, "decoy": object, "interface": object, "dockq": float})


def _counted(part: pd.DataFrame) -> tuple[dict[str, Any], pd.DataFrame]:
    """How many labels there are, and those that have a prediction."""
    scored = part[part["pred_dockq"].notna()]
    return {"n_labels": len(part), "n_not_scored": len(part) - len(scored)}, scored


def _in_intervals(scored: pd.DataFrame) -> dict[str, Any] | None:
    """How many decoys have an interval, and the share of them whose DockQ is in it."""
    known = scored[scored["dockq_low"].notna()]
    inside = known["dockq"].between(known["dockq_low"], known["dockq_high"])
    return {"n": len(known), "level": LEVEL, "inside": float(inside.mean())} if len(known) else None


def _baseline(decoys: pd.DataFrame, clusters: Mapping[str, str] | None) -> dict[str, Any]:
    """A summary of what ranks decoys and is no DockQ."""
    summary = summarise(decoys, clusters=clusters)
    for metric in NO_DOCKQ:
        del summary["pooled"][metric]
    return summary


def _of_measure(measure: str, metrics: pd.DataFrame) -> pd.DataFrame:
    """What `per_target` says of a measure, under names of its own."""
    return metrics[["target", *OF_MEASURE]].rename(
        columns={name: f"{measure}_{name}" for name in OF_MEASURE}
    )


def _of_consensus(metrics: pd.DataFrame) -> pd.DataFrame:
    """What `per_target` says of the consensus and not of the labels, under names of their own."""
    of_labels = ["target", "n_decoys", "best_dockq", "random_pick_loss"]
    return metrics.drop(columns=of_labels).add_prefix(f"{CONSENSUS}_")


def calibration(dockq: ArrayLike, predicted: ArrayLike, sd: ArrayLike) -> dict[str, Any] | None:
    """Return how the standard deviation over an ensemble relates to the error |p − y| of its mean.

    Parameters
    ----------
    dockq, predicted, sd : true and predicted DockQ and the deviation, shape (n,) each

    Returns
    -------
    None where no decoy has a deviation, otherwise a dict: `n`, the decoys with one; `spearman` of
    deviation and error;
    `within_1_sd` and `within_2_sd`, the shares of errors that are no larger (0.68 and 0.95 if
    errors were normal with
    that deviation); `table`, decoys by increasing deviation in up to `BINS` equal parts, each with
    `n`, mean `sd` and
    `rmse`, which are equal where the deviation is reliable
    """
    rows = pd.DataFrame(
        {"error": np.abs(np.subtract(predicted, dockq)), "sd": np.asarray(sd, dtype=float)}
    ).dropna()
    if rows.empty:
        return None
    rows = rows.sort_values(["sd", "error"])
    error = rows["error"].to_numpy()
    deviation = rows["sd"].to_numpy()
    table = []
    for part in np.array_split(np.arange(len(rows)), min(BINS, len(rows))):
        rmse = math.sqrt(float((error[part] ** 2).mean()))
        table.append({"n": len(part), "sd": float(deviation[part].mean()), "rmse": rmse})
    rank = spearman(error, deviation)
    return {
        "n": len(rows),
        "spearman": None if math.isnan(rank) else rank,
        "within_1_sd": float((error <= deviation).mean()),
        "within_2_sd": float((error <= 2 * deviation).mean()),
        "table": table,
    }
