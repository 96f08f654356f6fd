"""Which model the predictor itself would pick.

It says where that is another one than the model ranked first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from toporank.inputs.confidence.own_order import ranks_in_names
from toporank.inputs.confidence.table import (
    LOWER_IS_BETTER,
    MEASURES,
    Confidence,
    of_copies,
)
from toporank.scorer.prediction import KEY

OF_PREDICTOR = ("ranking_score", "haddock_score")
"""What a predictor ranks its own models by; these cannot be compared between predictors."""
COMMON = ("iptm", "interface_plddt")
"""What can be compared between predictors, by and large."""
RANK = "rank"
"""The measure of predictors that say only in the names of their models which they prefer."""


class OtherChoice(NamedTuple):
    """A target for which the predictor would pick another model.

    decoy : its choice. measure : of `MEASURES`, or `RANK`; value : of its choice. place : of its
    choice among the `n` models that have a score here, from 1; copies do not count. predictor : its
    name, empty where unknown.
    """

    target: str
    decoy: str
    measure: str
    value: float
    place: int
    n: int
    predictor: str

    def __str__(self) -> str:
        predictor = self.predictor or "The predictor"
        if self.measure == RANK:
            return f"{predictor} would pick {self.decoy} instead, as its name says"
        how = f"{MEASURES[self.measure]} {self.value:.3g}"
        if self.measure in OF_PREDICTOR:
            return f"{predictor} would pick {self.decoy} instead ({how})"
        return (
            f"{self.decoy} has the highest {MEASURES[self.measure]} ({self.value:.3g})"
        )


def other_choices(
    models: pd.DataFrame, confidence: Iterable[Confidence]
) -> dict[str, OtherChoice]:
    """Return target → the other model that its predictor would pick.

    A choice differs where the two models have different CAPRI classes, or the predictor's is in the
    lower half of the ranking. What the predictor prefers is decided by its own ranking score or
    HADDOCK's, or by the ranks in the names of its models, where all models of the target are of one
    predictor; otherwise by ipTM, else by interface pLDDT. A measure that only one model has, or
    that is the same for all, decides nothing.

    Parameters
    ----------
    models : as from `model_table`
    confidence : what predictors say of the models; of copies, the one with most measures counts
    """
    copies = models[models["duplicate_of"] != ""].set_index(KEY)["duplicate_of"]
    stated = pd.DataFrame(
        of_copies(confidence, copies.to_dict()), columns=Confidence._fields
    )
    scored = models[models["dockq"].notna() & (models["duplicate_of"] == "")]
    scored = scored[[*KEY, "capri"]].merge(stated, how="left", on=KEY)
    choices = {}
    for target, rows in scored.groupby("target", sort=False):
        choice = _other_choice(rows.reset_index(drop=True))
        if choice:
            choices[str(target)] = choice
    return choices


def _other_choice(rows: pd.DataFrame) -> OtherChoice | None:
    """The other choice for one target. rows : its scored models, best first."""
    measure, values = _preferences(rows[rows["status"].notna()])
    if values.empty:
        return None
    place = int(values.idxmax()) + 1
    chosen = rows.iloc[place - 1]
    same_class = chosen["capri"] == rows["capri"][0]
    if place == 1 or (same_class and 2 * place <= len(rows) + 1):
        return None
    return OtherChoice(
        target=chosen["target"],
        decoy=chosen["decoy"],
        measure=measure,
        value=float(abs(values[place - 1]) if measure == RANK else chosen[measure]),
        place=place,
        n=len(rows),
        predictor=chosen["predictor"],
    )


def _preferences(rows: pd.DataFrame) -> tuple[str, pd.Series]:
    """The measure that decides for a target, and its values, higher is better.

    If none decides, the measure is "" and there are no values.
    """
    one_predictor = rows.loc[rows["predictor"] != "", "predictor"].nunique() == 1
    for measure in (*OF_PREDICTOR, RANK, *COMMON) if one_predictor else COMMON:
        if measure == RANK:
            values = ranks_in_names(rows["decoy"])
        else:
            sign = -1.0 if measure in LOWER_IS_BETTER else 1.0
            values = sign * rows[measure].astype(float).dropna()
        if values.nunique() > 1:
            return measure, values
    return "", pd.Series(dtype=float)
