"""How good each residue and each contact of a model is: by networks, by the other models, and by
how much touches.

Networks judge contacts. A contact is right where the native has it; a residue, where it keeps at
least half of the contacts that it has there. How many residues a residue touches, and how near two
come, says much about that: what holds on to little is soon elsewhere. Logistic curves join what is
known to probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from toporank.comparing.contacts import TOUCHING
from toporank.comparing.correspondence import Trace
from toporank.comparing.decoys import Compared, Decoys, read_decoys
from toporank.comparing.votes import contact_agreement, pair_named, residue_agreement, residue_named
from toporank.scorer.curves import Curve, Floats, fit_curve
from toporank.scorer.prediction import CONTACTS, QUALITY_DECIMALS, ResidueScore, Score
from toporank.settings import Section
from toporank.structures.complex import STANDARD

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "UNK"
"""Name of a residue that counts as no standard amino acid."""
_NAMES = {letter: name for name, letter in STANDARD.items()}
LEAST = 0.01
"""Quality that networks give at least, and one less this at most: beyond, they are not that sure.
"""
AGREEMENT = "agreement"
MEASURES = {
    "residues": ("network", "touched", "decoy", AGREEMENT),
    "contacts": ("network", "nearness", "decoy", AGREEMENT),
}
"""What the curves know: as from `measures`."""

Key = tuple[str, str]
"""Target and decoy."""


class Curves(Section):
    """Probability that something is right, in a decoy that is alone and in one among others, by
    what is known of it.
    """

    alone: Curve
    among: Curve

    def __call__(self, known: Mapping[str, Floats]) -> Floats:
        """(n,), by the measures of n residues or contacts; without an agreement, nan, a decoy is
        alone.
        """
        return np.where(np.isnan(known[AGREEMENT]), self.alone(known), self.among(known))


class Quality(Section):
    """Curves of residues and contacts.

    residues : how probable it is that a residue keeps at least half of its contacts in the native.
    contacts : that the native has a contact.
    """

    residues: Curves
    contacts: Curves


def measures(
    network: Floats,
    agreement: Floats,
    decoy: Floats | float,
    touched: Floats | float = np.nan,
    distance: Floats | float = np.nan,
) -> dict[str, Floats]:
    """What curves take, by name, (n,) each.

    network : quality that networks give, in [0, 1]; of it the logarithm of its odds. agreement : of
    the other decoys, nan without. decoy : its score. touched : by a residue, how many; of it log(1
    + touched). distance : between the residues of a contact, Å; `nearness` is what it lacks to
    `TOUCHING`.
    """
    sure = np.clip(network, LEAST, 1 - LEAST)
    nearness = np.maximum(TOUCHING - np.asarray(distance, dtype=float), 0.0)
    known = {"network": np.log(sure / (1 - sure)), AGREEMENT: agreement, "decoy": decoy}
    known |= {"touched": np.log1p(touched), "nearness": nearness}
    return {
        name: np.broadcast_to(values, np.shape(network)).astype(float)
        for name, values in known.items()
    }


# ---- of the decoys of a target -------------------------------------------------------------------


def with_agreement(
    scores: Iterable[Score],
    contacts: Callable[[Key], Compared],
    copy_of: Mapping[Key, str],
    quality: Quality | None = None,
) -> list[Score]:
    """The scores with the agreement of the other decoys on residues and contacts, their quality,
    and names.

    A residue that touches no other partner counts as the mean of those of its decoy that do, so
    that all mean the same; one that networks say nothing about has no value. Decoys vote by their
    scores, copies once; copies have the values of their originals. quality : of the scorer; without
    it, quality is the mean of network and agreement. scores : by target. contacts : (target, decoy)
    → what it is compared by. copy_of : (target, decoy) → the decoy that it is a copy of.
    """
    found = []
    for target, own in groupby(scores, key=attrgetter("target")):
        rows = list(own)
        scored = {row.decoy: row.pred_dockq for row in rows if row.residues}
        first = {decoy: copy_of.get((target, decoy)) for decoy in scored}
        voting = {decoy: dockq for decoy, dockq in scored.items() if first[decoy] not in scored}
        known = _known(voting, read_decoys(contacts((target, decoy)) for decoy in voting))
        for row in rows:
            of_row = (
                known[row.decoy if row.decoy in known else first[row.decoy]]
                if row.residues
                else None
            )
            found.append(graded(_agreed(row, of_row), quality) if of_row else row)
    return found


class _Known(NamedTuple):
    """What is known of a decoy. residues, contacts : agreement by what the decoy calls them, None
    for a decoy that is alone. names : of its residues, such as `A:52A` → `SER`.
    """

    residues: dict[str, float] | None
    contacts: dict[tuple[str, str], float]
    names: dict[str, str]


def _known(voting: Mapping[str, float], read: Decoys) -> dict[str, _Known]:
    """What is known of each decoy. voting : their scores."""
    weight, names = np.array([*voting.values()]), {id(chains): chains for chains in read.chains}
    names = {key: _residue_names(chains) for key, chains in names.items()}
    residues = residue_agreement(read, weight) if len(voting) > 1 else [None] * len(voting)
    each = zip(
        residues,
        contact_agreement(read, weight),
        (names[id(chains)] for chains in read.chains),
        strict=True,
    )
    return {decoy: _Known(*of_decoy) for decoy, of_decoy in zip(voting, each, strict=True)}


def _residue_names(chains: Mapping[str, Trace]) -> dict[str, str]:
    """What a decoy calls a residue, such as `A:52A` → the three letters of its amino acid."""
    pairs = (
        pair
        for chain in chains.values()
        for pair in zip(chain.residues, chain.sequence, strict=True)
    )
    return {residue_named(residue): _NAMES.get(letter, UNKNOWN) for residue, letter in pairs}


def _agreed(score: Score, known: _Known) -> Score:
    """A score whose residues have their agreement and names, and whose contacts have their
    agreement.
    """
    agreed, residues = known.residues, []
    mean = fmean(agreed.values()) if agreed else 0.0
    for name, quality, *_ in score.residues:
        unknown = quality is None or agreed is None
        agreement = None if unknown else round(agreed.get(name, mean), QUALITY_DECIMALS)
        residues.append(ResidueScore(name, quality, agreement, known.names.get(name, "")))
    return score._replace(
        residues=tuple(residues), contacts=_agreed_contacts(score, known.contacts)
    )


def _agreed_contacts(score: Score, known: Mapping[tuple[str, str], float]) -> bytes:
    if not (score.contacts and known):
        return score.contacts
    found, names = (
        np.frombuffer(score.contacts, CONTACTS).copy(),
        [residue.name for residue in score.residues],
    )
    ends = zip(found["first"].tolist(), found["second"].tolist(), strict=True)
    found["agreement"] = [known.get(pair_named(names[i], names[j]), np.nan) for i, j in ends]
    return found.tobytes()


def graded(score: Score, quality: Quality | None) -> Score:
    """A score whose residues and contacts have their quality."""
    (network, agreement), contacts = (
        _known_of(score),
        np.frombuffer(score.contacts, CONTACTS).copy(),
    )
    if quality and len(contacts):
        found = quality.residues(
            measures(network, agreement, score.pred_dockq, touched=touched(score))
        )
        contacts["pred_quality"] = quality.contacts(of_contacts(score))
    else:
        found = _mean_of_known(network, agreement)
        contacts["pred_quality"] = _mean_of_known(contacts["pred_network"], contacts["agreement"])
    values = [
        None if np.isnan(value) else value for value in found.round(QUALITY_DECIMALS).tolist()
    ]
    rows = tuple(
        row._replace(pred_quality=value) for row, value in zip(score.residues, values, strict=True)
    )
    return score._replace(residues=rows, contacts=contacts.tobytes())


def _known_of(score: Score) -> Floats:
    """Network and agreement of each residue, nan where unknown: (2, n)."""
    known = [
        (np.nan if x is None else x, np.nan if y is None else y) for _, x, y, *_ in score.residues
    ]
    return np.array(known, dtype=np.float64).reshape(-1, 2).T


def _mean_of_known(network: Floats, agreement: Floats) -> Floats:
    """That of networks, or the mean of both."""
    return np.where(np.isnan(agreement), network, (network.astype(float) + agreement) / 2)


def of_contacts(score: Score) -> dict[str, Floats]:
    """The `measures` of the contacts of a score, (C,) each."""
    found = np.frombuffer(score.contacts, CONTACTS)
    network, distance, agreement = (
        found[name].astype(float) for name in ("pred_network", "distance", "agreement")
    )
    return measures(network, agreement, score.pred_dockq, distance=distance)


def touched(score: Score) -> Floats:
    """How many residues of other partners each residue touches, (n,); one that touches none has the
    mean of others.
    """
    contacts = np.frombuffer(score.contacts, CONTACTS)
    found = np.bincount(
        np.concatenate([contacts["first"], contacts["second"]]), minlength=len(score.residues)
    )
    return np.where(found > 0, found, found[found > 0].mean() if found.any() else 0.0)


# ---- what it is made from ------------------------------------------------------------------------


class Truth(NamedTuple):
    """What the native says of a decoy. residues : those that touch another partner, such as
    `A:52A`, and whether each keeps at least half of its contacts in the native. contacts : those
    that the native has, by `votes.pair_named`.
    """

    residues: Mapping[str, bool]
    contacts: frozenset[tuple[str, str]]


class Witness(NamedTuple):
    """A labelled decoy.

    score : of networks that were trained without its cluster, with residues and contacts. compared
    : what it is compared by. truth : what its native says of it.
    """

    score: Score
    compared: Compared
    truth: Truth


def quality_table(
    witnesses: Iterable[Witness], predicted: Mapping[Key, float], alone: Mapping[Key, float]
) -> pd.DataFrame:
    """A row for each residue and each contact that is known to be `right` or wrong.

    Columns: `target` and `name` of its decoy, `of`, a key of `MEASURES`, these measures, and
    `alone`, the score of the decoy by itself. witnesses : by target. predicted, alone : scores of
    the decoys among all of their target, and of each by itself.
    """
    import pandas as pd

    known = {(each.score.target, each.score.decoy): each for each in witnesses}
    scores = [each.score._replace(pred_dockq=predicted[key]) for key, each in known.items()]
    parts = []
    for score in with_agreement(scores, lambda key: known[key].compared, {}):
        key = score.target, score.decoy
        for of, (values, right) in _judged(score, known[key].truth).items():
            about = {
                "target": key[0],
                "name": key[1],
                "of": of,
                "alone": alone[key],
                "right": right,
            }
            parts.append(pd.DataFrame({**about, **values}))
    return pd.concat(parts, ignore_index=True).dropna(subset=["network"])


def _judged(score: Score, truth: Truth) -> dict[str, tuple[dict[str, Floats], Sequence[bool]]]:
    """The measures of the residues and contacts of a decoy that its native knows, and whether each
    is right.
    """
    names = [row.name for row in score.residues]
    kept = np.array([i for i, name in enumerate(names) if name in truth.residues], dtype=int)
    residues = measures(*_known_of(score)[:, kept], score.pred_dockq, touched=touched(score)[kept])
    contacts = np.frombuffer(score.contacts, CONTACTS)
    pairs = [(names[i], names[j]) for i, j in contacts[["first", "second"]].tolist()]
    there = np.array(
        [i for i, pair in enumerate(pairs) if truth.residues.keys() >= {*pair}], dtype=int
    )
    of_pairs = {name: values[there] for name, values in of_contacts(score).items()}
    return {
        "residues": (residues, [truth.residues[names[i]] for i in kept]),
        "contacts": (of_pairs, [pair_named(*pairs[i]) in truth.contacts for i in there]),
    }


def fit_quality(table: pd.DataFrame) -> Quality:
    """The curves that come nearest to what was seen, by least squares.

    table : as from `quality_table`, with `cluster`; clusters weigh alike.
    """
    return Quality(
        **{of: fit_curves(table[table["of"] == of], names) for of, names in MEASURES.items()}
    )


def fit_curves(table: pd.DataFrame, names: Sequence[str]) -> Curves:
    """Curves of these measures. Where no decoy has others, that among others is that of one
    alone.
    """
    seen = table.assign(dockq=table["right"].astype(float))
    alone = fit_curve(
        seen.assign(decoy=seen["alone"]), [name for name in names if name != AGREEMENT]
    )
    among = seen[seen[AGREEMENT].notna()]
    return Curves(alone=alone, among=fit_curve(among, names) if len(among) else alone)
