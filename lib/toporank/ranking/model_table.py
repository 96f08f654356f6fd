"""The table of all models of a data set: what each is worth, in which order, and why some have no
score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from toporank.building.compared import ComparedDecoy
from toporank.building.coverage import CoverageRow
from toporank.ranking.frames import read_frame, write_frame
from toporank.ranking.interfaces import InterfaceRow, of_each_decoy
from toporank.ranking.verdict import classes_of, verdict_of
from toporank.scorer.prediction import Estimate, Score
from toporank.structures.identity import Status

BEST_OF_CLUSTER = 4
"""Decoys whose mean score ranks a cluster, as HADDOCK does it."""
COMPLEX = "complex"
RANKED_BY = {COMPLEX: "dockq", "min_interface": "min_interface", "mean_interface": "mean_interface"}
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

KEYS = ("target", "decoy")
MODEL_COLUMNS = (
    "target",
    "decoy",
    "rank",
    "dockq",
    "dockq_low",
    "dockq_high",
    "p_acceptable",
    "capri",
    "verdict",
    "weakest_interface",
    "status",
    "reason",
    "duplicate_of",
    "path",
)
"""Columns of models.csv: what a user reads."""
DETAIL_COLUMNS = (
    "target",
    "decoy",
    "score",
    "network_sd",
    "network",
    "confidence",
    "out_of_domain",
    "consensus",
    "cluster",
    "cluster_rank",
    "twin_of",
    "n_chains",
    "n_interfaces",
    "n_interface_residues",
    "min_interface",
    "mean_interface",
    "stage",
    "chains",
    "model",
)
"""Columns of details.csv: what the numbers are made of."""
JOINED = "joined"
"""Further column: which chains are one partner by nature, in a sentence, which targets.csv has."""
WHOLE_NUMBERS = (
    "rank",
    "cluster",
    "cluster_rank",
    "n_chains",
    "n_interfaces",
    "n_interface_residues",
    "model",
)
TEXTS = (
    "target",
    "decoy",
    "capri",
    "verdict",
    "weakest_interface",
    "status",
    "reason",
    "duplicate_of",
    "path",
    "out_of_domain",
    "twin_of",
    "stage",
    "chains",
)
NUMBERS = tuple(
    name for name in (*MODEL_COLUMNS, *DETAIL_COLUMNS) if name not in (*WHOLE_NUMBERS, *TEXTS)
)
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
}


def score_record(score: Score, estimate: Estimate | None = None) -> dict[str, Any]:
    """Return what a scorer says of a decoy under the names of the columns. estimate : None without
    a calibration.
    """
    record: dict[str, Any] = {"decoy": score.decoy}
    for name, column in OF_SCORE.items():
        record[column] = getattr(score, name, None)
    values = estimate._asdict() if estimate else {}
    for name, column in OF_ESTIMATE.items():
        record[column] = values.get(name)
    return record


def model_table(
    coverage: Iterable[CoverageRow],
    scores: Mapping[str, Sequence[Mapping[str, Any]]],
    interfaces: Iterable[InterfaceRow] = (),
    comparison: Iterable[ComparedDecoy] = (),
    rank_by: str = COMPLEX,
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
    comparison : how each decoy stands among the others
    rank_by : key of `RANKED_BY`

    Returns
    -------
    DataFrame with `MODEL_COLUMNS`, `DETAIL_COLUMNS` and `JOINED`

    Raises
    ------
    ValueError : a decoy has two scores
    """
    table = _decoys(coverage)
    table = _joined(table, _scores(scores))
    table = _joined(table, _interfaces(interfaces))
    table = _joined(
        table, pd.DataFrame(comparison, columns=[*KEYS, "cluster", "consensus", "twin_of"])
    )
    columns = dict.fromkeys([*MODEL_COLUMNS, *DETAIL_COLUMNS, JOINED])
    table = table.reindex(columns=list(columns))
    table = table.astype(dict.fromkeys(NUMBERS, float)).astype(
        dict.fromkeys(WHOLE_NUMBERS, "Int64")
    )
    texts = [*TEXTS, JOINED]
    table[texts] = table[texts].astype(object).fillna("")
    _complete_dockq(table)
    table["capri"] = classes_of(table["dockq"])
    pairs = zip(table["p_acceptable"], table["dockq"], strict=True)
    table["verdict"] = [verdict_of(probability, dockq) for probability, dockq in pairs]
    return _ranked(table, RANKED_BY[rank_by])


def _decoys(coverage: Iterable[CoverageRow]) -> pd.DataFrame:
    decoys = [row for row in coverage if row.status != Status.NO_DECOY]
    return pd.DataFrame(decoys, columns=CoverageRow._fields).drop(columns=["dockq", "split"])


def _scores(scores: Mapping[str, Sequence[Mapping[str, Any]]]) -> pd.DataFrame:
    rows = []
    for target, records in scores.items():
        rows += [{"target": target, **record} for record in records]
    columns = [*KEYS, *OF_SCORE.values(), *OF_ESTIMATE.values()]
    table = pd.DataFrame(rows, columns=columns)
    twice = table.duplicated(list(KEYS))
    if twice.any():
        target, decoy = table.loc[twice, list(KEYS)].iloc[0]
        raise ValueError(f"{target}/{decoy} has two scores")
    return table


def _interfaces(interfaces: Iterable[InterfaceRow]) -> pd.DataFrame:
    rows = []
    for key, summary in of_each_decoy(interfaces).items():
        rows.append((*key, *summary))
    return pd.DataFrame(
        rows,
        columns=[*KEYS, "n_interfaces", "min_interface", "mean_interface", "weakest_interface"],
    )


def _joined(table: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    return table.merge(other.astype({"target": object, "decoy": object}), how="left", on=list(KEYS))


def _complete_dockq(table: pd.DataFrame) -> None:
    """Fill in DockQ where there is no calibration: the score, of the weakest of several
    interfaces.
    """
    table.loc[table["score"].isna(), "weakest_interface"] = ""
    several = table["weakest_interface"] != ""
    score = table["score"].where(~several, np.fmin(table["score"], table["min_interface"]))
    table["dockq"] = table["dockq"].fillna(score)


def _ranked(table: pd.DataFrame, order_by: str) -> pd.DataFrame:
    """The table in its order, with the ranks of decoys and of clusters."""
    table["original"] = table["duplicate_of"].where(table["duplicate_of"] != "", table["decoy"])
    table["place"] = table["status"].map(STATUS_ORDER).fillna(len(STATUS_ORDER))
    table["is_copy"] = table["duplicate_of"] != ""
    order = {
        "target": True,
        "place": True,
        order_by: False,
        "score": False,
        "is_copy": True,
        "decoy": True,
    }
    table = table.sort_values(list(order), ascending=list(order.values()), ignore_index=True)

    with_rank = table[table["status"].isin(STATUS_ORDER)]
    originals = with_rank.drop_duplicates(["target", "original"])
    ranks = originals.assign(rank=originals.groupby("target").cumcount() + 1)[
        ["target", "original", "rank"]
    ]
    of_rows = table[["target", "original"]].merge(ranks, how="left", on=["target", "original"])
    table["rank"] = of_rows["rank"].where(table["status"].isin(STATUS_ORDER)).astype("Int64")
    table["cluster_rank"] = _cluster_ranks(table)
    table = table.sort_values(
        ["target", "rank"], kind="stable", na_position="last", ignore_index=True
    )
    return table.drop(columns=["original", "place", "is_copy"])


def _cluster_ranks(table: pd.DataFrame) -> pd.Series:
    """The rank of the cluster of each decoy: by the mean score of its best `BEST_OF_CLUSTER`
    decoys.
    """
    members = table[table["cluster"].notna() & ~table["is_copy"] & table["score"].notna()]
    best = (
        members.sort_values("score", ascending=False)
        .groupby(["target", "cluster"])
        .head(BEST_OF_CLUSTER)
    )
    mean = best.groupby(["target", "cluster"])["score"].mean().reset_index()
    mean = mean.sort_values(["target", "score", "cluster"], ascending=[True, False, True])
    mean["cluster_rank"] = mean.groupby("target").cumcount() + 1
    keys = ["target", "cluster"]
    return (
        table[keys]
        .merge(mean[[*keys, "cluster_rank"]], how="left", on=keys)["cluster_rank"]
        .astype("Int64")
    )


def with_known_columns(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return these columns of the table, of details only those in which something is known."""
    if columns is MODEL_COLUMNS:
        return table[list(columns)]
    known = [name for name in columns if name in KEYS or _has_value(table[name])]
    return table[known]


def _has_value(column: pd.Series) -> bool:
    return bool(column.notna().any() and (column != "").any())


def write_models_and_details(models: Path | str, details: Path | str, table: pd.DataFrame) -> None:
    """Write models.csv and details.csv."""
    write_frame(models, with_known_columns(table, MODEL_COLUMNS))
    write_frame(details, with_known_columns(table, DETAIL_COLUMNS))


def read_models(models: Path | str, details: Path | str | None = None) -> pd.DataFrame:
    """Read models.csv, and the columns of details.csv where that is given: the table of
    `model_table`.
    """
    table = read_frame(models, NUMBERS, WHOLE_NUMBERS)
    if details is None:
        return table
    further = read_frame(details, NUMBERS, WHOLE_NUMBERS)
    table = table.merge(further, how="left", on=list(KEYS))
    for name in DETAIL_COLUMNS:
        if name not in table:
            table[name] = "" if name in TEXTS else np.nan
    return table


def distinct_models(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that count as models: neither copies nor intermediate states of a program."""
    return table[(table["duplicate_of"] == "") & (table["status"] != Status.INTERMEDIATE)]


def best_of_each_target(table: pd.DataFrame, listed: int = 10) -> list[str]:
    """Return a line for each target, at most `listed`: its best model with DockQ, interval and
    verdict.
    """
    first = table.drop_duplicates("target")
    lines = []
    for row in first.head(listed).itertuples():
        said = f"{row.decoy}, {in_words(row)}" if row.verdict else "no model was scored"
        lines.append(f"{row.target}  {said}")
    if len(first) > listed:
        lines.append(f"and {len(first) - listed} more targets")
    return lines


def in_words(row: Any) -> str:
    """Return `DockQ 0.45 (80 % interval 0.20 to 0.70), 62 % acceptable: check`. row : of the table,
    scored.
    """
    interval = (
        ""
        if pd.isna(row.dockq_low)
        else f" (80 % interval {row.dockq_low:.2f} to {row.dockq_high:.2f})"
    )
    probable = (
        ""
        if pd.isna(row.p_acceptable)
        else f", acceptable or better with {100 * row.p_acceptable:.0f} %"
    )
    return f"DockQ {row.dockq:.2f}{interval}{probable}: {row.verdict}"
