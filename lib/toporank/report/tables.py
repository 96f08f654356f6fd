"""Run card, coverage, leaderboard and skipped decoys, as the template shows them."""

from __future__ import annotations

from typing import Any

import pandas as pd

import toporank
from toporank.decoys.identity import Status
from toporank.evaluation.selection import CHECKPOINT_OF, by_config, verdict, winners
from toporank.report.formatting import FATES, NOT_SCORED, RULES, SCORED, counted, fate_name, number, plain
from toporank.report.results import Study, is_finetune, validation_random_pick

Pairs = list[tuple[str, str]]

METRIC_NAMES = {
    "val_loss": "loss (mean squared error)",
    "val_spearman_per_target": "Spearman per target",
    "val_spearman": "Spearman pooled",
    "val_pearson_per_target": "Pearson per target",
    "val_pearson": "Pearson pooled",
    "val_ranking_loss": "ranking loss",
}
"""Validation metrics on the run card, in this order."""


def fates(decoys: pd.DataFrame) -> list[tuple[str, str, int]]:
    """(fate, its name, number of decoys) in fixed order; fates of no decoy are left out, `scored` never."""
    counts = decoys["fate"].value_counts().to_dict()
    order = [*FATES, *sorted(set(counts) - set(FATES))]
    return [(fate, fate_name(fate), counts.get(fate, 0)) for fate in order if counts.get(fate) or fate == SCORED]


def balance(decoys: pd.DataFrame) -> dict[str, Any]:
    """Decoys in = scored + skipped, in which the numbers add up."""
    scored = int((decoys["fate"] == SCORED).sum())
    return {
        "decoys": len(decoys),
        "scored": scored,
        "skipped": len(decoys) - scored,
        "targets": decoys.groupby(["dataset", "target"], observed=True).ngroups,
        "fates": fates(decoys),
    }


def run_card(study: Study) -> list[dict[str, Any]]:
    """Cards of the run: title and (name, value) pairs each. What the checkpoint does not say has no card."""
    model = study.checkpoint
    made = model.get("provenance", {})
    cards = {
        "Checkpoint": origin(model),
        "Its validation metrics": validation_metrics(study) if "metrics" in model else [],
        "Training set": training_set(model["training_set"]) if "training_set" in model else [],
        "Network and training": [(name.replace("_", " "), plain(v)) for name, v in model["hyperparameters"].items()],
        "Trained with": [
            ("git state", made.get("git", "unknown")), *made.get("versions", {}).items(),
            ("this page", f"toporank {toporank.__version__}"),
        ],
    }  # fmt: skip
    return [{"title": title, "pairs": pairs} for title, pairs in cards.items() if pairs]


def origin(model: dict[str, Any]) -> Pairs:
    """Which checkpoint it is, and how it came to be. model : its description."""
    if "origin" in model:
        return [("imported from", model["origin"])]
    parent, selection = model.get("parent"), model["selection"]
    start = f"{parent['run']}, epoch {parent['epoch']}" if parent else "random weights"
    rule = selection["rule"]
    return [
        ("run", model["run"]), ("epoch", f"{model['epoch']} (the first is 0)"), ("seed", str(model["seed"])),
        ("selection rule", f"{rule}: {RULES.get(rule, rule)}"),
        ("Spearman weight", plain(selection["spearman_weight"])), ("trained from", start),
    ]  # fmt: skip


def training_set(training: dict[str, Any]) -> Pairs:
    """Sizes and fingerprint of the training set, as the checkpoint tells them."""
    return [
        ("training decoys", f"{training['train']:,}"), ("validation decoys", f"{training['val']:,}"),
        ("fingerprint", training["fingerprint"]),
    ]  # fmt: skip


def validation_metrics(study: Study) -> Pairs:
    """Metrics the checkpoint had on its validation set; the ranking loss with that of a random pick."""
    pairs = [
        (name, number(study.checkpoint["metrics"].get(key), 4 if key == "val_loss" else 3))
        for key, name in METRIC_NAMES.items()
    ]
    random = validation_random_pick(study)
    return [
        *pairs,
        ("ranking loss of a random pick", "not recorded in the checkpoint" if random is None else number(random)),
    ]


def features(study: Study) -> list[dict[str, str]]:
    """Role, module and parameters of every feature module of the checkpoint."""
    rows = []
    for role, choice in study.checkpoint.get("features", {}).items():
        parameters = {name: value for name, value in choice.items() if name != "module"}
        text = "; ".join(f"{name.replace('_', ' ')} {plain(value)}" for name, value in parameters.items())
        rows.append({"role": role, "module": choice["module"], "parameters": text})
    return rows


def coverage(study: Study) -> dict[str, Any]:
    """Decoys and labels of every data set, and of all when there are several."""
    skipped = [Status.NO_INTERFACE, Status.UNREADABLE, Status.FAILED]
    skipped += sorted(set(study.decoys["status"]) - {Status.OK, *skipped})
    rows = [coverage_row(name, study.table[study.table["dataset"] == name], skipped) for name in study.datasets]
    if len(rows) > 1:
        rows.append(coverage_row("all data sets", study.table, skipped) | {"total": True})
    labels = bool(study.table["dockq"].notna().any())
    return {"statuses": [(s, fate_name(s)) for s in skipped], "rows": rows, "any_labels": labels}


def coverage_row(name: str, table: pd.DataFrame, skipped: list[str]) -> dict[str, Any]:
    """Counts of one data set: decoys = with_graph + skipped, labels = labels_with_graph + the two after it.

    `lines` say the same in a sentence each, with the parts of its bar: (status, number).
    """
    is_decoy, labelled, graph = table["status"] != Status.NO_DECOY, table["dockq"].notna(), table["status"] == Status.OK
    statuses = table["status"].value_counts().to_dict()
    row = {
        "name": name,
        "total": False,
        "decoys": int(is_decoy.sum()),
        "with_graph": int(graph.sum()),
        "skipped": [statuses.get(status, 0) for status in skipped],
        "labels": int(labelled.sum()),
        "labels_with_graph": int((labelled & graph).sum()),
        "labels_skipped": int((labelled & is_decoy & ~graph).sum()),
        "labels_without_decoy": int((labelled & ~is_decoy).sum()),
        "unlabelled": int((is_decoy & ~labelled).sum()),
    }
    decoys = [(Status.OK, row["with_graph"], "with a result"),
              *((s, n, fate_name(s)) for s, n in zip(skipped, row["skipped"], strict=True))]  # fmt: skip
    labels = [
        (Status.OK, row["labels_with_graph"], "with a graph"),
        (Status.FAILED, row["labels_skipped"], "whose decoy was skipped"),
        (Status.NO_DECOY, row["labels_without_decoy"], "without a decoy"),
    ]
    both = [("decoy", row["decoys"], decoys), ("label", row["labels"], labels)]
    return row | {"lines": [sum_line(*line) for line in both if line[0] == "decoy" or line[1]]}


def sum_line(noun: str, total: int, parts: list[tuple[str, int, str]]) -> dict[str, Any]:
    """`66 decoys = 65 with a result + 1 no interface`, and the parts of the bar below it."""
    terms = " + ".join(f"{n:,} {name}" for place, (_, n, name) in enumerate(parts) if n or place == 0)
    return {"sentence": f"{counted(total, noun)} = {terms}", "parts": [(status, n) for status, n, _ in parts]}


def leaderboard(study: Study) -> dict[str, Any] | None:
    """All runs, best first under the rule that chose, with `random` as the random pick of their ranking losses."""
    if study.leaderboard is None or study.leaderboard.empty:
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
        "rows": rows, "rule": study.checkpoint["selection"]["rule"], "rule_words": RULES,
        "random": validation_random_pick(study), "configurations": configurations(study.leaderboard),
        "winners": winners(study.leaderboard).to_dict("records"), "fine_tuning": verdict(study.leaderboard),
        "stopped": [{"run": run["run"], "why": run["stopped"]} for run in rows_stopped(study.leaderboard)],
    }  # fmt: skip


def rows_stopped(board: pd.DataFrame) -> list[dict[str, Any]]:
    """The runs that ended before their time."""
    return board[board["stopped"] != ""].to_dict("records")


def configurations(board: pd.DataFrame) -> list[dict[str, Any]]:
    """Mean and standard deviation over the seeds of each configuration; empty when none has several seeds."""
    shown = {"loss": "val_loss", "per_target": "val_spearman_per_target", "pooled": "val_spearman",
             "ranking_loss": "val_ranking_loss"}  # fmt: skip
    rows = [
        {"name": row["config"], "kind": "fine-tune" if row["parent"] else "sweep", "seeds": row["seeds"],
         **{short: (row[f"{metric}.mean"], row[f"{metric}.sd"]) for short, metric in shown.items()}}
        for row in by_config(board, "val_loss").to_dict("records")
    ]  # fmt: skip
    return rows if any(row["seeds"] > 1 for row in rows) else []


def not_scored(study: Study) -> list[dict[str, str]]:
    """Every decoy without score and every label without decoy, with status, stage and reason."""
    rows = study.table[study.table["fate"] != SCORED]
    order = {fate: place for place, fate in enumerate(FATES)}
    rows = rows.assign(order=rows["fate"].map(order).fillna(len(order))).sort_values(
        ["order", "dataset", "target", "decoy"]
    )
    return [
        {"dataset": row["dataset"], "target": row["target"], "decoy": row["decoy"], "fate": row["fate"],
         "fate_name": fate_name(row["fate"]), "stage": row["stage"], "reason": reason(row)}
        for row in rows.to_dict("records")
    ]  # fmt: skip


def reason(row: dict[str, Any]) -> str:
    """Why a decoy has no score."""
    if row["fate"] == NOT_SCORED:
        return "its graph is there, but no score of it was given to this page"
    return row["reason"] or "no reason was recorded"
