"""Leaderboard and learning curves, as the template shows them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from toporank.learning.selection import CHECKPOINT_OF, by_config, verdict, winners
from toporank.report import figures
from toporank.report.formatting import RULES
from toporank.report.results import Study, is_finetune, validation_random_pick


def leaderboard(study: Study) -> dict[str, Any] | None:
    """All runs, best first under the rule that chose, with `random` as the random pick of their ranking losses."""
    if study.leaderboard.empty:
        return None
    rows = []
    for run in study.leaderboard.to_dict("records"):
        rules = {
            rule: {
                "rank": int(run[f"rank_{rule}"]),
                **{key.split(".")[1]: run[key] for key in run if key.startswith(f"{kept}.")},
            }
            for rule, kept in CHECKPOINT_OF.items()
        }
        kind = "fine-tune" if is_finetune(run["folder"]) else "sweep"
        rows.append({**{k: run[k] for k in ("run", "seed", "epochs", "chosen")}, "kind": kind, "rules": rules})
    return {
        "rows": rows,
        "rule": study.checkpoint["selection"]["rule"],
        "rule_words": RULES,
        "random": validation_random_pick(study),
        "configurations": configurations(study.leaderboard),
        "winners": winners(study.leaderboard).to_dict("records"),
        "fine_tuning": verdict(study.leaderboard),
        "stopped": [{"run": run["run"], "why": run["stopped"]} for run in stopped_early(study.leaderboard)],
    }


def stopped_early(board: pd.DataFrame) -> list[dict[str, Any]]:
    """The runs that ended early."""
    return board[board["stopped"] != ""].to_dict("records")


def configurations(board: pd.DataFrame) -> list[dict[str, Any]]:
    """Mean and standard deviation over the seeds of each configuration; empty when none has several seeds."""
    shown = {
        "loss": "val_loss",
        "per_target": "val_spearman_per_target",
        "pooled": "val_spearman",
        "ranking_loss": "val_ranking_loss",
    }
    rows = [
        {
            "name": row["config"],
            "kind": "fine-tune" if row["parent"] else "sweep",
            "seeds": row["seeds"],
            **{short: (row[f"{metric}.mean"], row[f"{metric}.sd"]) for short, metric in shown.items()},
        }
        for row in by_config(board, "val_loss").to_dict("records")
    ]
    return rows if any(row["seeds"] > 1 for row in rows) else []


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
