"""Networks by their hyper-parameters, from checkpoints, and what they predict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from toporank.config.training import SHAPE_KEYS
from toporank.errors import CheckpointError
from toporank.graphs.pack import GraphStore
from toporank.model import topoqa
from toporank.model.checkpoint import description_of, open_checkpoint
from toporank.model.network import DockQNet
from toporank.model.scaling import Standardise, is_scaled
from toporank.torch_files.archive import TorchFile
from toporank.torch_files.pickles import DamagedFileError, SavedTensor

PREFIX = "network."
"""Of the names of weights in a checkpoint of this workflow."""


def build_network(
    node_width: int, edge_width: int, hyperparameters: dict[str, Any], features: dict[str, Any] | None
) -> DockQNet:
    """The network of a hyper-parameter set for graphs of these widths and features (records of the modules)."""
    shape = {key: hyperparameters[key] for key in (*SHAPE_KEYS, "attention_dropout")}
    network = DockQNet(node_width, edge_width, **shape)
    if is_scaled(features, "nodes"):
        network.scale_nodes = Standardise(node_width)
    if is_scaled(features, "edges"):
        network.scale_edges = Standardise(edge_width)
    return network


def load_weights(path: Path | str) -> tuple[DockQNet, dict[str, Any]]:
    """Network and description of a checkpoint, without executing code from it.

    The shapes that the description implies are compared with those of the file before any memory is taken for them.
    Raises CheckpointError when the file is damaged or its weights do not fit its description.
    """
    with open_checkpoint(path) as file:
        description = description_of(file, Path(path))
        hyperparameters = description["hyperparameters"]
        with torch.device("meta"):  # shapes without numbers
            network = build_network(
                description["node_width"], description["edge_width"], hyperparameters, description.get("features")
            )
        shapes = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
        try:
            if description.get("origin") == topoqa.ORIGIN:
                theirs = _state(file, topoqa.published_shapes(shapes, hyperparameters["heads"]))
                state = topoqa.network_weights(theirs, hyperparameters["heads"])
            else:
                ours = _state(file, {f"{PREFIX}{name}": shape for name, shape in shapes.items()})
                state = {name.removeprefix(PREFIX): tensor for name, tensor in ours.items()}
        except (OSError, DamagedFileError) as error:
            raise CheckpointError(f"weights do not load: {error}", where=path) from error
    network.load_state_dict(state, assign=True)
    return network.requires_grad_().eval(), description


def _state(file: TorchFile, shapes: dict[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """The tensors of these names and shapes, in float32. Raises DamagedFileError when one is not so in the file."""
    saved = file.content.get("state_dict")
    saved = saved if isinstance(saved, dict) else {}
    for name, shape in shapes.items():
        found = saved.get(name)
        if not isinstance(found, SavedTensor):
            raise DamagedFileError(f"{name} is missing")
        if found.shape != shape:
            raise DamagedFileError(f"{name} has the shape {found.shape}, the network needs {shape}")
    state = {}
    for name in shapes:
        numbers = file.numbers(saved[name])
        if numbers.dtype.kind != "f":
            raise DamagedFileError(f"{name} has numbers of type {numbers.dtype}, not float32")
        state[name] = torch.from_numpy(numbers.astype(np.float32))
        if not torch.isfinite(state[name]).all():
            raise DamagedFileError(f"{name} has values that are not finite numbers")
    return state


def check_fits(description: dict[str, Any], store: GraphStore, path: Path | str) -> None:
    """Raise CheckpointError when a network was trained on graphs of another format or with other numbers of columns."""
    ours = {"format": store.metadata.get("format"), "node_width": store.node_width, "edge_width": store.edge_width}
    theirs = {name: description.get(name) for name in ours}
    if theirs != ours:
        raise CheckpointError(f"was trained on other graphs: {theirs}, these have {ours}", where=path)


@torch.inference_mode()
def predict(network: DockQNet, store: GraphStore, batch_size: int = 64) -> Tensor:
    """Predicted DockQ of every graph of a store, shape (len(store),)."""
    batches = [list(range(i, min(i + batch_size, len(store)))) for i in range(0, len(store), batch_size)]
    return torch.cat([network(store.batch(indices)) for indices in batches])
