"""What DockQ to expect of a model that is picked: judged out of fold, from the predictions of the study.

    PYTHONPATH=lib python benchmarks/scorer_expected.py docs/scorer

Reads predictions.csv.gz of the folder, so that no decoy is needed, and writes expected.csv into it: bias and MSE of the
score and of the DockQ to expect, how often the intervals around them hold, and how often they are right about
acceptable or not, and with which error, each judged by the other folds. Figures are means over the rounds in which
each cluster weighs the same, with 95 % intervals by bootstrap over clusters.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from scorer import POSES
from toporank.metrics import ACCEPTABLE
from toporank.scorer.conformal import bounds, fit_intervals
from toporank.scorer.expected import expectation, fit_expected, held_against_others, probability

SEED, DRAWS, SUBSETS = 2026, 1000, 20
"""Of the bootstrap, and how often each target gives some of its models at random."""
FITTED = "bm55-af2-boltz"
"""The group of models that predictors made, from which their intervals come."""
OTHERS = "bm55-rigid"
"""A group of docked poses from which no interval comes."""
PREDICTORS = {"AlphaFold only": "af2m", "Boltz only": "boltz1"}
ROUNDS = ("", "_2", "_3")
MEASURES = ["bias", "squared_error", "inside", "acceptable_right", "brier"]
"""The last one is of the probability of an acceptable model; the score says 0 or 1."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path)
    args = parser.parse_args()
    predictions = read_predictions(args.tables / "predictions.csv.gz")
    result = judged(predictions)
    result.round(4).to_csv(args.tables / "expected.csv", index=False)
    print(markdown(result))


def read_predictions(path: Path) -> pd.DataFrame:
    """predictions.csv.gz with `target` unique over data sets; names that look like numbers stay text."""
    table = pd.read_csv(path, dtype={"target": str, "decoy": str, "cluster": str})
    return table.assign(target=table["dataset"] + "/" + table["target"])


def judged(predictions: pd.DataFrame) -> pd.DataFrame:
    """The measures of each set of picked models, of the score itself and of the DockQ to expect."""
    parts = [part for name in ROUNDS for part in picked(in_round(predictions, name))]
    rows = []
    for (group, models), own in pd.concat(parts).groupby(["group", "models"], sort=False):
        for answer in ("score", "expected"):
            for measure in MEASURES:
                found = mean_of_clusters(own["cluster"], own[f"{answer}_{measure}"])
                sizes = len(own) // len(ROUNDS), own["cluster"].nunique()
                rows.append((group, models, *sizes, answer, measure, *found))
    return pd.DataFrame(rows, columns=["group", "models", "n", "clusters", "answer", "measure", "value", "low", "high"])


def in_round(predictions: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table with `predicted` and `by_itself`, as a round predicts them."""
    return predictions.assign(predicted=predictions[f"scorer{name}"], by_itself=predictions[f"alone{name}"])


def picked(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Sets of models of one round, with their measures."""
    lone = table.assign(predicted=table["by_itself"], target=range(len(table)))
    some = table[table["group"] == FITTED]
    yield from (with_name(first(own), group, "first of all") for group, own in estimated(table, table).groupby("group"))
    yield from (
        with_name(first(estimated(table, some[some["decoy"].str.startswith(begin)])), FITTED, f"first of 5: {name}")
        for name, begin in PREDICTORS.items()
    )
    for n in (2, 3, 5):
        yield with_name(first(estimated(table, drawn(some, n))), FITTED, f"first of {n} at random")
    yield with_name(estimated(table, some), FITTED, "all of 10")
    poses = table[table["group"].isin([*POSES, OTHERS])]
    yield from (with_name(own, group, "all") for group, own in estimated(table, poses).groupby("group"))
    yield with_name(estimated(lone, lone[lone["group"] == FITTED]), FITTED, "each by itself")


def drawn(table: pd.DataFrame, n: int) -> pd.DataFrame:
    """Some models of each target, several times, each time as a target of its own. They keep their scores."""
    rng = np.random.default_rng(SEED)
    order = [table.assign(chance=rng.random(len(table)), draw=k) for k in range(SUBSETS)]
    parts = [one.sort_values("chance").groupby("target").head(n) for one in order]
    together = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    return together.assign(target=together["target"] + "#" + together["draw"].astype(str))


def estimated(known: pd.DataFrame, asked: pd.DataFrame) -> pd.DataFrame:
    """The measures of each of `asked`, judged by the other folds of `known`: the score by models of predictors, what to
    expect by decoys of its kind, predicted or docked."""
    held = asked.assign(held=held_against_others(asked["predicted"], asked["target"]))
    parts = held.groupby(["fold", held["group"] == FITTED])
    return pd.concat(_of_fold(known, own, fold, predicted) for (fold, predicted), own in parts)


def _of_fold(known: pd.DataFrame, asked: pd.DataFrame, fold: int, predicted: bool) -> pd.DataFrame:
    others = known[known["fold"] != fold]
    models, poses = others[others["group"] == FITTED], others[others["group"].isin(POSES)]
    scores, y = asked["predicted"].to_numpy(), asked["dockq"].to_numpy()
    curves, held = fit_expected(models if predicted else poses), asked["held"].to_numpy()
    low, high, dockq = expectation(curves, held)
    said = {
        "score": (scores, *bounds(fit_intervals(models), scores), (scores >= ACCEPTABLE).astype(float)),
        "expected": (dockq, low, high, probability(curves, held)),
    }
    columns = {
        f"{name}_{measure}": value
        for name, (middle, least, most, probable) in said.items()
        for measure, value in {
            "bias": middle - y,
            "squared_error": (middle - y) ** 2,
            "inside": (least <= y) & (y <= most),
            "acceptable_right": (middle >= ACCEPTABLE) == (y >= ACCEPTABLE),
            "brier": (probable - (y >= ACCEPTABLE)) ** 2,
        }.items()
    }
    return asked.assign(**columns)


def first(table: pd.DataFrame) -> pd.DataFrame:
    """The model of each target with the highest score."""
    return table.reset_index(drop=True).loc[lambda rows: rows.groupby("target")["predicted"].idxmax()]


def with_name(table: pd.DataFrame, group: str, models: str) -> pd.DataFrame:
    """The table under the names of what it holds."""
    return table.assign(group=group, models=models)


def mean_of_clusters(cluster: pd.Series, values: pd.Series) -> tuple[float, float, float]:
    """The mean of the means of clusters, with its interval where there are five clusters."""
    means = values.astype(float).groupby(cluster).mean().to_numpy()
    draws = np.random.default_rng(SEED).integers(len(means), size=(DRAWS, len(means)))
    interval = np.percentile(means[draws].mean(axis=1), [2.5, 97.5]) if len(means) >= 5 else (np.nan, np.nan)
    return means.mean(), *interval


def markdown(result: pd.DataFrame) -> str:
    """A row for each set of models: the measures of the score and of what to expect."""
    values = result.set_index(["group", "models", "answer", "measure"])
    heads = [f"{measure}, {answer}" for measure in MEASURES for answer in ("score", "expected")]
    lines = [f"| | | {' | '.join(heads)} |", "| --- | --- |" + " ---: |" * len(heads)]
    for group, models in result[["group", "models"]].drop_duplicates().itertuples(index=False):
        found = [values.loc[(group, models, a, m)] for m in MEASURES for a in ("score", "expected")]
        cells = [f"{row['value']:.3f} ({row['low']:.3f} to {row['high']:.3f})" for row in found]
        lines.append(f"| {group} | {models} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
