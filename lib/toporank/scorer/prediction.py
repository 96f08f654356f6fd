"""What a scorer predicts of a decoy: its score, and how far to trust it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

LEVEL = 0.8
"""Share of models whose DockQ lies within the bounds of their estimate."""
DECIMALS = 7
"""Decimals of written scores; more would be single-precision noise."""
QUALITY_DECIMALS = 4
"""Of the quality of residues and what it is made of."""
KEY = ["target", "decoy"]
RESIDUES = {"target": str, "decoy": str, "residue": str, "pred_network": float}
"""Columns of a table of residues.

residue : name, such as `A:52A`. pred_network : mean quality of its contacts that networks predict,
in [0, 1], nan where it has none. `residue_quality.with_quality` adds
residue_name, of the amino acid that it counts as, such as `MET`, also for `MSE`; agreement, how far
the other decoys agree (`comparing.votes.residue_agreement`); and pred_quality, made of all that.
"""
CONTACTS = {
    "target": str,
    "decoy": str,
    "first": str,
    "second": str,
    "distance": np.float32,
    "type": str,
    "pred_network": np.float32,
}
"""Columns of a table of contacts.

first, second : names of the residues. distance : Å between their nearest heavy atoms. type : what
holds them together. pred_network : quality that networks predict. `residue_quality.with_quality`
adds agreement, the share of the other decoys that have the contact, nan where unknown, and
pred_quality.
"""


class Score(NamedTuple):
    """How good a decoy, or one of its interfaces, is predicted to be.

    Attributes
    ----------
    target, decoy : its names
    pred_dockq : the DockQ to expect of it (`scorer.judge`), or the mean of the networks where the
        scorer has no judge
    pred_sd : standard deviation over the networks, None for fewer than two
    interface : its partners, such as `A:B`; empty for a whole decoy
    pred_network : mean DockQ that the networks predict
    pred_local : mean local quality of its contacts that they predict, if they do
    pooled : what the head of the checkpoint's network sees of it
    consensus : mean similarity to the other decoys of the target, None without others
    pred_confidence : DockQ by the confidence of its predictor, None where nothing is known
    kind : of complex, see `complex_kinds`; empty where nobody looked
    is_first : whether the program that made and ranked all models of the target has it first
    """

    target: str
    decoy: str
    pred_dockq: float
    pred_sd: float | None
    interface: str = ""
    pred_network: float | None = None
    pred_local: float | None = None
    pooled: tuple[float, ...] = ()
    consensus: float | None = None
    pred_confidence: float | None = None
    kind: str = ""
    is_first: bool = False


def table_of(columns: dict[str, type], **values: object) -> pd.DataFrame:
    """Return a table of `RESIDUES` or `CONTACTS`; empty without values."""
    return pd.DataFrame(values, columns=list(columns)).astype(columns)


class Predictions(NamedTuple):
    """What the networks of a scorer predict.

    Attributes
    ----------
    scores : of every graph
    residues : table of `RESIDUES`, one row for each node of the graphs of decoys
    contacts : table of `CONTACTS`, one row for each two residues that touch
    """

    scores: list[Score]
    residues: pd.DataFrame
    contacts: pd.DataFrame


NOTHING = Predictions(
    scores=[], residues=table_of(RESIDUES), contacts=table_of(CONTACTS)
)
"""Predictions without any graph."""


class Estimate(NamedTuple):
    """How far to trust the score of a decoy.

    Attributes
    ----------
    low, high : bounds that hold its DockQ with a probability of `LEVEL`
    domain : why it is unlike the training decoys, in words; empty if it is like them
    dockq : the DockQ to expect of it; inside a target it falls with the rank
    p_acceptable : probability of a DockQ of 0.23 or more
    kind : of complex
    unknown_kind : the same where training lacks it; else empty
    """

    low: float
    high: float
    domain: str
    dockq: float | None = None
    p_acceptable: float | None = None
    kind: str = ""
    unknown_kind: str = ""
