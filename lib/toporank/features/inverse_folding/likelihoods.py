"""What ProteinMPNN says of the interface of a model: of each residue, and in numbers for the whole model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from toporank.features.inverse_folding.backbone import LETTERS, Backbone, backbone
from toporank.features.inverse_folding.forward import Seen, seen
from toporank.features.inverse_folding.parameters import Weights, read_weights
from toporank.structures.complex import Complex
from toporank.structures.neighbours import PAIRS_AT_ONCE, pairs_between_groups

CONTACT = 5.0
"""Å between heavy atoms of two partners below which their residues are in contact, and interface residues."""
AROUND = 15.0
"""Å between CA atoms. Residues farther from every interface residue are left out: they hardly change its numbers."""
CORE = 3
"""Residues of other partners that a residue of the core is in contact with, at least."""
TENTH = 0.1


class Folding(NamedTuple):
    """What the network says of the m interface residues that it can judge: standard, and with all backbone atoms.

    residue : int, (m,), in the complex. body : int, (m,), its partner. contacts : int, (m,), residues of other partners
    in contact. together, apart : float64, (m,), natural logarithm of the probability of the residue's own amino acid,
    given the backbone of the complex, and of its partner alone. rank : int, (m,), how many amino acids are more
    probable in the complex. entropy_together, entropy_apart : float64, (m,), of the 20 amino acids, in nats.
    embedding : float32, (m, 2 `WIDTH`), of the encoder in the complex, and its difference to that in the partner alone;
    None where it is not known.
    """

    residue: np.ndarray
    body: np.ndarray
    contacts: np.ndarray
    together: np.ndarray
    apart: np.ndarray
    rank: np.ndarray
    entropy_together: np.ndarray
    entropy_apart: np.ndarray
    embedding: np.ndarray | None = None

    @property
    def gain(self) -> np.ndarray:
        """How much likelier the complex makes each residue's own amino acid; float64, (m,), nats."""
        return self.together - self.apart


def folding(
    complex_: Complex, weights: Weights | None = None, around: float = AROUND, residues: np.ndarray | None = None
) -> Folding:
    """What the network says of the interface residues of a complex, whose partners count as they are given.

    weights : by default those of the installed package. around : Å, see `AROUND`; inf keeps the whole complex.
    residues : int, (N,), the residues to judge; by default those in contact with another partner.
    Where no partners touch, it returns no residue. Raises ConfigError when the weights are missing or damaged.
    """
    weights = weights or read_weights()
    count = contacts(complex_)
    whole = backbone(complex_)
    asked = count[whole.residue] > 0 if residues is None else np.isin(whole.residue, residues)
    judged = asked & (whole.letter < LETTERS.index("X"))
    near = near_any(whole.xyz[:, 1], whole.xyz[judged, 1], around)
    part, interface = whole.part(near), np.flatnonzero(judged[near])
    together = seen(part, weights, interface)
    apart = Seen(*map(np.zeros_like, together))
    for body in np.unique(part.body[interface]):
        members = np.flatnonzero(part.body == body)
        own = part.body[interface] == body
        alone = seen(part.part(members), weights, np.searchsorted(members, interface[own]))
        for values, of_body in zip(apart, alone, strict=True):
            values[own] = of_body
    found = _folding(part.part(interface), count, together.log_probabilities, apart.log_probabilities)
    return found._replace(embedding=np.hstack([together.embedding, together.embedding - apart.embedding]))


def _folding(interface: Backbone, count: np.ndarray, together: np.ndarray, apart: np.ndarray) -> Folding:
    every = np.arange(len(interface.letter))
    of_own = together[every, interface.letter]
    return Folding(
        residue=interface.residue,
        body=interface.body,
        contacts=count[interface.residue],
        together=of_own.astype(np.float64),
        apart=apart[every, interface.letter].astype(np.float64),
        rank=(together > of_own[:, None]).sum(axis=1),
        entropy_together=entropy(together),
        entropy_apart=entropy(apart),
    )


def contacts(complex_: Complex) -> np.ndarray:
    """How many residues of other partners each residue is in contact with; int, (R,)."""
    heavy = complex_.without_hydrogens()
    counts = heavy.is_protein & (heavy.body_of >= 0)
    atoms = np.flatnonzero(counts[heavy.residue_of])
    residue = heavy.residue_of[atoms]
    pairs, _ = pairs_between_groups(heavy.xyz[atoms], heavy.body_of[residue], CONTACT)
    touching = np.unique(residue[pairs], axis=0)
    return np.bincount(touching.ravel(), minlength=len(complex_.residues))


def near_any(points: np.ndarray, centres: np.ndarray, cutoff: float) -> np.ndarray:
    """Which points are within a distance, Å, of any of the centres; bool, (n,).

    points : float64, (n, 3). centres : float64, (m, 3).
    """
    near, rows = np.zeros(len(points), dtype=bool), max(1, PAIRS_AT_ONCE // max(1, len(centres)))
    for i in range(0, len(points), rows):
        squares = ((points[i : i + rows, None] - centres) ** 2).sum(axis=2)
        near[i : i + rows] = (squares <= cutoff**2).any(axis=1)
    return near


def entropy(log_probability: np.ndarray) -> np.ndarray:
    """Of the 20 standard amino acids, in nats; float64, (m,). log_probability : (m, 21), the last one of X."""
    twenty = log_probability[:, :20].astype(np.float64)
    twenty -= np.log(np.exp(twenty).sum(axis=1, keepdims=True))
    return -(np.exp(twenty) * twenty).sum(axis=1)


def measures(residues: Folding) -> dict[str, float]:
    """Numbers for the whole model, in nats except counts and shares.

    Without residues, counts and sums are 0 and means are NaN. The names begin with what is taken of each residue:

    gain : how much likelier the complex makes its own amino acid. together, apart : the log-probability of its own
    amino acid in the complex, and in its partner alone. recovery : whether its own amino acid is the most probable one.
    rank : how many are more probable. surprise : minus the log-probability, less the entropy, its expected value.
    sharpening : by how much the complex lowers the entropy.

    They end with how these become one number: `_mean` over residues, `_contacts` over contacts, `_core` over residues
    with `CORE` contacts or more, `_lowest` and `_highest` over the tenth with the lowest or highest values; `_sum`;
    `_root`, the sum over the square root of the number; `_worse_side` and `_sum_worse_side`, the least mean or sum of
    a partner; `_share`, the share of residues where it is positive.
    """
    gain, together = residues.gain, residues.together
    lowered = residues.entropy_apart - residues.entropy_together
    return {
        "interface_residues": float(len(gain)),
        "gain_sum": float(gain.sum()),
        "gain_root": float(gain.sum() / np.sqrt(max(len(gain), 1))),
        "gain_sum_worse_side": min((gain[side].sum() for side in _sides(residues)), default=0.0),
        "gain_share": _mean((gain > 0).astype(float)),
        **_means("gain", gain, residues),
        **_means("together", together, residues),
        **_extremes("gain", gain),
        **_extremes("together", together),
        "apart_mean": _mean(residues.apart),
        "recovery": _mean((residues.rank == 0).astype(float)),
        "rank_mean": _mean(residues.rank.astype(float)),
        "surprise_mean": _mean(-together - residues.entropy_together),
        "sharpening_sum": float(lowered.sum()),
        "sharpening_mean": _mean(lowered),
        "entropy_together_mean": _mean(residues.entropy_together),
    }


def _means(name: str, values: np.ndarray, residues: Folding) -> dict[str, float]:
    """Means over residues, contacts, the core, and the partner where it is least. values : float64, (m,)."""
    return {
        f"{name}_mean": _mean(values),
        f"{name}_contacts": _mean(values, residues.contacts),
        f"{name}_core": _mean(values[residues.contacts >= CORE]),
        f"{name}_worse_side": min((_mean(values[side]) for side in _sides(residues)), default=np.nan),
    }


def _extremes(name: str, values: np.ndarray) -> dict[str, float]:
    """Means over the lowest and the highest tenth, of one value at least. values : float64, (m,)."""
    count, rising = max(1, round(TENTH * len(values))), np.sort(values)
    return {f"{name}_lowest": _mean(rising[:count]), f"{name}_highest": _mean(rising[-count:])}


def _sides(residues: Folding) -> list[np.ndarray]:
    """Which residues each partner with an interface has; bool, (m,)."""
    return [residues.body == body for body in np.unique(residues.body)]


def _mean(values: np.ndarray, weight: np.ndarray | None = None) -> float:
    return float(np.average(values, weights=weight)) if len(values) else np.nan
