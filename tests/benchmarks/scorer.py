"""Grows the trees of the shipped scorer beside its networks, judges everything out of fold, and writes the scorer.

    snakemake --cores 2 cross_validate --configfile config/scorer.yaml
    PYTHONPATH=lib python tests/benchmarks/scorer.py STUDY --out resources/scorer --tables docs/scorer

STUDY is the folder in which `cross_validate` ran. Needs LightGBM (requirements-dev.txt). The networks' predictions of
a decoy come from the fold that was trained without its cluster, and so do those of the trees. What is chosen here was
chosen on these folds; nothing else was looked at.

The scorer has the network of one seed in each fold. Each of three seeds is a round with trees of its own, and figures
are means over the rounds. The first round is what ships.

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
from toporank.comparison.compare import read_decoys
from toporank.comparison.votes import similarities, votes
from toporank.decoys.labels import read_split_labels
from toporank.evaluation.comparison import stored_contacts
from toporank.evaluation.coverage import read_coverage
from toporank.evaluation.metrics import MIN_DECOYS, ranking_loss, spearman
from toporank.files import write_text
from toporank.graphs.pack import GraphStore
from toporank.graphs.packfile import PackedGraphs
from toporank.model.weights import load_weights, predict_all
from toporank.scorer.calibration import calibrate, estimates, scorer_of, write_calibration
from toporank.scorer.combine import Trees, leaning, predicted, write_trees
from toporank.scorer.descriptors import describe
from toporank.scorer.expected import held_against_others
from toporank.scorer.inputs import ABOVE, NETWORK, SAID, VOTES, joined, relative, vote_inputs
from toporank.scorer.trees import Forest, from_lightgbm
from toporank.similarity.tables import read_splits
from toporank.training.cross_validation import out_of_fold

SEED = 2026
LEAN = 0.08
"""`combine.Trees.lean`"""
ALONE = "scorer, each decoy alone"
DRAWS = 1000
"""Of the bootstrap over clusters."""
FEWEST = 5
"""Clusters of an interval: fewer tell too little of others."""
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
LEFT_OUT = (
    ("bm55-af2-boltz",),
    ("docked",),
    ("protac-megadock",),
    ("sabdab-docked",),
    ("perturbed",),
    ("sampled",),
    ("perturbed", "sampled"),
)
"""Groups without which trees are grown, to learn what they are worth."""
FAMILIES = {
    "areas": ("area", "buried_apolar", "buried_polar", *(f"residue_{name}" for name in ("buried", "shared", "free"))),
    "potentials of mean force": ("energy", "residue_energy"),
    "pairs of atoms by distance": ("atom_pairs",),
    "hydrogen bonds and charges": ("hydrogen_bonds", "salt_bridges", "like_charges", "residue_unsatisfied"),
    "amino acids": ("aa_", "buried_aa_"),
    "orientations": ("axes", "side_chain", "from", "to"),
}
"""Descriptors, by the beginnings of their names."""
SHOWN = ("bm55-af2-boltz", "bm55-rigid", "docked", "protac-megadock", "sabdab-docked", "sampled", "perturbed")
METRICS = {
    "ranking_loss": "Ranking loss",
    "spearman_per_target": "Spearman per target",
    "spearman_pooled": "Spearman, pooled",
    "mse": "MSE",
}
NO_DOCKQ = ("random", "interface residues", "contacts − 5 × clashes")
"""Answers that rank and are no DockQ."""
MADE, OF_MADE = ("perturbed", "sampled"), 0.4
"""Decoys made around natives, which agree with each other more than predictors do: they count less."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("--out", type=Path, help="written: the scorer")
    parser.add_argument("--tables", type=Path, help="written: what was measured")
    parser.add_argument("--config", default="local", help="of the networks (default: %(default)s)")
    parser.add_argument("--published", type=Path, help="folder in which each group was scored with weights of TopoQA")
    parser.add_argument("--ablations", action="store_true", help="judge what groups and descriptors are worth instead")
    args = parser.parse_args()
    study = Study(args.study)
    runs, said = study.runs(args.config), {}
    for i, run in enumerate(runs):
        table = Table(study.with_networks(run), study.descriptors, study.names, study.similarity)
        found = (ablations if args.ablations else answers)(table, SEED + i)
        if args.published:
            found["published weights of TopoQA"] = published(study.decoys, args.published)
        for answer, values in found.items():
            said.setdefault(answer, []).append(values)
        if i == 0:
            first = table
    result = judged(study.decoys, said)
    print(markdown(result))
    if args.tables:
        name = "ablations" if args.ablations else "metrics"
        args.tables.mkdir(parents=True, exist_ok=True)
        result.round(4).to_csv(args.tables / f"{name}.csv", index=False)
    if args.ablations:
        return
    if args.tables:
        write_predictions(args.tables / "predictions.csv.gz", study.decoys, said)
    if args.out:
        everything = np.ones(len(study.decoys), bool)
        grown = [first.grow(inputs, everything, SEED) for inputs in (first.names, *first.judges)]
        write_scorer(study, args.out, runs[0], Trees(grown[0], grown[1:], LEAN))
        out_of_fold_ = {"predicted": said["scorer"][0], "alone": said[ALONE][0]}
        write_intervals(args.study, args.out, study.decoys.assign(**out_of_fold_))


def write_predictions(path: Path, decoys: pd.DataFrame, said: dict[str, list[np.ndarray]]) -> None:
    """What networks and scorer say of every decoy, in the round that ships; in the others as `scorer_2` and so on."""
    columns = {
        f"{name}_{i}" if i > 1 else name: values
        for name, answer in (("network", "networks"), ("scorer", "scorer"), ("alone", ALONE))
        for i, values in enumerate(said[answer], start=1)
    }
    keep = ["dataset", "target", "decoy", "group", "cluster", "fold", "dockq"]
    table = decoys[keep].assign(**columns).round(6)
    table.to_csv(path, index=False, compression={"method": "gzip", "mtime": 0})  # without the time, the same bytes


def answers(table: Table, seed: int) -> dict[str, np.ndarray]:
    """What each way to judge says of every decoy, out of fold."""
    decoys, names = table.decoys, table.names
    column = dict(zip(names, table.descriptors.T, strict=True))
    by_descriptors, by_networks = (table.out_of_fold(inputs, seed) for inputs in table.judges)
    alone = [table.out_of_fold(inputs, seed, alone=True) for inputs in table.judges]
    return {
        "random": np.zeros(len(decoys)),
        "interface residues": column["residues"],
        "contacts − 5 × clashes": column["contact_sum"] - 5 * column["atom_pairs_0_2.5_sum"],
        "consensus": decoys["consensus"].fillna(0).to_numpy(),
        "networks": decoys["pred_dockq"].to_numpy(),
        "scorer": table.leaning(by_descriptors, by_networks),
        ALONE: np.clip(np.mean(alone, axis=0), 0, 1),
        "scorer, not leaning to the consensus": (by_descriptors + by_networks) / 2,
        "descriptors and votes": by_descriptors,
        "networks and votes": by_networks,
        "descriptors, networks and votes in one forest": table.out_of_fold([*table.judges[0], *NETWORK], seed),
        "descriptors not relative to the target, and votes": table.out_of_fold([*names, *VOTES], seed),
        "descriptors": table.out_of_fold(names, seed),
        "descriptors and networks": table.out_of_fold([*names, *NETWORK], seed),
    }


def ablations(table: Table, seed: int) -> dict[str, np.ndarray]:
    """What the scorer says of every decoy, out of fold, when trees do without something."""
    whole = [table.out_of_fold(inputs, seed) for inputs in table.judges]
    found = {"scorer": table.leaning(*whole)}
    for groups in LEFT_OUT:
        weight = table.weight * ~table.decoys["group"].isin(groups).to_numpy()
        judged_ = (table.out_of_fold(inputs, seed, weight=weight) for inputs in table.judges)
        found[f"without {' and '.join(groups)}"] = table.leaning(*judged_)
    for family, columns in FAMILIES.items():
        inputs = [name for name in table.judges[0] if not name.startswith(columns)]
        found[f"without {family}"] = table.leaning(table.out_of_fold(inputs, seed), whole[1])
    return found


def published(decoys: pd.DataFrame, folder: Path) -> np.ndarray:
    """What the rankings of `folder` say of every decoy, nan where they have none: a data set for each group."""
    tables = {path.parent.name: read_table(path) for path in sorted(folder.glob(layout.RANKING.format(dataset="*")))}
    rankings = pd.concat([table.assign(group=group) for group, table in tables.items()])
    keys = ["group", "target", "decoy"]
    return (
        decoys[keys]
        .merge(rankings[[*keys, "pred_dockq"]], on=keys, how="left", validate="1:1")["pred_dockq"]
        .to_numpy()
    )


class Study:
    """Labelled decoys with a graph, but copies.

    decoys : as in predictions.csv, with the consensus. names, descriptors : (n, k). similarity : of data set and
    target, (n, n), in the order of its decoys.
    """

    def __init__(self, folder: Path):
        self.folder, store = folder, Store(folder / ".toporank/store")
        predictions = read_table(folder / layout.FOLD_PREDICTIONS).drop_duplicates(["dataset", "target", "decoy"])
        parts, values, self.similarity = [], [], {}
        for dataset, rows in predictions.groupby("dataset", sort=True):
            graphs = PackedGraphs.open([folder / layout.PACK.format(dataset=dataset)])
            self.names, of_graphs = describe(graphs)
            coverage = read_coverage(folder / layout.COVERAGE.format(dataset=dataset))
            copies = {(row.target, row.decoy) for row in coverage if row.duplicate_of}
            place = {key: i for i, key in enumerate(zip(graphs.target, graphs.decoy, strict=True))}
            keys = zip(rows["target"], rows["decoy"], strict=True)
            rows = rows[[key in place and key not in copies for key in keys]]
            rows = rows.sort_values(["target", "decoy"], ignore_index=True)
            values.append(of_graphs[[place[key] for key in zip(rows["target"], rows["decoy"], strict=True)]])
            contacts = stored_contacts(dataset, coverage, store)
            for target, own in rows.groupby("target"):
                read = read_decoys(contacts((target, decoy)) for decoy in own["decoy"])
                alike = np.array([*similarities(read.contacts)])
                self.similarity[dataset, target] = alike
                rows.loc[own.index, "consensus"] = votes(alike, np.zeros(len(own))).consensus
            parts.append(rows)
        self.decoys, self.descriptors = pd.concat(parts, ignore_index=True), np.concatenate(values)

    def runs(self, config: str) -> list[str]:
        """The names of the runs of a configuration, one for each seed."""
        paths = self.folder.glob(layout.FOLD_RUN.format(fold=0, run=f"{config}_seed*"))
        return sorted((path.name for path in paths), key=lambda name: int(name.removeprefix(f"{config}_seed")))

    def summaries(self, run: str) -> list[Path]:
        """The summary of a run in every fold."""
        return sorted(self.folder.glob(layout.FOLD_RUN.format(fold="*", run=run) + "/summary.json"))

    def with_networks(self, run: str) -> pd.DataFrame:
        """The decoys with what the networks of a run say of them, each the one trained without its fold."""
        datasets = self.decoys["dataset"].unique()
        labels = {d: read_split_labels(self.folder / layout.LABELS.format(dataset=d)) for d in datasets}
        packs = [self.folder / layout.PACK.format(dataset=d) for d in datasets]
        splits = read_splits(self.folder / layout.SPLITS)
        said = pd.DataFrame(out_of_fold(self.summaries(run), "val_loss", packs, splits, labels))
        keys, said_by = ["dataset", "target", "decoy"], ["pred_dockq", "pred_sd", "pred_local"]
        return self.decoys.drop(columns=said_by).merge(said[[*keys, *said_by]], on=keys, how="left", validate="1:1")


def read_table(path: Path) -> pd.DataFrame:
    """predictions.csv; names that look like numbers stay text."""
    return pd.read_csv(path, dtype={"target": str, "decoy": str, "cluster": str})


class Table:
    """All decoys as trees see them: among all decoys of their target, among some, and alone."""

    def __init__(self, decoys: pd.DataFrame, descriptors: np.ndarray, names: list[str], similarity: dict):
        self.decoys, self.names, self.descriptors = decoys, names, descriptors
        self.judges = [[*names, *(f"{name}{ABOVE}" for name in names), *VOTES], [*NETWORK, *VOTES]]
        self.weight = np.where(decoys["group"].isin(MADE), OF_MADE, 1.0)
        self.weight = self.weight / np.sqrt(decoys.groupby("cluster")["dockq"].transform("size").to_numpy())
        known = dict(zip(names, descriptors.T, strict=True))
        self.seen = [known] * 3
        self.worth = np.clip(self.out_of_fold(names, SEED), 0, 1)
        rng = np.random.default_rng(SEED)
        targets = [*decoys.groupby(["dataset", "target"]).indices.items()]
        some = [rng.choice(rows, rng.integers(2, len(rows) + 1), replace=False) for _, rows in targets if len(rows) > 1]
        known |= {
            name: decoys[f"pred_{column}"].to_numpy(float)
            for name, column in zip(SAID, ("dockq", "local"), strict=True)
        }
        self.seen = [
            {**known, **self._among(known, groups, similarity)}
            for groups in ([rows for _, rows in targets], [np.sort(rows) for rows in some], [])
        ]

    def _among(self, known: dict[str, np.ndarray], groups: list[np.ndarray], similarity: dict) -> dict[str, np.ndarray]:
        """What groups of decoys of one target each say of each other; the other decoys are alone."""
        within = self.decoys.groupby(["dataset", "target"]).cumcount().to_numpy()
        keys = list(zip(self.decoys["dataset"], self.decoys["target"], strict=True))
        alone = np.setdiff1d(np.arange(len(self.decoys)), np.concatenate([np.zeros(0, int), *groups]))
        found = []
        for rows in [*groups, *(np.array([i]) for i in alone)]:
            alike = similarity[keys[rows[0]]][np.ix_(within[rows], within[rows])] if len(rows) > 1 else ()
            found.append((rows, vote_inputs(votes(alike, self.worth[rows]))))
        return {**relative(known, groups), **joined(found, len(self.decoys))}

    def grow(self, inputs: list[str], rows: np.ndarray, seed: int, weight: np.ndarray | None = None) -> Forest:
        """Trees that see some rows, bool, (n,). weight : of the decoys, (n,)."""
        import lightgbm

        weight = self.weight if weight is None else weight
        seen = list(zip(self.seen, WEIGHTS, strict=True)) if set(inputs) - {*self.names} else [(self.seen[0], 1.0)]
        values = np.concatenate([np.column_stack([known[name][rows] for name in inputs]) for known, _ in seen])
        dockq = np.tile(self.decoys["dockq"].to_numpy()[rows], len(seen))
        weight = np.concatenate([weight[rows] * factor for _, factor in seen])
        data = lightgbm.Dataset(values, dockq, weight=weight, feature_name=list(inputs))
        return from_lightgbm(lightgbm.train({**PARAMETERS, "seed": seed}, data, TREES_GROWN).dump_model())

    def out_of_fold(
        self, inputs: list[str], seed: int, alone: bool = False, weight: np.ndarray | None = None
    ) -> np.ndarray:
        """What a forest of these inputs says of every decoy; it saw none of its cluster. alone : each by itself."""
        fold, found = self.decoys["fold"].to_numpy(), np.full(len(self.decoys), np.nan)
        known = self.seen[2 if alone else 0]
        for k in np.unique(fold):
            here = fold == k
            forest = self.grow(inputs, ~here, seed, weight)
            found[here] = predicted(forest, {name: values[here] for name, values in known.items()})
        return found

    def leaning(self, *judges: np.ndarray) -> np.ndarray:
        """The mean of what forests say, leaning to the consensus."""
        return leaning(np.mean(judges, axis=0), self.seen[0], LEAN)


def judged(decoys: pd.DataFrame, answers_: dict[str, list[np.ndarray]]) -> pd.DataFrame:
    """Metrics of answers for every group of decoys: means over rounds, with 95 % intervals by bootstrap over clusters.

    answers_ : what each says of every decoy, in every round; nan for a decoy of which it says nothing.
    """
    rows = []
    for group, own in decoys.groupby("group"):
        codes, names = pd.factorize(own["cluster"])
        times = np.random.default_rng(SEED).multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)
        for answer, values in answers_.items():
            said = [each[own.index] for each in values]
            targets = pd.concat([of_targets(own, p) for p in said])
            y, p = own["dockq"].to_numpy(), np.array(said)
            known = ~np.isnan(p[0])
            errors = pd.DataFrame({"cluster": own["cluster"], "mse": ((y - p) ** 2).mean(axis=0)})[known]
            found = {
                "ranking_loss": of_clusters(targets, "ranking_loss", names, times),
                "spearman_per_target": of_clusters(targets, "spearman", names, times),
                "spearman_pooled": of_decoys(y[known], p[:, known], codes[known], times),
                "mse": of_clusters(errors, "mse", names, times) if answer not in NO_DOCKQ else (np.nan,) * 3,
            }
            rows += [(answer, group, len(names), metric, *three) for metric, three in found.items()]
    return pd.DataFrame(rows, columns=["answer", "group", "clusters", "metric", "value", "low", "high"])


def of_targets(decoys: pd.DataFrame, p: np.ndarray) -> pd.DataFrame:
    """Ranking loss and Spearman of each target worth ranking. The loss is counted from the best of all its decoys."""
    rows = []
    for _, part in decoys.assign(p=p).groupby(["dataset", "target"]):
        said, best = part[part["p"].notna()], part["dockq"].max()
        if np.ptp(part["dockq"]) < SPREAD or said.empty:
            continue
        y, p = said["dockq"].to_numpy(), said["p"].to_numpy()
        undecided = np.ptp(p) == 0
        loss = best - y.mean() if undecided else best - y.max() + ranking_loss(y, p)
        order = np.nan if len(y) < MIN_DECOYS else 0.0 if undecided or np.ptp(y) == 0 else spearman(y, p)
        rows.append((part["cluster"].iloc[0], loss, order))
    return pd.DataFrame(rows, columns=["cluster", "ranking_loss", "spearman"])


def of_clusters(rows: pd.DataFrame, what: str, names: np.ndarray, times: np.ndarray) -> tuple[float, float, float]:
    """The mean of some rows, with its interval. times : how often each cluster is drawn, (draws, clusters)."""
    rows = rows[rows[what].notna()]
    if rows.empty:
        return np.nan, np.nan, np.nan
    sums = rows.groupby("cluster")[what].agg(["sum", "count"]).reindex(names, fill_value=0).to_numpy()
    total, count = (times @ sums).T
    few = (sums[:, 1] > 0).sum() < FEWEST
    return rows[what].mean(), *((np.nan, np.nan) if few else np.nanpercentile(total / count, [2.5, 97.5]))


def of_decoys(y: np.ndarray, p: np.ndarray, codes: np.ndarray, times: np.ndarray) -> tuple[float, float, float]:
    """Spearman over all decoys, with its interval. p : (rounds, n). codes : the cluster of each."""

    def measure(counts: np.ndarray | int) -> float:
        return float(np.mean([0.0 if np.ptp(each) == 0 else spearman(y, each, counts) for each in p]))

    if len(np.unique(codes)) < FEWEST:
        return measure(1) if len(y) else np.nan, np.nan, np.nan
    return measure(1), *np.nanpercentile([measure(each[codes]) for each in times], [2.5, 97.5])


def markdown(result: pd.DataFrame) -> str:
    """Tables of every metric, answers by groups, and of the scorer with its intervals."""
    result = result[result["group"].isin(SHOWN)]
    values = result.set_index(["metric", "answer", "group"])
    lines = []
    for metric, title in METRICS.items():
        lines += [f"## {title}", "", f"| | {' | '.join(SHOWN)} |", "| --- |" + " ---: |" * len(SHOWN)]
        for answer in result["answer"].unique():
            cells = [values["value"].get((metric, answer, group), np.nan) for group in SHOWN]
            if not np.isnan(cells).all():
                numbers = ("" if np.isnan(value) else f"{value:.3f}" for value in cells)
                lines.append(f"| {'**scorer**' if answer == 'scorer' else answer} | {' | '.join(numbers)} |")
        lines.append("")
    lines += ["## The scorer with 95 % intervals", ""]
    lines += [f"| | clusters | {' | '.join(METRICS.values())} |", "| --- | ---: |" + " ---: |" * len(METRICS)]
    for group in SHOWN:
        rows = [values.loc[metric, "scorer", group] for metric in METRICS if (metric, "scorer", group) in values.index]
        if rows:
            lines.append(f"| {group} | {rows[0]['clusters']:.0f} | {' | '.join(map(with_interval, rows))} |")
    return "\n".join([*lines, ""])


def with_interval(row: pd.Series) -> str:
    """A metric and its interval, as far as they are known."""
    bounds = "" if np.isnan(row["low"]) else f" ({row['low']:.3f} to {row['high']:.3f})"
    return "–" if np.isnan(row["value"]) else f"{row['value']:.3f}{bounds}"


def write_scorer(study: Study, out: Path, run: str, trees: Trees) -> None:
    """The networks of a run in all folds as an ensemble, and the trees."""
    shutil.rmtree(out / "ensemble", ignore_errors=True)
    (out / "ensemble").mkdir(parents=True)
    losses = {}
    for path in study.summaries(run):
        name = f"{path.parent.parent.name}_{path.parent.name}"
        shutil.copyfile(path.with_name("best_loss.ckpt"), out / "ensemble" / f"{name}.ckpt")
        losses[name] = json.loads(path.read_text())["best_loss"]["val_loss"]
    best = min(losses, key=losses.get)
    shutil.copyfile(out / "ensemble" / f"{best}.ckpt", out / "best.ckpt")
    members = {"score": "mean", "rule": "val_loss", "members": sorted(losses)}
    write_text(out / "ensemble" / layout.MEMBERS, json.dumps(members, indent=1))
    pack = next(study.folder.glob(layout.PACK.format(dataset="*")))
    features = PackedGraphs.open([pack]).metadata["features"]
    write_trees(out / layout.TREES, trees, features)
    digest = hashlib.sha256((out / layout.TREES).read_bytes()).hexdigest()[:16]
    print(f"{out}: {len(losses)} networks, {sum(len(f.leaf) for f in (trees.alone, *trees.judges))} trees ({digest})")


def write_intervals(study: Path, out: Path, decoys: pd.DataFrame) -> None:
    """How far to trust the scorer, from predictions for decoys that were not made around natives; and how often its
    intervals hold in each group, when they come from the other folds.
    """
    best, _ = load_weights(out / "best.ckpt")
    stores = {d: GraphStore.open([study / layout.PACK.format(dataset=d)]) for d in decoys["dataset"].unique()}
    coverage = [
        pd.DataFrame(read_coverage(study / layout.COVERAGE.format(dataset=name))).assign(dataset=name)
        for name in stores
    ]
    keys, sizes = ["dataset", "target", "decoy"], ["n_interface_residues", "n_chains"]
    decoys = decoys.merge(pd.concat(coverage)[[*keys, *sizes]], on=keys, how="left")
    seen = {}
    for name, store in stores.items():
        vectors = predict_all([best], store)[0].pooled.double().numpy()
        seen |= {(name, *key): v for *key, v in zip(store.target, store.decoy, vectors, strict=True)}
    decoys = decoys[~decoys["group"].isin(MADE)].reset_index(drop=True)
    decoys["for_intervals"] = decoys["group"].isin(PREDICTED)  # what users score
    pooled = np.array([seen[key] for key in decoys[keys].itertuples(index=False, name=None)])
    decoys["target"] = decoys["dataset"] + "/" + decoys["target"]
    held = held_against_others(decoys["predicted"], decoys["target"])
    members = [*(out / "ensemble").glob("*.ckpt"), out / layout.TREES]
    scorer = scorer_of(out / "best.ckpt", members, mean=True)
    fold = decoys["fold"].to_numpy()
    write_calibration(out / layout.CALIBRATION, calibrate(decoys, pooled, scorer))
    for column, alone in (("predicted", False), ("alone", True)):
        against = decoys["alone"].to_numpy() if alone else held
        holds = np.zeros(len(decoys), bool)
        for k in np.unique(fold):
            here = fold == k
            known = calibrate(decoys[~here], pooled[~here], scorer)
            columns = (decoys.loc[here, name] for name in (column, *sizes))
            bounds = np.array([one[:2] for one in estimates(known, *columns, pooled[here], alone, against[here])])
            holds[here] = decoys.loc[here, "dockq"].between(*bounds.T)
        shares = decoys.assign(holds=holds).groupby("group")["holds"].mean().round(3).to_dict()
        print(f"80 % intervals{' of decoys by themselves' if alone else ''} hold:", shares)


if __name__ == "__main__":
    main()
