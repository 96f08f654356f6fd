"""What trees see of decoys beside their descriptors: what networks say, and what the other decoys of the target do."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from toporank.comparison.votes import Votes

RELATIVE = ("mean", "best", "above_mean", "deviations", "of_best", "rank")
VOTES = (*Votes._fields, *(f"consensus_{name}" for name in RELATIVE))
NETWORK = ("network", "network_above_mean", "local", "local_above_mean")
LEAST = 1e-3
DEVIATION = 0.01
"""Added to the standard deviation of the consensus within a target, so that differences of nothing stay small."""


def vote_inputs(votes: Votes) -> dict[str, np.ndarray]:
    """The votes for the decoys of one target, and their consensus beside that of the others: (n,) each."""
    consensus = votes.consensus
    if np.isnan(consensus).any():
        return dict.fromkeys(VOTES, np.full(len(consensus), np.nan))
    mean, best = consensus.mean(), max(consensus.max(), LEAST)
    ordered = np.sort(consensus)
    rank = (np.searchsorted(ordered, consensus) + np.searchsorted(ordered, consensus, side="right") + 1) / 2
    above = consensus - mean
    deviations = above / (consensus.std() + DEVIATION)
    each = np.full(len(consensus), mean), np.full(len(consensus), best), above, deviations, consensus / best
    return dict(zip(VOTES, (*votes, *each, rank / len(consensus)), strict=True))


def network_inputs(score: np.ndarray, local: np.ndarray) -> dict[str, np.ndarray]:
    """What networks say of the decoys of one target, and how far it is above their mean: (n,) each."""
    alone = len(score) < 2
    above = [np.full(len(each), np.nan) if alone else each - each.mean() for each in (score, local)]
    return dict(zip(NETWORK, (score, above[0], local, above[1]), strict=True))


def joined(rows: Iterable[tuple[np.ndarray, dict[str, np.ndarray]]], n: int) -> dict[str, np.ndarray]:
    """Columns of n decoys from those of targets, each with the places of its decoys."""
    found: dict[str, np.ndarray] = {}
    for places, columns in rows:
        for name, values in columns.items():
            found.setdefault(name, np.full(n, np.nan))[places] = values
    return found
