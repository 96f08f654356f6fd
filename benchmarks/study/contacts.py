"""A small network that says how right each contact is, and what the sum over contacts is worth.

    PYTHONPATH=lib python benchmarks/study/contacts.py learn WORK SAID [--seeds 0 1 2]
    PYTHONPATH=lib python benchmarks/study/contacts.py table WORK SAID

WORK is what `on_device.py build` made. A contact is two residues of different partners that share a
surface. The network sees its columns of `edges/contacts/v1`, the kinds of both residues and their
other contacts, has two layers of 64, and learns the CAD-score of the contact: the share of its area
that the native has, too. Contacts count by area. `learn` writes what networks say that had not seen
the cluster, or the source, of a decoy; on a GPU if there is one. `table` compares that with the
networks that ship, alone and in the judge, and writes docs/research/contacts.csv.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import sys
import time
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.optimize import least_squares
from torch.nn import functional as F

from toporank.features.registry import resolve
from toporank.metrics import spearman
from toporank.scorer.judge import larger, ordered

sys.path.insert(0, str(Path(__file__).parents[1]))
import transfer

KEYS = transfer.KEYS
STAGES = ("interface", "topology", "nodes", "edges")
EDGES = resolve({stage: {} for stage in STAGES})["edges"].columns
AREA = EDGES.index("area")
SYMMETRIC = EDGES.index("side_chains") + 1
KINDS = slice(21, 41)
"""Columns of nodes that say which of the 20 amino acids a residue is."""
SUMMED = (
    "area",
    "area_apolar",
    "area_polar",
    "area_energy",
    "energy_short",
    "residue_energy",
    "hydrogen_bonds",
    "salt_bridges",
    "apolar_contacts",
)
"""Columns that are added up over the contacts of a residue."""
HIDDEN, EPOCHS, BATCH = 64, 8, 2048
MOST_AREA = 60.0
"""Å², beyond which a contact counts no more."""
LEAST_AREA = 30.0
"""Å² of a native area, added before its logarithm."""
TABLE = Path("docs/research/contacts.csv")


@dataclass(eq=False)
class Contacts:
    """Contacts of n decoys. of : (C,), the decoy of each. seen : (C, k). area, quality : (C,)."""

    decoys: pd.DataFrame
    of: np.ndarray
    seen: np.ndarray
    area: np.ndarray
    quality: np.ndarray


def described(index: np.ndarray, edge: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """What the network sees of contacts, (C, k).

    index : int, (2, C). edge : their columns. kinds : of residues, (n, 20)
    """
    i, j = index
    squared = np.sign(edge) * edge**2
    places = [EDGES.index(name) for name in SUMMED]
    amounts = np.column_stack([squared[:, places], np.ones(len(edge))])
    of_residue = np.zeros((len(kinds), amounts.shape[1]))
    np.add.at(of_residue, i, amounts)
    np.add.at(of_residue, j, amounts)
    low = np.minimum(of_residue[i], of_residue[j])
    high = np.maximum(of_residue[i], of_residue[j])
    ring = np.zeros_like(of_residue)
    np.add.at(ring, i, of_residue[j])
    np.add.at(ring, j, of_residue[i])
    ring = (ring[i] / of_residue[i, -1:] + ring[j] / of_residue[j, -1:]) / 2
    total = amounts.sum(axis=0)
    sides = sorted([len(np.unique(i)), len(np.unique(j))])
    whole = np.r_[np.log1p(total[0]), total[1:] / max(total[0], 1.0), sides]
    side_chains = [EDGES.index("side_chain_from"), EDGES.index("side_chain_to")]
    columns = [
        edge[:, :SYMMETRIC],
        edge[:, side_chains].sum(axis=1),
        amounts[:, 1:-1] / np.maximum(amounts[:, :1], 0.5),
        signed_root(low),
        signed_root(high),
        signed_root(ring),
        kinds[i] + kinds[j],
        np.tile(whole, (len(i), 1)),
    ]
    return np.column_stack(columns).astype(np.float32)


def signed_root(values: np.ndarray) -> np.ndarray:
    return np.sign(values) * np.sqrt(np.abs(values))


def of_part(path: Path) -> list[tuple]:
    """The contacts of the decoys of a target."""
    dataset, target = path.stem.split("__", 1)
    found = []
    for graph in pickle.loads(path.read_bytes())["graphs"]:
        index, edge = graph["edge_index"], graph["edge_attr"].astype(float)
        once = (index[0] < index[1]) & (edge[:, AREA] > 0)
        known = graph["by_area"][once]
        if once.sum() < 3 or np.isnan(known).any():
            continue
        kinds = graph["x"][:, KINDS].astype(float)
        seen = described(index[:, once], edge[once], kinds)
        area = (edge[once, AREA] ** 2).astype(np.float32)
        found.append(((dataset, target, graph["decoy"]), seen, area, known))
    return found


def read(work: Path) -> Contacts:
    paths = sorted((work / "parts").glob("*.pkl"))
    with multiprocessing.get_context("fork").Pool() as pool:
        graphs = list(chain.from_iterable(pool.imap(of_part, paths, chunksize=4)))
    rows, seen, area, quality = zip(*graphs, strict=True)
    of = np.repeat(np.arange(len(rows)), [len(each) for each in area])
    about = pd.read_csv(work / "decoys.csv", dtype=transfer.TEXT)
    decoys = pd.DataFrame(rows, columns=KEYS).merge(about, on=KEYS)
    arrays = [np.concatenate(each) for each in (seen, area, quality)]
    return Contacts(decoys, of, *arrays)


def fitted(
    contacts: Contacts, training: np.ndarray, weight: np.ndarray, seed: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Quality of all contacts by a network that learned from some decoys, and its weights.

    training : bool, (n,). weight : of each decoy, (n,)
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    rows = np.flatnonzero(training[contacts.of])
    mean = contacts.seen[rows].mean(axis=0)
    sd = contacts.seen[rows].std(axis=0) + 1e-3
    counts = np.minimum(contacts.area, MOST_AREA) * weight[contacts.of]
    seen, quality, counts = (
        torch.from_numpy(values.astype(np.float32)).to(device)
        for values in (
            ((contacts.seen - mean) / sd).clip(-5, 5),
            contacts.quality,
            counts,
        )
    )
    network = torch.nn.Sequential(
        torch.nn.Linear(seen.shape[1], HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.15),
        torch.nn.Linear(HIDDEN, HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, 1),
    ).to(device)
    adam = torch.optim.AdamW(network.parameters(), 2e-3, weight_decay=1e-3)
    batch = BATCH if device == "cpu" else 4 * BATCH
    steps = EPOCHS * (len(rows) // batch + 1)
    rate = torch.optim.lr_scheduler.OneCycleLR(adam, 4e-3, total_steps=steps)
    for _ in range(EPOCHS):
        draw.shuffle(rows)
        order = torch.from_numpy(rows).to(device)
        for first in range(0, len(rows), batch):
            some = order[first : first + batch]
            logit = network(seen[some])[:, 0]
            error = F.binary_cross_entropy_with_logits(
                logit, quality[some], reduction="none"
            )
            loss = (error * counts[some]).sum() / counts[some].sum()
            adam.zero_grad()
            loss.backward()
            adam.step()
            rate.step()
    network.eval()
    with torch.inference_mode():
        said = torch.sigmoid(network(seen)[:, 0]).cpu().numpy()
    weights = {
        name: values.cpu().numpy() for name, values in network.state_dict().items()
    }
    return said, {**weights, "mean": mean, "sd": sd}


def learn(work: Path, out: Path, seeds: list[int]) -> None:
    """Write what networks say of each decoy whose cluster, or source, they had not seen."""
    contacts = read(work)
    decoys = contacts.decoys
    # targets weigh alike, within limits
    n = decoys.groupby(["dataset", "target"])["decoy"].transform("size").to_numpy()
    weight = (1 / n / (1 / n).mean()).clip(0.2, 5)
    fold, cluster, dataset = (decoys[name] for name in ("fold", "cluster", "dataset"))
    everything = np.ones(len(decoys), bool)
    runs = [("all", seed, everything) for seed in seeds]
    runs.append(("none sampled", seeds[0], (dataset != "sampled").to_numpy()))
    out.mkdir(parents=True, exist_ok=True)
    for kind, seed, usable in runs:
        said = np.full((2, len(contacts.of)), np.nan, np.float32)
        for number in sorted(fold.unique()):
            quality, _ = fitted(
                contacts, usable & (fold != number).to_numpy(), weight, seed
            )
            said[0] = np.where(
                (fold == number).to_numpy()[contacts.of], quality, said[0]
            )
        for source in sorted(set(dataset) - {"sampled"}):
            here = (dataset == source).to_numpy()
            touched = cluster.isin(cluster[here].unique()).to_numpy()
            quality, _ = fitted(contacts, usable & ~touched, weight, seed)
            said[1] = np.where(here[contacts.of], quality, said[1])
        table = decoys[KEYS].copy()
        whole = np.bincount(contacts.of, contacts.area, len(decoys))
        for name, quality in zip(("fold", "source"), said, strict=True):
            native = np.bincount(contacts.of, contacts.area * quality, len(decoys))
            table[f"mean_{name}"], table[f"area_{name}"] = native / whole, native
        table.round(4).to_csv(
            out / f"contacts_{kind.replace(' ', '_')}_{seed}.csv", index=False
        )
        _, weights = fitted(contacts, usable, weight, seed)
        np.savez(out / f"contacts_{kind.replace(' ', '_')}_{seed}.npz", **weights)
        print(kind, seed, f"{time.process_time():.0f} CPU s", flush=True)


# ---- what it is worth ----------------------------------------------------------------------------


def table(work: Path, said: Path) -> None:
    """Write ranking loss, Spearman per target and pooled, of networks, contacts and judges."""
    decoys = pd.read_csv("docs/scorer/predictions.csv.gz", dtype=transfer.TEXT)
    decoys = decoys.sort_values(KEYS, ignore_index=True)
    seeds = [
        pd.read_csv(path, dtype=transfer.TEXT)
        for path in sorted(said.glob("contacts_all_*.csv"))
    ]
    of_seeds = pd.concat(seeds).groupby(KEYS)[
        ["mean_fold", "area_fold", "mean_source", "area_source"]
    ]
    (fewer,) = said.glob("contacts_none_sampled_*.csv")
    none = pd.read_csv(fewer, dtype=transfer.TEXT)[[*KEYS, "area_fold", "area_source"]]
    decoys = decoys.merge(of_seeds.mean().reset_index(), on=KEYS, how="left")
    decoys = decoys.merge(none, on=KEYS, how="left", suffixes=("", "_none"))
    decoys = decoys.fillna(
        {name: 0.0 for name in decoys if name.startswith(("mean_", "area_"))}
    )
    similarity = transfer.similarity_of(work, decoys)
    decoys["within"] = decoys.groupby(["dataset", "target"]).cumcount()
    decoys["confidence"] = transfer.by_confidence(decoys)
    judges = {}
    for name, network in (("fold", "network"), ("source", "network_without")):
        judges |= _judges(
            decoys, name, decoys[network].fillna(decoys["network"]).to_numpy()
        )
    rows = []
    for source, here in transfer.sources(decoys).items():
        pools = transfer.read_pools(decoys[here], similarity, None, 0)
        for (name, what), (judge, value) in judges.items():
            found = transfer._of_pools(decoys, pools, judge)
            for metric in ("loss", "spearman"):
                targets = found["target"].nunique()
                rows.append(
                    (
                        source,
                        name,
                        what,
                        metric,
                        targets,
                        *transfer.interval(found, metric),
                    )
                )
            if value is not None:
                pooled = spearman(value[here], decoys["dockq"].to_numpy()[here])
                rows.append(
                    (
                        source,
                        name,
                        what,
                        "pooled spearman",
                        targets,
                        pooled,
                        np.nan,
                        np.nan,
                    )
                )
    columns = [
        "source",
        "not seen",
        "judge",
        "metric",
        "targets",
        "value",
        "low",
        "high",
    ]
    found = pd.DataFrame(rows, columns=columns)
    found.round(4).to_csv(TABLE, index=False)
    mean = found.pivot_table(
        index=["not seen", "judge", "metric"],
        columns="source",
        values="value",
        sort=False,
    )
    print(mean.round(3).to_string())


def _judges(decoys: pd.DataFrame, name: str, network: np.ndarray) -> dict:
    """By what was not seen and a name: from a pool to values, and the value of each decoy alone."""
    area, mean = (decoys[f"{what}_{name}"].to_numpy() for what in ("area", "mean"))
    fewer = decoys[f"area_{name}_none"].to_numpy()
    residues, confidence = (
        decoys[column].to_numpy(float)
        for column in ("n_interface_residues", "confidence")
    )
    by_contacts = expected(decoys, name)
    both = (network + by_contacts) / 2
    stated, both_stated = (
        np.nanmean([each, confidence], axis=0) for each in (network, both)
    )

    def of(values: np.ndarray):
        return lambda pool: values[pool.rows]

    def more_native(pool) -> np.ndarray:
        logarithm = np.log(area[pool.rows] + LEAST_AREA)
        return (logarithm - logarithm.mean()).clip(-1, 1)

    def sized(pool) -> np.ndarray:
        return np.where(
            np.isnan(confidence[pool.rows]), 0.1 * larger(residues[pool.rows]), 0
        )

    def judge(quality):
        def order(pool) -> np.ndarray:
            temperature = 0.05 * np.sqrt(len(pool.rows))
            return ordered(quality(pool), pool.alike, temperature)[0]

        return order

    found = {
        "network": (of(network), network),
        "contacts: mean by area": (of(mean), mean),
        "contacts: sum of area x quality": (of(area), area),
        "the same without sampled decoys": (of(fewer), fewer),
        "contacts: DockQ": (of(by_contacts), by_contacts),
        "mean of network and contacts": (of(both), both),
        "network + 0.2 ln sum": (lambda pool: network[pool.rows] + 0.2 * more_native(pool), None),
        "judge, structure": (judge(lambda pool: network[pool.rows] + 0.1 * larger(residues[pool.rows])), None),
        "judge, ln sum in place of size": (judge(lambda pool: network[pool.rows] + 0.1 * more_native(pool)), None),
        "judge, mean of network and contacts": (judge(lambda pool: both[pool.rows] + 0.1 * larger(residues[pool.rows])), None),
        "judge, with confidence": (judge(lambda pool: stated[pool.rows] + sized(pool)), None),
        "judge, with confidence and contacts": (judge(lambda pool: both_stated[pool.rows] + sized(pool)), None),
    }  # fmt: skip
    return {(name, what): value for what, value in found.items()}


def expected(decoys: pd.DataFrame, name: str) -> np.ndarray:
    """DockQ by mean and sum over contacts: a logistic curve of three numbers from other decoys."""
    dockq = decoys["dockq"].to_numpy()
    weight = 1 / decoys.groupby(["dataset", "target"])["decoy"].transform("size")
    weight = np.sqrt(
        weight / weight.groupby(decoys["group"]).transform("sum")
    ).to_numpy()

    def seen(what: str) -> np.ndarray:
        logarithm = np.log(decoys[f"area_{what}"] + LEAST_AREA)
        return np.column_stack(
            [np.ones(len(decoys)), decoys[f"mean_{what}"], logarithm]
        )

    def curve(numbers: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-inputs @ numbers))

    found = np.zeros(len(decoys))
    for _, rows in decoys.groupby("fold" if name == "fold" else "group"):
        others = np.setdiff1d(np.arange(len(decoys)), rows.index)
        inputs = seen("fold")[others]
        numbers = least_squares(
            lambda n, x=inputs, o=others: (curve(n, x) - dockq[o]) * weight[o],
            [-3.0, 3.0, 0.3],
            bounds=([-20, 0, 0], [20, 20, 5]),
        ).x
        found[rows.index] = curve(numbers, seen(name)[rows.index])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=["learn", "table"])
    parser.add_argument("work", type=Path)
    parser.add_argument("said", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.step == "learn":
        learn(args.work, args.said, args.seeds)
    else:
        table(args.work, args.said)


if __name__ == "__main__":
    main()
