"""Networks: made from hyper-parameters, read from checkpoints, applied to graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from toporank.errors import CheckpointError
from toporank.learning import published_checkpoint
from toporank.learning.checkpoint import (
    KEY,
    describe,
    is_of_torch,
    read_description,
    read_of_torch,
    reading,
)
from toporank.learning.data import GraphBatch, GraphStore, Standardise, is_scaled
from toporank.learning.hyperparameters import shape_of
from toporank.learning.network import Architecture, DockQNet, by_destination

PREFIX = "network."
"""Of the names of weights in a file of Lightning."""
LEAST_WEIGHT = 1e-20
"""Weights nearer to zero than this are read as zero. Weight decay leaves thousands of them, which
change no digit of a score; but their products are too small for a processor to hold as usual, and
took half the time of scoring.
"""
CONTACT = "contact"
"""The edge column that says whether residues are in contact."""


def build_network(
    node_width: int,
    edge_width: int,
    hyperparameters: dict[str, Any],
    features: dict[str, Any] | None,
    edge_columns: Sequence[str] | None = None,
) -> DockQNet:
    """Return a new network.

    Parameters
    ----------
    node_width, edge_width : int
        Columns of the graphs.
    hyperparameters : dict
        Those of `Hyperparameters`; what does not decide on the weights may be missing.
    features : dict, optional
        Records of the feature modules, which say what the training set scales.
    edge_columns : sequence of str, optional
        Names of the edge columns.

    Returns
    -------
    network : with weights drawn at random
    """
    architecture = Architecture(
        **shape_of(hyperparameters),
        attention_dropout=hyperparameters.get("attention_dropout", 0.0),
        dropout=hyperparameters.get("dropout", 0.0),
    )
    contact = (
        list(edge_columns).index(CONTACT) if CONTACT in (edge_columns or ()) else None
    )
    network = DockQNet(node_width, edge_width, architecture, contact)
    if is_scaled(features, "nodes"):
        network.scale_nodes = Standardise(node_width)
    if is_scaled(features, "edges"):
        network.scale_edges = Standardise(edge_width)
    return network


def load_weights(path: Path | str) -> tuple[DockQNet, dict[str, Any]]:
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
    with torch.device("meta"):  # shapes without numbers
        network = build_network(
            description["node_width"],
            description["edge_width"],
            hyperparameters,
            description.get("features"),
            description.get("edge_columns"),
        )
    shapes = {
        name: tuple(tensor.shape) for name, tensor in network.state_dict().items()
    }
    with reading(path):
        saved = _saved_tensors(path)
    try:
        if description.get("origin") == published_checkpoint.ORIGIN:
            heads = hyperparameters["heads"]
            theirs = published_checkpoint.published_shapes(shapes, heads)
            state = published_checkpoint.network_weights(_checked(saved, theirs), heads)
        else:
            state = _checked(saved, shapes)
    except ValueError as error:
        raise CheckpointError(f"weights do not load: {error}", where=path) from error
    network.load_state_dict(state, assign=True)
    return network.requires_grad_().eval(), description


def _saved_tensors(path: Path) -> dict[str, Any]:
    """Return the tensors of a checkpoint by the names of their weights.

    Raises OSError and ValueError.
    """
    if not is_of_torch(path):
        return load_file(path)
    state = read_of_torch(path).get("state_dict")
    state = state if isinstance(state, dict) else {}
    return {str(name).removeprefix(PREFIX): value for name, value in state.items()}


def _checked(
    saved: dict[str, Any], shapes: dict[str, tuple[int, ...]]
) -> dict[str, Tensor]:
    """Return the tensors of these names and shapes in float32.

    Raises ValueError where one is not so in the file.
    """
    for name, shape in shapes.items():
        tensor = saved.get(name)
        if not isinstance(tensor, Tensor):
            raise ValueError(f"{name} is missing")
        if tuple(tensor.shape) != shape:
            raise ValueError(
                f"{name} has the shape {tuple(tensor.shape)}, the network needs {shape}"
            )
        # a file may repeat one number without storing it often
        if tensor.untyped_storage().nbytes() < tensor.numel() * tensor.itemsize:
            raise ValueError(
                f"{name} has fewer numbers than its shape {shape} asks for"
            )
        if not tensor.is_floating_point():
            raise ValueError(f"{name} has numbers of type {tensor.dtype}, not float32")
    state = {}
    for name in shapes:
        values = saved[name].float()
        if not torch.isfinite(values).all():
            raise ValueError(f"{name} has values that are not finite numbers")
        state[name] = torch.where(values.abs() < LEAST_WEIGHT, 0.0, values)
    return state


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


def check_fits(
    description: dict[str, Any], store: GraphStore, path: Path | str
) -> None:
    """Raise CheckpointError when a network was trained on graphs of another format or width."""
    ours = {
        "format": store.metadata.get("format"),
        "node_width": store.node_width,
        "edge_width": store.edge_width,
    }
    theirs = {name: description.get(name) for name in ours}
    if theirs != ours:
        what = f"was trained on other graphs: {theirs}, these have {ours}"
        raise CheckpointError(what, where=path)


class Predicted(NamedTuple):
    """score : predicted DockQ, local : mean predicted local quality of the edges, of every graph.

    Both have shape (B,).

    residues : predicted local quality of every node, one graph after another: the mean over the
        edges that point to it, nan where there are none; shape (n,).
    contacts : that of the edges in contact, by graph and destination, (C,); empty where no edge
        column says which these are. All three are None where a network does not predict local
        quality.
    pooled : what the head sees of each graph, (B, k).
    """

    score: Tensor
    local: Tensor | None
    residues: Tensor | None
    contacts: Tensor | None
    pooled: Tensor


@torch.inference_mode()
def predict_all(networks: Sequence[DockQNet], store: GraphStore) -> list[Predicted]:
    """Return what each network predicts for every graph of a store.

    Each graph is a batch of its own, so that its numbers are the same bits whatever else is in the
    store: the order in which a library adds up the products of a row depends on how many rows there
    are.
    """
    if len(store) == 0:
        return [
            Predicted(torch.zeros(0), None, None, None, torch.zeros(0, 0))
            for _ in networks
        ]
    predictions: list[list[Predicted]] = [[] for _ in networks]
    columns = store.metadata.get("edge_columns") or []
    for i in range(len(store)):
        graph = by_destination(store.batch([i]))
        contacts = torch.zeros(0, dtype=torch.int64)
        if CONTACT in columns:
            contacts = torch.nonzero(
                graph.edge_attr[:, columns.index(CONTACT)]
            ).squeeze(1)
        for of_network, network in zip(predictions, networks, strict=True):
            of_network.append(_predicted(network, graph, contacts))
    return [_joined(of_network) for of_network in predictions]


def _predicted(network: DockQNet, graph: GraphBatch, contacts: Tensor) -> Predicted:
    """Return what a network predicts for one graph.

    contacts : places of the edges in contact, (C,).
    """
    output = network.predictions(graph)
    if output.edge_logit is None:
        return Predicted(output.score, None, None, None, output.pooled)
    destination = graph.edge_index[1]
    quality = torch.sigmoid(output.edge_logit)
    total = quality.new_zeros(len(graph.x)).index_add(0, destination, quality)
    residues = total / torch.bincount(destination, minlength=len(total))
    return Predicted(
        output.score, output.local, residues, quality[contacts], output.pooled
    )


def _joined(graphs: Sequence[Predicted]) -> Predicted:
    columns = zip(*graphs, strict=True)
    return Predicted(
        *[None if column[0] is None else torch.cat(column) for column in columns]
    )
