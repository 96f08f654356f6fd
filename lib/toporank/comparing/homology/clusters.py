"""Targets that share a chain: clusters, splits and folds that keep them together, and the nearest training target.

Everywhere `chains` gives the sequences of each target that are to be compared (kind `protein`), none for a
target without such a chain. The order of targets never matters.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from toporank.comparing.homology.kmers import ALIKE, Sample, containments, sample
from toporank.comparing.homology.mmseqs import aligned
from toporank.errors import ConfigError

Chains = Mapping[str, Collection[str]]


def clusters(chains: Chains, *, align: bool = False) -> dict[str, str]:
    """The cluster of each target, called after the first of its targets by name.

    Targets are in one cluster when a chain of one is like a chain of the other, or both are like a third : single
    linkage. align : chains that MMseqs2 finds alike are so, too; raises ConfigError when it is not there.
    """
    of_chain: dict[str, str] = {}
    parent = {target: target for target in sorted(chains)}

    def top(target: str) -> str:
        while parent[target] != target:
            parent[target] = target = parent[parent[target]]
        return target

    def join(one: str, other: str) -> None:
        first, second = sorted((top(one), top(other)))
        parent[second] = first

    for target in parent:
        for sequence in chains[target]:
            join(target, of_chain.setdefault(sequence, target))
    sequences = sorted(of_chain)
    ones, others, shared = containments(sequences, [sample(sequence) for sequence in sequences])
    alike = shared >= ALIKE
    for i, j in [*zip(ones[alike], others[alike], strict=True), *(aligned(sequences) if align else ())]:
        join(of_chain[sequences[i]], of_chain[sequences[j]])
    return {target: top(target) for target in parent}


def hold_out(cluster_of: Mapping[str, str], percent: float, seed: int) -> set[str]:
    """Targets of whole clusters, about `percent` of all, to validate on; at least one, and one is left to train on.

    Clusters are drawn at random; one that would make it more than wanted is passed over. With a target in each cluster
    it is the draw of `labels.split_by_target`. Raises ConfigError when all targets are in one cluster.
    """
    sizes = Counter(cluster_of.values())
    if len(sizes) < 2:
        raise ConfigError(
            f"all {len(cluster_of)} targets share chains with each other: none can be set aside for validation",
            remedy="give the labels a split, or set training.split_by: target",
        )
    wanted = max(1, min(len(cluster_of) - 1, round(len(cluster_of) * percent / 100)))
    drawn, chosen, total = sorted(sizes), set(), 0
    random.Random(seed).shuffle(drawn)
    for name in drawn:
        if total + sizes[name] <= wanted:
            chosen.add(name)
            total += sizes[name]
    if not chosen:
        chosen = {min(drawn, key=sizes.__getitem__)}
    return {target for target, name in cluster_of.items() if name in chosen}


def deal_folds(cluster_of: Mapping[str, str], folds: int, seed: int) -> dict[str, int]:
    """A fold from 0 for each target: whole clusters, the largest first, go where there are fewest targets.

    Raises ConfigError when there are fewer clusters than folds.
    """
    sizes = Counter(cluster_of.values())
    if len(sizes) < folds:
        raise ConfigError(
            f"{len(sizes)} clusters of targets that share chains cannot be dealt into {folds} folds",
            where="training.folds",
            remedy="ask for fewer folds, or label more targets",
        )
    drawn = sorted(sizes)
    random.Random(seed).shuffle(drawn)
    filled, fold_of = [0] * folds, {}
    for name in sorted(drawn, key=sizes.__getitem__, reverse=True):
        fold_of[name] = filled.index(min(filled))
        filled[fold_of[name]] += sizes[name]
    return {target: fold_of[name] for target, name in cluster_of.items()}


class References(NamedTuple):
    """Chains to compare with. targets : those that each chain belongs to."""

    samples: list[Sample]
    targets: list[list[str]]


def references(chains: Chains) -> References:
    """The different chains of these targets."""
    of_chain: dict[str, list[str]] = {}
    for target in sorted(chains):
        for sequence in chains[target]:
            of_chain.setdefault(sequence, []).append(target)
    sequences = sorted(of_chain)
    return References([sample(s) for s in sequences], [of_chain[s] for s in sequences])


class Nearest(NamedTuple):
    """The target with the chain most like one of a query's: its name and the containment; `""` and 0 for none."""

    target: str
    containment: float


def nearest(chains: Chains, known: References) -> dict[str, Nearest | None]:
    """For each query the nearest target of the references; None when it has no chain to compare.

    Of equally near ones the query itself, if it is among them, otherwise the first by name.
    """
    sequences = sorted({sequence for found in chains.values() for sequence in found})
    best: dict[str, tuple[float, set[str]]] = {}
    for i, j, shared in zip(*containments(sequences, known.samples), strict=True):
        value = round(float(shared), 4)
        before, names = best.get(sequences[i], (0.0, set()))
        if value >= before:
            best[sequences[i]] = value, {*known.targets[j], *(names if value == before else ())}
    return {
        target: _nearest(target, [best[s] for s in own if s in best]) if own else None for target, own in chains.items()
    }


def _nearest(target: str, found: list[tuple[float, set[str]]]) -> Nearest:
    if not found:
        return Nearest("", 0.0)
    top = max(value for value, _ in found)
    names = {name for value, names in found if value == top for name in names}
    return Nearest(target if target in names else min(names), top)
