"""What a scorer says of a decoy: its score, the quality of its residues, and how far to trust
them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEVEL = 0.8
"""Share of models whose DockQ lies within the bounds of their estimate."""
DECIMALS = 7
"""Decimals of written scores; more would be single-precision noise."""
QUALITY_DECIMALS = 4
"""Of the quality of residues and what it is made of."""


CONTACT_KINDS = ("salt bridge", "hydrogen bond", "apolar", "other")
"""What holds two residues in contact together: the first of these that they have."""
CONTACTS = np.dtype(
    [
        ("first", "<u4"),
        ("second", "<u4"),
        ("distance", "<f4"),
        ("kind", "u1"),
        ("pred_network", "<f4"),
        ("agreement", "<f4"),
        ("pred_quality", "<f4"),
    ]
)
"""A contact of a decoy: places of two residues among those of its score, Å between their nearest
heavy atoms, place in `CONTACT_KINDS`, local quality that networks predict, share of the other
decoys that have it, nan where unknown, and how good all that makes it, `scorer.residue_quality`.
"""


class ResidueScore(NamedTuple):
    """How good an interface residue is thought to be, in [0, 1] or None where it is not known.

    name : such as `A:52A`. pred_network : mean local quality of its contacts that networks predict.
    agreement : how far the other decoys of the target agree, `comparing.votes.residue_agreement`.
    residue_name : of the amino acid that it counts as, such as `MET`, also for `MSE`; `UNK` for
    others, empty where it is not known. pred_quality : of all that, `scorer.residue_quality`.
    """

    name: str
    pred_network: float | None
    agreement: float | None = None
    residue_name: str = ""
    pred_quality: float | None = None


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
    residues : of the graph of a decoy, where networks predict local quality
    consensus : mean similarity to the other decoys of the target, None without others
    pred_confidence : DockQ by the confidence of its predictor, None where nothing is known
    contacts : of a decoy, an array of `CONTACTS` as bytes, which are small and can be compared
    """

    target: str
    decoy: str
    pred_dockq: float
    pred_sd: float | None
    interface: str = ""
    pred_network: float | None = None
    pred_local: float | None = None
    pooled: tuple[float, ...] = ()
    residues: tuple[ResidueScore, ...] = ()
    consensus: float | None = None
    pred_confidence: float | None = None
    contacts: bytes = b""


class Estimate(NamedTuple):
    """How far to trust the score of a decoy.

    Attributes
    ----------
    low, high : bounds that hold its DockQ with a probability of `LEVEL`
    domain : why it is unlike the training decoys, in words; empty if it is like them
    dockq : the DockQ to expect of it; inside a target it falls with the rank
    p_acceptable : probability of a DockQ of 0.23 or more
    """

    low: float
    high: float
    domain: str
    dockq: float | None = None
    p_acceptable: float | None = None
