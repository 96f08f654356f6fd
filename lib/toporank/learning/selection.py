"""Which run is best.

It makes a leaderboard under every rule, chooses by the configured one, and says what that
costs.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd

from toporank.files.atomic import replacing, write_text
from toporank.files.spreadsheets import restored, write_rows
from toporank.learning.run import CHECKPOINT_OF

METRICS = (
    "val_loss",
    "val_selection",
    "val_spearman",
    "val_spearman_per_target",
    "val_pearson",
    "val_pearson_per_target",
    "val_ranking_loss",
)
SIGN_OF_REGRET = {
    "val_loss": 1,
    "val_ranking_loss": 1,
    "val_spearman": -1,
    "val_spearman_per_target": -1,
}
"""Metrics whose regret is shown; -1 where higher is better."""
GPU_MEMORY = "gpu_memory_mb"
"""Most memory of a GPU that the tensors of a run had, MiB; a column where there is one."""
TEXT_COLUMNS = ["run", "config", "parent", "stopped", "folder"]


def leaderboard(summaries: list[Path], rule: str) -> pd.DataFrame:
    """Return one row a run, best first under `rule`; ties go to the sweep, then by run name.

    Parameters
    ----------
    summaries : list of Path
        The summary.json of each run.
    rule : str
        A selection rule.

    Returns
    -------
    DataFrame
        Columns `<checkpoint>.<metric>` give the metrics of the run's best checkpoint under each
        rule, and `rank_<rule>` its place; `chosen` marks the winner under `rule`. `config` is the
        run without its seed, `parent` the run a fine-tune started from, `beats_parent` whether it
        is better under `rule`, `stopped` why it ended early.
    """
    table = pd.DataFrame([_row(path) for path in summaries])
    table["is_finetune"] = table["parent"] != ""
    table = table.sort_values(["is_finetune", "run"], ignore_index=True).drop(
        columns="is_finetune"
    )
    for each, checkpoint in CHECKPOINT_OF.items():
        rank = table[f"{checkpoint}.{each}"].rank(method="first", na_option="bottom")
        table.insert(1, f"rank_{each}", rank.astype(int))
    table = table.sort_values(f"rank_{rule}", ignore_index=True)
    table.insert(1, "chosen", table.index == 0)
    rank = table[f"rank_{rule}"]
    rank_of_parent = (
        table["parent"].map(dict(zip(table["run"], rank, strict=True))).fillna(0)
    )
    table.insert(2, "beats_parent", rank < rank_of_parent)
    return table


def _row(path: Path) -> dict[str, Any]:
    """Return the row of a run on the leaderboard. path : of its summary.json."""
    summary = json.loads(path.read_text())
    name, seed = summary["run"], summary["seed"]
    row = {
        "run": name,
        "config": name.removesuffix(f"_seed{seed}"),
        "seed": seed,
        "epochs": summary["epochs"],
        "parent": summary["parent"]["run"] if summary["parent"] else "",
        "stopped": summary["stopped"],
        "folder": str(path.parent),
    }
    for checkpoint in CHECKPOINT_OF.values():
        for name in ("epoch", *METRICS):
            row[f"{checkpoint}.{name}"] = summary[checkpoint][name]
    if GPU_MEMORY in summary:
        row[GPU_MEMORY] = summary[GPU_MEMORY]
    return row


def read_leaderboard(path: Path) -> pd.DataFrame:
    """Read leaderboard.csv; names stay text, empty text stays empty."""
    table = pd.read_csv(path, dtype=dict.fromkeys(TEXT_COLUMNS, str))
    table[TEXT_COLUMNS] = table[TEXT_COLUMNS].fillna("").map(restored)
    return table


def winner(table: pd.DataFrame, rule: str) -> dict[str, Any]:
    """Return path, metrics and regret of the checkpoint that wins a leaderboard under a rule.

    `regret.<metric>`: how much worse its metric is than the best among the kept checkpoints of all
    runs.
    """
    best = table.loc[table[f"rank_{rule}"].idxmin()]
    checkpoint = CHECKPOINT_OF[rule]
    chosen = {
        "run": best["run"],
        "seed": int(best["seed"]),
        "rule": rule,
        "checkpoint": str(Path(best["folder"], f"{checkpoint}.ckpt")),
        "epoch": int(best[f"{checkpoint}.epoch"]),
    }
    for metric in METRICS:
        chosen[metric] = float(best[f"{checkpoint}.{metric}"])
    for metric, sign in SIGN_OF_REGRET.items():
        of_all = table[[f"{each}.{metric}" for each in CHECKPOINT_OF.values()]]
        chosen[f"regret.{metric}"] = sign * chosen[metric] - float(
            (sign * of_all).min(axis=None)
        )
    return chosen


def winners(table: pd.DataFrame) -> pd.DataFrame:
    """Return the winner under each rule.

    It also returns what the other rules would have chosen, and with what regret.
    """
    return pd.DataFrame([winner(table, rule) for rule in CHECKPOINT_OF])


def by_config(table: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Return mean and standard deviation over the seeds of each configuration.

    The best mean under `rule` comes first.

    Columns config, parent, seeds, and `<metric>.mean` and `<metric>.sd` of the best checkpoints
    under `rule`; the deviation of a single seed is nan.
    """
    columns = {f"{CHECKPOINT_OF[rule]}.{metric}": metric for metric in METRICS}
    groups = table.rename(columns=columns).groupby(["config", "parent"])
    of_config = groups.size().to_frame("seeds")
    for metric in METRICS:
        of_config[f"{metric}.mean"] = groups[metric].mean()
        of_config[f"{metric}.sd"] = groups[metric].std()
    return of_config.reset_index().sort_values(
        f"{rule}.mean", kind="stable", ignore_index=True
    )


def verdict(table: pd.DataFrame) -> str:
    """Return what fine-tuning brought, in one sentence; empty without a fine-tune."""
    # others start from a checkpoint that is no run of this study
    finetunes = table[table["parent"].isin(table["run"])]
    if finetunes.empty:
        return ""
    best = table.iloc[0]
    if best["run"] in [*finetunes["run"]]:
        return f"fine-tune {best['run']} beats its parent {best['parent']} and is final"
    better = finetunes[finetunes["beats_parent"]]
    if better.empty:
        parent = finetunes.iloc[0]["parent"]
        return f"no fine-tune beats its parent: {parent} is left as it was, {best['run']} is final"
    names = ", ".join(better["run"] + " (from " + better["parent"] + ")")
    return f"{names} beats its parent, but no fine-tune beats {best['run']}, which is final"


def describe(chosen: dict[str, Any], n_runs: int) -> list[str]:
    """Which run is best of so many and, after fine-tuning, what that brought.

    chosen : as of `write_selection`
    """
    rule = chosen["rule"]
    place = f"{rule} {chosen[rule]:.4f}, epoch {chosen['epoch']}"
    lines = [f"{chosen['run']} is best of {n_runs} runs: {place}"]
    if chosen["fine_tuning"]:
        lines.append(chosen["fine_tuning"])
    return lines


def write_selection(
    summaries: list[Path], rule: str, table_path: Path, best: Path
) -> dict[str, Any]:
    """Write the leaderboard, `<best>.ckpt` (a copy of the winner) and `<best>.json` (why it won).

    Beside the leaderboard: `winners.csv`, the winner under each rule, and `configs.csv`, mean and
    standard deviation over seeds.
    """
    table = leaderboard(summaries, rule)
    chosen = {**winner(table, rule), "fine_tuning": verdict(table)}
    tables = {
        table_path.name: table,
        "winners.csv": winners(table),
        "configs.csv": by_config(table, rule),
    }
    for name, each in tables.items():
        write_rows(
            table_path.with_name(name), each.columns, each.itertuples(index=False)
        )
    with replacing(best.with_suffix(".ckpt")) as temporary:
        shutil.copyfile(chosen["checkpoint"], temporary)
    write_text(best.with_suffix(".json"), json.dumps(chosen, indent=1))
    return chosen


def write_ensemble(
    summaries: list[Path], rule: str, folder: Path, members: int | None
) -> list[str]:
    """Copy the best checkpoints of the leaderboard under `rule` to `<folder>/<run>.ckpt`.

    members : how many runs; None for all. Returns the runs.
    """
    table = leaderboard(summaries, rule).iloc[:members]
    for row in table.itertuples():
        with replacing(folder / f"{row.run}.ckpt") as temporary:
            shutil.copyfile(Path(row.folder, f"{CHECKPOINT_OF[rule]}.ckpt"), temporary)
    return table["run"].tolist()
