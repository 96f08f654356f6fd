"""How far to trust a score: an interval for its DockQ, and whether the decoy is like those that were trained on.

Both come from `calibration.json` of a scorer, made of predictions for decoys whose cluster the networks were
trained without. The interval is conformal: for a decoy of a cluster that nothing is known of it holds DockQ with a
probability of 80 %, whatever the errors are distributed like, as long as the cluster is one like those of the
calibration (`conformal`). It is an interval around the DockQ to expect of a decoy that was picked (`expected`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from toporank.errors import RecordError
from toporank.files.atomic import write_text
from toporank.scorer.conformal import TINY, Count, Floats, Share, cluster_weights
from toporank.scorer.expected import Expected, expectation, fit_expected, held_against_others, probability
from toporank.scorer.prediction import DECIMALS, Estimate
from toporank.settings import Section, read_section

if TYPE_CHECKING:
    import pandas as pd

RARE = 0.005
"""Share of the training decoys beyond either end of a range of sizes; twice that is beyond the limit of distance."""
AXES = 8
"""Leading principal axes in which distances are measured."""
FOLDS = 5
"""The clusters are judged in as many parts, each by the others: so errors inside and outside the domain are known."""
SIGNIFICANT = 6
"""Digits of the numbers of axes, more than the single precision of a network is worth."""
REMEDY = "delete it, then scores come without intervals, or restore the folder of the scorer"
MOST_WIDE, MOST_AXES, MOST_MEMBERS = 2**13, 64, 1000
"""Sizes within a file that are read at most."""
SIZES = ["n_interface_residues", "n_chains"]

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Vector = Annotated[list[Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=MOST_WIDE)]


class Identity(Section):
    """Which checkpoints give a score, by the SHA-256 of their files, and whether it is that of one or the mean."""

    checkpoint: Digest
    members: list[Digest] = Field(max_length=MOST_MEMBERS)
    score: Literal["best", "mean"]


class Domain(Section):
    """What the decoys of the calibration are like.

    n_interface_residues, n_chains : smallest and largest number but for `RARE` ones. center : (d,), axes : (k, d),
    deviations : (k,), of what the head of the network sees of a decoy: mean, leading principal axes, and the standard
    deviation along each. limit : of the distance from the center in these deviations.
    """

    n_interface_residues: tuple[Count, Count]
    n_chains: tuple[Count, Count]
    center: Vector
    axes: list[Vector] = Field(max_length=MOST_AXES)
    deviations: list[Positive] = Field(max_length=MOST_AXES)
    limit: float = Field(ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _one_shape(self) -> Domain:
        if len(self.deviations) != len(self.axes) or any(len(axis) != len(self.center) for axis in self.axes):
            raise ValueError("each axis needs a deviation, and as many numbers as the center has")
        return self


class Measured(Section):
    """Of some decoys the mean absolute error, and the share of DockQ that is in the interval; None without decoys.

    Means over decoys in which each cluster weighs the same.
    """

    n_decoys: Count
    n_clusters: Count
    mae: Share | None
    inside_interval: Share | None


class Expectations(Section):
    """What to expect of decoys by their scores.

    expected : of a decoy among others of its target. poses : of docked poses, where they have something of their own.
    expected_alone, poses_alone : of a decoy that is the only one of its target, where others change its score.
    """

    expected: Expected
    expected_alone: Expected | None = None
    poses: Expected | None = None
    poses_alone: Expected | None = None

    def of(self, scores: Floats, held: Floats, alone: ArrayLike | bool, docked: ArrayLike | bool) -> Floats:
        """Bounds of DockQ, DockQ to expect and probability of an acceptable one of n decoys, (4, n).

        The last one is nan where it is not known. scores : (n,). held : (n,), from `expected.held_against_others`.
        alone, docked : (n,), or one for all: whether it is the only one of its target, and a docked pose.
        """
        models = _judged(self.expected, self.expected_alone, scores, held, alone)
        if self.poses is None:
            return models
        return np.where(docked, _judged(self.poses, self.poses_alone, scores, held, alone), models)


class Calibration(Expectations):
    """The content of calibration.json. in_domain, out_of_domain : all decoys, judged by those of other clusters."""

    format: Literal[3] = 3
    scorer: Identity
    domain: Domain
    in_domain: Measured
    out_of_domain: Measured


def calibrate(predictions: pd.DataFrame, pooled: ArrayLike, scorer: Identity) -> Calibration:
    """The calibration of a scorer, to be written beside it.

    Parameters
    ----------
    predictions : one row for each labelled decoy, predicted by networks that were trained without its cluster as the
        scorer was with all of them: `cluster` (text), `target`, which no two data sets share, `dockq` and `predicted`
        in [0, 1], `n_interface_residues` and `n_chains` as in coverage.tsv. Where they are there, `alone`, the
        prediction for a decoy without the others of its target, and, bool, `for_intervals`: whether intervals come
        from this decoy, by default from all, and not the domain alone, and `pose`: whether those of docked poses do.
        Other columns are ignored.
    pooled : (n, d), what the network of the scorer's checkpoint itself sees of these decoys, in the same order
        (`learning.weights.predict_all`).
    scorer : `Scorer.identity`.

    Raises ValueError when there are fewer than `FOLDS` clusters, the lengths differ, or a number is missing.
    """
    import pandas as pd  # which takes longer to import than to apply a calibration

    seen = np.asarray(pooled, dtype=np.float64)
    defaults = {name: predictions.get(name, value) for name, value in (("for_intervals", True), ("pose", False))}
    table = predictions.assign(**defaults).reset_index(drop=True)
    table = table[["cluster", "target", "dockq", "predicted", *{"alone"} & {*table}, *SIZES, *defaults]]
    shown = table[table["for_intervals"]]
    if shown["cluster"].nunique() < FOLDS or seen.ndim != 2 or len(seen) != len(table):
        needed = f"{FOLDS} clusters are needed, and a vector for each of {len(table)} decoys"
        raise ValueError(f"{needed}: there are {shown['cluster'].nunique()}, and an array of shape {seen.shape}")
    if table.isna().any(axis=None) or not np.isfinite(seen).all():
        raise ValueError("a value of the predictions is missing, or one of the vectors is not finite")
    fold = table["cluster"].factorize(sort=True)[0] % FOLDS
    held = held_against_others(table["predicted"], table["target"])
    judged = []
    for part in range(FOLDS):
        here, others = table[fold == part], table[fold != part]
        scores = here["predicted"].to_numpy(), held[here.index]
        low, high, *_ = expectations(others).of(*scores, False, ~here["for_intervals"])
        reasons = _reasons(_domain(others, seen[others.index]), *(here[name] for name in SIZES), seen[here.index])
        judged.append(here.assign(inside=here["dockq"].between(low, high), domain=reasons))
    rows = pd.concat(judged)
    return Calibration(
        **dict(expectations(table)),
        scorer=scorer,
        domain=_domain(table, seen),
        in_domain=_measured(rows[rows["domain"] == ""]),
        out_of_domain=_measured(rows[rows["domain"] != ""]),
    )


def expectations(table: pd.DataFrame) -> Expectations:
    """What to expect of decoys like these, with columns as for `calibrate`. Poses of too few clusters tell nothing."""
    shown = table[table["for_intervals"]] if "for_intervals" in table else table
    poses = table[table["pose"]] if "pose" in table else table[:0]
    kinds = {"expected": shown} | ({"poses": poses} if poses["cluster"].nunique() >= FOLDS else {})
    found = {name: fit_expected(own) for name, own in kinds.items()}
    if "alone" in table:
        by_itself = {name: own.assign(predicted=own["alone"], target=range(len(own))) for name, own in kinds.items()}
        found |= {f"{name}_alone": fit_expected(own) for name, own in by_itself.items()}
    return Expectations(**found)


def _domain(table: pd.DataFrame, seen: Floats) -> Domain:
    center = seen.mean(axis=0)
    variances, axes = np.linalg.eigh(np.cov(seen, rowvar=False).reshape(seen.shape[1], -1))
    leading = [k for k in range(len(variances))[::-1][:AXES] if variances[k] > TINY * variances[-1] > 0]
    found = Domain(
        **{name: _range(table[name]) for name in SIZES},
        center=_short(center),
        axes=[_short(axes[:, k]) for k in leading],
        deviations=_short(np.sqrt(variances[leading])),
        limit=0,
    )
    limit = np.quantile(_distances(found, seen), 1 - 2 * RARE, method="inverted_cdf")
    return found.model_copy(update={"limit": float(limit)})


def _range(sizes: pd.Series) -> tuple[int, int]:
    low, high = np.quantile(sizes, [RARE, 1 - RARE], method="inverted_cdf")
    return int(low), int(high)


def _short(values: Floats) -> list[float]:
    return [float(f"{value:.{SIGNIFICANT}g}") for value in values]


def _measured(rows: pd.DataFrame) -> Measured:
    sizes = {"n_decoys": len(rows), "n_clusters": rows["cluster"].nunique()}
    if rows.empty:
        return Measured(**sizes, mae=None, inside_interval=None)
    weight, error = cluster_weights(rows["cluster"]), (rows["dockq"] - rows["predicted"]).abs()
    mae, inside = (float(np.average(values, weights=weight)) for values in (error, rows["inside"]))
    return Measured(**sizes, mae=mae, inside_interval=inside)


def write_calibration(path: Path | str, calibration: Calibration) -> None:
    """Write calibration.json."""
    write_text(path, calibration.model_dump_json())


def read_calibration(path: Path) -> Calibration:
    """Read calibration.json. Raises RecordError, of one line, when it is damaged or something else."""
    try:
        return read_section(Calibration, path)
    except ValueError as error:
        raise RecordError(f"not a usable calibration: {error}", where=path, remedy=REMEDY) from error


def why_of_another(calibration: Calibration, scorer: Identity) -> str:
    """Why a calibration says nothing about a scorer, in words; empty when it is that scorer's own."""
    names = {"checkpoint": "another checkpoint", "members": "other members", "score": "another way to combine them"}
    other = [name for key, name in names.items() if getattr(calibration.scorer, key) != getattr(scorer, key)]
    return f"it was made for a scorer with {' and '.join(other)}" if other else ""


def estimates(
    calibration: Calibration,
    predicted: ArrayLike,
    n_interface_residues: ArrayLike,
    n_chains: ArrayLike,
    pooled: Floats,
    alone: ArrayLike | bool = False,
    held: ArrayLike | None = None,
    from_predictor: ArrayLike | bool = True,
) -> list[Estimate]:
    """How far to trust the scores of n decoys: arrays of shape (n,), and (n, d), as for `calibrate`.

    alone : whether each is the only model of its target. held : scores from `expected.held_against_others`, by default
    as predicted. from_predictor : whether a structure predictor made it; others are docked poses. Raises RecordError
    when the calibration is for vectors of another length.
    """
    scores = np.asarray(predicted, dtype=np.float64)
    reasons = _reasons(calibration.domain, n_interface_residues, n_chains, pooled)
    held_scores = scores if held is None else np.asarray(held, dtype=np.float64)
    rows = calibration.of(scores, held_scores, alone, np.logical_not(from_predictor))
    values = ([None if np.isnan(value) else value for value in row] for row in rows.round(DECIMALS).T.tolist())
    return [Estimate(low, high, reason, *known) for (low, high, *known), reason in zip(values, reasons, strict=True)]


def _judged(
    among: Expected, by_itself: Expected | None, scores: Floats, held: Floats, alone: ArrayLike | bool
) -> Floats:
    """As `Expectations.of`: of decoys among others by their held scores, of those that are alone by their own."""
    of_lone, of_others = (
        np.array([*expectation(known, values), probability(known, values)])
        for known, values in ((by_itself or among, scores), (among, held))
    )
    return np.where(alone, of_lone, of_others)


def _reasons(domain: Domain, n_interface_residues: ArrayLike, n_chains: ArrayLike, pooled: Floats) -> list[str]:
    """Why each decoy is out of domain, empty if it is not."""
    reasons = []
    for residues, chains, distance in zip(n_interface_residues, n_chains, _distances(domain, pooled), strict=True):
        found = [
            _beyond(f"interface of {residues} residues", residues, domain.n_interface_residues),
            _beyond(f"{chains} chains", chains, domain.n_chains),
            f"unlike the training decoys: distance {distance:.1f}, limit {domain.limit:.1f}"
            if distance > domain.limit
            else "",
        ]
        reasons.append("; ".join(filter(None, found)))
    return reasons


def _beyond(what: str, size: int, known: tuple[int, int]) -> str:
    low, high = known
    span = f"{low} to {high}" if low < high else f"{low}"
    return "" if low <= size <= high else f"{what}, training had {span}"


def _distances(domain: Domain, pooled: Floats) -> Floats:
    """Mahalanobis distance of each decoy from the center, along the axes: (n,)."""
    if pooled.shape[1] != len(domain.center):
        what = f"the calibration is for vectors of {len(domain.center)} numbers, the network gives {pooled.shape[1]}"
        raise RecordError(what, where="calibration.json", remedy=REMEDY)
    if not domain.axes:
        return np.zeros(len(pooled))
    along = (pooled - np.array(domain.center)) @ np.array(domain.axes).T
    return np.linalg.norm(along / np.array(domain.deviations), axis=1)
