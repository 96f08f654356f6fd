"""The map of decoys: near each other where the network sees the same in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from toporank.evaluation.embeddings import principal_plane
from toporank.report.results import Study, by_target

FEWEST = 3
"""Decoys that make a map."""
STEPS = 999
"""Places along either axis of a map."""


def maps_for_script(study: Study) -> dict[str, Any]:
    """Places of decoys along the two leading principal axes of their pooled vectors, for the page's script.

    In `all` the axes are those of some training decoys, if they are known, else of all decoys; in `each`, those of each
    target, by its place in `by_target`, if it has `FEWEST` decoys or more. Both hold x and y as whole numbers up to
    `STEPS`, i, places of decoys in their target, and v, the shares of variance in per cent; `all` has t, places of
    targets, and X and Y, those of training decoys, too. Empty without vectors.
    """
    found = [
        (t, i, study.vectors.get(row.dataset, {}).get((row.target, row.decoy)))
        for t, (_, rows) in enumerate(by_target(study.decoys))
        for i, row in enumerate(rows)
    ]
    found = [(t, i, vector) for t, i, vector in found if vector is not None]
    if len(found) < FEWEST:
        return {}
    target, decoy = np.array([[t, i] for t, i, _ in found]).T
    vectors = np.array([vector for *_, vector in found])
    each = {}
    for t in np.unique(target):
        own = np.flatnonzero(target == t)
        if len(own) >= FEWEST:
            each[str(t)] = {"i": decoy[own].tolist(), **_plane(vectors[own])}
    return {"all": {"t": target.tolist(), "i": decoy.tolist(), **_plane(vectors, study.training_vectors)}, "each": each}


def _plane(vectors: np.ndarray, training: Sequence[np.ndarray] = ()) -> dict[str, Any]:
    others = np.array(training).reshape(len(training), vectors.shape[1])
    if len(others) >= FEWEST:
        learned, own, shares = principal_plane(others, vectors)
    else:
        own, learned, shares = principal_plane(vectors, others)
    both = np.concatenate([own, learned])
    low, span = both.min(axis=0), max(float(np.ptp(both, axis=0).max()), 1e-9)
    x, y = np.rint(STEPS * (both - low) / span).astype(int).T.tolist()
    n, more = len(own), {}
    if len(learned):
        more = {"X": x[n:], "Y": y[n:]}
    return {"x": x[:n], "y": y[:n], **more, "v": [round(100 * share) for share in shares.tolist()]}
