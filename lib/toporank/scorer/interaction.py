"""Do two proteins interact? The predictor's ipTM answers best; this turns it into a probability.

No sum of ipTM with pDockQ2, interface pLDDT, PAE or pTM was better than ipTM alone on pairs whose
proteins it had not seen (`benchmarks/interaction.py`, table in docs/screens.md).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

OF_IPTM = (-3.32, 5.68)
"""Constant and weight of the logistic curve: fitted by benchmarks/interaction.py to 146
heterodimers and 146 random pairs (AlphaFold 2.3), 466 homodimers and 169 random pairs (ColabFold),
106 peptides and 516 random ones (ColabFold), one weight for each source and half of it for its true
pairs. ipTM was that of the model that the predictor ranks first; the highest of five models has
the same AUROC.
"""
OF_RANKING = (-3.93, 6.29)
"""The same of 0.8 ipTM + 0.2 pTM, by which AlphaFold-Multimer ranks, and which is often all that is
left of it. Its AUROC on the three sources is 0.818 to 0.869.
"""
AUROC = (0.82, 0.87)
"""Of ipTM on the three sources: the lowest and the highest."""
PRECISION = (0.91, 1.00)
"""Share of true pairs where half of them pass, lowest and highest of the three sources, for as many
true as random.
"""


def p_interact(iptm: ArrayLike, ranking: ArrayLike = np.nan) -> np.ndarray:
    """Probability that two proteins interact, if half of the pairs of the screen do.

    p = 1 / (1 + exp(3.32 − 5.68 ipTM)), so 0.5 at an ipTM of 0.58. Without ipTM a like curve of
    AlphaFold-Multimer's ranking score takes its place. With fewer interacting pairs in
    a screen all probabilities are too high; their order is right, since it is that of ipTM. On a
    source that was left out of the fit the mean error of the probability was 0.06 to 0.13.

    Parameters
    ----------
    iptm : array_like, (n,)
        The highest ipTM of the models of each pair, 0 to 1; nan where unknown.
    ranking : array_like, (n,)
        The highest 0.8 ipTM + 0.2 pTM, 0 to 1; nan where unknown.

    Returns
    -------
    numpy.ndarray, (n,)
        Probabilities, nan where neither is known.

    Examples
    --------
    >>> p_interact([0.2, 0.58, 0.9]).round(2)
    array([0.1 , 0.49, 0.86])
    """
    by_iptm = _curve(OF_IPTM, iptm)
    return np.where(np.isnan(by_iptm), _curve(OF_RANKING, ranking), by_iptm)


def _curve(parameters: tuple[float, float], measure: ArrayLike) -> np.ndarray:
    constant, weight = parameters
    return 1 / (1 + np.exp(-constant - weight * np.asarray(measure, dtype=float)))


def interaction_sentence(targets: pd.DataFrame) -> str:
    """Which number of a screen says whether two proteins interact, and how good it is.

    Parameters
    ----------
    targets : pandas.DataFrame
        The columns of targets.csv, one row for each target.

    Returns
    -------
    str
        Empty for a single target.
    """
    if len(targets) < 2:
        return ""
    known = int(targets["p_interact"].notna().sum())
    if not known:
        lacking = "neither it nor AlphaFold-Multimer's ranking_debug.json lies beside these models"
        n_partners = targets["partners"].fillna("").str.count(":") + 1
        if targets["iptm"].notna().any() or (n_partners > 2).all():
            lacking = "it was measured for two proteins, and these complexes have more"
        return (
            "TopoRank predicts whether a model is right, not whether the proteins interact. The "
            f"predictor's ipTM says that best, and {lacking}."
        )
    of_all = f", known for {known} of {len(targets)}" if known < len(targets) else ""
    return (
        f"Do they interact? Sort by “interact”{of_all}: the chance that two proteins interact, if "
        "half of your pairs do. It follows the predictor's ipTM (AUROC "
        f"{AUROC[0]:.2f} to {AUROC[1]:.2f} on 1,400 pairs); above the ipTM of the better half of "
        f"true pairs, {10 * PRECISION[0]:.0f} of 10 pairs were true. The verdict says something "
        "else: whether the model is right."
    )
