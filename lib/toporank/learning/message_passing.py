"""The network in PyTorch Geometric.

That is what is trained, and the published network that ours is compared with.

Importing this module imports PyTorch Geometric, which takes seconds; scoring does not need it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GATv2Conv
from torch_geometric.utils import scatter

from toporank.learning.data import GraphBatch
from toporank.learning.kernels import fused
from toporank.learning.kernels.attention import attend, can_loop
from toporank.learning.network import Attention, DockQNet, Network, NetworkOutput


class FusedGATv2Conv(GATv2Conv):
    """PyG's GATv2 message passing with edge vectors, averaged over heads.

    Loops compute it where they can.

    A drop-in for `GATv2Conv(hidden, hidden, heads, concat=False, edge_dim=hidden,
    add_self_loops=False)` for edges that are sorted by destination. In bfloat16 on a CPU, inside
    `torch.compile` and where Triton is missing it is PyG's own.

    Parameters
    ----------
    hidden : int
        Width of node and edge vectors.
    heads : int
        Attention heads.
    dropout : float
        Share of attention weights that are dropped during training.

    Examples
    --------
    >>> import torch
    >>> layer = FusedGATv2Conv(hidden=8, heads=2, dropout=0.0)
    >>> edges = torch.tensor([[1, 0], [0, 1]])  # sorted by destination
    >>> layer(torch.zeros(2, 8), edges, torch.zeros(2, 8))[0].shape
    torch.Size([8])
    """

    def __init__(self, hidden: int, heads: int, dropout: float):
        super().__init__(
            hidden,
            hidden,
            heads=heads,
            concat=False,
            dropout=dropout,
            edge_dim=hidden,
            add_self_loops=False,
        )
        _remove_written(type(self))

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor,
        embedding: nn.Linear | None = None,
    ) -> Tensor:
        """Return the new node vectors, (n, hidden); parameters as in `kernels.attention.attend`."""
        if can_loop(x):
            return attend(self, x, edge_index, edge_attr, embedding)
        if isinstance(edge_index, fused.SortedEdges):
            return fused.attend(self, x, edge_index, edge_attr, embedding)
        if embedding is not None:
            edge_attr = embedding(edge_attr)
        return super().forward(x, edge_index, edge_attr)

    @classmethod
    def of(cls, attention: Attention) -> FusedGATv2Conv:
        """Return a layer with the weights of another."""
        _, heads, hidden = attention.att.shape
        layer = cls(hidden, heads, attention.dropout)
        layer.load_state_dict(attention.state_dict())
        return layer


def _remove_written(layer: type[GATv2Conv]) -> None:
    """Remove the code that PyG writes into the temporary folder for the first layer of a class.

    PyG has imported it by then, and would leave it there.
    """
    for name, module in [*sys.modules.items()]:
        if name.startswith(f"{layer.__module__}_{layer.__name__}_"):
            Path(str(module.__file__)).unlink(missing_ok=True)


def with_message_passing(network: DockQNet) -> DockQNet:
    """Put PyG layers with the same weights into a network, and return it."""
    layers: Iterable[Any] = network.layers
    for layer in layers:
        layer.attention = FusedGATv2Conv.of(layer.attention)
    return network


class PublishedLayer(nn.Module):
    """PyG's own GATv2 layer and the published edge update: a map for each head, and their mean."""

    def __init__(self, attention: Attention, edge_update: nn.Linear):
        super().__init__()
        _, heads, hidden = attention.att.shape
        self.attention = GATv2Conv(
            hidden,
            hidden,
            heads=heads,
            concat=False,
            edge_dim=hidden,
            dropout=attention.dropout,
            add_self_loops=False,
        )
        _remove_written(GATv2Conv)
        self.attention.load_state_dict(attention.state_dict())
        self.heads = heads
        self.edge_update = nn.Linear(3 * hidden, heads * hidden)
        self.edge_update.weight.data = edge_update.weight.data.repeat(heads, 1)
        self.edge_update.bias.data = edge_update.bias.data.repeat(heads)

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return new vectors of nodes (n, hidden) and edges (E, hidden)."""
        x = self.attention(x, edge_index, edge_attr)
        ends = torch.cat([x[edge_index[0]], x[edge_index[1]], edge_attr], dim=1)
        edge_attr = (
            self.edge_update(ends)
            .view(len(edge_attr), self.heads, edge_attr.shape[1])
            .mean(1)
        )
        return F.elu(x), F.elu(edge_attr)


class PublishedNetwork(Network):
    """A `DockQNet` in the operations of PyG, in the order in which they were published: slow.

    For what has to agree with the published implementation to the last digits: single precision
    sums depend on their order, in graphs of thousands of edges up to 1e-5 of the score. It shares
    the weights outside its layers with `network`, which must not predict local quality.
    """

    def __init__(self, network: DockQNet):
        super().__init__()
        self.network = network
        layers: Iterable[Any] = network.layers
        self.layers = nn.ModuleList(
            PublishedLayer(layer.attention, layer.edge_update) for layer in layers
        )

    def predictions(self, batch: GraphBatch) -> NetworkOutput:
        """Return DockQ of each graph, and the input of the head."""
        network = self.network
        x = network.embed_nodes(network.scale_nodes(batch.x))
        edge_attr = network.embed_edges(network.scale_edges(batch.edge_attr))
        for layer in self.layers:
            x, edge_attr = layer(x, batch.edge_index, edge_attr)
        n_graphs = len(batch.index)
        nodes = scatter(x, batch.node_graph, dim_size=n_graphs, reduce="mean")
        edges = scatter(edge_attr, batch.edge_graph, dim_size=n_graphs, reduce="mean")
        pooled = torch.cat([nodes, network.pooled_edges(edges)], dim=1)
        return NetworkOutput(
            torch.sigmoid(network.head(pooled)).squeeze(1), None, None, pooled
        )
