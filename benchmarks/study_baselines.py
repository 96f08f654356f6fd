#!/usr/bin/env python3
"""How well free answers rank the validation decoys of a finished study, as Markdown: chance, and
sizes of interfaces.

    PYTHONPATH=lib python benchmarks/study_baselines.py WORK/sweep

Another tool's answer, or an imported checkpoint's, may stand beside them: score the decoys with
`snakemake score --config score_decoys=FOLDER scorer=FILE` and give the ranking of each data set,
`--rankings TopoQA perturbed/models.csv docked/models.csv`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from study import metrics
from toporank.building.coverage import read_coverage
from toporank.ranking.model_table import read_models
from toporank.structures.read import read_complex

RANDOM_ROUNDS = 20
WITHIN = 10.0
"""Å between the CA atoms of a pair."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("study", type=Path, help="its working directory")
    parser.add_argument(
        "--rankings",
        nargs="*",
        default=[],
        help="a name, and the models.csv of each data set",
    )
    args = parser.parse_args()
    found = sorted((args.study / "results").glob("*/coverage.tsv"))
    decoys = pd.concat(
        pd.DataFrame(read_coverage(path)).assign(set=path.parent.name) for path in found
    )
    decoys = decoys.reset_index(drop=True)
    decoys = decoys[
        (decoys["split"] == "val")
        & (decoys["status"] == "ok")
        & decoys["dockq"].notna()
    ]
    answers = {
        "interface residues": decoys["n_interface_residues"].astype(float),
        "CA pairs under 10 Å": decoys["path"].map(ca_pairs).astype(float),
    }
    if args.rankings:
        given = pd.concat([read_models(path) for path in args.rankings[1:]])
        given = given[["target", "decoy", "dockq"]].rename(
            columns={"dockq": "pred_dockq"}
        )
        merged = decoys[["target", "decoy"]].merge(given, how="left", validate="1:1")
        answers[args.rankings[0]] = pd.Series(
            merged["pred_dockq"].to_numpy(), decoys.index
        )
    for name, part in [*decoys.groupby("set"), ("all", decoys)]:
        print(f"\n{name}: {len(part)} decoys of {part['target'].nunique()} targets\n")
        print(
            "| | Spearman, pooled | Spearman, per target | ranking loss |\n| --- | ---: | ---: | "
            "---: |"
        )
        for answer, values in answers.items():
            print(row(answer, measured(part, values.loc[part.index].to_numpy())))
        draws = [
            measured(part, np.random.default_rng(k).random(len(part)))
            for k in range(RANDOM_ROUNDS)
        ]
        print(row(f"random (mean of {RANDOM_ROUNDS})", pd.DataFrame(draws).mean()))


def ca_pairs(path: str) -> int:
    """Pairs of CA atoms of different chains that are near each other."""
    complex_ = read_complex(Path(path))
    there = complex_.ca >= 0
    chain = np.array([residue.chain for residue in complex_.residues])[there]
    pairs = cKDTree(complex_.xyz[complex_.ca[there]]).query_pairs(
        WITHIN, output_type="ndarray"
    )
    return int((chain[pairs[:, 0]] != chain[pairs[:, 1]]).sum())


def measured(decoys: pd.DataFrame, values: np.ndarray) -> pd.Series:
    """The metrics of ranks; what is no DockQ has no error."""
    return pd.Series(metrics(decoys.assign(pred_dockq=values)))


def row(name: str, of: pd.Series) -> str:
    return (
        f"| {name} | {of['spearman_pooled']:.3f} | {of['spearman_per_target']:.3f} | "
        f"{of['ranking_loss']:.3f} |"
    )


if __name__ == "__main__":
    main()
