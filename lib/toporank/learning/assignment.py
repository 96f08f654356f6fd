"""The split and the fold of every labelled target, in which targets that share a chain stay together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeVar

from toporank.comparing.homology.chain_tables import TargetSplit
from toporank.comparing.homology.clusters import Chains, clusters, deal_folds, hold_out, nearest, references
from toporank.comparing.homology.kmers import ALIKE
from toporank.errors import ConfigError
from toporank.inputs.labels import SPLITS

NAMED = 10
"""Pairs of targets that a message names at most."""


def assign(
    given: Mapping[tuple[str, str], str],
    chains: Chains,
    *,
    split_by: str,
    percent: float,
    seed: int,
    folds: int,
    align: bool = False,
    finetuned: Collection[str] = (),
) -> list[TargetSplit]:
    """Where each target belongs, sorted by data set and target.

    given : by data set and target, its split in the labels, `""` where they have none. chains : by target, the
    sequences that are compared; only of targets with a graph. Targets of the same name are one. align : see `clusters`.
    finetuned : the data sets that only fine-tuning learns from, which is judged by the others: nothing is set aside
    among them or dealt into folds. Nor are targets without a graph dealt.

    An undecided target goes where the labels put targets of its cluster: to training rather than validation, and to
    validation rather than test, so that nothing that is held out is spoilt. Of the other clusters about `percent` of
    the targets are set aside for validation. Raises ConfigError when nothing is left on one side.
    """
    names = sorted({target for _, target in given})
    study = sorted({target for dataset, target in given if dataset not in finetuned})
    cluster_of = clusters({target: chains.get(target, ()) for target in names}, align=align)
    decided: dict[str, set[str]] = {}
    for (_, target), split in given.items():
        decided.setdefault(cluster_of[target], set()).update([split] if split else [])
    free = {t: cluster_of[t] for t in study if t in chains and not decided[cluster_of[t]]}
    drawn = hold_out(free, percent, seed) if len(set(free.values())) > 1 else set()
    held_out = {cluster_of[target] for target in drawn}

    def chosen(target: str) -> str:
        cluster = cluster_of[target]
        return min(decided[cluster], key=SPLITS.index, default="val" if cluster in held_out else "train")

    split_of = {key: split or chosen(key[1]) for key, split in given.items()}
    _check_sides(given, split_of, chains, finetuned)
    together = {target: cluster_of[target] if split_by == "cluster" else target for target in study if target in chains}
    fold_of = deal_folds(together, folds, seed) if len(set(together.values())) >= folds else {}
    near = _nearest_training_targets(split_of, chains)
    return [
        TargetSplit(*key, cluster_of[key[1]], split_of[key], fold_of.get(key[1]), *near.get(key, ("", None)))
        for key in sorted(given)
    ]


def _check_sides(
    given: Mapping[tuple[str, str], str],
    split_of: Mapping[tuple[str, str], str],
    chains: Collection[str],
    finetuned: Collection[str],
) -> None:
    """Raise ConfigError unless there are targets with a graph to train on and to validate on, and to fine-tune on."""
    study = {dataset for dataset, _ in given} - {*finetuned}
    with_graph = {target for _, target in given if target in chains}
    why = "the targets with a graph share chains with each other" if len(with_graph) > 1 else "one target has graphs"
    alike = f"{why}: none can be set aside for validation"
    held_out = "its targets with a graph share chains with those that are held out: none is left to fine-tune on"
    roles = [(study, {"train", "val"}, alike, "training.split_by")]
    roles += [({name}, {"train"}, held_out, f"data set {name!r}") for name in finetuned]
    for names, needed, what, where in roles:
        own = [key for key in given if key[0] in names]
        sides = {split_of[key] for key in own if key[1] in chains}
        if sides and not needed <= sides and not all(given[key] for key in own):
            remedy = "label decoys of other targets, give the labels a split, or set split_by: target"
            raise ConfigError(what, where=where, remedy=remedy)


def _nearest_training_targets(
    split_of: Mapping[tuple[str, str], str], chains: Chains
) -> dict[tuple[str, str], tuple[str, float]]:
    """Of every held-out target with a chain to compare, the nearest training target and the containment."""
    learned = {target for (_, target), split in split_of.items() if split == "train"}
    held = {target for (_, target), split in split_of.items() if split != "train"}
    known = references({target: chains[target] for target in learned & set(chains)})
    near = nearest({target: chains[target] for target in held & set(chains)}, known)
    return {
        key: found for key, split in split_of.items() if split != "train" and (found := near.get(key[1])) is not None
    }


def leaks(rows: Iterable[TargetSplit]) -> list[TargetSplit]:
    """The held-out targets that share a chain with a training target."""
    return [row for row in rows if row.containment is not None and row.containment >= ALIKE]


def describe_leaks(rows: list[TargetSplit]) -> str:
    """What leaks, with the pairs named: one line. rows : as from `leaks`, at least one."""
    pairs = [
        f"{row.target} ({row.split}) and {row.nearest_training_target} ({row.containment:.0%})" for row in rows[:NAMED]
    ]
    more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
    whole = " and ".join(f"{n} of split {split}" for split, n in sorted(Counter(row.split for row in rows).items()))
    return f"targets that share a chain with a training target: {whole}, such as {', '.join(pairs)}{more}"


Labelled = TypeVar("Labelled", bound=NamedTuple)
"""A row with a target and a split: a label, or what became of its decoy."""


def decided(rows: Iterable[Labelled], split_of: Mapping[tuple[str, str], str], dataset: str) -> list[Labelled]:
    """Rows with a split: the given one, or that of `split_of`; `test` in a data set that is never trained on."""
    return [row._replace(split=row.split or split_of.get((dataset, row.target), "test")) for row in rows]
