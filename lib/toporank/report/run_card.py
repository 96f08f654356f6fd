"""Run card, coverage and skipped decoys, as the template shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import toporank
from toporank.ranking.leakage import SEEN, describe
from toporank.report.formatting import (
    FATES,
    NOT_SCORED,
    RULES,
    SCORED,
    SPLITS,
    counted,
    fate_name,
    number,
    parameter_text,
)
from toporank.report.results import Result, Study, models_among, validation_random_pick
from toporank.structures.identity import Status

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


def fates(decoys: Iterable[Result]) -> list[tuple[str, str, int]]:
    """(fate, its name, number of decoys) in fixed order; fates of no decoy are left out, `scored` never."""
    counts = Counter(row.fate for row in decoys)
    order = [*FATES, *sorted(set(counts) - set(FATES))]
    return [(fate, fate_name(fate), counts[fate]) for fate in order if counts[fate] or fate == SCORED]


def balance(decoys: list[Result]) -> dict[str, Any]:
    """Models in = scored + skipped, in which the numbers add up; `copies` of them and `intermediate` states beside."""
    models = models_among(decoys)
    intermediate = sum(row.status == Status.INTERMEDIATE for row in decoys)
    scored = sum(row.fate == SCORED for row in models)
    return {
        "decoys": len(models),
        "scored": scored,
        "skipped": len(models) - scored,
        "copies": len(decoys) - len(models) - intermediate,
        "intermediate": intermediate,
        "targets": len({(row.dataset, row.target) for row in decoys}),
        "fates": fates(models),
    }


def run_card(study: Study) -> list[dict[str, Any]]:
    """Cards of the run: title and (name, value) pairs each. What the checkpoint does not record has no card."""
    model = study.checkpoint
    made = model.get("provenance", {})
    of_several = study.scorer is not None and study.scorer.mean
    cards = {
        "Scorer": scorer(study),
        "The best of its networks" if of_several else "Checkpoint": checkpoint_origin(model),
        "Its validation metrics": validation_metrics(study) if "metrics" in model else [],
        "Its training set" if of_several else "Training set": training_set(model["training_set"])
        if "training_set" in model
        else [],
        "Network and training": [
            (name.replace("_", " "), parameter_text(value)) for name, value in model["hyperparameters"].items()
        ],
        "Trained with": [
            *([("git state", made["git"])] if made.get("git") else []),
            *made.get("versions", {}).items(),
            ("this page", f"toporank {toporank.__version__}"),
        ],
    }
    return [{"title": title, "pairs": pairs} for title, pairs in cards.items() if pairs]


def scored_with(study: Study) -> str:
    """What gives the score, in a few words."""
    of_scorer = study.scorer
    networks = (
        f"{len(of_scorer.members)} networks"
        if of_scorer and of_scorer.mean
        else checkpoint_origin(study.checkpoint)[0][1]
    )
    return f"{networks} and a judge" if of_scorer and of_scorer.judge else networks


def scorer(study: Study) -> Pairs:
    """What gives the score, and the disagreement; nothing where one checkpoint is alone."""
    if study.scorer is None or not (study.scorer.members or study.scorer.judge):
        return []
    members = study.scorer.members
    networks = f"mean of {counted(len(members), 'network')}" if study.scorer.mean else "the checkpoint below"
    return [
        ("networks", networks),
        ("last word", "the judge" if study.scorer.judge else "the networks"),
        *([("disagreement", f"over {counted(len(members), 'network')}")] if len(members) > 1 else []),
    ]


def checkpoint_origin(model: dict[str, Any]) -> Pairs:
    """Which checkpoint it is, and how it came to be. model : its description."""
    if "origin" in model:
        return [("imported from", model["origin"])]
    parent, selection = model.get("parent"), model["selection"]
    start = f"{parent['run']}, epoch {parent['epoch']}" if parent else "random weights"
    rule = selection["rule"]
    return [
        ("run", model["run"]),
        ("epoch", f"{model['epoch']} (the first is 0)"),
        ("seed", str(model["seed"])),
        ("selection rule", f"{rule}: {RULES.get(rule, rule)}"),
        ("Spearman weight", parameter_text(selection["spearman_weight"])),
        ("trained from", start),
    ]


def training_set(training: dict[str, Any]) -> Pairs:
    """Sizes and fingerprint of the training set, as recorded in the checkpoint."""
    return [
        ("training decoys", f"{training['train']:,}"),
        ("validation decoys", f"{training['val']:,}"),
        *([("with partners of several chains", f"{training['joined']:,}")] if "joined" in training else []),
        ("fingerprint", training["fingerprint"]),
    ]


def validation_metrics(study: Study) -> Pairs:
    """Metrics the checkpoint had on its validation set; the ranking loss with that of a random pick."""
    pairs = [
        (name, number(study.checkpoint["metrics"].get(key), 4 if key == "val_loss" else 3))
        for key, name in METRIC_NAMES.items()
    ]
    random = validation_random_pick(study)
    return pairs if random is None else [*pairs, ("ranking loss of a random pick", number(random))]


def features(study: Study) -> list[dict[str, str]]:
    """Role, module and parameters of every feature module of the checkpoint."""
    rows = []
    for role, choice in study.checkpoint.get("features", {}).items():
        parameters = {name: value for name, value in choice.items() if name != "module"}
        text = "; ".join(f"{name.replace('_', ' ')} {parameter_text(value)}" for name, value in parameters.items())
        rows.append({"role": role, "module": choice["module"], "parameters": text})
    return rows


def coverage(study: Study) -> dict[str, Any]:
    """Decoys and labels of every data set, and of all when there are several."""
    skipped = [Status.NO_INTERFACE, Status.UNREADABLE, Status.FAILED]
    skipped += sorted({row.status for row in study.decoys} - {Status.OK, Status.INTERMEDIATE, *skipped})
    labels = any(row.dockq is not None for row in study.results)
    results = study.results if labels else models_among(study.results)
    parts = {name: [row for row in results if row.dataset == name] for name in study.datasets}
    rows = [coverage_row(name, part, skipped) for name, part in parts.items()]
    if len(rows) > 1:
        rows.append(coverage_row("all data sets", results, skipped) | {"total": True})
    return {"statuses": [(s, fate_name(s)) for s in skipped], "rows": rows, "any_labels": labels}


def coverage_row(name: str, results: list[Result], skipped: list[str]) -> dict[str, Any]:
    """Counts of one data set: decoys = with_graph + skipped, labels = labels_with_graph + the two after it.

    `lines` say the same in a sentence each, with the parts of its bar: (status, number).
    """
    statuses = Counter(row.status for row in results)
    labels = Counter(row.status for row in results if row.dockq is not None)
    decoys = len(results) - statuses[Status.NO_DECOY]
    labelled_decoys = labels.total() - labels[Status.NO_DECOY]
    row = {
        "name": name,
        "total": False,
        "decoys": decoys,
        "with_graph": statuses[Status.OK],
        "skipped": [statuses[status] for status in skipped],
        "labels": labels.total(),
        "labels_with_graph": labels[Status.OK],
        "labels_skipped": labelled_decoys - labels[Status.OK],
        "labels_without_decoy": labels[Status.NO_DECOY],
        "unlabelled": decoys - labelled_decoys,
    }
    of_decoys = [
        (Status.OK, row["with_graph"], "with a result"),
        *((s, n, fate_name(s)) for s, n in zip(skipped, row["skipped"], strict=True)),
    ]
    of_labels = [
        (Status.OK, row["labels_with_graph"], "with a graph"),
        (Status.FAILED, row["labels_skipped"], "whose decoy was skipped"),
        (Status.NO_DECOY, row["labels_without_decoy"], "without a decoy"),
    ]
    both = [("decoy", row["decoys"], of_decoys), ("label", row["labels"], of_labels)]
    return row | {"lines": [counted_parts(*line) for line in both if line[0] == "decoy" or line[1]]}


def counted_parts(noun: str, total: int, parts: list[tuple[str, int, str]]) -> dict[str, Any]:
    """`66 decoys = 65 with a result + 1 no interface`, and the parts of the bar below it."""
    terms = " + ".join(f"{n:,} {name}" for place, (_, n, name) in enumerate(parts) if n or place == 0)
    return {"sentence": f"{counted(total, noun)} = {terms}", "parts": [(status, n) for status, n, _ in parts]}


def leakage(study: Study) -> list[dict[str, Any]]:
    """Of each data set, what was seen in training in one sentence, and the targets not trained on, most alike first.

    `n_seen` of these were seen all the same; None where nothing was split, and nobody said what is new.
    """
    split_of = {(row.dataset, row.target): row.split for row in study.results if row.split}
    found = []
    for name, rows in study.leakage.items():
        others = [
            {**row._asdict(), "split": SPLITS.get(split_of.get((name, row.target), ""), "")}
            for row in sorted(rows, key=lambda row: (-(row.containment or 0), row.target))
            if split_of.get((name, row.target)) != "train"
        ]
        known = any(dataset == name for dataset, _ in split_of)
        n_seen = sum(row["seen_in_training"] == SEEN for row in others) if known else None
        found.append({"name": name, "sentence": describe(rows), "n_seen": n_seen, "others": others})
    return found


def not_scored(study: Study) -> list[dict[str, str]]:
    """Every decoy without score and every label without decoy, with status, stage and reason."""
    order = {fate: place for place, fate in enumerate(FATES)}
    rows = [row for row in study.results if row.fate != SCORED]
    rows.sort(
        key=lambda row: (order.get(row.fate, len(order)), study.datasets.index(row.dataset), row.target, row.decoy)
    )
    return [
        {
            "dataset": row.dataset,
            "target": row.target,
            "decoy": row.decoy,
            "fate": row.fate,
            "fate_name": fate_name(row.fate),
            "stage": row.stage,
            "reason": reason_not_scored(row),
        }
        for row in rows
    ]


def reason_not_scored(row: Result) -> str:
    """Why a decoy has no score."""
    if row.fate == NOT_SCORED:
        return "its graph is there, but no score of it was given to this page"
    return row.reason or "no reason was recorded"
