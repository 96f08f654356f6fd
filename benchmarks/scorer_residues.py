"""How well the networks of the shipped scorer know which contacts and residues of a decoy are right, out of fold.

    PYTHONPATH=lib python benchmarks/scorer_residues.py config/scorer.yaml docs/scorer [--networks FOLDER]

To be started in the folder in which the graphs are, and in which `cross_validate` ran unless FOLDER is the scorer whose
networks are judged; after `scorer.py` wrote its predictions into the second folder, where the table goes, too. What
networks say comes from the one that was trained without the cluster of a decoy. What is right comes from the native: a
contact (heavy atoms within 5 Å) that it has, too; a residue that keeps at least half of its contacts in the native, one
with none there keeps none; and the interface lDDT of a residue, over CA within 15 Å of it in the native on other
partners.
Counted are residues that touch another partner in the decoy. Beside the networks stand the predicted DockQ of the whole
decoy, which is the same for all its residues; the size: how many others a residue touches, how near the two of a
contact come; the agreement: the share of the other decoys that have a contact, its mean over the contacts of a residue,
decoys weighted by the square of their predicted DockQ; the mean of network and agreement; and the quality, as
`scorer.residue_quality` has it, with and without the other decoys (alone), fitted to the decoys of `calibrated_on` in
the other folds.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
import yaml
from scipy.stats import rankdata

from scorer import DRAWS, FEWEST, SEED
from toporank import layout
from toporank.building.chunks.chunk import making
from toporank.building.chunks.ledger import last_fates
from toporank.building.chunks.plan import read_chunk, read_current
from toporank.building.chunks.store import Store
from toporank.building.native_labels import Labelling
from toporank.comparing.contacts import TOUCHING, residue_contacts
from toporank.comparing.native.local import KEPT, THRESHOLDS, native_contacts
from toporank.comparing.votes import LEAST_QUALITY
from toporank.inputs.natives import find_natives
from toporank.learning.graphs import GraphStore
from toporank.learning.weights import load_weights
from toporank.metrics import spearman
from toporank.scorer.conformal import cluster_weights
from toporank.scorer.residue_quality import MEASURES, fit_curves, measures
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex
from toporank.structures.stored import from_bytes

NEAR = 15.0
"""Å, inclusion radius of lDDT."""
BINS = 200
"""Of qualities, in which AUROC over all decoys is computed."""
BATCH = 64
ANSWERS = {
    "contacts": ("network", "size", "decoy", "agreement", "mean", "alone", "quality"),
    "residues": ("network", "size", "decoy", "agreement", "mean", "alone", "quality"),
}
WITHIN = "auroc_within"
PROBABILITIES = ("mean", "alone", "quality")
SHOWN = (("residues", "auroc"), ("residues", WITHIN), ("contacts", WITHIN))
MANY = 5.0
"""Residues touched that count as half of the most."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("tables", type=Path, help="has predictions.csv.gz of scorer.py; residues.csv is written")
    parser.add_argument("--networks", type=Path, help="a scorer whose networks are judged (those of the folds)")
    parser.add_argument("--run", default="local_seed222", help="of the networks (default: %(default)s, which ships)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    known = pd.read_csv(args.tables / "predictions.csv.gz", dtype={"target": str, "decoy": str, "cluster": str})
    config = yaml.safe_load(args.config.read_text())
    natives = {one["name"]: Path(one["natives"]) for one in config["datasets"]}
    known = known[known["dataset"].isin(natives)]
    networks = layout.FOLD_RUN.format(fold="{fold}", run=args.run) + "/best_loss.ckpt"
    networks = f"{args.networks}/ensemble/fold{{fold}}_{args.run}.ckpt" if args.networks else networks
    residues, contacts = [], []
    for dataset, rows in known.groupby("dataset", sort=False):
        of_residues, of_contacts = of_dataset(dataset, natives[dataset], rows.set_index(["target", "decoy"]), networks)
        residues.append(of_residues)
        contacts.append(of_contacts)
    calibrated_on = config["training"]["scorer"]["calibrated_on"]
    both = {"contacts": pd.concat(contacts), "residues": pd.concat(residues)}
    found = [row for of, table in both.items() for row in judged(with_quality(table, of, calibrated_on), of)]
    table = pd.DataFrame(found, columns=["group", "of", "answer", "metric", "value", "low", "high"])
    table.round(4).to_csv(args.tables / "residues.csv", index=False)
    print("\n".join(lines(table)))


def with_quality(table: pd.DataFrame, of: str, calibrated_on: list[str]) -> pd.DataFrame:
    """Residues or contacts with their quality, also in a decoy alone, by curves of the other folds."""
    found = table.reset_index(drop=True).assign(quality=np.nan, alone=np.nan)
    fitted = found["group"].isin(calibrated_on)
    size = {"touched" if of == "residues" else "distance": found["n_touched" if of == "residues" else "distance"]}
    size = {name: values.to_numpy() for name, values in size.items()}
    among = measures(found["network"].to_numpy(), found["agreement"].to_numpy(), found["decoy"].to_numpy(), **size)
    alone = {**among, "agreement": np.full(len(found), np.nan), "decoy": found["decoy_alone"].to_numpy()}
    known = pd.DataFrame(among).assign(alone=alone["decoy"], right=found["right"], cluster=found["cluster"])
    for k in found["fold"].unique():
        here = (found["fold"] == k).to_numpy()
        curves = fit_curves(known[(fitted & ~here).to_numpy()], MEASURES[of])
        for name, values in (("quality", among), ("alone", alone)):
            found.loc[here, name] = curves({measure: each[here] for measure, each in values.items()})
    return found


def lines(table: pd.DataFrame) -> Iterator[str]:
    """The tables of docs/scorer-notebook.md."""
    known = table.set_index(["of", "metric", "answer", "group"])
    for of, metric in SHOWN:
        answers = [answer for answer in ANSWERS[of] if (metric, answer) != (WITHIN, "decoy")]
        yield f"{of}, {metric}: {' | '.join(answers)}"
        for group in table["group"].unique():
            cells = [known.loc[of, metric, answer, group] for answer in answers]
            bounds = (f" ({cell.low:.2f} to {cell.high:.2f})" if cell.low < cell.high else "" for cell in cells)
            yield f"| {group} | {' | '.join(f'{c.value:.2f}{b}' for c, b in zip(cells, bounds, strict=True))} |"


def of_dataset(dataset: str, natives: Path, known: pd.DataFrame, networks: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Residues and contacts of the decoys of a data set: what is predicted of them, and whether they are right."""
    graphs = GraphStore.open([Path(layout.PACK.format(dataset=dataset))])
    keys = list(zip(graphs.target, graphs.decoy, strict=True))
    qualities = out_of_fold(graphs, np.array([known["fold"].get(key, -1) for key in keys]), networks)
    current, store, files = read_current(dataset), Store(Path(".toporank/store")), find_natives(natives)
    fates, labelling = last_fates(dataset, current), Labelling(files, store)
    members = {member.key: member for chunk in current.of_all for member in read_chunk(dataset, chunk)}
    residues, contacts = [], []
    for target in dict.fromkeys(graphs.target[sorted(qualities)]):
        native, decoys = read_complex(files[target]), {}
        for i in (i for i in qualities if keys[i][0] == target):
            member, digest = members[keys[i]], fates[keys[i]].structure_sha256
            made = making(member, digest, {}, store)
            complex_ = from_bytes(made.complex.content).with_partners(made.partners)
            expected = labelling.counterparts(member, digest)
            right = native_contacts(complex_, expected, native)
            decoys[i] = Decoy(complex_, expected, residue_contacts(complex_), right)
        weight = {i: max(known.loc[keys[i], "scorer"], LEAST_QUALITY) ** 2 for i in decoys}
        votes = Counter()
        for i, decoy in decoys.items():
            votes.update(dict.fromkeys(decoy.names(), weight[i]))
        for i, decoy in decoys.items():
            said = known.loc[keys[i]]
            about = {
                "group": said["group"],
                "cluster": said["cluster"],
                "of": "/".join(keys[i]),
                "decoy": said["scorer"],
                "decoy_alone": said["alone"],
                "fold": said["fold"],
            }
            index = decoy.complex_.index()
            place = {str(residue): r for residue, r in index.items()}
            nodes = np.array([place[name] for name in graphs.names(i)])
            edges = nodes[graphs.batch([i]).edge_index.numpy()]
            others = sum(weight.values()) - weight[i]
            share = np.array([votes[name] - weight[i] for name in decoy.names()]) / (others or 1.0)
            residues.append(of_residues(decoy, nodes, edges, qualities[i], share).assign(**about))
            contacts.append(of_contacts(decoy, edges, qualities[i], share).assign(**about))
    return pd.concat(residues, ignore_index=True), pd.concat(contacts, ignore_index=True)


def out_of_fold(graphs: GraphStore, fold: np.ndarray, networks: str) -> dict[int, np.ndarray]:
    """Graph → predicted quality of its edges as its pack has them, of the graphs of a fold, int, (B,), -1 for none."""
    found = {}
    for k in np.unique(fold[fold >= 0]):
        network, _ = load_weights(Path(networks.format(fold=k)))
        chosen = np.flatnonzero(fold == k).tolist()
        for batch in (graphs.batch(chosen[i : i + BATCH]) for i in range(0, len(chosen), BATCH)):
            with torch.inference_mode():
                quality = torch.sigmoid(network.predictions(batch).edge_logit)
            counts = torch.bincount(batch.edge_graph, minlength=len(batch.index)).tolist()
            found |= dict(zip(batch.index.tolist(), [q.numpy() for q in quality.split(counts)], strict=True))
    return dict(sorted(found.items()))


class Decoy(NamedTuple):
    """A decoy against its native. R residues.

    expected : where their CA are in the native, (R, 3), nan where it has none. contacts : (P, 2), and those of them
    that the native has, as far as its residues are in the decoy, (Q, 2): residues i < j.
    """

    complex_: Complex
    expected: np.ndarray
    contacts: np.ndarray
    right: np.ndarray

    def names(self) -> list[tuple]:
        """The contacts by names of residues, to tell them in other decoys."""
        names = self.complex_.residues
        return [(names[i], names[j]) for i, j in np.sort(self.contacts).tolist()]

    def numbers(self, pairs: np.ndarray) -> np.ndarray:
        """A number for each pair of residues, (n, 2)."""
        return np.sort(pairs, axis=1) @ (len(self.complex_.residues), 1)


def of_contacts(decoy: Decoy, edges: np.ndarray, quality: np.ndarray, share: np.ndarray) -> pd.DataFrame:
    """The contacts of a decoy that are edges, (2, E). quality : of edges. share : of other decoys with a contact."""
    both = pd.Series(quality).groupby(decoy.numbers(edges.T)).mean()
    own = decoy.numbers(decoy.contacts)
    right = np.isin(own, decoy.numbers(decoy.right))
    distance = nearest_atoms(decoy.complex_, decoy.contacts)
    network = both.reindex(own).to_numpy()
    table = pd.DataFrame({"network": network, "agreement": share, "distance": distance, "right": right})
    return table.dropna()


def nearest_atoms(complex_: Complex, pairs: np.ndarray) -> np.ndarray:
    """Å between the nearest heavy atoms of pairs of residues, (P, 2): (P,)."""
    heavy = complex_.without_hydrogens()
    atoms = [heavy.xyz[start:end] for start, end in itertools.pairwise(heavy.atom_slices.tolist())]
    return np.array([np.linalg.norm(atoms[i][:, None] - atoms[j], axis=2).min() for i, j in pairs.tolist()])


def of_residues(
    decoy: Decoy, nodes: np.ndarray, edges: np.ndarray, quality: np.ndarray, share: np.ndarray
) -> pd.DataFrame:
    """The nodes of a decoy that touch another partner and are in the native."""
    n = len(decoy.complex_.residues)
    touching, native = (np.bincount(pairs.ravel(), minlength=n) for pairs in (decoy.contacts, decoy.right))
    kept = np.bincount(
        decoy.right[np.isin(decoy.numbers(decoy.right), decoy.numbers(decoy.contacts))].ravel(), minlength=n
    )
    shares = np.bincount(decoy.contacts.ravel(), np.repeat(share, 2), minlength=n) / np.maximum(touching, 1)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(edges[1], quality, minlength=n) / np.bincount(edges[1], minlength=n)
    table = {
        "network": mean[nodes],
        "agreement": shares[nodes],
        "n_touched": touching[nodes],
        "right": (native > 0)[nodes] & (kept >= KEPT * native)[nodes],
        "lddt": interface_lddt(decoy, nodes),
    }
    return pd.DataFrame(table)[(touching > 0)[nodes] & ~np.isnan(decoy.expected[nodes, 0])].dropna()


def interface_lddt(decoy: Decoy, nodes: np.ndarray) -> np.ndarray:
    """Of residues, (n,): the share of distances to other partners that are kept; 0 where the native has none."""
    complex_ = decoy.complex_
    others = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0) & ~np.isnan(decoy.expected[:, 0]))
    xyz = complex_.xyz[complex_.ca]
    expected, found = (
        np.linalg.norm(points[nodes, None] - points[None, others], axis=2) for points in (decoy.expected, xyz)
    )
    counted = (expected < NEAR) & (complex_.body_of[nodes, None] != complex_.body_of[None, others])
    kept = np.mean([np.abs(found - expected) < threshold for threshold in THRESHOLDS], axis=0)
    return (kept * counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)


def judged(table: pd.DataFrame, of: str) -> Iterator[tuple]:
    """Group, what is judged, answer, metric, value and its 95 % interval by bootstrap over clusters."""
    table = table.assign(mean=(table["network"] + table["agreement"]) / 2)
    size = table["n_touched"] / (table["n_touched"] + MANY) if of == "residues" else 1 - table["distance"] / TOUCHING
    table = table.assign(size=size)
    for group, own in table.groupby("group", sort=False):
        rng = np.random.default_rng(SEED)
        cluster = own["cluster"].astype("category").cat.codes.to_numpy(int)
        drawn = rng.multinomial(cluster.max() + 1, np.full(cluster.max() + 1, 1 / (cluster.max() + 1)), DRAWS)
        weights = np.vstack([np.ones(cluster.max() + 1), drawn])
        decoys = [rows for _, rows in own.groupby("of")]
        of_decoy = np.array([rows["cluster"].iloc[0] for rows in decoys])
        codes = dict(zip(own["cluster"], cluster, strict=True))
        for answer in ANSWERS[of]:
            value, *samples = pooled_auroc(own["right"].to_numpy(), own[answer].to_numpy(), cluster, weights)
            yield group, of, answer, "auroc", value, *interval(samples, weights.shape[1])
            measures = {WITHIN: [auroc(rows["right"].to_numpy(), rows[answer].to_numpy()) for rows in decoys]}
            for metric, value in calibration(own, answer).items() if answer in PROBABILITIES else ():
                yield group, of, answer, metric, value, np.nan, np.nan
            if of == "residues":
                yield group, of, answer, "spearman_lddt", spearman(own["lddt"], own[answer]), np.nan, np.nan
                measures["spearman_lddt_within"] = [correlation(rows["lddt"], rows[answer]) for rows in decoys]
            for metric, values in measures.items() if answer != "decoy" else ():
                there = ~np.isnan(values)
                place = np.array([codes[name] for name in of_decoy[there]], dtype=int)
                sums = np.bincount(place, np.array(values)[there], minlength=weights.shape[1])
                with np.errstate(invalid="ignore"):
                    value, *samples = weights @ sums / (weights @ np.bincount(place, minlength=weights.shape[1]))
                yield group, of, answer, metric, value, *interval(samples, weights.shape[1])


def calibration(own: pd.DataFrame, answer: str) -> dict[str, float]:
    """Brier score, and the expected calibration error in ten bins; clusters weigh alike."""
    weight, p, right = cluster_weights(own["cluster"]), own[answer].to_numpy(), own["right"].to_numpy(float)
    place = np.minimum((p * 10).astype(int), 9)
    error = np.abs(np.bincount(place, weight * (p - right), 10)).sum() / weight.sum()
    return {"brier": float(weight @ (p - right) ** 2 / weight.sum()), "calibration_error": float(error)}


def interval(samples: list[float], n_clusters: int) -> tuple[float, float]:
    return (np.nan, np.nan) if n_clusters < FEWEST else tuple(np.nanpercentile(samples, [2.5, 97.5]))


def pooled_auroc(right: np.ndarray, values: np.ndarray, cluster: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """AUROC over all rows for each weighting of their clusters, (k, clusters): (k,). Values in `BINS` equal steps."""
    level = np.minimum((np.clip(values, 0, 1) * BINS).astype(int), BINS - 1)
    place = cluster * BINS + level
    size = weights.shape[1] * BINS
    yes, no = (weights @ np.bincount(place[rows], minlength=size).reshape(-1, BINS) for rows in (right, ~right))
    below = np.cumsum(no, axis=1) - no / 2
    with np.errstate(invalid="ignore"):
        return (yes * below).sum(axis=1) / (yes.sum(axis=1) * no.sum(axis=1))


def auroc(right: np.ndarray, values: np.ndarray) -> float:
    """AUROC within one decoy; nan where all or none is right."""
    n = right.sum()
    if n in (0, len(right)):
        return np.nan
    return float((rankdata(values)[right].sum() - n * (n + 1) / 2) / (n * (len(right) - n)))


def correlation(x: pd.Series, y: pd.Series) -> float:
    """Spearman, nan where either is constant."""
    return np.nan if np.ptp(x) == 0 or np.ptp(y) == 0 else spearman(x, y)


if __name__ == "__main__":
    main()
