"""Checkpoints and packed graphs into scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from toporank.errors import CheckpointError
from toporank.features.registry import same
from toporank.model.scorer import check_fits, load_weights, predict
from toporank.pack import GraphStore

DECIMALS = 6
"""Of written scores: finer than single precision would be noise."""


def score_pack(checkpoint: Path, ensemble: list[Path], pack: Path) -> pd.DataFrame:
    """Score every graph of a pack: target, decoy, pred_dockq and pred_sd.

    checkpoint gives the score. pred_sd is the standard deviation over the checkpoints of `ensemble`, nan
    with fewer than two. Raises CheckpointError when a checkpoint was trained on other features than the
    graphs have.
    """
    store = GraphStore.open([pack])
    if len(store) == 0:
        return pd.DataFrame(columns=["target", "decoy", "pred_dockq", "pred_sd"])
    table = store.decoys[["target", "decoy"]].copy()
    table["pred_dockq"] = _scores(checkpoint, store)
    members = np.array([_scores(member, store) for member in ensemble])
    table["pred_sd"] = members.std(axis=0, ddof=1) if len(members) > 1 else np.nan
    return table.round({"pred_dockq": DECIMALS, "pred_sd": DECIMALS})


def _scores(checkpoint: Path, store: GraphStore) -> np.ndarray:
    """float64, shape (len(store),)."""
    network, description = load_weights(checkpoint)
    theirs, ours = description.get("features"), store.metadata.get("features")
    if not same(theirs, ours):
        different = sorted(
            k for k in {**(theirs or {}), **(ours or {})} if (theirs or {}).get(k) != (ours or {}).get(k)
        )
        raise CheckpointError(
            f"was trained on other features than these graphs have: {', '.join(different)} differ",
            where=checkpoint, remedy="build the graphs with the checkpoint's features",
        )  # fmt: skip
    check_fits(description, store, checkpoint)
    return predict(network, store).double().numpy()
