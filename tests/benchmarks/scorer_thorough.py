"""How far the thorough scorer is above the one that ships, on the decoys that both were judged on, out of fold.

    PYTHONPATH=lib python tests/benchmarks/scorer_thorough.py docs/scorer docs/scorer/thorough

The two folders have the tables that `scorer.py` writes of each; docs/scorer.md has all commands. Means over three
rounds, target by target, with 95 % intervals by bootstrap over clusters. Writes differences.csv into the second.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scorer import DRAWS, SEED, markdown, of_clusters, of_targets, read_table

KEYS = ["dataset", "target", "decoy"]
ROUNDS = ("", "_2", "_3")
ANSWERS = {"thorough − shipped": "scorer", "thorough − shipped, each decoy alone": "alone"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shipped", type=Path)
    parser.add_argument("thorough", type=Path)
    args = parser.parse_args()
    shipped, thorough = (read_table(folder / "predictions.csv.gz") for folder in (args.shipped, args.thorough))
    result = differences(thorough.merge(shipped, on=KEYS, validate="1:1", suffixes=("", " of shipped")))
    print(markdown(result))
    result.round(4).to_csv(args.thorough / "differences.csv", index=False)


def differences(decoys: pd.DataFrame) -> pd.DataFrame:
    """Ranking loss and Spearman per target of one less those of the other, by group of decoys."""
    rows = []
    for answer, column in ANSWERS.items():
        for group, own in decoys.groupby("group"):
            names = own["cluster"].unique()
            times = np.random.default_rng(SEED).multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)
            rounds = [column + end for end in ROUNDS if column + end in own]
            apart = sum(of_each(own, one) - of_each(own, f"{one} of shipped") for one in rounds) / len(rounds)
            for metric, measured in (("ranking_loss", "ranking_loss"), ("spearman_per_target", "spearman")):
                found = of_clusters(apart.reset_index(), measured, names, times)
                rows.append((answer, group, len(names), metric, *found))
    return pd.DataFrame(rows, columns=["answer", "group", "clusters", "metric", "value", "low", "high"])


def of_each(decoys: pd.DataFrame, column: str) -> pd.DataFrame:
    """Ranking loss and Spearman of each target worth ranking, by target and cluster."""
    parts = {key: of_targets(own, own[column].to_numpy()) for key, own in decoys.groupby(["dataset", "target"])}
    rows = pd.concat(parts).reset_index(level=2, drop=True)
    return rows.set_index("cluster", append=True)


if __name__ == "__main__":
    main()
