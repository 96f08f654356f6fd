"""Small random graphs, packs of them, and training runs of seconds."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from toporank.building.packing import Member, write_pack
from toporank.features.pairs import Edges
from toporank.files.graph_file import graph_bytes
from toporank.learning.data import GraphStore
from toporank.learning.hyperparameters import Hyperparameters, Selection
from toporank.learning.network import DockQNet
from toporank.learning.run import Run

torch.set_num_threads(1)

NODE_WIDTH, EDGE_WIDTH = 5, 3
METADATA = {
    "format": 1,
    "features": {
        "interface": {"module": "interface/ca_cutoff/v1", "cutoff": 10.0},
        "topology": {"module": "topology/persistence/v1"},
        "nodes": {"module": "nodes/dssp_topology/v1", "scaling": "per_decoy"},
        "edges": {"module": "edges/legacy_v11"},
    },
    "node_columns": [f"n{i}" for i in range(NODE_WIDTH)],
    "edge_columns": [f"e{i}" for i in range(EDGE_WIDTH)],
}
SMALL = {
    "hidden": 8, "heads": 2, "layers": 1, "readout": 8, "batch_size": 4, "accumulate": 2, "max_epochs": 4,
    "learning_rate": 0.02,
}  # fmt: skip
"""Hyper-parameters of a network that trains in a blink."""


def random_graph(
    seed: int,
    *,
    nodes: int | None = None,
    edges: int | None = None,
    widths: tuple[int, int] = (NODE_WIDTH, EDGE_WIDTH),
    dockq: float | None = None,
    metadata: dict[str, Any] | None = METADATA,
) -> Data:
    """A graph whose every number is random; labelled when `dockq` is given."""
    draw = np.random.default_rng(seed)
    n, e = (
        nodes or int(draw.integers(3, 9)),
        int(draw.integers(4, 14)) if edges is None else edges,
    )
    graph = Data(
        x=torch.from_numpy(draw.normal(size=(n, widths[0]))).float(),
        edge_index=torch.from_numpy(draw.integers(0, n, size=(2, e))),
        edge_attr=torch.from_numpy(draw.normal(size=(e, widths[1]))).float(),
    )
    if dockq is not None:
        graph.y = torch.tensor([dockq], dtype=torch.float32)
    graph.metadata = {**(metadata or {}), "residues": [f"A:{i}" for i in range(n)]}
    return graph


def decoy_graph(
    nodes: np.ndarray, edges: Edges, metadata: dict[str, Any], residues: list[str]
) -> Data:
    """The graph of a decoy without label, from its features."""
    graph = Data(
        torch.from_numpy(nodes).float(),
        torch.from_numpy(edges.index),
        torch.from_numpy(edges.attributes).float(),
    )
    graph.metadata = {**metadata, "residues": residues}
    return graph


def file_content(graph: Data) -> bytes:
    """A graph as the reuse store keeps it."""
    arrays = (graph[name].numpy() for name in ("x", "edge_index", "edge_attr"))
    return graph_bytes(
        *arrays, None if graph.y is None else graph.y.item(), graph.metadata
    )


def members(folder: Path, graphs: dict[tuple[str, str, str], Data]) -> list[Member]:
    """Each graph of (target, decoy, split) → graph as `write_pack` asks for it. folder : only a
    part of their names.
    """
    found = []
    for (target, decoy, split), graph in graphs.items():
        content, path = file_content(graph), folder / f"{target}_{decoy}.pt"
        found.append(
            Member(
                target,
                decoy,
                split,
                path,
                hashlib.sha256(content).hexdigest(),
                partial(bytes, content),
            )
        )
    return found


def packed(path: Path, graphs: dict[tuple[str, str, str], Data]) -> Path:
    """A pack of graphs."""
    write_pack(path, members(path.with_suffix(".graphs"), graphs))
    return path


def labelled(seed: int, **other: Any) -> Data:
    """A graph whose label is a simple function of its nodes, so that there is something to
    learn.
    """
    graph = random_graph(seed, **other)
    graph.y = torch.sigmoid(3 * graph.x.mean()).reshape(1)
    return graph


def training_graphs(
    *, train: int = 3, val: int = 2, decoys: int = 6, seed: int = 0, **other: Any
) -> dict[tuple[str, str, str], Data]:
    """`train` + `val` targets with labelled decoys each."""
    targets = [(f"T{i}", "train") for i in range(train)] + [
        (f"V{i}", "val") for i in range(val)
    ]
    return {
        (target, f"d{d}", split): labelled(1000 * seed + 100 * t + d, **other)
        for t, (target, split) in enumerate(targets)
        for d in range(decoys)
    }


def training_pack(path: Path, **other: Any) -> Path:
    """A pack with a train and a val split."""
    return packed(path, training_graphs(**other))


def local_pack(path: Path, graphs: dict[tuple[str, str, str], Data]) -> Path:
    """A pack whose edges are good where their first number is above 0, which is known of all but
    the first graph.
    """
    table = members(path.with_suffix(".graphs"), graphs)
    table[1:] = [member._replace(quality_sha256="known") for member in table[1:]]
    write_pack(
        path,
        table,
        quality=lambda _, graph: (graph.edge_attr[:, 0] > 0).astype(np.float32),
    )
    return path


def small_run(
    name: str = "run", seed: int = 1, *, parent: Path | None = None, **other: Any
) -> Run:
    """A run with small hyper-parameters; `minimum_delta` and the like go to the selection."""
    selection = {
        key: other.pop(key) for key in list(other) if key in Selection.model_fields
    }
    return Run(
        name,
        seed,
        Hyperparameters(**{**SMALL, **other}),
        Selection(**selection),
        parent,
    )


PROGRAM = """
import json, sys
from pathlib import Path
sys.modules.update(dict.fromkeys(filter(None, sys.argv[1].split(","))))
from toporank.learning.run import Run
from toporank.learning.train import TrainingGraphs, train_run
parameters, pack, output, store, threads = sys.argv[2:]
run = Run.parse("run", json.loads(parameters), None)
train_run(run, TrainingGraphs([Path(pack)]), int(threads), Path(output), Path(store))
"""


def train_in_a_process(
    run: Run, pack: Path, output: Path, *, threads: int = 1, without: str = ""
) -> subprocess.CompletedProcess:
    """Train as a job does, in a process of its own.

    The store lies beside the output. without : packages that cannot be imported, with commas.
    """
    parameters = {
        "seed": run.seed,
        "hyperparameters": run.hyperparameters.model_dump(),
        "selection": run.selection.model_dump(),
        "hardware": run.hardware.model_dump(),
    }
    output = output.resolve()
    script = output.with_suffix(".py")
    script.write_text(PROGRAM)
    words = [json.dumps(parameters), pack, output, output.parent / "store", threads]
    return subprocess.run(
        [sys.executable, script, without, *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
        timeout=300,
    )


class Evil:
    """Makes a folder when unpickled."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


@torch.inference_mode()
def predict(network: DockQNet, store: GraphStore) -> torch.Tensor:
    """Predicted DockQ of every graph of a store, (len(store),), each by itself."""
    return torch.cat([network(store.batch([i])) for i in range(len(store))])
