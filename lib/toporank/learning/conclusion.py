"""What a training achieved, in one paragraph for the terminal."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toporank import layout
from toporank.learning.out_of_fold import ALL, read_metrics


def conclusion(out: Path, datasets: Iterable[str], scorer: Path | None) -> list[str]:
    """Return one paragraph.

    It says how good the scorer ranks, against what, on how many clusters, and what to type
    next.

    Parameters
    ----------
    out : Path
        The working directory of the study.
    datasets : iterable of str
        Names of its data sets.
    scorer : Path, optional
        Folder of the scorer that it made.

    Returns
    -------
    list of str
        The paragraph; empty where there is no scorer or nothing was measured.
    """
    measured = _cross_validated(out) or _validated(out, datasets)
    if scorer is None or not measured:
        return []
    folder = shlex.quote(str(scorer))
    return [
        f"{measured} The scorer is in {folder}. Use it: toporank score FOLDER --scorer {folder}"
    ]


def _cross_validated(out: Path) -> str:
    """Return how good the networks are on targets that they were trained without.

    It is empty without cross-validation.
    """
    table = out / layout.FOLD_METRICS
    if not table.exists():
        return ""
    rows = [row for row in read_metrics(table) if row.group == ALL]
    metrics = {row.metric: row for row in rows if row.config == rows[0].config}
    loss = metrics["ranking_loss"]
    values = {"mean": loss.value, "low": loss.low, "high": loss.high}
    numbers = _numbers(
        values,
        metrics["random_pick_loss"].value,
        loss.n_decoys,
        loss.n_targets,
        loss.n_clusters,
    )
    return f"{numbers} that the networks of {loss.config} were trained without."


def _validated(out: Path, datasets: Iterable[str]) -> str:
    """Return how good the scorer is on the first data set with validation targets."""
    for dataset in datasets:
        path = out / layout.EVALUATION.format(dataset=dataset)
        summary = (
            json.loads(path.read_text(encoding="utf-8")).get("val", {})
            if path.exists()
            else {}
        )
        if "per_target" in summary:
            means = summary["per_target"]
            sizes = summary["n_decoys"], summary["n_targets"], summary["n_clusters"]
            numbers = _numbers(
                means["ranking_loss"], means["random_pick_loss"]["mean"], *sizes
            )
            return (
                f"{numbers} of {dataset} that validated: these also chose the epoch, which "
                "flatters the scorer."
            )
    return ""


def _numbers(
    loss: dict[str, Any],
    random: float | None,
    n_decoys: int,
    n_targets: int,
    n_clusters: int,
) -> str:
    interval = (
        ""
        if loss["low"] is None
        else f" (95 % interval {loss['low']:.2f} to {loss['high']:.2f})"
    )
    return (
        f"The model that scores best is {loss['mean']:.2f} DockQ worse than the best of its "
        f"target{interval}; a model"
        f" picked at random is {random:.2f} worse. This was measured on {n_decoys:,} models of "
        f"{n_targets:,} targets in"
        f" {n_clusters:,} clusters of homologous targets"
    )
