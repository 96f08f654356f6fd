"""What trees see of decoys beside their descriptors: what networks say, and what the other decoys of the target do."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from toporank.comparing.votes import Votes

RELATIVE = ("mean", "best", "above_mean", "deviations", "of_best", "rank")
VOTES = (*Votes._fields, *(f"consensus_{name}" for name in RELATIVE))
ABOVE = "_above_mean"
"""Ends the name of what is meant relative to the other decoys of a target."""
AGREEING = "agreeing"
"""How many of the others agree with a decoy of a target, on average: mean consensus × (n - 1)."""
SAID = ("network", "local")
NETWORK = (*SAID, *(f"{name}{ABOVE}" for name in SAID))
LEAST = 1e-3
DEVIATION = 0.01
"""Added to the standard deviation of the consensus within a target, so that differences of nothing stay small."""


def vote_inputs(votes: Votes) -> dict[str, np.ndarray]:
    """The votes for the decoys of one target, their consensus beside that of the others, and `AGREEING`: (n,) each."""
    consensus = votes.consensus
    if np.isnan(consensus).any():
        return dict.fromkeys((*VOTES, AGREEING), np.full(len(consensus), np.nan))
    mean, best = consensus.mean(), max(consensus.max(), LEAST)
    ordered = np.sort(consensus)
    rank = (np.searchsorted(ordered, consensus) + np.searchsorted(ordered, consensus, side="right") + 1) / 2
    above = consensus - mean
    deviations = above / (consensus.std() + DEVIATION)
    each = np.full(len(consensus), mean), np.full(len(consensus), best), above, deviations, consensus / best
    agreeing = np.full(len(consensus), mean * (len(consensus) - 1))
    return dict(zip((*VOTES, AGREEING), (*votes, *each, rank / len(consensus), agreeing), strict=True))


def relative(columns: dict[str, np.ndarray], targets: Iterable[np.ndarray]) -> dict[str, np.ndarray]:
    """How far each value is above the mean of those known of its target, unknown for a decoy that is alone: (n,) each.

    columns : (n,), nan where unknown. targets : the places of the decoys of each.
    """
    values = np.array([*columns.values()])
    above = np.full(values.shape, np.nan)
    for places in targets:
        if len(places) > 1:
            here = values[:, places]
            known = ~np.isnan(here)
            total = np.where(known, here, 0.0).sum(axis=1, keepdims=True)
            above[:, places] = here - total / np.maximum(known.sum(axis=1, keepdims=True), 1)
    return {f"{name}{ABOVE}": row for name, row in zip(columns, above, strict=True)}


def joined(rows: Iterable[tuple[np.ndarray, dict[str, np.ndarray]]], n: int) -> dict[str, np.ndarray]:
    """Columns of n decoys from those of targets, each with the places of its decoys."""
    found: dict[str, np.ndarray] = {}
    for places, columns in rows:
        for name, values in columns.items():
            found.setdefault(name, np.full(n, np.nan))[places] = values
    return found
