"""Whether networks profit from pLDDT as a feature of residues: trained out of fold with it and
without.

    PYTHONPATH=lib python benchmarks/network_plddt.py STUDY MODELS OUT

STUDY is a folder of config/scorer.yaml whose packs and splits are built. MODELS:
`<target>/<model>.pdb` of the data set af2-boltz, with pLDDT as B factors. One seed, networks with
local quality, decoys of programs. Two columns are added to each node: pLDDT / 100 and whether it is
known; training hides it in half of the decoys. Prints a line for each data set: ranking loss,
Spearman per target and pooled, and MSE, of the mean of both heads.
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
from toporank.learning.inference import open_network, predict_all
from toporank.learning.run import Run

PREDICTED = "af2-boltz"
DATASETS = (PREDICTED, "docked", "antibody", "rigid", "membrane")
VARIANTS = {
    "with": (0.5, {"pLDDT shown": 0.0, "pLDDT hidden": 1.0}),
    "without": (None, {"no columns": None}),
}
"""Share of the decoys whose pLDDT is hidden, in training and when the network is judged; None: no
columns of it.
"""
COLUMNS = ["plddt", "plddt_known"]
NETWORK = {
    "local_weight": 1.0,
    "learning_rate": 0.002,
    "weight_decay": 0.001,
    "loss": "bce",
    "dropout": 0.1,
}
SCHEDULE = {
    "batch_size": 32,
    "accumulate": 1,
    "max_epochs": 20,
    "early_stop_patience": 6,
    "plateau_patience": 2,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--folds", type=int, nargs="*", default=range(5))
    args = parser.parse_args()
    packs = [args.study / layout.PACK.format(dataset=name) for name in DATASETS]
    plddt, table, original = (
        read_plddt(args.models),
        args.study / layout.SPLITS,
        splits.open_graphs,
    )
    fold_of = {row.target: row.fold for row in pd.read_csv(table).itertuples()}
    hyperparameters = {
        **NETWORK,
        **SCHEDULE,
        "heads": 4,
        "sampling": "cluster_balanced",
    }
    run = Run.parse(
        "plddt",
        {"seed": 222, "hyperparameters": hyperparameters, "selection": {}},
        None,
    )
    rows = []
    for kind, (hidden, judged_at) in VARIANTS.items():
        train.open_graphs = lambda *given, hidden=hidden: with_plddt(
            original(*given), plddt, hidden
        )
        for fold in args.folds:
            out = args.out / kind / f"fold{fold}"
            source = train.TrainingGraphs(packs, splits=table, fold=fold)
            train.train_run(run, source, 1, out, args.out / f"store_{kind}")
            network, _ = open_network(out / "best_loss.ckpt")
            for name, share in judged_at.items():
                store = with_plddt(original(packs, packs), plddt, share)
                store = store.some(
                    np.flatnonzero(
                        [fold_of.get(target) == fold for target in store.target]
                    )
                )
                (found,) = predict_all([network], store)
                both = (found.score + found.local) / 2
                where = [(name, DATASETS[part]) for part in store.part_of]
                values = zip(store.target, store.decoy, both, store.dockq, strict=True)
                rows += [
                    (*place, *value) for place, value in zip(where, values, strict=True)
                ]
    table = pd.DataFrame(
        rows, columns=["kind", "set", "target", "decoy", "pred_dockq", "dockq"]
    ).dropna()
    for key, part in table.groupby(["kind", "set"]):
        print(*key, *judged(part))


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


def with_plddt(graphs: PackedGraphs, plddt: dict, hidden: float | None) -> PackedGraphs:
    """Graphs with `COLUMNS`; a share of the decoys that have pLDDT do without."""
    if hidden is None:
        return graphs
    random, parts = np.random.default_rng(7), []
    for number, part in enumerate(graphs.parts):
        nodes = np.asarray(part["x"])
        extra = np.zeros((len(nodes), 2), nodes.dtype)
        for i in np.flatnonzero(graphs.part_of == number):
            known = plddt.get((graphs.target[i], graphs.decoy[i]))
            if known and random.random() >= hidden:
                values = [known.get(name) for name in graphs.names(i)]
                start = int(part["node_start"][graphs.place_in_part[i]])
                extra[start : start + len(values)] = [
                    (0, 0) if b is None else (b / 100, 1) for b in values
                ]
        parts.append({**part, "x": np.concatenate([nodes, extra], axis=1)})
    columns = [*graphs.metadata["node_columns"], *COLUMNS]
    return dataclasses.replace(
        graphs, parts=parts, metadata={**graphs.metadata, "node_columns": columns}
    )


def judged(part: pd.DataFrame) -> list[float]:
    """Ranking loss, Spearman per target and pooled, and MSE; targets whose models differ by 0.1
    DockQ or more count.
    """
    targets, models = (
        metrics.per_target(part).set_index("target"),
        part.groupby("target")["dockq"],
    )
    rankable = targets[(models.max() - models.min() >= 0.1) & (models.size() > 2)]
    error = ((part["pred_dockq"] - part["dockq"]) ** 2).mean()
    means = rankable[["ranking_loss", "spearman"]].mean()
    return [
        round(float(value), 3)
        for value in (
            *means,
            metrics.spearman(part["dockq"], part["pred_dockq"]),
            error,
        )
    ]


if __name__ == "__main__":
    main()
