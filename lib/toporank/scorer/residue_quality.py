"""How good each residue of a model is: by networks, by the other models, and by how much it touches.

Networks judge contacts; a residue is right where it keeps at least half of the contacts that it has in the native. How
many residues it touches says much about that: what holds on to little is soon elsewhere. A logistic curve joins what
is known to a probability.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from toporank.comparing.correspondence import Trace
from toporank.comparing.decoys import Compared, Decoys, read_decoys
from toporank.comparing.votes import contact_agreement, pair_named, residue_agreement, residue_named
from toporank.errors import RecordError
from toporank.files.atomic import write_text
from toporank.scorer.calibration import REMEDY
from toporank.scorer.conformal import Floats, cluster_weights
from toporank.scorer.prediction import CONTACTS, QUALITY_DECIMALS, ResidueScore, Score
from toporank.settings import Section, read_section
from toporank.structures.complex import STANDARD

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "UNK"
"""Name of a residue that counts as no standard amino acid."""
_NAMES = {letter: name for name, letter in STANDARD.items()}
LEAST = 0.01
"""Quality that networks give at least, and one less this at most: beyond, they are not that sure."""
STEPS = 50
"""Of Newton's method, which needs ten."""
HELD = 1e-5
"""How much weights are held near 0, so that they are finite where right and wrong residues are told apart."""
DIGITS = 6
"""Significant digits of what is fitted."""
OF_RESIDUE = ("network", "contacts", "decoy", "agreement")
"""What the quality of a residue is made of, in the order of the weights."""

Key = tuple[str, str]
"""Target and decoy."""
Number = Annotated[float, Field(allow_inf_nan=False)]


class Weights(Section):
    """Probability 1 / (1 + exp(−x)), x being a constant plus weights times what is known of a residue.

    network : of the logarithm of the odds of the quality that networks give. contacts : of log(1 + number of residues
    of other partners that it touches). decoy : of the score of its decoy. agreement : how far the other decoys agree.
    """

    constant: Number
    network: Number
    contacts: Number
    decoy: Number
    agreement: Number = 0.0


class ResidueQuality(Section):
    """The content of residues.json: how probable it is that a residue is right, in a decoy alone and among others."""

    format: Literal[1] = 1
    alone: Weights
    among: Weights

    def __call__(self, network: Floats, contacts: Floats, decoy: Floats | float, agreement: Floats) -> Floats:
        """Probability that a residue keeps at least half of its contacts in the native: (n,).

        network : in [0, 1], (n,). contacts : numbers, (n,). decoy : predicted DockQ. agreement : (n,), nan without
        other decoys.
        """
        values = _inputs(network, contacts, decoy, np.nan_to_num(agreement))
        alone, among = (_probability(weights, values) for weights in (self.alone, self.among))
        return np.where(np.isnan(agreement), alone, among)


def _inputs(network: Floats, contacts: Floats, decoy: Floats | float, agreement: Floats) -> Floats:
    """The columns of `OF_RESIDUE`, (n, 4)."""
    sure = np.clip(network, LEAST, 1 - LEAST)
    return np.column_stack(
        [np.log(sure / (1 - sure)), np.log1p(contacts), np.broadcast_to(decoy, len(sure)), agreement]
    )


def _probability(weights: Weights, values: Floats) -> Floats:
    x = weights.constant + values @ [getattr(weights, name) for name in OF_RESIDUE]
    return 1 / (1 + np.exp(-x))


def read_residue_quality(path: Path) -> ResidueQuality:
    """Read residues.json. Raises RecordError, of one line, when it is damaged or something else."""
    try:
        return read_section(ResidueQuality, path)
    except ValueError as error:
        raise RecordError(f"not usable: {error}", where=path, remedy=REMEDY) from error


def write_residue_quality(path: Path | str, quality: ResidueQuality) -> None:
    """Write residues.json."""
    write_text(path, quality.model_dump_json())


# ---- of the decoys of a target ------------------------------------------------------------------------------


def with_agreement(
    scores: Iterable[Score],
    contacts: Callable[[Key], Compared],
    copy_of: Mapping[Key, str],
    quality: ResidueQuality | None = None,
) -> list[Score]:
    """The scores with the agreement of the other decoys on residues and contacts, and names and quality of residues.

    A residue that touches no other partner counts as the mean of those of its decoy that do, so that all mean the same;
    one that networks say nothing about has no value. Decoys vote by their scores, copies once; copies have the values
    of their originals. quality : of the scorer; without it, quality is the mean of network and agreement.
    scores : by target. contacts : (target, decoy) → what it is compared by. copy_of : (target, decoy) → the decoy that
    it is a copy of.
    """
    found = []
    for target, own in groupby(scores, key=attrgetter("target")):
        rows = list(own)
        scored = {row.decoy: row.pred_dockq for row in rows if row.residues}
        first = {decoy: copy_of.get((target, decoy)) for decoy in scored}
        voting = {decoy: dockq for decoy, dockq in scored.items() if first[decoy] not in scored}
        known = _known(voting, read_decoys(contacts((target, decoy)) for decoy in voting))
        for row in rows:
            of_row = known[row.decoy if row.decoy in known else first[row.decoy]] if row.residues else None
            found.append(graded(_agreed(row, of_row), quality) if of_row else row)
    return found


class _Known(NamedTuple):
    """What is known of a decoy. residues, contacts : agreement by what the decoy calls them, None for a decoy that is
    alone. names : of its residues, such as `A:52A` → `SER`.
    """

    residues: dict[str, float] | None
    contacts: dict[tuple[str, str], float]
    names: dict[str, str]


def _known(voting: Mapping[str, float], read: Decoys) -> dict[str, _Known]:
    """What is known of each decoy. voting : their scores."""
    weight, names = np.array([*voting.values()]), {id(chains): chains for chains in read.chains}
    names = {key: _residue_names(chains) for key, chains in names.items()}
    residues = residue_agreement(read, weight) if len(voting) > 1 else [None] * len(voting)
    each = zip(residues, contact_agreement(read, weight), (names[id(chains)] for chains in read.chains), strict=True)
    return {decoy: _Known(*of_decoy) for decoy, of_decoy in zip(voting, each, strict=True)}


def _residue_names(chains: Mapping[str, Trace]) -> dict[str, str]:
    """What a decoy calls a residue, such as `A:52A` → the three letters of its amino acid."""
    pairs = (pair for chain in chains.values() for pair in zip(chain.residues, chain.sequence, strict=True))
    return {residue_named(residue): _NAMES.get(letter, UNKNOWN) for residue, letter in pairs}


def _agreed(score: Score, known: _Known) -> Score:
    """A score whose residues have their agreement and names, and whose contacts have their agreement."""
    agreed, residues = known.residues, []
    mean = fmean(agreed.values()) if agreed else 0.0
    for name, quality, *_ in score.residues:
        unknown = quality is None or agreed is None
        agreement = None if unknown else round(agreed.get(name, mean), QUALITY_DECIMALS)
        residues.append(ResidueScore(name, quality, agreement, known.names.get(name, "")))
    return score._replace(residues=tuple(residues), contacts=_agreed_contacts(score, known.contacts))


def _agreed_contacts(score: Score, known: Mapping[tuple[str, str], float]) -> bytes:
    if not (score.contacts and known):
        return score.contacts
    found, names = np.frombuffer(score.contacts, CONTACTS).copy(), [residue.name for residue in score.residues]
    ends = zip(found["first"].tolist(), found["second"].tolist(), strict=True)
    found["agreement"] = [known.get(pair_named(names[i], names[j]), np.nan) for i, j in ends]
    return found.tobytes()


def graded(score: Score, quality: ResidueQuality | None) -> Score:
    """A score whose residues have their quality."""
    network, agreement = ([np.nan if (x := row[column]) is None else x for row in score.residues] for column in (1, 2))
    both = np.array([network, agreement], dtype=np.float64)
    if quality and score.contacts:
        found = quality(both[0], touched(score), score.pred_dockq, both[1])
    else:
        found = np.where(np.isnan(both[1]), both[0], both.mean(axis=0))
    values = [None if np.isnan(value) else value for value in found.round(QUALITY_DECIMALS).tolist()]
    rows = zip(score.residues, values, strict=True)
    return score._replace(residues=tuple(row._replace(pred_quality=value) for row, value in rows))


def touched(score: Score) -> Floats:
    """How many residues of other partners each residue touches, (n,); one that touches none has the mean of the rest."""
    contacts = np.frombuffer(score.contacts, CONTACTS)
    found = np.bincount(np.concatenate([contacts["first"], contacts["second"]]), minlength=len(score.residues))
    return np.where(found > 0, found, found[found > 0].mean() if found.any() else 0.0)


# ---- what it is made from -----------------------------------------------------------------------------------


class Witness(NamedTuple):
    """A labelled decoy of which it is known which residues are right.

    score : of networks that were trained without its cluster, with residues and contacts. compared : what it is
    compared by. right : residues, such as `A:52A`, that touch another partner, and whether each keeps at least half of
    its contacts in the native.
    """

    score: Score
    compared: Compared
    right: Mapping[str, bool]


def residue_table(
    witnesses: Iterable[Witness], predicted: Mapping[Key, float], alone: Mapping[Key, float]
) -> pd.DataFrame:
    """A row for each residue of which it is known whether it is `right`.

    Columns: `target` and `name` of its decoy, `residue`, `OF_RESIDUE`, with nan for the agreement of a decoy without
    others; `alone`, the score of the decoy by itself. witnesses : by target. predicted, alone : scores of the decoys
    among all of their target, and of each by itself.
    """
    import pandas as pd

    known = {(each.score.target, each.score.decoy): each for each in witnesses}
    scores = [each.score._replace(pred_dockq=predicted[key]) for key, each in known.items()]
    parts = []
    for score in with_agreement(scores, lambda key: known[key].compared, {}):
        key, numbers = (score.target, score.decoy), touched(score)
        right = known[key].right
        rows = [
            (*key, row.name, row.pred_network, n, predicted[key], row.agreement, alone[key], right[row.name])
            for row, n in zip(score.residues, numbers.tolist(), strict=True)
            if row.name in right and row.pred_network is not None
        ]
        parts += rows
    columns = ["target", "name", "residue", *OF_RESIDUE, "alone", "right"]
    return pd.DataFrame(parts, columns=columns).astype({"agreement": float})


def fit_residue_quality(table: pd.DataFrame) -> ResidueQuality:
    """The weights under which what was seen is most probable.

    table : as from `residue_table`, with `cluster`; clusters weigh alike.
    """
    weight, right = cluster_weights(table["cluster"]), table["right"].to_numpy(float)
    among = ~table["agreement"].isna().to_numpy()
    known = [table[name].to_numpy(float) for name in OF_RESIDUE]
    by_itself = _inputs(*known[:2], table["alone"].to_numpy(float), np.zeros(len(table)))[:, :-1]
    return ResidueQuality(
        alone=_logistic(by_itself, right, weight),
        among=_logistic(_inputs(*known)[among], right[among], weight[among]),
    )


def _logistic(inputs: Floats, right: Floats, weight: Floats) -> Weights:
    """A logistic regression, by Newton's method. inputs : (n, k). right, weight : (n,)."""
    mean, deviation = inputs.mean(axis=0), inputs.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    x = np.column_stack([np.ones(len(inputs)), (inputs - mean) / deviation])
    slopes, held = np.zeros(x.shape[1]), HELD * weight.sum()
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-x @ slopes))
        curvature = x.T @ (x * (weight * p * (1 - p))[:, None]) + held * np.eye(len(slopes))
        slopes += np.linalg.solve(curvature, x.T @ (weight * (right - p)) - held * slopes)
    weights = slopes[1:] / deviation
    values = (float(f"{value:.{DIGITS}g}") for value in (slopes[0] - weights @ mean, *weights))
    return Weights(**dict(zip(("constant", *OF_RESIDUE), values, strict=False)))
