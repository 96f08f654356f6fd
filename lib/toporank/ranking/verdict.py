"""The verdict on a model, in the three words that every table, page and title uses."""

from __future__ import annotations

import numpy as np
import pandas as pd

from toporank.metrics import class_of

BELIEVE, CHECK, REJECT = "believe", "check", "do not believe"
VERDICTS = (BELIEVE, CHECK, REJECT)
"""From good to bad."""
BELIEVE_FROM = 0.75
"""Probability from which a model is believed: of four such models, three or more are acceptable
(DockQ ≥ 0.23).
"""
REJECT_UP_TO = 0.25
"""Probability up to which it is not: of four such models, three or more are wrong."""
WITHOUT_CALIBRATION = (
    "This scorer has no calibration (it takes labelled models of several clusters): DockQ is its "
    "raw score, without"
    " interval and probability, and no model is better than “check”"
)


def verdict_of(p_acceptable: float | None, dockq: float | None) -> str:
    """Return the verdict on a model; empty without a score.

    Parameters
    ----------
    p_acceptable : probability that DockQ is 0.23 or more; None or nan where the scorer has no
        calibration
    dockq : expected DockQ, in [0, 1], which decides where the probability is unknown: such a model
        is never believed

    Returns
    -------
    verdict : `believe`, `check`, `do not believe`, or an empty text

    Examples
    --------
    >>> verdict_of(0.9, 0.7), verdict_of(None, 0.7), verdict_of(0.1, 0.1)
    ('believe', 'check', 'do not believe')
    """
    if pd.isna(dockq):
        return ""
    if pd.isna(p_acceptable):
        return REJECT if class_of(dockq) == "incorrect" else CHECK
    if p_acceptable >= BELIEVE_FROM:
        return BELIEVE
    return REJECT if p_acceptable <= REJECT_UP_TO else CHECK


def classes_of(dockq: pd.Series) -> list[str]:
    """Return the CAPRI class of each expected DockQ; empty where it is unknown."""
    return ["" if np.isnan(value) else class_of(value) for value in dockq]
