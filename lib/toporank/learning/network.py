"""The network: edge-aware GATv2 layers, means over nodes and edges, and a head that predicts DockQ.

It can also predict the local quality of every edge, which the score then uses.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from toporank.learning.data import GraphBatch
from toporank.learning.kernels import fused
from toporank.learning.kernels.attention import attend, can_loop, update_edges

LEAST_SHARE = 1e-9
"""Least share of edges in contact, so that a graph without contacts has a mean of 0."""


def trained_weights(network: nn.Module) -> list[nn.Parameter]:
    """Return the weights of a network that training changes, in their order."""
    return [weight for weight in network.parameters() if weight.requires_grad]


class Attention(nn.Module):
    """The weights of PyG's `GATv2Conv`, under its names, computed by loops on a CPU.

    Scoring uses it, because PyG takes longer to import than a model takes to score. Training puts
    `message_passing.FusedGATv2Conv` in its place, which runs anywhere.
    """

    def __init__(self, hidden: int, heads: int, dropout: float):
        super().__init__()
        self.dropout = dropout
        self.lin_l = nn.Linear(hidden, heads * hidden)
        self.lin_r = nn.Linear(hidden, heads * hidden)
        self.lin_edge = nn.Linear(hidden, heads * hidden, bias=False)
        self.att = nn.Parameter(torch.empty(1, heads, hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))
        for linear in (self.lin_l, self.lin_r, self.lin_edge):
            nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(self.lin_l.bias)
        nn.init.zeros_(self.lin_r.bias)
        bound = math.sqrt(6 / (heads + hidden))
        nn.init.uniform_(self.att, -bound, bound)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor,
        embedding: nn.Linear | None = None,
    ) -> Tensor:
        """Return the new node vectors; parameters as in `attend`."""
        return attend(self, x, edge_index, edge_attr, embedding)


class EdgeAwareGATv2(nn.Module):
    """One layer: attention over incoming edges, then a new vector for each edge, and ELU of both.

    Heads are averaged. The published edge update (Han et al. 2025) is linear in each head and
    averages the heads too; the average of linear maps is one linear map, so this layer trains one.
    """

    def __init__(self, hidden: int, heads: int, attention_dropout: float):
        super().__init__()
        self.attention = Attention(hidden, heads, attention_dropout)
        self.edge_update = nn.Linear(3 * hidden, hidden)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor,
        embedding: nn.Linear | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return new vectors of nodes (n, hidden) and edges (E, hidden).

        Its parameters are those of `attend`.
        """
        x = self.attention(x, edge_index, edge_attr, embedding)
        if can_loop(x):
            return F.elu(x), update_edges(
                self.edge_update, x, edge_index, edge_attr, embedding
            )
        if isinstance(edge_index, fused.SortedEdges):
            return F.elu(x), fused.update_edges(
                self.edge_update, x, edge_index, edge_attr, embedding
            )
        if embedding is not None:
            edge_attr = embedding(edge_attr)
        source, destination = edge_index
        edge_attr = self.edge_update(
            torch.cat([x[source], x[destination], edge_attr], dim=1)
        )
        return F.elu(x), F.elu(edge_attr)


class LocalHead(nn.Module):
    """Predicts the local quality of edges.

    Both directions of an edge differ in the vector of the edge alone.
    """

    def __init__(self, hidden: int):
        super().__init__()
        self.ends = nn.Linear(3 * hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """Return the logit of each edge, (E,). x : (n, hidden). edge_attr : (E, hidden)."""
        if isinstance(edge_index, fused.SortedEdges):
            source, destination = fused.ends(x, edge_index)
        else:
            source = x.index_select(0, edge_index[0])
            destination = x.index_select(0, edge_index[1])
        of_sum, of_product, of_edge = self.ends.weight.chunk(3, dim=1)
        joined = F.linear(source + destination, of_sum, self.ends.bias)
        joined = (
            joined
            + F.linear(source * destination, of_product)
            + F.linear(edge_attr, of_edge)
        )
        return at_least_single(self.out(F.relu(joined))).squeeze(1)


class NetworkOutput(NamedTuple):
    """What a network predicts for a batch of B graphs.

    score : (B,), DockQ of each graph, between 0 and 1.
    local : (B,), mean local quality of its edges, between 0 and 1; None where the network does not
        predict it.
    edge_logit : (E,), logit of the local quality of each edge, edges sorted by destination; None
        likewise.
    pooled : (B, k), the input of the head. Calibration compares it with that of the training
        decoys.
    """

    score: Tensor
    local: Tensor | None
    edge_logit: Tensor | None
    pooled: Tensor


class Architecture(NamedTuple):
    """What a network is made of.

    Attributes
    ----------
    hidden : width of the vectors of nodes and edges
    heads, layers : attention heads of a layer, and layers
    readout : width of the head
    attention_dropout : share of attention weights that are dropped during training
    dropout : share of the inputs of each layer of the head likewise
    local : whether the network also predicts the local quality of edges. The head then sees its
        mean over all edges, and that over the edges in contact
    """

    hidden: int
    heads: int
    layers: int
    readout: int
    attention_dropout: float = 0.0
    dropout: float = 0.0
    local: bool = False


class Network(nn.Module):
    """What is trained to predict DockQ of graphs; plug-ins derive theirs from it.

    A network is made with the arguments of `DockQNet`. It scales nodes and edges first, which does
    nothing unless the training set scales them.
    """

    def __init__(self) -> None:
        super().__init__()
        # layers are computed again in the backward pass
        self.recompute = False
        # on a GPU, kernels read the weights of several modules at once
        self.fuse = True
        self.scale_nodes: nn.Module = nn.Identity()
        self.scale_edges: nn.Module = nn.Identity()
        # of one that predicts local quality
        self.local_head: nn.Module | None = None

    def predictions(self, batch: GraphBatch) -> NetworkOutput:
        """Return DockQ and, if the network predicts it, local quality."""
        raise NotImplementedError

    def forward(self, batch: GraphBatch) -> Tensor:
        """Return the predicted DockQ of each graph: (B,), between 0 and 1."""
        return self.predictions(batch).score


class DockQNet(Network):
    """Predicts DockQ of interface graphs (Han et al. 2025).

    Parameters
    ----------
    node_width, edge_width : int
        Columns of `x` and `edge_attr`.
    architecture : Architecture
        What it is made of.
    contact : int, optional
        The edge column that is 1 for residues in contact and otherwise 0.

    Examples
    --------
    >>> network = DockQNet(172, 11, Architecture(hidden=32, heads=4, layers=2, readout=32))
    >>> sum(weights.numel() for weights in network.parameters()) > 10_000
    True
    """

    def __init__(
        self,
        node_width: int,
        edge_width: int,
        architecture: Architecture,
        contact: int | None = None,
    ):
        hidden, readout = architecture.hidden, architecture.readout
        super().__init__()
        self.dropout = architecture.dropout
        self.contact = contact
        self.embed_nodes = nn.Linear(node_width, hidden)
        self.embed_edges = nn.Linear(edge_width, hidden)
        self.layers = nn.ModuleList()
        for _ in range(architecture.layers):
            layer = EdgeAwareGATv2(
                hidden, architecture.heads, architecture.attention_dropout
            )
            self.layers.append(layer)
        self.pooled_edges = nn.Linear(hidden, hidden // 2)
        n_local = 0
        if architecture.local:
            n_local = 1 if contact is None else 2
        self.head = nn.Sequential(
            nn.Linear(hidden + hidden // 2 + n_local, readout),
            nn.ReLU(),
            nn.Linear(readout, readout),
            nn.ReLU(),
            nn.Linear(readout, 1),
        )
        if architecture.local:
            self.local_head = LocalHead(hidden)

    def predictions(self, batch: GraphBatch) -> NetworkOutput:
        """Return DockQ and, if the network predicts it, local quality."""
        batch = self._for_kernels(by_destination(batch))
        x, edge_attr = self._layers(batch)
        n_graphs = len(batch.index)
        nodes = graph_means(x, batch.node_graph, n_graphs)
        edges = graph_means(edge_attr, batch.edge_graph, n_graphs)
        edge_logit = (
            None
            if self.local_head is None
            else self.local_head(x, batch.edge_index, edge_attr)
        )
        # The last layers are cheap, and scores of 8 bits would tie: always in single precision.
        with torch.autocast(x.device.type, enabled=False):
            parts = [nodes, self.pooled_edges(edges)]
            if edge_logit is not None:
                parts += self._local_means(edge_logit, batch)
            pooled = torch.cat(parts, dim=1)
            score = pooled
            for layer in self.head:
                if self.dropout and isinstance(layer, nn.Linear):
                    score = F.dropout(score, self.dropout, self.training)
                score = layer(score)
        local = (
            None
            if edge_logit is None
            else pooled[:, -1 if self.contact is None else -2]
        )
        return NetworkOutput(torch.sigmoid(score).squeeze(1), local, edge_logit, pooled)

    def _for_kernels(self, batch: GraphBatch) -> GraphBatch:
        """Return the batch with its edges as the kernels of a GPU want them, where they can."""
        edges = batch.edge_index
        if isinstance(edges, fused.SortedEdges):
            return batch
        if not self.fuse or not fused.can_fuse(batch.x):
            return batch
        layer: Any = self.layers[0]
        _, heads, hidden = layer.attention.att.shape
        if not fused.fits(heads, hidden, batch.edge_attr):
            return batch
        of_kernels: Any = fused.sorted_edges(edges, len(batch.x))
        return batch._replace(edge_index=of_kernels)

    def _layers(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        """Return the vectors of nodes and edges after the last layer."""
        x = self.embed_nodes(self.scale_nodes(batch.x))
        edge_attr = self.scale_edges(batch.edge_attr)
        embedding: nn.Linear | None = self.embed_edges
        for layer in self.layers:
            if self.recompute and self.training:
                x, edge_attr = checkpoint(
                    layer,
                    x,
                    batch.edge_index,
                    edge_attr,
                    embedding,
                    use_reentrant=False,
                )
            else:
                x, edge_attr = layer(x, batch.edge_index, edge_attr, embedding)
            embedding = None
        return x, edge_attr

    def _local_means(self, edge_logit: Tensor, batch: GraphBatch) -> list[Tensor]:
        """Return the mean local quality of all edges and, if known, of those in contact.

        (B, 1) each.
        """
        quality = torch.sigmoid(edge_logit).unsqueeze(1)
        n_graphs = len(batch.index)
        means = [graph_means(quality, batch.edge_graph, n_graphs)]
        if self.contact is not None:
            in_contact = (batch.edge_attr[:, self.contact, None] > 0).to(quality.dtype)
            share = graph_means(in_contact, batch.edge_graph, n_graphs)
            total = graph_means(quality * in_contact, batch.edge_graph, n_graphs)
            means.append(total / share.clamp_min(LEAST_SHARE))
        return means


def by_destination(batch: GraphBatch) -> GraphBatch:
    """Return the batch with its edges sorted by destination, as packs keep them."""
    if isinstance(batch.edge_index, fused.SortedEdges):
        return batch
    destination = batch.edge_index[1]
    if not torch.compiler.is_compiling() and bool(
        (destination[1:] >= destination[:-1]).all()
    ):
        return batch
    order = torch.argsort(destination, stable=True)
    return batch._replace(
        edge_index=batch.edge_index[:, order],
        edge_attr=batch.edge_attr[order],
        edge_graph=batch.edge_graph[order],
        edge_y=None if batch.edge_y is None else batch.edge_y[order],
    )


def at_least_single(values: Tensor) -> Tensor:
    """Return values in single precision or more: bfloat16 counts to 256 only."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def graph_means(values: Tensor, graph: Tensor, n_graphs: int) -> Tensor:
    """Return the mean of the rows of each graph, zero without rows.

    values : (m, k), graph : (m,) → (n_graphs, k).
    """
    values = at_least_single(values)
    if fused.can_fuse(values):
        return fused.graph_means(values, graph, n_graphs)
    if n_graphs == 1 and len(values):
        # ten times as fast, and scoring computes one graph at a time
        return values.mean(dim=0, keepdim=True)
    total = values.new_zeros(n_graphs, values.shape[1]).index_add(0, graph, values)
    count = values.new_zeros(n_graphs).index_add(0, graph, values.new_ones(len(graph)))
    return total / count.clamp(min=1).unsqueeze(1)
