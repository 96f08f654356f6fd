"""Whether the size of the interface ranks AlphaFold's models beside its confidence.

    PYTHONPATH=lib python benchmarks/interface_size.py AFM [--out docs/research/interface_size.csv]

AFM is training500_candidates.csv.gz: 20 AlphaFold-Multimer models of each of 500 dimers
(yzqiang18-code/afm-interface-reliability, MIT). Dimers count whose models differ by 0.1 or more in
DockQ. 95 % intervals of the differences to confidence alone by drawing dimers.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from pair_curves import alphafold_multimer
from toporank.metrics import ranking_loss, spearman
from toporank.scorer.fitting import PAIR_CURVES
from toporank.scorer.judge import larger

SPREAD, DRAWS = 0.1, 1000
CONFIDENCE = "confidence"


def witnesses(models: pd.DataFrame) -> dict[str, np.ndarray]:
    """What each way to rank says of the models of a dimer, (n,) each, the higher the better."""
    known = {
        name: models[name].to_numpy() for name in ("iptm", "ipsae", "lis", "pdockq2")
    }
    confidence = np.mean([curve(known) for curve in PAIR_CURVES], axis=0)
    residues = models["interface_residue_count_total"].to_numpy(float)
    clashes = np.log1p(models["clash_count"].fillna(0).to_numpy())
    found = {
        CONFIDENCE: confidence,
        "ipTM": known["iptm"],
        "interface residues": residues,
        "fewer clashes": -clashes,
        "confidence - 0.02 clashes": confidence - 0.02 * clashes,
    }
    for weight in (0.05, 0.1, 0.2, 0.4):
        found[f"confidence + {weight:g} size"] = confidence + weight * larger(residues)
    return found


def of_dimers(path: Path) -> pd.DataFrame:
    """Loss and Spearman of each dimer and witness."""
    table = pd.read_csv(path).join(alphafold_multimer(path), rsuffix="_of_curves")
    table = table.dropna(subset=["dockq", "interface_residue_count_total"])
    rows = []
    for dimer, models in table.groupby("complex_id"):
        dockq = models["dockq"].to_numpy()
        if np.ptp(dockq) < SPREAD:
            continue
        for name, values in witnesses(models).items():
            order = np.nan_to_num(spearman(dockq, values))
            rows.append((dimer, name, ranking_loss(dockq, values), order))
    return pd.DataFrame(rows, columns=["dimer", "witness", "loss", "rho"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("afm", type=Path)
    parser.add_argument(
        "--out", type=Path, default=Path("docs/research/interface_size.csv")
    )
    args = parser.parse_args()
    dimers = of_dimers(args.afm).pivot(index="dimer", columns="witness")
    drawn = np.random.default_rng(0).integers(len(dimers), size=(DRAWS, len(dimers)))
    rows = []
    for name in dimers["loss"].columns:
        row = {"witness": name, "dimers": len(dimers)}
        for metric in ("loss", "rho"):
            values = dimers[metric][name]
            more = (values - dimers[metric][CONFIDENCE]).to_numpy()
            low, high = np.percentile(more[drawn].mean(axis=1), [2.5, 97.5])
            row |= {metric: values.mean(), f"{metric} more": more.mean()}
            row |= {f"{metric} low": low, f"{metric} high": high}
        rows.append(row)
    table = pd.DataFrame(rows).round(4)
    table.to_csv(args.out, index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
