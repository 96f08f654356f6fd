"""Wall time of a sweep on a few cores, against the same runs one after another the naive way.

    PYTHONPATH=lib python benchmarks/bench_sweep.py --work WORK [--datasets datasets.yaml] [--cores
    2]

Two configurations × two seeds, with the same number of epochs. The workflow trains as many runs at
once as there are cores, each on one thread, validates every epoch, and selects; it starts from
packed graphs. The naive way is a loop over the runs, each a process that uses all cores, reads
`.pt` files and trains PyTorch Geometric's own layer; it validates once, at the end. Features are
built before, and their time does not count.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import yaml

from bench_training import train
from toporank import layout
from toporank.learning.hyperparameters import Hyperparameters

REPOSITORY = Path(__file__).parents[1]
EXAMPLE = [
    {
        "name": "example",
        "decoys": "resources/example/decoys",
        "labels": "resources/example/labels.csv",
    }
]
CONFIGS = [
    {"name": "fast", "learning_rate": 0.005},
    {"name": "slow", "learning_rate": 0.002},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument(
        "--datasets",
        type=Path,
        help="YAML: the section `datasets`; the example by default",
    )
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    work = args.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    datasets = (
        yaml.safe_load(args.datasets.read_text())["datasets"]
        if args.datasets
        else EXAMPLE
    )
    # seeds that no earlier run had, which would be reused
    first = time.time_ns() % 10**6
    seeds = [first, first + 1]
    same = {
        "batch_size": 16,
        "accumulate": 1,
        "max_epochs": args.epochs,
        "early_stop_patience": args.epochs,
    }
    config = {
        "datasets": datasets,
        "training": {"sweep": {"defaults": same, "configs": CONFIGS, "seeds": seeds}},
        "workflow": {"reuse_store": str(work / "store")},
    }
    (work / "sweep.yaml").write_text(yaml.safe_dump(config))
    packs = [layout.PACK.format(dataset=dataset["name"]) for dataset in datasets]

    snakemake(work, args.cores, "build_graphs", *packs)
    ours = wall(lambda: snakemake(work, args.cores, "results/training/best.ckpt"))
    naive = wall(
        lambda: one_after_another(
            [work / pack for pack in packs], seeds, args.epochs, args.cores
        )
    )
    print(
        f"{len(CONFIGS) * len(seeds)} runs of {args.epochs} epochs, {args.cores} cores, load "
        f"{os.getloadavg()[0]:.1f}"
    )
    print(f"workflow {ours:7.1f} s\nnaive    {naive:7.1f} s   {naive / ours:.1f} ×")


def snakemake(work: Path, cores: int, *targets: str) -> None:
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(REPOSITORY / "Snakefile"),
        "--cores",
        str(cores),
    ]
    command += [
        "--configfile",
        str(work / "sweep.yaml"),
        "--directory",
        str(work),
        *targets,
    ]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)


def one_after_another(
    packs: list[Path], seeds: list[int], epochs: int, threads: int
) -> None:
    for config in CONFIGS:
        hp = Hyperparameters(batch_size=16, learning_rate=config["learning_rate"])
        for seed in seeds:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                pool.submit(
                    train, "baseline", seed, packs, hp, epochs, threads
                ).result()


def wall(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
