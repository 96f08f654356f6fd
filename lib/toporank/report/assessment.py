"""Predictions against labels: headline cards, the table of all metrics, figures, class by class."""

from __future__ import annotations

from typing import Any

import pandas as pd

from toporank.inputs.confidence.table import MEASURES
from toporank.learning.out_of_fold import GroupMetric
from toporank.metrics import CAPRI_NAMES, TOP_N, per_target
from toporank.ranking.evaluation import CONFIDENCE, CONSENSUS
from toporank.report import figures
from toporank.report.formatting import SPLITS, interval, number
from toporank.report.results import Result, Study

DECIMALS = {"hits": 1, "success": 2, "attainable": 2}
"""Of the metrics whose name begins so; all others have three."""

FEW_TARGETS = 10
"""Below this many targets the page says that the numbers are uncertain."""

PER_TARGET_NAMES = {
    "ranking_loss": "Ranking loss",
    "random_pick_loss": "Ranking loss of a random pick",
    **{f"success_at_{n}": f"Success@{n}" for n in TOP_N},
    **{f"hits_at_{n}": f"Hits@{n}" for n in TOP_N},
    "spearman": "Spearman per target",
    "pearson": "Pearson per target",
    "auroc": "AUROC per target",
    "best_dockq": "Best DockQ among the models",
    "top_dockq": "DockQ of the model ranked first",
}
POOLED_NAMES = {
    "spearman": "Spearman pooled",
    "pearson": "Pearson pooled",
    "auroc": "AUROC pooled",
    "mae": "Mean absolute error",
    "rmse": "Root mean squared error",
}
ROWS = (
    "ranking_loss",
    "random_pick_loss",
    *(f"success_at_{n}" for n in TOP_N),
    "attainable",
    *(f"hits_at_{n}" for n in TOP_N),
    "spearman",
    "pooled spearman",
    "pearson",
    "pooled pearson",
    "auroc",
    "pooled auroc",
    "pooled mae",
    "pooled rmse",
    "best_dockq",
    "top_dockq",
)
"""Rows of the metric table: pooled values stand below their per-target twins."""
FOLD_COLUMNS = ("ranking_loss", "random_pick_loss", "success_at_1", "spearman", "pooled spearman", "pooled mae")
"""Metrics of the table of a cross-validation."""


def evaluations(study: Study, metrics: pd.DataFrame) -> list[dict[str, Any]]:
    """One entry a data set: name, cards of its splits, rows of its metric table, two figures.

    metrics : as from `target_metrics`.
    """
    found = []
    for name, summary in study.evaluations.items():
        known = {split: summary[split] for split in SPLITS if split in summary}
        calibrated = {split: part["calibration"] for split, part in known.items() if part.get("calibration")}
        columns = {SPLITS[split]: part for split, part in known.items()}
        columns |= {f"{SPLITS[s]}, by consensus": part[CONSENSUS] for s, part in known.items() if CONSENSUS in part}
        entry = {
            "name": name,
            "cards": [split_card(split, part) for split, part in known.items()],
            "splits": list(columns),
            "metrics": [metric_row(row, list(columns.values())) for row in ROWS],
            "confidence": [row for split, part in known.items() for row in confidence_rows(split, part)],
            "calibrations": [{"name": SPLITS[split], **fit} for split, fit in calibrated.items()],
            "intervals": [(SPLITS[split], part["intervals"]) for split, part in known.items() if "intervals" in part],
            "figures": evaluation_figures(name, summary, metrics),
        }
        found.append(entry)
    return found


def confidence_rows(split: str, summary: dict[str, Any]) -> list[dict[str, Any]]:
    """What each measure of the predictor's confidence would have ranked in a split: value, interval and our own."""
    rows = []
    for measure, found in summary.get(CONFIDENCE, {}).items():
        metrics = {name: found["per_target"][name] for name in ("ranking_loss", "spearman")}
        values = [
            (number(of["mean"]), interval(of["low"], of["high"]), number(found["scorer"][name]))
            for name, of in metrics.items()
        ]
        sizes = {"decoys": found["n_decoys"], "targets": found["n_targets"]}
        random = number(found["per_target"]["random_pick_loss"]["mean"])
        rows.append({"measure": MEASURES[measure], "split": SPLITS[split], **sizes, "values": values, "random": random})
    return rows


def evaluation_figures(dataset: str, summary: dict[str, Any], metrics: pd.DataFrame) -> list[tuple[Any, str]]:
    """Figures of the evaluation of a data set, each with its caption."""
    targets = metrics[metrics["dataset"] == dataset] if len(metrics) else metrics
    if targets.empty:
        return []
    pooled = {split: part["pooled"]["spearman"]["value"] for split, part in summary.items() if "pooled" in part}
    loss = "Ranking loss of each target. Below the diagonal the ranking picks better than chance."
    spearman = "Spearman of each target (dots), their mean (bar) and the pooled value (diamond)."
    return [
        (figures.loss_against_random(dataset, targets), loss),
        (figures.spearman_by_split(dataset, targets, pooled), spearman),
    ]


def split_card(split: str, summary: dict[str, Any]) -> dict[str, Any]:
    """The headline numbers of one split; `scored` is False when none of its labels has a prediction."""
    base = {
        "split": split,
        "name": SPLITS[split],
        "memorised": split == "train",
        "labels": summary["n_labels"],
        "not_scored": summary["n_not_scored"],
        "scored": "per_target" in summary,
    }
    if not base["scored"]:
        return base
    means = summary["per_target"]
    return base | {
        "targets": summary["n_targets"],
        "decoys": summary["n_decoys"],
        "few": summary["n_targets"] < FEW_TARGETS,
        "loss": means["ranking_loss"],
        "random": means["random_pick_loss"],
        "spearman": means["spearman"],
        "pooled": summary["pooled"]["spearman"],
        "success": [(n, means[f"success_at_{n}"]["mean"]) for n in TOP_N],
        "attainable": summary["attainable_success"],
        "negative": summary["n_negative_spearman"],
        "undefined": summary["n_undefined_correlation"],
    }


def metric_row(row: str, summaries: list[dict[str, Any]]) -> dict[str, Any]:
    """Name of a metric and for each split its value and 95 % interval."""
    pooled = row.removeprefix("pooled ") if row.startswith("pooled ") else None
    return {"name": metric_name(row), "values": [metric_value(row, pooled, summary) for summary in summaries]}


def metric_name(row: str) -> str:
    """A metric in words."""
    if row.startswith("pooled "):
        return POOLED_NAMES[row.removeprefix("pooled ")]
    return PER_TARGET_NAMES.get(row, "Attainable success, the maximum of success@N")


def metric_value(row: str, pooled: str | None, summary: dict[str, Any]) -> tuple[str, str]:
    """Value and interval of a metric in one split's summary, as text."""
    if "per_target" not in summary or (pooled and pooled not in summary["pooled"]):
        return number(None), ""
    digits = DECIMALS.get(row.split("_")[0], 3)
    if row == "attainable":
        return number(summary["attainable_success"], digits), ""
    found = summary["pooled"][pooled] if pooled else summary["per_target"][row]
    return number(found["value" if pooled else "mean"], digits), interval(found["low"], found["high"], digits)


def cross_validation(metrics: list[GroupMetric]) -> dict[str, Any] | None:
    """For each configuration and group of decoys values and intervals of `FOLD_COLUMNS`; None without metrics."""
    rows: dict[tuple[str, str], dict[str, GroupMetric]] = {}
    for metric in metrics:
        rows.setdefault((metric.config, metric.group), {})[metric.metric] = metric
    if not rows:
        return None
    shown = [
        {
            "config": config,
            "group": group,
            "sizes": [of["ranking_loss"].n_decoys, of["ranking_loss"].n_targets, of["ranking_loss"].n_clusters],
            "values": [(of[name].value, interval(of[name].low, of[name].high)) for name in FOLD_COLUMNS],
        }
        for (config, group), of in rows.items()
    ]
    return {"names": [metric_name(name) for name in FOLD_COLUMNS], "rows": shown}


def results_table(results: list[Result]) -> pd.DataFrame:
    """Results as a table, in which the data sets keep their order."""
    table = pd.DataFrame(results, columns=Result._fields)
    return table.astype({"dockq": float, "pred_dockq": float, "pred_sd": float})


def target_metrics(labelled: pd.DataFrame) -> pd.DataFrame:
    """`metrics.per_target` of every data set, with columns dataset and split. labelled : of `Study.labelled`."""
    tables = []
    for name, part in labelled.groupby("dataset", sort=False):
        split_of = dict(zip(part["target"], part["split"], strict=True))
        tables.append(per_target(part).assign(dataset=name, split=lambda table, of=split_of: table["target"].map(of)))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def scatter(labelled: pd.DataFrame) -> list[dict[str, Any]]:
    """Predicted against true DockQ for each data set and split that has both."""
    panels = []
    for dataset, part in labelled.groupby("dataset", sort=False):
        for split, name in SPLITS.items():
            decoys = part[part["split"] == split]
            if len(decoys):
                shown = {"svg": figures.predicted_against_true(dataset, split, decoys), "confusion": confusion(decoys)}
                panels.append({"dataset": dataset, "split": split, "name": name, "decoys": len(decoys), **shown})
    return panels


def confusion(decoys: pd.DataFrame) -> list[dict[str, Any]]:
    """True against predicted CAPRI class, highest first: for each true class its decoys by predicted class.

    Each cell is (number, share of its row in [0, 1]).
    """
    classes = CAPRI_NAMES[::-1]
    counts = pd.crosstab(decoys["capri"], decoys["pred_capri"]).reindex(index=classes, columns=classes, fill_value=0)
    rows = []
    for true in classes:
        found = [int(counts.loc[true, guess]) for guess in classes]
        total = sum(found)
        cells = [(count, count / max(1, total)) for count in found]
        rows.append({"name": true, "total": total, "agree": [guess == true for guess in classes], "cells": cells})
    return rows
