"""Trains networks for each source of a study that saw neither its models nor any of its clusters.

    PYTHONPATH=lib python benchmarks/networks_without.py STUDY --sources SOURCE ... --accelerator gpu

STUDY is the folder in which `make_scorer` ran: graphs, chains and splits.csv lie there. A SOURCE is
a data set (by default each of them but `sampled`). One network for each configuration and seed goes
to STUDY/results/without/SOURCE/CONFIGURATION_SEED, where `transfer.py` looks for them. What is finished
stays, so the command can be given again. One network takes about two CPU minutes.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
import yaml

from toporank import layout
from toporank.app.config import Config
from toporank.learning.hardware import Hardware
from toporank.learning.hyperparameters import Hyperparameters
from toporank.learning.run import Run
from toporank.learning.train import TrainingGraphs, train_run

ASIDE = 99
"""Number of the fold that has every cluster of the source."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", type=Path)
    parser.add_argument("--sources", nargs="*")
    parser.add_argument("--config", type=Path, default=Path("config/scorer.yaml"))
    parser.add_argument("--accelerator", default="cpu")
    parser.add_argument(
        "--at-once", type=int, default=2, help="networks trained at a time"
    )
    args = parser.parse_args()
    config = Config.model_validate(
        yaml.safe_load(args.config.read_text(encoding="utf-8"))
    )
    datasets = [dataset.name for dataset in config.datasets]
    sources = args.sources or [name for name in datasets if name != "sampled"]
    runs = []
    for entry, seed in config.sweep_runs().values():
        hyperparameters = Hyperparameters(
            **entry.model_dump(include=set(Hyperparameters.model_fields))
        )
        hardware = Hardware(trainer={"accelerator": args.accelerator, "devices": 1})
        run = Run(
            name=entry.name,
            seed=seed,
            hyperparameters=hyperparameters,
            selection=config.training.selection,
            parent=None,
            hardware=hardware,
        )
        runs.append(run)
    with ProcessPoolExecutor(args.at_once, mp_context=get_context("spawn")) as pool:
        jobs = {
            pool.submit(train_without, args.study, source, datasets, run): source
            for run in runs
            for source in sources
        }
        for job in as_completed(jobs):
            print(f"{jobs[job]}: {job.result()}", flush=True)


def train_without(study: Path, source: str, datasets: list[str], run: Run) -> Path:
    """Train on all other data sets, without the clusters of the source; return the folder."""
    folder = study / "results/without" / source / f"{run.name}_{run.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    splits = pd.read_csv(study / layout.SPLITS, dtype={"target": str, "fold": "Int64"})
    touched = splits.loc[splits["dataset"] == source, "cluster"].unique()
    splits.loc[splits["cluster"].isin(touched), "fold"] = ASIDE
    splits.to_csv(folder / "splits.csv", index=False)
    others = [name for name in datasets if name != source]
    graphs = TrainingGraphs(
        packs=[study / layout.PACK.format(dataset=name) for name in others],
        splits=folder / "splits.csv",
        fold=ASIDE,
        chains=[study / layout.CHAINS.format(dataset=name) for name in others],
    )
    train_run(run, graphs, threads=1, output=folder, store=study / ".toporank/store")
    return folder


if __name__ == "__main__":
    main()
