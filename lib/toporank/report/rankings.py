"""The ranking of every target: a summary line in the page, the decoys as one compact JSON beside it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from toporank.evaluation.metrics import ACCEPTABLE, CAPRI_NAMES, HIGH, MEDIUM
from toporank.report.formatting import FATES, SPLITS, fate_name
from toporank.report.results import Study

DIGITS = 3
"""Of DockQ in the page; files hold more."""


def targets(study: Study, metrics: pd.DataFrame) -> list[dict[str, Any]]:
    """What the line of each target tells before it is opened. metrics : as from `assessment.target_metrics`."""
    known = {(row["dataset"], row["target"]): row for row in metrics.to_dict("records")}
    return [
        summary(dataset, target, rows, known.get((dataset, target))) for (dataset, target), rows in by_target(study)
    ]


def by_target(study: Study) -> Any:
    """((data set, target), its decoys best first) in page order."""
    return study.decoys.groupby(["dataset", "target"], observed=True, sort=True)


def summary(dataset: str, target: str, rows: pd.DataFrame, metrics: dict[str, Any] | None) -> dict[str, Any]:
    """One target; `pick` is the decoy ranked first, None when none was scored."""
    scored = rows[rows["pred_dockq"].notna()]
    pick = scored.iloc[0].to_dict() if len(scored) else None
    split = next((s for s in rows["split"] if s), "")
    return {
        "dataset": dataset,
        "target": target,
        "split": split,
        "split_name": SPLITS.get(split, ""),
        "decoys": len(rows),
        "scored": len(scored),
        "pick": pick,
        "pick_class": CAPRI_NAMES.index(pick["pred_capri"]) if pick else None,
        "metrics": metrics,
    }


def compact(study: Study) -> dict[str, Any]:
    """The decoys of all targets for the page's script: lists of equal length, best first, in the order of `targets`.

    d names, r ranks, p and s predicted DockQ and its deviation, y true DockQ, n interface residues, c chains,
    f place in `fates`; P and Y one character a decoy, the predicted and true CAPRI class or `-`.
    A list without any value is left out.
    """
    order = [*FATES, *sorted(set(study.decoys["fate"]) - set(FATES))]
    return {
        "thresholds": [ACCEPTABLE, MEDIUM, HIGH],
        "classes": list(CAPRI_NAMES),
        "fates": [fate_name(fate) for fate in order],
        "targets": [columns(rows, order) for _, rows in by_target(study)],
    }


def columns(rows: pd.DataFrame, order: list[str]) -> dict[str, Any]:
    """One target's entry of `compact`."""
    lists = {
        "d": list(rows["decoy"]),
        "r": whole(rows["rank"]),
        "p": rounded(rows["pred_dockq"]),
        "s": rounded(rows["pred_sd"]),
        "y": rounded(rows["dockq"]),
        "n": whole(rows["n_interface_residues"]),
        "c": whole(rows["n_chains"]),
        "f": [order.index(fate) for fate in rows["fate"]],
        "P": classes(rows["pred_capri"]),
        "Y": classes(rows["capri"]),
    }
    return {key: entry for key, entry in lists.items() if key == "d" or any(v not in (None, "-") for v in entry)}


def rounded(values: pd.Series) -> list[float | None]:
    """Numbers with `DIGITS` decimals, None where missing."""
    return [None if pd.isna(value) else round(float(value), DIGITS) for value in values]


def whole(values: pd.Series) -> list[int | None]:
    """Counts, None where missing."""
    return [None if pd.isna(value) else int(value) for value in values]


def classes(names: pd.Series) -> str:
    """One character a decoy: the number of its CAPRI class, `-` where unknown."""
    return "".join(str(CAPRI_NAMES.index(name)) if name else "-" for name in names)
