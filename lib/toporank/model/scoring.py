"""Checkpoints and packed graphs into scores."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.errors import CheckpointError
from toporank.evaluation.selection import MEMBERS
from toporank.features.registry import same_features
from toporank.graphs.pack import GraphStore
from toporank.model import topoqa
from toporank.model.scorer import check_fits, load_weights, predict

DECIMALS = 7
"""Of written scores: finer would be noise of single precision."""


def read_ensemble(folder: Path) -> tuple[list[Path], bool]:
    """The checkpoints of a folder, and whether the score is their mean, as `selection.write_ensemble` left it."""
    members = folder / MEMBERS
    mean = members.exists() and json.loads(members.read_text())["score"] == "mean"
    return sorted(folder.glob("*.ckpt")), mean


def score_pack(checkpoint: Path, ensemble: list[Path], pack: Path, *, mean: bool = False) -> pd.DataFrame:
    """Score every graph of a pack: target, decoy, pred_dockq and pred_sd.

    checkpoint gives the score or, with `mean`, the checkpoints of `ensemble` together. pred_sd is the standard
    deviation over those of `ensemble`, nan with fewer than two. Raises CheckpointError when a checkpoint was
    trained on other features than the graphs have.
    """
    store = GraphStore.open([pack])
    if len(store) == 0:
        return pd.DataFrame(columns=["target", "decoy", "pred_dockq", "pred_sd"])
    table = store.decoys[["target", "decoy"]].copy()
    members = np.array([_scores(member, store) for member in ensemble])
    table["pred_dockq"] = members.mean(axis=0) if mean else _scores(checkpoint, store)
    table["pred_sd"] = members.std(axis=0, ddof=1) if len(members) > 1 else np.nan
    return table.round({"pred_dockq": DECIMALS, "pred_sd": DECIMALS})


def _scores(checkpoint: Path, store: GraphStore) -> np.ndarray:
    """float64, shape (len(store),)."""
    network, description = load_weights(checkpoint)
    theirs, ours = description.get("features"), store.metadata.get("features")
    if not same_features(theirs, ours):
        different = sorted(
            k for k in {**(theirs or {}), **(ours or {})} if (theirs or {}).get(k) != (ours or {}).get(k)
        )
        raise CheckpointError(
            f"was trained on other features than these graphs have: {', '.join(different)} differ",
            where=checkpoint, remedy="build the graphs with the checkpoint's features",
        )  # fmt: skip
    check_fits(description, store, checkpoint)
    if description.get("origin") == topoqa.ORIGIN:
        from toporank.model.pyg_network import PlainNetwork  # with PyTorch Geometric, which takes seconds to import

        network = PlainNetwork.of(network).eval()
    return predict(network, store).double().numpy()
