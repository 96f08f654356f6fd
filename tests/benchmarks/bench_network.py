"""One step of training, forward and backward, against the same network of PyTorch Geometric's own layer.

    PYTHONPATH=lib python tests/benchmarks/bench_network.py [FOLDER OF .pt FILES]

Batches of 32 graphs, one thread, CPU seconds, median of rounds in which all take turns. `per head` has the published
edge update, a linear map for each head; `folded` has one, like ours.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

from toporank.config.training import Hyperparameters
from toporank.model.network import DockQNet
from toporank.model.plain import PlainNetwork
from toporank.model.scorer import build_network
from toporank.pack import GraphBatch, GraphStore, write_pack

BATCH = 32
EXAMPLE = Path("results/example/graphs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "graphs", type=Path, nargs="?", default=Path("results/example/graphs"), help="<target>/<decoy>.pt"
    )
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    files = sorted(args.graphs.glob("*/*.pt"))
    if len(files) < BATCH:
        sys.exit(f"{len(files)} graphs in {args.graphs}, {BATCH} are needed: run `snakemake build_graphs` first")

    torch.set_num_threads(1)
    store = store_of([files[i] for i in np.random.default_rng(0).permutation(len(files))[: BATCH * args.batches]])
    batches = [store.batch(list(range(i, min(i + BATCH, len(store))))) for i in range(0, len(store), BATCH)]
    torch.manual_seed(0)
    hyperparameters = Hyperparameters()
    ours = build_network(
        store.node_width, store.edge_width, hyperparameters.model_dump(), store.metadata.get("features")
    )
    arms = {"per head": PlainNetwork.of(ours), "folded": folded(ours), "ours": ours}
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    for _ in range(args.rounds + 1):  # the first one warms up
        for name, network in arms.items():
            seconds[name].append(
                cpu_seconds(lambda network=network: [step(network, b) for b in batches]) / len(batches)
            )
    found = {name: median(values[1:]) for name, values in seconds.items()}
    edges = sum(len(b.edge_attr) for b in batches) // len(batches)
    print(f"{len(store)} graphs of {args.graphs}, {edges} edges a batch, load {os.getloadavg()[0]:.1f}")
    for name, value in found.items():
        print(f"{name:9}{1000 * value:8.1f} ms a step   {value / found['ours']:5.2f} × ours")
    moved, speed = bytes_moved(ours, edges, store.edge_width), copy_speed()
    limit = moved / speed
    print(f"memory: {moved / 1e6:.0f} MB a step at {speed / 1e9:.1f} GB/s is {1000 * limit:.1f} ms,"
          f" {100 * limit / found['ours']:.0f} % of the time of ours")  # fmt: skip


def store_of(files: list[Path]) -> GraphStore:
    """These graphs, labelled or not, as a store; without a label the loss is that to 0.5."""
    rows = [(file.parent.name, file.stem, "train", str(file)) for file in files]
    table = pd.DataFrame(rows, columns=["target", "decoy", "split", "graph"])
    with tempfile.TemporaryDirectory() as folder:
        write_pack(Path(folder) / "pack", table)
        return GraphStore.open([Path(folder) / "pack"], in_memory=True)


def folded(ours: DockQNet) -> PlainNetwork:
    """The plain network with one edge update, which is that of ours."""
    plain = PlainNetwork.of(ours)
    for layer, own in zip(plain.layers, ours.layers, strict=True):
        layer.heads, layer.edge_update = 1, nn.Linear(own.edge_update.in_features, own.edge_update.out_features)
        layer.edge_update.load_state_dict(own.edge_update.state_dict())
    return plain


def step(network: nn.Module, batch: GraphBatch) -> None:
    """Forward and backward, in training mode."""
    network.train().zero_grad(set_to_none=True)
    F.mse_loss(network(batch), batch.y.nan_to_num(0.5)).backward()


def cpu_seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def bytes_moved(network: DockQNet, edges: int, edge_width: int) -> float:
    """What a step has to read and write of the arrays that have a row an edge; those of nodes stay in the cache.

    Forward: edge vectors twice, scores written, read and written again, signs (a byte each) and dropout written, new
    edge vectors written. Backward: all of them read, and gradients of scores and edge vectors written and read.
    """
    total = 0.0
    for number, layer in enumerate(network.layers):
        _, heads, width = layer.attention.att.shape
        read, written = (edge_width if number == 0 else width), width
        forward = 4 * (2 * read + written) + 4 * (4 * heads) + heads * width
        back = 4 * (2 * read + 2 * written + (4 * read if number else 0)) + 4 * (5 * heads) + heads * width
        total += edges * (forward + back)
    return total


def copy_speed(size: int = 2**27) -> float:
    """Bytes a second that one thread reads and writes while it copies an array far larger than the cache."""
    source, target = np.ones(size // 8), np.zeros(size // 8)
    return 2 * size / min(cpu_seconds(lambda: np.copyto(target, source)) for _ in range(5))


if __name__ == "__main__":
    main()
