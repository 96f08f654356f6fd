"""How the judge ranks pools of 5 to several hundred models, by confidence and similarity alone.

    PYTHONPATH=lib:benchmarks python benchmarks/study/pools.py CASP15

CASP15 is a folder with two tables of models of CASP15, true scores, confidence and similarities of
all pairs (BioinfoMachineLearning/gate, parent of commit 5ef7be1): in-house pools of one group's
AlphaFold-Multimer, whose truth is the TM-score and whose confidence is ipTM + pTM, and community
pools of all groups, whose truth is DockQ and whose confidence is pLDDT. There are no coordinates,
so no network takes part: quality is the confidence. The rule is `Judge.standing`, as it ships.

Writes docs/research/pools.csv with the columns of docs/scorer/transfer.csv, into which transfer.py
takes its rows. 95 % intervals are by bootstrap over targets; nanobodies of one antigen are one.
"""

from __future__ import annotations

import argparse
import io
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from toporank.layout import SHIPPED_SCORER, repository
from toporank.metrics import spearman
from toporank.scorer.judge import ordered, read_judge
from transfer import interval

SIZES = (5, 10, 25, 50, 100, None)
SEEDS = range(5)
TABLES = Path("docs/research/pools.csv")
ONE_ANTIGEN = {f"H{number}": "H1140" for number in range(1140, 1145)}
"""Targets that are nanobodies of one antigen."""
JUDGE = read_judge(repository() / SHIPPED_SCORER / "judge.json")


class Source(NamedTuple):
    """A table of models.

    table : beginning of its files' names. truth, confidence : columns. similarity : of which kind.
    spread : of the truth in a pool that counts, at least. is_ranked : whether the confidence is the
    ranking score of the one program that made all models.
    """

    table: str
    truth: str
    confidence: str
    similarity: str
    spread: float
    is_ranked: bool


SOURCES = {
    "CASP15 in-house, TM-score": Source(
        "casp15_inhouse", "tmscore", "iptm_ptm", "usalign", 0.05, True
    ),
    "CASP15 in-house, QS-score": Source(
        "casp15_inhouse", "tmscore", "iptm_ptm", "qs", 0.05, True
    ),
    "CASP15 community": Source("casp15_community", "dockq", "plddt", "qs", 0.1, False),
}
Rule = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From confidence, (n,), and similarities, (n, n), to the order, (n,), the higher the better."""


def by_judge(confidence: np.ndarray, alike: np.ndarray) -> np.ndarray:
    sizes = np.ones(len(confidence))
    return JUDGE.standing({"confidence": confidence}, alike, sizes).above


def by_judge_of_one_program(confidence: np.ndarray, alike: np.ndarray) -> np.ndarray:
    sizes = np.ones(len(confidence))
    first = confidence == confidence.max()
    return JUDGE.standing({"confidence": confidence}, alike, sizes, first).above


def all_vote(temperature: float, grows: float) -> Rule:
    """The rule with other temperatures, by which all models may be the right one."""
    return lambda confidence, alike: ordered(
        confidence, alike, temperature * len(confidence) ** grows
    )[0]


RULES: dict[str, Rule] = {
    "confidence": lambda confidence, alike: confidence,
    "consensus": lambda confidence, alike: alike.sum(axis=1),
    "judge before, T = 0.05 √n": all_vote(0.05, 0.5),
    "T = 0.05": all_vote(0.05, 0),
    "T = 0.03": all_vote(0.03, 0),
    "judge": by_judge,
    "judge, models of one program": by_judge_of_one_program,
}


def targets_of(
    folder: Path, source: Source
) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
    """Yield the models of each target and their similarities, (n, n)."""
    models = pd.read_csv(folder / f"{source.table}.csv.gz")
    packed = (folder / f"{source.table}_pairs.npz.xz").read_bytes()
    pairs = np.load(io.BytesIO(lzma.decompress(packed)))
    for target, rows in models.groupby("target"):
        name = f"{target}/{source.similarity}"
        if name not in pairs:
            continue
        alike = np.zeros((len(rows), len(rows)))
        alike[np.triu_indices(len(rows), 1)] = pairs[name] / 1000
        yield rows, alike + alike.T + np.eye(len(rows))


def of_source(folder: Path, source: Source, size: int | None) -> pd.DataFrame:
    """Return loss and Spearman of each rule in each pool."""
    rows = []
    for models, alike in targets_of(folder, source):
        truth = models[source.truth].to_numpy(float)
        confidence = models[source.confidence].to_numpy(float)
        target = models["target"].iloc[0]
        if size and len(models) < size:
            continue
        for seed in SEEDS if size else SEEDS[:1]:
            draw = np.random.default_rng([seed, size or 0])
            places = draw.permutation(len(models))[: size or len(models)]
            among = truth[places]
            if np.ptp(among) < source.spread:
                continue
            for name, rule in RULES.items():
                if name.endswith("one program") and not source.is_ranked:
                    continue
                order = rule(confidence[places], alike[np.ix_(places, places)])
                first = among[order >= order.max() - 1e-12].mean()
                row = {
                    "target": target,
                    "cluster": ONE_ANTIGEN.get(target, target),
                    "judge": name,
                    "loss": among.max() - first,
                    "spearman": spearman(among, order) if np.ptp(order) > 0 else 0.0,
                }
                rows.append(row)
    return pd.DataFrame(rows)


def main() -> None:
    """Write the table, and print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("casp15", type=Path)
    parser.add_argument("--out", type=Path, default=TABLES)
    args = parser.parse_args()
    rows = []
    for name, source in SOURCES.items():
        for size in SIZES:
            pools = of_source(args.casp15, source, size)
            for judge, of_judge in pools.groupby("judge", sort=False):
                # a target counts once, whatever the number of its pools
                mean = of_judge.groupby(["target", "cluster"], as_index=False)[
                    ["loss", "spearman"]
                ].mean()
                for metric in ("loss", "spearman"):
                    value, low, high = interval(mean, metric)
                    row = {
                        "source": name,
                        "pool": size or "all",
                        "judge": judge,
                        "metric": metric,
                        "targets": len(mean),
                        "value": value,
                        "low": low,
                        "high": high,
                    }
                    rows.append(row)
    table = pd.DataFrame(rows).round(4)
    table.to_csv(args.out, index=False)
    print(markdown(table))


def markdown(table: pd.DataFrame) -> str:
    """Return loss / Spearman by rule and size of the pool."""
    lines = []
    for source, of_source_ in table.groupby("source", sort=False):
        sizes = of_source_["pool"].drop_duplicates().astype(str).tolist()
        head = f"| {source} | {' | '.join(sizes)} |"
        lines += ["", head, "| --- |" + " ---: |" * len(sizes)]
        for judge, of_judge in of_source_.groupby("judge", sort=False):
            cells = []
            for _, cell in of_judge.groupby("pool", sort=False):
                loss, order = cell["value"].to_numpy()
                cells.append(f"{loss:.3f} / {order:.2f}")
            lines.append(f"| {judge} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
