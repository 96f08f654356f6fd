"""The table of all models of a data set.

It says how good each is, in which order, and why some have no score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from toporank.building.compared import ComparedDecoy
from toporank.building.coverage import CoverageRow
from toporank.ranking.headlines import headline, summaries
from toporank.ranking.interfaces import InterfaceRow
from toporank.ranking.verdict import in_words, with_verdicts
from toporank.scorer.prediction import KEY, Estimate, Score
from toporank.structures.identity import Status
from toporank.tables.columns import DETAILS, MODELS, WHOLE
from toporank.tables.frames import read, typed

BEST_OF_CLUSTER = 4
"""Decoys whose mean score ranks a cluster, as HADDOCK does it."""
COMPLEX = "complex"
RANKED_BY = {
    COMPLEX: "dockq",
    "min_interface": "min_interface",
    "mean_interface": "mean_interface",
}
"""The column that decides on the order, by the names that the configuration has for it."""
STATUS_ORDER = {
    Status.OK: 0,
    Status.PARTNER_APART: 1,
    Status.CHAIN_MISSING: 1,
    Status.NO_INTERFACE: 2,
}
"""Statuses with a rank: a decoy that lacks a chain, or a contact, is certainly wrong. All others
have none.
"""

JOINED = "joined"
"""Further column: which chains are one partner by nature, in a sentence, which targets.csv has."""
SIDE_CHAINS = "side_chains"
"""Further column: which chains have no side chains, in a sentence."""
KINDS = {**MODELS.kinds, **DETAILS.kinds, JOINED: str, SIDE_CHAINS: str}
"""Of the columns of `model_table`."""
OF_SCORE = {
    "pred_dockq": "score",
    "pred_sd": "network_sd",
    "pred_network": "network",
    "pred_confidence": "confidence",
}
"""Fields of a `Score`, and the columns that have them."""
OF_ESTIMATE = {
    "dockq": "dockq",
    "low": "dockq_low",
    "high": "dockq_high",
    "p_acceptable": "p_acceptable",
    "domain": "out_of_domain",
    "kind": "kind",
    "unknown_kind": "unknown_kind",
}


def score_record(score: Score, estimate: Estimate | None = None) -> dict[str, Any]:
    """Return what a scorer predicts of a decoy, by column.

    estimate : None without a calibration.
    """
    record: dict[str, Any] = {"decoy": score.decoy}
    for name, column in OF_SCORE.items():
        record[column] = getattr(score, name)
    for name, column in OF_ESTIMATE.items():
        record[column] = getattr(estimate, name, None)
    return record


def model_table(
    coverage: Iterable[CoverageRow],
    scores: Mapping[str, Sequence[Mapping[str, Any]]],
    interfaces: Iterable[InterfaceRow] = (),
    comparison: Iterable[ComparedDecoy] = (),
    rank_by: str = COMPLEX,
    learned: Collection[str] = (),
) -> pd.DataFrame:
    """Return every model of a data set, best first within its target.

    The order goes by expected DockQ, then by the score behind it, so DockQ never rises with the
    rank. A model that lacks a chain or a contact comes below all scored models of its target; a
    model that could not be read or computed comes last and has no rank. A copy shares the rank of
    its original and follows it. Ties go by name.

    Parameters
    ----------
    coverage : what became of every decoy
    scores : target → `score_record` of each scored decoy
    interfaces : of the decoys, scored
    comparison : how each decoy compares with the others
    rank_by : key of `RANKED_BY`
    learned : targets that a network learned from, so that none of them is unlike the training

    Returns
    -------
    DataFrame with the columns of `MODELS`, `DETAILS`, `JOINED` and `SIDE_CHAINS`; what the
    predictor says is added by `agreement.with_predictor`

    Raises
    ------
    ValueError : a decoy has two scores
    """
    decoys = [row for row in coverage if row.status != Status.NO_DECOY]
    table = pd.DataFrame(decoys, columns=CoverageRow._fields).drop(
        columns=["dockq", "split"]
    )
    compared = pd.DataFrame(
        comparison, columns=[*KEY, "cluster", "consensus", "twin_of"]
    )
    for other in (_scores(scores), summaries(interfaces), compared):
        table = table.merge(
            other.astype(dict.fromkeys(KEY, object)), how="left", on=KEY
        )
    numbers = [
        headline(
            float(row.score),
            float(row.mean_interface),
            of_antibody=row.of_antibody,
            # nan where no interface is known
            has_weak_partner=isinstance(row.weak_partners, str)
            and row.weak_partners != "",
        )
        for row in table[NUMBERED].itertuples()
    ]
    table = typed(table, KINDS)
    table.loc[table["target"].isin(learned), ["out_of_domain", "unknown_kind"]] = ""
    table.loc[table["score"].isna(), "weakest_interface"] = ""
    # without a calibration
    table["dockq"] = table["dockq"].fillna(pd.Series(numbers, dtype=float))
    return _ranked(with_verdicts(table), RANKED_BY[rank_by])


NUMBERED = ["score", "mean_interface", "of_antibody", "weak_partners"]
"""Columns that make the number of a model."""


def _scores(scores: Mapping[str, Sequence[Mapping[str, Any]]]) -> pd.DataFrame:
    rows = []
    for target, records in scores.items():
        rows += [{"target": target, **record} for record in records]
    table = pd.DataFrame(
        rows, columns=[*KEY, *OF_SCORE.values(), *OF_ESTIMATE.values()]
    )
    twice = table.loc[table.duplicated(KEY), KEY]
    if len(twice):
        raise ValueError(f"{'/'.join(twice.iloc[0])} has two scores")
    return table


def _ranked(table: pd.DataFrame, order_by: str) -> pd.DataFrame:
    """The table in its order, with the ranks of decoys and of clusters."""
    table["is_copy"] = table["duplicate_of"] != ""
    table["original"] = table["duplicate_of"].where(table["is_copy"], table["decoy"])
    table["place"] = table["status"].map(STATUS_ORDER)
    order = {
        "target": True,
        "place": True,
        order_by: False,
        "score": False,
        "is_copy": True,
        "decoy": True,
    }
    table = table.sort_values(
        list(order), ascending=list(order.values()), ignore_index=True
    )
    has_rank = table["place"].notna()
    originals = table[has_rank].drop_duplicates(["target", "original"])[
        ["target", "original"]
    ]
    originals["rank"] = originals.groupby("target").cumcount() + 1
    ranks = table[["target", "original"]].merge(originals, how="left")["rank"]
    table["rank"] = ranks.where(has_rank).astype(WHOLE)
    table["cluster_rank"] = _cluster_ranks(table)
    table = table.sort_values(["target", "rank"], kind="stable", ignore_index=True)
    return table.drop(columns=["original", "place", "is_copy"])


def _cluster_ranks(table: pd.DataFrame) -> pd.Series:
    """The rank of the cluster of each decoy.

    Clusters are ranked by the mean score of their best `BEST_OF_CLUSTER` decoys.
    """
    keys = ["target", "cluster"]
    members = table[
        table["cluster"].notna() & ~table["is_copy"] & table["score"].notna()
    ]
    members = members.sort_values("score", ascending=False)
    best = members.groupby(keys).head(BEST_OF_CLUSTER)
    mean = best.groupby(keys, as_index=False)["score"].mean()
    mean = mean.sort_values(
        ["target", "score", "cluster"], ascending=[True, False, True]
    )
    mean["cluster_rank"] = mean.groupby("target").cumcount() + 1
    return table[keys].merge(mean, how="left", on=keys)["cluster_rank"].astype(WHOLE)


def read_models(models: Path | str, details: Path | str | None = None) -> pd.DataFrame:
    """Read models.csv, and the columns of details.csv where that is given.

    The result is the table of `model_table`.
    """
    table = read(MODELS, models)
    if details is None:
        return table
    table = table.merge(read(DETAILS, details), how="left", on=KEY)
    return table.fillna({"model": 0})


def distinct_models(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that count as models: neither copies nor intermediate states of a program."""
    return table[
        (table["duplicate_of"] == "") & (table["status"] != Status.INTERMEDIATE)
    ]


def best_of_each_target(table: pd.DataFrame, listed: int = 10) -> list[str]:
    """Return a line for each target, at most `listed`.

    The line has its best model with DockQ, interval and verdict.
    """
    first = table.drop_duplicates("target")
    lines = []
    for row in first.head(listed).itertuples():
        best = f"{row.decoy}, {in_words(row)}" if row.verdict else "no model was scored"
        lines.append(f"{row.target}  {best}")
    if len(first) > listed:
        lines.append(f"and {len(first) - listed} more targets")
    return lines
