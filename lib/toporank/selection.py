"""Which run is best: a leaderboard under both rules, and the choice of the configured one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd

from toporank.files import replacing, write_text

CHECKPOINT_OF = {"val_loss": "best_loss", "val_selection": "best_selection"}
"""For each selection rule the checkpoint that is a run's best under it."""

SHOWN = ("val_loss", "val_selection", "val_spearman", "val_spearman_per_target", "val_ranking_loss")


def leaderboard(summaries: list[Path], rule: str) -> pd.DataFrame:
    """One row a run, best first under `rule`; ties go by run name.

    Columns `<checkpoint>.<metric>` give the metrics of the run's best checkpoint under each rule, and
    `rank_val_loss`, `rank_val_selection` its place under each; `chosen` marks the winner under `rule`.
    summaries : paths of summary.json files.
    """
    rows = []
    for path in summaries:
        summary = json.loads(path.read_text())
        row = {"run": summary["run"], "seed": summary["seed"], "epochs": summary["epochs"], "folder": str(path.parent)}
        for checkpoint in CHECKPOINT_OF.values():
            best = summary[checkpoint]
            row |= {f"{checkpoint}.epoch": best["epoch"], **{f"{checkpoint}.{m}": best[m] for m in SHOWN}}
        rows.append(row)
    table = pd.DataFrame(rows).sort_values("run", ignore_index=True)
    for each, checkpoint in CHECKPOINT_OF.items():
        table.insert(
            1, f"rank_{each}", table[f"{checkpoint}.{each}"].rank(method="first", na_option="bottom").astype(int)
        )
    table = table.sort_values(f"rank_{rule}", ignore_index=True)
    table.insert(1, "chosen", [place == 0 for place in range(len(table))])
    return table


def winner(table: pd.DataFrame, rule: str) -> dict[str, Any]:
    """Path and metrics of the chosen checkpoint of a leaderboard."""
    best, checkpoint = table.iloc[0], CHECKPOINT_OF[rule]
    return {
        "run": best["run"],
        "seed": int(best["seed"]),
        "rule": rule,
        "checkpoint": str(Path(best["folder"], f"{checkpoint}.ckpt")),
        "epoch": int(best[f"{checkpoint}.epoch"]),
        **{metric: float(best[f"{checkpoint}.{metric}"]) for metric in SHOWN},
    }


def write_selection(summaries: list[Path], rule: str, table_path: Path, best: Path) -> dict[str, Any]:
    """Write the leaderboard, `<best>.ckpt` (a copy of the winner) and `<best>.json` (why it won)."""
    table = leaderboard(summaries, rule)
    chosen = winner(table, rule)
    write_text(table_path, table.to_csv(index=False))
    with replacing(best.with_suffix(".ckpt")) as temporary:
        shutil.copyfile(chosen["checkpoint"], temporary)
    write_text(best.with_suffix(".json"), json.dumps(chosen, indent=1))
    return chosen


def write_ensemble(summaries: list[Path], rule: str, folder: Path) -> None:
    """Copy every run's best checkpoint under `rule` to `<folder>/<run>.ckpt`."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in summaries:
        run = json.loads(path.read_text())["run"]
        with replacing(folder / f"{run}.ckpt") as temporary:
            shutil.copyfile(path.parent / f"{CHECKPOINT_OF[rule]}.ckpt", temporary)
