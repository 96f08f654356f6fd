"""One step of training, forward and backward, against the same network of PyTorch Geometric's own layer.

    PYTHONPATH=lib python benchmarks/bench_network.py [FOLDER OF .pt FILES]

Batches of 32 graphs, one thread, CPU seconds, median of rounds. `per head` has the published edge update, a linear map
for each head; `folded` has one, like ours. Each is measured with the memory allocator as it is shipped, and told to
keep what is freed, as the workflow's training does; that takes two processes, which take turns. Compiled, ours is plain
torch operations.
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import nn
from torch.nn import functional as F

from toporank.building.packing import Member, write_pack
from toporank.files.atomic import sha256
from toporank.learning import kernels
from toporank.learning.graphs import GraphBatch, GraphStore
from toporank.learning.hyperparameters import Hyperparameters
from toporank.learning.memory import keep_freed_memory
from toporank.learning.network import DockQNet
from toporank.learning.topoqa.pyg_network import PlainNetwork
from toporank.learning.weights import build_network

BATCH = 32
EXAMPLE = Path("results/example/graphs")
ARMS = ("per head", "folded", "ours")
COMPILED = ("folded, compiled", "ours, compiled")

# of a measuring process
BATCHES: list[GraphBatch] = []
NETWORKS: dict[str, nn.Module] = {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graphs", type=Path, nargs="?", default=EXAMPLE, help="<target>/<decoy>.pt")
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--compile", action="store_true", help="also with torch.compile, which takes minutes")
    args = parser.parse_args()
    files = sorted(args.graphs.glob("*/*.pt"))
    if len(files) < BATCH:
        sys.exit(f"{len(files)} graphs in {args.graphs}, {BATCH} are needed: run `snakemake build_graphs` first")
    files = [files[i] for i in np.random.default_rng(0).permutation(len(files))[: BATCH * args.batches]]

    spawn = get_context("spawn")
    with (
        ProcessPoolExecutor(1, spawn, prepare, (files, False)) as shipped,
        ProcessPoolExecutor(1, spawn, prepare, (files, True)) as kept,
    ):
        edges, moved, speed = kept.submit(traffic).result()
        spent = kept.submit(parts).result()
        measured: dict[tuple[str, str], list[float]] = {}
        for _ in range(args.rounds + 1):  # the first one warms up
            for name in (*ARMS, *(COMPILED if args.compile else ())):
                for memory, pool in (("as shipped", shipped), ("kept", kept)):
                    measured.setdefault((name, memory), []).append(pool.submit(seconds_of, name).result())
    print(f"{len(files)} graphs of {args.graphs}, {edges} edges a batch, load {os.getloadavg()[0]:.1f}")
    found = {arm: median(seconds[1:]) for arm, seconds in measured.items()}
    ours = found["ours", "kept"]
    print(f"{'network':18}freed memory   ms a step   × ours")
    for (name, memory), seconds in found.items():
        print(f"{name:17} {memory:12} {1000 * seconds:11.1f} {seconds / ours:8.2f}")
    for part, seconds in spent.items():
        print(f"  {part:48}{100 * seconds / sum(spent.values()):4.0f} % of ours")
    limit = moved / speed
    print(f"memory: {moved / 1e6:.0f} MB a step at {speed / 1e9:.1f} GB/s is {1000 * limit:.1f} ms,"
          f" {100 * limit / ours:.0f} % of the time of ours")  # fmt: skip


def prepare(files: list[Path], keep: bool) -> None:
    """In a process of its own: the batches and the networks. keep : freed memory, as the workflow does."""
    if keep:
        keep_freed_memory()
    torch.set_num_threads(1)
    threadpool_limits(1, "blas")
    store = store_of(files)
    BATCHES.extend(store.batch(list(range(i, min(i + BATCH, len(store))))) for i in range(0, len(store), BATCH))
    torch.manual_seed(0)
    ours = build_network(
        store.node_width, store.edge_width, Hyperparameters().model_dump(), store.metadata.get("features")
    )
    NETWORKS.update({"per head": PlainNetwork.of(ours), "folded": folded(ours), "ours": ours})
    for name in COMPILED:
        NETWORKS[name] = copy.deepcopy(NETWORKS[name.partition(",")[0]])
        NETWORKS[name].compile(dynamic=True)


def seconds_of(name: str) -> float:
    """CPU seconds of one step, the mean over the batches."""
    return cpu_seconds(lambda: [step(NETWORKS[name], batch) for batch in BATCHES]) / len(BATCHES)


LOOPS = {
    "scores": ("_score", "_subtract_largest"),
    "weighted sums of sources": ("_gather",),
    "way back of both": ("_score_gradient", "_scatter"),
}


def parts() -> dict[str, float]:
    """CPU seconds of a step of ours by part, the mean over the batches."""
    spent: dict[str, float] = defaultdict(float)

    def timed(name: str, function: Callable) -> Callable:
        def call(*given):
            begin = time.process_time()
            try:
                return function(*given)
            finally:
                spent[name] += time.process_time() - begin

        return call

    with ExitStack() as patches:
        for name in [name for names in LOOPS.values() for name in names]:
            patches.enter_context(patch.object(kernels, name, timed(name, getattr(kernels, name))))
        for function in (kernels._Attention, kernels._Join):
            for way in ("forward", "backward"):
                call = staticmethod(timed(function.__name__, getattr(function, way)))
                patches.enter_context(patch.object(function, way, call))
        for _ in range(3):
            spent.clear()
            whole = seconds_of("ours")
    spent = {name: seconds / len(BATCHES) for name, seconds in spent.items()}
    found = {f"attention, loops: {part}": sum(spent[name] for name in names) for part, names in LOOPS.items()}
    found["attention, products with edges and nodes"] = spent["_Attention"] - sum(found.values())
    found["edge update"] = spent["_Join"]
    return found | {"embedding, dropout, pooling, head": whole - spent["_Attention"] - spent["_Join"]}


def traffic() -> tuple[int, float, float]:
    """Edges of a batch, bytes that a step has to move, and bytes a second that can be moved."""
    edges = sum(len(batch.edge_attr) for batch in BATCHES) // len(BATCHES)
    return edges, bytes_moved(NETWORKS["ours"], edges, BATCHES[0].edge_attr.shape[1]), copy_speed()


def store_of(files: list[Path]) -> GraphStore:
    """These graphs, labelled or not, as a store; without a label the loss is that to 0.5."""
    members = [Member(file.parent.name, file.stem, "train", file, sha256(file), file.read_bytes) for file in files]
    with tempfile.TemporaryDirectory() as folder:
        write_pack(Path(folder) / "pack", members)
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
