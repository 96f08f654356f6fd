"""What a scorer says of a decoy: its score, the quality of its residues, and how far to trust them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

DECIMALS = 7
"""Decimals of written scores; more would be single-precision noise."""
QUALITY_DECIMALS = 4
"""Of the quality of residues and what it is made of."""


CONTACT_KINDS = ("salt bridge", "hydrogen bond", "apolar", "other")
"""What holds two residues in contact together: the first of these that they have."""
CONTACTS = np.dtype([
    ("first", "<u4"), ("second", "<u4"), ("distance", "<f4"), ("kind", "u1"),
    ("pred_network", "<f4"), ("agreement", "<f4"), ("pred_quality", "<f4"),
])  # fmt: skip
"""A contact of a decoy: places of two residues among those of its score, Å between their nearest heavy atoms, place in
`CONTACT_KINDS`, local quality that networks predict, share of the other decoys that have it, nan where unknown, and
how good all that makes it, `scorer.residue_quality`."""


class ResidueScore(NamedTuple):
    """How good an interface residue is thought to be, in [0, 1] or None where it is not known.

    name : such as `A:52A`. pred_network : mean local quality of its contacts that networks predict. agreement : how
    far the other decoys of the target agree, `comparing.votes.residue_agreement`. residue_name : of the amino acid
    that it counts as, such as `MET`, also for `MSE`; `UNK` for others, empty where it is not known. pred_quality : of
    all that, `scorer.residue_quality`.
    """

    name: str
    pred_network: float | None
    agreement: float | None = None
    residue_name: str = ""
    pred_quality: float | None = None


class Score(NamedTuple):
    """Predicted DockQ of a decoy, or of one of its interfaces, and its standard deviation over an ensemble, if any.

    pred_network : what the networks alone predict, where trees have the last word (`scorer.combine`). pred_local :
    mean local quality of its contacts that they predict, if they do. pooled : what the head of the checkpoint's network
    sees of it. residues : of the graph of a decoy, where networks predict local quality. pred_structure,
    pred_confidence : by the structure alone, and what its predictor's confidence speaks for, where `scorer.weigh` has
    joined them. contacts : of a decoy, an array of `CONTACTS` as bytes, which are small and can be compared.
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
    pred_structure: float | None = None
    pred_confidence: float | None = None
    contacts: bytes = b""


class Estimate(NamedTuple):
    """How far to trust the score of a decoy: bounds of its DockQ, why it is out of domain, empty if it is not, and the
    DockQ to expect and the probability that it is acceptable or better, None where the calibration does not know them.
    """

    pred_low: float
    pred_high: float
    domain: str
    expected_dockq: float | None = None
    p_acceptable: float | None = None
