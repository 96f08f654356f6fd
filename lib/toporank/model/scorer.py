"""Networks by their hyper-parameters, from checkpoints, and what they predict."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from toporank.config.training import SHAPE_KEYS
from toporank.errors import CheckpointError
from toporank.graphs.pack import GraphStore
from toporank.model import topoqa
from toporank.model.checkpoint import read_description
from toporank.model.network import DockQNet
from toporank.model.scaling import Standardise, is_scaled


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

    Raises CheckpointError when it is damaged or its weights do not fit its description.
    """
    description = read_description(path)
    hyperparameters = description["hyperparameters"]
    widths = description["node_width"], description["edge_width"]
    network = build_network(*widths, hyperparameters, description.get("features"))
    try:
        state = torch.load(path, weights_only=True, map_location="cpu")["state_dict"]
        if description.get("origin") == topoqa.ORIGIN:
            weights = topoqa.network_weights(state, hyperparameters["heads"])
        else:
            weights = {key.removeprefix("network."): value for key, value in state.items()}
        network.load_state_dict(weights)
    except (pickle.UnpicklingError, RuntimeError, EOFError, KeyError) as error:
        raise CheckpointError(f"weights do not load: {error}", where=path) from error
    return network.eval(), description


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
