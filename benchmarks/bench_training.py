"""Training as anyone would write it against training as it is done here: same weights, same
batches, same seeds.

    PYTHONPATH=lib python benchmarks/bench_training.py --packs results/example/graphs.safetensors

The baseline reads the `.pt` file of each graph whenever a batch needs it and trains the network
built from PyTorch Geometric's own layer, with the published edge update. Both have the same loop
around them. The learning rate starts low and falls to zero: at a high one, rounding alone takes two
trainings to different ends, and the last of their epochs is one of a jumpy curve. It fails unless
training is three times as fast as the baseline, and as good.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from scipy.stats import t as student
from torch.nn import functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

from toporank import layout
from toporank.errors import TopoRankError
from toporank.files.atomic import write_text
from toporank.learning.data import GraphBatch, GraphStore, set_statistics
from toporank.learning.fit import seed_everything
from toporank.learning.hyperparameters import Hyperparameters
from toporank.learning.message_passing import PublishedNetwork, with_message_passing
from toporank.learning.splits import split_indices
from toporank.learning.weights import build_network
from toporank.metrics import validation_scores
from toporank.settings import checked

COLUMNS = {
    "epoch_s": "CPU s an epoch", "loading_s": "of it loading", "peak_mib": "peak memory, MiB",
    "val_loss": "validation loss", "val_spearman": "validation Spearman",
}  # fmt: skip
ARMS = ("baseline", "optimised")
LEARNING_RATE = 0.001
SPEED_UP, QUALITY = 3.0, 0.03
"""Least ratio of the CPU seconds of an epoch, and largest relative loss of quality, to pass."""


def read_batch(store: GraphStore, files: list[Path], indices: list[int]) -> GraphBatch:
    """A batch from `.pt` files, by PyTorch Geometric. files : one for each graph of the store.

    Edges are sorted as in a pack, so that dropout falls on the same ones; that is a small part of
    the time.
    """
    batch = Batch.from_data_list([_read(files[i]) for i in indices])
    y = torch.tensor(store.dockq[indices], dtype=torch.float32)
    of_edges = batch.batch[batch.edge_index[0]]
    return GraphBatch(
        batch.x,
        batch.edge_index,
        batch.edge_attr,
        batch.batch,
        of_edges,
        y,
        torch.tensor(indices),
    )


def _read(file: Path) -> Data:
    with torch.serialization.safe_globals(
        [Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]
    ):
        graph = torch.load(file, weights_only=True)
    order = torch.argsort(graph.edge_index[1], stable=True)
    return Data(
        x=graph.x,
        edge_index=graph.edge_index[:, order],
        edge_attr=graph.edge_attr[order],
    )


@dataclass(frozen=True)
class Outcome:
    """One training. Seconds are CPU seconds of an epoch, the median of all; memory is the peak in
    MiB.
    """

    arm: str
    seed: int
    epoch_s: float
    loading_s: float
    peak_mib: float
    val_loss: float
    val_spearman: float


def train(
    arm: str,
    seed: int,
    packs: list[Path],
    hp: Hyperparameters,
    epochs: int,
    threads: int = 1,
) -> Outcome:
    """Train one arm, in this process."""
    seed_everything(seed, threads)
    store = GraphStore.open(packs)
    network = build_network(
        store.node_width,
        store.edge_width,
        hp.model_dump(),
        store.metadata.get("features"),
    )
    training, validation = (split_indices(store, split) for split in ("train", "val"))
    set_statistics(network, store, training)
    load: Callable[[list[int]], GraphBatch] = store.batch
    if arm == "optimised":
        network = with_message_passing(network)
    else:
        network, files = PublishedNetwork(network), graph_files(store, packs)
        load = lambda indices: read_batch(store, files, indices)  # noqa: E731
    optimizer = torch.optim.Adam(
        network.parameters(), lr=hp.learning_rate, weight_decay=hp.weight_decay
    )
    steps = epochs * math.ceil(len(training) / hp.batch_size)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=steps)
    seconds, loading = [], []
    for epoch in range(epochs):
        begin, waited = time.process_time(), 0.0
        network.train()
        torch.manual_seed(seed * 100_003 + epoch)
        order = np.random.default_rng([seed, epoch]).permutation(training)
        for indices in pieces(order, hp.batch_size):
            before = time.process_time()
            batch = load(indices)
            waited += time.process_time() - before
            optimizer.zero_grad(set_to_none=True)
            F.mse_loss(network(batch), batch.y).backward()
            optimizer.step()
            falling.step()
        seconds.append(time.process_time() - begin)
        loading.append(waited)
    with torch.inference_mode():
        network.eval()
        seen = [
            (b.y, network(b)) for b in map(load, pieces(validation, 4 * hp.batch_size))
        ]
    dockq, predicted = (
        torch.cat(parts).double().numpy() for parts in zip(*seen, strict=True)
    )
    codes = np.unique(store.target, return_inverse=True)[1][validation]
    return Outcome(
        arm, seed, float(np.median(seconds)), float(np.median(loading)),
        held_at_most(), float(np.mean((dockq - predicted) ** 2)),
        validation_scores(codes, dockq, predicted)["spearman_pooled"],
    )  # fmt: skip


def pieces(order: np.ndarray, size: int) -> Iterator[list[int]]:
    """Indices of one batch after another."""
    for i in range(0, len(order), size):
        yield order[i : i + size].tolist()


def graph_files(store: GraphStore, packs: list[Path]) -> list[Path]:
    """The `.pt` file of each graph of a store; a pack lies beside the folder of its graphs."""
    folders = [packs[p].parent for p in store.part_of]
    rows = zip(folders, store.target, store.decoy, strict=True)
    return [
        folder / "graphs" / target / (decoy + layout.SUFFIX["graphs"])
        for folder, target, decoy in rows
    ]


def compare(
    packs: list[Path], hp: Hyperparameters, seeds: list[int], epochs: int
) -> pd.DataFrame:
    """Train both arms with every seed, each in a process of its own: one row a training, columns of
    `Outcome`.
    """
    rows = []
    for seed in seeds:
        for arm in ARMS:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                rows.append(
                    asdict(pool.submit(train, arm, seed, packs, hp, epochs).result())
                )
    return pd.DataFrame(rows)


def verdict(table: pd.DataFrame) -> tuple[dict[str, float], bool]:
    """Ratios of the arms over all seeds, and whether the optimised one passes.

    `speed_up`, `memory`: baseline / optimised. `val_loss`, `val_spearman`: how much worse the
    optimised one is, relative to the baseline; negative is better.
    """
    means = table.groupby("arm")[
        ["epoch_s", "loading_s", "peak_mib", "val_loss", "val_spearman"]
    ].mean()
    base, ours = means.loc["baseline"], means.loc["optimised"]
    found = {
        "speed_up": base["epoch_s"] / ours["epoch_s"],
        "loading_speed_up": base["loading_s"] / ours["loading_s"],
        "memory": base["peak_mib"] / ours["peak_mib"],
        "val_loss": ours["val_loss"] / base["val_loss"] - 1,
        "val_spearman": (base["val_spearman"] - ours["val_spearman"])
        / abs(base["val_spearman"]),
    }
    good = (
        found["speed_up"] >= SPEED_UP
        and found["val_loss"] <= QUALITY
        and found["val_spearman"] <= QUALITY
    )
    return found, bool(good)


def text(table: pd.DataFrame, ratios: dict[str, float], passed: bool) -> str:
    """Markdown: mean over seeds ± half of the 95 % interval (Student's t), and the verdict."""
    lines = [
        "| | " + " | ".join(COLUMNS.values()) + " |",
        "| --- |" + " ---: |" * len(COLUMNS),
    ]
    for arm, rows in table.groupby("arm", sort=True):
        cells = [interval(rows[name].to_numpy()) for name in COLUMNS]
        lines.append(f"| {arm} | " + " | ".join(cells) + " |")
    lines += [
        "",
        f"{'Passed' if passed else 'Failed'}: {ratios['speed_up']:.1f} times as fast an epoch,"
        f" {ratios['loading_speed_up']:.0f} times in loading, {ratios['memory']:.2f} times less "
        "memory;"
        f" validation loss {100 * ratios['val_loss']:+.2f} %, Spearman "
        f"{-100 * ratios['val_spearman']:+.2f} %"
        f" (seeds {', '.join(map(str, sorted(table['seed'].unique())))}).",
    ]
    return "\n".join(lines) + "\n"


def interval(values: np.ndarray) -> str:
    """Mean ± half-width, both to the second digit of the half-width."""
    if len(values) < 2:
        return f"{values.mean():.4g}"
    half = (
        student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    )
    places = max(0, 1 - math.floor(math.log10(half))) if half > 0 else 3
    return f"{values.mean():.{places}f} ± {half:.{places}f}"


def plot(table: pd.DataFrame, path: Path) -> None:
    """CPU seconds of an epoch and validation loss of each arm, a point for each seed."""
    figure = Figure(figsize=(6.4, 2.6), layout="constrained")
    for axes, name in zip(figure.subplots(1, 2), ("epoch_s", "val_loss"), strict=True):
        for k, (arm, rows) in enumerate(table.groupby("arm", sort=True)):
            axes.bar(k, rows[name].mean(), 0.6, alpha=0.4)
            axes.plot([k] * len(rows), rows[name], "k.", markersize=4)
            axes.text(k, 0, arm, ha="center", va="bottom")
        axes.set(ylabel=COLUMNS[name], xticks=[], ylim=(0, None))
    figure.savefig(path)


def held_at_most() -> float:
    """MB that this process has held at most; getrusage would tell those of a larger process that
    started it.
    """
    return (
        int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
        / 2**10
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--packs",
        type=Path,
        nargs="+",
        required=True,
        help="beside the folders of their graphs",
    )
    parser.add_argument("--hyperparameters", default="{}", help="as JSON")
    parser.add_argument("--seeds", type=int, nargs="+", default=[222, 777, 1337])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results/benchmarks/training"),
        help="where table and plot go",
    )
    args = parser.parse_args()
    try:
        given = {"learning_rate": LEARNING_RATE, **json.loads(args.hyperparameters)}
        hyperparameters = checked(Hyperparameters, given, where="--hyperparameters")
        table = compare(args.packs, hyperparameters, args.seeds, args.epochs)
    except TopoRankError as error:
        sys.exit(str(error))
    ratios, passed = verdict(table)
    said = text(table, ratios, passed)
    write_text(args.out / "training.csv", table.to_csv(index=False))
    write_text(args.out / "training.md", said)
    plot(table, args.out / "training.svg")
    print(said, end="")
    if not passed:
        sys.exit(1)


if __name__ == "__main__":
    main()
