"""A ranking held against the labels, split by split."""

from __future__ import annotations

from typing import Any

import pandas as pd

from toporank.evaluation.calibration import calibration
from toporank.evaluation.metrics import per_target, summarise


def evaluate(ranking: pd.DataFrame, labels: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Metrics of each target, with its split, and a summary of each split.

    Only `val` and `test` say how good a scorer is; `train` shows how far it learned by heart. Decoys that
    are labelled but not scored are counted in the summary, `calibration` holds `pred_sd` against the error. Labels as
    from `labels.read_labels`.
    """
    joined = labels.merge(ranking[["target", "decoy", "pred_dockq", "pred_sd"]], on=["target", "decoy"], how="left")
    tables, summary = [], {}
    for split, part in joined.groupby("split"):
        scored = part[part["pred_dockq"].notna()]
        summary[split] = {"n_labels": len(part), "n_not_scored": len(part) - len(scored)}
        if len(scored):
            tables.append(per_target(scored).assign(split=split))
            summary[split] |= summarise(scored)
            summary[split]["calibration"] = calibration(scored["dockq"], scored["pred_dockq"], scored["pred_sd"])
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(), summary
