"""A step of training by number of threads, against PyTorch Geometric: forward and backward.

    PYTHONPATH=lib python benchmarks/bench_cores.py [PACK] [--threads 1 2 4 8 16]

Milliseconds of wall time, the least of some rounds, with CPU milliseconds of all threads in
brackets. Each number of threads is a process of its own, as a run of training is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import torch
from threadpoolctl import threadpool_limits
from torch.nn import functional as F

from toporank.learning.data import GraphBatch, GraphStore
from toporank.learning.hyperparameters import Hyperparameters
from toporank.learning.message_passing import PublishedNetwork, with_message_passing
from toporank.learning.side_by_side import side_by_side
from toporank.learning.weights import build_network
from toporank.workers import keep_freed_memory

EXAMPLE = Path("results/example/graphs.safetensors")
SIZES = (32, 256)
ROUNDS = {"ours": 6, "PyG": 3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pack", type=Path, nargs="?", default=EXAMPLE)
    counts = [n for n in (1, 2, 4, 8, 16) if n <= os.cpu_count()]
    parser.add_argument("--threads", type=int, nargs="+", default=counts)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--nets", nargs="+", default=list(ROUNDS), choices=ROUNDS)
    parser.add_argument("--here", action="store_true", help="in this process, as JSON")
    args = parser.parse_args()
    if args.here:
        print(json.dumps(measured(args.pack, args.threads[0], args.sizes, args.nets)))
        return
    print("| threads | batch | " + " | ".join(args.nets) + " |", flush=True)
    for threads in args.threads:
        command = [sys.executable, __file__, str(args.pack), "--here"]
        command += ["--threads", str(threads), "--nets", *args.nets]
        command += ["--sizes", *map(str, args.sizes)]
        answer = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={"OMP_WAIT_POLICY": "PASSIVE", **os.environ},  # as in training
        )
        for size, found in json.loads(answer.stdout).items():
            cells = [f"{found[net][0]:.0f} ({found[net][1]:.0f})" for net in args.nets]
            print(f"| {threads} | {size} | " + " | ".join(cells) + " |", flush=True)


def measured(
    pack: Path, threads: int, sizes: list[int], nets: list[str]
) -> dict[int, dict[str, list[float]]]:
    """Wall and CPU milliseconds of a step, by size of batch and network."""
    keep_freed_memory()  # as in training
    torch.set_num_threads(threads)
    threadpool_limits(threads, "blas")
    torch.manual_seed(0)
    store = GraphStore.open([pack])
    network = build_network(
        store.node_width,
        store.edge_width,
        Hyperparameters().model_dump(),
        store.metadata.get("features"),
        store.metadata.get("edge_columns"),
    )
    networks = {"PyG": PublishedNetwork(network), "ours": with_message_passing(network)}
    found: dict[int, dict[str, list[float]]] = {size: {} for size in sizes}
    for net in sorted(
        nets
    ):  # copies of this process are made after PyG's threads were measured
        processes = threads if net == "ours" else 1
        torch.set_num_threads(1 if net == "ours" else threads)
        with side_by_side(network, store, processes):
            for size in sizes:
                graphs = np.random.default_rng(0).integers(0, len(store), size)
                batch = store.batch(graphs.tolist())
                found[size][net] = steps(networks[net].train(), batch, ROUNDS[net])
    return found


def steps(network: torch.nn.Module, batch: GraphBatch, rounds: int) -> list[float]:
    """The least wall milliseconds of a step, forward and backward, and the mean CPU time."""
    took = []
    for number in range(rounds + 1):
        if number == 1:  # the first one loads compiled code
            cpu = cpu_seconds()
        network.zero_grad(set_to_none=True)
        began = time.perf_counter()
        F.mse_loss(network(batch), batch.y.nan_to_num(0.5)).backward()
        took.append(time.perf_counter() - began)
    return [1000 * min(took[1:]), 1000 * (cpu_seconds() - cpu) / rounds]


def cpu_seconds() -> float:
    """Of this process and its copies."""
    this = psutil.Process()
    times = [process.cpu_times() for process in (this, *this.children())]
    return sum(one.user + one.system for one in times)


if __name__ == "__main__":
    main()
