"""The ranking of every target: a summary line in the page, the decoys as one compact JSON beside it."""

from __future__ import annotations

import os
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import quote

from toporank.files.spreadsheets import FORMULA
from toporank.metrics import ACCEPTABLE, CAPRI_NAMES, HIGH, MEDIUM
from toporank.ranking.interfaces import InterfaceRow, for_command, partners_hint
from toporank.report import confidence_columns
from toporank.report.formatting import FATES, ORDERS, PARTNER_COLOURS, QUALITY_COLOURS, SPLITS, fate_name
from toporank.report.results import Result, Study, by_target, models_among

DIGITS = 3
"""Of DockQ in the page; files hold more."""
MOST_INTERFACES = 12
"""Columns for interfaces in the table of a target; the file has them all."""


def target_lines(study: Study, metrics: dict[tuple[str, str], dict[str, Any]]) -> list[dict[str, Any]]:
    """What the line of each target says before it is opened.

    metrics : rows of `metrics.per_target` by data set and target.
    """
    differ = {(name, found.target): str(found) for name, of in study.disagreements.items() for found in of}
    said, one_partner = partners_hints(study), joined_of_targets(study)
    return [
        target_line(dataset, target, rows, metrics.get((dataset, target)))
        | {"hint": said.get((dataset, target), ""), "joined": one_partner.get((dataset, target), "")}
        | {"differs": differ.get((dataset, target), "")}
        for (dataset, target), rows in by_target(study.decoys)
    ]


def partners_hints(study: Study) -> dict[tuple[str, str], str]:
    """(data set, target) → which of its chains may be one partner, or nothing; as a key where a study was trained."""
    found, trained = {}, study.leaderboard is not None
    for (dataset, target), rows in interfaces_of_targets(study).items():
        hint = partners_hint(rows, study.sequences.get(dataset, {}).get(target))
        found[dataset, target] = hint if trained else for_command(hint)
    return found


def joined_of_targets(study: Study) -> dict[tuple[str, str], str]:
    """(data set, target) → which of its chains are one partner by nature, in a sentence; others are missing.

    The sentence is that of the first decoy by name, as in the terminal.
    """
    sentences: dict[tuple[str, str], str] = {}
    for row in sorted(study.results, key=attrgetter("decoy")):
        if row.joined:
            sentences.setdefault((row.dataset, row.target), row.joined)
    return sentences


def interfaces_of_targets(study: Study) -> dict[tuple[str, str], list[InterfaceRow]]:
    """(data set, target) → the interfaces of its decoys."""
    found: dict[tuple[str, str], list[InterfaceRow]] = {}
    for dataset, rows in study.interfaces.items():
        for row in rows:
            found.setdefault((dataset, row.target), []).append(row)
    return found


def target_line(dataset: str, target: str, rows: list[Result], metrics: dict[str, Any] | None) -> dict[str, Any]:
    """One target; `pick` is the decoy ranked first, None when none was scored."""
    models = models_among(rows)
    scored = [row for row in rows if row.pred_dockq is not None]
    split = next((row.split for row in rows if row.split), "")
    return {
        "dataset": dataset,
        "target": target,
        "split": split,
        "split_name": SPLITS.get(split, ""),
        "decoys": len(models),
        "scored": sum(row.pred_dockq is not None for row in models),
        "pick": scored[0] if scored else None,
        "pick_class": CAPRI_NAMES.index(scored[0].shown_capri) if scored else None,
        "metrics": metrics,
    }


def out_of_domain(study: Study) -> tuple[int, int] | None:
    """How many decoys are out of the domain of the scorer, and of how many this is known; None if of no decoy."""
    known = [row for row in models_among(study.decoys) if row.pred_low is not None]
    return (sum(bool(row.domain) for row in known), len(known)) if known else None


def decoys_for_script(study: Study, folder: Path | None = None) -> dict[str, Any]:
    """The decoys of all targets for the page's script: lists of equal length, by rank, targets as `target_lines`.

    d names, r ranks, p predicted and e expected DockQ, l and h bounds of its interval, m why it is out of domain,
    s disagreement of the ensemble, y true DockQ, n interface residues, c chains, k clusters, K their ranks,
    o consensus, t twin of, and x copy of, another decoy, f place in `fates`; P and Y one character a decoy, the
    predicted and true CAPRI class or `-`.
    u addresses of files in which * stands for the name, and U which of them each decoy has.
    i names of interfaces, where there are several, and I for each of them the predicted DockQ of every decoy, or what
    is wrong in words; N how many there are where that is more. q names and decimals of measures of the predictor's
    confidence, and Q for each of them that of every decoy. formula is what a name begins with that a spreadsheet would
    compute. A list without any value is left out. folder : of the page; without it no file has an address.
    """
    meetings, said = interfaces_of_targets(study), confidence_columns.of_targets(study)
    order = [*FATES, *sorted({row.fate for row in study.decoys} - set(FATES))]
    return {
        "order": ORDERS[study.rank_by],
        "thresholds": [ACCEPTABLE, MEDIUM, HIGH],
        "classes": list(CAPRI_NAMES),
        "partners": PARTNER_COLOURS,
        "quality": QUALITY_COLOURS,
        "fates": [fate_name(fate) for fate in order],
        "formula": FORMULA.pattern,
        "targets": [
            {"name": key[1], "set": key[0]}
            | decoy_lists(rows, order)
            | (addresses(rows, folder) if folder else {})
            | interface_lists(rows, meetings.get(key, []))
            | confidence_columns.measure_lists(rows, said.get(key, {}))
            for key, rows in by_target(study.decoys)
        ],
    }


def interface_lists(rows: list[Result], interfaces: list[InterfaceRow]) -> dict[str, Any]:
    """One target's interfaces for `decoys_for_script`: none if there is one only.

    Of too many those predicted worst, on average over the decoys, where a missing prediction counts as 0.
    """
    predicted: dict[str, list[float]] = {}
    for row in interfaces:
        predicted.setdefault(row.interface, []).append(row.pred_dockq or 0.0)
    if len(predicted) < 2:
        return {}
    names = sorted(sorted(predicted, key=lambda name: (fmean(predicted[name]), name))[:MOST_INTERFACES])
    shown = {(row.decoy, row.interface): interface_cell(row) for row in interfaces}
    lists = {"i": names, "I": [[shown.get((row.decoy, name)) for row in rows] for name in names]}
    return lists | ({"N": len(predicted)} if len(predicted) > len(names) else {})


def interface_cell(row: InterfaceRow) -> float | str:
    """Predicted DockQ of an interface, or what is wrong with it."""
    return fate_name(row.status) if row.pred_dockq is None else rounded(row.pred_dockq)


def decoy_lists(rows: list[Result], order: list[str]) -> dict[str, Any]:
    """One target's entry of `decoys_for_script`."""
    lists = {
        "d": [row.decoy for row in rows],
        "r": [row.rank for row in rows],
        "p": [rounded(row.pred_dockq) for row in rows],
        "e": [rounded(row.expected_dockq) for row in rows],
        "a": [rounded(row.pred_structure) for row in rows],
        "b": [rounded(row.pred_confidence) for row in rows],
        "l": [rounded(row.pred_low, 2) for row in rows],
        "h": [rounded(row.pred_high, 2) for row in rows],
        "m": [row.domain for row in rows],
        "s": [rounded(row.pred_sd) for row in rows],
        "y": [rounded(row.dockq) for row in rows],
        "n": [row.n_interface_residues for row in rows],
        "c": [row.n_chains for row in rows],
        "k": [row.cluster for row in rows],
        "K": [row.cluster_rank for row in rows],
        "o": [rounded(row.consensus) for row in rows],
        "t": [row.twin_of for row in rows],
        "x": [row.duplicate_of for row in rows],
        "f": [order.index(row.fate) for row in rows],
        "P": "".join(class_digit(row.pred_capri) for row in rows),
        "Y": "".join(class_digit(row.capri) for row in rows),
    }
    return {key: entry for key, entry in lists.items() if key == "d" or any(v not in (None, "-", "") for v in entry)}


def addresses(rows: list[Result], folder: Path) -> dict[str, Any]:
    """One target's files for `decoys_for_script`, as they are reached from the folder of the page."""
    patterns = [
        quote(os.path.relpath(row.path, folder)).replace(quote(row.decoy), "*", 1) if row.path else "" for row in rows
    ]
    known = list(dict.fromkeys(patterns))
    return {"u": known, "U": [known.index(pattern) for pattern in patterns]}


def rounded(value: float | None, digits: int = DIGITS) -> float | None:
    """A number with so many decimals, None where it is missing."""
    return None if value is None else round(value, digits)


def class_digit(name: str) -> str:
    """The number of a CAPRI class, `-` where it is unknown."""
    return str(CAPRI_NAMES.index(name)) if name else "-"
