"""A trained network of contacts predicts without torch. Its layers are those of `ContactNet`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from toporank.files.graph_file import Graph
from toporank.learning.contact_columns import (
    LEAST_AREA,
    LEAST_TOTAL,
    LIMIT,
    Columns,
    TouchingPairs,
    described,
)
from toporank.learning.inference import (
    Predicted,
    Weights,
    edges_in_contact,
    mean_by_node,
    sigmoid,
)
from toporank.metrics import Floats

TINY = 1e-5
"""Added to variances, as `torch.nn.functional.batch_norm` does."""


class ContactInference:
    """A trained network of contacts that predicts.

    Parameters
    ----------
    weights : by the names of `ContactNet`, float32
    description : of the checkpoint, as from `read_description`
    """

    def __init__(self, weights: Weights, description: Mapping[str, Any]):
        self.weights = weights
        self.n_layers = description["hyperparameters"]["layers"]
        self.columns = columns_of(description)

    def predict(self, graph: Graph) -> Predicted:
        """Return what the network predicts for a graph whose edges are sorted by destination."""
        n_nodes = len(graph.x)
        contacts = TouchingPairs.of(
            self.columns, graph.edge_index, graph.edge_attr, n_nodes
        )
        seen = described(
            self.columns,
            contacts=contacts,
            x=graph.x,
            edge_attr=graph.edge_attr,
            node_graph=np.zeros(n_nodes, np.int64),
            n_graphs=1,
        )
        deviation = np.sqrt(self.weights["variance"] + TINY)
        hidden = (seen - self.weights["mean"]) / deviation
        hidden = hidden.clip(-LIMIT, LIMIT)
        for i in range(self.n_layers):
            hidden = np.maximum(self._linear(f"layers.{i}", hidden), 0)
        of_contacts = sigmoid(self._linear("local_head", hidden))
        edge_area = graph.edge_attr[contacts.edge][:, [self.columns.area]]
        area = edge_area.astype(np.float64) ** 2
        by_area = (area * np.column_stack([of_contacts, hidden])).sum(axis=0)
        mean = by_area / max(area.sum(), LEAST_TOTAL)
        native = np.log(by_area[0] + LEAST_AREA)
        numbers = np.array([[mean[0], native]], np.float32)
        # edges between residues that share no surface have the mean
        quality = np.append(of_contacts[:, 0], numbers[0, 0])[contacts.of_edge]
        return Predicted(
            score=sigmoid(self._linear("head", numbers))[:, 0],
            local=numbers[:, 0],
            residues=mean_by_node(quality, graph.edge_index[1], n_nodes),
            contacts=quality[edges_in_contact(graph)],
            pooled=np.append(mean, native)[None].astype(np.float32),
        )

    def _linear(self, name: str, values: Floats) -> Floats:
        return values @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]


def columns_of(description: Mapping[str, Any]) -> Columns:
    """Return the columns that a network of contacts was trained on.

    Raises
    ------
    ValueError : the description lacks one
    """
    return Columns.of(
        description.get("node_columns") or (), description.get("edge_columns") or ()
    )


def contact_shapes(description: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the weights that a description implies, by name.

    Raises
    ------
    ValueError : the description lacks a column
    """
    width = columns_of(description).width
    hyperparameters = description["hyperparameters"]
    shapes: dict[str, tuple[int, ...]] = {}
    for name in ("mean", "variance"):
        shapes[name] = (width,)
    linear = {}
    for i in range(hyperparameters["layers"]):
        linear[f"layers.{i}"] = (hyperparameters["hidden"], width)
        width = hyperparameters["hidden"]
    linear["local_head"] = (1, width)
    linear["head"] = (1, 2)
    for name, (rows, n_columns) in linear.items():
        shapes[f"{name}.weight"] = (rows, n_columns)
        shapes[f"{name}.bias"] = (rows,)
    return shapes
