"""Do two proteins interact? AUROC and precision of a predictor's confidence on true and random
pairs.

    python benchmarks/interaction.py TABLES [--out docs/research/interaction.csv]

TABLES is a folder with tables of pairs that interact and pairs that were put together at random:

af23_heterodimers_narrowe.tsv.gz
    146 heterodimers of the PDB and 146 random pairs of their chains, 25 models each,
    AlphaFold-Multimer 2.3 (SarahND97/alphafold-homodimers, 10.1093/bioinformatics/btae489).
colabfold_homodimers_narrowe.tsv.gz
    466 homodimers against 288 monomers modelled as dimers and 169 random pairs, five models each,
    AlphaFold 2 of ColabFold (the same authors).
peppi_622_colabfold_features.csv.gz
    106 receptors with their peptide and 516 with the peptide of another receptor, ColabFold
    (yoann-ba/ColabFold_PepPI_files).

A measure of one number needs no fit. `p_interact` is a logistic curve with weights of zero or more.
It is fitted without the proteins of the pairs that it is tested on, and once more without their
whole table.
"""

from __future__ import annotations

import argparse
import ast
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.stats import rankdata

FOLDS = 5
RESAMPLED = 1000
CURVES = {
    "p_interact(iptm)": ["iptm"],
    "p_interact(iptm, ptm)": ["iptm", "ptm"],
    "p_interact(iptm, pdockq2)": ["iptm", "pdockq2"],
    "p_interact(iptm, pdockq2, interface_plddt, pae)": [
        "iptm",
        "pdockq2",
        "interface_plddt",
        "pae",
    ],
}


def heterodimers(folder: Path, models: int) -> pd.DataFrame:
    """One row for each pair: the model that AlphaFold ranks first of `models` (1, 5 or 25)."""
    table = pd.read_csv(folder / "af23_heterodimers_narrowe.tsv.gz", sep="\t")
    if models < 25:
        table = table[table["Prediction_number"] == 1]
    if models < 5:
        table = table[table["Model_number"] == 1]
    # The two directions of a pair: pDockQ2 and the interface pLDDT of each chain, and its mean 1 /
    # (1 + (PAE / 10)^2).
    for column in ("pdockq2", "pae", "plddt"):
        both = np.array(table[column].map(ast.literal_eval).tolist())
        table[column] = both.max(axis=1) if column == "pdockq2" else both.mean(axis=1)
    first = table.loc[table.groupby("ID")["ranking_confidence"].idxmax()]
    first = first.rename(
        columns={"plddt": "interface_plddt", "correct_result": "interacts"}
    )
    first["pair"] = first["ID"].str.replace("_[A-Za-z0-9]+", "", regex=True)
    return _with_proteins(first)


def homodimers(folder: Path) -> pd.DataFrame:
    """One row for each chain: the model with the highest ranking score; its PAE column is the
    largest PAE, reversed.
    """
    table = pd.read_csv(folder / "colabfold_homodimers_narrowe.tsv.gz", sep="\t")
    table = table.rename(columns={"pdbid": "pair", "correct_result": "interacts"})
    table["ranking_confidence"] = 0.8 * table["iptm"] + 0.2 * table["ptm"]
    table["pae"] = -table["max_pae"]
    first = table.loc[table.groupby("pair")["ranking_confidence"].idxmax()].copy()
    first["pair"] = first["pair"].str.replace("_[A-Za-z0-9]+", "", regex=True)
    return _with_proteins(first)


def peptides(folder: Path) -> pd.DataFrame:
    """One row for each receptor and peptide: the model that ColabFold ranks first. A long name has
    two PDB entries.
    """
    table = pd.read_csv(folder / "peppi_622_colabfold_features.csv.gz", index_col=0)
    rows = pd.DataFrame(
        {
            "pair": [name.replace("_", "") for name in table.index],
            "iptm": table["rank_1_iptm"].to_numpy(),
            "ptm": table["rank_1_ptm"].to_numpy(),
            "ranking_confidence": table["rank_1_multimer"].to_numpy(),
            "interface_plddt": table["rank_1_median_pep_plddt"].to_numpy(),
            "pae": -table["rank_1_max_pae"].to_numpy(),
            "interacts": (table.index.str.len() == len("1abc_A-B")).astype(int),
        }
    )
    rows["pair"] = [
        name[:4] + name[5:] if len(name) > 7 else name[:4] for name in rows["pair"]
    ]
    return _with_proteins(rows)


def _with_proteins(table: pd.DataFrame) -> pd.DataFrame:
    """Add `first` and `second`, the PDB entries of both chains; a native pair has the same entry
    twice.
    """
    parts = table["pair"].str.split("-")
    table["first"] = parts.str[0].str[:4]
    table["second"] = parts.str[-1].str[:4]
    return table.reset_index(drop=True)


def auroc(interacts: np.ndarray, measure: np.ndarray) -> float:
    """Probability that a pair that interacts has more of the measure than a random pair, ties
    counting half.
    """
    ranks = rankdata(measure)
    n = int(interacts.sum())
    return float(
        (ranks[interacts].sum() - n * (n + 1) / 2) / (n * (len(interacts) - n))
    )


def precision_at_half(interacts: np.ndarray, measure: np.ndarray) -> float:
    """Share of true pairs at the threshold that half of the true pairs reach, for as many true as
    random pairs.
    """
    threshold = np.quantile(measure[interacts], 0.5, method="lower")
    right = (measure[interacts] >= threshold).mean()
    wrong = (measure[~interacts] >= threshold).mean()
    return float(right / (right + wrong))


def fit(x: np.ndarray, interacts: np.ndarray) -> np.ndarray:
    """Constant and weights (zero or more) of a logistic curve, each class with half of the weight:
    (1 + n,).
    """
    weight = np.where(interacts, 0.5 / interacts.mean(), 0.5 / (1 - interacts.mean()))

    def loss(parameters: np.ndarray) -> float:
        score = parameters[0] + x @ parameters[1:]
        return float(
            (weight * np.logaddexp(0, np.where(interacts, -score, score))).mean()
        )

    n = x.shape[1]
    return minimize(
        loss,
        np.zeros(1 + n),
        bounds=[(None, None)] + [(0, None)] * n,
        method="L-BFGS-B",
    ).x


def without_their_proteins(table: pd.DataFrame, columns: list[str]) -> np.ndarray:
    """Score of each pair by a curve that saw none of its two proteins: (n,)."""
    x = table[columns].to_numpy()
    x = x / x.std(axis=0)
    interacts = table["interacts"].to_numpy(bool)
    proteins = np.unique(table[["first", "second"]])
    fold_of = dict(
        zip(
            proteins,
            np.random.default_rng(0).integers(0, FOLDS, len(proteins)),
            strict=True,
        )
    )
    first = table["first"].map(fold_of).to_numpy()
    second = table["second"].map(fold_of).to_numpy()
    scores = np.full(len(table), np.nan)
    for low in range(FOLDS):
        for high in range(low, FOLDS):
            tested = ((first == low) & (second == high)) | (
                (first == high) & (second == low)
            )
            seen = np.isin(first, [low, high]) | np.isin(second, [low, high])
            parameters = fit(x[~seen], interacts[~seen])
            scores[tested] = 1 / (
                1 + np.exp(-parameters[0] - x[tested] @ parameters[1:])
            )
    return scores


def described(table: pd.DataFrame, name: str, measure: str, values: np.ndarray) -> dict:
    """A row of the result. Intervals of 95 %: bootstrap over the proteins that name the first
    chain.
    """
    interacts = table["interacts"].to_numpy(bool)
    rows_of = [rows.to_numpy() for rows in table.groupby("first").groups.values()]
    generator = np.random.default_rng(1)
    samples = []
    for _ in range(RESAMPLED):
        rows = np.concatenate(
            [rows_of[i] for i in generator.integers(0, len(rows_of), len(rows_of))]
        )
        samples.append(
            (
                auroc(interacts[rows], values[rows]),
                precision_at_half(interacts[rows], values[rows]),
            )
        )
    low, high = np.quantile(samples, [0.025, 0.975], axis=0)
    return {
        "table": name,
        "true": int(interacts.sum()),
        "random": int((~interacts).sum()),
        "measure": measure,
        "auroc": auroc(interacts, values),
        "auroc_low": low[0],
        "auroc_high": high[0],
        "precision_at_half": precision_at_half(interacts, values),
        "precision_low": low[1],
        "precision_high": high[1],
    }


def reliability(table: pd.DataFrame, scores: np.ndarray) -> float:
    """Expected calibration error over five bins of equal width, both classes with equal weight."""
    interacts = table["interacts"].to_numpy(bool)
    weight = np.where(interacts, 0.5 / interacts.sum(), 0.5 / (~interacts).sum())
    place = np.minimum((scores * 5).astype(int), 4)
    gaps = [abs((weight * (scores - interacts))[place == b].sum()) for b in range(5)]
    return float(sum(gaps))


def main() -> None:
    """Measure all, print the table and the curve that TopoRank ships."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    folder = arguments.tables
    homo = homodimers(folder)
    against_monomers = homo[homo["category"] != "neg_heterodimer"].reset_index(
        drop=True
    )
    against_random = homo[homo["category"] != "monomer"].reset_index(drop=True)
    tables = {
        "heterodimers, best of 25": heterodimers(folder, 25),
        "heterodimers, best of 5": heterodimers(folder, 5),
        "heterodimers, one model": heterodimers(folder, 1),
        "homodimers, random pairs": against_random,
        "homodimers, monomers": against_monomers,
        "peptides": peptides(folder),
    }
    measures = [
        "iptm",
        "ptm",
        "ranking_confidence",
        "pdockq",
        "pdockq2",
        "interface_plddt",
        "pae",
    ]
    rows = []
    for name, table in tables.items():
        for measure in measures:
            if measure in table and table[measure].notna().all():
                rows.append(described(table, name, measure, table[measure].to_numpy()))
        for curve, columns in CURVES.items():
            if all(column in table for column in columns):
                scores = without_their_proteins(table, columns)
                row = described(table, name, curve, scores)
                row["calibration_error"] = reliability(table, scores)
                rows.append(row)

    # The curve of ipTM, fitted on two sources and tested on the third.
    sources = {
        "heterodimers, best of 5": tables["heterodimers, best of 5"],
        "homodimers, random pairs": against_random,
        "peptides": tables["peptides"],
    }
    for columns in (["iptm"], ["iptm", "ptm"]):
        for name, table in sources.items():
            others = [
                _equal_weight(sources[other], columns)
                for other in sources
                if other != name
            ]
            parameters = _fit_sources(others)
            scores = 1 / (
                1 + np.exp(-parameters[0] - table[columns].to_numpy() @ parameters[1:])
            )
            row = described(
                table,
                name,
                f"p_interact({', '.join(columns)}) of the other tables",
                scores,
            )
            row["calibration_error"] = reliability(table, scores)
            rows.append(row)
    result = pd.DataFrame(rows).round(3)
    print(result.to_string(index=False))
    if arguments.out:
        result.to_csv(arguments.out, index=False)
    for name, table in tables.items():
        print(
            name,
            fit(table[["iptm"]].to_numpy(), table["interacts"].to_numpy(bool)).round(3),
        )
    for measure in ("iptm", "ranking_confidence"):
        of_sources = [_equal_weight(table, [measure]) for table in sources.values()]
        print("all sources,", measure, _fit_sources(of_sources).round(3))


def _equal_weight(
    table: pd.DataFrame, columns: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    return table[columns].to_numpy(), table["interacts"].to_numpy(bool)


def _fit_sources(sources: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """As `fit`, each source with the same weight: rows are repeated until all sources have about as
    many.
    """
    most = max(len(y) for _, y in sources)
    x = np.concatenate([np.repeat(x, round(most / len(y)), axis=0) for x, y in sources])
    interacts = np.concatenate([np.repeat(y, round(most / len(y))) for _, y in sources])
    return fit(x, interacts)


if __name__ == "__main__":
    main()
