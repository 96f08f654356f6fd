"""The page: sections that have something to show, rendered by one template."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps

from toporank.evaluation.selection import CHECKPOINT_OF
from toporank.report import assessment, figures, formatting, rankings, tables
from toporank.report.results import Study, is_finetune


def render(study: Study) -> str:
    """The page of a study as HTML that loads nothing; the same study gives the same bytes."""
    environment = Environment(
        loader=PackageLoader("toporank.report", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"zip": zip, "number": formatting.number, "counted": formatting.counted}
    environment.globals |= {"interval": formatting.interval}
    return environment.get_template("page.html.j2").render(content(study))


def content(study: Study) -> dict[str, Any]:
    """What the template shows. An entry that is empty or None leaves its section out."""
    labelled = study.labelled
    metrics = assessment.target_metrics(labelled)
    return {
        "title": study.datasets[0] if len(study.datasets) == 1 else formatting.counted(len(study.datasets), "data set"),
        "several": len(study.datasets) > 1,
        "datasets": study.datasets,
        "balance": tables.balance(study.decoys),
        "run_card": tables.run_card(study),
        "features": tables.features(study),
        "coverage": tables.coverage(study),
        "leaderboard": tables.leaderboard(study),
        "curves": curves(study),
        "evaluations": evaluations(study, metrics),
        "scatter": scatter(labelled),
        "targets": rankings.targets(study, metrics),
        "decoys_json": htmlsafe_json_dumps(rankings.compact(study), separators=(",", ":"), ensure_ascii=False),
        "has_truth": len(labelled) > 0,
        "has_deviation": bool(study.table["pred_sd"].notna().any()),
        "not_scored": tables.not_scored(study),
    }


def curves(study: Study) -> list[dict[str, Any]]:
    """Learning curves in two groups, sweep and fine-tunes; runs in the order of the leaderboard."""
    if not study.curves:
        return []
    limits = figures.curve_limits(study.curves)
    groups: dict[str, list[dict[str, Any]]] = {"Sweep": [], "Fine-tunes": []}
    for run in study.leaderboard.to_dict("records"):
        if run["run"] in study.curves:
            best = {rule: run[f"{kept}.epoch"] for rule, kept in CHECKPOINT_OF.items()}
            panel = figures.learning_curve(run["run"], study.curves[run["run"]], best, *limits)
            groups["Fine-tunes" if is_finetune(run["folder"]) else "Sweep"].append(
                {"run": run["run"], "chosen": run["chosen"], "epochs": run["epochs"], "svg": panel}
            )
    return [{"name": name, "panels": panels} for name, panels in groups.items() if panels]


def evaluations(study: Study, metrics: Any) -> list[dict[str, Any]]:
    """Evaluation of every data set with two figures each."""
    entries = []
    for entry in assessment.evaluations(study):
        targets = metrics[metrics["dataset"] == entry["name"]] if len(metrics) else metrics
        entry["figures"] = []
        if len(targets):
            summary = study.evaluations[entry["name"]]
            pooled = {s: summary[s]["pooled"]["spearman"]["value"] for s in summary if "pooled" in summary[s]}
            entry["figures"] = [
                (figures.loss_against_random(entry["name"], targets),
                 "Ranking loss of each target. Below the diagonal the ranking picks better than chance."),
                (figures.spearman_by_split(entry["name"], targets, pooled),
                 "Spearman of each target (dots), their mean (bar) and the pooled value (diamond)."),
            ]  # fmt: skip
        entries.append(entry)
    return entries


def scatter(labelled: Any) -> list[dict[str, Any]]:
    """Predicted against true DockQ for each data set and split that has both."""
    panels = []
    for dataset, part in labelled.groupby("dataset", observed=True):
        for split, name in formatting.SPLITS.items():
            decoys = part[part["split"] == split]
            if len(decoys):
                panels.append({
                    "dataset": dataset, "split": split, "name": name, "decoys": len(decoys),
                    "svg": figures.predicted_against_true(dataset, split, decoys),
                    "confusion": assessment.confusion(decoys),
                })  # fmt: skip
    return panels
