"""The answer in a few lines: the best model of each target, the verdict on it, and its caveats."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

from toporank import layout
from toporank.inputs.confidence.unread import UNREAD
from toporank.ranking.leakage import SEEN
from toporank.ranking.model_table import distinct_models
from toporank.ranking.scored import Scored
from toporank.ranking.target_table import lost
from toporank.ranking.verdict import WITHOUT_CALIBRATION, counted, in_words
from toporank.scorer.scorer import Scorer
from toporank.tables.notes import BETWEEN

IN_DETAIL, LISTED = 2, 10
"""Targets up to which each has several lines; of more, those that have one line each."""


def about_scorer(path: Path | None) -> list[str]:
    """Return lines on what a scorer lacks, and whether it is a toy.

    path : None for the one that ships.
    """
    if path is None:
        return []
    scorer = Scorer.open(path)
    return [line for line in (scorer.missing, scorer.toy) if line]


def answer(scored: Scored, out: Path, printed: Collection[str] = ()) -> list[str]:
    """Return the lines about a scored data set.

    Parameters
    ----------
    scored : its tables
    out : the folder of the results
    printed : sentences that were printed before, such as `1WEJ: A and B are an antibody`
    """
    targets, models = scored.targets, scored.facts
    best = models.drop_duplicates("target").set_index("target")
    lines: list[str] = []
    if len(targets) <= IN_DETAIL:
        for row in targets.itertuples():
            lines += _in_detail(row, best.loc[row.target], printed)
    else:
        for row in targets.head(LISTED).itertuples():
            lines.append(f"{row.target}: {_in_short(row, best.loc[row.target])}")
        lines += _unread(scored)
        lines += _about_all(targets)
    if targets["p_acceptable"].isna().all() and targets["dockq"].notna().any():
        lines.append(WITHOUT_CALIBRATION)
    if len(targets) > IN_DETAIL:
        lines += _lost(models)
    names = {
        "page": layout.SCORE_REPORT,
        "targets": layout.TARGETS,
        "models": layout.MODEL_TABLE,
    }
    for name, pattern in names.items():
        if name != "targets" or len(targets) > 1:
            lines.append(f"{name + ':':8} {out / pattern.format(dataset=scored.name)}")
    return lines


def _in_detail(row: Any, best: pd.Series, printed: Collection[str]) -> list[str]:
    lines = [f"{row.target}: {_in_short(row, best)}"]
    if row.best:
        lines.append(f"  file: {row.file}")
    if row.interfaces:
        lines.append(f"  interfaces: {row.interfaces}")
    sentences = [*row.caveats.split(BETWEEN), *row.notes.split(BETWEEN)]
    new = [text for text in sentences if f"{row.target}: {text}" not in printed]
    lines += [f"  {text}" for text in new if text]
    if not row.best and best["reason"]:
        lines.append(f"  {best['decoy']}: {best['reason']}")
    return lines


def _in_short(row: Any, best: pd.Series) -> str:
    if not row.best:
        return "no model was scored"
    place = (
        f"is best of {row.n_scored:,}"
        if row.n_scored > 1
        else "is the only model with a score"
    )
    return f"{row.best} {place}, {in_words(best)}"


def _about_all(targets: pd.DataFrame) -> list[str]:
    of_all = ", ".join(counted(targets["verdict"])) or "none was scored"
    n_more = max(len(targets) - LISTED, 0)
    n_warned = (targets["caveats"] != "").sum()
    n_seen = (targets["seen_in_training"] == SEEN).sum()
    further = []
    if n_more:
        further.append(f"{n_more:,} more targets in targets.csv")
    if n_warned:
        further.append(f"{n_warned:,} with something to mind")
    if n_seen:
        further.append(f"{n_seen:,} share a chain with a training target")
    lines = [f"verdict on the best model of {len(targets):,} targets: {of_all}"]
    return [*lines, "; ".join(further)] if further else lines


def _lost(models: pd.DataFrame) -> list[str]:
    """How many models have no score, and why the first has none."""
    missing = lost(models)
    if not missing:
        return []
    without = distinct_models(models)
    first = without[without["dockq"].isna()].iloc[0]
    reason = first["reason"] or "no reason was recorded"
    return [f"{missing}, such as {first['target']}/{first['decoy']}: {reason}"]


def _unread(scored: Scored) -> list[str]:
    """Which files of predictors are not read, a line for each folder.

    There is one more line where there are many folders.
    """
    sentences = []
    for row in scored.stated.values():
        sentences += row.reason.split("; ")
    unread = [text for text in dict.fromkeys(sentences) if text.startswith(UNREAD)]
    n_more = len(unread) - LISTED
    if n_more <= 0:
        return unread
    return [*unread[:LISTED], f"so it is in {n_more:,} more folders (confidence.csv)"]
