"""Judges the scorer that ships, and each of its parts, out of fold.

    snakemake --cores 2 cross_validate --configfile config/scorer.yaml
    PYTHONPATH=lib python benchmarks/scorer.py STUDY --tables docs/scorer

STUDY is the folder in which that ran. The networks' predictions of a decoy come from the fold that was trained without
its cluster, and so do those of the trees. What is chosen here was chosen on these folds; nothing else was looked at.

The scorer has the network of one seed in each fold. Each of three seeds is a round with trees of its own, and figures
are means over the rounds. The first round is what ships.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from toporank import layout
from toporank.metrics import MIN_DECOYS, ranking_loss, spearman
from toporank.scorer.evidence import CrossValidation
from toporank.scorer.make import SEED, TrainingTable
from toporank.scorer.tree_inputs import NETWORK, VOTES

ALONE = "scorer, each decoy alone"
FOLDS = 5
DRAWS = 1000
"""Of the bootstrap over clusters."""
FEWEST = 5
"""Clusters of an interval: fewer tell too little of others."""
SPREAD = 0.1
"""Difference of DockQ from which on the decoys of a target are worth ranking."""
POSES = ("docked", "protac-megadock", "sabdab-docked", "membrane-zdock")
"""Groups of docked poses that intervals come from."""
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
MADE = ("perturbed", "sampled")
"""Groups of decoys made around natives."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("--tables", type=Path, help="written: what was measured")
    parser.add_argument("--config", default="local", help="of the networks (default: %(default)s)")
    parser.add_argument("--published", type=Path, help="folder in which each group was scored with weights of TopoQA")
    parser.add_argument("--against", type=Path, help="predictions.csv.gz of another scorer: target by target")
    cuts = "judge the scorer on this many ways to cut clusters into folds instead"
    parser.add_argument("--foldings", type=int, default=0, help=cuts)
    parser.add_argument("--networks", type=Path, help="predictions.csv.gz of other networks, for --foldings")
    parser.add_argument("--ablations", action="store_true", help="judge what groups and descriptors are worth instead")
    args = parser.parse_args()
    known = read_table(args.study / layout.FOLD_PREDICTIONS)["dataset"]
    study = CrossValidation(args.study, known.unique())
    runs, said = study.runs(args.config), {}
    if args.foldings:
        networks = read_table(args.networks) if args.networks else None
        print(folded(study, runs[0], args.foldings, networks).round(3).to_string())
        return
    for i, run in enumerate(runs):
        table = TrainingTable(study.with_networks(run), study.descriptors, study.names, study.similarity, MADE)
        found = (ablations if args.ablations else answers)(table, SEED + i)
        if args.published:
            found["published weights of TopoQA"] = published(study.decoys, args.published)
        for answer, values in found.items():
            said.setdefault(answer, []).append(values)
    result = judged(study.decoys, said)
    print(markdown(result))
    if args.against:
        apart = differences(study.decoys, said, read_table(args.against))
        print(apart.round(3).to_string(index=False))
        result = pd.concat([result, apart])
    if args.tables:
        name = "ablations" if args.ablations else "metrics"
        args.tables.mkdir(parents=True, exist_ok=True)
        result.round(4).to_csv(args.tables / f"{name}.csv", index=False)
    if args.ablations:
        return
    if args.tables:
        write_predictions(args.tables / "predictions.csv.gz", study.decoys, said)


def folded(study: CrossValidation, run: str, n: int, networks: pd.DataFrame | None) -> pd.DataFrame:
    """Metrics of the scorer, mean and standard deviation over ways to cut the clusters into folds of the trees.

    networks : predictions that take the place of those of the study's networks, as far as they are known.
    """
    decoys, clusters, found = study.with_networks(run), sorted(study.decoys["cluster"].unique()), []
    if networks is not None:
        keys = ["dataset", "target", "decoy"]
        of_others = decoys[keys].merge(networks[[*keys, "network"]], on=keys, how="left", validate="1:1")["network"]
        decoys["pred_dockq"] = of_others.mask(decoys["group"].isin(MADE)).fillna(decoys["pred_dockq"])
    for i in range(n):
        of_cluster = dict(zip(clusters, np.random.default_rng(i).permutation(len(clusters)) % FOLDS, strict=True))
        table = decoys.assign(fold=decoys["cluster"].map(of_cluster))
        trees = TrainingTable(table, study.descriptors, study.names, study.similarity, MADE)
        judged_ = table.assign(**trees.judged(SEED + i))
        for answer, column in (("scorer", "predicted"), (ALONE, "alone")):
            for group, own in judged_.groupby("group"):
                p, y = own[column].to_numpy(), own["dockq"].to_numpy()
                means = of_targets(own, p)[["ranking_loss", "spearman"]].mean()
                found.append((answer, group, *means, spearman(y, p), ((y - p) ** 2).mean()))
    names = ["answer", "group", *METRICS]
    return pd.DataFrame(found, columns=names).groupby(["answer", "group"]).agg(["mean", "std"])


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


def differences(decoys: pd.DataFrame, said: dict[str, list[np.ndarray]], other: pd.DataFrame) -> pd.DataFrame:
    """How far the scorer is above another, target by target; intervals by bootstrap over clusters.

    other : its predictions. Decoys made around natives are left out: those of another study have the same names.
    """
    keys, rows = ["dataset", "target", "decoy"], []
    kept = decoys.assign(row=np.arange(len(decoys)))[~decoys["group"].isin(MADE)]
    both = kept.merge(other.drop(columns=["group", "cluster", "dockq"]), on=keys, how="inner", validate="1:1")
    for answer, column in (("scorer", "scorer"), (ALONE, "alone")):
        pairs = zip(said[answer], (f"{column}{end}" for end in ("", "_2", "_3")), strict=True)
        rounds = [(both.assign(p=ours[both["row"]]), both[theirs].to_numpy()) for ours, theirs in pairs]
        for group, own in both.groupby("group"):
            names = own["cluster"].unique()
            times = np.random.default_rng(SEED).multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)
            apart = sum(
                of_each(own, ours.loc[own.index, "p"].to_numpy()) - of_each(own, theirs[own.index])
                for ours, theirs in rounds
            ) / len(rounds)  # fmt: skip
            for metric, name in (("ranking_loss", "ranking_loss"), ("spearman_per_target", "spearman")):
                found = of_clusters(apart.reset_index(), name, names, times)
                rows.append((f"{answer} − the other", group, len(names), metric, *found))
    return pd.DataFrame(rows, columns=["answer", "group", "clusters", "metric", "value", "low", "high"])


def of_each(decoys: pd.DataFrame, p: np.ndarray) -> pd.DataFrame:
    """Ranking loss and Spearman of each target worth ranking, by target and cluster."""
    table = decoys.assign(p=p)
    parts = {key: of_targets(own, own["p"].to_numpy()) for key, own in table.groupby(["dataset", "target"])}
    return pd.concat(parts).reset_index(level=2, drop=True).set_index("cluster", append=True)


def read_table(path: Path) -> pd.DataFrame:
    """predictions.csv; names that look like numbers stay text."""
    return pd.read_csv(path, dtype={"target": str, "decoy": str, "cluster": str})


def answers(table: TrainingTable, seed: int) -> dict[str, np.ndarray]:
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


def ablations(table: TrainingTable, seed: int) -> dict[str, np.ndarray]:
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


if __name__ == "__main__":
    main()
