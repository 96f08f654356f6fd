"""Which model the predictor itself would pick, and whether that is another one than the model
ranked first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from toporank.inputs.confidence.table import MEASURES, Confidence, of_copies, oriented

OF_PREDICTOR = ("ranking_score", "haddock_score")
"""What a predictor ranks its own models by; these cannot be compared between predictors."""
COMMON = ("iptm", "interface_plddt")
"""What can be compared between predictors, by and large."""
RANK = "rank"
"""The measure of predictors that say only in the names of their models which they prefer."""
_RANK_IN_NAME = re.compile(r"(?:^|[_.-])rank(?:ed)?[_-]?(\d+)(?=[_.#-]|$)")
_RELAXED = re.compile(r"_(un)?relaxed")


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
        return f"{self.decoy} has the highest {MEASURES[self.measure]} ({self.value:.3g})"


def other_choices(models: pd.DataFrame, confidence: Iterable[Confidence]) -> dict[str, OtherChoice]:
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
    copies = models[models["duplicate_of"] != ""]
    copy_of = dict(
        zip(
            zip(copies["target"], copies["decoy"], strict=True), copies["duplicate_of"], strict=True
        )
    )
    stated = {(row.target, row.decoy): row for row in of_copies(confidence, copy_of)}
    scored = models[models["dockq"].notna() & (models["duplicate_of"] == "")]
    choices = {}
    for target, rows in scored.groupby("target", sort=False):
        choice = _other_choice(str(target), rows, stated)
        if choice:
            choices[choice.target] = choice
    return choices


def _other_choice(
    target: str, rows: pd.DataFrame, stated: Mapping[tuple[str, str], Confidence]
) -> OtherChoice | None:
    """The other choice for one target. rows : its scored models, best first."""
    decoys = rows["decoy"].tolist()
    of_models = [stated[target, decoy] for decoy in decoys if (target, decoy) in stated]
    measure, values = _preferences(of_models)
    if not values:
        return None
    preferred = max((decoy for decoy in decoys if decoy in values), key=lambda decoy: values[decoy])
    place, n = decoys.index(preferred) + 1, len(decoys)
    capri = rows["capri"].tolist()
    if place == 1 or (capri[place - 1] == capri[0] and 2 * place <= n + 1):
        return None
    row = stated[target, preferred]
    value = -values[preferred] if measure == RANK else getattr(row, measure)
    return OtherChoice(
        target=target,
        decoy=preferred,
        measure=measure,
        value=value,
        place=place,
        n=n,
        predictor=row.predictor,
    )


def _preferences(rows: list[Confidence]) -> tuple[str, dict[str, float]]:
    """The measure that decides for a target, and its values by decoy, higher is better; no values
    if none does.
    """
    one_predictor = len({row.predictor for row in rows if row.predictor}) == 1
    for measure in (*OF_PREDICTOR, RANK, *COMMON) if one_predictor else COMMON:
        values = _ranks_in_names(rows) if measure == RANK else _values(rows, measure)
        if len(set(values.values())) > 1:
            return measure, values
    return "", {}


def _values(rows: list[Confidence], measure: str) -> dict[str, float]:
    values = {}
    for row in rows:
        value = oriented(row, measure)
        if value is not None:
            values[row.decoy] = value
    return values


def _ranks_in_names(rows: list[Confidence]) -> dict[str, float]:
    """The ranks in the names of decoys, negative, so that higher is better; none where two models
    have the same rank.

    The relaxed and the unrelaxed model of a rank are one model.
    """
    ranks: dict[str, float] = {}
    model_of_rank: dict[int, str] = {}
    for row in rows:
        match = _RANK_IN_NAME.search(row.decoy)
        if not match:
            continue
        rank = int(match[1])
        model = _RELAXED.sub("", row.decoy)
        if model_of_rank.setdefault(rank, model) != model:
            return {}
        ranks[row.decoy] = -float(rank)
    return ranks
