"""How well a predictor's own order ranks its models, beside the scorer's out-of-fold predictions.

    python tests/benchmarks/predictor_order.py docs/scorer/predictions.csv.gz

The decoys of the scorer carry no pLDDT and no confidence files, but the models of AlphaFold-Multimer and Boltz-1 are
numbered from the most to the least confident. Targets whose models by one predictor differ by 0.1 or more in DockQ
count. 95 % intervals are from drawing clusters of targets.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.evaluation.metrics import random_pick_loss, ranking_loss, spearman

NUMBERED = r"(af2m_ranked|boltz1)_(\d+)"
SPREAD = 0.1
DRAWS, SEED = 2000, 0
ANSWERS = ("its own order", "scorer", "network", "mean of both ranks")
"""What ranks models; the mean of the ranks by the predictor and by the scorer is the last."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predictions", type=Path, help="target, decoy, cluster, dockq, network, scorer")
    args = parser.parse_args()
    decoys = pd.read_csv(args.predictions)
    named = decoys["decoy"].str.extract(f"^{NUMBERED}$")
    decoys = decoys.assign(program=named[0], place=named[1].astype(float)).dropna(subset="program")
    for program, models in decoys.groupby("program"):
        table = of_targets(models)
        print(f"\n{program}: {len(table)} targets, random pick {table['random'].mean():.3f}")
        for answer in ANSWERS:
            loss = interval(table, f"{answer} loss")
            print(f"  {answer:20} ranking loss {loss}   Spearman {interval(table, f'{answer} spearman')}")
        for what in ("loss", "spearman"):
            for other in ("its own order", "mean of both ranks"):
                table["more"] = table[f"{other} {what}"] - table[f"scorer {what}"]
                print(f"  {what}, {other} − scorer: {interval(table, 'more')}")


def of_targets(models: pd.DataFrame) -> pd.DataFrame:
    """Ranking loss and Spearman of every answer for each target whose models differ enough."""
    rows = []
    for target, part in models.groupby("target"):
        y = part["dockq"].to_numpy()
        if np.ptp(y) < SPREAD:
            continue
        own = -part["place"]
        both = own.rank() + part["scorer"].rank()
        answers = dict(zip(ANSWERS, (own, part["scorer"], part["network"], both + 1e-6 * part["scorer"]), strict=True))
        row = {"target": target, "cluster": part["cluster"].iloc[0], "random": random_pick_loss(y)}
        for answer, values in answers.items():
            row[f"{answer} loss"] = ranking_loss(y, values)
            row[f"{answer} spearman"] = spearman(y, values)
        rows.append(row)
    return pd.DataFrame(rows)


def interval(table: pd.DataFrame, column: str) -> str:
    """Mean over targets, with its interval."""
    of_clusters = [part.to_numpy() for _, part in table.groupby("cluster")[column]]
    rng = np.random.default_rng(SEED)
    draws = rng.integers(len(of_clusters), size=(DRAWS, len(of_clusters)))
    means = [np.nanmean(np.concatenate([of_clusters[i] for i in drawn])) for drawn in draws]
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{table[column].mean():.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
