"""Which number of a complex with three partners or more agrees with its DockQ.

    python SECOND/structures.py unpack SECOND/predicted.structures MODELS
    toporank score MODELS/bm55-af2-boltz --targets folder -o ANSWER
    PYTHONPATH=lib python benchmarks/several_interfaces.py SECOND ANSWER
    PYTHONPATH=lib python benchmarks/several_interfaces.py SECOND ANSWER --models MODELS/bm55-af2-boltz

With --models each interface is compared with its own DockQ, without them the number of the complex.
SECOND is a data release with predicted_labels.csv. The truth is the mean DockQ over all interfaces
of the native; of a complex with an antibody it is DockQ between antibody and antigen. Each target
counts once in the error.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.chains.partners import chains_of
from toporank.comparing.native.label import Native, label
from toporank.errors import TopoRankError
from toporank.metrics import ACCEPTABLE, ranking_loss, spearman
from toporank.ranking.interfaces import BESIDE, MAIN
from toporank.ranking.scored_folder import open_answer
from toporank.scorer.prediction import KEY
from toporank.structures.read import read_complex

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
    table = table.join(labels, how="inner").dropna(subset=["whole"])
    table["truth"] = table["dockq_all_interfaces"].where(
        ~table["antibody"], table["dockq"]
    )
    table["whole and weakest main"] = table[["whole", "weakest main interface"]].mean(
        axis=1
    )
    both = table[["whole", "mean of main interfaces"]]
    table["whole and mean of main"] = both.mean(axis=1)
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


def each_interface(models: Path, answer: Path) -> pd.DataFrame:
    """Every scored interface of models of three partners or more, with its DockQ, `truth`."""
    rows = open_answer(answer).interfaces
    partners = rows.groupby("target")["interface"].agg(":".join).str.split(":").map(set)
    rows = rows[rows["target"].map(partners.map(len)) > 2]
    rows = rows[rows["dockq"].notna() & (rows["decoy"] != "native")]
    truth = pd.Series(np.nan, index=rows.index)
    for target, of_target in rows.groupby("target"):
        native = read_complex(models / target / "native.pdb")
        for decoy, of_model in of_target.groupby("decoy"):
            model = read_complex(models / f"{target}/{decoy}.pdb")
            for row in of_model.itertuples():
                sides = (row.chains or row.interface).split(":")
                pair = tuple(tuple(chains_of(side)) for side in sides)
                try:
                    labelled = label(Native(native, pair), model.with_partners(pair))
                except TopoRankError:
                    continue  # the native has no such interface
                truth[row.Index] = labelled.dockq
    return rows.assign(truth=truth).dropna(subset=["truth"])


def agreement(rows: pd.DataFrame) -> dict[str, float]:
    """How well the DockQ of interfaces agrees with the truth; targets weigh alike."""
    error = rows["dockq"] - rows["truth"]
    same = (rows["dockq"] >= ACCEPTABLE) == (rows["truth"] >= ACCEPTABLE)
    return {
        "targets": rows["target"].nunique(),
        "interfaces": len(rows),
        "error": error.abs().groupby(rows["target"]).mean().mean(),
        "bias": error.groupby(rows["target"]).mean().mean(),
        "spearman": spearman(rows["truth"].to_numpy(), rows["dockq"].to_numpy()),
        "acceptable or not, right": same.groupby(rows["target"]).mean().mean(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("second", type=Path)
    parser.add_argument("answer", type=Path)
    out = Path("docs/research/several_interfaces.csv")
    parser.add_argument("--out", type=Path, default=out)
    parser.add_argument("--models", type=Path)
    args = parser.parse_args()
    if args.models:
        found = agreement(each_interface(args.models, args.answer))
        print(pd.Series(found).round(3).to_string())
        return
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
