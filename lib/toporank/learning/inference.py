"""A trained network predicts without torch, which takes longer to import than to score ten models.

The layers are those of `network.DockQNet`, in NumPy and the loops that training uses. A test holds
both to the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import safetensors.numpy

from toporank.errors import CheckpointError
from toporank.files.graph_file import Graph
from toporank.files.packfile import PackedGraphs
from toporank.learning import published_checkpoint
from toporank.learning.checkpoint import is_of_torch, read_description, reading
from toporank.learning.kernels.loops import AttentionWeights, attended, write_edges
from toporank.learning.shapes import (
    BUILT_IN,
    CONTACT,
    OF_CONTACTS,
    shape_of,
    shapes_of,
)
from toporank.metrics import Floats

LEAST_WEIGHT = 1e-20
"""Weights nearer to zero than this are read as zero. Weight decay leaves thousands of them, which
change no digit of a score; but their products are too small for a processor to hold as usual, and
took half the time of scoring.
"""
LEAST_SHARE = 1e-9
"""Least share of edges in contact, so that a graph without contacts has a mean of 0."""

NOTHING = np.zeros(0, np.float32)

Weights = Mapping[str, np.ndarray]


class Predicted(NamedTuple):
    """What a network predicts for one graph, or for several, one after another.

    `local`, `residues` and `contacts` are None where it does not predict local quality.

    Attributes
    ----------
    score : (B,), DockQ of each graph, between 0 and 1
    local : (B,), mean predicted local quality of its edges
    residues : (n,), predicted local quality of every node: the mean over the edges that point to
        it, nan where there are none
    contacts : (C,), that of the edges in contact, by graph and destination; empty where no edge
        column says which these are
    pooled : (B, k), what the head sees of each graph
    """

    score: Floats
    local: Floats | None
    residues: Floats | None
    contacts: Floats | None
    pooled: Floats


class Inference:
    """A trained network that predicts.

    Parameters
    ----------
    weights : by the names of `DockQNet`, float32
    description : of the checkpoint, as from `read_description`
    """

    def __init__(self, weights: Weights, description: Mapping[str, Any]):
        self.weights = weights
        self.n_layers = description["hyperparameters"]["layers"]
        columns = description.get("edge_columns") or []
        self.contact = columns.index(CONTACT) if CONTACT in columns else None
        self.predicts_local = shape_of(description["hyperparameters"])["local"]

    @classmethod
    def open(cls, path: Path, description: Mapping[str, Any]) -> Inference:
        """Return the network of a checkpoint in a safetensors file with its description.

        Raises
        ------
        CheckpointError : the file is damaged, or its weights do not fit its description
        """
        return cls(weights_of(path, description, shapes_of), description)

    @np.errstate(over="ignore", invalid="ignore")
    def predict(self, graph: Graph) -> Predicted:
        """Return what the network predicts for a graph whose edges are sorted by destination."""
        x, edge = self._layers(graph)
        parts = [_mean(x), self._linear("pooled_edges", _mean(edge))]
        quality = None
        if self.predicts_local:
            quality = self._local_quality(x, edge, graph.edge_index)
            parts += self._local_means(quality, graph)
        pooled = np.concatenate(parts, axis=1)
        score = pooled
        for layer in ("head.0", "head.2"):
            score = np.maximum(self._linear(layer, score), 0)
        score = sigmoid(self._linear("head.4", score))[:, 0]
        if quality is None:
            return Predicted(score, None, None, None, pooled)
        return Predicted(
            score=score,
            local=pooled[:, -1 if self.contact is None else -2],
            residues=mean_by_node(quality, graph.edge_index[1], len(x)),
            contacts=quality[edges_in_contact(graph)],
            pooled=pooled,
        )

    def _layers(self, graph: Graph) -> tuple[Floats, Floats]:
        """The vectors of nodes and edges after the last layer."""
        x = self._linear("embed_nodes", self._scaled("scale_nodes", graph.x))
        edge = self._scaled("scale_edges", graph.edge_attr)
        # two linear maps are one: the embedding of edges is part of the first layer
        embedding = "embed_edges"
        for i in range(self.n_layers):
            layer = f"layers.{i}"
            x = self._attended(layer, x, graph.edge_index, edge, embedding)
            edge = self._updated(layer, x, graph.edge_index, edge, embedding)
            elu(x)
            embedding = ""
        return x, edge

    def _attended(
        self,
        layer: str,
        x: Floats,
        edge_index: np.ndarray,
        edge: Floats,
        embedding: str,
    ) -> Floats:
        """What nodes gather from their edges, before the ELU."""
        of = {name: self.weights[f"{layer}.attention.{name}"] for name in ATTENTION}
        w_edge, bias = self._after(embedding, of["lin_edge.weight"], of["lin_r.bias"])
        weights = AttentionWeights(
            w_source=of["lin_l.weight"],
            b_source=of["lin_l.bias"],
            w_destination=of["lin_r.weight"],
            b_destination=bias,
            w_edge=w_edge,
            att=of["att"][0],
        )
        return attended(x, edge_index, edge, weights).out + of["bias"]

    def _updated(
        self,
        layer: str,
        x: Floats,
        edge_index: np.ndarray,
        edge: Floats,
        embedding: str,
    ) -> Floats:
        """The new vectors of edges, after the ELU."""
        weight = self.weights[f"{layer}.edge_update.weight"]
        bias = self.weights[f"{layer}.edge_update.bias"]
        of_source, of_destination, of_edge = np.split(weight, 3, axis=1)
        of_edge, bias = self._after(embedding, of_edge, bias)
        out = np.empty((len(edge), len(weight)), np.float32)
        ends = x @ of_source.T, x @ of_destination.T + bias
        write_edges(*ends, edge_index, edge, of_edge, elu, out)
        return out

    def _after(
        self, embedding: str, weight: Floats, bias: Floats
    ) -> tuple[Floats, Floats]:
        """A linear map of edges after their embedding, if there is one."""
        if not embedding:
            return weight, bias
        first = self.weights[f"{embedding}.weight"], self.weights[f"{embedding}.bias"]
        return weight @ first[0], bias + weight @ first[1]

    def _local_quality(self, x: Floats, edge: Floats, edge_index: np.ndarray) -> Floats:
        """Predicted local quality of each edge, (E,)."""
        source, destination = x[edge_index[0]], x[edge_index[1]]
        weight = self.weights["local_head.ends.weight"]
        of_sum, of_product, of_edge = np.split(weight, 3, axis=1)
        joined = (source + destination) @ of_sum.T + self.weights[
            "local_head.ends.bias"
        ]
        joined += (source * destination) @ of_product.T
        joined += edge @ of_edge.T
        return sigmoid(self._linear("local_head.out", np.maximum(joined, 0)))[:, 0]

    def _local_means(self, quality: Floats, graph: Graph) -> list[Floats]:
        """Mean local quality of all edges and, if known, of those in contact; (1, 1) each."""
        means = [_mean(quality[:, None])]
        if self.contact is not None:
            is_contact = graph.edge_attr[:, self.contact, None] > 0
            share = np.maximum(_mean(is_contact), LEAST_SHARE)
            means.append(_mean(quality[:, None] * is_contact) / share)
        return means

    def _linear(self, name: str, values: Floats) -> Floats:
        return values @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _scaled(self, name: str, values: Floats) -> Floats:
        if f"{name}.mean" not in self.weights:
            return values
        return (values - self.weights[f"{name}.mean"]) / self.weights[f"{name}.sd"]


ATTENTION = (
    "lin_l.weight",
    "lin_l.bias",
    "lin_r.weight",
    "lin_r.bias",
    "lin_edge.weight",
    "att",
    "bias",
)
"""Weights of the attention of a layer."""


def elu(values: Floats) -> None:
    """Apply the exponential linear unit in place."""
    below = np.minimum(values, 0)
    np.exp(below, out=below)
    below -= 1
    np.maximum(values, 0, out=values)
    values += below


def sigmoid(values: Floats) -> Floats:
    """Return 1 / (1 + exp(−values))."""
    return 1 / (1 + np.exp(-values))


def _mean(rows: np.ndarray) -> Floats:
    """The mean of rows, (1, k), zero without rows; summed with twice the digits."""
    if not len(rows):
        return np.zeros((1, rows.shape[1]), np.float32)
    return rows.mean(axis=0, keepdims=True, dtype=np.float64).astype(np.float32)


def mean_by_node(quality: Floats, destination: np.ndarray, n_nodes: int) -> Floats:
    """Return the mean over the edges into each node, nan without any, (n,)."""
    count = np.bincount(destination, minlength=n_nodes)
    total = np.bincount(destination, weights=quality, minlength=n_nodes)
    with np.errstate(invalid="ignore"):
        return (total / count).astype(np.float32)


def edges_in_contact(graph: Graph) -> np.ndarray:
    """Return the places of the edges in contact, none where no column says which these are."""
    columns = graph.metadata.get("edge_columns") or []
    if CONTACT not in columns:
        return np.zeros(0, np.int64)
    return np.flatnonzero(graph.edge_attr[:, columns.index(CONTACT)])


def sorted_by_destination(graph: Graph) -> Graph:
    """Return the graph with its edges sorted by destination, as packs keep them."""
    destination = graph.edge_index[1]
    edge_index = graph.edge_index.astype(np.int64)
    if bool((destination[1:] >= destination[:-1]).all()):
        return graph._replace(edge_index=edge_index)
    order = np.argsort(destination, kind="stable")
    return graph._replace(
        edge_index=edge_index[:, order],
        edge_attr=graph.edge_attr[order],
        edge_y=None if graph.edge_y is None else graph.edge_y[order],
    )


class Predicting(Protocol):
    """A network of any library."""

    def predict(self, graph: Graph) -> Predicted:
        """Return what it predicts for a graph whose edges are sorted by destination."""


def open_network(path: Path) -> tuple[Predicting, dict[str, Any]]:
    """Return the network and the description of a checkpoint.

    Raises
    ------
    CheckpointError : the file is damaged, or its weights do not fit its description
    """
    with reading(path):
        of_torch = is_of_torch(path)
    if not of_torch:
        description = read_description(path)
        network = shape_of(description["hyperparameters"])["network"]
        if network == BUILT_IN:
            return Inference.open(path, description), description
        if network == OF_CONTACTS:
            from toporank.learning.contact_inference import (
                ContactInference,
                contact_shapes,
            )

            weights = weights_of(path, description, contact_shapes)
            return ContactInference(weights, description), description
    # takes a second to import, and the networks of a scorer are no files of torch
    from toporank.learning.weights import OfTorch, load_weights

    network, description = load_weights(path)
    if description.get("origin") == published_checkpoint.ORIGIN:
        from toporank.learning.message_passing import PublishedNetwork
        from toporank.learning.network import DockQNet

        assert isinstance(network, DockQNet)
        network = PublishedNetwork(network).eval()
    return OfTorch(network), description


def predict_all(
    networks: Sequence[Predicting], graphs: PackedGraphs
) -> list[Predicted]:
    """Return what each network predicts for all graphs.

    Each graph is computed alone, so that its numbers are the same bits whatever else is there: the
    order in which a library adds up the products of a row depends on how many rows there are.
    """
    if len(graphs) == 0:
        return [Predicted(NOTHING, None, None, None, NOTHING[:, None])] * len(networks)
    predictions: list[list[Predicted]] = [[] for _ in networks]
    for i in range(len(graphs)):
        graph = sorted_by_destination(graphs.graph(i))
        for of_network, network in zip(predictions, networks, strict=True):
            of_network.append(network.predict(graph))
    return [_joined(of_network) for of_network in predictions]


def _joined(graphs: Sequence[Predicted]) -> Predicted:
    columns = zip(*graphs, strict=True)
    return Predicted._make(
        None if column[0] is None else np.concatenate(column) for column in columns
    )


# ---- the weights of a checkpoint -----------------------------------------------------------------


def weights_of(
    path: Path,
    description: Mapping[str, Any],
    shapes: Callable[[Mapping[str, Any]], Mapping[str, tuple[int, ...]]],
) -> dict[str, np.ndarray]:
    """Return the weights in a safetensors file.

    shapes : from a description to the shapes of its weights; may raise ValueError

    Raises
    ------
    CheckpointError : the file is damaged, or its weights do not fit its description
    """
    with reading(path):
        saved = _arrays(path)
    try:
        return checked(saved, shapes(description))
    except ValueError as error:
        raise CheckpointError(f"weights do not load: {error}", where=path) from error


def _arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        return safetensors.numpy.load_file(path)
    except (TypeError, AttributeError) as error:
        raise ValueError("its numbers are of a type that NumPy lacks") from error


def checked(
    saved: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, np.ndarray]:
    """Return the arrays of these names and shapes in float32.

    Raises
    ------
    ValueError : one is not so in the file
    """
    weights = {}
    for name, shape in shapes.items():
        array = saved.get(name)
        if array is None:
            raise ValueError(f"{name} is missing")
        if array.shape != shape:
            raise ValueError(
                f"{name} has the shape {array.shape}, the network needs {shape}"
            )
        if array.dtype.kind != "f":
            raise ValueError(f"{name} has numbers of type {array.dtype}, not float32")
        values = array.astype(np.float32)
        if not np.isfinite(values).all():
            raise ValueError(f"{name} has values that are not finite numbers")
        weights[name] = np.where(np.abs(values) < LEAST_WEIGHT, np.float32(0), values)
    return weights
