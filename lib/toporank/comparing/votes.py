"""What the other decoys of a target say of each: what they share with it, and how good they are themselves."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from toporank.comparing.correspondence import Residue
from toporank.comparing.decoys import Contacts, Decoys
from toporank.structures.identity import ResidueId

ALIKE = 0.5
"""Similarity of decoys that have much the same interface."""
LEAST_QUALITY = 0.01
"""So that there is a vote where all are thought to be wrong."""


class Votes(NamedTuple):
    """Of n decoys of a target, (n,) each; nan for a decoy that is alone. Similarities are those of `compare`.

    consensus : mean similarity to the others. weighted : the same, weighted by the square of their quality. to_best :
    similarity to the decoy of the best quality, 1 for that one. nearest : largest similarity. alike : share of the
    others with a similarity above `ALIKE`.
    """

    consensus: np.ndarray
    weighted: np.ndarray
    to_best: np.ndarray
    nearest: np.ndarray
    alike: np.ndarray


def votes(similarities: Iterable[np.ndarray], quality: np.ndarray) -> Votes:
    """The votes for each decoy. similarities : to every decoy, (n,), of one decoy after another. quality : (n,)."""
    n, weight = len(quality), _weight(quality)
    found = np.full((len(Votes._fields), n), np.nan)
    best = int(weight.argmax()) if n else 0
    for i, similarity in enumerate(similarities if n > 1 else ()):
        others = np.arange(n) != i
        mine, their = similarity[others], weight[others]
        to_best = 1.0 if i == best else similarity[best]
        found[:, i] = mine.mean(), mine @ their / their.sum(), to_best, mine.max(), (mine > ALIKE).mean()
    return Votes(*found)


def similarities(contacts: Contacts) -> Iterable[np.ndarray]:
    """The similarity of each decoy to every decoy, (n,), as `compare` has it."""
    for i in range(len(contacts.sizes)):
        yield contacts.similarity(i, contacts.common(i))


def residue_agreement(decoys: Decoys, quality: np.ndarray) -> list[dict[str, float]]:
    """How far the other decoys agree with each on each residue that touches another partner, in [0, 1].

    The share of the others that have a contact, weighted by the square of their quality, is averaged over the contacts
    of the residue. A dictionary by what the decoy calls the residue, such as `A:52A`, for each decoy; empty ones for a
    decoy that is alone. quality : (n,).
    """
    if len(decoys.names) < 2:
        return [{} for _ in decoys.names]
    found, length = [], decoys.xyz.shape[1]
    for own, (pairs, shares) in zip(decoys.residues, decoys.contacts.shares(_weight(quality)), strict=True):
        n = np.bincount(pairs.ravel(), minlength=length)
        total = np.bincount(pairs.ravel(), np.repeat(shares, 2), minlength=length)
        touching = np.flatnonzero(n)
        means = (total[touching] / n[touching]).tolist()
        found.append({residue_named(own[r]): mean for r, mean in zip(touching.tolist(), means, strict=True)})
    return found


def contact_agreement(decoys: Decoys, quality: np.ndarray) -> list[dict[tuple[str, str], float]]:
    """The share of the other decoys that have a contact of each, weighted by the square of their quality, in [0, 1].

    A dictionary by what the decoy calls the two residues, in order of these names; empty ones for a decoy that is
    alone. quality : (n,).
    """
    if len(decoys.names) < 2:
        return [{} for _ in decoys.names]
    found = []
    for own, (pairs, shares) in zip(decoys.residues, decoys.contacts.shares(_weight(quality)), strict=True):
        names = {place: residue_named(own[place]) for place in np.unique(pairs).tolist()}
        ends = (pair_named(names[i], names[j]) for i, j in pairs.tolist())
        found.append(dict(zip(ends, shares.tolist(), strict=True)))
    return found


@functools.lru_cache(maxsize=1 << 16)
def residue_named(residue: Residue) -> str:
    """What a decoy calls a residue, such as `A:52A`; the decoys of a target have the same ones."""
    return str(ResidueId(*residue))


def pair_named(first: str, second: str) -> tuple[str, str]:
    """Two residues in the order of their names."""
    return (first, second) if first < second else (second, first)


def _weight(quality: np.ndarray) -> np.ndarray:
    return np.square(np.clip(quality, LEAST_QUALITY, 1.0))
