"""Training on a GPU, end to end, against PyTorch Geometric: graphs a second.

    PYTHONPATH=lib python benchmarks/bench_gpu.py [PACK]

`ours` is what `toporank train` does with `trainer: {accelerator: gpu}`: epochs of a run, from the
order of the graphs to the loss of the last one, the first epoch left out. The pack is taken several
times, so that an epoch has many steps. `PyG` is PyTorch Geometric's `DataLoader` with four workers
and pinned memory, and the published network. It also says how far the kernels are from PyTorch
Geometric's layer in double precision, and how far that is in single precision.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np
import torch
from torch.nn import functional as F
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from toporank.files.packfile import PackedGraphs
from toporank.learning import fit, resident
from toporank.learning.data import GraphBatch, GraphStore
from toporank.learning.hardware import Hardware
from toporank.learning.hyperparameters import Hyperparameters, Selection
from toporank.learning.message_passing import PublishedNetwork, with_message_passing
from toporank.learning.network import DockQNet
from toporank.learning.run import Run
from toporank.learning.splits import split_indices
from toporank.learning.weights import build_network

EXAMPLE = Path("results/example/graphs.safetensors")
SIZES = (32, 256, 1024)
GRAPHS = 20_480
"""Graphs of an epoch."""
EPOCHS = 4
PYG_STEPS = {32: 120, 256: 40, 1024: 16}
WORKERS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pack", type=Path, nargs="?", default=EXAMPLE)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--precision", nargs="+", default=["32-true"])
    parser.add_argument("--out", type=Path, help="JSON file of the numbers")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("this needs a GPU that PyTorch can use")
    graphs = PackedGraphs.open([args.pack])
    found = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    found["graph"] = sizes_of(GraphStore.of(graphs))
    found["errors"] = errors(GraphStore.of(graphs))
    print(json.dumps(found), flush=True)
    print("| batch | " + " | ".join(args.precision) + " | PyG | times |")
    for size in args.sizes:
        rates = {}
        for precision in args.precision:
            rates[precision] = ours(graphs, size, precision)
        rates["PyG"] = pyg(GraphStore.of(graphs), size)
        found[str(size)] = rates
        times = rates[args.precision[0]]["steps"] / rates["PyG"]
        cells = [f"{rates[name]['steps']:,.0f}" for name in args.precision]
        cells += [f"{rates['PyG']:,.0f}", f"{times:.1f} ×"]
        print(f"| {size} | " + " | ".join(cells) + " |", flush=True)
        if args.out:
            args.out.write_text(json.dumps(found, indent=1))


def sizes_of(store: GraphStore) -> dict[str, float]:
    """Mean nodes, edges and columns of the graphs."""
    n_edges = sum(len(part["edge_attr"]) for part in store.parts) / len(store)
    return {
        "graphs": len(store),
        "nodes": float(store.n_nodes.mean()),
        "edges": n_edges,
        "node columns": store.node_width,
        "edge columns": store.edge_width,
    }


def ours(graphs: PackedGraphs, size: int, precision: str) -> dict[str, float]:
    """Graphs a second: of the steps of an epoch alone, and of whole epochs with validation."""
    training = split_indices(graphs, "train")
    many = np.resize(training, GRAPHS)
    some = graphs.some(np.concatenate([many, split_indices(graphs, "val")]))
    hyperparameters = Hyperparameters(
        batch_size=size, accumulate=1, max_epochs=EPOCHS, learning_rate=0.001
    )
    hardware = Hardware(trainer={"accelerator": "gpu", "precision": precision})
    run = Run(
        "bench", 1, hyperparameters, Selection(), None, (), hardware
    )  # fmt: skip
    seconds, starts = [], []
    step = resident.ResidentTraining.training_step

    def timed(module, order, number):
        starts.append(time.perf_counter())
        step(module, order, number)
        seconds.append(time.perf_counter() - starts[-1])

    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(resident.ResidentTraining, "training_step", timed),
    ):
        fit.fit(run, some, {}, Path(folder), 1)
        losses = fit.epoch_table(Path(folder))["train_loss"].tolist()
    return {
        "steps": GRAPHS / median(seconds[1:]),
        "epochs": GRAPHS / median(np.diff(starts)[1:]),
        "first epoch, s": seconds[0],
        "losses": losses,
    }


def pyg(store: GraphStore, size: int) -> float:
    """Graphs a second of PyTorch Geometric's loader and the published network."""
    data = []
    for i in range(len(store)):
        b = store.batch([i])
        data.append(Data(x=b.x, edge_index=b.edge_index, edge_attr=b.edge_attr, y=b.y))
    n_steps = PYG_STEPS.get(size, 16)
    order = np.random.default_rng(0).integers(0, len(data), (n_steps + 4) * size)
    network = PublishedNetwork(new_network(store)).cuda().train()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.001, fused=True)
    batches = DataLoader(
        [data[i] for i in order],
        batch_size=size,
        num_workers=WORKERS,
        pin_memory=True,
    )
    begin = 0.0
    for number, batch in enumerate(on_gpu(batches)):
        if number == 3:  # workers have started, and libraries have made room
            torch.cuda.synchronize()
            begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        F.mse_loss(network(batch), batch.y).backward()
        optimizer.step()
    torch.cuda.synchronize()
    return (len(order) - 3 * size) / (time.perf_counter() - begin)


def on_gpu(batches: DataLoader) -> Iterator[GraphBatch]:
    """Batches of PyTorch Geometric as ours, on the GPU."""
    for batch in batches:
        b = batch.to("cuda", non_blocking=True)
        yield GraphBatch(
            b.x,
            b.edge_index,
            b.edge_attr,
            b.batch,
            b.batch[b.edge_index[0]],
            b.y,
            torch.arange(b.num_graphs, device="cuda"),
        )


def new_network(store: GraphStore, **keys: float) -> DockQNet:
    """The default network for these graphs."""
    torch.manual_seed(0)
    return build_network(
        store.node_width,
        store.edge_width,
        {**Hyperparameters().model_dump(), **keys},
        store.metadata.get("features"),
        store.metadata.get("edge_columns"),
    )


def errors(store: GraphStore) -> dict[str, list[float]]:
    """How far ours, PyG's layer, and that in double precision are apart, without dropout."""
    batch = store.batch(list(range(min(128, len(store)))))
    batch = GraphBatch(*[None if t is None else t.cuda() for t in batch])
    network = new_network(store, attention_dropout=0.0)
    network = with_message_passing(network).cuda().train()
    double = {
        name: tensor.double()
        for name, tensor in batch._asdict().items()
        if tensor is not None and tensor.is_floating_point()
    }
    network.fuse = False
    network.double()
    exact = outcome(network, batch._replace(**double))
    network.float()
    single = outcome(network, batch)
    network.fuse = True
    ours = outcome(network, batch)
    return {
        "ours to PyG": distance(single, ours),
        "ours to double": distance(exact, ours),
        "PyG to double": distance(exact, single),
    }


def distance(expected: list[torch.Tensor], found: list[torch.Tensor]) -> list[float]:
    """Largest difference of scores, and of gradients relative to the largest of their weights."""
    largest = max(gradient.abs().max() for gradient in expected[1:])
    differences = [
        (a - b).abs().max().item() for a, b in zip(expected, found, strict=True)
    ]
    return [differences[0], max(differences[1:]) / largest.item()]


def outcome(network: DockQNet, batch: GraphBatch) -> list[torch.Tensor]:
    """Scores, and the gradient of each weight."""
    network.zero_grad()
    score = network(batch)
    F.mse_loss(score, batch.y).backward()
    return [score.detach(), *[weight.grad.clone() for weight in network.parameters()]]


if __name__ == "__main__":
    main()
