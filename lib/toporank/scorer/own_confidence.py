"""What the predictor's own confidence adds to a score.

The score of the structure and the predictor's confidence err for different reasons, so together they are right more
often than either. Both speak DockQ: curves turn what the predictor states into the DockQ that it speaks for, and a
weighted sum joins it with the score. All weights are zero or more: what is known only counts in the direction in which
it points. The sum of one model by itself differs from that of a model among others, which are compared with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from toporank.errors import RecordError
from toporank.files.atomic import write_text
from toporank.scorer.calibration import REMEDY, expectations
from toporank.scorer.conformal import Floats, cluster_weights
from toporank.scorer.expected import FITTED_DECIMALS, Expected
from toporank.scorer.prediction import DECIMALS
from toporank.settings import Section, read_section

if TYPE_CHECKING:
    import pandas as pd

OF_RESIDUES = ("contact_plddt", "pdockq")
"""Measures of one curve: every model that has pLDDT has both."""
OF_PAIRS = ("iptm", "ipsae", "lis", "pdockq2")
"""Measures that have a curve each, because any of them may be missing."""
FEWEST_CLUSTERS = 20
"""With models that have pLDDT, without which nothing is fitted."""
ENOUGH = 2.0
"""Other models of the target with which the sum for a model among others counts half."""
DIGITS = 6
"""Significant digits of what is fitted."""

Number = Annotated[float, Field(allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Curve(Section):
    """DockQ = 1 / (1 + exp(−x)), x being a constant plus a weighted sum of measures, as confidence.csv has them."""

    weights: dict[str, Weight] = Field(min_length=1, max_length=8)
    constant: Number

    def __call__(self, measures: Mapping[str, Floats]) -> Floats:
        """DockQ of n models, (n,), nan where a measure is missing. measures : by name, (n,), nan where unknown."""
        x = self.constant + sum(weight * measures[name] for name, weight in self.weights.items())
        return 1 / (1 + np.exp(-x))


PAIR_CURVES = [
    Curve(weights={"iptm": 4.16892}, constant=-3.15379),
    Curve(weights={"ipsae": 2.92152}, constant=-1.80659),
    Curve(weights={"lis": 4.15064}, constant=-1.93659),
    Curve(weights={"pdockq2": 3.01542}, constant=-1.46668),
]
"""Of what is known of pairs, from 10,000 models of 500 dimers; benchmarks/scorer_confidence.py fits them."""


class Sum(Section):
    """DockQ of a model by itself: a constant plus weighted DockQ by structure and by confidence."""

    structure: Weight
    confidence: Weight
    constant: Number


class SumAmong(Sum):
    """DockQ of a model among others: the means of the target count apart from how far the model is from them."""

    structure_within: Weight
    confidence_within: Weight


class OwnConfidence(Section):
    """The content of confidence.json.

    curves : those of pLDDT and of what is known of pairs of residues or chains; of each, the mean of all that are known
    counts, and then the mean of both. expected, expected_alone : as in `calibration.Calibration`, of the sums.
    """

    format: Literal[1] = 1
    of_residues: list[Curve] = Field(max_length=8)
    of_pairs: list[Curve] = Field(max_length=16)
    among: SumAmong
    alone: Sum
    expected: Expected
    expected_alone: Expected

    @model_validator(mode="after")
    def _has_a_curve(self) -> OwnConfidence:
        if not (self.of_residues or self.of_pairs):
            raise ValueError("a curve is needed")
        return self

    def speaks_for(self, measures: Mapping[str, ArrayLike]) -> Floats:
        """The DockQ that the predictor's confidence speaks for: (n,), nan where nothing is known.

        measures : columns of confidence.csv by name, (n,) each, nan where unknown; unknown columns may be left out.
        """
        known = {name: np.asarray(values, dtype=np.float64) for name, values in measures.items()}
        n = len(next(iter(known.values())))
        kinds = [_mean_of_known([curve(_with_all(known, curve, n)) for curve in kind], n)
                 for kind in (self.of_residues, self.of_pairs)]  # fmt: skip
        return _mean_of_known(kinds, n)

    def joined(self, structure: ArrayLike, confidence: ArrayLike, target: ArrayLike, counted: ArrayLike) -> Floats:
        """DockQ of n models by both, in [0, 1], (n,); that by structure alone where confidence is unknown.

        Parameters
        ----------
        structure : (n,), scores by structure. confidence : (n,), as from `speaks_for`.
        target : (n,), of each model.
        counted : (n,), bool: whether a model counts in the means of its target; copies do not.
        """
        by_structure, by_confidence = (np.asarray(values, dtype=np.float64) for values in (structure, confidence))
        known = ~np.isnan(by_confidence)
        place = np.unique(np.asarray(target), return_inverse=True)[1]
        means = [_mean_of_target(values, known & counted, place) for values in (by_structure, by_confidence)]
        others = np.bincount(place, known & counted)[place] - 1
        share = np.maximum(others, 0) / (np.maximum(others, 0) + ENOUGH)
        alone = _summed(self.alone, by_structure, by_confidence)
        within = (by_structure - means[0], by_confidence - means[1])
        among = _summed(self.among, *means) + _weighted(self.among, *within)
        both = np.where(share > 0, share * among + (1 - share) * alone, alone)
        return np.where(known, np.clip(both, 0, 1), by_structure).round(DECIMALS)


def _with_all(known: Mapping[str, Floats], curve: Curve, n: int) -> dict[str, Floats]:
    return {name: known.get(name, np.full(n, np.nan)) for name in curve.weights}


def _mean_of_known(values: Sequence[Floats], n: int) -> Floats:
    """Of arrays of shape (n,), without the nan in them; nan where all are."""
    stacked = np.array(values).reshape(-1, n)
    known = (~np.isnan(stacked)).sum(axis=0)
    return np.divide(np.nansum(stacked, axis=0), known, out=np.full(n, np.nan), where=known > 0)


def _mean_of_target(values: Floats, counted: np.ndarray, place: np.ndarray) -> Floats:
    """For each model the mean over the counted models of its target, nan without any: (n,)."""
    total, n = np.bincount(place, np.where(counted, values, 0)), np.bincount(place, counted)
    return np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)[place]


def _summed(weights: Sum, structure: Floats, confidence: Floats) -> Floats:
    return weights.constant + weights.structure * structure + weights.confidence * confidence


def _weighted(weights: SumAmong, structure: Floats, confidence: Floats) -> Floats:
    return weights.structure_within * structure + weights.confidence_within * confidence


def fit_curve(table: pd.DataFrame, measures: Sequence[str]) -> Curve:
    """The curve of some measures, by least squares; one that is everywhere the same has no weight.

    table : rows with `cluster`, `dockq` and the measures, all known.
    """
    from scipy.optimize import least_squares  # which takes longer to import than to apply a curve

    x, y = table[[*measures]].to_numpy(float), table["dockq"].to_numpy(float)
    mean, deviation, root = x.mean(axis=0), x.std(axis=0), np.sqrt(cluster_weights(table["cluster"]))
    per_deviation = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    scaled = (x - mean) * per_deviation

    def errors(p: Floats) -> Floats:
        return (1 / (1 + np.exp(-(p[0] + scaled @ p[1:]))) - y) * root

    bounds = [-20.0, *[0.0] * len(measures)], [20.0] * (1 + len(measures))
    constant, *slopes = least_squares(errors, [0.0, *[0.5] * len(measures)], bounds=bounds).x
    weights = slopes * per_deviation
    return Curve(
        weights=dict(zip(measures, map(_short, weights), strict=True)), constant=_short(constant - weights @ mean)
    )


def fit_sums(table: pd.DataFrame) -> tuple[SumAmong, Sum]:
    """The weights of both sums, by least squares, none below zero.

    table : rows with `cluster`, `target`, `dockq`, the scores `predicted` among others and `alone`, and `confidence`.
    """
    means = table.groupby("target")[["predicted", "confidence"]].transform("mean").to_numpy()
    both = table[["predicted", "confidence"]].to_numpy()
    among = _least_squares(table, np.column_stack([means, both - means]))
    alone = _least_squares(table, table[["alone", "confidence"]].to_numpy())
    names = ("structure", "confidence", "structure_within", "confidence_within")
    return (
        SumAmong(**dict(zip((*names, "constant"), among, strict=True))),
        Sum(**dict(zip((*names[:2], "constant"), alone, strict=True))),
    )


def _least_squares(table: pd.DataFrame, columns: Floats) -> list[float]:
    from scipy.optimize import lsq_linear

    root = np.sqrt(cluster_weights(table["cluster"]))
    inputs = np.column_stack([columns, np.ones(len(columns))]) * root[:, None]
    lowest = [*[0.0] * columns.shape[1], -np.inf]
    return [_short(value) for value in lsq_linear(inputs, table["dockq"].to_numpy() * root, bounds=(lowest, np.inf)).x]


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def fit_own_confidence(table: pd.DataFrame) -> OwnConfidence:
    """What confidence adds to the scores of models that were predicted without their cluster.

    The curve of pLDDT and the weights of both sums come from the table, those of pairs are `PAIR_CURVES`.
    table : rows with `cluster`, `target`, `dockq`, `predicted`, `alone`, and `OF_RESIDUES`, all known.
    """
    table = table.round(dict.fromkeys(("dockq", "predicted", "alone"), FITTED_DECIMALS))
    curve = fit_curve(table, OF_RESIDUES)
    both = table.assign(confidence=curve({name: table[name].to_numpy(float) for name in OF_RESIDUES}))
    among, alone = fit_sums(both)
    found = OwnConfidence.model_construct(of_residues=[curve], of_pairs=PAIR_CURVES, among=among, alone=alone)
    judged = both.assign(
        predicted=found.joined(both["predicted"], both["confidence"], both["target"], True),
        alone=found.joined(both["alone"], both["confidence"], range(len(both)), True),
    )
    known = expectations(judged)
    return OwnConfidence(**dict(found), expected=known.expected, expected_alone=known.expected_alone)


def write_own_confidence(path: Path | str, own: OwnConfidence) -> None:
    """Write confidence.json."""
    write_text(path, own.model_dump_json())


def read_own_confidence(path: Path) -> OwnConfidence:
    """Read confidence.json. Raises RecordError, of one line, when it is damaged or something else."""
    try:
        return read_section(OwnConfidence, path)
    except ValueError as error:
        raise RecordError(f"not usable: {error}", where=path, remedy=REMEDY) from error
