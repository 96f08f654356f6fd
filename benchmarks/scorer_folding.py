"""What inverse folding is worth beside the scorer: every number by itself, and summed with the scores, out of fold.

    PYTHONPATH=lib python benchmarks/scorer_folding.py data docs/scorer MEASURES

In the folder that has data/ (docs/scorer.md). MEASURES is a table of what ProteinMPNN says of every decoy; decoys that
it lacks are computed and added, 0.3 CPU seconds each. Writes folding.csv beside the predictions. Sums have weights of
zero or more, by least squares on the other folds of the same group, in which each cluster weighs the same. Figures are
means over the rounds of `scorer.py`, 95 % intervals by bootstrap over clusters.
"""

from __future__ import annotations

import argparse
import csv
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import lsq_linear

from scorer import judged
from scorer_expected import ROUNDS
from toporank.errors import TopoRankError
from toporank.features.inverse_folding import folding, measures
from toporank.scorer.conformal import cluster_weights
from toporank.structures.partners import parse_partners
from toporank.structures.read import read_complex

GROUPS = {"bm55-af2-boltz", "docked", "sabdab-docked", "protac-megadock", "bm55-rigid"}
KEYS = ["group", "target", "decoy"]
LOWER = ("rank_mean", "surprise_mean", "entropy_together_mean")
"""Measures that are lower the better the model is."""
SUMMED = ("gain_sum", "gain_contacts", "together_mean", "rank_mean", "recovery")
TAIL = 2
"""Percent of the values at either end that count as the value there: of models that clash, sums have no floor."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "tables", "measures"):
        parser.add_argument(name, type=Path)
    args = parser.parse_args()
    text = {"target": str, "decoy": str, "cluster": str}
    predictions = pd.read_csv(args.tables / "predictions.csv.gz", dtype=text)
    predictions = predictions[predictions["group"].isin(GROUPS)]
    add_missing(args.measures, args.data, predictions)
    said = pd.read_csv(args.measures, dtype=text)
    names = [name for name in said if name not in (*KEYS, "partners_fit", "cpu_s")]
    said[[*LOWER]] = -said[[*LOWER]]
    table = predictions.merge(said, on=KEYS, validate="1:1").reset_index(drop=True)
    table[names] = table[names].fillna(table.groupby("group")[names].transform("min"))  # no interface within 5 Å
    found = judged(table, answers(table, names))
    no_dockq = (found["metric"] == "mse") & found["answer"].isin(names)
    found[~no_dockq].round(4).to_csv(args.tables / "folding.csv", index=False)
    shown = found.pivot(index=["group", "answer"], columns="metric", values="value").round(3)
    print(shown.to_string())


def answers(table: pd.DataFrame, names: list[str]) -> dict[str, list[np.ndarray]]:
    """What each answer says of every decoy in every round."""
    found = {base: [table[f"{base}{name}"].to_numpy() for name in ROUNDS] for base in ("alone", "scorer")}
    found |= {name: [table[name].to_numpy()] * len(ROUNDS) for name in names}
    for base in ("alone", "scorer"):
        for name in SUMMED:
            found[f"{base} + {name}"] = [summed(table, f"{base}{each}", name) for each in ROUNDS]
    return found


def summed(table: pd.DataFrame, base: str, name: str) -> np.ndarray:
    """The weighted sum of a score and a number, each decoy by the other folds of its group: (n,)."""
    found = np.full(len(table), np.nan)
    for _, own in table.groupby("group"):
        for fold in own["fold"].unique():
            others, here = own[own["fold"] != fold], own[own["fold"] == fold]
            if others.empty:
                continue
            low, high = np.percentile(others[name], [TAIL, 100 - TAIL])
            root = np.sqrt(cluster_weights(others["cluster"]))
            fitted, asked = (
                np.column_stack([rows[base], rows[name].clip(low, high) / (high - low), np.ones(len(rows))])
                for rows in (others, here)
            )
            lowest = [0.0, 0.0, -np.inf]
            weights = lsq_linear(fitted * root[:, None], others["dockq"] * root, bounds=(lowest, np.inf)).x
            found[here.index] = np.clip(asked @ weights, 0, 1)
    return found


def add_missing(path: Path, data: Path, decoys: pd.DataFrame) -> None:
    """Compute and append what the table lacks."""
    known = set()
    if path.exists():
        known = set(pd.read_csv(path, dtype=str)[KEYS].itertuples(index=False, name=None))
    labels = pd.concat(pd.read_csv(data / group / "labels.csv", dtype=str) for group in decoys["group"].unique())
    partners = labels.fillna("").set_index(["group", "Target", "Model"])["Partners"].to_dict()
    keys = [key for key in decoys[KEYS].itertuples(index=False, name=None) if key not in known]
    asked = [(key, data / key[0] / "decoys" / key[1] / f"{key[2]}.pdb", partners[key]) for key in keys]
    with ProcessPoolExecutor() as pool, open(path, "a", newline="") as file:
        for i, row in enumerate(pool.map(measured, asked)):
            writer = csv.DictWriter(file, row)
            if not known and i == 0:
                writer.writeheader()
            writer.writerow(row)


def measured(asked: tuple[tuple[str, str, str], Path, str]) -> dict[str, str | float]:
    """The numbers of a decoy; where its chains are not those of its partners, each chain is a partner."""
    key, path, partners = asked
    complex_ = read_complex(path)
    try:
        complex_, fit = complex_.with_partners(parse_partners(partners) if partners else ()), 1
    except TopoRankError:
        fit = 0
    found = {name: f"{value:.6g}" for name, value in measures(folding(complex_)).items()}
    return dict(zip(KEYS, key, strict=True)) | {"partners_fit": fit, "cpu_s": ""} | found


if __name__ == "__main__":
    main()
