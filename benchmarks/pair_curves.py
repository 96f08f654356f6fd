"""The curves of ipTM, ipSAE, LIS and pDockQ2, and whether that of ipTM carries over.

    PYTHONPATH=lib python benchmarks/pair_curves.py AFM PROTENIX [--out docs/research/pair_curves.csv]

AFM is training500_candidates.csv.gz: 20 AlphaFold-Multimer models of each of 500 dimers
(yzqiang18-code/afm-interface-reliability, MIT). The four curves of `toporank.scorer.fitting` are
fitted to it. PROTENIX is protenix_recentpdb_pxmeter.csv.gz: 25 samples of each of 53 interfaces
of 28 entries that Protenix had not seen (bytedance/PXMeter, Apache-2.0). Of the four measures it
has ipTM alone. An error is that of a mean over clusters: of dimers, and of entries of Protenix.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.scorer.curves import Curve, fit_curve
from toporank.scorer.fitting import PAIR_CURVES

MEASURES = {
    "iptm": "iptm_full_precision",
    "ipsae": "ipSAE",
    "lis": "LIS",
    "pdockq2": "pDockQ2_mean",
}
"""Of the curves, and the columns of AFM that have them."""
IPTM = ["iptm"]
RESAMPLED = 1000


def alphafold_multimer(path: Path) -> pd.DataFrame:
    """Rows `cluster`, `dockq` and the measures."""
    table = pd.read_csv(path).rename(
        columns={"complex_id": "cluster", "DockQ": "dockq"}
    )
    for measure, column in MEASURES.items():
        table[measure] = table[column]
    return table[["cluster", "dockq", *MEASURES]].dropna()


def protenix(path: Path) -> pd.DataFrame:
    """Rows `cluster`, which is the entry, `dockq` and `iptm` of interfaces between proteins."""
    table = pd.read_csv(path)
    table = table[table["type"] == "interface"]
    columns = {"entry_id": "cluster", "dockq": "dockq", "chain_pair_iptm": "iptm"}
    return table[[*columns]].rename(columns=columns).dropna()


def of_both(tables: dict[str, pd.DataFrame]) -> Curve:
    """A curve of ipTM to which both predictors contribute alike."""
    most = max(table["cluster"].nunique() for table in tables.values())
    parts = []
    for table in tables.values():
        for i in range(round(most / table["cluster"].nunique())):
            parts.append(table.assign(cluster=table["cluster"] + f" {i}"))
    return fit_curve(pd.concat(parts), IPTM)


def without_each(table: pd.DataFrame) -> Callable[[pd.DataFrame], np.ndarray]:
    """What curves say of each cluster that were fitted without it."""
    curves = {}
    for cluster in table["cluster"].unique():
        curves[cluster] = fit_curve(table[table["cluster"] != cluster], IPTM)

    def expected(rows: pd.DataFrame) -> np.ndarray:
        values = np.empty(len(rows))
        for cluster, places in rows.groupby("cluster").indices.items():
            iptm = rows["iptm"].to_numpy()[places]
            values[places] = curves[cluster]({"iptm": iptm})
        return values

    return expected


def errors(table: pd.DataFrame, expected: np.ndarray) -> dict[str, float]:
    """Bias and root mean square error over clusters, each with a 95 % interval."""
    error = pd.Series(expected - table["dockq"].to_numpy()).groupby(
        table["cluster"].to_numpy()
    )
    bias = error.mean().to_numpy()
    square = error.apply(lambda of_cluster: np.square(of_cluster).mean()).to_numpy()
    draw = np.random.default_rng(0).integers(0, len(bias), (RESAMPLED, len(bias)))
    row = {}
    for name, values in (
        ("bias", bias[draw].mean(axis=1)),
        ("rmse", np.sqrt(square[draw].mean(axis=1))),
    ):
        row[name] = bias.mean() if name == "bias" else np.sqrt(square.mean())
        row[f"{name}_low"], row[f"{name}_high"] = np.quantile(values, [0.025, 0.975])
    return row


def main() -> None:
    """Print the curves, and write the table of errors."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("afm", type=Path)
    parser.add_argument("protenix", type=Path)
    parser.add_argument(
        "--out", type=Path, default=Path("docs/research/pair_curves.csv")
    )
    args = parser.parse_args()
    tables = {
        "AlphaFold-Multimer": alphafold_multimer(args.afm),
        "Protenix": protenix(args.protenix),
    }
    for measure, shipped in zip(MEASURES, PAIR_CURVES, strict=True):
        fitted = fit_curve(tables["AlphaFold-Multimer"], [measure])
        print(
            f"{measure}: {fitted}, {'as' if fitted == shipped else 'unlike what'} ships"
        )

    rows = []
    for judged, table in tables.items():
        curves = {name: fit_curve(other, IPTM) for name, other in tables.items()}
        curves["both alike"] = of_both(tables)
        answers = {}
        for name, curve in curves.items():
            answers[name] = curve({"iptm": table["iptm"].to_numpy()})
        answers["the same, without the cluster"] = without_each(table)(table)
        for name, expected in answers.items():
            row = {"models of": judged, "curve of ipTM fitted to": name}
            rows.append(row | errors(table, expected))
    frame = pd.DataFrame(rows).round(3)
    frame.to_csv(args.out, index=False)
    print(frame.to_string(index=False))


if __name__ == "__main__":
    main()
