"""Which run is best: a leaderboard under every rule, the choice of the configured one, and what it costs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd

from toporank.files.atomic import replacing, write_text
from toporank.files.spreadsheets import restored, write_rows

CHECKPOINT_OF = {"val_loss": "best_loss", "val_selection": "best_selection", "val_ranking_loss": "best_ranking"}
"""For each selection rule the checkpoint that is a run's best under it. For every rule, lower is better."""

SHOWN = (
    "val_loss",
    "val_selection",
    "val_spearman",
    "val_spearman_per_target",
    "val_pearson",
    "val_pearson_per_target",
    "val_ranking_loss",
)

REGRETTED = {"val_loss": 1, "val_ranking_loss": 1, "val_spearman": -1, "val_spearman_per_target": -1}
"""Metrics whose regret is shown; -1 where higher is better."""


def leaderboard(summaries: list[Path], rule: str) -> pd.DataFrame:
    """One row a run, best first under `rule`; ties go to the sweep, then by run name.

    Columns `<checkpoint>.<metric>` give the metrics of the run's best checkpoint under each rule, and
    `rank_<rule>` its place; `chosen` marks the winner under `rule`. `config` is the run without its seed, `parent`
    the run a fine-tune started from, `beats_parent` whether it is better under `rule`, `stopped` why it ended early.
    summaries : paths of summary.json files.
    """
    rows = []
    for path in summaries:
        summary = json.loads(path.read_text())
        run, seed = summary["run"], summary["seed"]
        row = {
            "run": run,
            "config": run.removesuffix(f"_seed{seed}"),
            "seed": seed,
            "epochs": summary["epochs"],
            "parent": (summary["parent"] or {}).get("run", ""),
            "stopped": summary["stopped"],
            "folder": str(path.parent),
        }
        for checkpoint in CHECKPOINT_OF.values():
            best = summary[checkpoint]
            row |= {f"{checkpoint}.epoch": best["epoch"], **{f"{checkpoint}.{m}": best[m] for m in SHOWN}}
        rows.append(row)
    table = pd.DataFrame(rows)
    table = table.assign(tuned=table["parent"] != "").sort_values(["tuned", "run"], ignore_index=True)
    for each, checkpoint in CHECKPOINT_OF.items():
        table.insert(
            1, f"rank_{each}", table[f"{checkpoint}.{each}"].rank(method="first", na_option="bottom").astype(int)
        )
    table = table.sort_values(f"rank_{rule}", ignore_index=True).drop(columns="tuned")
    table.insert(1, "chosen", [place == 0 for place in range(len(table))])
    place = table.set_index("run")[f"rank_{rule}"]
    table.insert(2, "beats_parent", place.values < table["parent"].map(place).fillna(0).values)
    return table


def read_leaderboard(path: Path) -> pd.DataFrame:
    """Read leaderboard.csv; names stay text, empty text stays empty."""
    text = ["run", "config", "parent", "stopped", "folder"]
    table = pd.read_csv(path, dtype=dict.fromkeys(text, str), float_precision="round_trip")
    table[text] = table[text].fillna("").map(restored)
    return table


def winner(table: pd.DataFrame, rule: str) -> dict[str, Any]:
    """Path, metrics and regret of the checkpoint that wins a leaderboard under a rule, its own or another.

    `regret.<metric>`: how much worse its metric is than the best among the kept checkpoints of all runs.
    """
    best, checkpoint = table.loc[table[f"rank_{rule}"].idxmin()], CHECKPOINT_OF[rule]
    metrics = {metric: float(best[f"{checkpoint}.{metric}"]) for metric in SHOWN}
    return {
        "run": best["run"],
        "seed": int(best["seed"]),
        "rule": rule,
        "checkpoint": str(Path(best["folder"], f"{checkpoint}.ckpt")),
        "epoch": int(best[f"{checkpoint}.epoch"]),
        **metrics,
        **{
            f"regret.{metric}": sign * metrics[metric] - _least(table, metric, sign)
            for metric, sign in REGRETTED.items()
        },
    }


def _least(table: pd.DataFrame, metric: str, sign: int) -> float:
    """The best of a metric among all candidates, times `sign` so that lower is better; nan if none has it."""
    return float((sign * table[[f"{checkpoint}.{metric}" for checkpoint in CHECKPOINT_OF.values()]]).min(axis=None))


def winners(table: pd.DataFrame) -> pd.DataFrame:
    """The winner under each rule, one row a rule: what the other rules would have chosen, and with what regret."""
    return pd.DataFrame([winner(table, rule) for rule in CHECKPOINT_OF])


def by_config(table: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Mean and standard deviation over seeds of each configuration, best mean first under `rule`.

    Columns config, parent, seeds, and `<metric>.mean` and `<metric>.sd` of the best checkpoints under `rule`; the
    deviation of a single seed is nan.
    """
    columns = {f"{CHECKPOINT_OF[rule]}.{metric}": metric for metric in SHOWN}
    groups = table.rename(columns=columns).groupby(["config", "parent"])
    parts = [groups.size().rename("seeds")]
    for metric in SHOWN:
        parts += [groups[metric].mean().rename(f"{metric}.mean"), groups[metric].std().rename(f"{metric}.sd")]
    return pd.concat(parts, axis=1).reset_index().sort_values(f"{rule}.mean", kind="stable", ignore_index=True)


def verdict(table: pd.DataFrame) -> str:
    """What fine-tuning brought, in one sentence; empty without a fine-tune."""
    tuned = table[table["parent"] != ""]
    if tuned.empty:
        return ""
    best, first = table.iloc[0], tuned.iloc[0]
    if best["parent"]:
        return f"fine-tune {best['run']} beats its parent {best['parent']} and is final"
    beaten = ", ".join(f"{row.run} (from {row.parent})" for row in tuned.itertuples() if row.beats_parent)
    if beaten:
        return f"{beaten} beats its parent, but no fine-tune beats {best['run']}, which is final"
    return f"no fine-tune beats its parent: {first['parent']} is left as it was, {best['run']} is final"


def write_selection(summaries: list[Path], rule: str, table_path: Path, best: Path) -> dict[str, Any]:
    """Write the leaderboard, `<best>.ckpt` (a copy of the winner) and `<best>.json` (why it won).

    Beside the leaderboard: `winners.csv`, the winner under each rule, and `configs.csv`, mean and standard deviation
    over seeds.
    """
    table = leaderboard(summaries, rule)
    chosen = {**winner(table, rule), "fine_tuning": verdict(table)}
    tables = {table_path.name: table, "winners.csv": winners(table), "configs.csv": by_config(table, rule)}
    for name, each in tables.items():
        write_rows(table_path.with_name(name), each.columns, each.itertuples(index=False))
    with replacing(best.with_suffix(".ckpt")) as temporary:
        shutil.copyfile(chosen["checkpoint"], temporary)
    write_text(best.with_suffix(".json"), json.dumps(chosen, indent=1))
    return chosen


def write_ensemble(summaries: list[Path], rule: str, folder: Path, members: int | None) -> list[str]:
    """Copy the best checkpoints of the leaderboard under `rule` to `<folder>/<run>.ckpt`.

    members : how many runs; None for all. Returns the runs.
    """
    table = leaderboard(summaries, rule).iloc[:members]
    for row in table.itertuples():
        with replacing(folder / f"{row.run}.ckpt") as temporary:
            shutil.copyfile(Path(row.folder, f"{CHECKPOINT_OF[rule]}.ckpt"), temporary)
    return table["run"].tolist()
