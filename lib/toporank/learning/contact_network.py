"""A network of contacts: how right each one is, and what the sum over their areas is worth.

It sees one contact at a time (`contact_columns`), and so has few weights: two layers by default.
They predict how right the contact is. DockQ comes from two numbers of the whole interface, the mean
over its area, and how much area is expected to be native: the sum of area × quality (after the
CAD-score; Olechnovič et al. 2013, doi:10.1002/prot.24172). Both are learned together.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from toporank.learning.contact_columns import (
    LEAST_AREA,
    LEAST_TOTAL,
    LIMIT,
    Columns,
    TouchingPairs,
    described,
)
from toporank.learning.data import GraphBatch
from toporank.learning.network import (
    Architecture,
    Network,
    NetworkOutput,
    at_least_single,
    by_destination,
)

MOMENTUM = 0.05
"""Of the means and variances that scale what the network sees."""


class ContactNet(Network):
    """Predicts DockQ from how right each contact is.

    Parameters
    ----------
    columns : of nodes and edges
    architecture : `hidden`, `layers` and `dropout` count
    """

    def __init__(self, columns: Columns, architecture: Architecture):
        super().__init__()
        self.columns = columns
        self.mean: Tensor
        self.variance: Tensor
        self.register_buffer("mean", torch.zeros(columns.width))
        self.register_buffer("variance", torch.ones(columns.width))
        self.layers = nn.ModuleList()
        width = columns.width
        for _ in range(architecture.layers):
            self.layers.append(nn.Linear(width, architecture.hidden))
            width = architecture.hidden
        self.dropout = nn.Dropout(architecture.dropout)
        self.local_head = nn.Linear(width, 1)
        self.head = nn.Linear(2, 1)
        with torch.no_grad():
            self.head.weight.copy_(torch.tensor([[3.0, 0.3]]))
            self.head.bias.fill_(-3.0)

    def predictions(self, batch: GraphBatch) -> NetworkOutput:
        """Return DockQ and the quality of each contact.

        Edges between residues that share no surface have the mean quality of their graph.
        """
        batch = by_destination(batch)
        device, n_graphs = batch.x.device, len(batch.index)
        edge_attr = batch.edge_attr.numpy(force=True)
        contacts = TouchingPairs.of(
            self.columns, batch.edge_index.numpy(force=True), edge_attr, len(batch.x)
        )
        seen = described(
            self.columns,
            contacts=contacts,
            x=batch.x.numpy(force=True),
            edge_attr=edge_attr,
            node_graph=batch.node_graph.numpy(force=True),
            n_graphs=n_graphs,
        )
        hidden = self._layers(torch.from_numpy(seen).to(device))
        assert self.local_head is not None
        logit = at_least_single(self.local_head(hidden))
        quality = torch.sigmoid(logit)
        edge = torch.from_numpy(contacts.edge).to(device)
        area = at_least_single(batch.edge_attr[edge][:, [self.columns.area]]) ** 2
        by_area = area * torch.cat([quality, hidden, torch.ones_like(quality)], dim=1)
        graph = batch.edge_graph[edge]
        zeros = by_area.new_zeros(n_graphs, by_area.shape[1])
        total = zeros.index_add(0, graph, by_area)
        mean = total[:, :-1] / total[:, -1:].clamp_min(LEAST_TOTAL)
        native = torch.log(total[:, :1] + LEAST_AREA)
        score = self.head(torch.cat([mean[:, :1], native], dim=1))
        of_edge = torch.from_numpy(contacts.of_edge).to(device)
        elsewhere = torch.logit(mean[:, :1].detach(), LEAST_TOTAL)
        place = torch.where(of_edge < 0, len(logit) + batch.edge_graph, of_edge)
        return NetworkOutput(
            score=torch.sigmoid(score).squeeze(1),
            local=mean[:, 0],
            edge_logit=torch.cat([logit, elsewhere])[place, 0],
            pooled=torch.cat([mean, native], dim=1),
        )

    def _layers(self, seen: Tensor) -> Tensor:
        """Return the last vector of each contact, (C, hidden)."""
        hidden = F.batch_norm(
            seen,
            self.mean,
            self.variance,
            training=self.training and len(seen) > 1,
            momentum=MOMENTUM,
        )
        hidden = hidden.clamp(-LIMIT, LIMIT)
        for layer in self.layers:
            hidden = self.dropout(torch.relu(layer(hidden)))
        return hidden
