"""The map of decoys: near each other where the network sees the same in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from toporank.report.results import Study, by_target
from toporank.scorer.embeddings import principal_places

FEWEST = 3
"""Decoys that make a map."""
AXES = 8
"""Principal axes: a map shows two, and t-SNE is made from all."""
STEPS = 999
"""Places along the longest axis of a map."""


def maps_for_script(study: Study) -> dict[str, Any]:
    """Places of decoys along the leading principal axes of their pooled vectors, for the page's script.

    In `all` the axes are those of some training decoys, if they are known, else of all decoys; in `each`, those of each
    target, by its place in `by_target`, if it has `FEWEST` decoys or more. Both hold i, places of decoys in their
    target, c, for each axis places along it, whole numbers from 0, and v, shares of variance in per cent: of either
    leading axis and of those of c together. `all` has t, places of targets, too; its c goes on with training decoys.
    Empty without vectors.
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
            each[str(t)] = {"i": decoy[own].tolist(), **_places(vectors[own])}
    whole = _places(vectors, study.training_vectors)
    return {"all": {"t": target.tolist(), "i": decoy.tolist(), **whole}, "each": each}


def _places(vectors: np.ndarray, training: Sequence[np.ndarray] = ()) -> dict[str, Any]:
    fitting = [vector for vector in training if len(vector) == vectors.shape[1]]
    others = np.array(fitting).reshape(len(fitting), vectors.shape[1])
    if len(others) >= FEWEST:
        learned, own, shares = principal_places(others, vectors, AXES)
    else:
        own, learned, shares = principal_places(vectors, others, AXES)
    both = np.concatenate([own, learned])
    both -= both.min(axis=0)
    columns = np.rint(STEPS * both / max(both.max(), 1e-9)).astype(int).T.tolist()
    shown = [column for k, column in enumerate(columns) if k < 2 or any(column)]
    return {"c": shown, "v": [round(100 * share) for share in (*shares[:2].tolist(), shares[: len(shown)].sum())]}
