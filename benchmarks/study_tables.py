#!/usr/bin/env python3
"""What a finished study has to show: its tables beside each other, per-target results, and all
learning curves.

PYTHONPATH=lib python benchmarks/study_tables.py WORK/sweep --tables docs/study
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from study import measure, metrics, validation_labels
from toporank.files.packfile import PackedGraphs
from toporank.scorer.networks import Networks
from toporank.scorer.scorer import Scorer

TABLES = {
    "results/training/leaderboard.csv": "sweep_leaderboard.csv",
    "results/training/winners.csv": "sweep_winners.csv",
    "results/training/configs.csv": "sweep_configs.csv",
    "results/final/leaderboard.csv": "final_leaderboard.csv",
    "results/final/winners.csv": "final_winners.csv",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("study", type=Path, help="its working directory")
    parser.add_argument("--tables", type=Path, required=True, help="folder to write to")
    args = parser.parse_args()
    args.tables.mkdir(parents=True, exist_ok=True)
    for source, name in TABLES.items():
        if (args.study / source).exists():  # without phases there is one leaderboard
            shutil.copy(args.study / source, args.tables / name)
    sweep_runs(args.study).to_csv(
        args.tables / "sweep_runs.csv", index=False, float_format="%.5f"
    )
    final(args.study / "results").to_csv(
        args.tables / "final.csv", index=False, float_format="%.4f"
    )
    targets = pd.concat(
        pd.read_csv(path).assign(set=path.parent.name)
        for path in sorted((args.study / "results/evaluation").glob("*/per_target.csv"))
    )
    targets = targets[targets["split"] == "val"].drop(columns="split")
    targets.to_csv(args.tables / "final_targets.csv", index=False, float_format="%.4f")
    found = [
        path
        for part in ("training", "finetune")
        for path in sorted(args.study.glob(f"results/{part}/*/metrics.csv"))
    ]
    runs = {path.parent.name: pd.read_csv(path) for path in found}
    # the same curves are the same file
    matplotlib.rcParams["svg.hashsalt"] = "learning"
    learning_curves(runs).savefig(args.tables / "learning.svg", metadata={"Date": None})


def sweep_runs(study: Path) -> pd.DataFrame:
    """Metrics on the labelled validation decoys of the best checkpoint by `val_loss` of each run,
    set by set.
    """
    datasets = sorted(
        path.parent.name for path in study.glob("results/*/graphs.safetensors")
    )
    runs = pd.read_csv(study / "results/final/leaderboard.csv").sort_values(
        ["config", "seed"]
    )
    runs = runs[runs["parent"].isna()]
    return pd.DataFrame(
        [
            row
            for run in runs.itertuples()
            for row in measure(study, run.config, run.seed, datasets)
        ]
    )


def final(results: Path) -> pd.DataFrame:
    """Metrics on the labelled validation decoys of the final checkpoint, and of the ensemble's
    mean.
    """
    members, rows = sorted((results / "final/ensemble").glob("*.ckpt")), []
    for scorer, ensemble in (("final", []), (f"mean of {len(members)}", members)):
        scored, networks = (
            {},
            Networks(
                Scorer.of(results / "final/best.ckpt", ensemble, mean=bool(ensemble))
            ),
        )
        for path in sorted(results.glob("*/graphs.safetensors")):
            labels = validation_labels(path.with_name("coverage.tsv"))
            scores = pd.DataFrame(networks.predict(PackedGraphs.open([path])).scores)
            scored[path.parent.name] = labels.merge(scores, how="left", validate="1:1")
        scored["all"] = pd.concat(scored.values(), ignore_index=True)
        rows += [
            {"scorer": scorer, "set": name, **metrics(table)}
            for name, table in scored.items()
        ]
    return pd.DataFrame(rows)


def learning_curves(runs: dict[str, pd.DataFrame]) -> Figure:
    """Losses by epoch, a panel for each configuration or phase, a colour for each seed; a dot is
    the best epoch.
    """
    panels: dict[str, list[str]] = {}
    for run in runs:
        panels.setdefault(run.rpartition("_seed")[0] or run, []).append(run)
    figure = Figure(figsize=(9, 2.6 * -(-len(panels) // 3)), layout="constrained")
    axes = figure.subplots(-(-len(panels) // 3), 3, squeeze=False).ravel()
    for axis, (name, members) in zip(axes, panels.items(), strict=False):
        for k, run in enumerate(members):
            metrics = runs[run]
            best = metrics.loc[metrics["val_loss"].idxmin()]
            axis.plot(
                metrics["epoch"],
                metrics["train_loss"],
                "--",
                color=f"C{k}",
                linewidth=0.9,
            )
            axis.plot(
                metrics["epoch"],
                metrics["val_loss"],
                color=f"C{k}",
                label=run.rpartition("_seed")[2],
            )
            axis.plot(best["epoch"], best["val_loss"], "o", color=f"C{k}", markersize=4)
        axis.set(title=name, xlabel="epoch", ylim=(0, 0.12))
        axis.legend(
            frameon=False, fontsize="small", title="seed", title_fontsize="small"
        )
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    axes[0].set_ylabel("loss: validation (—), training (- -)")
    return figure


if __name__ == "__main__":
    main()
