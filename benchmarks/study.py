#!/usr/bin/env python3
"""Which features, losses and samplings are worth it: every variant with every seed, on labelled
data of your own.

Each variant of the features is a study of its own in WORK/<variant>, all with one reuse store, so
that stages they share are computed once. Every run that was made is in the table.

    python benchmarks/study.py --datasets datasets.yaml --work WORK --cores 2 --tables docs/study
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pandas as pd
import yaml

from toporank.building.coverage import read_coverage
from toporank.metrics import per_target, summarise
from toporank.scorer.networks import Networks
from toporank.scorer.scorer import Scorer

REPOSITORY = Path(__file__).parents[1]
SEEDS = [222, 777, 1337]
DEFAULTS = {
    "batch_size": 16,
    "accumulate": 1,
    "max_epochs": 25,
    "early_stop_patience": 8,
    "plateau_patience": 3,
}
PLAIN = [{"name": "standard"}]

BY_TRAINING_SET = {"scaling": "training_set"}
PER_DECOY = {"scaling": "per_decoy"}
PUBLISHED_NODES = {"module": "dssp_topology", **PER_DECOY, "orientation": "file"}
STANDARD_NODES = {
    "module": "dssp_topology",
    **BY_TRAINING_SET,
    "orientation": "principal_axes",
}
LEGACY = {"module": "legacy", **BY_TRAINING_SET}
FEATURES = {
    "v11": {"nodes": PUBLISHED_NODES, "edges": {"module": "legacy", **PER_DECOY}},
    "v11_scaled": {"nodes": STANDARD_NODES, "edges": LEGACY},
    "no_topology": {
        "topology": {"module": "none"},
        "nodes": STANDARD_NODES,
        "edges": LEGACY,
    },
    "topology_only": {
        "nodes": {"module": "topology_only", **BY_TRAINING_SET},
        "edges": LEGACY,
    },
}
"""Columns of nodes and edges, and how they are scaled. The last two leave out topology, and all
other node columns.
"""

OPTIONS = [
    {"name": "bce", "loss": "bce"},
]
"""What may be minimised and drawn, all with the features of the last argument of --options-on."""


def run(
    variant: str,
    datasets: list,
    configs: list,
    seeds: list[int],
    work: Path,
    cores: int,
) -> pd.DataFrame:
    """Train one variant of the features and return the validation metrics of each run, by data
    set.
    """
    folder = work / variant
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "datasets": datasets,
        "features": FEATURES[variant],
        "training": {
            "sweep": {"defaults": DEFAULTS, "configs": configs, "seeds": seeds}
        },
        "workflow": {"reuse_store": str(work / "store"), "chunk_size": 350},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(REPOSITORY / "Snakefile"),
    ]
    command += ["--configfile", "study.yaml"]
    with open(folder / "run.log", "w") as log:
        subprocess.run([*command, "--cores", str(cores), "results/training/best.ckpt"], cwd=folder, check=True,
                       stdout=log, stderr=log)  # fmt: skip
    rows = [
        {"features": variant, **measured}
        for config in configs
        for seed in seeds
        for measured in measure(
            folder, config["name"], seed, [d["name"] for d in datasets]
        )
    ]
    return pd.DataFrame(rows)


def measure(folder: Path, config: str, seed: int, datasets: list[str]) -> list[dict]:
    """Validation metrics of the best checkpoint of a run, of each data set and of all together."""
    checkpoint = folder / f"results/training/{config}_seed{seed}/best_loss.ckpt"
    scored = {name: predictions(folder, name, checkpoint) for name in datasets}
    scored["all"] = pd.concat(scored.values(), ignore_index=True)
    return [
        {"config": config, "seed": seed, "set": name, **metrics(table)}
        for name, table in scored.items()
    ]


def predictions(folder: Path, dataset: str, checkpoint: Path) -> pd.DataFrame:
    """target, decoy, dockq and pred_dockq of the labelled validation decoys."""
    labels = validation_labels(folder / f"results/{dataset}/coverage.tsv")
    scores = pd.DataFrame(
        Networks(Scorer.of(checkpoint)).score(
            folder / f"results/{dataset}/graphs.safetensors"
        )
    )
    return labels.merge(
        scores[["target", "decoy", "pred_dockq"]], how="left", validate="1:1"
    )


def validation_labels(coverage: Path) -> pd.DataFrame:
    """target, decoy and dockq of the labelled validation decoys."""
    table = pd.DataFrame(read_coverage(coverage))
    return table.loc[
        (table["split"] == "val") & table["dockq"].notna(), ["target", "decoy", "dockq"]
    ]


def metrics(table: pd.DataFrame) -> dict[str, float]:
    """What a row of the table tells."""
    targets, summary = per_target(table), summarise(table, n_bootstrap=0)
    return {
        "decoys": len(table),
        "mse": float(((table["pred_dockq"] - table["dockq"]) ** 2).mean()),
        "spearman_pooled": summary["pooled"]["spearman"]["value"],
        "spearman_per_target": float(targets["spearman"].mean()),
        "ranking_loss": float(targets["ranking_loss"].mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--datasets",
        type=Path,
        required=True,
        help="YAML: the section `datasets` of a configuration",
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument(
        "--tables", type=Path, required=True, help="folder for runs.csv"
    )
    parser.add_argument(
        "--only",
        nargs="*",
        default=list(FEATURES),
        choices=FEATURES,
        help="variants of the features",
    )
    parser.add_argument(
        "--options-on",
        choices=FEATURES,
        help="train losses and samplings on these features, too",
    )
    parser.add_argument(
        "--configs",
        nargs="*",
        help="only these of the losses and samplings; `standard` is the plain one",
    )
    parser.add_argument("--seeds", type=int, nargs="*", default=SEEDS)
    parser.add_argument("--cores", type=int, default=2)
    args = parser.parse_args()

    datasets, work = (
        yaml.safe_load(args.datasets.read_text())["datasets"],
        args.work.resolve(),
    )
    args.tables.mkdir(parents=True, exist_ok=True)
    table = args.tables / "runs.csv"
    for variant in args.only:
        configs = [*PLAIN, *OPTIONS] if variant == args.options_on else PLAIN
        configs = [
            config
            for config in configs
            if not args.configs or config["name"] in args.configs
        ]
        made = run(variant, datasets, configs, args.seeds, work, args.cores)
        before = pd.read_csv(table) if table.exists() else made[:0]
        both = pd.concat([before, made]).drop_duplicates(
            ["features", "config", "seed", "set"], keep="last"
        )
        both.to_csv(table, index=False, float_format="%.5f")
        print(f"{variant}: {len(made)} rows", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
