"""What the other decoys of a target say of each: what they share with it, and how good they are
themselves.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
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
    """Of n decoys of a target, (n,) each; nan for a decoy that is alone. Similarities are those of
    `compare`.

    consensus : mean similarity to the others. weighted : the same, weighted by the square of their
    quality. to_best : similarity to the decoy of the best quality, 1 for that one. nearest :
    largest similarity. alike : share of the others with a similarity above `ALIKE`.
    """

    consensus: np.ndarray
    weighted: np.ndarray
    to_best: np.ndarray
    nearest: np.ndarray
    alike: np.ndarray


def votes(similarities: Iterable[np.ndarray], quality: np.ndarray) -> Votes:
    """Let the decoys of a target vote for each other.

    Parameters
    ----------
    similarities : of one decoy after another, to every decoy, shape (n,)
    quality : estimated quality of each decoy, shape (n,)

    Returns
    -------
    Votes
    """
    n = len(quality)
    weight = _weight(quality)
    table = np.full((len(Votes._fields), n), np.nan)
    best = int(weight.argmax()) if n else 0
    for i, similarity in enumerate(similarities if n > 1 else ()):
        is_other = np.arange(n) != i
        to_others = similarity[is_other]
        weights = weight[is_other]
        table[:, i] = Votes(
            consensus=to_others.mean(),
            weighted=to_others @ weights / weights.sum(),
            to_best=1.0 if i == best else similarity[best],
            nearest=to_others.max(),
            alike=(to_others > ALIKE).mean(),
        )
    return Votes(*table)


def similarities(contacts: Contacts) -> Iterable[np.ndarray]:
    """The similarity of each decoy to every decoy, (n,), as `compare` has it."""
    for i in range(len(contacts.sizes)):
        yield contacts.similarity(i, contacts.common(i))


def residue_agreement(decoys: Decoys, quality: np.ndarray) -> list[dict[str, float]]:
    """How far the other decoys agree with each on each residue that touches another partner, in [0,
    1].

    The share of the others that have a contact, weighted by the square of their quality, is
    averaged over the contacts of the residue.

    Parameters
    ----------
    decoys : n decoys of a target
    quality : estimated quality of each, shape (n,)

    Returns
    -------
    for each decoy a dict by what it calls the residue, such as `A:52A`; empty for a decoy that is
    alone
    """
    agreement = []
    for names, pairs, shares in _shares(decoys, quality):
        n = np.bincount(pairs.ravel(), minlength=decoys.xyz.shape[1])
        total = np.bincount(pairs.ravel(), np.repeat(shares, 2), minlength=decoys.xyz.shape[1])
        residues = np.flatnonzero(n)
        means = (total[residues] / n[residues]).tolist()
        agreement.append(
            {names[residue]: mean for residue, mean in zip(residues.tolist(), means, strict=True)}
        )
    return agreement


def contact_agreement(decoys: Decoys, quality: np.ndarray) -> list[dict[tuple[str, str], float]]:
    """The share of the other decoys that have a contact of each, weighted by the square of their
    quality, in [0, 1].

    Parameters
    ----------
    decoys, quality : as for `residue_agreement`

    Returns
    -------
    for each decoy a dict by what it calls the two residues, in order of these names; empty for a
    decoy that is alone
    """
    agreement = []
    for names, pairs, shares in _shares(decoys, quality):
        of_decoy = {}
        for (first, second), share in zip(pairs.tolist(), shares.tolist(), strict=True):
            of_decoy[pair_named(names[first], names[second])] = share
        agreement.append(of_decoy)
    return agreement


def _shares(
    decoys: Decoys, quality: np.ndarray
) -> Iterator[tuple[dict[int, str], np.ndarray, np.ndarray]]:
    """Of each decoy the names of residues with contacts, its contacts, (P, 2), and the share of
    others with each.
    """
    no_contacts = np.zeros((0, 2), dtype=int), np.zeros(0)
    is_alone = len(decoys.names) < 2
    contacts = (
        [no_contacts] * len(decoys.names) if is_alone else decoys.contacts.shares(_weight(quality))
    )
    for residues, (pairs, shares) in zip(decoys.residues, contacts, strict=True):
        names = {place: residue_named(residues[place]) for place in np.unique(pairs).tolist()}
        yield names, pairs, shares


@functools.lru_cache(maxsize=1 << 16)
def residue_named(residue: Residue) -> str:
    """What a decoy calls a residue, such as `A:52A`; the decoys of a target have the same ones."""
    return str(ResidueId(*residue))


def pair_named(first: str, second: str) -> tuple[str, str]:
    """Two residues in the order of their names."""
    return (first, second) if first < second else (second, first)


def _weight(quality: np.ndarray) -> np.ndarray:
    return np.square(np.clip(quality, LEAST_QUALITY, 1.0))
