"""Whether networks profit from pLDDT as a feature of residues: trained out of fold with it and without.

    PYTHONPATH=lib python tests/benchmarks/network_plddt.py STUDY MODELS OUT

STUDY is a folder of config/scorer.yaml whose packs and splits are built. MODELS: `<target>/<model>.pdb` of the data set
af2-boltz, with pLDDT as B factors. One seed, networks with local quality, decoys of programs. Two columns are added to
each node: pLDDT / 100 and whether it is known; training hides it in half of the decoys. Prints a line for each data
set: ranking loss, Spearman per target and pooled, and MSE, of the mean of both heads.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import gemmi
import numpy as np
import pandas as pd

from toporank import layout, metrics
from toporank.files.packfile import PackedGraphs
from toporank.learning import splits, train
from toporank.learning.graphs import GraphStore
from toporank.learning.run import Run
from toporank.learning.weights import load_weights, predict_all

PREDICTED = "af2-boltz"
DATASETS = (PREDICTED, "docked", "antibody", "rigid", "membrane")
HIDDEN = {"shown": 0.0, "hidden": 1.0}
COLUMNS = ["plddt", "plddt_known"]
NETWORK = {"local_weight": 1.0, "learning_rate": 0.002, "weight_decay": 0.001, "loss": "bce", "dropout": 0.1}
SCHEDULE = {"batch_size": 32, "accumulate": 1, "max_epochs": 20, "early_stop_patience": 6, "plateau_patience": 2}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--folds", type=int, nargs="*", default=range(5))
    args = parser.parse_args()
    packs = [args.study / layout.PACK.format(dataset=name) for name in DATASETS]
    plddt, table, original = read_plddt(args.models), args.study / layout.SPLITS, splits.open_graphs
    fold_of = {row.target: row.fold for row in pd.read_csv(table).itertuples()}
    hyperparameters = {**NETWORK, **SCHEDULE, "heads": 4, "sampling": "cluster_balanced"}
    run = Run.parse("plddt", {"seed": 222, "hyperparameters": hyperparameters, "selection": {}}, None)
    rows = []
    for kind in ("with", "without"):
        if kind == "with":
            train.open_graphs = lambda *given: with_plddt(original(*given), plddt, 0.5)
        else:
            train.open_graphs = original
        for fold in args.folds:
            out = args.out / kind / f"fold{fold}"
            train.train_run(run, packs, 1, out, args.out / f"store_{kind}", splits=table, fold=fold)
            network, _ = load_weights(out / "best_loss.ckpt")
            for shown, share in HIDDEN.items():
                graphs = original(packs, packs)
                store = GraphStore.of(with_plddt(graphs, plddt, share) if kind == "with" else graphs)
                store = store.some(np.flatnonzero([fold_of.get(target) == fold for target in store.target]))
                (found,) = predict_all([network], store)
                both = (found.score + found.local).numpy() / 2
                sets = [DATASETS[part] for part in store.part_of]
                rows += zip([f"{kind}, {shown}"] * len(both), sets, store.target, both, store.dockq, strict=True)
    for key, part in pd.DataFrame(rows, columns=["kind", "set", "target", "said", "dockq"]).groupby(["kind", "set"]):
        print(*key, *judged(part.dropna()))


def read_plddt(folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """(target, model) → residue such as `A:52` → B factor of its CA."""
    return {
        (path.parent.name, path.name.split(".")[0]): {
            f"{chain.name}:{residue.seqid}".strip(): atom.b_iso
            for chain in gemmi.read_structure(str(path))[0]
            for residue in chain
            for atom in residue
            if atom.name == "CA"
        }
        for path in sorted(folder.glob("*/*.pdb*"))
    }


def with_plddt(graphs: PackedGraphs, plddt: dict, hidden: float) -> PackedGraphs:
    """Graphs with `COLUMNS`; a share of the decoys that have pLDDT do without."""
    random, parts = np.random.default_rng(7), []
    for number, part in enumerate(graphs.parts):
        nodes = np.asarray(part["x"])
        extra = np.zeros((len(nodes), 2), nodes.dtype)
        for i in np.flatnonzero(graphs.part_of == number):
            known = plddt.get((graphs.target[i], graphs.decoy[i]))
            if known and random.random() >= hidden:
                values = [known.get(name) for name in graphs.names(i)]
                start = int(part["node_start"][graphs.place_in_part[i]])
                extra[start : start + len(values)] = [(0, 0) if b is None else (b / 100, 1) for b in values]
        parts.append({**part, "x": np.concatenate([nodes, extra], axis=1)})
    columns = [*graphs.metadata["node_columns"], *COLUMNS]
    return dataclasses.replace(graphs, parts=parts, metadata={**graphs.metadata, "node_columns": columns})


def judged(part: pd.DataFrame) -> list[float]:
    """Ranking loss, Spearman per target and pooled, and MSE; targets whose models differ by 0.1 DockQ or more count."""
    rankable = [rows for _, rows in part.groupby("target") if len(rows) > 2 and np.ptp(rows["dockq"]) >= 0.1]
    losses = [rows["dockq"].max() - rows["dockq"].to_numpy()[rows["said"].argmax()] for rows in rankable]
    orders = [metrics.spearman(rows["said"], rows["dockq"]) for rows in rankable]
    error = float(((part["said"] - part["dockq"]) ** 2).mean())
    values = [np.mean(losses), np.nanmean(orders), metrics.spearman(part["said"], part["dockq"]), error]
    return [round(float(value), 3) for value in values]


if __name__ == "__main__":
    main()
