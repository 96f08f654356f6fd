"""What trees see of each decoy beside its descriptors: what networks say of it, and how it stands among the others."""

from __future__ import annotations

import numpy as np
import pandas as pd

STANDING = tuple(f"consensus{name}" for name in ("", "_mean", "_best", "_above_mean", "_of_best", "_rank"))
NETWORK = ("network", "network_above_mean")


def standing(target: np.ndarray, consensus: np.ndarray) -> dict[str, np.ndarray]:
    """Consensus of each decoy and of its target: six columns, float64, (n,); nan for a decoy that is alone.

    target : (n,). consensus : (n,), mean similarity to the other decoys of the target, nan where it is not known.
    """
    each = pd.Series(consensus, dtype=float)
    of_target = each.groupby(pd.Series(target).to_numpy())
    mean, best = of_target.transform("mean"), of_target.transform("max")
    columns = each, mean, best, each - mean, each / best.clip(lower=1e-3), of_target.rank(pct=True)
    alone = (of_target.transform("count") < 2).to_numpy()
    return {name: np.where(alone, np.nan, values.to_numpy()) for name, values in zip(STANDING, columns, strict=True)}


def network_inputs(target: np.ndarray, score: np.ndarray) -> dict[str, np.ndarray]:
    """The score of the networks, and how far it is above the mean of the target; (n,) each."""
    each = pd.Series(score, dtype=float)
    of_target = each.groupby(pd.Series(target).to_numpy())
    above = (each - of_target.transform("mean")).where(of_target.transform("count") > 1)
    return dict(zip(NETWORK, (each.to_numpy(), above.to_numpy()), strict=True))
