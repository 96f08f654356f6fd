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
from toporank.combining.combine import Trees, leaning, predicted, write_trees
from toporank.combining.descriptors import describe
from toporank.combining.inputs import NETWORK, VOTES, joined, network_inputs, vote_inputs
from toporank.combining.trees import Forest, from_lightgbm
from toporank.comparison.compare import read_decoys
from toporank.comparison.votes import similarities, votes
from toporank.evaluation.comparison import stored_contacts
from toporank.evaluation.confidence import Calibration, Scorer, calibrate, estimates, scorer_of, write_calibration
from toporank.evaluation.coverage import read_coverage
from toporank.evaluation.metrics import ranking_loss, spearman
from toporank.files import write_text
from toporank.graphs.pack import GraphStore
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
WEIGHTS = (1.0, 0.5, 0.3)
"""Of a decoy among all of its target, among some of them, and alone."""
PREDICTED = ("bm55-af2-boltz",)
"""Groups of models that predictors made."""
MADE, OF_MADE = ("perturbed", "sampled"), 0.4
"""Decoys made around natives, which agree with each other more than predictors do: they count less."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("--out", type=Path, help="written: the scorer")
    parser.add_argument("--tables", type=Path, help="written: what was measured")
    parser.add_argument("--seeds", type=int, default=3, help="of the trees")
    args = parser.parse_args()
    decoys, names, descriptors, similarity = read_study(args.study)
    table = Table(decoys, descriptors, names, similarity)
    judges = [[*names, *VOTES], [*NETWORK, *VOTES]]
    answers = {
        "scorer": judges,
        "scorer, each decoy alone": judges,
        "descriptors and votes": judges[:1],
        "networks and votes": judges[1:],
        "descriptors, networks and votes in one forest": [[*names, *NETWORK, *VOTES]],
        "descriptors": [names],
        "descriptors and networks": [[*names, *NETWORK]],
    }
    contacts, clashes = (descriptors[:, names.index(name)] for name in ("contact_sum", "atom_pairs_0_2.5_sum"))
    found = {
        "random": np.zeros(len(decoys)),
        "interface residues": descriptors[:, names.index("residues")],
        "contacts − 5 × clashes": contacts - 5 * clashes,
        "consensus": decoys["consensus"].fillna(0).to_numpy(),
        "networks": decoys["pred_dockq"].to_numpy(),
    }
    for answer, inputs in answers.items():
        alone = answer.endswith("alone")
        found[answer] = np.mean([table.out_of_fold(inputs, SEED + i, alone) for i in range(args.seeds)], axis=0)
    found["scorer, not leaning to the consensus"] = found["scorer"]
    found["scorer"] = leaning(found["scorer"], table.seen[0])
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
        everything = np.ones(len(decoys), bool)
        grown = [table.grow(inputs, everything, SEED) for inputs in (names, *judges)]
        write_scorer(args.study, args.out, Trees(grown[0], grown[1:]))
        write_intervals(args.study, args.out, decoys.assign(predicted=found["scorer"]))


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
            alike = np.array([*similarities(compared)])
            similarity[dataset, target] = alike
            rows.loc[own.index, "consensus"] = votes(alike, np.zeros(len(own))).consensus
        parts.append(rows)
    return pd.concat(parts, ignore_index=True), names, np.concatenate(values), similarity


class Table:
    """All decoys as trees see them: among all decoys of their target, among some, and alone."""

    def __init__(self, decoys: pd.DataFrame, descriptors: np.ndarray, names: list[str], similarity: dict):
        self.decoys, self.names = decoys, names
        self.weight = np.where(decoys["group"].isin(MADE), OF_MADE, 1.0)
        self.weight = self.weight / np.sqrt(decoys.groupby("cluster")["dockq"].transform("size").to_numpy())
        known = dict(zip(names, descriptors.T, strict=True))
        self.seen = [known] * 3
        self.worth = np.clip(self.out_of_fold([names], SEED), 0, 1)
        rng = np.random.default_rng(SEED)
        targets = [*decoys.groupby(["dataset", "target"]).indices.items()]
        some = [rng.choice(rows, rng.integers(2, len(rows) + 1), replace=False) for _, rows in targets if len(rows) > 1]
        self.seen = [
            {**known, **self._among([rows for _, rows in targets], similarity)},
            {**known, **self._among([np.sort(rows) for rows in some], similarity)},
            {**known, **self._among([np.array([i]) for i in range(len(decoys))], similarity)},
        ]

    def _among(self, groups: list[np.ndarray], similarity: dict) -> dict[str, np.ndarray]:
        """Votes and networks of decoys in groups of one target each; the other decoys are alone."""
        network = self.decoys[["pred_dockq", "pred_local"]].to_numpy(float)
        within = self.decoys.groupby(["dataset", "target"]).cumcount().to_numpy()
        keys = list(zip(self.decoys["dataset"], self.decoys["target"], strict=True))
        alone = np.setdiff1d(np.arange(len(self.decoys)), np.concatenate(groups))
        found = []
        for rows in [*groups, *(np.array([i]) for i in alone)]:
            alike = similarity[keys[rows[0]]][np.ix_(within[rows], within[rows])] if len(rows) > 1 else ()
            inputs = vote_inputs(votes(alike, self.worth[rows]))
            found.append((rows, {**inputs, **network_inputs(*network[rows].T)}))
        return joined(found, len(self.decoys))

    def grow(self, inputs: list[str], rows: np.ndarray, seed: int) -> Forest:
        """Trees that see some rows, bool, (n,)."""
        import lightgbm

        seen = list(zip(self.seen, WEIGHTS, strict=True)) if set(inputs) - {*self.names} else [(self.seen[0], 1.0)]
        values = np.concatenate([np.column_stack([known[name][rows] for name in inputs]) for known, _ in seen])
        dockq = np.tile(self.decoys["dockq"].to_numpy()[rows], len(seen))
        weight = np.concatenate([self.weight[rows] * factor for _, factor in seen])
        data = lightgbm.Dataset(values, dockq, weight=weight, feature_name=list(inputs))
        return from_lightgbm(lightgbm.train({**PARAMETERS, "seed": seed}, data, TREES_GROWN).dump_model())

    def out_of_fold(self, judges: list[list[str]], seed: int, alone: bool = False) -> np.ndarray:
        """Mean of forests of these inputs for every decoy; they saw none of its cluster. alone : each by itself."""
        fold, found = self.decoys["fold"].to_numpy(), np.full(len(self.decoys), np.nan)
        known = self.seen[2 if alone else 0]
        for k in np.unique(fold):
            here = fold == k
            forests = [self.grow(inputs, ~here, seed) for inputs in judges]
            found[here] = np.mean([predicted(f, {n: v[here] for n, v in known.items()}) for f in forests], axis=0)
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
        for metric in ("ranking_loss", "spearman_per_target") if len(targets) else ():
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


def write_scorer(study: Path, out: Path, trees: Trees) -> None:
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
    write_trees(out / layout.TREES, trees, features)
    digest = hashlib.sha256((out / layout.TREES).read_bytes()).hexdigest()[:16]
    print(f"{out}: {len(losses)} networks, {sum(len(f.leaf) for f in (trees.alone, *trees.judges))} trees ({digest})")


def write_intervals(study: Path, out: Path, decoys: pd.DataFrame) -> None:
    """How far to trust the scorer, from predictions for decoys that were not made around natives; and how often its
    intervals hold in each group, when they come from the other folds.
    """
    from toporank.model.scoring import embed

    stores = {d: GraphStore.open([study / layout.PACK.format(dataset=d)]) for d in decoys["dataset"].unique()}
    coverage = [
        pd.DataFrame(read_coverage(study / layout.COVERAGE.format(dataset=name))).assign(dataset=name)
        for name in stores
    ]
    keys, sizes = ["dataset", "target", "decoy"], ["n_interface_residues", "n_chains"]
    decoys = decoys.merge(pd.concat(coverage)[[*keys, *sizes]], on=keys, how="left")
    seen = {}
    for name, store in stores.items():
        vectors = embed(out / "best.ckpt", store)
        seen |= {(name, *key): v for *key, v in zip(store.target, store.decoy, vectors, strict=True)}
    decoys = decoys[~decoys["group"].isin(MADE)].reset_index(drop=True)
    pooled = np.array([seen[key] for key in decoys[keys].itertuples(index=False, name=None)])
    members = [*(out / "ensemble").glob("*.ckpt"), out / layout.TREES]
    scorer = scorer_of(out / "best.ckpt", members, mean=True)
    fold = decoys["fold"].to_numpy()
    write_calibration(out / layout.CALIBRATION, calibrated(decoys, pooled, scorer, np.ones(len(decoys), bool)))
    held = np.zeros(len(decoys), bool)
    for k in np.unique(fold):
        here = fold == k
        known = calibrated(decoys, pooled, scorer, ~here)
        columns = (decoys.loc[here, name] for name in ("predicted", *sizes))
        bounds = np.array([one[:2] for one in estimates(known, *columns, pooled[here])])
        held[here] = decoys.loc[here, "dockq"].between(*bounds.T)
    print("80 % intervals hold:", decoys.assign(held=held).groupby("group")["held"].mean().round(3).to_dict())


def calibrated(decoys: pd.DataFrame, pooled: np.ndarray, scorer: Scorer, rows: np.ndarray) -> Calibration:
    """The domain of some decoys, bool, (n,), with the intervals of those that predictors made: what users score."""
    predicted = rows & decoys["group"].isin(PREDICTED).to_numpy()
    intervals = calibrate(decoys[predicted], pooled[predicted], scorer).intervals
    return calibrate(decoys[rows], pooled[rows], scorer).model_copy(update={"intervals": intervals})


if __name__ == "__main__":
    main()
