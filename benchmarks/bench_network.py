"""One step of training, forward and backward, against the same network of PyTorch Geometric's own
layer.

    PYTHONPATH=lib python benchmarks/bench_network.py [PACK]

Batches of 32 graphs, one thread, CPU seconds, median of rounds in turn. `published` has PyTorch
Geometric's layer and the published edge update, a linear map for each head; `without loops` is ours
as a GPU computes it: PyTorch Geometric's layer with one edge update.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch.nn import functional as F

from toporank.learning.data import GraphStore
from toporank.learning.hyperparameters import Hyperparameters
from toporank.learning.message_passing import PublishedNetwork, with_message_passing
from toporank.learning.weights import build_network

BATCH = 32
EXAMPLE = Path("results/example/graphs.safetensors")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "pack",
        type=Path,
        nargs="?",
        default=EXAMPLE,
        help="graphs.safetensors of a data set",
    )
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    threadpool_limits(1, "blas")
    store = GraphStore.open([args.pack])
    order = np.random.default_rng(0).permutation(len(store))
    batches = []
    for start in range(0, min(args.batches * BATCH, len(store) - BATCH + 1), BATCH):
        batches.append(store.batch(order[start : start + BATCH].tolist()))
    torch.manual_seed(0)
    hyperparameters = Hyperparameters().model_dump()
    network = build_network(
        store.node_width,
        store.edge_width,
        hyperparameters,
        store.metadata.get("features"),
    )
    published, ours = PublishedNetwork(network), with_message_passing(network)
    seconds: dict[str, list[float]] = {"published": [], "without loops": [], "ours": []}
    for _ in range(args.rounds + 1):
        for name in seconds:
            with (
                without_loops() if name == "without loops" else contextlib.nullcontext()
            ):
                seconds[name].append(
                    step(published if name == "published" else ours, batches)
                )
    edges = sum(len(batch.edge_attr) for batch in batches) // len(batches)
    print(
        f"{len(batches) * BATCH} graphs of {args.pack}, {edges} edges a batch, load "
        f"{os.getloadavg()[0]:.1f}"
    )
    medians = {
        name: median(values[1:]) for name, values in seconds.items()
    }  # the first round warms up
    for name, value in medians.items():
        print(
            f"{name:14} {1000 * value:8.1f} ms a step {value / medians['ours']:6.2f} × ours"
        )


@contextlib.contextmanager
def without_loops():
    """Compute as on a GPU."""
    with (
        patch("toporank.learning.network.can_loop", lambda x: False),
        patch("toporank.learning.message_passing.can_loop", lambda x: False),
    ):
        yield


def step(network: torch.nn.Module, batches: list) -> float:
    """CPU seconds of forward and backward in training mode, the mean over the batches."""
    network.train()
    begin = time.process_time()
    for batch in batches:
        network.zero_grad(set_to_none=True)
        F.mse_loss(network(batch), batch.y.nan_to_num(0.5)).backward()
    return (time.process_time() - begin) / len(batches)


if __name__ == "__main__":
    main()
