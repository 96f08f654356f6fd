"""The network: edge-aware GATv2 layers, mean pooling of nodes and edges, one score in (0, 1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GATv2Conv
from torch_geometric.utils import scatter

from toporank.pack import GraphBatch

NEGATIVE_SLOPE = 0.2


class EdgeAwareGATv2(nn.Module):
    """One layer: attention over incoming edges, then a new vector for each edge.

    Heads are averaged. The published edge update is linear in each head and averages the heads too; the
    average of linear maps is one linear map, so one is what is trained here.
    """

    def __init__(self, hidden: int, heads: int, attention_dropout: float):
        super().__init__()
        self.attention = GATv2Conv(
            hidden, hidden, heads=heads, concat=False, edge_dim=hidden, dropout=attention_dropout,
            negative_slope=NEGATIVE_SLOPE, add_self_loops=False,
        )  # fmt: skip
        self.edge_update = nn.Linear(3 * hidden, hidden)

    def forward(self, x: Tensor, edge_index: Tensor, edge: Tensor) -> tuple[Tensor, Tensor]:
        """x : (n, hidden), edge_index : (2, E), edge : (E, hidden) → new x and edge of the same shapes."""
        x = self.attention(x, edge_index, edge)
        ends = torch.cat([x[edge_index[0]], x[edge_index[1]], edge], dim=1)
        return x, self.edge_update(ends)


class DockQNet(nn.Module):
    """Predicts DockQ of interface graphs (Han et al. 2025). Input widths come from the data.

    scale_nodes, scale_edges : what is done to the features first; nothing, unless the network's maker puts a
    `toporank.model.scaling.Standardise` there.
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
        n_graphs = len(batch.index)
        x = self.embed_nodes(self.scale_nodes(batch.x))
        edge = self.embed_edges(self.scale_edges(batch.edge_attr))
        for layer in self.layers:
            x, edge = layer(x, batch.edge_index, edge)
            x, edge = F.elu(x), F.elu(edge)
        nodes = scatter(x, batch.node_graph, dim=0, dim_size=n_graphs, reduce="mean")
        edges = scatter(edge, batch.edge_graph, dim=0, dim_size=n_graphs, reduce="mean")
        score = self.head(torch.cat([nodes, self.pooled_edges(edges)], dim=1))
        return torch.sigmoid(score).squeeze(1)
