"""Evaluation of a ranking against labels, split by split."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from toporank.decoys.labels import Label
from toporank.evaluation.calibration import calibration
from toporank.evaluation.metrics import per_target, summarise
from toporank.evaluation.ranking import RankedDecoy

CONSENSUS = "consensus"
"""Key of a summary, and beginning of columns, for what the consensus of the decoys would have ranked: it costs nothing,
so a prediction that ranks no better is worth nothing."""
NO_DOCKQ = ("mae", "rmse")
"""Metrics that say nothing about a number that is no DockQ."""


def evaluate(ranking: Iterable[RankedDecoy], labels: Iterable[Label]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Metrics of each target, with its split, and a summary of each split.

    Only `val` and `test` say how good a scorer is; `train` shows how far it has memorised its labels. Decoys that
    are labelled but not scored are counted in the summary; `calibration` compares `pred_sd` with the error, and
    `consensus` has the metrics of the consensus for the same decoys, if it is known.
    """
    measured = ["pred_dockq", "pred_sd", CONSENSUS]
    found = {(row.target, row.decoy): (row.pred_dockq, row.pred_sd, row.consensus) for row in ranking}
    rows = [(*label, *found.get((label.target, label.decoy), (None, None, None))) for label in labels]
    joined = pd.DataFrame(rows, columns=[*Label._fields, *measured])
    joined = joined.astype(dict.fromkeys(["dockq", *measured], float))
    tables, summary = [], {}
    for split, part in joined.groupby("split"):
        scored = part[part["pred_dockq"].notna()]
        summary[split] = {"n_labels": len(part), "n_not_scored": len(part) - len(scored)}
        if len(scored):
            table = per_target(scored).assign(split=split)
            summary[split] |= summarise(scored)
            summary[split]["calibration"] = calibration(scored["dockq"], scored["pred_dockq"], scored["pred_sd"])
            if scored[CONSENSUS].notna().any():
                by_consensus = scored.assign(pred_dockq=scored[CONSENSUS].fillna(0.0))  # of a target with one decoy
                table = table.join(_of_consensus(per_target(by_consensus)))
                summary[split][CONSENSUS] = summarise(by_consensus)
                for metric in NO_DOCKQ:
                    del summary[split][CONSENSUS]["pooled"][metric]
            tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(), summary


def _of_consensus(metrics: pd.DataFrame) -> pd.DataFrame:
    """What `per_target` says of the consensus and not of the labels, under names of their own."""
    of_labels = ["target", "n_decoys", "best_dockq", "random_pick_loss"]
    return metrics.drop(columns=of_labels).add_prefix(f"{CONSENSUS}_")
