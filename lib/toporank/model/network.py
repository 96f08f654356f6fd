"""The network: edge-aware GATv2 layers, mean pooling of nodes and edges, one score in (0, 1)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from toporank.graphs.pack import GraphBatch
from toporank.model.kernels import Adjacency, attend, join


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


class DockQNet(nn.Module):
    """Predicts DockQ of interface graphs (Han et al. 2025). Input widths come from the data.

    scale_nodes, scale_edges : how the features are scaled first; not at all, unless `scorer.build_network` puts a
    `toporank.model.scaling.Standardise` there.
    recompute : compute layers again in the backward pass instead of keeping their results.
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
    ):
        super().__init__()
        self.recompute = False
        self.scale_nodes: nn.Module = nn.Identity()
        self.scale_edges: nn.Module = nn.Identity()
        self.embed_nodes = nn.Linear(node_width, hidden)
        self.embed_edges = nn.Linear(edge_width, hidden)
        self.layers = nn.ModuleList(EdgeAwareGATv2(hidden, heads, attention_dropout) for _ in range(layers))
        self.pooled_edges = nn.Linear(hidden, hidden // 2)
        self.head = nn.Sequential(
            nn.Linear(hidden + hidden // 2, readout),
            nn.ReLU(),
            nn.Linear(readout, readout),
            nn.ReLU(),
            nn.Linear(readout, 1),
        )

    def forward(self, batch: GraphBatch) -> Tensor:
        """Predicted DockQ of each graph: (B,), between 0 and 1."""
        pooled = self.pooled(batch)
        with torch.autocast(pooled.device.type, enabled=False):  # cheap, and scores of 8 bits would tie
            return torch.sigmoid(self.head(pooled)).squeeze(1)

    def pooled(self, batch: GraphBatch) -> Tensor:
        """What the head sees of each graph: (B, hidden + hidden // 2)."""
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
        nodes = _mean(x, batch.node_graph, len(batch.index))
        edges = _mean(edge, batch.edge_graph, len(batch.index))
        with torch.autocast(x.device.type, enabled=False):
            return torch.cat([nodes, self.pooled_edges(edges)], dim=1)


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
    )


def _mean(values: Tensor, graph: Tensor, n_graphs: int) -> Tensor:
    """Mean of the rows of each graph, zero where there is none. values : (m, k), graph : (m,) → (n_graphs, k).

    In single precision at least: bfloat16 counts to 256 only.
    """
    values = values.to(torch.promote_types(values.dtype, torch.float32))
    total = values.new_zeros(n_graphs, values.shape[1]).index_add(0, graph, values)
    count = values.new_zeros(n_graphs).index_add(0, graph, values.new_ones(len(graph)))
    return total / count.clamp(min=1).unsqueeze(1)
