"""Train two configurations with the same graphs and seeds: seconds, memory, loss, and whether B is as good as A.

    python benchmarks/bench_configs.py --packs results/example/graphs.safetensors \
        --a '{batch_size: 8}' --b '{batch_size: 8, trainer: {precision: bf16-mixed}}'

A and B are YAML: hyper-parameters of a configuration, and keys of `training` that say what it is
trained on. B passes if its validation loss is at most `--tolerance` above that of A, in the mean
over seeds, and an epoch of A takes `--speed-up` times as long or more.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from bench_training import held_at_most, interval
from toporank.errors import TopoRankError
from toporank.files.atomic import write_text
from toporank.learning.hardware import Hardware
from toporank.learning.hyperparameters import Hyperparameters, Selection
from toporank.learning.run import Run
from toporank.learning.selection import GPU_MEMORY
from toporank.learning.train import TrainingGraphs, train_run
from toporank.settings import checked

COLUMNS = {
    "wall_s": "s an epoch",
    "cpu_s": "CPU s an epoch",
    "memory_mb": "memory, MiB",
    GPU_MEMORY: "GPU memory, MiB",
    "val_loss": "validation loss",
    "val_spearman": "Spearman",
}


def parsed(name: str, text: str) -> dict[str, Any]:
    """The sections of a run that the text of one side describes."""
    values = yaml.safe_load(text) or {}
    of_hardware = {
        key: values.pop(key) for key in list(values) if key in Hardware.model_fields
    }
    return {
        "hyperparameters": checked(Hyperparameters, values, where=f"--{name}"),
        "hardware": checked(Hardware, of_hardware, where=f"--{name}"),
    }


def cpu_seconds() -> float:
    """Of this process and of the workers that it waited for."""
    return sum(os.times()[:4])


def train(run: Run, packs: list[Path], threads: int) -> dict[str, Any]:
    """Train in this process; one row of the table."""
    import toporank.learning.fit  # noqa: F401 -- before the clock starts

    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), cpu_seconds()
        output, store = Path(folder, "run"), Path(folder, "store")
        summary = train_run(run, TrainingGraphs(packs), threads, output, store)
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    return {
        "side": run.name,
        "seed": run.seed,
        "wall_s": wall / summary["epochs"],
        "cpu_s": cpu / summary["epochs"],
        "memory_mb": held_at_most(),
        GPU_MEMORY: summary.get(GPU_MEMORY, float("nan")),
        "val_loss": summary["best_loss"]["val_loss"],
        "val_spearman": summary["best_selection"]["val_spearman"],
    }


def compare(
    sides: dict[str, dict[str, Any]], packs: list[Path], seeds: list[int], threads: int
) -> pd.DataFrame:
    """Train both sides with every seed, each run in a process of its own."""
    rows = []
    for seed in seeds:
        for name, sections in sides.items():
            run = Run(
                name=name, seed=seed, selection=Selection(), parent=None, **sections
            )
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                rows.append(pool.submit(train, run, packs, threads).result())
    return pd.DataFrame(rows)


def verdict(table: pd.DataFrame, tolerance: float, speed_up: float) -> tuple[str, bool]:
    """One sentence, and whether B passes."""
    a, b = table.groupby("side")[[*COLUMNS]].mean().loc[["a", "b"]].to_dict("records")
    faster, worse = a["wall_s"] / b["wall_s"], b["val_loss"] - a["val_loss"]
    passed = worse <= tolerance and faster >= speed_up
    sentence = (
        f"{'Passed' if passed else 'Failed'}: B takes {1 / faster:.2f} of the time of A; its validation loss is "
        f"{worse:+.4f} (at most {tolerance:+g} is allowed)"
    )
    return sentence, passed


def text(table: pd.DataFrame, sentence: str) -> str:
    """Markdown: mean over seeds ± half of the 95 % interval, and the verdict."""
    shown = [name for name in COLUMNS if table[name].notna().any()]
    lines = [
        "| | " + " | ".join(COLUMNS[name] for name in shown) + " |",
        "| --- |" + " ---: |" * len(shown),
    ]
    for side, rows in table.groupby("side"):
        cells = [interval(rows[name].to_numpy()) for name in shown]
        lines.append(f"| {side.upper()} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", sentence, ""])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--packs", type=Path, nargs="+", required=True)
    parser.add_argument("--a", required=True, help="YAML")
    parser.add_argument("--b", required=True, help="YAML")
    parser.add_argument("--seeds", type=int, nargs="+", default=[222, 777, 1337])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--tolerance", type=float, default=0.001, help="of the validation loss"
    )
    parser.add_argument("--speed-up", type=float, default=0.0)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/configs"))
    args = parser.parse_args()
    try:
        sides = {name: parsed(name, getattr(args, name)) for name in ("a", "b")}
        table = compare(sides, args.packs, args.seeds, args.threads)
    except TopoRankError as error:
        sys.exit(str(error))
    sentence, passed = verdict(table, args.tolerance, args.speed_up)
    write_text(args.out / "configs.csv", table.to_csv(index=False))
    write_text(args.out / "configs.md", text(table, sentence))
    print(text(table, sentence), end="")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
