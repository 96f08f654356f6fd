"""Grows the trees of the shipped scorer beside its networks, judges everything out of fold, and writes the scorer.

    snakemake --cores 2 cross_validate --configfile config/scorer.yaml
    PYTHONPATH=lib python tests/benchmarks/scorer.py STUDY --out resources/scorer --tables docs/scorer

STUDY is the folder in which `cross_validate` ran. Needs LightGBM (requirements-dev.txt). The networks' predictions of
a decoy come from the fold that was trained without its cluster, and so do those of the trees. What is chosen here was
chosen on these folds; nothing else was looked at.

Trees see each training decoy three times: among all decoys of its target, among some of them drawn at random, and
alone, so that the number of decoys of a target tells nothing and a single decoy has a score.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd

from toporank import layout
from toporank.building.store import Store
from toporank.combining.combine import predict
from toporank.combining.descriptors import describe
from toporank.combining.inputs import NETWORK, STANDING, network_inputs, standing
from toporank.combining.trees import Forest, from_lightgbm, write_forests
from toporank.comparison.compare import read_decoys
from toporank.evaluation.comparison import stored_contacts
from toporank.evaluation.coverage import read_coverage
from toporank.evaluation.metrics import ranking_loss, spearman
from toporank.files import write_text
from toporank.graphs.packfile import PackedGraphs

SEED = 2026
ROUNDS = 1000
"""Of the bootstrap over clusters."""
SPREAD = 0.1
"""Difference of DockQ from which on the decoys of a target are worth ranking."""
PARAMETERS = {
    "objective": "l2", "learning_rate": 0.03, "num_leaves": 15, "min_data_in_leaf": 10, "bagging_fraction": 0.7,
    "bagging_freq": 1, "feature_fraction": 0.3, "num_threads": 1, "deterministic": True, "force_row_wise": True,
    "verbosity": -1,
}  # fmt: skip
TREES_GROWN = 300
ALONE, SOME = 0.3, 0.5
"""Weight of a decoy that is alone, and of one among some, beside that of one among all."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("--out", type=Path, help="written: the scorer")
    parser.add_argument("--tables", type=Path, help="written: what was measured")
    parser.add_argument("--seeds", type=int, default=3, help="of the trees")
    args = parser.parse_args()
    decoys, names, descriptors, similarity = read_study(args.study)
    weight = 1 / np.sqrt(decoys.groupby("cluster")["dockq"].transform("size").to_numpy())
    variants = {
        "trees: all": [*names, *NETWORK, *STANDING],
        "without descriptors": [*NETWORK, *STANDING],
        "without networks": [*names, *STANDING],
        "without the other decoys": [*names, *NETWORK],
        "descriptors alone": names,
    }
    both = {"descriptors and others": [*names, *STANDING], "networks and others": [*NETWORK, *STANDING]}
    baselines = {
        "random": np.zeros(len(decoys)),
        "interface residues": descriptors[:, names.index("residues")],
        "contacts − 5 × clashes": descriptors[:, names.index("contact_sum")]
        - 5 * descriptors[:, names.index("atom_pairs_0_2.5_sum")],
        "consensus": decoys["consensus"].fillna(0).to_numpy(),
        "networks": decoys["pred_dockq"].to_numpy(),
    }
    table = Table(decoys, descriptors, names, similarity, weight)
    found = {**baselines}
    for variant, inputs in {**variants, **both}.items():
        found[variant] = np.mean([table.out_of_fold(inputs, SEED + seed) for seed in range(args.seeds)], axis=0)
    found["scorer"] = np.mean([found[name] for name in both], axis=0)
    result = pd.concat([judged(decoys, answer, values) for answer, values in found.items()], ignore_index=True)
    print(
        result.drop(columns=["low", "high"])
        .pivot_table(index=["group", "answer"], columns="metric", values="value", sort=False)
        .round(3)
        .to_string()
    )
    if args.tables:
        args.tables.mkdir(parents=True, exist_ok=True)
        result.round(4).to_csv(args.tables / "metrics.csv", index=False)
        keep = ["dataset", "target", "decoy", "group", "cluster", "fold", "dockq"]
        decoys[keep].assign(network=decoys["pred_dockq"], scorer=found["scorer"]).round(4).to_csv(
            args.tables / "predictions.csv.gz", index=False
        )
    if args.out:
        forests = [table.grow(inputs, np.ones(len(decoys), bool), SEED) for inputs in both.values()]
        write_scorer(args.study, args.out, forests)


def read_study(study: Path) -> tuple[pd.DataFrame, list[str], np.ndarray, dict[tuple[str, str], np.ndarray]]:
    """Labelled decoys with a graph and an out-of-fold prediction; names and values of their descriptors; similarity of
    the decoys of each target, (n, n), in their order."""
    predictions = pd.read_csv(study / layout.FOLD_PREDICTIONS, dtype={"target": str, "decoy": str, "cluster": str})
    parts, values, names, similarity = [], [], [], {}
    store = Store(study / ".toporank/store")
    for dataset, rows in predictions.groupby("dataset", sort=True):
        graphs = PackedGraphs.open([study / layout.PACK.format(dataset=dataset)])
        names, of_graphs = describe(graphs)
        copies = {
            (row.target, row.decoy)
            for row in read_coverage(study / layout.COVERAGE.format(dataset=dataset))
            if row.duplicate_of
        }
        place = {key: i for i, key in enumerate(zip(graphs.target, graphs.decoy, strict=True))}
        rows = rows[[key in place and key not in copies for key in zip(rows["target"], rows["decoy"], strict=True)]]
        rows = rows.sort_values(["target", "decoy"], ignore_index=True)
        values.append(of_graphs[[place[key] for key in zip(rows["target"], rows["decoy"], strict=True)]])
        contacts = stored_contacts(dataset, store)
        for target, own in rows.groupby("target"):
            _, compared, _, _ = read_decoys((decoy, contacts((target, decoy))) for decoy in own["decoy"])
            common = np.array([compared.common(i) for i in range(len(own))])
            alike = 2 * common / np.maximum(compared.sizes[:, None] + compared.sizes, 1)
            np.fill_diagonal(alike, 0.0)
            similarity[dataset, target] = alike
            rows.loc[own.index, "consensus"] = alike.sum(axis=1) / (len(own) - 1) if len(own) > 1 else np.nan
        parts.append(rows)
    return pd.concat(parts, ignore_index=True), names, np.concatenate(values), similarity


class Table:
    """All decoys as trees see them."""

    def __init__(self, decoys: pd.DataFrame, descriptors: np.ndarray, names: list[str], similarity: dict, weight):
        self.decoys, self.weight = decoys, weight
        self.target = (decoys["dataset"] + "/" + decoys["target"]).to_numpy()
        known = dict(zip(names, descriptors.T, strict=True))
        score, consensus = decoys["pred_dockq"].to_numpy(), decoys["consensus"].to_numpy()
        self.all = {**known, **network_inputs(self.target, score), **standing(self.target, consensus)}
        each = np.arange(len(decoys)).astype(str)
        nothing = np.full(len(decoys), np.nan)
        self.alone = {**known, **network_inputs(each, score), **standing(each, nothing)}
        part = self._some(similarity)
        among = np.where(part, self.target, np.char.add("alone", each.astype(str)).astype(object))
        votes = self._consensus(similarity, part)
        self.some = {**known, **network_inputs(among, score), **standing(among, votes)}

    def _some(self, similarity: dict) -> np.ndarray:
        """Two or more decoys of each target, drawn at random: bool, (n,)."""
        rng, drawn = np.random.default_rng(SEED), np.zeros(len(self.decoys), bool)
        for rows in self.decoys.groupby(["dataset", "target"]).indices.values():
            if len(rows) > 1:
                drawn[rng.choice(rows, rng.integers(2, len(rows) + 1), replace=False)] = True
        return drawn

    def _consensus(self, similarity: dict, part: np.ndarray) -> np.ndarray:
        votes = np.full(len(part), np.nan)
        for key, rows in self.decoys.groupby(["dataset", "target"]).indices.items():
            here = part[rows]
            if here.sum() > 1:
                votes[rows[here]] = similarity[key][np.ix_(here, here)].sum(axis=1) / (here.sum() - 1)
        return votes

    def grow(self, inputs: list[str], rows: np.ndarray, seed: int) -> Forest:
        """Trees that see some rows, bool, (n,)."""
        import lightgbm

        seen = [self.all, self.some, self.alone] if set(inputs) & {*STANDING, NETWORK[1]} else [self.all]
        factor = [1.0, SOME, ALONE]
        values = np.concatenate([np.column_stack([columns[name][rows] for name in inputs]) for columns in seen])
        dockq = np.concatenate([self.decoys["dockq"].to_numpy()[rows]] * len(seen))
        weight = np.concatenate([self.weight[rows] * factor[k] for k in range(len(seen))])
        data = lightgbm.Dataset(values, dockq, weight=weight, feature_name=list(inputs), free_raw_data=False)
        booster = lightgbm.train({**PARAMETERS, "seed": seed}, data, TREES_GROWN)
        return from_lightgbm(booster.dump_model())

    def out_of_fold(self, inputs: list[str], seed: int) -> np.ndarray:
        """Predictions of every decoy by trees that saw none of its cluster."""
        fold, found = self.decoys["fold"].to_numpy(), np.full(len(self.decoys), np.nan)
        for k in np.unique(fold):
            here = fold == k
            forest = self.grow(inputs, ~here, seed)
            found[here] = predict([forest], {name: values[here] for name, values in self.all.items()})
        return found


def judged(decoys: pd.DataFrame, answer: str, values: np.ndarray) -> pd.DataFrame:
    """Metrics of an answer for every group of decoys, with 95 % intervals by bootstrap over clusters."""
    rng, rows = np.random.default_rng(SEED), []
    table = decoys.assign(p=values)
    for group, own in table.groupby("group"):
        targets = []
        for _, part in own.groupby(["dataset", "target"]):
            y, p = part["dockq"].to_numpy(), part["p"].to_numpy()
            if np.ptp(y) >= SPREAD:
                loss = y.max() - y.mean() if np.ptp(p) == 0 else ranking_loss(y, p)
                targets.append((part["cluster"].iloc[0], loss, 0.0 if np.ptp(p) == 0 else spearman(y, p)))
        targets = pd.DataFrame(targets, columns=["cluster", "ranking_loss", "spearman_per_target"])
        for metric in ("ranking_loss", "spearman_per_target"):
            sums = targets.groupby("cluster")[metric].agg(["sum", "size"]).to_numpy()
            drawn = sums[rng.integers(0, len(sums), (ROUNDS, len(sums)))].sum(axis=1)
            rows.append((group, metric, targets[metric].mean(), *np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])))
        y, p = own["dockq"].to_numpy(), own["p"].to_numpy()
        index = list(own.reset_index().groupby("cluster").indices.values())
        for metric, measure in (
            ("spearman_pooled", lambda y, p: 0.0 if np.ptp(p) == 0 else spearman(y, p)),
            ("mse", lambda y, p: float(np.mean((y - p) ** 2))),
        ):
            drawn = [np.concatenate([index[i] for i in rng.integers(0, len(index), len(index))]) for _ in range(200)]
            low, high = np.percentile([measure(y[rows_], p[rows_]) for rows_ in drawn], [2.5, 97.5])
            rows.append((group, metric, measure(y, p), low, high))
    found = pd.DataFrame(rows, columns=["group", "metric", "value", "low", "high"])
    return found.assign(answer=answer)


def write_scorer(study: Path, out: Path, forests: list[Forest]) -> None:
    """The networks of all folds as an ensemble, and the trees."""
    shutil.rmtree(out / "ensemble", ignore_errors=True)
    (out / "ensemble").mkdir(parents=True)
    summaries = sorted(study.glob(layout.FOLD_RUN.format(fold="*", run="*") + "/summary.json"))
    losses = {}
    for path in summaries:
        name = f"{path.parent.parent.name}_{path.parent.name}"
        shutil.copyfile(path.with_name("best_loss.ckpt"), out / "ensemble" / f"{name}.ckpt")
        losses[name] = json.loads(path.read_text())["best_loss"]["val_loss"]
    best = min(losses, key=losses.get)
    shutil.copyfile(out / "ensemble" / f"{best}.ckpt", out / "best.ckpt")
    members = {"score": "mean", "rule": "val_loss", "members": sorted(losses)}
    write_text(out / "ensemble" / layout.MEMBERS, json.dumps(members, indent=1))
    pack = next(study.glob(layout.PACK.format(dataset="*")))
    features = PackedGraphs.open([pack]).metadata["features"]
    write_forests(out / layout.TREES, forests, {"features": features})
    digest = hashlib.sha256((out / layout.TREES).read_bytes()).hexdigest()[:16]
    print(f"{out}: {len(losses)} networks, {sum(len(f.leaf) for f in forests)} trees ({digest})")


if __name__ == "__main__":
    main()
