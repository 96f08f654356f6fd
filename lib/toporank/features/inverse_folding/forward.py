"""The forward pass of ProteinMPNN without any sequence: what each residue should be, from the backbone alone.

Written from the description in Dauparas et al. 2022 (doi:10.1126/science.add2187) and the layout of the weights, for a
CPU. Three things save time and change nothing but rounding:

- The first layer of a message is a sum of maps of the node, the edge and the neighbour. Those of nodes are applied
  once for each node, not once for each edge.
- The last layer of a message to a node is applied to the sum of the messages.
- Nodes go through all layers of a message in blocks that stay in the processor's cache.

The decoder sees the encoder's nodes as neighbours, so it computes the wanted residues only.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from toporank.features.inverse_folding.backbone import Backbone, nearest, offsets, radial, with_cb
from toporank.features.inverse_folding.parameters import WIDTH, Layer, Message, Norm, Weights

ROWS = 24
"""Residues of a block."""
MESSAGES = np.float32(30)
"""What sums of messages are divided by."""


class Graph(NamedTuple):
    """Nodes and edges. nodes : float32, (n, `WIDTH`). edges : float32, (n, k, `WIDTH`). near : int, (n, k)."""

    nodes: np.ndarray
    edges: np.ndarray
    near: np.ndarray


class Seen(NamedTuple):
    """What the network says of w residues.

    log_probabilities : of the amino acids `LETTERS`, natural logarithms, float32, (w, 21). embedding : the nodes behind
    the encoder, float32, (w, `WIDTH`).
    """

    log_probabilities: np.ndarray
    embedding: np.ndarray


def seen(residues: Backbone, weights: Weights, wanted: np.ndarray | None = None) -> Seen:
    """What the network says of some residues. wanted : int, (w,), the residues to compute; by default all."""
    wanted = np.arange(len(residues.place)) if wanted is None else wanted
    if not len(wanted):
        return Seen(np.zeros((0, len(weights.letters.bias)), np.float32), np.zeros((0, WIDTH), np.float32))
    graph = encoded(residues, weights, wanted)
    logits = weights.letters(decoded(graph, weights, wanted)).astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return Seen(logits.astype(np.float32), graph.nodes[wanted])


def encoded(residues: Backbone, weights: Weights, wanted: np.ndarray) -> Graph:
    """The graph behind the encoder. Its last layer changes the edges of the wanted residues only, int, (w,)."""
    graph = embedded(residues, weights)
    nodes, every = graph.nodes, np.arange(len(graph.nodes))
    for layer in weights.encoder:
        nodes = passed(layer, graph._replace(nodes=nodes), nodes, every)
        change_edges(layer, graph._replace(nodes=nodes), wanted if layer is weights.encoder[-1] else every)
    return graph._replace(nodes=nodes)


def decoded(graph: Graph, weights: Weights, wanted: np.ndarray) -> np.ndarray:
    """The wanted nodes behind the decoder, float32, (w, `WIDTH`). wanted : int, (w,)."""
    nodes = graph.nodes[wanted]
    for layer in weights.decoder:
        nodes = passed(layer, graph, nodes, wanted)
    return nodes


def embedded(residues: Backbone, weights: Weights) -> Graph:
    """The graph before the encoder: nodes of zeros, and edges that know places and distances."""
    atoms, near = with_cb(residues.xyz), nearest(residues.xyz[:, 1])
    edges = np.empty((*near.shape, WIDTH), np.float32)
    plain = Norm(np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32))  # `parameters.edges` holds scale and shift
    for rows in blocks(np.arange(len(near))):
        block = radial(atoms, rows, near[rows]) @ weights.distances
        block += weights.places[offsets(residues, rows, near[rows]).ravel()]
        normalise(block, plain)
        edges[rows] = weights.edges(block).reshape(len(rows), -1, WIDTH)
    return Graph(np.zeros((len(near), WIDTH), np.float32), edges, near)


def passed(layer: Layer, graph: Graph, nodes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Nodes after a layer, float32, (r, `WIDTH`).

    nodes : float32, (r, `WIDTH`), before it; they are those of `rows`, int, (r,). Neighbours are taken from the graph.
    """
    third, updated = layer.nodes.third, np.empty_like(nodes)
    own, neighbour = layer.nodes.own(nodes), graph.nodes @ layer.nodes.neighbour
    count = graph.near.shape[1]
    for block in blocks(np.arange(len(rows))):
        messages = second_layer(layer.nodes, graph, own[block], neighbour, rows[block])
        total = messages.reshape(len(block), count, WIDTH).sum(axis=1)
        updated[block] = nodes[block] + (total @ third.weight + count * third.bias) / MESSAGES
    normalise(updated, layer.after_messages)
    updated += layer.narrow(activated(updated @ layer.wide.weight, layer.wide.bias))
    return normalise(updated, layer.after_dense)


def change_edges(layer: Layer, graph: Graph, rows: np.ndarray) -> None:
    """Put the edges of some nodes, int, (r,), through the encoder's layer, in their place."""
    own, neighbour = layer.edges.own(graph.nodes[rows]), graph.nodes @ layer.edges.neighbour
    for block in blocks(np.arange(len(rows))):
        messages = layer.edges.third(second_layer(layer.edges, graph, own[block], neighbour, rows[block]))
        messages += graph.edges[rows[block]].reshape(-1, WIDTH)
        graph.edges[rows[block]] = normalise(messages, layer.after_edges).reshape(len(block), -1, WIDTH)


def second_layer(
    message: Message, graph: Graph, own: np.ndarray, neighbour: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Messages of the edges of some nodes, int, (r,), before their third layer; float32, (r * k, `WIDTH`).

    own : float32, (r, `WIDTH`), and neighbour : float32, (n, `WIDTH`), the parts of the first layer that nodes give.
    """
    from toporank.features.kernels.messages import join  # imports numba, which is slow

    first = graph.edges[rows].reshape(-1, WIDTH) @ message.edge
    join(first, own, neighbour, graph.near[rows], _gaussian_integral())
    return activated(first @ message.second.weight, message.second.bias)


def activated(x: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """GELU of x + bias, in the place of x. x : float32, (n, m). bias : float32, (m,)."""
    from toporank.features.kernels.messages import activate  # imports numba, which is slow

    activate(x, bias, _gaussian_integral())
    return x


def normalise(x: np.ndarray, norm: Norm) -> np.ndarray:
    """Rows of x with mean 0 and variance 1, scaled and shifted, in the place of x. x : float32, (n, `WIDTH`)."""
    from toporank.features.kernels.messages import normalise_rows  # imports numba, which is slow

    normalise_rows(x, *norm)
    return x


@functools.cache
def _gaussian_integral() -> np.ndarray:
    from toporank.features.kernels.messages import gaussian_integral  # imports numba, which is slow

    return gaussian_integral()


def blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Portions of `ROWS` rows."""
    return (rows[i : i + ROWS] for i in range(0, len(rows), ROWS))
