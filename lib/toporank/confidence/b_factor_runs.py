"""A chain recognised by its B factors in another model, though it was cut, split or renamed.

Of the runs of residues in a row those whose numbers have the smallest hashes are kept. Where they
lie does not depend on where the chain begins and ends, so most parts of a chain have one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from toporank.metrics import Floats

LENGTH = 20
"""Residues of a run; of a shorter chain all."""
MOST = 3
"""Runs that are kept of a chain."""
FEWEST_VALUES = 5
"""Different values of a run by which it is recognised."""
FACTORS = np.array(
    [pow(0x9E3779B97F4A7C15, n, 1 << 64) for n in range(1, LENGTH + 1)], dtype=np.uint64
)
"""Of the values of a run; the hash is the sum."""


def runs_of(values: Floats) -> dict[int, int]:
    """Return the hash of each run of a chain → place of its first residue.

    values : B factors of the residues of the chain, shape (R,); hundredths count
    """
    whole = np.rint(values * 100).astype(np.int64)
    length = min(LENGTH, len(whole))
    if length < FEWEST_VALUES:
        return {}
    runs = np.lib.stride_tricks.sliding_window_view(whole, length)
    changes = np.diff(np.sort(runs, axis=1), axis=1) != 0
    starts = np.flatnonzero(changes.sum(axis=1) >= FEWEST_VALUES - 1)
    hashes = (runs[starts].astype(np.uint64) * FACTORS[:length]).sum(axis=1)
    found = {}
    for i in np.argsort(hashes, kind="stable")[:MOST].tolist():
        found[int(hashes[i])] = int(starts[i])
    return found


def same_chains(chains: Iterable[tuple[int, ...]]) -> dict[int, int]:
    """Return run → the smallest run of all chains that share one with its own, over others too.

    chains : the runs of each
    """
    above: dict[int, int] = {}

    def top(run: int) -> int:
        while above.setdefault(run, run) != run:
            above[run] = above[above[run]]
            run = above[run]
        return run

    for runs in chains:
        for run in runs:
            first, second = sorted((top(runs[0]), top(run)))
            above[second] = first
    return {run: top(run) for run in [*above]}


def shift_of(first: Mapping[int, int], second: Mapping[int, int]) -> int | None:
    """Return how many places later the residues of a chain lie in another; None if not the same."""
    for run, place in first.items():
        if run in second:
            return second[run] - place
    return None
