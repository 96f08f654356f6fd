"""What is done once, after installing: everything that numba compiles is compiled and kept.

One small decoy goes through every stage of a build, and through one training step and one
prediction of a network. So everything is compiled with the very types that real work uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from toporank.errors import ConfigError
from toporank.features.dssp_nodes import NodeTable
from toporank.features.pairs import Edges
from toporank.features.registry import (
    DEFAULT_MODULES,
    FeatureChoice,
    choose,
    modules,
    resolve,
)
from toporank.layout import PACKAGE, repository
from toporank.learning.data import GraphBatch
from toporank.learning.hyperparameters import Hyperparameters
from toporank.learning.network import by_destination
from toporank.learning.weights import build_network
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex
from toporank.workers import n_cores
from toporank_kernels.compilation import cache_folder

LIBRARY = PACKAGE.parent
DECOY = repository() / "resources/example/decoys/1PPE/near1.pdb.gz"
COMPILED = (
    "toporank_kernels",
    "toporank_kernels/persistence",
    "toporank_kernels/kabsch_sander",
    "toporank/learning/kernels",
)
"""The packages with compiled functions, as paths below the library's folder."""


def compile_everything(decoy: Path = DECOY) -> Iterator[str]:
    """Compile everything, part by part; yields the name of each part when it is done.

    decoy : any complex with an interface. Raises ConfigError when it is missing.
    """
    if not decoy.is_file():
        remedy = "install TopoRank again"
        raise ConfigError("the example model is missing", where=decoy, remedy=remedy)
    complex_ = read_complex(decoy)
    choices = resolve({stage: {} for stage in DEFAULT_MODULES})
    residues = choices["interface"](complex_).index
    topology = choices["topology"](complex_, residues)
    yield "persistent homology"
    nodes = choices["nodes"](complex_, residues, topology)
    yield "DSSP"
    edges = _all_edges(choices["edges"], complex_, residues)
    yield "edges"
    _train_and_predict(_batch(nodes, edges))
    yield "network"


def cache_folders() -> list[Path]:
    """Where the compiled code is kept, a folder for each package."""
    return [cache_folder(LIBRARY / package) for package in COMPILED]


def _all_edges(choice: FeatureChoice, complex_: Complex, residues: np.ndarray) -> Edges:
    """Edges by the given module, after those by every other module, which may call other loops."""
    for name, module in modules().items():
        if module.stage == "edges":
            choose("edges", {"module": name})(complex_, residues)
    return choice(complex_, residues)


def _batch(nodes: NodeTable, edges: Edges) -> GraphBatch:
    """A batch of one labelled graph, in the types of a pack."""
    x = torch.from_numpy(nodes.values).float()
    n_edges = edges.index.shape[1]
    batch = GraphBatch(
        x,
        torch.from_numpy(edges.index),
        torch.from_numpy(edges.attributes).float(),
        torch.zeros(len(x), dtype=torch.int64),
        torch.zeros(n_edges, dtype=torch.int64),
        torch.tensor([0.5]),
        torch.tensor([0]),
    )
    return by_destination(batch)


def _train_and_predict(batch: GraphBatch) -> None:
    hyperparameters = Hyperparameters().model_dump()
    network = build_network(
        batch.x.shape[1], batch.edge_attr.shape[1], hyperparameters, None
    )
    torch.nn.functional.mse_loss(network(batch), batch.y).backward()
    with torch.inference_mode():
        network.eval()(batch)


FIRST_WITH_TF32 = (8, 0)
"""Compute capability of the first GPUs that round factors to 10 bits."""


def accelerators() -> list[str]:
    """Return what networks can be trained on here, a line each: name, memory, number formats."""
    lines = [f"CPU: {n_cores()} cores; 32, bf16-mixed"]
    for number in range(torch.cuda.device_count()):
        gpu = torch.cuda.get_device_properties(number)
        with torch.cuda.device(number):
            has_bf16 = torch.cuda.is_bf16_supported(including_emulation=False)
        formats = ["32", "16-mixed"]
        if has_bf16:
            formats.append("bf16-mixed")
        if (gpu.major, gpu.minor) >= FIRST_WITH_TF32:
            formats.append("tf32")
        memory = gpu.total_memory / 2**30
        what = f"GPU {number}: {gpu.name}, {memory:.0f} GiB; {', '.join(formats)}"
        lines.append(f"{what} (training.trainer: {{accelerator: gpu}})")
    if torch.backends.mps.is_available():
        lines.append("GPU of a Mac (training.trainer: {accelerator: mps})")
    return lines
