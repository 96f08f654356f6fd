"""The curves of ipTM, ipSAE, LIS and pDockQ2, and their levels by kind of complex and program.

    PYTHONPATH=lib python benchmarks/pair_curves.py AFM PROTENIX ANTIBODIES BENCHMARK

AFM is training500_candidates.csv.gz: 20 AlphaFold-Multimer models of each of 500 dimers
(yzqiang18-code/afm-interface-reliability, MIT), to which the four curves are fitted. The other
tables shift the curve of ipTM, the only measure that they have; its slope stays. PROTENIX is
protenix_recentpdb_pxmeter.csv.gz: 25 samples of each of 53 interfaces of 28 entries (bytedance/
PXMeter, Apache-2.0). ANTIBODIES is antibody_confidence.csv.gz: models of antibodies by Boltz-2 and
Protenix (Feellived/msa-composition-bias). BENCHMARK is predicted_confidence.csv: five
AlphaFold-Multimer models of each complex of the Docking Benchmark 5.5 with 0.8 ipTM + 0.2 pTM
(dreamlessx/Protein_Ideal), those with an antibody count. Nothing of AlphaFold 3 is fitted.

A level is a mean over clusters: dimers, entries, antibodies, clusters of targets. It is shrunk to
the lowest of its kind, the more the less is known: s' = low + (s - low) v / (v + e²), where v is
the variance of the levels of the kind and e the standard error of s (jackknife over clusters).
Writes docs/research/pair_curves.csv, with the bias of what is expected of a cluster that was left
out, and prints `PAIR_CURVES` and `PAIR_LEVELS` of `toporank.scorer.fitting`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.chains.complex_kinds import WITH_BINDER
from toporank.layout import repository
from toporank.scorer.curves import Curve, fit_curve, fit_shift, shortened
from toporank.scorer.fitting import PAIR_CURVES, PAIR_LEVELS
from toporank.scorer.judge import BINDERS, REST

MEASURES = {
    "iptm": "iptm_full_precision",
    "ipsae": "ipSAE",
    "lis": "LIS",
    "pdockq2": "pDockQ2_mean",
}
"""Of the curves, and the columns of AFM that have them."""
AFM, BOLTZ, PROTENIX = "AlphaFold-Multimer", "Boltz", "Protenix"
ALIKE = {AFM: ["ColabFold"], BOLTZ: ["Chai-1"]}
"""Programs that take the level of another one."""
COLUMNS = ["cluster", "dockq", "iptm"]
RESAMPLED = 1000
DIGITS = 3


def alphafold_multimer(path: Path) -> pd.DataFrame:
    """Rows `cluster`, `dockq` and the measures."""
    table = pd.read_csv(path).rename(
        columns={"complex_id": "cluster", "DockQ": "dockq"}
    )
    for measure, column in MEASURES.items():
        table[measure] = table[column]
    return table[["cluster", "dockq", *MEASURES]].dropna()


def protenix(path: Path) -> pd.DataFrame:
    """Interfaces between proteins; the cluster is the entry."""
    table = pd.read_csv(path)
    table = table[table["type"] == "interface"]
    table = table[["entry_id", "dockq", "chain_pair_iptm"]].dropna()
    return table.set_axis(COLUMNS, axis=1)


def antibodies(path: Path, model: str) -> pd.DataFrame:
    """Models of antibodies by one program; the cluster is the antibody."""
    table = pd.read_csv(path).rename(columns={"target": "cluster"})
    return table.loc[table["model"] == model, COLUMNS]


def docking_benchmark(path: Path) -> pd.DataFrame:
    """Models by AlphaFold-Multimer of the labelled complexes with an antibody."""
    labelled = pd.read_csv(repository() / "docs/scorer/predictions.csv.gz")
    table = labelled.merge(pd.read_csv(path), on=["target", "decoy"])
    table = table[table["kind"].isin(WITH_BINDER)].rename(columns={"iptm_ptm": "iptm"})
    return table[COLUMNS].dropna()


def without_each(curve: Curve, table: pd.DataFrame) -> np.ndarray:
    """The shift of a curve without each cluster, in the order of their names."""
    names = sorted(table["cluster"].unique())
    return np.array([fit_shift(curve, table[table["cluster"] != n]) for n in names])


def shrunk(shift: np.ndarray, error: float, levels: np.ndarray) -> np.ndarray:
    """Shifts, (n,), nearer to the lowest level of their kind."""
    share = levels.var(ddof=1) / (levels.var(ddof=1) + error**2)
    return levels.min() + (shift - levels.min()) * share


def biases(curve: Curve, table: pd.DataFrame, shifts: np.ndarray) -> np.ndarray:
    """Mean error of what is expected of each cluster. shifts : for each, in order of name."""
    found = []
    for shift, (_, rows) in zip(shifts, table.groupby("cluster"), strict=True):
        expected = curve({"iptm": rows["iptm"].to_numpy()}, shift)
        found.append((expected - rows["dockq"]).mean())
    return np.array(found)


def with_interval(name: str, of_clusters: np.ndarray) -> dict[str, float]:
    """Mean over clusters with its 95 % interval."""
    n = len(of_clusters)
    draws = np.random.default_rng(0).integers(0, n, (RESAMPLED, n))
    low, high = np.quantile(of_clusters[draws].mean(axis=1), [0.025, 0.975])
    return {name: of_clusters.mean(), f"{name}_low": low, f"{name}_high": high}


def main() -> None:
    """Print curves and levels, and write the table of errors."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("afm", "protenix", "antibodies", "benchmark"):
        parser.add_argument(name, type=Path)
    parser.add_argument(
        "--out", type=Path, default=Path("docs/research/pair_curves.csv")
    )
    args = parser.parse_args()
    dimers = alphafold_multimer(args.afm)
    for measure, shipped in zip(MEASURES, PAIR_CURVES, strict=True):
        fitted = fit_curve(dimers, [measure])
        print(f"{fitted!r}, {'as' if fitted == shipped else 'unlike what'} ships")
    tables = {
        REST: {AFM: dimers, PROTENIX: protenix(args.protenix)},
        BINDERS: {
            AFM: docking_benchmark(args.benchmark),
            BOLTZ: antibodies(args.antibodies, "boltz"),
            PROTENIX: antibodies(args.antibodies, "protenix"),
        },
    }
    curve = PAIR_CURVES[0]
    rows = []
    levels: dict[str, dict[str, float]] = {}
    for kind, of_programs in tables.items():
        fitted = {name: fit_shift(curve, each) for name, each in of_programs.items()}
        all_levels = np.array([*fitted.values()])
        levels[kind] = {}
        for program, table in of_programs.items():
            without = without_each(curve, table)
            n = len(without)
            error = np.sqrt((n - 1) * without.var())
            level = float(shrunk(np.array(fitted[program]), error, all_levels))
            for name in (program, *ALIKE.get(program, ())):
                levels[kind][name] = round(shortened(level), DIGITS)
            left_out = shrunk(without, error, all_levels)
            row = {"kind": kind, "program": program, "clusters": n}
            row |= {"models": len(table), "shift": fitted[program], "error": error}
            row |= {"level": level}
            row |= with_interval("bias_before", biases(curve, table, np.zeros(n)))
            row |= with_interval("bias", biases(curve, table, left_out))
            rows.append(row)
    print(f"{levels}, {'as' if levels == PAIR_LEVELS else 'unlike what'} ships")
    frame = pd.DataFrame(rows).round(3)
    frame.to_csv(args.out, index=False)
    print(frame.to_string(index=False))


if __name__ == "__main__":
    main()
