"""What every network does, and ours: edge-aware GATv2 layers, mean pooling of nodes and edges, one score in (0, 1).

Ours can learn the local quality of every edge beside it, and the score then uses that.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from toporank.learning.graphs import GraphBatch
from toporank.learning.kernels.attention import Adjacency, attend, join

LEAST_SHARE = 1e-9
"""Of edges in contact, so that a graph without any has a mean of 0."""


class Attention(nn.Module):
    """Parameters of a GATv2 convolution with edge vectors, named and initialised as in PyTorch Geometric."""

    def __init__(self, hidden: int, heads: int, dropout: float):
        super().__init__()
        self.dropout = dropout
        self.lin_l, self.lin_r = nn.Linear(hidden, heads * hidden), nn.Linear(hidden, heads * hidden)
        self.lin_edge = nn.Linear(hidden, heads * hidden, bias=False)
        self.att = nn.Parameter(torch.empty(1, heads, hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))
        for linear in (self.lin_l, self.lin_r, self.lin_edge):
            nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(self.lin_l.bias)
        nn.init.zeros_(self.lin_r.bias)
        bound = math.sqrt(6 / (heads + hidden))
        nn.init.uniform_(self.att, -bound, bound)

    def forward(self, x: Tensor, adjacency: Adjacency, edge: Tensor, embedding: nn.Linear | None = None) -> Tensor:
        """x : (n, hidden), edge : (E, k) → (n, hidden). The embedding, if any, takes edges to (E, hidden)."""
        weight, ends = self.lin_edge.weight, self.lin_r.bias
        if embedding is not None:  # two linear maps are one
            weight, ends = weight @ embedding.weight, ends + weight @ embedding.bias
        keep = None
        if self.training and self.dropout > 0:
            keep = F.dropout(edge.new_ones(len(edge), self.att.shape[1]), self.dropout)
        maps = (self.lin_l.weight, self.lin_l.bias), (self.lin_r.weight, ends)
        return attend(x, *maps, edge, weight, self.att[0], keep, adjacency) + self.bias


class EdgeAwareGATv2(nn.Module):
    """One layer: attention over incoming edges, then a new vector for each edge, and ELU of both.

    Heads are averaged. The published edge update is linear in each head and averages the heads too; the
    average of linear maps is one linear map, so one is what is trained here.
    """

    def __init__(self, hidden: int, heads: int, attention_dropout: float):
        super().__init__()
        self.attention = Attention(hidden, heads, attention_dropout)
        self.edge_update = nn.Linear(3 * hidden, hidden)

    def forward(
        self, x: Tensor, adjacency: Adjacency, edge: Tensor, embedding: nn.Linear | None = None
    ) -> tuple[Tensor, Tensor]:
        """x : (n, hidden), edge : (E, k) → new x and edge, (n, hidden) and (E, hidden).

        embedding : linear map of edges to (E, hidden) that comes first; none where k is hidden already.
        """
        x = self.attention(x, adjacency, edge, embedding)
        of_source, of_destination, of_edge = self.edge_update.weight.chunk(3, dim=1)
        bias = self.edge_update.bias
        if embedding is not None:
            of_edge, bias = of_edge @ embedding.weight, bias + of_edge @ embedding.bias
        edge = join(x @ of_source.T, F.linear(x, of_destination, bias), edge, of_edge, adjacency)
        return F.elu(x), edge


class LocalHead(nn.Module):
    """Predicts the local quality of edges; both directions of an edge differ in the vector of the edge alone."""

    def __init__(self, hidden: int):
        super().__init__()
        self.ends, self.out = nn.Linear(3 * hidden, hidden), nn.Linear(hidden, 1)

    def forward(self, x: Tensor, adjacency: Adjacency, edge: Tensor) -> Tensor:
        """x : (n, hidden), edge : (E, hidden) → logit of each edge, (E,), in single precision at least."""
        source, destination = (x.index_select(0, nodes) for nodes in (adjacency.source, adjacency.destination))
        of_sum, of_product, of_edge = self.ends.weight.chunk(3, dim=1)
        joined = F.linear(source + destination, of_sum, self.ends.bias)
        joined = joined + F.linear(source * destination, of_product) + F.linear(edge, of_edge)
        return _exact(self.out(F.relu(joined))).squeeze(1)


class Prediction(NamedTuple):
    """What a network says of a batch.

    score : (B,), DockQ of each graph, between 0 and 1. local : (B,), mean local quality of its edges, between 0 and 1.
    edge_logit : (E,), that of each edge, as a logit, edges sorted by destination. These two are None where the
    network does not predict them. pooled : (B, k), what the score of each graph is made of: by this, a calibration
    tells which decoys are unlike those it knows.
    """

    score: Tensor
    local: Tensor | None
    edge_logit: Tensor | None
    pooled: Tensor


class Network(nn.Module, ABC):
    """Base of all networks: `predictions` of a batch is what a network has to define.

    scale_nodes, scale_edges : how the features are scaled first; not at all, unless `scorer.build_network` puts a
    `toporank.learning.standardising.Standardise` there.
    recompute : compute layers again in the backward pass instead of keeping their results.
    local_head : None in a network that does not predict the local quality of edges.
    """

    def __init__(self) -> None:
        super().__init__()
        self.recompute = False
        self.scale_nodes: nn.Module = nn.Identity()
        self.scale_edges: nn.Module = nn.Identity()
        self.local_head: nn.Module | None = None

    def compile(self, **options: Any) -> None:
        """As that of every module; it is `predictions` that is compiled, which training calls."""
        self.predictions = torch.compile(self.predictions, **options)

    def forward(self, batch: GraphBatch) -> Tensor:
        """Predicted DockQ of each graph: (B,), between 0 and 1."""
        return self.predictions(batch).score

    @abstractmethod
    def predictions(self, batch: GraphBatch) -> Prediction:
        """DockQ and, if the network predicts it, local quality, in one pass."""


class DockQNet(Network):
    """Predicts DockQ of interface graphs (Han et al. 2025). Input widths come from the data.

    local : whether it predicts the local quality of edges, too; the head then also sees its mean over all edges and,
    where `contact` is the edge column that is 1 for residues in contact and otherwise 0, over these.
    dropout : of what each layer of the head takes, during training.
    """

    def __init__(
        self,
        node_width: int,
        edge_width: int,
        *,
        hidden: int,
        heads: int,
        layers: int,
        attention_dropout: float,
        readout: int,
        dropout: float = 0.0,
        local: bool = False,
        contact: int | None = None,
    ):
        super().__init__()
        self.dropout, self.contact = dropout, contact
        self.embed_nodes = nn.Linear(node_width, hidden)
        self.embed_edges = nn.Linear(edge_width, hidden)
        self.layers = nn.ModuleList(EdgeAwareGATv2(hidden, heads, attention_dropout) for _ in range(layers))
        self.pooled_edges = nn.Linear(hidden, hidden // 2)
        self.head = nn.Sequential(
            nn.Linear(hidden + hidden // 2 + local * (1 if contact is None else 2), readout),
            nn.ReLU(),
            nn.Linear(readout, readout),
            nn.ReLU(),
            nn.Linear(readout, 1),
        )
        if local:
            self.local_head = LocalHead(hidden)

    def predictions(self, batch: GraphBatch) -> Prediction:
        """DockQ and, if the network predicts it, local quality, in one pass."""
        seen, edge_logit = self._seen(batch)
        with torch.autocast(seen.device.type, enabled=False):  # cheap, and scores of 8 bits would tie
            score = seen
            for layer in self.head:
                if self.dropout and isinstance(layer, nn.Linear):
                    score = F.dropout(score, self.dropout, self.training)
                score = layer(score)
            local = None if edge_logit is None else seen[:, -1 if self.contact is None else -2]
            return Prediction(torch.sigmoid(score).squeeze(1), local, edge_logit, seen)

    def _seen(self, batch: GraphBatch) -> tuple[Tensor, Tensor | None]:
        """What the head sees of each graph, (B, hidden + hidden // 2) and one or two means of the local quality.

        Beside it the logit of the local quality of each edge by destination.
        """
        batch = by_destination(batch)
        adjacency = Adjacency.of(batch.edge_index, len(batch.x))
        x, edge = self.embed_nodes(self.scale_nodes(batch.x)), self.scale_edges(batch.edge_attr)
        embedding = self.embed_edges
        for layer in self.layers:
            if self.recompute and self.training:
                x, edge = checkpoint(layer, x, adjacency, edge, embedding, use_reentrant=False)
            else:
                x, edge = layer(x, adjacency, edge, embedding)
            embedding = None
        nodes = graph_means(x, batch.node_graph, len(batch.index))
        edges = graph_means(edge, batch.edge_graph, len(batch.index))
        logit = self.local_head(x, adjacency, edge) if self.local_head else None
        with torch.autocast(x.device.type, enabled=False):
            pooled = [nodes, self.pooled_edges(edges), *([] if logit is None else self._local_means(logit, batch))]
            return torch.cat(pooled, dim=1), logit

    def _local_means(self, logit: Tensor, batch: GraphBatch) -> list[Tensor]:
        """Mean local quality of the edges of each graph and, where they are known, of those in contact: (B, 1) each."""
        quality, n_graphs = torch.sigmoid(logit).unsqueeze(1), len(batch.index)
        means = [graph_means(quality, batch.edge_graph, n_graphs)]
        if self.contact is not None:
            weight = (batch.edge_attr[:, self.contact, None] > 0).to(quality.dtype)
            share = graph_means(weight, batch.edge_graph, n_graphs)
            means.append(graph_means(quality * weight, batch.edge_graph, n_graphs) / share.clamp_min(LEAST_SHARE))
        return means


def by_destination(batch: GraphBatch) -> GraphBatch:
    """The batch with its edges sorted by destination, as packs keep them."""
    destination = batch.edge_index[1]
    if not torch.compiler.is_compiling() and bool((destination[1:] >= destination[:-1]).all()):
        return batch
    order = torch.argsort(destination, stable=True)
    return batch._replace(
        edge_index=batch.edge_index[:, order],
        edge_attr=batch.edge_attr[order],
        edge_graph=batch.edge_graph[order],
        edge_y=None if batch.edge_y is None else batch.edge_y[order],
    )


def _exact(values: Tensor) -> Tensor:
    """In single precision at least: bfloat16 counts to 256 only."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def graph_means(values: Tensor, graph: Tensor, n_graphs: int) -> Tensor:
    """Mean of the rows of each graph, zero where there is none. values : (m, k), graph : (m,) → (n_graphs, k)."""
    values = _exact(values)
    if n_graphs == 1 and len(values):
        return values.mean(dim=0, keepdim=True)  # ten times as fast, and scoring computes one graph at a time
    total = values.new_zeros(n_graphs, values.shape[1]).index_add(0, graph, values)
    count = values.new_zeros(n_graphs).index_add(0, graph, values.new_ones(len(graph)))
    return total / count.clamp(min=1).unsqueeze(1)
