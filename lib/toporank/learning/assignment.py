"""The split and the fold of every labelled target.

Targets that share a chain stay together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol, Self, TypeVar

import pandas as pd

from toporank.chains.thresholds import ALIKE
from toporank.comparing.homology.chain_tables import TargetSplit
from toporank.comparing.homology.clusters import (
    Nearest,
    TargetSequences,
    clusters,
    deal_folds,
    hold_out,
    nearest,
    references,
)
from toporank.errors import ConfigError, first_of
from toporank.finding.labels import SPLITS, SplitRules
from toporank.lookup import only

MOST_NAMED = 10
"""Pairs of targets that a message names at most."""


def assign(
    label_splits: Mapping[tuple[str, str], str],
    chains: TargetSequences,
    rules: SplitRules,
    finetuned: Collection[str] = (),
) -> list[TargetSplit]:
    """Return where each target belongs, sorted by data set and target.

    A target without a split goes where the labels put targets of its cluster: to training rather
    than validation, and to validation rather than test, so that nothing that is held out is spoilt.
    Of the other clusters about `rules.percent` of the targets are set aside for validation.

    Parameters
    ----------
    label_splits : mapping
        The split of each target in its labels, `""` without one, by data set and target.
    chains : mapping
        The sequences of each target that are compared; only of targets with a graph. Targets of the
        same name are one.
    rules : SplitRules
        How targets are dealt out.
    finetuned : collection of str
        The data sets that only fine-tuning learns from. None of their targets is set aside or dealt
        into folds.

    Raises
    ------
    ConfigError
        When no target is left to train on, or none to validate on.
    """
    table = pd.DataFrame([*label_splits], columns=["dataset", "target"])
    table["label_split"] = [*label_splits.values()]
    table = table.sort_values(["dataset", "target"], ignore_index=True)
    sequences = {
        target: chains.get(target, ()) for target in sorted(set(table["target"]))
    }
    table["cluster"] = table["target"].map(clusters(sequences, align=rules.align))
    table["has_graph"] = table["target"].isin([*chains])
    table["in_study"] = ~table["dataset"].isin([*finetuned])
    table["split"] = _splits(table, rules)
    _check_sides(table)
    table["fold"] = table["target"].map(_folds(table, rules))
    nearest_of = _nearest_training_targets(table, chains)
    rows = []
    for row in table.itertuples():
        nearest_training = nearest_of.get(row.target) if row.split != "train" else None
        training_target, containment = nearest_training or ("", None)
        split = TargetSplit(
            dataset=row.dataset,
            target=row.target,
            cluster=row.cluster,
            split=row.split,
            fold=None if pd.isna(row.fold) else int(row.fold),
            nearest_training_target=training_target,
            containment=containment,
        )
        rows.append(split)
    return rows


def _folds(table: pd.DataFrame, rules: SplitRules) -> dict[str, int]:
    """Return the fold of each target of the study with a graph; nothing where there are too few."""
    in_folds = table[table["in_study"] & table["has_graph"]]
    groups = in_folds["cluster" if rules.split_by == "cluster" else "target"]
    group_of = dict(zip(in_folds["target"], groups, strict=True))
    enough = groups.nunique() >= rules.folds
    return deal_folds(group_of, rules.folds, rules.seed) if enough else {}


def _splits(table: pd.DataFrame, rules: SplitRules) -> pd.Series:
    """Return the split of each target: its own, that of its cluster, or a drawn one."""
    with_split = table[table["label_split"] != ""]
    places = with_split["label_split"].map(SPLITS.index)  # train before val before test
    of_cluster = places.groupby(with_split["cluster"]).min().map(SPLITS.__getitem__)
    is_free = (
        table["in_study"]
        & table["has_graph"]
        & ~table["cluster"].isin(of_cluster.index)
    )
    free = dict(zip(table["target"][is_free], table["cluster"][is_free], strict=True))
    several = len(set(free.values())) > 1
    drawn = hold_out(free, rules.percent, rules.seed) if several else set()
    held_out = {free[target] for target in drawn}
    by_draw = table["cluster"].isin(held_out).map({True: "val", False: "train"})
    by_cluster = table["cluster"].map(of_cluster).astype(object).fillna(by_draw)
    return table["label_split"].where(table["label_split"] != "", by_cluster)


def _check_sides(table: pd.DataFrame) -> None:
    """Raise ConfigError unless there are targets to train, to validate and to fine-tune on."""
    remedy = "label models of other targets, give the labels a split, or set split_by: target"
    study = table[table["in_study"]]
    if _lacks(study, {"train", "val"}):
        several = table["target"][table["has_graph"]].nunique() > 1
        reason = (
            "the targets with a graph share chains with each other"
            if several
            else "one target has graphs"
        )
        what = f"{reason}: none can be set aside for validation"
        raise ConfigError(what, where="training.split_by", remedy=remedy)
    for dataset, rows in table[~table["in_study"]].groupby("dataset"):
        if _lacks(rows, {"train"}):
            what = (
                "its targets with a graph share chains with those that are held out: none is left "
                "to fine-tune on"
            )
            raise ConfigError(what, where=f"data set {dataset!r}", remedy=remedy)


def _lacks(rows: pd.DataFrame, splits: set[str]) -> bool:
    """Return whether targets with graphs lack one of these splits.

    It is false where the labels decide on all.
    """
    sides = set(rows["split"][rows["has_graph"]])
    return (
        bool(sides) and not sides >= splits and bool((rows["label_split"] == "").any())
    )


def _nearest_training_targets(
    table: pd.DataFrame, chains: TargetSequences
) -> dict[str, Nearest | None]:
    """Return the nearest training target of every held-out target, and the containment.

    It looks at targets with a chain to compare.
    """
    is_training = table["split"] == "train"
    training = set(table["target"][is_training & table["has_graph"]])
    held_out = set(table["target"][~is_training & table["has_graph"]])
    of_training = references(only(chains, training))
    return nearest(only(chains, held_out), of_training)


def leaks(rows: Iterable[TargetSplit]) -> list[TargetSplit]:
    """Return the held-out targets that share a chain with a training target."""
    return [
        row for row in rows if row.containment is not None and row.containment >= ALIKE
    ]


def describe_leaks(rows: list[TargetSplit]) -> str:
    """Return what leaks, with the pairs named, in a line. rows : as from `leaks`, not empty."""
    table = pd.DataFrame(rows)
    n_of_split = table["split"].value_counts().sort_index()
    counts = " and ".join(f"{n} of split {split}" for split, n in n_of_split.items())
    pairs = [
        f"{row.target} ({row.split}) and {row.nearest_training_target} ({row.containment:.0%})"
        for row in rows
    ]
    return (
        f"targets that share a chain with a training target: {counts}, such as "
        f"{first_of(pairs, MOST_NAMED)}"
    )


def check_leaks(rows: list[TargetSplit], *, refuse: bool) -> str:
    """What leaks, in a line; empty where nothing does.

    Raises ConfigError where something leaks and `refuse` says so.
    """
    leaking = leaks(rows)
    if not leaking:
        return ""
    what = describe_leaks(leaking)
    if refuse:
        remedy = (
            "correct the splits of the labels, or leave them out; or set "
            "training.leakage: warn"
        )
        raise ConfigError(what, where="the splits leak", remedy=remedy)
    return f"the splits leak: {what}"


def describe_splits(rows: list[TargetSplit]) -> str:
    """How many targets there are of each split, in a line."""
    n_of_split = Counter(row.split for row in rows)
    n_clusters = len({row.cluster for row in rows})
    sides = [f"{n_of_split[split]} {split}" for split in SPLITS if n_of_split[split]]
    return f"{len(rows)} targets in {n_clusters} clusters: {', '.join(sides)}"


class OfSplit(Protocol):
    """A row with a target and a split: a label, or the outcome of its decoy."""

    @property
    def target(self) -> str:
        """Its name."""

    @property
    def split(self) -> str:
        """The split, or nothing."""

    def _replace(self, *, split: str) -> Self: ...


Labelled = TypeVar("Labelled", bound=OfSplit)


def decided(
    rows: Iterable[Labelled], split_of: Mapping[tuple[str, str], str], dataset: str
) -> list[Labelled]:
    """Return rows with a split: their own, or that of `split_of`.

    `test` in a data set that is never trained on.
    """
    table = []
    for row in rows:
        split = row.split or split_of.get((dataset, row.target), "test")
        table.append(row._replace(split=split))
    return table
