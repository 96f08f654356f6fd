"""How numbers, counts and names are written on the page."""

from __future__ import annotations

import math
from typing import Any

from toporank.structures.identity import Status

NOTHING = "–"
"""Shown where there is no number."""

SCORED, NOT_SCORED = "scored", "not_scored"

FATES = {
    SCORED: "scored",
    Status.PARTNER_APART: "partner apart",
    Status.CHAIN_MISSING: "chain missing",
    Status.NO_INTERFACE: "no interface",
    Status.ONE_BODY: "moved as a whole",
    Status.UNREADABLE: "unreadable",
    Status.FAILED: "failed",
    Status.INTERMEDIATE: "intermediate",
    Status.NOT_BUILT: "not asked for",
    NOT_SCORED: "not scored",
    Status.NO_DECOY: "label without model",
}
"""What can become of a decoy or a label, in the order the page lists it, and its name there."""

SPLITS = {
    "test": "test",
    "val": "validation",
    "train": "training",
}
"""Splits in the order the page lists them, and their names there."""

RULES = {
    "val_loss": "lowest validation loss",
    "val_selection": "lowest validation loss minus weighted Spearman",
    "val_ranking_loss": "lowest ranking loss of the validation targets",
}
"""Selection rules in words."""


ORDERS = {
    "complex": "best predicted first",
    "min_interface": "best worst interface first",
    "mean_interface": "best mean of the interfaces first",
}
"""What decides on the ranking, as `rank_by` says, in words."""

DECIDING = {"complex": "", "min_interface": "its weakest interface", "mean_interface": "the mean of its interfaces"}
"""What of a decoy decides on its rank, where that is not the score of the complex."""


PARTNER_COLOURS = ("#2b7bba", "#e08a1e", "#8d63b5", "#2f9e73", "#c4526b", "#7d8a24", "#4aa3b8", "#a0694b")
"""Of the partners of a decoy in 3-D, on the page and in other programs."""
QUALITY_COLOURS = ("#c8501e", "#e8c468", "#7fb8d8", "#1c5fa8")
"""Of quality from 0 to 1 there."""


def is_missing(value: Any) -> bool:
    """Whether there is no number."""
    return value is None or math.isnan(value)


def number(value: Any, digits: int = 3) -> str:
    """A number with fixed digits and a true minus sign; a dash when it is missing."""
    if is_missing(value):
        return NOTHING
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def interval(low: Any, high: Any, digits: int = 3) -> str:
    """`[low, high]`; empty when there is no interval."""
    if is_missing(low) or is_missing(high):
        return ""
    return f"[{number(low, digits)}, {number(high, digits)}]"


def parameter_text(value: Any) -> str:
    """A parameter as a user would type it; lists separated by commas."""
    if isinstance(value, list | tuple):
        return ", ".join(parameter_text(entry) for entry in value)
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)


def counted(n: int, noun: str) -> str:
    """`1 decoy`, `1,370 decoys`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def fate_name(fate: str) -> str:
    """A fate in words; an unknown one unchanged."""
    return FATES.get(fate, fate.replace("_", " "))
