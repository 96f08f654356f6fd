"""The answer: which decoy of each target to trust, how far, and what speaks against it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from toporank.evaluation.leakage import SEEN, LeakageRow
from toporank.evaluation.metrics import CAPRI_NAMES
from toporank.report.formatting import SCORED, counted, fate_name, number
from toporank.report.results import Result, Study, by_target

DISAGREE = 0.15
"""Standard deviation over the ensemble from which on the page warns of it."""
CLOSE = 0.02
"""Predicted DockQ by which the second decoy is behind without being worse."""
OF_ONE = "It is the only decoy of this target: scores are surer where a target has several"


def answers(study: Study, toy: str) -> list[dict[str, Any]]:
    """For each target, in the order of `by_target`, its best decoy, the next, and caveats in words.

    toy : what is to be said of a scorer that learned from few targets, or empty.
    """
    known = {(dataset, row.target): row for dataset, rows in study.leakage.items() for row in rows}
    return [
        {"dataset": key[0], "target": key[1]} | _answer(rows, known.get(key), toy)
        for key, rows in by_target(study.decoys)
    ]


def _answer(rows: list[Result], seen: LeakageRow | None, toy: str) -> dict[str, Any]:
    scored = [row for row in rows if row.pred_dockq is not None]
    if not scored:
        return {"best": None, "place": None, "next": "", "caveats": [lost(rows)]}
    best = scored[0]
    others = [row for row in scored[1:] if (row.duplicate_of or row.decoy) != (best.duplicate_of or best.decoy)]
    said = [
        incorrect(best),
        "Out of the domain of the scorer, score and interval are an extrapolation: " + best.domain
        if best.domain
        else "",
        f"The networks disagree about it: their standard deviation is {best.pred_sd:.2f}"
        if best.pred_sd is not None and best.pred_sd >= DISAGREE
        else "",
        f"Seen in training: {seen.why}. What the networks know of it they may remember"
        if seen and seen.seen_in_training == SEEN
        else "",
        lost(rows),
        "" if others else OF_ONE,
        toy,
    ]
    place = CAPRI_NAMES.index(best.pred_capri)
    return {"best": best, "place": place, "next": following(best, others), "caveats": [text for text in said if text]}


def incorrect(best: Result) -> str:
    """A warning where even the best decoy is predicted to be wrong."""
    if best.pred_capri != CAPRI_NAMES[0]:
        return ""
    return "No decoy is predicted to be acceptable: rather make new ones than build on this one"


def lost(rows: list[Result]) -> str:
    """`2 of 10 decoys have no score: chain missing 1, unreadable 1`, or nothing."""
    fates = Counter(row.fate for row in rows if row.fate != SCORED)
    if not fates:
        return ""
    why = ", ".join(f"{fate_name(fate)} {n}" for fate, n in fates.items())
    return f"{fates.total()} of {counted(len(rows), 'decoy')} {'has' if fates.total() == 1 else 'have'} no score: {why}"


def following(best: Result, others: list[Result]) -> str:
    """Which decoy comes next, and how far behind it is."""
    if not others:
        return ""
    second = others[0]
    behind = best.pred_dockq - second.pred_dockq
    text = f"Next is {second.decoy} with {number(second.pred_dockq)}"
    text += ", no worse by this scorer" if 0 <= behind < CLOSE else f", {number(abs(behind))} behind" * (behind > 0)
    return text + ("; its interface is nearly the same" if twins(best, second) else "")


def twins(one: Result, other: Result) -> bool:
    """Whether two decoys have nearly the same interface."""
    return (one.twin_of or one.decoy) == (other.twin_of or other.decoy)


def summary(found: list[dict[str, Any]]) -> str:
    """`The best decoy of 7 targets is predicted to be high for 5, medium for 1 and acceptable for 1`."""
    classes = Counter(entry["best"].pred_capri for entry in found if entry["best"])
    parts = [f"{name} for {classes[name]:,}" for name in CAPRI_NAMES[::-1] if classes[name]]
    parts += [f"unknown for {n:,}"] if (n := sum(not entry["best"] for entry in found)) else []
    listed = " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else ""
    return f"The best decoy of {counted(len(found), 'target')} is predicted to be {listed}"
