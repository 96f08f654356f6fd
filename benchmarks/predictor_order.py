"""How well a predictor's own order ranks its models, beside the scorer's out-of-fold predictions.

    python benchmarks/predictor_order.py docs/scorer/predictions.csv.gz

The decoys of the scorer carry no pLDDT and no confidence files, but the models of
AlphaFold-Multimer and Boltz-1 are numbered from the most to the least confident. Targets whose
models by one predictor differ by 0.1 or more in DockQ count. Figures are means over the rounds of
`scorer.py`, 95 % intervals from drawing clusters of targets.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.metrics import random_pick_loss, ranking_loss, spearman

NUMBERED = r"(af2m_ranked|boltz1)_(\d+)"
SPREAD = 0.1
DRAWS, SEED = 2000, 0
PER_PLACE = 0.02
"""DockQ that a place in the predictor's order costs in one of the answers."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("predictions", type=Path, help="as scorer.py writes them")
    args = parser.parse_args()
    decoys = pd.read_csv(args.predictions)
    named = decoys["decoy"].str.extract(f"^{NUMBERED}$")
    decoys = decoys.assign(program=named[0], place=named[1].astype(float)).dropna(
        subset="program"
    )
    for program, models in [*decoys.groupby("program"), ("both", decoys)]:
        table = of_rounds(models)
        print(
            f"\n{program}: {table['target'].nunique()} targets, random pick "
            f"{table['random'].mean():.3f}"
        )
        scorer = table[table["answer"] == "scorer"].set_index("target")
        for answer, of in table.groupby("answer", sort=False):
            print(f"  {answer}")
            for what in ("loss", "spearman"):
                less = of.set_index("target")[what] - scorer[what]
                more = interval(less, scorer["cluster"])
                print(
                    f"    {what:8} {interval(of[what], of['cluster'])}, less that of the scorer "
                    f"{more}"
                )


def of_rounds(models: pd.DataFrame) -> pd.DataFrame:
    """As `of_targets`, means over the rounds, whose columns end in nothing, _2, _3 and so on."""
    rounds = [
        name.removeprefix("scorer") for name in models if name.startswith("scorer")
    ]
    tables = [
        of_targets(
            models.assign(
                scorer=models[f"scorer{end}"], network=models[f"network{end}"]
            )
        )
        for end in rounds
    ]
    keys = ["target", "cluster", "random", "answer"]
    return pd.concat(tables).groupby(keys, sort=False, as_index=False).mean()


def of_targets(models: pd.DataFrame) -> pd.DataFrame:
    """Ranking loss and Spearman of every answer for each target whose models differ enough."""
    rows = []
    for target, part in models.groupby("target"):
        y = part["dockq"].to_numpy()
        if np.ptp(y) < SPREAD:
            continue
        of_target = {
            "target": target,
            "cluster": part["cluster"].iloc[0],
            "random": random_pick_loss(y),
        }
        for answer, values in answers(part).items():
            found = {
                "answer": answer,
                "loss": ranking_loss(y, values),
                "spearman": spearman(y, values),
            }
            rows.append({**of_target, **found})
    return pd.DataFrame(rows)


def answers(models: pd.DataFrame) -> dict[str, pd.Series]:
    """What ranks the models of a target, of one predictor or of both."""
    scorer, own = models["scorer"], -models["place"]
    found = {"scorer": scorer, "networks": models["network"]}
    if models["program"].nunique() == 1:
        both = own.rank() + scorer.rank() + 1e-6 * scorer
        return {"the predictor's own order": own, **found, "mean of both ranks": both}
    first = scorer.where(models["place"] == 0, scorer - 1)
    costly = scorer + PER_PLACE * own
    return {
        **found,
        "scorer, the first of each predictor in front": first,
        f"scorer − {PER_PLACE} a place": costly,
    }


def interval(values: pd.Series, cluster: pd.Series) -> str:
    """Mean over targets, with its interval."""
    of_clusters = [part.to_numpy() for _, part in values.groupby(cluster)]
    rng = np.random.default_rng(SEED)
    draws = rng.integers(len(of_clusters), size=(DRAWS, len(of_clusters)))
    means = [
        np.nanmean(np.concatenate([of_clusters[i] for i in drawn])) for drawn in draws
    ]
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
