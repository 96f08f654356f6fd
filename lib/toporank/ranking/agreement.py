"""How the predictor itself ranks its models, beside our ranking."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from toporank.confidence.own_order import ranks_in_names
from toporank.confidence.table import MEASURES
from toporank.metrics import ACCEPTABLE, MEDIUM
from toporank.scorer.prediction import KEY
from toporank.structures.identity import Status
from toporank.tables.columns import WHOLE
from toporank.tables.of_predictors import LOWER_IS_BETTER, OF_PREDICTOR

COMMON = ("iptm", "interface_plddt")
"""What says something where a predictor does not say how it ranks."""
RANK = "rank in the name"
"""The measure of predictors that say only in the names of their models which they prefer."""
ORDER = (*OF_PREDICTOR, RANK, *COMMON)
"""The first of these that differs between the models decides on their order."""
NAMES = {**MEASURES, RANK: RANK}
GROUP = ["target", "predictor"]
OWN, NAMED, DERIVED = "own score", "name", "confidence"
"""What a rank rests on: the predictor's own score, the name of the model, or, where the predictor
says neither, its confidence, by which TopoRank orders the models.
"""


class OtherFirst(NamedTuple):
    """Our first model of a target, and another one that the predictor ranks first.

    Attributes
    ----------
    best, first : our first model and that of its predictor
    dockq_between : DockQ of the second with the first as its native; None where it is unknown
    """

    best: pd.Series
    first: pd.Series
    dockq_between: float | None

    @property
    def binds_elsewhere(self) -> bool:
        """Whether one has to look at both models."""
        return self.dockq_between is not None and self.dockq_between < MEDIUM

    def __str__(self) -> str:
        best, first = self.best, self.first
        of = f"{best['predictor']}'s" if best["predictor"] else "The predictor's"
        if best["predictor_order"] == DERIVED:
            of = f"By {best['predictor_measure']} the"
        if pd.isna(first["dockq"]):
            return f"{of} first is {first['decoy']}, which has no score"
        text = (
            f"{of} first is {first['decoy']}: DockQ {first['dockq']:.2f} against "
            f"{best['dockq']:.2f}"
        )
        if pd.notna(first["predictor_score"]) and pd.notna(best["predictor_score"]):
            text += (
                f", its {first['predictor_measure']} {first['predictor_score']:.2f} "
                f"against {best['predictor_score']:.2f}"
            )
        if self.dockq_between is None:
            return text
        between = f"DockQ between the two {self.dockq_between:.2f}"
        if self.dockq_between >= MEDIUM:
            return f"{text}; they bind alike ({between})"
        if self.dockq_between >= ACCEPTABLE:
            return f"{text}; it binds at the same place, but differently ({between})"
        return f"{text}; it binds elsewhere ({between})"


def with_predictor(models: pd.DataFrame, confidence: pd.DataFrame) -> pd.DataFrame:
    """Return the models with their predictor and the place that it gives them.

    Its own ranking score or HADDOCK's decides, or the ranks in the names of its models; otherwise
    ipTM, else interface pLDDT. Copies have what their original has and do not count.

    Parameters
    ----------
    models : as from `model_table`
    confidence : the table of that name
    """
    original = models["duplicate_of"].where(
        models["duplicate_of"] != "", models["decoy"]
    )
    keys = models[["target"]].assign(decoy=original)
    measures = [measure for measure in ORDER if measure != RANK]
    stated = confidence[[*KEY, "predictor", *measures]]
    stated = keys.merge(stated, how="left", on=KEY)
    stated["predictor"] = stated["predictor"].fillna("")
    stated[RANK] = ranks_in_names(stated["decoy"], [stated[name] for name in GROUP])
    counts = (models["duplicate_of"] == "") & (models["status"] != Status.INTERMEDIATE)
    groups = [stated[name] for name in GROUP]
    values = pd.Series(float("nan"), index=models.index)
    decided_by = pd.Series("", index=models.index, dtype=object)
    for least in (
        2,
        1,
    ):  # a value that all models share decides only where none differs
        for measure in ORDER:
            candidate = stated[measure].where(counts)
            if measure not in COMMON:
                candidate = candidate.where(stated["predictor"] != "")
            differing = candidate.groupby(groups).transform("nunique")
            takes = (differing >= least) & (decided_by == "")
            sign = -1.0 if measure in (*LOWER_IS_BETTER, RANK) else 1.0
            values = values.where(~takes, sign * candidate)
            decided_by = decided_by.where(~takes, measure)
    places = values.groupby(groups).rank(method="min", ascending=False)
    table = models.assign(
        predictor=stated["predictor"],
        predictor_rank=_of_original(places, keys, models),
        predictor_score=float("nan"),
        predictor_measure="",
        predictor_order=decided_by.map(_order),
    )
    for measure in (*measures, RANK):
        shows = (decided_by == measure) | (decided_by == RANK) | (decided_by == "")
        shows &= stated[measure].notna() & (table["predictor_measure"] == "")
        table.loc[shows, "predictor_measure"] = NAMES[measure]
        if measure != RANK:
            table.loc[shows, "predictor_score"] = stated[measure][shows]
    return table


def _order(measure: str) -> str:
    """What a rank by a measure rests on; empty without a rank."""
    if measure in COMMON:
        return DERIVED
    if measure == RANK:
        return NAMED
    return OWN if measure else ""


def rank_in_words(row: pd.Series) -> str:
    """Return how the predictor ranks a model; empty where that is not known.

    An example is `Boltz's rank 1 (ranking score 0.90)`.

    row : as from `with_predictor`
    """
    if pd.isna(row["predictor_rank"]):
        return ""
    score = ""
    if pd.notna(row["predictor_score"]):
        score = f"{row['predictor_score']:.2f}"
    measure, rank = row["predictor_measure"], f"rank {row['predictor_rank']}"
    if row["predictor_order"] == DERIVED:
        return f"{rank} by {measure} ({score})"
    of = f"{row['predictor']}'s" if row["predictor"] else "the predictor's"
    return f"{of} {rank} ({measure} {score})" if score else f"{of} {rank}"


def _of_original(
    values: pd.Series, keys: pd.DataFrame, models: pd.DataFrame
) -> pd.Series:
    """The values of originals for their copies, too."""
    known = models[KEY].assign(value=values)
    return keys.merge(known, how="left", on=KEY)["value"].astype(WHOLE)


def other_first(rows: pd.DataFrame) -> pd.Series | None:
    """Return the model that the predictor of the best model ranks first, where that is another.

    rows : of a target, as from `with_predictor`, best first
    """
    best = rows.iloc[0]
    if pd.isna(best["dockq"]) or pd.isna(best["predictor_rank"]):
        return None
    if best["predictor_rank"] == 1:
        return None
    is_first = (rows["predictor"] == best["predictor"]) & (rows["duplicate_of"] == "")
    firsts = rows[is_first & (rows["predictor_rank"] == 1)]
    return firsts.iloc[0]
