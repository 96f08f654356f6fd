"""The verdict on a model: the only place that decides on it and that has its words.

Tables, terminal, page and figures show `Verdict.word` and `Verdict.reason`; the page and
docs/answer.md have `RULES`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeGuard

import numpy as np
import pandas as pd

from toporank.chains.complex_kinds import WITH_BINDER
from toporank.metrics import ACCEPTABLE, HIGH, class_of

BELIEVE, CHECK, REJECT = "believe", "check", "do not believe"
VERDICTS = (BELIEVE, CHECK, REJECT)
"""From good to bad."""
BELIEVE_FROM = 0.75
"""Probability from which a model is believed: of four such models, three or more are acceptable
(DockQ ≥ 0.23).
"""
REJECT_UP_TO = 0.25
"""Probability up to which it is not: of four such models, three or more are wrong."""
AGREEING = 0.7
"""Mean similarity to the other models from which these agree with a model. Of 43 complexes with
antibodies, ten predicted models each, the first one was acceptable in all 7 with so much, and in 12
of 36 with less.
"""
WITHOUT_CALIBRATION = (
    "This scorer has no calibration (it takes labelled models of several clusters): DockQ is its "
    "raw score, without"
    " interval and probability, and no model is better than “check”"
)
ADVICE = {
    CHECK: "look at the interface before you use it",
    REJECT: "more seeds or another program may do better",
}
"""What to do with a model that has no caveat."""
RULES = (
    f"Believe: acceptable with {100 * BELIEVE_FROM:.0f} % or more; do not believe: with "
    f"{100 * REJECT_UP_TO:.0f} % or less; check: between them.",
    "A model is not believed without the confidence of its predictor, nor where its interval goes "
    "from incorrect to high.",
    "A model with an antibody, nanobody or T-cell receptor is believed only where other models "
    "agree with it.",
    "Of three partners or more, each needs an interface that looks right.",
    "A kind of complex that TopoRank did not learn from is always one to check; an unlike "
    "interface has a caveat.",
)
"""How a verdict comes about, for people."""


class Grounds(NamedTuple):
    """What a verdict on a model rests on; None or nan where something is unknown.

    Attributes
    ----------
    dockq, low, high : expected DockQ and its interval
    p_acceptable : probability that DockQ is 0.23 or more; unknown without a calibration
    confidence : DockQ by the confidence of its predictor
    consensus : mean similarity to the other models of the target, in [0, 1]
    kind : of complex, see `complex_kinds`
    unknown_kind : the same where training lacks it; else empty
    weak_partners : which of its partners are weak, see `interfaces.weak_partners`
    """

    dockq: float | None
    low: float | None = None
    high: float | None = None
    p_acceptable: float | None = None
    confidence: float | None = None
    consensus: float | None = None
    kind: str = ""
    unknown_kind: str = ""
    weak_partners: str = ""


class Verdict(NamedTuple):
    """A word of `VERDICTS`, empty without a score, and why it is not what the probability says.

    Of a model to check the reason is a weak partner, where it has one.
    """

    word: str
    reason: str = ""


def verdict_of(grounds: Grounds) -> Verdict:
    """Return the verdict on a model, as `RULES` has it.

    Where there is no calibration, the class of the expected DockQ decides, and no model is
    believed.

    Parameters
    ----------
    grounds : what is known of the model

    Returns
    -------
    verdict : its word, and why it is not what the probability says

    Examples
    --------
    >>> sure = Grounds(dockq=0.7, low=0.5, high=0.9, p_acceptable=0.9, confidence=0.8)
    >>> verdict_of(sure)
    Verdict(word='believe', reason='')
    >>> verdict_of(sure._replace(confidence=None)).reason
    'Check it rather than believe it: the confidence of its predictor is not known'
    """
    if not _is_known(grounds.dockq):
        return Verdict("")
    if not _is_known(grounds.p_acceptable):
        is_wrong = class_of(grounds.dockq) == "incorrect"
        return Verdict(REJECT if is_wrong else CHECK)
    by_probability = CHECK
    p_shown = round(grounds.p_acceptable, 2)
    if p_shown >= BELIEVE_FROM:
        by_probability = BELIEVE
    elif p_shown <= REJECT_UP_TO:
        by_probability = REJECT
    lacking = _lacking(grounds, by_probability)
    if by_probability == CHECK:
        return Verdict(CHECK, grounds.weak_partners)
    if not lacking:
        return Verdict(by_probability)
    instead = "believe" if by_probability == BELIEVE else "reject"
    return Verdict(CHECK, f"Check it rather than {instead} it: {lacking}")


def _is_known(value: float | None) -> TypeGuard[float]:
    return not pd.isna(value)


def _lacking(grounds: Grounds, word: str) -> str:
    """The evidence that a verdict would need and that is not there; empty where none is missing."""
    if grounds.unknown_kind:
        return f"TopoRank did not learn from any {grounds.unknown_kind}"
    if word != BELIEVE:
        return ""
    if grounds.weak_partners:
        return grounds.weak_partners
    if pd.isna(grounds.confidence):
        return "the confidence of its predictor is not known"
    if grounds.kind in WITH_BINDER:
        misjudged = "confidence often misjudges antibodies and T-cell receptors, and"
        if not _is_known(grounds.consensus):
            return f"{misjudged} no other model was given"
        if grounds.consensus < AGREEING:
            return f"{misjudged} other models do not agree with it"
    ends = grounds.low, grounds.high
    if (
        _is_known(ends[0])
        and _is_known(ends[1])
        and ends[0] < ACCEPTABLE
        and ends[1] >= HIGH
    ):
        return "its interval goes from incorrect to high"
    return ""


def with_verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of models with the columns `capri`, `verdict` and `verdict_reason`.

    table : a row for each model with the columns of `Grounds`; its bounds are `dockq_low` and
        `dockq_high`
    """
    bounds = {"low": "dockq_low", "high": "dockq_high"}
    columns = [bounds.get(name, name) for name in Grounds._fields]
    rows = table[columns].itertuples(index=False, name=None)
    verdicts = [verdict_of(Grounds(*row)) for row in rows]
    return table.assign(
        capri=classes_of(table["dockq"]),
        verdict=[verdict.word for verdict in verdicts],
        verdict_reason=[verdict.reason for verdict in verdicts],
    )


def in_words(row: Any) -> str:
    """Return the answer for one model.

    An example is `DockQ 0.45 (80 % interval 0.20 to 0.70), acceptable or better with 62 %: check`;
    what is weak stands before the verdict.
    row : of the table of models, scored.
    """
    words = f"DockQ {row.dockq:.2f}"
    if not pd.isna(row.dockq_low):
        words += f" (80 % interval {row.dockq_low:.2f} to {row.dockq_high:.2f})"
    if not pd.isna(row.p_acceptable):
        words += f", acceptable or better with {100 * row.p_acceptable:.0f} %"
    if row.weak_partners:
        words += f", but {row.weak_partners}"
    return f"{words}: {row.verdict}"


def counted(verdicts: pd.Series, between: str = " ") -> list[str]:
    """Return how many models have which verdict, from good to bad, such as `believe 3`."""
    counts = verdicts.value_counts()
    return [f"{word}{between}{counts[word]:,}" for word in VERDICTS if word in counts]


def classes_of(dockq: pd.Series) -> list[str]:
    """Return the CAPRI class of each expected DockQ, by the digits that people read.

    It is empty where DockQ is unknown.
    """
    return ["" if np.isnan(value) else class_of(round(value, 2)) for value in dockq]
