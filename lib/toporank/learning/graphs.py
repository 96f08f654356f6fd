"""Batches sliced from packs: `packfile` with tensors instead of arrays."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from toporank.files.packfile import PackedGraphs


class GraphBatch(NamedTuple):
    """B graphs as one. n nodes and E directed edges in all.

    x : (n, k) float32. edge_index : (2, E) int64, sorted by destination if the pack is. edge_attr : (E, m) float32.
    node_graph : (n,) and edge_graph : (E,) int64, the graph each node and edge belongs to.
    y : (B,) float32, nan where unlabelled. index : (B,) int64, position in the store. edge_y : (E,) float32, local
    quality of each edge, nan where unknown; None where no pack has any.
    """

    x: Tensor
    edge_index: Tensor
    edge_attr: Tensor
    node_graph: Tensor
    edge_graph: Tensor
    y: Tensor
    index: Tensor
    edge_y: Tensor | None = None


@dataclass(frozen=True)
class GraphStore(PackedGraphs):
    """The graphs of one or more packs, in memory-mapped, read-only tensors."""

    parts: list[dict[str, Tensor]]

    @classmethod
    def open(cls, paths: list[Path], *, in_memory: bool = False, verify: bool = False) -> GraphStore:
        """Open packs and check that they hold the same kind of graphs; an empty one fits any other.

        in_memory : read all of them now. verify : check all numbers. Raises GraphError when a pack is damaged.
        """
        return cls.of(PackedGraphs.open(paths, verify=verify), in_memory=in_memory)

    @classmethod
    def of(cls, graphs: PackedGraphs, *, in_memory: bool = False) -> GraphStore:
        """The same graphs in tensors, mapped or in memory."""
        fields = {field.name: getattr(graphs, field.name) for field in dataclasses.fields(graphs)}
        parts = [{k: np.array(v) if in_memory else v for k, v in part.items()} for part in graphs.parts]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*not writable.*")
            return cls(**{**fields, "parts": [{k: torch.from_numpy(v) for k, v in p.items()} for p in parts]})

    def batch(self, indices: list[int]) -> GraphBatch:
        """The graphs at `indices`, in that order, as one batch."""
        part, place = self.part_of[indices], self.place_in_part[indices]
        nodes, n_nodes = self._rows("node_start", part, place)
        edges, n_edges = self._rows("edge_start", part, place)
        graph = torch.arange(len(indices))
        node_graph, edge_graph = (graph.repeat_interleave(torch.from_numpy(count)) for count in (n_nodes, n_edges))
        before = torch.from_numpy(n_nodes.cumsum() - n_nodes)
        of_nodes, of_edges = part[node_graph.numpy()], part[edge_graph.numpy()]
        return GraphBatch(
            x=self._take("x", of_nodes, nodes),
            edge_index=self._take("edge_index", of_edges, edges, dim=1).long() + before[edge_graph],
            edge_attr=self._take("edge_attr", of_edges, edges),
            node_graph=node_graph,
            edge_graph=edge_graph,
            y=self._take("y", part, place),
            index=torch.tensor(indices, dtype=torch.int64),
            edge_y=self._edge_y(of_edges, edges) if self.knows_local_quality else None,
        )

    def _edge_y(self, part: np.ndarray, rows: np.ndarray) -> Tensor:
        """Local quality of edges, nan in a part that has none. part, rows : int64, (m,)."""
        found = torch.full((len(rows),), torch.nan)
        for p in np.unique(part):
            if len(self.parts[p]["edge_y"]):
                here = torch.from_numpy(np.flatnonzero(part == p))
                found[here] = self.parts[p]["edge_y"][torch.from_numpy(rows[here])]
        return found

    def _rows(self, name: str, part: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the graphs in the tensors of their parts, one graph after another, and how many each has."""
        first, count = np.empty_like(place), np.empty_like(place)
        for p in np.unique(part):
            start, here = self.parts[p][name].numpy(), part == p
            first[here], count[here] = start[place[here]], start[place[here] + 1] - start[place[here]]
        before = count.cumsum() - count
        return np.repeat(first - before, count) + np.arange(count.sum()), count

    def _take(self, name: str, part: np.ndarray, rows: np.ndarray, dim: int = 0) -> Tensor:
        """Rows of the parts named beside them, as one tensor. part, rows : int64, (m,)."""
        present = np.unique(part)
        if len(present) <= 1:
            return self.parts[present[0] if len(present) else 0][name].index_select(dim, torch.from_numpy(rows))
        order = np.argsort(part, kind="stable")  # part after part, and then back again
        pieces = [self.parts[p][name].index_select(dim, torch.from_numpy(rows[part == p])) for p in present]
        return torch.cat(pieces, dim=dim).index_select(dim, torch.from_numpy(np.argsort(order)))
