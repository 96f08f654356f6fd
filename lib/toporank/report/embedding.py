"""The map of decoys: near each other where the network sees the same in them."""

from __future__ import annotations

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

    In `all` the axes are those of all decoys; in `each`, those of each target, by its place in `by_target`, if it has
    `FEWEST` decoys or more. Both hold x and y as whole numbers up to `STEPS`, and v the shares of variance in per cent.
    `all` has t and i, places of the target and of the decoy in it; `each` has i. Empty without vectors.
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
    return {"all": {"t": target.tolist(), "i": decoy.tolist(), **_plane(vectors)}, "each": each}


def _plane(vectors: np.ndarray) -> dict[str, Any]:
    places, shares = principal_plane(vectors)
    low, span = places.min(axis=0), max(float(np.ptp(places, axis=0).max()), 1e-9)
    x, y = np.rint(STEPS * (places - low) / span).astype(int).T.tolist()
    return {"x": x, "y": y, "v": [round(100 * share) for share in shares.tolist()]}
