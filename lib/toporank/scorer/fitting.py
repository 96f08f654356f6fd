"""Fits the numbers of a judge to labelled decoys.

Networks that had not seen their clusters predicted them.

The sums of the judge are not fitted: weights that were fitted freely did not carry over to decoys
of other programs (docs/scorer.md). Fitted are the curve of confidence, the calibration and the
domain. Every group of decoys weighs the same, whatever its size, and so does every number of models
that a target is cut down to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from toporank.chains.complex_kinds import KINDS, WITH_BINDER
from toporank.metrics import ACCEPTABLE, Floats
from toporank.scorer.curves import (
    Curve,
    cluster_weights,
    fit_curve,
    fit_shift,
    shortened,
)
from toporank.scorer.judge import (
    BINDERS,
    OF_PAIRS,
    OF_RESIDUES,
    REST,
    Calibration,
    Domain,
    Judge,
    Knot,
    Levels,
)
from toporank.scorer.prediction import LEVEL

TEMPERATURE, CONSENSUS, SIZE = 0.05, 0.3, 0.1
"""How the other models and the size of the interface count, as in `judge.Judge`."""
SIZES = (1, 3, 5, 10, 25, None)
"""Models of a target that are judged together; None for all of them."""
FEWEST_CLUSTERS = 20
"""Clusters that something is fitted to, at least."""
PARTS = 8
"""Parts of equal weight, at most, that each give a knot of a calibration."""
UNSEEN = 0.25
"""Of a cluster, counted as half right beside those of a part: so no share of acceptable models is 0
or 1 by chance.
"""
OF_MADE = 0.4
"""Weight of a group of decoys made around natives: they agree with each other more than those of
predictors do.
"""
RARE = 0.005
"""Share of the training decoys beyond either end of a range of sizes; twice that is beyond the
limit of distance.
"""
FEWEST_OF_KIND = 10
"""Clusters of a kind of complex that training has learned from, at least."""
AXES = 8
"""Leading principal axes in which distances are measured."""
TINY = 1e-9
PAIR_CURVES = [
    Curve(weights={"iptm": 4.16892}, constant=-3.15379),
    Curve(weights={"ipsae": 2.92152}, constant=-1.80659),
    Curve(weights={"lis": 4.15064}, constant=-1.93659),
    Curve(weights={"pdockq2": 3.01542}, constant=-1.46668),
]
"""One for each measure of a pair of chains, fitted once to 10,000 AlphaFold-Multimer models of 500
dimers (benchmarks/pair_curves.py).
"""

PAIR_LEVELS = {
    REST: {"AlphaFold-Multimer": 0.021, "ColabFold": 0.021, "Protenix": 0.502},
    BINDERS: {
        "AlphaFold-Multimer": -0.659,
        "ColabFold": -0.659,
        "Boltz": -1.199,
        "Chai-1": -1.199,
        "Protenix": -1.707,
    },
}
"""Shifts of these curves by kind of complex and program (the same command)."""

Similarity = Mapping[tuple[str, str], np.ndarray]
"""Of data set and target: how alike its decoys are, (n, n), in the order of the table."""


def fit_judge(
    decoys: pd.DataFrame,
    similarity: Similarity,
    pooled: Floats,
    made: Collection[str] = (),
) -> Judge | None:
    """The judge of networks, None where the decoys are of fewer than `FEWEST_CLUSTERS` clusters.

    Parameters
    ----------
    decoys : (n,) rows `dataset`, `target`, `group`, `cluster`, `dockq`; `pred_dockq` of the
        networks; `OF_RESIDUES`, nan where unknown; `n_interface_residues`, `n_chains` and `kind` of
        complex. Decoys of a data set and target follow each other.
    similarity : of their targets
    pooled : (n, d), what the network of the checkpoint sees of each
    made : groups of decoys made around natives
    """
    if decoys["cluster"].nunique() < FEWEST_CLUSTERS:
        return None
    curves = []
    stated = decoys.dropna(subset=[*OF_RESIDUES])
    if stated["cluster"].nunique() >= FEWEST_CLUSTERS:
        curves = [fit_curve(stated, OF_RESIDUES)]
    seen = pooled[~decoys["group"].isin(made).to_numpy()] if made else pooled
    like = decoys[~decoys["group"].isin(made)] if made else decoys
    return calibrated(decoys, similarity, curves, made).model_copy(
        update={"domain": fit_domain(like, seen)}
    )


def calibrated(
    decoys: pd.DataFrame,
    similarity: Similarity,
    curves: list[Curve],
    made: Collection[str] = (),
) -> Judge:
    """A judge with these curves of pLDDT, calibrated on some decoys.

    decoys, similarity, made : as for `fit_judge`.
    """
    stated = decoys.dropna(subset=[*OF_RESIDUES])
    judge = uncalibrated(stated, curves)
    plain = observations(judge, decoys, similarity, confidence=False)
    fitted = {"structure": fit_calibration(plain, made), "with_confidence": None}
    if curves and len(stated):
        known = observations(judge, decoys, similarity).dropna(subset=["confidence"])
        fitted["with_confidence"] = fit_calibration(known, made)
    return Judge(**{**dict(judge), **fitted})


def uncalibrated(stated: pd.DataFrame, curves: list[Curve]) -> Judge:
    """Return a judge without calibration.

    stated, curves : as for `fit_levels`
    """
    return Judge.model_construct(  # type: ignore[call-arg]  # the calibration is fitted next
        temperature=TEMPERATURE,
        consensus=CONSENSUS,
        size=SIZE,
        of_residues=curves,
        of_pairs=PAIR_CURVES,
        levels=fit_levels(stated, curves),
        with_confidence=None,
        domain=None,
        quality=None,
    )


def fit_levels(stated: pd.DataFrame, curves: Sequence[Curve]) -> dict[str, Levels]:
    """Return the levels of the curves of confidence, by kind of complex.

    Parameters
    ----------
    stated : (n,) rows `kind`, `cluster`, `dockq` and `OF_RESIDUES`, all known
    curves : of `OF_RESIDUES`, at most one
    """
    levels = {}
    has_binder = stated["kind"].isin(WITH_BINDER)
    for name, rows in ((REST, stated[~has_binder]), (BINDERS, stated[has_binder])):
        is_enough = rows["cluster"].nunique() >= FEWEST_OF_KIND
        shifts = [fit_shift(curve, rows) for curve in curves if is_enough]
        levels[name] = Levels(residues=sum(shifts), pairs=PAIR_LEVELS[name])
    return levels


def pools(decoys: pd.DataFrame, n: int | None, seed: int = 0) -> Iterator[np.ndarray]:
    """Places of n decoys of each target that has so many, drawn at random.

    Where n is None, these are all decoys.
    """
    draw = np.random.default_rng(seed)
    for places in decoys.groupby(["dataset", "target"], sort=False).indices.values():
        if n is None:
            yield places
        elif len(places) >= n:
            yield np.sort(draw.choice(places, n, replace=False))


def observations(
    judge: Judge,
    decoys: pd.DataFrame,
    similarity: Similarity,
    sizes: Collection[int | None] = SIZES,
    *,
    confidence: bool = True,
    seed: int = 0,
) -> pd.DataFrame:
    """Every decoy as the judge sees it, once for each pool that it is drawn into.

    Parameters
    ----------
    judge : with or without calibration
    decoys, similarity : as for `fit_judge`
    confidence : whether confidence counts

    Returns
    -------
    Rows `place` (in decoys), `pool`, `size`, `n` (decoys of the pool), `group`, `cluster`, `dockq`,
    `consensus`,
    `confidence`, `level` and `above`
    """
    network = decoys["pred_dockq"].to_numpy(float)
    residues = decoys["n_interface_residues"].to_numpy(float)
    by_confidence = np.full(len(decoys), np.nan)
    if confidence:
        measures = {}
        for name in (*OF_RESIDUES, *OF_PAIRS):
            unknown = pd.Series(np.nan, index=decoys.index)
            measures[name] = decoys.get(name, unknown).to_numpy(float)
        by_confidence = judge.confidence(
            measures, decoys["kind"].tolist(), [""] * len(decoys)
        )
    within = decoys.groupby(["dataset", "target"], sort=False).cumcount().to_numpy()
    keys = list(zip(decoys["dataset"], decoys["target"], strict=True))
    parts: list[pd.DataFrame] = []
    for size in sizes:
        for rows in pools(decoys, size, seed):
            among = similarity[keys[rows[0]]][np.ix_(within[rows], within[rows])]
            witnesses = {"network": network[rows], "confidence": by_confidence[rows]}
            standing = judge.standing(witnesses, among, residues[rows])
            part = pd.DataFrame(standing._asdict())
            part = part.assign(
                place=rows,
                confidence=by_confidence[rows],
                pool=len(parts),
                size=size or 0,
                n=len(rows),
            )
            parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    about = (
        decoys[["group", "cluster", "dockq"]]
        .iloc[table["place"]]
        .reset_index(drop=True)
    )
    return pd.concat([table, about], axis=1)


def fit_calibration(observed: pd.DataFrame, made: Collection[str] = ()) -> Calibration:
    """The calibration that comes nearest to what was observed.

    The next models may come from a source that nobody has seen. So bounds and probabilities are
    read off at the DockQ that is expected of each group without it, where there are several.

    observed : from `observations`. made : groups of decoys made around natives.
    """
    table = observed.assign(weight=_weights(observed, made))
    line = _fit_line(table)
    table["expected"] = line.expected(table["level"], table["above"])
    if table["group"].nunique() > 1:
        for _, rows in table.groupby("group"):
            of_others = _fit_line(table.drop(rows.index))
            expected = of_others.expected(rows["level"], rows["above"])
            table.loc[rows.index, "expected"] = expected
    return Calibration(**{**dict(line), "knots": _knots(table)})


def _fit_line(table: pd.DataFrame) -> Calibration:
    """A calibration without knots. table : `dockq`, `level`, `above` and `weight`."""
    dockq, level, above = table[["dockq", "level", "above"]].to_numpy().T
    root = np.sqrt(table["weight"].to_numpy())

    def errors(p: Floats) -> Floats:
        return (1 / (1 + np.exp(-(p[0] + p[1] * level + p[2] * above))) - dockq) * root

    constant, *slopes = least_squares(
        errors, [-2.0, 4.0, 4.0], bounds=([-20, 0, 0], [20, 40, 40])
    ).x
    numbers = [shortened(value) for value in (constant, *slopes)]
    return Calibration.model_construct(
        constant=numbers[0], mean=numbers[1], within=numbers[2], knots=[]
    )


def _weights(observed: pd.DataFrame, made: Collection[str]) -> Floats:
    """Weight of each row: groups, sizes within them and clusters within these weigh the same."""
    cell = observed["group"].astype(str) + " " + observed["size"].astype(str)
    of_cluster = cell + " " + observed["cluster"].astype(str)
    weight = cluster_weights(of_cluster)
    weight = (
        weight / pd.Series(weight).groupby(cell.to_numpy()).transform("sum").to_numpy()
    )
    return weight * np.where(observed["group"].isin(made), OF_MADE, 1.0)


def _knots(table: pd.DataFrame) -> list[Knot]:
    """Knots through parts of equal weight. table : `expected`, `dockq`, `cluster` and `weight`."""
    table = table.sort_values("expected", ignore_index=True)
    reached = (table["weight"].cumsum() - table["weight"] / 2) / table["weight"].sum()
    parts = [table]
    for n in range(PARTS, 1, -1):
        parts = [part for _, part in table.groupby((reached * n).astype(int))]
        if min(part["cluster"].nunique() for part in parts) >= FEWEST_CLUSTERS:
            break
    rows = np.array([_knot(part) for part in parts])
    rows[:, 1:] = np.maximum.accumulate(rows[:, 1:])
    knots: list[Knot] = []
    for dockq, low, high, probability in rows.round(4).tolist():
        if not knots or dockq > knots[-1].dockq:
            knots.append(
                Knot(dockq=dockq, low=low, high=high, p_acceptable=probability)
            )
    return (
        [*knots, knots[-1].model_copy(update={"dockq": 1.0})]
        if len(knots) == 1
        else knots
    )


def _knot(part: pd.DataFrame) -> tuple[float, float, float, float]:
    """Mean DockQ to expect, bounds of DockQ and share of acceptable models of a part.

    The next models come from a source that nobody has seen: a further group counts as one outside
    the bounds, as in conformal prediction (Dunn, Wasserman & Ramdas 2022, arXiv:1809.07441); of a
    single group, a further cluster does.
    """
    clusters, groups = part["cluster"].nunique(), part["group"].nunique()
    units = groups if groups > 1 else clusters
    outside = max((1 - LEVEL) / 2 - LEVEL / 2 / units, 0.0)
    ordered = part.sort_values("dockq")
    share = ordered["weight"].cumsum().to_numpy() / ordered["weight"].sum()
    places = np.searchsorted(share, [outside, 1 - outside - TINY]).clip(
        max=len(ordered) - 1
    )
    low, high = ordered["dockq"].to_numpy()[places]
    acceptable = np.average(part["dockq"] >= ACCEPTABLE, weights=part["weight"])
    probability = (acceptable * clusters + UNSEEN / 2) / (clusters + UNSEEN)
    return np.average(part["expected"], weights=part["weight"]), low, high, probability


def fit_domain(decoys: pd.DataFrame, pooled: Floats) -> Domain:
    """Return the domain.

    Parameters
    ----------
    decoys : (n,) rows `n_interface_residues`, `n_chains`, `cluster` and `kind` of complex
    pooled : (n, d)
    """
    center = pooled.mean(axis=0)
    variances, axes = np.linalg.eigh(
        np.cov(pooled, rowvar=False).reshape(pooled.shape[1], -1)
    )
    largest_first = np.argsort(-variances)[:AXES]
    leading = largest_first[variances[largest_first] > TINY * variances[-1]].tolist()
    domain = Domain(
        n_interface_residues=_range(decoys["n_interface_residues"]),
        n_chains=_range(decoys["n_chains"]),
        center=[shortened(value) for value in center],
        axes=[list(map(shortened, axes[:, k])) for k in leading],
        deviations=[shortened(value) for value in np.sqrt(variances[leading])],
        limit=0,
        kinds=kinds_learned(decoys),
    )
    limit = np.quantile(domain.distances(pooled), 1 - 2 * RARE, method="inverted_cdf")
    return domain.model_copy(update={"limit": shortened(float(limit))})


def kinds_learned(decoys: pd.DataFrame) -> tuple[str, ...]:
    """Return the kinds of complexes that enough clusters have. decoys : `kind`, `cluster`."""
    clusters = decoys.groupby("kind")["cluster"].nunique()
    return tuple(kind for kind in KINDS if clusters.get(kind, 0) >= FEWEST_OF_KIND)


def _range(sizes: pd.Series) -> tuple[int, int]:
    low, high = np.quantile(sizes, [RARE, 1 - RARE], method="inverted_cdf")
    return int(low), int(high)
