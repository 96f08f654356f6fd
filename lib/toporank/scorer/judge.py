"""The judge: from the values of the witnesses for a model to the DockQ to expect of it.

Two witnesses look at one model. The *networks* predict its DockQ, and curves turn the *confidence*
of its predictor into DockQ. Their weighted mean w says how good it is; a witness that is missing
does not count. The *other models* of the target vote by the contacts that they share with it.

Networks see means over contacts, so not how many residues n an interface has. Among poses of one
target right ones tend to be larger, so the quality q of a model without confidence is

    q_i = w_i + s (ln n_i - mean(ln n)), where the difference counts up to 0.5 either way.

With confidence it is w: beside it size told nothing of dimers that it was not chosen on
(docs/research/scorer.md).

If one of n models is right, it is model j with a probability p_j that grows with its quality. How
right model i is then follows from how similar it is to each, and similarity to itself is 1. So the
order of the models comes from

    order_i = sum_j p_j similarity_ij + q_i / n,      p_j = exp(q_j / T) / sum_k exp(q_k / T),
    T = t sqrt(n).

This is the choice of least expected loss (minimum Bayes risk; Kumar & Byrne 2004, N04-1022 of the
ACL Anthology). The temperature T grows with n because the highest of many uncertain qualities says
little: of few models the quality decides, of many the consensus.

In a pool of hundreds the crowd is no longer right, and confidence tells whom to ask. Where v models
or more have it, only the v of the highest quality among these are candidates for the right one: all
other p_j are 0, and T = t sqrt(v). Where all models are of one program that ranks them, its scores
are of one scale, and what it ranks first is right as often as anything else. So that model comes
first, and T is a small r for the others, whatever their number. By this order the values of the
usual one are dealt out anew, so that the formulas below hold (docs/research/scorer.md).

How good the models of the target are, its level, is a mean of w and of their consensus,
which is the similarity to the other models:

    level = (mean(w) + u mean(consensus)) / (1 + u), and w of a single model.

The highest of several uncertain scores is too high on average. The DockQ to expect therefore comes
from the level and from how far a model is above it in the order, each with a slope of its own,

    DockQ = 1 / (1 + exp(-(constant + mean level + within (order_i - mean(order))))),

which rises with the order: inside a target the DockQ to expect falls with the rank. A single model
is its own level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from toporank.chains.complex_kinds import WITH_BINDER
from toporank.errors import RecordError
from toporank.files.atomic import write_text
from toporank.metrics import Floats
from toporank.scorer.curves import Curve, Number, Weight
from toporank.scorer.prediction import DECIMALS, Estimate, Score
from toporank.scorer.residue_quality import QualityCurves
from toporank.settings import Section, read_section
from toporank.structures.identity import DecoyKey

if TYPE_CHECKING:
    from toporank.building.coverage import CoverageRow

OF_RESIDUES = ("contact_plddt", "pdockq")
"""Measures of confidence with one curve for both: every model that has pLDDT has both."""
WEIGHTS = {"network": 1.0, "confidence": 1.0}
"""Of the witnesses that look at one model: equal ones carry over best (docs/scorer.md)."""
MOST_LARGER = 0.5
"""Logarithm of how much larger than usual an interface counts as, at most."""
OF_PAIRS = ("iptm", "ipsae", "lis", "pdockq2")
"""Measures of confidence with a curve each, because any of them may be missing."""
REMEDY = "delete it, then the networks alone give the score, or restore the folder of the scorer"

BINDERS, REST = "binders", "rest"
"""Kinds of complexes with levels of their own: `complex_kinds.WITH_BINDER`, and all others."""

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Knot(Section):
    """Bounds of DockQ, and the share that is acceptable, of models with this DockQ to expect."""

    dockq: Share
    low: Share
    high: Share
    p_acceptable: Share


class Calibration(Section):
    """From scores to DockQ.

    constant, mean, within : of the formula above. knots : by rising DockQ, straight in between.
    """

    constant: Number
    mean: Weight
    within: Weight
    knots: list[Knot] = Field(min_length=2, max_length=64)

    @model_validator(mode="after")
    def _rises(self) -> Calibration:
        if np.any(np.diff([knot.dockq for knot in self.knots]) <= 0):
            raise ValueError("the knots are not in the order of their DockQ")
        return self

    def expected(self, level: Floats, above: Floats) -> Floats:
        """DockQ to expect, (n,). level, above : of each model, as in `Standing`."""
        return 1 / (
            1 + np.exp(-(self.constant + self.mean * level + self.within * above))
        )

    def about(self, dockq: Floats) -> Floats:
        """Bounds and probability of an acceptable model, (3, n), for a DockQ to expect, (n,)."""
        table = [
            (knot.dockq, knot.low, knot.high, knot.p_acceptable) for knot in self.knots
        ]
        at, *columns = np.array(table).T
        return np.array([np.interp(dockq, at, column) for column in columns])


class Levels(Section):
    """Shifts of the constants of curves of confidence for one kind of complexes.

    residues : of the curves for residues. pairs : of those for pairs of chains, by program; for any
    other program the lowest of them.
    """

    residues: Number = 0.0
    pairs: dict[str, Number] = {}  # noqa: RUF012 -- pydantic copies it

    def of_pairs(self, programs: Sequence[str]) -> Floats:
        """The shift for models of these programs, (n,)."""
        lowest = min(self.pairs.values(), default=0.0)
        return np.array([self.pairs.get(name, lowest) for name in programs])


class Domain(Section):
    """What the training decoys are like.

    Attributes
    ----------
    n_interface_residues, n_chains : smallest and largest number but for rare ones
    center : (d,), mean of what the head of the network sees of a decoy
    axes : (k, d), its leading principal axes
    deviations : (k,), the standard deviation along each axis
    limit : of the distance from the center, in these deviations
    kinds : of complexes, of `complex_kinds.KINDS`; none where nobody counted them
    """

    n_interface_residues: tuple[int, int]
    n_chains: tuple[int, int]
    center: list[Number]
    axes: list[list[Number]]
    deviations: list[Annotated[float, Field(gt=0, allow_inf_nan=False)]]
    limit: Weight
    kinds: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_shape(self) -> Domain:
        if len(self.deviations) != len(self.axes) or any(
            len(axis) != len(self.center) for axis in self.axes
        ):
            raise ValueError(
                "each axis needs a deviation, and as many numbers as the center has"
            )
        return self

    def distances(self, pooled: Floats) -> Floats:
        """Mahalanobis distance of each decoy from the center, along the axes.

        (n,). pooled : (n, d).
        """
        axes = np.array(self.axes, dtype=np.float64).reshape(-1, len(self.center))
        along = (pooled - np.array(self.center)) @ axes.T
        return np.linalg.norm(along / np.array(self.deviations), axis=1)

    def lacks(self, kind: str) -> bool:
        """Whether training had no complex of a kind."""
        return bool(kind and self.kinds and kind not in self.kinds)

    def reason(
        self, n_interface_residues: int, n_chains: int, distance: float, kind: str = ""
    ) -> str:
        """Why a decoy is out of domain, in words; empty if it is not."""
        reasons = []
        if self.lacks(kind):
            reasons.append(f"{kind}, training had no such complex")
        sizes = (
            (
                f"interface of {n_interface_residues} residues",
                n_interface_residues,
                self.n_interface_residues,
            ),
            (f"{n_chains} chains", n_chains, self.n_chains),
        )
        for what, size, (low, high) in sizes:
            if not low <= size <= high:
                reasons.append(
                    f"{what}, training had {f'{low} to {high}' if low < high else low}"
                )
        if distance > self.limit:
            reasons.append(
                f"its interface is {distance:.1f} away from all in training "
                f"(usual: up to {self.limit:.1f})"
            )
        return "; ".join(reasons)


class Standing(NamedTuple):
    """How n models of a target stand, (n,) each, as in the formulas above.

    level : of the target. above : order minus its mean. consensus : mean similarity to the others,
    nan for a single model.
    """

    level: Floats
    above: Floats
    consensus: Floats


class Judge(Section):
    """The content of judge.json: every fitted number of a scorer but the networks.

    Attributes
    ----------
    weights : of the witnesses that look at one model, by name
    temperature, consensus, size, voters, sharp : t, u, s, v and r of the formulas above
    of_residues, of_pairs : curves of confidence; the mean of all that are known counts, then the
        mean of both kinds
    levels : of these curves, by kind of complex, `BINDERS` and `REST`
    structure : calibration of models without confidence
    with_confidence : that of models with it, None where none were learned from
    domain : what the training decoys are like
    quality : curves of residues and contacts

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> judge = read_judge(repository() / "resources/scorer/judge.json")
    >>> judge.temperature, judge.consensus, judge.size
    (0.05, 0.3, 0.1)
    """

    format: Literal[1] = 1
    weights: dict[str, Weight] = Field(WEIGHTS, min_length=1, max_length=8)
    temperature: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    consensus: Weight
    size: Weight = 0.0
    voters: Annotated[int, Field(ge=1)] = 25
    sharp: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.03
    of_residues: list[Curve] = Field(max_length=8)
    of_pairs: list[Curve] = Field(max_length=16)
    levels: dict[str, Levels] = {}  # noqa: RUF012 -- pydantic copies it
    structure: Calibration
    with_confidence: Calibration | None = None
    domain: Domain | None = None
    quality: QualityCurves | None = None

    def confidence(
        self,
        measures: Mapping[str, Floats],
        kinds: Sequence[str],
        programs: Sequence[str],
    ) -> Floats:
        """DockQ by the predictor's confidence, (n,), nan where nothing is known.

        Parameters
        ----------
        measures : `OF_RESIDUES` and `OF_PAIRS` by name, (n,) each, nan where unknown
        kinds : of complex, of each model
        programs : that made each model, empty where unknown
        """
        has_binder = np.isin(kinds, WITH_BINDER)
        binders = self.levels.get(BINDERS, Levels())
        rest = self.levels.get(REST, Levels())
        shifts = (
            np.where(has_binder, binders.residues, rest.residues),
            np.where(has_binder, binders.of_pairs(programs), rest.of_pairs(programs)),
        )
        means = []
        for curves, shift in zip(
            (self.of_residues, self.of_pairs), shifts, strict=True
        ):
            values = [curve(measures, shift) for curve in curves]
            means.append(_mean_of_known(values or [np.full(len(shift), np.nan)]))
        return _mean_of_known(means)

    def standing(
        self,
        witnesses: Mapping[str, Floats],
        similarity: Iterable[Floats],
        sizes: Floats,
        preferred: np.ndarray | None = None,
    ) -> Standing:
        """How the n models of a target stand.

        Parameters
        ----------
        witnesses : DockQ by each witness that looks at one model, (n,) each, nan where unknown;
            their names are keys of `weights`
        similarity : rows of the similarity matrix, shape (n,) each; none for a single model
        sizes : residues in the interface of each model, (n,)
        preferred : whether the program that made and ranked all of them has it first, (n,), true
            of one at least; None where there is no such program
        """
        weights = [self.weights[name] for name in witnesses]
        known = _mean_of_known([*witnesses.values()], weights)
        n = len(known)
        if n < 2:
            return Standing(
                level=known, above=np.zeros(n), consensus=np.full(n, np.nan)
            )
        confidence = witnesses.get("confidence", np.full(n, np.nan))
        by_size = np.where(np.isnan(confidence), larger(sizes), 0)
        quality = known + self.size * by_size
        votes = self._votes(quality, confidence)
        shares = [
            _shares(quality, self.temperature * np.sqrt(votes.sum()), votes),
            _shares(quality, self.sharp),
        ]
        (order, sharp), consensus = _orders(quality, similarity, np.array(shares))
        if preferred is not None:
            sharp[np.where(preferred, sharp, -np.inf).argmax()] = np.inf
            order = _dealt(order, sharp)
        level = (known.mean() + self.consensus * consensus.mean()) / (
            1 + self.consensus
        )
        return Standing(
            level=np.full(n, level), above=order - order.mean(), consensus=consensus
        )

    def _votes(self, quality: Floats, confidence: Floats) -> np.ndarray:
        """Which models may be the right one, (n,)."""
        has_confidence = ~np.isnan(confidence)
        if has_confidence.sum() < self.voters:
            return np.ones(len(quality), bool)
        best = np.argsort(-np.where(has_confidence, quality, -np.inf), kind="stable")
        votes = np.zeros(len(quality), bool)
        votes[best[: self.voters]] = True
        return votes

    def calibration(self, confidence: float) -> Calibration:
        """That of a model with such a confidence, nan where it is unknown."""
        return (
            self.structure
            if np.isnan(confidence) or self.with_confidence is None
            else self.with_confidence
        )

    def expected(self, level: Floats, above: Floats, confidence: Floats) -> Floats:
        """DockQ to expect, (n,). level, above : as in `Standing`."""
        by_structure = self.structure.expected(level, above)
        if self.with_confidence is None:
            return by_structure
        return np.where(
            np.isnan(confidence),
            by_structure,
            self.with_confidence.expected(level, above),
        )


def _mean_of_known(
    values: Sequence[Floats], weights: Sequence[float] | None = None
) -> Floats:
    """Weighted mean of arrays of shape (n,), without the nan in them; nan where all are."""
    stacked = np.array(values, dtype=np.float64)
    weight = np.ones(len(stacked)) if weights is None else np.array(weights)
    known = weight @ ~np.isnan(stacked)
    total = weight @ np.nan_to_num(stacked)
    return np.divide(total, known, out=np.full(total.shape, np.nan), where=known > 0)


def larger(sizes: Floats) -> Floats:
    """Return how much larger than usual interfaces are, as logarithms within `MOST_LARGER`, (n,).

    sizes : of the models of a target, in residues, (n,)
    """
    logarithm = np.log(np.maximum(sizes, 1))
    return (logarithm - logarithm.mean()).clip(-MOST_LARGER, MOST_LARGER)


def _dealt(values: Floats, by: Floats) -> Floats:
    """The values, (n,), dealt out anew: the highest to the first by another order, and so on."""
    dealt = np.empty_like(values)
    dealt[np.argsort(-by, kind="stable")] = np.sort(values)[::-1]
    return dealt


def ordered(
    quality: Floats,
    similarity: Iterable[Floats],
    temperature: float,
    own: float = 1.0,
) -> tuple[Floats, Floats]:
    """Return the order of n models of a target by the formula above, and their consensus.

    Models that a predictor repeats keep their votes: it is right more often than not then.

    Parameters
    ----------
    quality : of each model, shape (n,)
    similarity : rows of the similarity matrix, shape (n,) each
    temperature : T of the formula
    own : weight of the share q_i / n

    Returns
    -------
    order : shape (n,), the higher the better
    consensus : mean similarity to the others, shape (n,)

    Examples
    --------
    >>> quality = np.array([0.8, 0.3, 0.3])
    >>> similarity = np.array([[1, 0.1, 0.1], [0.1, 1, 0.9], [0.1, 0.9, 1]])
    >>> order, consensus = ordered(quality, similarity, temperature=0.05)
    >>> order.round(2), consensus.round(2)
    (array([1.27, 0.2 , 0.2 ]), array([0.1, 0.5, 0.5]))
    """
    share = _shares(quality, temperature)
    (order,), consensus = _orders(quality, similarity, share[None], own)
    return order, consensus


def _shares(
    quality: Floats, temperature: float, votes: np.ndarray | None = None
) -> Floats:
    """The probability p_j that each model is the right one, (n,); 0 of those without a vote."""
    weight = np.exp((quality - quality.max()) / temperature)
    if votes is not None:
        weight = weight * votes
    return weight / weight.sum()


def _orders(
    quality: Floats, similarity: Iterable[Floats], shares: Floats, own: float = 1.0
) -> tuple[Floats, Floats]:
    """The order by each of k kinds of probabilities, (k, n), and the consensus, (n,).

    shares : the probabilities p_j, (k, n).
    """
    n = len(quality)
    consensus, expected = np.zeros(n), np.zeros(shares.shape)
    for i, to_all in enumerate(similarity):
        others = np.delete(to_all, i)
        consensus[i] = others.mean()
        # it is as similar as 1 to itself
        expected[:, i] = np.delete(shares, i, axis=1) @ others + shares[:, i]
    return expected + own * quality / n, consensus


def write_judge(path: Path | str, judge: Judge) -> None:
    """Write judge.json."""
    write_text(path, judge.model_dump_json(exclude_none=True) + "\n")


def read_judge(path: Path) -> Judge:
    """Read judge.json. Raises RecordError, of one line, when it is damaged or something else."""
    try:
        return read_section(Judge, path)
    except ValueError as error:
        raise RecordError(
            f"not a usable judge: {error}", where=path, remedy=REMEDY
        ) from error


def how_far_to_trust(
    judge: Judge | None, coverage: Iterable[CoverageRow], scores: Iterable[Score]
) -> dict[DecoyKey, Estimate]:
    """(target, decoy) → how far to trust its score, for every decoy; empty without a judge.

    Parameters
    ----------
    scores : from `judged`
    """
    decoys = [score for score in scores if not score.interface]
    if judge is None or not decoys:
        return {}
    sizes = {
        (row.target, row.decoy): (row.n_interface_residues or 0, row.n_chains or 0)
        for row in coverage
    }
    distances: Floats = np.zeros(len(decoys))
    if judge.domain is not None:
        distances = judge.domain.distances(np.array([score.pooled for score in decoys]))
    found = {}
    for score, distance in zip(decoys, distances.tolist(), strict=True):
        key = score.target, score.decoy
        confidence = np.nan if score.pred_confidence is None else score.pred_confidence
        about = judge.calibration(confidence).about(np.array([score.pred_dockq]))
        low, high, probability = about[:, 0].round(DECIMALS).tolist()
        domain = unknown_kind = ""
        if judge.domain:
            domain = judge.domain.reason(*sizes[key], distance, score.kind)
            unknown_kind = score.kind if judge.domain.lacks(score.kind) else ""
        found[key] = Estimate(
            low=low,
            high=high,
            domain=domain,
            dockq=score.pred_dockq,
            p_acceptable=probability,
            kind=score.kind,
            unknown_kind=unknown_kind,
        )
    return found
