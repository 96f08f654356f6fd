"""Targets that share a chain.

It makes clusters, splits and folds that keep them together, and finds the nearest training
target.

Everywhere `chains` gives the sequences of each target that are to be compared (kind `protein`),
none for a target without such a chain. The order of targets never matters.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from toporank.chains.kmers import Sample, containments, sample
from toporank.chains.thresholds import ALIKE
from toporank.comparing.homology.mmseqs import aligned
from toporank.errors import ConfigError

TargetSequences = Mapping[str, Collection[str]]


def clusters(chains: TargetSequences, *, align: bool = False) -> dict[str, str]:
    """Put targets that share a chain into clusters, by single linkage.

    Parameters
    ----------
    chains : target → the sequences that are compared
    align : whether chains that MMseqs2 finds alike are so, too

    Returns
    -------
    dict, target → its cluster, called after the first of its targets by name

    Raises
    ------
    ConfigError : MMseqs2 is wanted and not there

    Examples
    --------
    >>> heavy, light = "EVQLVESGGGLVQPGGSLRLSCAAS" * 2, "DIQMTQSPSSLSASVGDRVTITC" * 2
    >>> other = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSG"
    >>> clusters({"1ABC": [heavy, light], "2DEF": [heavy], "3GHI": [other]})
    {'1ABC': '1ABC', '2DEF': '1ABC', '3GHI': '3GHI'}
    """
    import scipy.sparse.csgraph

    targets = sorted(chains)
    sequences = sorted(set().union(*chains.values()))
    # Nodes of the graph are targets, then sequences.
    node_of = {sequence: len(targets) + i for i, sequence in enumerate(sequences)}
    edges = []
    for i, target in enumerate(targets):
        edges += [(i, node_of[sequence]) for sequence in chains[target]]
    one, other, containment = containments(sequences, list(map(sample, sequences)))
    pairs = np.column_stack([one, other])[containment >= ALIKE].tolist()
    for first, second in pairs + (aligned(sequences) if align else []):
        edges.append((len(targets) + first, len(targets) + second))
    n = len(targets) + len(sequences)
    graph = scipy.sparse.coo_array(
        (np.ones(len(edges)), np.array(edges, dtype=int).reshape(-1, 2).T), shape=(n, n)
    )
    _, component = scipy.sparse.csgraph.connected_components(graph, directed=False)
    name_of: dict[int, str] = {}
    return {
        target: name_of.setdefault(component[i], target)
        for i, target in enumerate(targets)
    }


def hold_out(cluster_of: Mapping[str, str], percent: float, seed: int) -> set[str]:
    """Targets of whole clusters, about `percent` of all, to validate on.

    At least one target is held out, and one is left to train on.

    Clusters are drawn at random; one that would make it more than wanted is passed over. With a
    target in each cluster it is the draw of `labels.split_by_target`. Raises ConfigError when all
    targets are in one cluster.
    """
    sizes = Counter(cluster_of.values())
    if len(sizes) < 2:
        raise ConfigError(
            f"all {len(cluster_of)} targets share chains with each other: none can be set aside "
            "for validation",
            remedy="give the labels a split, or set training.split_by: target",
        )
    wanted = max(1, min(len(cluster_of) - 1, round(len(cluster_of) * percent / 100)))
    drawn = sorted(sizes)
    random.Random(seed).shuffle(drawn)
    chosen = set()
    total = 0
    for name in drawn:
        if total + sizes[name] <= wanted:
            chosen.add(name)
            total += sizes[name]
    if not chosen:
        chosen = {min(drawn, key=sizes.__getitem__)}
    return {target for target, name in cluster_of.items() if name in chosen}


def deal_folds(cluster_of: Mapping[str, str], folds: int, seed: int) -> dict[str, int]:
    """A fold from 0 for each target.

    Whole clusters, the largest first, go where there are fewest targets.

    Raises ConfigError when there are fewer clusters than folds.
    """
    sizes = Counter(cluster_of.values())
    if len(sizes) < folds:
        raise ConfigError(
            f"{len(sizes)} clusters of targets that share chains cannot be dealt into {folds} "
            "folds",
            where="training.folds",
            remedy="ask for fewer folds, or label more targets",
        )
    drawn = sorted(sizes)
    random.Random(seed).shuffle(drawn)
    filled = [0] * folds
    fold_of = {}
    for name in sorted(drawn, key=sizes.__getitem__, reverse=True):
        fold_of[name] = filled.index(min(filled))
        filled[fold_of[name]] += sizes[name]
    return {target: fold_of[name] for target, name in cluster_of.items()}


class References(NamedTuple):
    """Chains to compare with. targets : those that each chain belongs to."""

    samples: list[Sample]
    targets: list[list[str]]


def references(chains: TargetSequences) -> References:
    """Return the different chains of these targets."""
    of_chain: dict[str, list[str]] = {}
    for target in sorted(chains):
        for sequence in chains[target]:
            of_chain.setdefault(sequence, []).append(target)
    sequences = sorted(of_chain)
    return References(
        samples=list(map(sample, sequences)),
        targets=[of_chain[sequence] for sequence in sequences],
    )


class Nearest(NamedTuple):
    """The target with the chain most like one of a query's: its name and the containment.

    `""` and 0 for none.
    """

    target: str
    containment: float


def nearest(chains: TargetSequences, known: References) -> dict[str, Nearest | None]:
    """Find the nearest target of the references for each query.

    Of equally near ones the query itself, if it is among them, otherwise the first by name.

    Parameters
    ----------
    chains : query → the sequences that are compared
    known : as from `references`

    Returns
    -------
    dict; None for a query that has no chain to compare
    """
    sequences = sorted(set().union(*chains.values()))
    # targets of the best alone: hits can be millions
    best: dict[str, tuple[float, set[str]]] = {}
    for i, j, containment in zip(*containments(sequences, known.samples), strict=True):
        value = round(float(containment), 4)
        best_value, targets = best.setdefault(sequences[i], (0.0, set()))
        if value > best_value:
            best[sequences[i]] = (value, set(known.targets[j]))
        elif value == best_value:
            targets.update(known.targets[j])
    nearest_of: dict[str, Nearest | None] = {}
    for query, of_query in chains.items():
        candidates = [best[sequence] for sequence in of_query if sequence in best]
        top = max((value for value, _ in candidates), default=0.0)
        names: set[str] = set()
        for value, targets in candidates:
            if value == top:
                names |= targets
        target = query if query in names else min(names, default="")
        nearest_of[query] = Nearest(target, top) if of_query else None
    return nearest_of
