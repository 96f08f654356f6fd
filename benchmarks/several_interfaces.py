"""Which number of a complex with three partners or more agrees with its DockQ.

    python SECOND/structures.py unpack SECOND/predicted.structures MODELS
    toporank score MODELS/bm55-af2-boltz --targets folder -o ANSWER
    PYTHONPATH=lib python benchmarks/several_interfaces.py SECOND ANSWER

SECOND is a data release with predicted_labels.csv. The truth is the mean DockQ over all interfaces
of the native; of a complex with an antibody it is DockQ between antibody and antigen. Each target
counts once in the error.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.metrics import ranking_loss, spearman
from toporank.ranking.interfaces import BESIDE, MAIN
from toporank.ranking.scored_folder import open_answer
from toporank.scorer.prediction import KEY

GROUP = "bm55-af2-boltz"
SPREAD = 0.05
"""Difference of DockQ within a target from which its order counts."""


def ways(rows: pd.DataFrame) -> dict[str, float]:
    """What each way makes of the scored interfaces of a model."""
    main = rows[rows["role"] == MAIN]
    return {
        "weakest interface": rows["dockq"].min(),
        "mean": rows["dockq"].mean(),
        "mean by contacts": np.average(rows["dockq"], weights=rows["n_ca_pairs"]),
        "weakest main interface": main["dockq"].min(),
        "mean of main interfaces": main["dockq"].mean(),
    }


def table_of(second: Path, answer: Path) -> pd.DataFrame:
    """Models of three partners or more, with the truth and the number of each way."""
    scored = open_answer(answer)
    rows = scored.interfaces
    partners = rows.groupby("target")["interface"].agg(":".join).str.split(":").map(set)
    rows = rows[rows["dockq"].notna() & (rows["target"].map(partners.map(len)) > 2)]
    of_antibody = rows.groupby(KEY)["role"].agg(lambda roles: BESIDE in set(roles))
    numbers = [ways(of_model) for _, of_model in rows.groupby(KEY)]
    table = pd.DataFrame(numbers, index=of_antibody.index)
    table["antibody"] = of_antibody.groupby("target").transform("any")
    labels = pd.read_csv(second / "predicted_labels.csv").query("group == @GROUP")
    models = scored.facts.set_index(KEY)[["score", "dockq"]]
    table = table.join(models).rename(columns={"score": "whole", "dockq": "number"})
    labels = labels.set_index(KEY)[["dockq", "dockq_all_interfaces"]]
    table = table.join(labels, how="inner")
    table["truth"] = table["dockq_all_interfaces"].where(
        ~table["antibody"], table["dockq"]
    )
    table["whole and weakest main"] = table[["whole", "weakest main interface"]].mean(
        axis=1
    )
    table["whole and mean of main"] = table[["whole", "mean of main interfaces"]].mean(
        1
    )
    return table.drop(columns=["dockq", "dockq_all_interfaces"])


def measured(table: pd.DataFrame, way: str) -> dict[str, float]:
    """How well a way agrees with the truth."""
    error = (table[way] - table["truth"]).groupby("target")
    losses = []
    orders = []
    for _, models in table.groupby("target"):
        truth, value = models["truth"].to_numpy(), models[way].to_numpy()
        losses.append(ranking_loss(truth, value))
        if np.ptp(truth) >= SPREAD:
            orders.append(np.nan_to_num(spearman(truth, value)))
    return {
        "targets": table.index.unique("target").size,
        "models": len(table),
        "error": error.agg(lambda values: values.abs().mean()).mean(),
        "bias": error.mean().mean(),
        "spearman": spearman(table["truth"].to_numpy(), table[way].to_numpy()),
        "loss": np.mean(losses),
        "spearman_in_target": np.mean(orders),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("second", type=Path)
    parser.add_argument("answer", type=Path)
    out = Path("docs/research/several_interfaces.csv")
    parser.add_argument("--out", type=Path, default=out)
    args = parser.parse_args()
    table = table_of(args.second, args.answer)
    rows = []
    for antibody, of_group in table.groupby("antibody"):
        for way in of_group.columns.drop(["antibody", "truth"]):
            values = measured(of_group, way)
            rows.append({"antibody": antibody, "way": way, **values})
    result = pd.DataFrame(rows).round(3)
    result.to_csv(args.out, index=False)
    print(result.to_string(index=False))


if __name__ == "__main__":
    main()
