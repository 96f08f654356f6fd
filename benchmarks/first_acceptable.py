"""How often the model ranked first is acceptable: the table of README.md.

    PYTHONPATH=lib python benchmarks/first_acceptable.py

Complexes count of which some models are acceptable and some are not. Rankings by TopoRank and by
interface pLDDT are rows of docs/scorer/transfer.csv; AlphaFold's own order, pDockQ and a random
model come from the out-of-fold predictions beside it. 95 % intervals by drawing clusters.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from toporank.metrics import ACCEPTABLE

SCORER = Path(__file__).resolve().parents[1] / "docs/scorer"
SOURCE = "bm55-af2-boltz"
POOLS = {"all ten models": SOURCE, "AlphaFold's five models": f"{SOURCE}: AlphaFold"}
JUDGES = {
    "TopoRank": "judge, with confidence",
    "TopoRank, structure alone": "judge, structure",
    "interface pLDDT": "confidence",
}
DRAWS, SEED = 2000, 0


def main() -> None:
    decoys = pd.read_csv(SCORER / "predictions.csv.gz").query("group == @SOURCE")
    transfer = pd.read_csv(SCORER / "transfer.csv")
    rates = transfer.query("pool == 'all' and metric == 'first acceptable'")
    of_alphafold = decoys[decoys["decoy"].str.startswith("af2m_ranked_")]
    models = {SOURCE: decoys, POOLS["AlphaFold's five models"]: of_alphafold}
    for title, source in POOLS.items():
        of_source = rates[rates["source"] == source].set_index("judge")
        table = of_targets(models[source])
        print(f"\n{title}, {len(table)} complexes")
        for name, judge in JUDGES.items():
            print(written(name, *of_source.loc[judge, ["value", "low", "high"]]))
        columns = [name for name in table if name != "cluster"]
        for name in columns if source != SOURCE else columns[1:]:
            print(written(name, *interval(table, name)))


def of_targets(decoys: pd.DataFrame) -> pd.DataFrame:
    """Return whether the first model of each target is acceptable, by ranking; random: the share of
    acceptable models.
    """
    rows = []
    for _, models in decoys.groupby("target"):
        acceptable = models["dockq"] >= ACCEPTABLE
        if acceptable.any() and not acceptable.all():
            rows.append(
                {
                    "AlphaFold's own order": acceptable[models["decoy"].idxmin()],
                    "pDockQ": acceptable[models["pdockq"].idxmax()],
                    "a random model": acceptable.mean(),
                    "cluster": models["cluster"].iloc[0],
                }
            )
    return pd.DataFrame(rows)


def interval(table: pd.DataFrame, name: str) -> tuple[float, float, float]:
    """Return the mean of a column with its 95 % interval by bootstrap over clusters."""
    draw = np.random.default_rng(SEED)
    groups = (
        table.groupby("cluster")[name].agg(["sum", "size"]).astype(float).to_numpy()
    )
    drawn = groups[draw.integers(len(groups), size=(DRAWS, len(groups)))].sum(axis=1)
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    return table[name].astype(float).mean(), low, high


def written(name: str, value: float, low: float, high: float) -> str:
    """Return a line of the table."""
    return f"{name:26} {100 * value:3.0f} % ({100 * low:.0f}–{100 * high:.0f})"


if __name__ == "__main__":
    main()
