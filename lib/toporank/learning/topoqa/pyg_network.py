"""The network in the operations of PyTorch Geometric, in the order in which they were published: slow.

For what has to agree with the published implementation to the last digits: single precision sums depend on their
order, in graphs of thousands of edges up to 1e-5 of the score.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GATv2Conv
from torch_geometric.utils import scatter

from toporank.learning.graphs import GraphBatch
from toporank.learning.network import DockQNet, Prediction


class PlainLayer(nn.Module):
    """PyTorch Geometric's GATv2 and the published edge update: a map for each head, and their mean."""

    def __init__(self, hidden: int, heads: int, attention_dropout: float):
        super().__init__()
        self.attention = GATv2Conv(
            hidden, hidden, heads=heads, concat=False, edge_dim=hidden, dropout=attention_dropout, add_self_loops=False
        )
        self.heads, self.edge_update = heads, nn.Linear(3 * hidden, heads * hidden)

    def forward(self, x: Tensor, edge_index: Tensor, edge: Tensor) -> tuple[Tensor, Tensor]:
        """x : (n, hidden), edge : (E, hidden) → new ones."""
        x = self.attention(x, edge_index, edge)
        ends = torch.cat([x[edge_index[0]], x[edge_index[1]], edge], dim=1)
        return x, self.edge_update(ends).view(len(edge), self.heads, edge.shape[1]).mean(1)


class PlainNetwork(DockQNet):
    """`DockQNet` of such layers. `of` makes one that computes the same as ours."""

    @classmethod
    def of(cls, ours: DockQNet) -> PlainNetwork:
        """With the weights of ours; each head's edge update has those of their mean."""
        attention = ours.layers[0].attention
        _, heads, hidden = attention.att.shape
        plain = cls(
            ours.embed_nodes.in_features,
            ours.embed_edges.in_features,
            hidden=hidden,
            heads=heads,
            layers=len(ours.layers),
            attention_dropout=attention.dropout,
            readout=ours.head[0].out_features,
        )
        plain.scale_nodes, plain.scale_edges = ours.scale_nodes, ours.scale_edges
        plain.layers = nn.ModuleList(PlainLayer(hidden, heads, attention.dropout) for _ in ours.layers)
        state = ours.state_dict()
        for name in state:
            if ".edge_update." in name:
                state[name] = state[name].repeat(heads, *(1,) * (state[name].dim() - 1))
        plain.load_state_dict(state)
        return plain

    def predictions(self, batch: GraphBatch) -> Prediction:
        """DockQ of each graph."""
        x = self.embed_nodes(self.scale_nodes(batch.x))
        edge = self.embed_edges(self.scale_edges(batch.edge_attr))
        for layer in self.layers:
            x, edge = (F.elu(v) for v in layer(x, batch.edge_index, edge))
        n = len(batch.index)
        nodes = scatter(x, batch.node_graph, dim_size=n, reduce="mean")
        edges = scatter(edge, batch.edge_graph, dim_size=n, reduce="mean")
        seen = torch.cat([nodes, self.pooled_edges(edges)], dim=1)
        return Prediction(torch.sigmoid(self.head(seen)).squeeze(1), None, None, seen)
