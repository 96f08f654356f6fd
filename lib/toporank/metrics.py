"""Every metric of the project: how well predicted DockQ ranks the decoys of a target.

Training, checkpoint selection, evaluation and report all call this module, so that a number means
the same thing wherever it is printed. Below, `y` is the true and `p` the predicted DockQ of the n
decoys of a target: two arrays of shape (n,) in the same order. Unless said otherwise a function
raises ValueError if their shapes differ, there is no decoy, or a value is not finite.

*Per target* means computed inside each target, then averaged over targets; *pooled* means computed
once over all decoys, which also rewards telling easy targets from hard ones. The two differ widely
on the usual benchmarks: never give one without the other.

Tie rule: of equally predicted decoys the one given first ranks higher. Functions of a table sort it
by target and decoy name, so the order of its rows is irrelevant; callers of the others sort by
decoy name.

Sources: DockQ and its CAPRI thresholds, Basu & Wallner 2016 (PLoS ONE 11:e0161879); ranking loss
and hits, Chen et al. 2023 (DProQA, Bioinformatics 39:i308); AUROC from ranks, Hanley & McNeil 1982
(Radiology 143:29); percentile bootstrap, Efron & Tibshirani 1993.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd

ACCEPTABLE, MEDIUM, HIGH = 0.23, 0.49, 0.80
"""Lowest DockQ of each CAPRI class above incorrect."""

CAPRI_NAMES = ("incorrect", "acceptable", "medium", "high")
TOP_N = (1, 5, 10)
"""Depths N of hits@N and success@N."""

MIN_DECOYS = 3
"""Fewest decoys with a correlation: two always correlate with +1 or -1, which says nothing."""

TABLE_COLUMNS = ("target", "decoy", "dockq", "pred_dockq")
POOLED = ("spearman", "pearson", "auroc", "mae", "rmse")
INTERVAL_PERCENT = (2.5, 97.5)
VALIDATION_SCORES = (
    "spearman_pooled",
    "pearson_pooled",
    "spearman_per_target",
    "pearson_per_target",
    "ranking_loss",
)

Floats = NDArray[np.floating]
"""Numbers in double precision."""
Ints = NDArray[np.int64]
"""Whole numbers, such as places and counts."""


def capri_class(dockq: ArrayLike) -> Ints:
    """Return the CAPRI class of each DockQ.

    Parameters
    ----------
    dockq : of any shape, in [0, 1]; a threshold belongs to its class

    Returns
    -------
    classes : int, of the same shape, 0 to 3 as in `CAPRI_NAMES`

    Examples
    --------
    >>> capri_class([0.1, 0.23, 0.49, 0.8])
    array([0, 1, 2, 3])
    """
    values = _finite(dockq, "DockQ")
    return np.searchsorted([ACCEPTABLE, MEDIUM, HIGH], values, side="right").astype(
        np.int64
    )


def class_of(dockq: float) -> str:
    """The name of the CAPRI class of one DockQ."""
    return CAPRI_NAMES[int(capri_class(dockq))]


def ranking_loss(dockq: ArrayLike, predicted: ArrayLike) -> float:
    """Best DockQ minus that of the decoy predicted best, max(y) - y[argmax p].

    It is in [0, 1], and 0 is perfect.

    >>> ranking_loss([0.75, 0.25, 0.0], predicted=[0.4, 0.6, 0.1])
    0.5
    """
    y, p = _paired(dockq, predicted)
    return float(y.max() - y[p.argmax()])


def random_pick_loss(dockq: ArrayLike) -> float:
    """Expected ranking loss of a random pick, max(y) - mean(y).

    It is in [0, 1], and belongs beside every loss.
    """
    y, _ = _paired(dockq, dockq)
    loss = float(y.max() - y.mean())
    return max(0.0, loss)  # the mean of equal values can exceed them by rounding


def hits_at(
    dockq: ArrayLike, predicted: ArrayLike, n: int, threshold: float = ACCEPTABLE
) -> int:
    """Number of decoys with y >= `threshold` among the `n` >= 1 predicted best.

    It counts among all if there are fewer.

    >>> hits_at([0.75, 0.25, 0.0], predicted=[0.4, 0.6, 0.1], n=2)
    2
    """
    y, p = _paired(dockq, predicted)
    if n < 1:
        raise ValueError(
            f"the number of top models to look at must be 1 or more, not {n}"
        )
    top = np.argsort(-p, kind="stable")[:n]
    return int(np.count_nonzero(y[top] >= threshold))


def pearson(dockq: ArrayLike, predicted: ArrayLike) -> float:
    """Pearson correlation in [-1, 1].

    It is nan for fewer than `MIN_DECOYS`, or where y or p is constant.
    """
    y, p = _paired(dockq, predicted)
    return _correlation(y, p, np.ones(y.size))


def spearman(dockq: ArrayLike, predicted: ArrayLike, times: ArrayLike = 1) -> float:
    """Spearman correlation: `pearson` of the ranks, tied values sharing their mean rank.

    Parameters
    ----------
    dockq, predicted : shape (n,)
    times : how often each decoy is there, as in a sample drawn with replacement; once by default

    Returns
    -------
    correlation : in [-1, 1]; nan with too few decoys, or where all values are equal

    Examples
    --------
    >>> round(spearman([0.7, 0.3, 0.1], predicted=[0.5, 0.6, 0.2]), 2)
    0.5
    """
    y, p = _paired(dockq, predicted)
    counts = np.broadcast_to(np.asarray(times, np.float64), y.shape)
    return _rank_correlation(_levels(y), _levels(p), counts)


def auroc(
    dockq: ArrayLike, predicted: ArrayLike, threshold: float = ACCEPTABLE
) -> float:
    """Chance that a decoy with y >= `threshold` is predicted above one without.

    A tie counts half.

    In [0, 1], 0.5 for a prediction without information; nan if there is no decoy on one of the two
    sides.
    """
    y, p = _paired(dockq, predicted)
    return _auroc(y >= threshold, _levels(p), np.ones(y.size))


def per_target(table: pd.DataFrame) -> pd.DataFrame:
    """Metrics of each target.

    Parameters
    ----------
    table
        One row per decoy, with the columns `TABLE_COLUMNS`. Leave out unlabelled decoys first, and
        report their number.

    Returns
    -------
    DataFrame
        One row per target, sorted by target: target, n_decoys, best_dockq, top_decoy (the one
        predicted best), top_dockq, ranking_loss, random_pick_loss, hits_at_{N}, success_at_{N},
        spearman, pearson, auroc.

    Raises
    ------
    ValueError
        A column is missing, there is no row, or rows lack a name, a label in [0, 1] or a finite
        prediction, or repeat a decoy; the message has their number.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {
    ...         "target": ["1ABC"] * 3,
    ...         "decoy": ["a", "b", "c"],
    ...         "dockq": [0.7, 0.3, 0.1],
    ...         "pred_dockq": [0.5, 0.6, 0.2],
    ...     }
    ... )
    >>> per_target(table)[["target", "top_decoy", "ranking_loss", "spearman"]]
      target top_decoy  ranking_loss  spearman
    0   1ABC         b           0.4       0.5
    """
    import pandas as pd  # which takes longer to import than a ranking to make

    scores = []
    for target, decoys in _checked_table(table).groupby("target"):
        y = decoys["dockq"].to_numpy(np.float64)
        p = decoys["pred_dockq"].to_numpy(np.float64)
        top = int(p.argmax())
        row = {
            "target": target,
            "n_decoys": y.size,
            "best_dockq": y.max(),
            "top_decoy": decoys["decoy"].iloc[top],
            "top_dockq": y[top],
            "ranking_loss": ranking_loss(y, p),
            "random_pick_loss": random_pick_loss(y),
        }
        row |= {f"hits_at_{n}": hits_at(y, p, n) for n in TOP_N}
        row |= {f"success_at_{n}": hits_at(y, p, n) > 0 for n in TOP_N}
        row |= {
            "spearman": spearman(y, p),
            "pearson": pearson(y, p),
            "auroc": auroc(y, p),
        }
        scores.append(row)
    return pd.DataFrame(scores)


def summarise(
    table: pd.DataFrame,
    n_bootstrap: int = 1000,
    seed: int = 0,
    clusters: Mapping | None = None,
) -> dict:
    """Summary of the predictions for many targets, ready for JSON: nan is None.

    Parameters
    ----------
    table
        As for `per_target`.
    n_bootstrap
        Number of bootstrap samples: as many targets as there are, drawn with replacement, each with
        all its decoys. 0 leaves the intervals out.
    seed
        Of the draws; the same seed and table, in any order of rows, give the same numbers.
    clusters
        The cluster of each target, if whole clusters are to be drawn instead of targets.

    Returns
    -------
    dict
        n_targets, n_clusters (or n_targets), n_decoys, n_bootstrap, seed;

        per_target : for each metric of `per_target`, {mean, median, low, high, n_targets} over the
        targets where it is defined; low and high bound the 95 % percentile interval of the mean;

        pooled : {value, low, high} for each name in `POOLED`;

        attainable_success : share of targets with an acceptable decoy, the maximum of success@N for
        every N;

        n_negative_spearman : number of targets ranked the wrong way round;

        n_undefined_correlation, undefined_correlation_targets : targets absent from the mean
        correlations because labels or predictions are constant or decoys fewer than `MIN_DECOYS`.

        low and high are None with fewer than two defined targets, or one cluster: one says nothing
        about the others.

    Raises
    ------
    ValueError
        As for `per_target`, or the number of samples is negative.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("1ABC", "a", 0.7, 0.5), ("1ABC", "b", 0.3, 0.6)]
    >>> table = pd.DataFrame(rows, columns=["target", "decoy", "dockq", "pred_dockq"])
    >>> loss = summarise(table, n_bootstrap=0)["per_target"]["ranking_loss"]
    >>> round(loss["mean"], 2), loss["n_targets"]
    (0.4, 1)
    """
    if n_bootstrap < 0:
        raise ValueError(
            f"the number of bootstrap samples cannot be negative: {n_bootstrap}"
        )
    rows = _checked_table(table)
    targets = per_target(table)
    cluster_of = _levels(targets["target"].map(clusters or str).to_numpy(str))
    n_clusters = int(cluster_of.max()) + 1
    size = n_bootstrap if n_clusters > 1 else 0
    share = np.full(n_clusters, 1 / n_clusters)
    of_clusters = np.random.default_rng(seed).multinomial(n_clusters, share, size=size)
    draws = of_clusters[:, cluster_of]
    undefined = targets.loc[targets["spearman"].isna(), "target"]
    metrics = targets.drop(columns=["target", "n_decoys", "top_decoy"])
    summary = {
        "n_targets": len(targets),
        "n_clusters": n_clusters,
        "n_decoys": len(rows),
        "n_bootstrap": n_bootstrap,
        "seed": seed,
        "per_target": {
            name: _mean_over_targets(metrics[name], draws, cluster_of)
            for name in metrics
        },
        "pooled": _pooled(rows, draws),
        "attainable_success": float((targets["best_dockq"] >= ACCEPTABLE).mean()),
        "n_negative_spearman": int((targets["spearman"] < 0).sum()),
        "n_undefined_correlation": len(undefined),
        "undefined_correlation_targets": list(map(str, undefined)),
    }
    return {key: _nan_to_none(entry) for key, entry in summary.items()}


def validation_scores(
    target_codes: ArrayLike, dockq: ArrayLike, predicted: ArrayLike
) -> dict[str, float]:
    """The scores `VALIDATION_SCORES` of a training epoch, without a table.

    Parameters
    ----------
    target_codes
        (n,) integers or names; equal ones mark the decoys of one target, in any order of targets.
    dockq, predicted
        (n,) true and predicted DockQ over all targets.

    Returns
    -------
    dict
        Those per target and the ranking loss are means over the targets where they are defined, nan
        if nowhere. All are nan if a prediction is not finite: a network that diverged must not stop
        a sweep, nor ever be selected.

    Examples
    --------
    >>> scores = validation_scores([0, 0, 0], dockq=[0.7, 0.3, 0.1], predicted=[0.5, 0.6, 0.2])
    >>> round(scores["ranking_loss"], 2)
    0.4
    """
    y = _finite(dockq, "true DockQ")
    if not np.isfinite(np.asarray(predicted, dtype=np.float64)).all():
        return dict.fromkeys(VALIDATION_SCORES, math.nan)
    y, p = _paired(y, predicted)
    codes = np.asarray(target_codes)
    if codes.shape != y.shape:
        what = f"{y.size} models need as many target codes"
        raise ValueError(f"{what}, not an array of shape {codes.shape}")
    # keeps the given order within a target: the tie rule
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(codes[order][1:] != codes[order][:-1]) + 1
    of_targets = []
    for target in np.split(order, starts):
        of_target = y[target], p[target]
        of_targets.append(
            (spearman(*of_target), pearson(*of_target), ranking_loss(*of_target))
        )
    means = map(_mean, np.transpose(of_targets))
    return dict(
        zip(VALIDATION_SCORES, (spearman(y, p), pearson(y, p), *means), strict=True)
    )


def _finite(values: ArrayLike, what: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    bad = np.count_nonzero(~np.isfinite(array))
    if bad:
        raise ValueError(
            f"{bad} of {array.size} values of {what} are not finite numbers"
        )
    return array


def _paired(dockq: ArrayLike, predicted: ArrayLike) -> tuple[Floats, Floats]:
    y, p = _finite(dockq, "true DockQ"), _finite(predicted, "predicted DockQ")
    if y.ndim != 1 or y.shape != p.shape:
        raise ValueError(
            f"true and predicted DockQ need one common shape (n,), not {y.shape} and {p.shape}"
        )
    if y.size == 0:
        raise ValueError("no models: a metric needs at least one")
    return y, p


def _checked_table(table: pd.DataFrame) -> pd.DataFrame:
    """The columns `TABLE_COLUMNS` sorted by target and decoy name."""
    missing = [name for name in TABLE_COLUMNS if name not in table.columns]
    if missing:
        has = list(table.columns)
        raise ValueError(f"the predictions lack the columns {missing}; they have {has}")
    if table.empty:
        raise ValueError("the table of predictions has no rows")
    dockq = table["dockq"].astype(np.float64)
    faults = {
        "have no target or model name": table[["target", "decoy"]].isna().any(axis=1),
        "repeat the target and model of an earlier row": table.duplicated(
            ["target", "decoy"]
        ),
        "are unlabelled (dockq is nan)": dockq.isna(),
        "have a dockq outside 0 to 1": ~dockq.between(0, 1),
        "have no finite pred_dockq": ~np.isfinite(
            table["pred_dockq"].astype(np.float64)
        ),
    }
    for fault, rows in faults.items():
        if rows.any():
            first = table[rows.to_numpy()].iloc[0]
            where = f"the first is {first['target']}/{first['decoy']}"
            raise ValueError(f"{rows.sum()} of {len(table)} rows {fault}, {where}")
    return table[list(TABLE_COLUMNS)].sort_values(
        ["target", "decoy"], ignore_index=True
    )


# In the functions below `counts`, shape (n,), says how many times each decoy was drawn. Ranking a
# bootstrap sample this way needs no sorting, since the order of the values is the same in every
# sample.


def _levels(values: NDArray[np.generic]) -> Ints:
    """Position of each value among the sorted distinct values."""
    return np.unique(values, return_inverse=True)[1]


def _mean_ranks(levels: Ints, counts: Floats) -> Floats:
    """Rank from 1 of each value, tied ones sharing the mean of theirs."""
    tied = np.bincount(levels, weights=counts)
    return (np.cumsum(tied) - (tied - 1) / 2)[levels]


def _correlation(x: Floats, y: Floats, counts: Floats) -> float:
    drawn = counts > 0
    x, y, counts = x[drawn], y[drawn], counts[drawn]
    if counts.sum() < MIN_DECOYS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    dx, dy = _deviations(x, counts), _deviations(y, counts)
    r = ((counts * dx) @ dy) / math.sqrt(((counts * dx) @ dx) * ((counts * dy) @ dy))
    return min(1.0, max(-1.0, float(r)))  # rounding may step over the ends


def _deviations(values: Floats, counts: Floats) -> Floats:
    """Deviations from the mean, divided by the largest.

    That keeps the squares of tiny ones from vanishing.
    """
    deviations = values - np.average(values, weights=counts)
    return deviations / np.abs(deviations).max()


def _rank_correlation(levels_x: Ints, levels_y: Ints, counts: Floats) -> float:
    return _correlation(
        _mean_ranks(levels_x, counts), _mean_ranks(levels_y, counts), counts
    )


def _auroc(positive: NDArray[np.bool_], levels: Ints, counts: Floats) -> float:
    n_positive, n_negative = counts[positive].sum(), counts[~positive].sum()
    if n_positive == 0 or n_negative == 0:
        return math.nan
    rank_sum = counts[positive] @ _mean_ranks(levels, counts)[positive]
    return float(
        (rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)
    )


def _pooled(rows: pd.DataFrame, draws: Ints) -> dict[str, dict[str, float]]:
    """Pooled metrics of a checked table, with intervals.

    `draws`, shape (n_bootstrap, n_targets), says how many times each target was drawn.
    """
    y = rows["dockq"].to_numpy(np.float64)
    p = rows["pred_dockq"].to_numpy(np.float64)
    levels_y, levels_p = _levels(y), _levels(p)
    target_of, _ = rows["target"].factorize()

    def scores(counts: Floats) -> list[float]:
        return [
            _rank_correlation(levels_y, levels_p, counts),
            _correlation(y, p, counts),
            _auroc(y >= ACCEPTABLE, levels_p, counts),
            float(np.average(np.abs(y - p), weights=counts)),
            math.sqrt(np.average((y - p) ** 2, weights=counts)),
        ]

    values = scores(np.ones(len(rows)))
    samples = [scores(draw[target_of].astype(np.float64)) for draw in draws]
    of_metrics = np.reshape(samples, (-1, len(POOLED))).T
    pooled = {}
    for name, value, of_metric in zip(POOLED, values, of_metrics, strict=True):
        pooled[name] = {"value": value, **_interval(of_metric, draws.shape[1])}
    return pooled


def _mean_over_targets(
    column: pd.Series, draws: Ints, cluster: Ints
) -> dict[str, float]:
    values = column.to_numpy(np.float64)
    is_defined = ~np.isnan(values)
    values, draws = values[is_defined], draws[:, is_defined]
    # 0 if a sample holds none of the targets where the metric is defined
    times = draws.sum(axis=1)
    samples = (draws @ values)[times > 0] / times[times > 0]
    return {
        "mean": _mean(values),
        "median": float(np.median(values)) if values.size else math.nan,
        **_interval(samples, len(set(cluster[is_defined]))),
        "n_targets": int(values.size),
    }


def _mean(values: ArrayLike) -> float:
    """Mean of the values that are not nan, nan if there is none."""
    numbers = np.asarray(values, dtype=np.float64)
    known = numbers[~np.isnan(numbers)]
    return float(known.mean()) if known.size else math.nan


def _interval(samples: Floats, n_clusters: int) -> dict[str, float]:
    samples = samples[~np.isnan(samples)]
    if samples.size == 0 or n_clusters < 2:
        return {"low": math.nan, "high": math.nan}
    low, high = np.percentile(samples, INTERVAL_PERCENT)
    return {"low": float(low), "high": float(high)}


def _nan_to_none(value: object) -> object:
    if isinstance(value, dict):
        return {key: _nan_to_none(entry) for key, entry in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value
