"""Networks: made from hyper-parameters, read from checkpoints, applied to graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save
from torch import Tensor

from toporank import plugins
from toporank.errors import CheckpointError, ConfigError
from toporank.files.graph_file import Graph
from toporank.learning import published_checkpoint
from toporank.learning.checkpoint import (
    KEY,
    check_installed,
    describe,
    is_of_torch,
    read_description,
    read_of_torch,
    reading,
)
from toporank.learning.contact_columns import fitting_columns
from toporank.learning.contact_network import ContactNet
from toporank.learning.data import GraphBatch, Standardise
from toporank.learning.inference import (
    Predicted,
    checked,
    edges_in_contact,
    mean_by_node,
)
from toporank.learning.network import Architecture, DockQNet, Network
from toporank.learning.shapes import (
    BUILT_IN,
    CONTACT,
    OF_CONTACTS,
    is_scaled,
    shape_of,
    shapes_of,
)

PREFIX = "network."
"""Of the names of weights in a file of Lightning."""


def build_network(
    node_width: int,
    edge_width: int,
    hyperparameters: dict[str, Any],
    features: dict[str, Any] | None,
    edge_columns: Sequence[str] | None = None,
    node_columns: Sequence[str] | None = None,
) -> Network:
    """Return a new network.

    Parameters
    ----------
    node_width, edge_width : int
        Columns of the graphs.
    hyperparameters : dict
        Those of `Hyperparameters`; what does not decide on the weights may be missing.
    features : dict, optional
        Records of the feature modules, which say what the training set scales.
    edge_columns, node_columns : sequence of str, optional
        Names of the columns.

    Returns
    -------
    network : with weights drawn at random

    Raises
    ------
    ConfigError
        Where a plug-in has no such network, or graphs lack a column that it needs.
    """
    shape = shape_of(hyperparameters)
    name = shape.pop("network")
    architecture = Architecture(
        **shape,
        attention_dropout=hyperparameters.get("attention_dropout", 0.0),
        dropout=hyperparameters.get("dropout", 0.0),
    )
    contact = (
        list(edge_columns).index(CONTACT)
        if edge_columns and CONTACT in edge_columns
        else None
    )
    if name == OF_CONTACTS:
        columns = fitting_columns(node_columns or (), edge_columns or ())
        return ContactNet(columns, architecture)
    network = network_class(name)(node_width, edge_width, architecture, contact)
    if architecture.local and network.local_head is None:
        raise ConfigError(
            "does not predict local quality",
            where=f"network {name}",
            remedy="leave `local` and `local_weight` out",
        )
    if is_scaled(features, "nodes"):
        network.scale_nodes = Standardise(node_width)
    if is_scaled(features, "edges"):
        network.scale_edges = Standardise(edge_width)
    return network


def network_class(name: str) -> Callable[..., Network]:
    """Return the class of a network. Raises ConfigError where its package has none."""
    if name == BUILT_IN:
        return DockQNet
    point = plugins.networks()[name]
    network = plugins.load(point)
    if not (isinstance(network, type) and issubclass(network, Network)):
        raise ConfigError(
            f"{point.value} is no network",
            where=f"package {plugins.package(point)}",
            remedy="derive it from toporank.learning.network.Network",
        )
    return network


def load_weights(path: Path | str) -> tuple[Network, dict[str, Any]]:
    """Return the network and the description of a checkpoint, without executing code from it.

    The shapes that the description implies are compared with those of the file before any memory is
    taken for them.

    Parameters
    ----------
    path : of the checkpoint

    Returns
    -------
    network : with its weights, ready to predict
    description : what the file says of itself: features, widths, training, metrics

    Raises
    ------
    CheckpointError : where the file is damaged or its weights do not fit its description

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> from toporank.scorer.scorer import Scorer
    >>> scorer = Scorer.open(repository() / "resources/scorer")
    >>> network, description = load_weights(scorer.checkpoint)
    >>> sorted(description)[:3]
    ['edge_columns', 'edge_width', 'epoch']
    """
    path = Path(path)
    description = read_description(path)
    hyperparameters = description["hyperparameters"]
    check_installed(description, path)
    with torch.device("meta"):  # shapes without numbers
        network = build_network(
            description["node_width"],
            description["edge_width"],
            hyperparameters,
            description.get("features"),
            description.get("edge_columns"),
            description.get("node_columns"),
        )
    shapes = _shapes(network, description)
    with reading(path):
        tensors = _saved_tensors(path)
    try:
        saved = _arrays(tensors)
        if description.get("origin") == published_checkpoint.ORIGIN:
            heads = hyperparameters["heads"]
            theirs = published_checkpoint.published_shapes(shapes, heads)
            state = published_checkpoint.network_weights(checked(saved, theirs), heads)
        else:
            state = checked(saved, shapes)
    except ValueError as error:
        raise CheckpointError(f"weights do not load: {error}", where=path) from error
    weights = {name: torch.from_numpy(array) for name, array in state.items()}
    network.load_state_dict(weights, assign=True)
    return network.requires_grad_().eval(), description


def _shapes(
    network: Network, description: dict[str, Any]
) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the weights of a network, by name."""
    if isinstance(network, DockQNet):
        return shapes_of(description)
    weights = network.state_dict().items()
    return {name: tuple(values.shape) for name, values in weights}


def _saved_tensors(path: Path) -> dict[str, Any]:
    """Return the tensors of a checkpoint by the names of their weights.

    Raises OSError and ValueError.
    """
    if not is_of_torch(path):
        return load_file(path)
    state = read_of_torch(path).get("state_dict")
    state = state if isinstance(state, dict) else {}
    return {str(name).removeprefix(PREFIX): value for name, value in state.items()}


def _arrays(tensors: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the tensors among some values as arrays.

    Raises ValueError where one has fewer numbers than it says.
    """
    arrays = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            continue
        # a file may repeat one number without storing it often
        if tensor.untyped_storage().nbytes() < tensor.numel() * tensor.itemsize:
            raise ValueError(
                f"{name} has fewer numbers than its shape {tuple(tensor.shape)} asks for"
            )
        values = tensor.float() if tensor.is_floating_point() else tensor
        arrays[name] = values.detach().numpy()
    return arrays


def network_bytes(path: Path | str) -> bytes:
    """Return the network of a checkpoint as a scorer has it.

    It is its weights and its description as safetensors.

    The description does not name the commit at which it was trained, so that the same code makes
    the same bytes.

    Raises
    ------
    CheckpointError : as `load_weights`
    """
    network, description = load_weights(path)
    provenance = dict(description.get("provenance", {}))
    provenance.pop("git", None)
    return save(
        network.state_dict(), {KEY: describe({**description, "provenance": provenance})}
    )


class OfTorch:
    """A network of torch that predicts for one graph at a time, as `Inference` does.

    Parameters
    ----------
    network : `Network`, or what has its `predictions`
    """

    def __init__(self, network: Network):
        self.network = network

    @torch.inference_mode()
    def predict(self, graph: Graph) -> Predicted:
        """Return what the network predicts for a graph whose edges are sorted by destination."""
        n_nodes, n_edges = len(graph.x), len(graph.edge_attr)
        batch = GraphBatch(
            x=torch.tensor(graph.x),
            edge_index=torch.tensor(graph.edge_index),
            edge_attr=torch.tensor(graph.edge_attr),
            node_graph=torch.zeros(n_nodes, dtype=torch.int64),
            edge_graph=torch.zeros(n_edges, dtype=torch.int64),
            y=torch.tensor([graph.y]),
            index=torch.zeros(1, dtype=torch.int64),
        )
        output = self.network.predictions(batch)
        score, pooled = output.score.numpy(), output.pooled.numpy()
        if output.edge_logit is None:
            return Predicted(score, None, None, None, pooled)
        quality = torch.sigmoid(output.edge_logit).numpy()
        return Predicted(
            score=score,
            local=None if output.local is None else output.local.numpy(),
            residues=mean_by_node(quality, graph.edge_index[1], n_nodes),
            contacts=quality[edges_in_contact(graph)],
            pooled=pooled,
        )
