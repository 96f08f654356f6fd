"""The transfer table: how each judge ranks models of a source that nothing was fitted to, and how
calibrated it is.

    PYTHONPATH=lib python benchmarks/transfer.py --trees docs/scorer/trees.csv.gz
    PYTHONPATH=lib python benchmarks/transfer.py STUDY --trees docs/scorer/trees.csv.gz

STUDY is the folder of a cross-validation (config/scorer.yaml), in which graphs, labels and networks
lie; `networks_without.py` adds networks that never saw a source. What networks say, and how alike
models are, is kept beside the table, in predictions.csv.gz and alike.npz, so that a second run
needs no STUDY; --again reads the networks
anew, --without those alone that never saw a source. --trees gives two columns of the scorer that had boosted trees instead of a judge, out of fold
by cluster, but not by source.

Pools of 3, 5, 10, 25 and all models of a target, three seeds each; 95 % intervals by bootstrap over
clusters. A target counts where the models of the pool differ by 0.1 or more in DockQ.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import lsq_linear

from toporank import layout
from toporank.chains.complex_kinds import WITH_BINDER
from toporank.files.packfile import PackedGraphs
from toporank.learning.inference import open_network, predict_all
from toporank.metrics import ACCEPTABLE, spearman
from toporank.scorer.curves import fit_curve
from toporank.scorer.evidence import CrossValidation
from toporank.scorer.fitting import (
    SIZE,
    TEMPERATURE,
    calibrated,
    kinds_learned,
    observations,
    pools,
    uncalibrated,
)
from toporank.scorer.judge import (
    BINDERS,
    OF_PAIRS,
    OF_RESIDUES,
    REST,
    Judge,
    larger,
    ordered,
    read_judge,
    write_judge,
)
from toporank.scorer.manifest import JUDGE, seal
from toporank.scorer.networks import one_thread

SEEDS = (0, 1, 2)
SIZES = (3, 5, 10, 25, None)
DRAWS = 1000
SPREAD = 0.1
MADE = ("perturbed", "sampled")
PROGRAMS = {"AlphaFold": "af2", "Boltz": "boltz"}
"""Programs of bm55-af2-boltz, by the beginnings of the names of their models."""
PREDICTED = "bm55-af2-boltz"
TWINS = 0.95
"""Least similarity of two models that may count as one."""
TEXT = {"dataset": str, "target": str, "decoy": str, "group": str, "cluster": str}
KEYS = ["dataset", "target", "decoy"]
PREDICTIONS = Path("docs/scorer/predictions.csv.gz")
ALIKE, SCALE = "alike.npz", 1e4
POOLS = Path("docs/research/pools.csv")
"""Rows of large pools, from study/pools.py."""
SHARP = Judge.model_fields["sharp"].default
WITHOUT = "results/without/{dataset}/{config}_*/best_loss.ckpt"
"""Networks that saw no cluster of a data set, from networks_without.py."""
CONFIGS = {"gatv2": "local", "contacts": "contacts"}
"""Columns of what networks say by their configurations. `network` is the mean of both."""


class Pool(NamedTuple):
    """Models of one target. rows : places. alike : similarities, (n, n). consensus : (n,).
    independent : how many.
    """

    rows: np.ndarray
    alike: np.ndarray
    consensus: np.ndarray
    independent: float

    @property
    def agreeing(self) -> np.ndarray:
        return np.nan_to_num(self.consensus) * self.independent


Judging = Callable[[Pool], np.ndarray]
"""From a pool to a value for each of its models, the higher the better."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", type=Path, nargs="?")
    parser.add_argument(
        "--alike",
        type=Path,
        help="what study/on_device.py built: how alike models of its targets are comes from there",
    )
    parser.add_argument("--trees", type=Path)
    parser.add_argument("--tables", type=Path, default=Path("docs/scorer"))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--without", action="store_true")
    parser.add_argument(
        "--picture",
        type=Path,
        help="written: how often models are acceptable, by probability",
    )
    parser.add_argument(
        "--judge", type=Path, help="folder of a scorer, whose judge is fitted anew"
    )
    args = parser.parse_args()
    kept = args.tables / PREDICTIONS.name
    study = None
    if args.study:
        study = CrossValidation(args.study, _datasets(args.study))
    if study and (args.again or not kept.exists()):
        write(with_witnesses(study), kept)
    decoys = pd.read_csv(kept, dtype=TEXT)
    if study and args.without:
        write(without_their_source(study, decoys), kept)
    if args.trees:
        decoys = decoys.merge(
            pd.read_csv(args.trees, dtype=TEXT)[[*KEYS, "scorer", "alone"]],
            on=KEYS,
            how="left",
        )
    kept_alike = args.tables / ALIKE
    similarity = {} if study else kept_similarity(kept_alike, decoys)
    if study or args.alike:
        similarity |= study.similarity if study else similarity_of(args.alike, decoys)
        keep_similarity(similarity, kept_alike)
    is_known = pd.MultiIndex.from_frame(decoys[KEYS[:2]]).isin(list(similarity))
    if not is_known.all():
        unknown = decoys.loc[~is_known, "target"].unique()
        print(
            f"left out, how alike their models are is not known: {', '.join(unknown)}"
        )
        decoys = decoys[is_known].reset_index(drop=True)
    for name in (
        "scorer",
        "alone",
        "network_without",
        "network_one_without",
        "own_score",
    ):
        decoys[name] = decoys.get(name, pd.Series(np.nan, index=decoys.index))
    if args.judge:
        refit(args.judge, decoys, similarity)
    if args.picture:
        draw(decoys, similarity, args.picture)
    table = pd.concat(
        [
            ranked(decoys, similarity),
            trusted(decoys, similarity),
            of_kinds(decoys, similarity),
            pd.read_csv(POOLS),
        ],
        ignore_index=True,
    )
    table.round(4).to_csv(args.tables / "transfer.csv", index=False)
    print(markdown(table))


def refit(scorer: Path, decoys: pd.DataFrame, similarity: dict) -> None:
    """Fit the judge of a scorer to all decoys; what it says of pooled vectors and residues stays."""
    old = read_judge(scorer / JUDGE)
    curves = [fit_curve(decoys.dropna(subset=[*OF_RESIDUES]), OF_RESIDUES)]
    new = calibrated(
        decoys.assign(pred_dockq=decoys["network"]), similarity, curves, MADE
    )
    like = decoys[~decoys["group"].isin(MADE)]
    domain = old.domain.model_copy(update={"kinds": kinds_learned(like)})
    write_judge(
        scorer / JUDGE,
        new.model_copy(update={"domain": domain, "quality": old.quality}),
    )
    seal(scorer, mean=True)


def similarity_of(work: Path, decoys: pd.DataFrame) -> dict:
    """How alike decoys of its targets are, from what `study/on_device.py` built.

    Data set and target → (n, n), in the order of the table.
    """
    arrays = np.load(work / "alike.npz")
    about = pd.read_csv(work / "decoys.csv", dtype=TEXT)
    names_of = {}
    for key, rows in about.groupby(["dataset", "target"]):
        names_of[key] = sorted(rows["decoy"])
    found = {}
    for key, rows in decoys.groupby(["dataset", "target"], sort=False):
        if "/".join(key) not in arrays:
            continue
        places = [names_of[key].index(decoy) for decoy in rows["decoy"]]
        alike = arrays["/".join(key)].astype(float)
        found[key] = alike[np.ix_(places, places)]
    return found


def keep_similarity(similarity: dict, path: Path) -> None:
    """Keep how alike decoys are: what is above the diagonal, in parts of `SCALE`."""
    arrays = {}
    for key, alike in sorted(similarity.items()):
        above = alike[np.triu_indices(len(alike), 1)]
        arrays["/".join(key)] = np.rint(SCALE * above).astype(np.uint16)
    np.savez_compressed(path, **arrays)


def kept_similarity(path: Path, decoys: pd.DataFrame) -> dict:
    """How alike decoys are, as `keep_similarity` kept it; (n, n) each, in the order of the table."""
    found = {}
    if not path.exists():
        return found
    arrays = np.load(path)
    for key, rows in decoys.groupby(["dataset", "target"], sort=False):
        name = "/".join(key)
        if name in arrays:
            above = np.triu_indices(len(rows), 1)
            alike = np.eye(len(rows))
            alike[above] = arrays[name] / SCALE
            found[key] = np.maximum(alike, alike.T)
    return found


def _datasets(study: Path) -> list[str]:
    return sorted(
        path.parent.name for path in study.glob(layout.PACK.format(dataset="*"))
    )


# ---- what the witnesses say ----------------------------------------------------------------------


def with_witnesses(study: CrossValidation) -> pd.DataFrame:
    """The decoys with what networks say, in and out of their source, and contacts − 5 × clashes."""
    decoys = study.decoys.merge(contacts_and_clashes(study), on=KEYS, how="left")
    for column, config in CONFIGS.items():
        found = study.with_networks(study.runs(config)[:1])
        decoys[column] = found["pred_dockq"].to_numpy()
    return without_their_source(study, decoys)


def without_their_source(study: CrossValidation, decoys: pd.DataFrame) -> pd.DataFrame:
    """The decoys with what networks say that never saw their source, where there are such.

    `…_without` : mean of all of them. `…_one_without` : one of them.
    """
    decoys = decoys.copy()
    for column, config in CONFIGS.items():
        for dataset, rows in decoys.groupby("dataset"):
            paths = study.folder.glob(WITHOUT.format(dataset=dataset, config=config))
            predicted = [
                of_network_without(study, rows, path) for path in sorted(paths)
            ]
            if predicted:
                decoys.loc[rows.index, f"{column}_without"] = np.mean(predicted, axis=0)
                decoys.loc[rows.index, f"{column}_one_without"] = predicted[0]
    return with_means(decoys)


def with_means(decoys: pd.DataFrame) -> pd.DataFrame:
    """The decoys with the mean over both kinds of networks, as the scorer has it."""
    means = {}
    for end in ("", "_without", "_one_without"):
        columns = [f"{column}{end}" for column in CONFIGS]
        means[f"network{end}"] = decoys.reindex(columns=columns).mean(axis=1)
    return decoys.assign(**means)


def write(decoys: pd.DataFrame, path: Path = PREDICTIONS) -> None:
    """Keep what the witnesses say."""
    compression = {"method": "gzip", "mtime": 0}
    decoys.round(6).to_csv(path, index=False, compression=compression)


def contacts_and_clashes(study: CrossValidation) -> pd.DataFrame:
    """`touching`: contacts − 5 × pairs of atoms nearer than 2.5 Å, of every graph."""
    rows = []
    for dataset in study.datasets:
        graphs = PackedGraphs.open([study.folder / layout.PACK.format(dataset=dataset)])
        columns = graphs.metadata["edge_columns"]
        contact, clash = columns.index("contact"), columns.index("atom_pairs_0_2.5")
        for i, (target, decoy) in enumerate(
            zip(graphs.target, graphs.decoy, strict=True)
        ):
            part, place = graphs.parts[graphs.part_of[i]], graphs.place_in_part[i]
            first, last = part["edge_start"][place : place + 2].tolist()
            edges = np.asarray(part["edge_attr"][first:last], float)
            number = (
                np.square(edges[:, [contact, clash]]).sum(axis=0) / 2
            )  # columns are square roots, both directions
            rows.append((dataset, target, decoy, number[0] - 5 * number[1]))
    return pd.DataFrame(rows, columns=[*KEYS, "touching"])


def of_network_without(
    study: CrossValidation, decoys: pd.DataFrame, network: Path
) -> np.ndarray:
    """DockQ of the decoys of one data set by a network that saw nothing of its clusters."""
    dataset = decoys["dataset"].iloc[0]
    store = PackedGraphs.open([study.folder / layout.PACK.format(dataset=dataset)])
    keys = zip(store.target.tolist(), store.decoy.tolist(), strict=True)
    place = {key: i for i, key in enumerate(keys)}
    wanted = zip(decoys["target"], decoys["decoy"], strict=True)
    chosen = store.some(np.array([place[key] for key in wanted]))
    with one_thread():
        return predict_all([open_network(network)[0]], chosen)[0].score.astype(
            np.float64
        )


# ---- how well they rank --------------------------------------------------------------------------


def sources(decoys: pd.DataFrame) -> dict[str, np.ndarray]:
    """Which decoys are of a source, (n,), by name: groups and the programs of predicted models."""
    found = {
        group: (decoys["group"] == group).to_numpy()
        for group in sorted(decoys["group"].unique())
    }
    for program, begin in PROGRAMS.items():
        found[f"{PREDICTED}: {program}"] = (
            found[PREDICTED] & decoys["decoy"].str.startswith(begin).to_numpy()
        )
    return found


def read_pools(
    decoys: pd.DataFrame, similarity: dict, size: int | None, seed: int
) -> list[Pool]:
    """Pools of some decoys, whose index is their place in the whole table, column `within` in its
    target.
    """
    found = []
    for places in pools(decoys, size, seed):
        part = decoys.iloc[places]
        alike = similarity[part["dataset"].iloc[0], part["target"].iloc[0]]
        alike = alike[np.ix_(part["within"], part["within"])]
        twins = (alike >= TWINS).sum(axis=1).clip(min=1)
        consensus = ordered(np.zeros(len(part)), alike, temperature=1)[1]
        found.append(
            Pool(part.index.to_numpy(), alike, consensus, (1 / twins).sum() - 1)
        )
    return found


def rankings(decoys: pd.DataFrame, fitted: np.ndarray) -> dict[str, Judging]:
    """Every witness, and every judge that was tried. fitted : weights of network and consensus from
    other sources.
    """
    network = decoys["network"].to_numpy(float)
    without = decoys["network_without"].to_numpy(float)
    one_without = decoys["network_one_without"].to_numpy(float)
    alone = decoys["alone"].to_numpy(float)
    own_score = decoys["own_score"].to_numpy(float)
    confidence, scorer, touching, residues = (
        decoys[name].to_numpy(float)
        for name in ("confidence", "scorer", "touching", "n_interface_residues")
    )

    def larger_than_usual(pool: Pool) -> np.ndarray:
        return larger(residues[pool.rows])

    def without_confidence(pool: Pool) -> np.ndarray:
        return np.where(np.isnan(confidence[pool.rows]), larger_than_usual(pool), 0)

    def unlimited(pool: Pool) -> np.ndarray:
        logarithm = np.log(residues[pool.rows])
        return logarithm - logarithm.mean()

    def smaller_than_usual(pool: Pool) -> np.ndarray:
        return np.minimum(unlimited(pool), 0)

    def more_contacts(pool: Pool) -> np.ndarray:
        return larger(touching[pool.rows])

    def consensus(pool: Pool) -> np.ndarray:
        return np.nan_to_num(pool.consensus)

    def single(pool: Pool) -> np.ndarray:
        return np.nanmean([network[pool.rows], confidence[pool.rows]], axis=0)

    def sum_of(
        u: float, w: float, by: Judging = lambda pool: network[pool.rows]
    ) -> Judging:
        return lambda pool: by(pool) + u * consensus(pool) + w * np.log1p(pool.agreeing)

    def right(
        by: Judging,
        t: float = TEMPERATURE,
        own: float = 1.0,
        grows: float = 0.5,
        size: Judging = larger_than_usual,
        weight: float = SIZE,
    ) -> Judging:
        """The order of the judge that ships, with other numbers; grows : power of the number of
        models in the temperature. size, weight : of what says how large an interface is.
        """
        return lambda pool: ordered(
            by(pool) + weight * size(pool),
            pool.alike,
            t * len(pool.rows) ** grows,
            own,
        )[0]

    number = decoys["decoy"].str.extract(r"(\d+)$")[0].astype(float).to_numpy()

    def of_one_program(pool: Pool) -> np.ndarray:
        """The judge where all models are of one program, which has numbered them by its score."""
        quality = single(pool) + SIZE * without_confidence(pool)
        order = ordered(quality, pool.alike, SHARP)[0]
        order[number[pool.rows].argmin()] = order.max() + 1
        return order

    def of(values: np.ndarray) -> Judging:
        return lambda pool: values[pool.rows]

    def stated(values: np.ndarray) -> Judging:
        return lambda pool: np.nanmean(
            [values[pool.rows], confidence[pool.rows]], axis=0
        )

    kinds = {}
    for column in CONFIGS:
        kinds[column] = decoys[column].to_numpy(float)
        without_source = decoys[f"{column}_without"].to_numpy(float)
        kinds[f"{column}, source left out"] = without_source

    def of_network(pool: Pool) -> np.ndarray:
        return network[pool.rows]

    def of_others(pool: Pool) -> np.ndarray:
        return without[pool.rows]

    def with_others(pool: Pool) -> np.ndarray:
        return np.nanmean([without[pool.rows], confidence[pool.rows]], axis=0)

    def shared(pool: Pool) -> np.ndarray:
        twins = pool.alike >= TWINS
        np.fill_diagonal(twins, True)
        return _mean_of_others(pool.alike, 1 / twins.sum(axis=1))

    def in_deviations(pool: Pool) -> np.ndarray:
        mean = consensus(pool).mean() * pool.independent
        return _deviations(network[pool.rows], 0.02) + 2 * mean / (
            mean + 8
        ) * _deviations(consensus(pool), 0.01)

    def leaders(pool: Pool) -> np.ndarray:
        agreeing = np.log1p(pool.agreeing)
        return network[pool.rows] + 0.8 * np.minimum(agreeing, 0.8 * agreeing.max())

    def by_quality(pool: Pool) -> np.ndarray:
        weighted = _mean_of_others(
            pool.alike, np.clip(network[pool.rows], 0.01, 1) ** 2
        )
        return (
            network[pool.rows]
            + 0.5 * weighted
            + 0.2 * np.log1p(weighted * pool.independent)
        )

    def linear(pool: Pool) -> np.ndarray:
        share = pool.independent / (pool.independent + 3)
        return fitted[0] * network[pool.rows] + fitted[1] * consensus(pool) * share

    found: dict[str, Judging] = {
        "network": lambda pool: network[pool.rows],
        "network, source left out": lambda pool: without[pool.rows],
        "one network, source left out": lambda pool: one_without[pool.rows],
        **{name: of(values) for name, values in kinds.items()},
        **{f"judge over {name}": right(of(values)) for name, values in kinds.items()},
        **{
            f"judge over {name}, with confidence": right(
                stated(values), size=without_confidence
            )
            for name, values in kinds.items()
        },
        "confidence": lambda pool: confidence[pool.rows],
        "docking score": lambda pool: -own_score[pool.rows],
        "consensus": consensus,
        "contacts - 5 clashes": lambda pool: touching[pool.rows],
        "trees without the others (dropped)": lambda pool: alone[pool.rows],
        "trees, as released before": lambda pool: scorer[pool.rows],
        "mean of network and consensus": lambda pool: (
            network[pool.rows] + consensus(pool)
        ),
        "mean of network and consensus, source left out": lambda pool: (
            without[pool.rows] + consensus(pool)
        ),
        "mean of all three": lambda pool: np.nanmean(
            [network[pool.rows], confidence[pool.rows], consensus(pool)], axis=0
        ),
        "judge, structure": right(of_network),
        "judge, with confidence": right(single, size=without_confidence),
        "judge, with confidence, models of one program": of_one_program,
        "judge, source left out of the networks": right(of_others),
        "judge, source left out of the networks, with confidence": right(
            with_others, size=without_confidence
        ),
        "residues in the interface": lambda pool: residues[pool.rows],
        "judge without size": right(of_network, weight=0),
        "judge with size, with confidence": right(single),
        "judge without size, source left out of the networks": right(
            of_others, weight=0
        ),
        "judge with size, source left out of the networks, with confidence": right(
            with_others
        ),
        "judge, s = 0.05": right(of_network, weight=0.05),
        "judge, s = 0.2": right(of_network, weight=0.2),
        "judge, size without limits": right(of_network, size=unlimited),
        "judge, smaller interfaces alone": right(of_network, size=smaller_than_usual),
        "judge, contacts − 5 clashes for size": right(of_network, size=more_contacts),
        "judge with trees as a witness": right(
            lambda pool: (network + alone)[pool.rows] / 2
        ),
        "sum of network and votes, u = 0.5, w = 0.2": sum_of(0.5, 0.2),
        "sum of network, confidence and votes, u = 0.5, w = 0.2": sum_of(
            0.5, 0.2, single
        ),
        "consensus in which twins share a vote": shared,
        "weights fitted to the other sources": linear,
        "deviations within the target": in_deviations,
        "consensus between groups, network within": leaders,
        "votes by quality": by_quality,
    }
    for t, own, grows in (
        (0.05, 0, 0.5),
        (0.05, 4, 0.5),
        (0.04, 1, 0.5),
        (0.08, 1, 0.5),
        (0.1, 0, 0),
        (0.2, 0, 0),
        (0.5, 0, 0),
        (0.05, 1, 0.75),
        (0.015, 1, 1),
        (0.022, 1, 1),
    ):
        found[f"judge, T = {t} n^{grows}, own share {own}"] = right(
            of_network, t, own, grows
        )
    return found


def _mean_of_others(alike: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Mean similarity to the others, weighted, (n,); 0 for a single model."""
    if len(alike) < 2:
        return np.zeros(len(alike))
    weights = np.tile(weight, (len(alike), 1))
    np.fill_diagonal(weights, 0)
    return (weights * alike).sum(axis=1) / weights.sum(axis=1)


def _deviations(values: np.ndarray, least: float) -> np.ndarray:
    return (values - values.mean()) / (values.std() + least)


def ranked(decoys: pd.DataFrame, similarity: dict) -> pd.DataFrame:
    """Ranking loss and Spearman per target of every judge, source and size."""
    decoys = decoys.assign(
        within=decoys.groupby(["dataset", "target"]).cumcount(),
        confidence=by_confidence(decoys),
    )
    of_sources = sources(decoys)
    rows = []
    for source, here in of_sources.items():
        sizes = [each for each in SIZES if each is None or _most(decoys[here]) > each]
        weights = fitted_weights(
            decoys, similarity, ~of_sources[source.partition(":")[0]]
        )
        of_judges = rankings(decoys, weights)
        for size in sizes:
            seeds = SEEDS if size else SEEDS[:1]
            of_seeds = [
                read_pools(decoys[here], similarity, size, seed) for seed in seeds
            ]
            for name, judge in of_judges.items():
                if size and name.startswith("trees, as released"):
                    continue  # its votes were those of all models
                if name.endswith("models of one program") and ":" not in source:
                    continue
                parts = [_of_pools(decoys, drawn, judge) for drawn in of_seeds]
                found = pd.concat(parts, ignore_index=True)
                if found.empty or found["loss"].isna().any():
                    continue
                for metric in ("loss", "spearman", "first acceptable"):
                    known = found.dropna(subset=[metric])
                    value = interval(found, metric)
                    rows.append(
                        (
                            source,
                            size or "all",
                            name,
                            metric,
                            known["target"].nunique(),
                            *value,
                        )
                    )
    columns = ["source", "pool", "judge", "metric", "targets", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _most(decoys: pd.DataFrame) -> int:
    return int(decoys.groupby(["dataset", "target"]).size().median())


def by_confidence(decoys: pd.DataFrame) -> np.ndarray:
    """DockQ by pLDDT, (n,), nan where unknown; for each fold from a curve of the other folds."""
    found = pd.Series(np.nan, index=decoys.index)
    stated = decoys.dropna(subset=[*OF_RESIDUES])
    for fold, rows in stated.groupby("fold"):
        learned = stated[stated["fold"] != fold]
        judge = uncalibrated(learned, [fit_curve(learned, OF_RESIDUES)])
        measures = {name: np.full(len(rows), np.nan) for name in OF_PAIRS}
        for name in OF_RESIDUES:
            measures[name] = rows[name].to_numpy(float)
        programs = [""] * len(rows)
        found[rows.index] = judge.confidence(measures, [*rows["kind"]], programs)
    return found.to_numpy()


def fitted_weights(
    decoys: pd.DataFrame, similarity: dict, others: np.ndarray
) -> np.ndarray:
    """Weights of network and consensus that come nearest to DockQ in the other sources, none below
    zero.
    """
    inputs, dockq, weight = [], [], []
    for _, rows in decoys[others].groupby("group"):
        drawn = [
            pool
            for size in (3, 10, None)
            for pool in read_pools(rows, similarity, size, 0)
        ]
        for pool in drawn:
            share = pool.independent / (pool.independent + 3)
            network = decoys["network"].to_numpy()[pool.rows]
            inputs.append(
                np.column_stack(
                    [
                        network,
                        np.nan_to_num(pool.consensus) * share,
                        np.ones(len(network)),
                    ]
                )
            )
            dockq.append(decoys["dockq"].to_numpy()[pool.rows])
            weight.append(np.full(len(network), 1 / np.sqrt(len(network) * len(drawn))))
    root = np.concatenate(weight)
    table = np.concatenate(inputs) * root[:, None]
    return lsq_linear(
        table, np.concatenate(dockq) * root, bounds=([0, 0, -np.inf], np.inf)
    ).x


def _of_pools(decoys: pd.DataFrame, drawn: list[Pool], judge: Judging) -> pd.DataFrame:
    """Loss and Spearman of each pool worth ranking; where nothing decides, the loss of a random
    pick.
    """
    dockq, targets, clusters = (
        decoys[name].to_numpy() for name in ("dockq", "target", "cluster")
    )
    rows = []
    for pool in drawn:
        truth = dockq[pool.rows]
        if np.ptp(truth) < SPREAD:
            continue
        value = judge(pool)
        decided = np.ptp(value) > 0
        pick = truth[value.argmax()] if decided else truth.mean()
        order = spearman(truth, value) if decided and np.isfinite(value).all() else 0.0
        loss = np.nan if np.isnan(value).any() else truth.max() - pick
        acceptable = truth >= ACCEPTABLE
        first = np.nan
        if acceptable.any() and not acceptable.all():
            first = float(pick >= ACCEPTABLE) if decided else acceptable.mean()
        spearman_of_pool = order if len(truth) > 2 else np.nan
        rows.append(
            (
                targets[pool.rows[0]],
                clusters[pool.rows[0]],
                loss,
                spearman_of_pool,
                first,
            )
        )
    return pd.DataFrame(
        rows, columns=["target", "cluster", "loss", "spearman", "first acceptable"]
    )


def interval(rows: pd.DataFrame, name: str) -> tuple[float, float, float]:
    """Mean of a column with its 95 % interval by bootstrap over clusters."""
    known = rows.dropna(subset=[name])
    if known.empty:
        return np.nan, np.nan, np.nan
    sums = known.groupby("cluster")[name].agg(["sum", "count"]).to_numpy()
    times = np.random.default_rng(0).multinomial(
        len(sums), np.full(len(sums), 1 / len(sums)), DRAWS
    )
    total, count = (times @ sums).T
    return known[name].mean(), *np.percentile(total / count, [2.5, 97.5])


# ---- how far to trust them -----------------------------------------------------------------------


def trusted(decoys: pd.DataFrame, similarity: dict) -> pd.DataFrame:
    """Coverage of the 80 % interval, calibration error of the probability and bias of the DockQ to
    expect.

    Of every source, by a judge that was fitted to the others; of the first of each pool and of all
    models.
    """
    decoys = decoys.assign(pred_dockq=decoys["network"])
    rows = []
    for source, here in sources(decoys).items():
        others = decoys[~sources(decoys)[source.partition(":")[0]]]
        variants = {"judge, structure": (others, False)}
        if source.startswith(PREDICTED):
            own = (
                others
                if ":" not in source
                else decoys[sources(decoys)[PREDICTED] & ~here]
            )
            variants["judge, with confidence"] = (
                own if ":" in source else decoys,
                True,
            )
        for name, (learned, confidence) in variants.items():
            stated = learned.dropna(subset=[*OF_RESIDUES])
            curves = [fit_curve(stated, OF_RESIDUES)] if confidence else []
            judge = calibrated(
                learned.reset_index(drop=True),
                _within(learned, decoys, similarity),
                curves,
                MADE,
            )
            asked = decoys[here].reset_index(drop=True)
            seen = observations(
                judge,
                asked,
                _within(decoys[here], decoys, similarity),
                confidence=confidence,
            )
            rows += _calibration(source, name, judge, seen)
    columns = ["source", "pool", "judge", "metric", "targets", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _within(rows: pd.DataFrame, decoys: pd.DataFrame, similarity: dict) -> dict:
    """Similarities of some decoys of each target."""
    within = decoys.groupby(["dataset", "target"]).cumcount()
    found = {}
    for key, part in rows.groupby(["dataset", "target"]):
        places = within[part.index]
        found[key] = similarity[key][np.ix_(places, places)]
    return found


def _calibration(source: str, name: str, judge, seen: pd.DataFrame) -> list[tuple]:
    confidence = seen["confidence"].to_numpy()
    dockq = judge.expected(
        seen["level"].to_numpy(), seen["above"].to_numpy(), confidence
    )
    calibration = judge.calibration(confidence[0])
    low, high, probability = calibration.about(dockq)
    seen = seen.assign(
        expected=dockq,
        p=probability,
        inside=seen["dockq"].between(low, high),
        width=high - low,
    )
    seen["right"] = (seen["dockq"] >= ACCEPTABLE).astype(float)
    seen["bias"] = seen["expected"] - seen["dockq"]
    several = seen[seen["n"] > 2]
    first = several.loc[several.groupby("pool")["expected"].idxmax()]
    found = []
    for pool, rows in (("each", seen), ("first of several", first)):
        if rows.empty:
            continue
        for metric in ("inside", "width", "bias"):
            found.append(
                (
                    source,
                    pool,
                    name,
                    metric,
                    rows["cluster"].nunique(),
                    *interval(rows, metric),
                )
            )
        error = calibration_error(rows)
        found.append(
            (
                source,
                pool,
                name,
                "calibration error",
                rows["cluster"].nunique(),
                error,
                np.nan,
                np.nan,
            )
        )
    return found


def calibration_error(rows: pd.DataFrame) -> float:
    """Mean distance of probabilities from the share that is right, in ten bins of equal width;
    clusters weigh alike.
    """
    weight = 1 / rows.groupby("cluster")["p"].transform("size").to_numpy()
    place = np.minimum((rows["p"].to_numpy() * 10).astype(int), 9)
    apart = np.bincount(
        place, weight * (rows["p"] - rows["right"]).to_numpy(), minlength=10
    )
    return float(np.abs(apart).sum() / weight.sum())


def out_of_fold(decoys: pd.DataFrame, similarity: dict) -> pd.DataFrame:
    """Predicted models, alone and among all of their target, by a judge of the other folds.

    As from `observations`, with `expected`, probability `p`, `right`, and whether it is `first`.
    """
    stated = decoys.assign(pred_dockq=decoys["network"])[decoys["group"] == PREDICTED]
    parts = []
    for fold, asked in stated.groupby("fold"):
        learned = stated.drop(asked.index)
        curves = [fit_curve(learned, OF_RESIDUES)]
        judge = calibrated(
            learned.reset_index(drop=True), _within(learned, decoys, similarity), curves
        )
        known = asked.reset_index(drop=True), _within(asked, decoys, similarity)
        seen = observations(judge, *known, [1, None])
        expected = judge.expected(
            *(seen[name].to_numpy() for name in ("level", "above", "confidence"))
        )
        about = known[0][["kind", "decoy"]].iloc[seen["place"]].reset_index(drop=True)
        place = (
            seen.assign(expected=expected)
            .groupby("pool")["expected"]
            .rank(ascending=False, method="first")
        )
        part = pd.concat([seen, about], axis=1).assign(
            expected=expected,
            p=judge.with_confidence.about(expected)[2],
            right=(seen["dockq"] >= ACCEPTABLE).astype(float),
            first=place == 1,
            fold=fold,
        )
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def of_kinds(decoys: pd.DataFrame, similarity: dict) -> pd.DataFrame:
    """Bias of the DockQ to expect by kind of complex and program, left out by cluster."""
    seen = out_of_fold(decoys, similarity)
    seen["bias"] = seen["expected"] - seen["dockq"]
    has_binder = seen["kind"].isin(WITH_BINDER)
    rows = []
    for program, begin in PROGRAMS.items():
        of_program = seen["decoy"].str.startswith(begin)
        for kind, is_kind in ((BINDERS, has_binder), (REST, ~has_binder)):
            for pool, size in (("each alone", 1), ("all", 0)):
                part = seen[of_program & is_kind & (seen["size"] == size)]
                row = {
                    "source": f"{PREDICTED}: {program}, {kind}",
                    "pool": pool,
                    "judge": "judge, with confidence, left out by cluster",
                    "metric": "bias",
                    "targets": part["cluster"].nunique(),
                }
                bounds = zip(
                    ("value", "low", "high"), interval(part, "bias"), strict=True
                )
                rows.append(row | dict(bounds))
    return pd.DataFrame(rows)


def draw(decoys: pd.DataFrame, similarity: dict, path: Path) -> None:
    """Draw how many predicted models are acceptable, by the probability that a judge of the other
    folds gives.
    """
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    seen = out_of_fold(decoys, similarity)
    among = seen[seen["size"] == 0]
    shown = {
        "the first of ten": among[among["first"]],
        "all ten": among,
        "each alone": seen[seen["size"] == 1],
    }
    mpl.rcParams.update(
        {"svg.hashsalt": "toporank", "svg.fonttype": "none", "font.size": 8}
    )
    figure, axes = plt.subplots(1, 3, figsize=(8.4, 3), sharey=True)
    for ax, (name, rows) in zip(axes, shown.items(), strict=True):
        ax.plot([0, 1], [0, 1], color="#bdbdbd", lw=0.8)
        for _, part in rows.groupby(np.minimum((rows["p"] * 5).astype(int), 4)):
            value, low, high = interval(part, "right")
            ax.errorbar(
                part["p"].mean(),
                value,
                [[value - low], [high - value]],
                fmt="o",
                ms=3,
                lw=0.8,
                color="#00796b",
            )
        ax.set(
            title=name,
            xlim=(0, 1),
            ylim=(0, 1),
            xlabel="probability given",
            aspect="equal",
        )
    axes[0].set_ylabel("share with DockQ of 0.23 or more")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None}, facecolor="white")


# ---- the table -----------------------------------------------------------------------------------


def markdown(table: pd.DataFrame) -> str:
    """Loss / Spearman of every judge by source and pool, then the calibration."""
    wide = table[table["metric"].isin(["loss", "spearman"])].assign(
        pool=lambda rows: rows["pool"].astype(str)
    )
    cells = wide.pivot_table(
        index=["source", "pool", "judge"], columns="metric", values="value", sort=False
    )
    text = cells.apply(
        lambda row: f"{row['loss']:.3f} / {row['spearman']:.2f}", axis=1
    ).unstack(["source", "pool"])
    rest = table[~table["metric"].isin(["loss", "spearman"])]
    trust = rest.pivot_table(
        index=["source", "pool", "judge"], columns="metric", values="value", sort=False
    ).round(3)
    parts = [
        text[[key for key in text if key[0] == source]].to_string()
        for source in wide["source"].unique()
    ]
    return "\n\n".join([*parts, trust.to_string()])


if __name__ == "__main__":
    main()
