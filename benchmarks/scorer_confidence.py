"""What the predictor's own confidence is worth beside the scorer: judged out of fold, and fitted to be shipped.

    PYTHONPATH=lib python benchmarks/scorer_confidence.py docs/scorer MODELS LABELS STATED \
        --pairs CANDIDATES --scorer resources/scorer

docs/scorer has predictions.csv.gz of the study. MODELS is the folder of the predicted models, <target>/<decoy>.pdb with
pLDDT as B factors; LABELS a table with `target`, `decoy` and `partners`; STATED one with `predictor_rank` and
`iptm_ptm`. CANDIDATES is a table of models with ipTM, ipSAE, LIS, pDockQ2 and DockQ, from which the curves of these
measures come (`PAIR_CURVES`). Writes confidence.csv and reliability.csv beside the predictions, with --picture a
drawing of the latter and, with --scorer, confidence.json into that scorer.

Figures are means over the rounds of `scorer.py`, 95 % intervals by bootstrap over clusters.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd

from scorer import DRAWS, SEED, judged
from scorer_expected import FITTED, PREDICTORS, ROUNDS, first, mean_of_clusters
from toporank.inputs.confidence.decoy import Asked, examine
from toporank.inputs.confidence.table import ALWAYS
from toporank.metrics import ACCEPTABLE
from toporank.scorer.conformal import cluster_weights
from toporank.scorer.expected import expectation, held_against_others, probability
from toporank.scorer.manifest import OWN_CONFIDENCE, read_manifest, seal
from toporank.scorer.own_confidence import OF_PAIRS, OwnConfidence, fit_curve, fit_own_confidence, write_own_confidence

MEASURES = ("plddt", "interface_plddt", "contact_plddt", "pdockq")
OF_CANDIDATES = {"iptm": "iptm_full_precision", "ipsae": "ipSAE", "lis": "LIS", "pdockq2": "pDockQ2_mean"}
"""The names of our measures in the table of candidates."""
BOTH, BOTH_ALONE = "structure and confidence", "structure and confidence, each model alone"
SETS = {"all of 10": "", **PREDICTORS}
FIRST = "first of each target"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tables", "models", "labels", "stated"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--scorer", type=Path, help="gets confidence.json")
    parser.add_argument("--picture", type=Path, help="written: how often models are acceptable, by probability")
    args = parser.parse_args()
    text = {"target": str, "decoy": str, "cluster": str}
    predictions = pd.read_csv(args.tables / "predictions.csv.gz", dtype=text)
    predictions = predictions[predictions["group"] == FITTED].reset_index(drop=True)
    table = with_confidence(predictions, args.models, args.labels, args.stated)
    print(*pair_curves(args.pairs), sep="\n")
    result = pd.concat([out_of_fold(table, begin, name) for name, begin in SETS.items()])
    estimated = {name: estimates_of(table, begin) for name, begin in SETS.items()}
    intervals = pd.concat([picked(sets, name) for name, sets in estimated.items()])
    found = pd.concat([result, intervals])
    found.round(4).to_csv(args.tables / "confidence.csv", index=False)
    bins = reliability(estimated["all of 10"])
    bins.round(4).to_csv(args.tables / "reliability.csv", index=False)
    if args.picture:
        draw(bins, args.picture)
    shown = found.pivot(index=["models", "answer"], columns="metric", values="value").round(3)
    print(shown.to_string())
    if args.scorer:
        own = fit_own_confidence(in_round(table, ROUNDS[0]))
        print(own.model_dump_json(exclude={"expected", "expected_alone"}, indent=1))
        made_with = read_manifest(args.scorer).made_with
        write_own_confidence(args.scorer / OWN_CONFIDENCE, own)
        seal(args.scorer, mean=True, made_with=made_with)


def with_confidence(predictions: pd.DataFrame, models: Path, labels: Path, stated: Path) -> pd.DataFrame:
    """The predictions with the measures of every model, and its place in its predictor's own order."""
    given = pd.read_csv(labels, dtype=str).set_index(["group", "target", "decoy"])["partners"]
    asked = [
        (models / row.target / f"{row.decoy}.pdb", tuple(map(tuple, given[FITTED, row.target, row.decoy].split(":"))))
        for row in predictions.itertuples()
    ]
    with ProcessPoolExecutor(os.process_cpu_count() if hasattr(os, "process_cpu_count") else 2) as pool:
        measures = pd.DataFrame(pool.map(measured, asked, chunksize=20))
    said = pd.read_csv(stated, dtype={"target": str}).drop(columns="mean_plddt")
    table = pd.concat([predictions, measures], axis=1).merge(said, on=["target", "decoy"], validate="1:1")
    if table[[*MEASURES]].isna().any(axis=None) or len(table) != len(predictions):
        raise ValueError("the confidence of some model is not known")
    return table.assign(unit=table["dataset"] + "/" + table["target"])


def measured(asked: tuple[Path, tuple]) -> dict[str, float]:
    """The measures of one model; where its chains are not those of its partners, each chain is a partner."""
    path, partners = asked
    rows = (examine(Asked(path.parent.name, path.stem, path, given), ALWAYS).row for given in (partners, ()))
    row = next(row for row in rows if row.pdockq is not None)
    return {name: getattr(row, name) for name in MEASURES}


def pair_curves(path: Path) -> list:
    """The curves of what is known of pairs of residues or chains, each system weighing the same."""
    table = pd.read_csv(path).rename(columns={theirs: ours for ours, theirs in OF_CANDIDATES.items()})
    table = table.rename(columns={"DockQ": "dockq", "complex_id": "cluster"})
    return [fit_curve(table[["cluster", "dockq", name]].dropna(), [name]) for name in OF_PAIRS]


def in_round(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table as a round predicts it, under the names that `fit_own_confidence` takes."""
    return table.assign(predicted=table[f"scorer{name}"], alone=table[f"alone{name}"], target=table["unit"])


def folds(table: pd.DataFrame, asked: pd.DataFrame) -> Iterator[tuple[OwnConfidence, pd.DataFrame]]:
    """The rows of each fold, and what was fitted to the other folds of the whole table."""
    for fold, rows in asked.groupby("fold"):
        yield fit_own_confidence(table[table["fold"] != fold]), rows


def answers_of(table: pd.DataFrame, asked: pd.DataFrame) -> pd.DataFrame:
    """Of each asked row what both say, among the asked ones and alone, with bounds and DockQ to expect; out of fold."""
    found = []
    for own, rows in folds(table, asked):
        confidence = own.speaks_for({name: rows[name] for name in MEASURES})
        among = own.joined(rows["predicted"], confidence, rows["target"], True)
        alone = own.joined(rows["alone"], confidence, range(len(rows)), True)
        held = held_against_others(among, rows["target"])
        low, high, dockq = expectation(own.expected, held)
        low_1, high_1, dockq_1 = expectation(own.expected_alone, alone)
        said = {"both": among, "both_alone": alone, "confidence": confidence, "low": low, "high": high, "mean": dockq}
        said |= {"p": probability(own.expected, held), "p_alone": probability(own.expected_alone, alone)}
        said |= {"low_alone": low_1, "high_alone": high_1, "mean_alone": dockq_1}
        found.append(rows.assign(**said))
    return pd.concat(found).sort_index()


def out_of_fold(table: pd.DataFrame, begin: str, name: str) -> pd.DataFrame:
    """Metrics of every answer for the models of one predictor, or of all."""
    rounds = []
    for each in ROUNDS:
        whole = in_round(table, each)
        asked = whole[whole["decoy"].str.startswith(begin)].reset_index(drop=True)
        rounds.append(answers_of(whole, asked))
    said: dict[str, list[np.ndarray]] = {
        "structure": [rows["predicted"].to_numpy() for rows in rounds],
        "structure, each model alone": [rows["alone"].to_numpy() for rows in rounds],
        "confidence": [rows["confidence"].to_numpy() for rows in rounds],
        BOTH: [rows["both"].to_numpy() for rows in rounds],
        BOTH_ALONE: [rows["both_alone"].to_numpy() for rows in rounds],
    }
    ordering = {measure: rounds[0][measure].to_numpy(float) for measure in MEASURES}
    if begin:
        ordering["the predictor's own order"] = -rounds[0]["predictor_rank"].to_numpy(float)
    if rounds[0]["iptm_ptm"].notna().all():
        ordering["0.8 ipTM + 0.2 pTM"] = rounds[0]["iptm_ptm"].to_numpy(float)
    said |= {key: [values] * len(rounds) for key, values in ordering.items()}
    for measure in ("interface_plddt", "contact_plddt", "pdockq"):
        said[f"mean z of structure and {measure}"] = [z(rows, "predicted") + z(rows, measure) for rows in rounds]
    found = judged(rounds[0], said)
    no_dockq = (found["metric"] == "mse") & ~found["answer"].isin([key for key in said if key in DOCKQ])
    return found[~no_dockq].assign(models=name)


DOCKQ = ("structure", "structure, each model alone", "confidence", BOTH, BOTH_ALONE)
"""Answers that are DockQ; all others only rank."""


def z(rows: pd.DataFrame, column: str) -> np.ndarray:
    """A column in standard deviations from the mean of the target."""
    of_target = rows.groupby("target")[column]
    return ((rows[column] - of_target.transform("mean")) / (of_target.transform("std") + 1e-3)).to_numpy()


def estimates_of(table: pd.DataFrame, begin: str) -> dict[str, pd.DataFrame]:
    """The models of one predictor, or of all, with bounds, expected DockQ and probability, in all rounds: the first of
    each target, each among the others, each alone.
    """
    parts, every, lone = [], [], []
    for each in ROUNDS:
        whole = in_round(table, each)
        rows = answers_of(whole, whole[whole["decoy"].str.startswith(begin)])
        parts.append(first(rows.assign(predicted=rows["both"])))
        every.append(rows)
        by_itself = {name: rows[f"{name}_alone"] for name in ("low", "high", "mean", "p")}
        lone.append(rows.assign(**by_itself))
    sets = {FIRST: parts, "each model among the others": every, "each model alone": lone}
    return {answer: pd.concat(rows) for answer, rows in sets.items()}


def picked(sets: dict[str, pd.DataFrame], name: str) -> pd.DataFrame:
    """How far the expected DockQ of models is off, and how often its interval holds. sets : as from `estimates_of`."""
    found = []
    for answer, rows in sets.items():
        right = rows["dockq"] >= ACCEPTABLE
        error = calibration_error(rows["p"].to_numpy(), right.to_numpy(), cluster_weights(rows["cluster"]))
        found.append((answer, FITTED, rows["cluster"].nunique(), "calibration_error", error, np.nan, np.nan))
        if answer == FIRST:
            chance = error_by_chance(rows["p"].to_numpy(), rows["target"], cluster_weights(rows["cluster"]))
            found.append((answer, FITTED, rows["cluster"].nunique(), "error_by_chance", *chance))
        values = {
            "brier": (rows["p"] - right) ** 2,
            "bias": rows["mean"] - rows["dockq"],
            "inside": (rows["low"] <= rows["dockq"]) & (rows["dockq"] <= rows["high"]),
            "width": rows["high"] - rows["low"],
        }
        for metric, value in values.items():
            found.append((answer, FITTED, rows["cluster"].nunique(), metric, *mean_of_clusters(rows["cluster"], value)))
    columns = ["answer", "group", "clusters", "metric", "value", "low", "high"]
    return pd.DataFrame(found, columns=columns).assign(models=name)


def reliability(sets: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """In ten bins of the probability: its mean, and the share of models that are acceptable with its 95 % interval.

    Each cluster weighs the same. sets : as from `estimates_of`.
    """
    found = []
    for answer, rows in sets.items():
        places = np.minimum((rows["p"].to_numpy() * 10).astype(int), 9)
        for place, own in rows.groupby(places):
            right = own["dockq"] >= ACCEPTABLE
            weight = cluster_weights(own["cluster"])
            share, mean = (float(np.average(values, weights=weight)) for values in (right, own["p"]))
            _, low, high = mean_of_clusters(own["cluster"], right.astype(float))
            n = len(own) // len(ROUNDS)
            found.append((answer, place / 10, n, own["cluster"].nunique(), mean, share, low, high))
    columns = ["answer", "from", "models", "clusters", "probability", "acceptable", "low", "high"]
    return pd.DataFrame(found, columns=columns)


def draw(bins: pd.DataFrame, path: Path) -> None:
    """A drawing of `reliability`."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "toporank", "svg.fonttype": "none", "font.size": 8})
    figure, axes = plt.subplots(1, 3, figsize=(8.4, 3), sharey=True)
    for ax, (answer, rows) in zip(axes, bins.groupby("answer", sort=False), strict=True):
        ax.plot([0, 1], [0, 1], color="#bdbdbd", lw=0.8)
        ends = np.abs(rows[["low", "high"]].T.to_numpy() - rows["acceptable"].to_numpy())
        ax.errorbar(rows["probability"], rows["acceptable"], yerr=ends, fmt="o", ms=3, lw=0.8, color="#00796b")
        ax.set(title=answer, xlim=(0, 1), ylim=(0, 1), xlabel="probability given", aspect="equal")
    axes[0].set_ylabel("share with DockQ of 0.23 or more")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None}, facecolor="white")


def calibration_error(p: np.ndarray, right: np.ndarray, weight: np.ndarray) -> float:
    """Mean distance of probabilities, (n,), from the share that is right, in ten bins of equal width."""
    place = np.minimum((p * 10).astype(int), 9)
    sums = (np.bincount(place, weight * values, minlength=10) for values in (p, right))
    return float(np.abs(np.subtract(*sums)).sum() / weight.sum())


def error_by_chance(p: np.ndarray, target: pd.Series, weight: np.ndarray) -> tuple[float, float, float]:
    """The calibration error that probabilities have which are true: mean, and the middle 95 % of `DRAWS` draws.

    A target has the same luck in all rounds.
    """
    places = pd.factorize(target)[0]
    luck = np.random.default_rng(SEED).random((DRAWS, places.max() + 1))
    errors = [calibration_error(p, each[places] < p, weight) for each in luck]
    return float(np.mean(errors)), *map(float, np.quantile(errors, [0.025, 0.975]))


if __name__ == "__main__":
    main()
