"""Makes the thorough scorer: trees that also see inverse folding, over the networks of the scorer that ships.

    snakemake --cores 2 build_graphs results/{af2-boltz,rigid,docked,protac,antibody,membrane}/graphs.safetensors \
        results/{af2-boltz,rigid,docked,protac,antibody,membrane}/coverage.tsv \
        results/scores/{af2-boltz,rigid,docked,protac,antibody,membrane}/confidence.csv \
        --configfile tests/benchmarks/scorer_thorough.yaml    # in STUDY, which has data/
    PYTHONPATH=lib python tests/benchmarks/scorer_thorough.py STUDY docs/scorer docs/scorer/thorough \
        --scorer resources/thorough_scorer

docs/scorer.md tells how to lay out data/. The networks are those of resources/scorer, each for the fold that it was
trained without, and so are the folds. Three rounds grow trees with other seeds; figures are means over them, 95 %
intervals by bootstrap over clusters. Writes metrics.csv and predictions.csv.gz into OUT; the predictions of the scorer
that ships are in TABLES.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
from scorer import ALONE, DRAWS, PREDICTED, judged, markdown, of_clusters, of_targets, read_table, write_predictions

from toporank import layout
from toporank.comparing.homology.chain_tables import TargetSplit, write_splits
from toporank.scorer.evidence import CrossValidation
from toporank.scorer.make import SEED, TrainingTable, make_scorer

SHIPPED = Path("resources/scorer/ensemble")
RUN, ROUNDS = "local_seed222", 3
FOLDING = "folding_"
OF_SHIPPED = "the scorer that ships"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("tables", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--scorer", type=Path, help="written: the scorer")
    args = parser.parse_args()
    shipped = read_table(args.tables / "predictions.csv.gz")
    packs = {name: args.study / layout.PACK.format(dataset=name) for name in shipped["dataset"].unique()}
    datasets = [name for name, path in packs.items() if path.exists()]
    borrow(args.study, shipped[shipped["dataset"].isin(datasets)])
    study = CrossValidation(args.study, datasets)
    evidence = study.evidence(RUN)
    said = answers(evidence.decoys, study) | of_shipped(evidence.decoys, shipped)
    result = pd.concat([judged(study.decoys, said), differences(study.decoys, said)])
    print(markdown(result))
    args.out.mkdir(parents=True, exist_ok=True)
    result.round(4).to_csv(args.out / "metrics.csv", index=False)
    write_predictions(args.out / "predictions.csv.gz", study.decoys, said)
    if args.scorer:
        make_scorer(evidence, args.scorer, calibrated_on=PREDICTED)


def borrow(study: Path, shipped: pd.DataFrame) -> None:
    """Lay out the networks and folds of the scorer that ships as a cross-validation of this study."""
    targets = shipped.drop_duplicates(["dataset", "target"])
    of = [(row.dataset, row.target, row.cluster, "", int(row.fold), "", None) for row in targets.itertuples()]
    write_splits(study / layout.SPLITS, [TargetSplit(*row) for row in of])
    networks = {path: path.read_bytes() for path in sorted(SHIPPED.glob(f"fold*_{RUN}.ckpt"))}
    best = (SHIPPED.parent / "best.ckpt").read_bytes()
    for path, content in networks.items():
        folder = study / layout.FOLD_RUN.format(fold=path.stem.split("_")[0].removeprefix("fold"), run=RUN)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / "best_loss.ckpt")
        loss = {"best_loss": {"val_loss": float(content != best)}}  # only says which one is the best
        (folder / "summary.json").write_text(json.dumps({"run": RUN, "seed": 222, **loss}))


def answers(decoys: pd.DataFrame, study: CrossValidation) -> dict[str, list[np.ndarray]]:
    """What trees with and without inverse folding say of every decoy, out of fold, in every round."""
    said = {"networks": [decoys["pred_dockq"].to_numpy()] * ROUNDS}
    for name, without in (("scorer", ()), ("without inverse folding", (FOLDING,))):
        kept = [i for i, column in enumerate(study.names) if not column.startswith(without)]
        for i in range(ROUNDS):
            table = TrainingTable(decoys, study.descriptors[:, kept], [study.names[k] for k in kept], study.similarity)
            whole, alone = ([table.out_of_fold(inputs, SEED + i, alone=by_itself) for inputs in table.judges]
                            for by_itself in (False, True))  # fmt: skip
            by_itself = ALONE if name == "scorer" else f"{name}, each decoy alone"
            said.setdefault(name, []).append(table.leaning(*whole))
            said.setdefault(by_itself, []).append(np.clip(np.mean(alone, axis=0), 0, 1))
    return said


def differences(decoys: pd.DataFrame, said: dict[str, list[np.ndarray]]) -> pd.DataFrame:
    """How far the scorer is above the one that ships, target by target; intervals by bootstrap over clusters."""
    rows = []
    for one, other in (("scorer", OF_SHIPPED), (ALONE, f"{OF_SHIPPED}, each decoy alone")):
        for group, own in decoys.groupby("group"):
            names = own["cluster"].unique()
            times = np.random.default_rng(SEED).multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)
            apart = sum(of_each(own, p) - of_each(own, q) for p, q in zip(said[one], said[other], strict=True)) / ROUNDS
            for metric, column in (("ranking_loss", "ranking_loss"), ("spearman_per_target", "spearman")):
                found = of_clusters(apart.reset_index(), column, names, times)
                rows.append((f"{one} − {other}", group, len(names), metric, *found))
    return pd.DataFrame(rows, columns=["answer", "group", "clusters", "metric", "value", "low", "high"])


def of_each(decoys: pd.DataFrame, p: np.ndarray) -> pd.DataFrame:
    """Ranking loss and Spearman of each target worth ranking, by target and cluster."""
    table = decoys.assign(p=p[decoys.index])
    parts = {key: of_targets(own, own["p"].to_numpy()) for key, own in table.groupby(["dataset", "target"])}
    rows = pd.concat(parts).reset_index(level=2, drop=True)
    return rows.set_index("cluster", append=True)


def of_shipped(decoys: pd.DataFrame, shipped: pd.DataFrame) -> dict[str, list[np.ndarray]]:
    """What the scorer that ships said of the same decoys, out of fold."""
    keys = ["dataset", "target", "decoy"]
    rows = decoys[keys].merge(shipped, on=keys, validate="1:1")
    names = {OF_SHIPPED: "scorer", f"{OF_SHIPPED}, each decoy alone": "alone"}
    return {answer: [rows[f"{name}{end}"].to_numpy() for end in ("", "_2", "_3")] for answer, name in names.items()}


if __name__ == "__main__":
    main()
