"""How the program that made the models of a target ranks them itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from toporank.confidence.table import Confidence

RANK_IN_NAME = re.compile(r"(?:^|[_.-])rank(?:ed)?[_-]?(\d+)(?=[_.#-]|$)")
RELAXED = re.compile(r"_(un)?relaxed")


def first_of_program(rows: Sequence[Confidence | None]) -> np.ndarray | None:
    """Return which models of a target their program ranks first, bool, (n,).

    There are several where it gives them the same score.

    Parameters
    ----------
    rows : what is known of each model, None where nothing is

    Returns
    -------
    Whether it is a first one; None unless there are several models, all of one program that ranks
    all of them, by its score or in their names, and not all alike
    """
    known = [row for row in rows if row is not None]
    if len(known) < max(len(rows), 2) or len({row.predictor for row in known}) > 1:
        return None
    if not known[0].predictor:
        return None
    values = pd.Series([row.ranking_score for row in known], dtype=float)
    if values.isna().any():
        of_program = pd.Series([row.predictor for row in known])
        values = -ranks_in_names(pd.Series([row.decoy for row in known]), [of_program])
    if values.isna().any() or values.nunique() < 2:
        return None
    return (values == values.max()).to_numpy()


def ranks_in_names(decoys: pd.Series, groups: list[pd.Series]) -> pd.Series:
    """Return the ranks in the names of decoys; nan where two models of a group have the same.

    The relaxed and the unrelaxed model of a rank are one model.
    """
    ranks = decoys.str.extract(RANK_IN_NAME, expand=False).astype(float)
    models = decoys.str.replace(RELAXED, "", regex=True)
    of_rank = models.groupby([*groups, ranks]).transform("nunique")
    most = of_rank.groupby(groups).transform("max")
    return ranks.where(most == 1)
