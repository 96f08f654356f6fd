"""Evaluation of a ranking against labels, split by split."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from toporank.decoys.labels import Label
from toporank.evaluation.calibration import calibration
from toporank.evaluation.metrics import per_target, summarise
from toporank.evaluation.ranking import RankedDecoy


def evaluate(
    ranking: Iterable[RankedDecoy], labels: Iterable[Label], clusters: Mapping[str, str] | None = None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Metrics of each target, with its split, and a summary of each split.

    clusters : the cluster of each target, where they are known; intervals are then over clusters, not targets.

    Only `val` and `test` say how good a scorer is; `train` shows how far it has memorised its labels. Decoys that
    are labelled but not scored are counted in the summary; `calibration` compares `pred_sd` with the error.
    """
    scores = {(row.target, row.decoy): (row.pred_dockq, row.pred_sd) for row in ranking}
    rows = [(*label, *scores.get((label.target, label.decoy), (None, None))) for label in labels]
    joined = pd.DataFrame(rows, columns=[*Label._fields, "pred_dockq", "pred_sd"])
    joined = joined.astype({"dockq": float, "pred_dockq": float, "pred_sd": float})
    tables, summary = [], {}
    for split, part in joined.groupby("split"):
        scored = part[part["pred_dockq"].notna()]
        summary[split] = {"n_labels": len(part), "n_not_scored": len(part) - len(scored)}
        if len(scored):
            tables.append(per_target(scored).assign(split=split))
            summary[split] |= summarise(scored, clusters=clusters)
            summary[split]["calibration"] = calibration(scored["dockq"], scored["pred_dockq"], scored["pred_sd"])
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(), summary
