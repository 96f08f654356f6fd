"""Many graphs in one memory-mapped file, and batches sliced from it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor
from torch_geometric.data import Data

from toporank.errors import GraphError
from toporank.features.registry import canonical
from toporank.files import replacing
from toporank.graphs import read_graph

DESCRIPTION = "toporank"


class GraphBatch(NamedTuple):
    """B graphs as one. n nodes and E directed edges in all.

    x : (n, k) float32. edge_index : (2, E) int64, sorted by destination if the pack is. edge_attr : (E, m) float32.
    node_graph : (n,) and edge_graph : (E,) int64, the graph each node and edge belongs to.
    y : (B,) float32, nan where unlabelled. index : (B,) int64, position in the store.
    """

    x: Tensor
    edge_index: Tensor
    edge_attr: Tensor
    node_graph: Tensor
    edge_graph: Tensor
    y: Tensor
    index: Tensor


def write_pack(path: Path, members: pd.DataFrame) -> None:
    """Pack graphs. members : one row a graph with target, decoy, split, graph (path of its `.pt`).

    A data set without any graph gives an empty pack. Raises GraphError naming two files when their widths
    or feature modules differ.
    """
    graphs, first = [], None
    for file in members["graph"]:
        graph = _by_destination(read_graph(Path(file)))
        first = first or (file, graph)
        _check_alike(first[0], _kind(first[1]), file, _kind(graph))
        graphs.append(graph)
    first = first or ("", Data(x=torch.zeros(0, 0), edge_index=torch.zeros(2, 0), edge_attr=torch.zeros(0, 0)))
    nodes = np.array([g.x.shape[0] for g in graphs], dtype=np.int64)
    edges = np.array([g.edge_index.shape[1] for g in graphs], dtype=np.int64)
    tensors = {
        "x": torch.cat([g.x for g in graphs or [first[1]]]).float(),
        "edge_index": torch.cat([g.edge_index for g in graphs or [first[1]]], dim=1).to(torch.int32),
        "edge_attr": torch.cat([g.edge_attr for g in graphs or [first[1]]]).float(),
        "node_start": torch.from_numpy(np.concatenate([[0], nodes.cumsum()])),
        "edge_start": torch.from_numpy(np.concatenate([[0], edges.cumsum()])),
        "y": torch.tensor([float(g.y) if g.get("y") is not None else float("nan") for g in graphs]),
    }
    description = {
        "decoys": members[["target", "decoy", "split"]].values.tolist(),
        **{k: v for k, v in (first[1].get("metadata") or {}).items() if k != "residues"},
    }
    with replacing(path) as temporary:
        temporary.write_bytes(save(tensors, {DESCRIPTION: canonical(description)}))


def _by_destination(graph: Data) -> Data:
    """With its edges sorted by the node they point to, as the network reads them."""
    order = torch.argsort(graph.edge_index[1], stable=True)
    graph.edge_index, graph.edge_attr = graph.edge_index[:, order], graph.edge_attr[order]
    return graph


def _kind(graph) -> dict[str, Any]:
    """What must be equal for graphs to be trained on together."""
    metadata = graph.get("metadata") or {}
    return {
        "node width": graph.x.shape[1],
        "edge width": graph.edge_attr.shape[1],
        "feature modules": metadata.get("features"),
        "graph format": metadata.get("format"),
    }


def _check_alike(file: str, kind: dict[str, Any], other_file: str, other: dict[str, Any]) -> None:
    for name in kind:
        if kind[name] != other[name]:
            raise GraphError(
                f"graphs differ in {name}: {kind[name]} in {file}, {other[name]} in {other_file}",
                remedy="build them with one feature configuration",
            )


@dataclass(frozen=True)
class _Pack:
    """One pack file, memory-mapped. decoys : target, decoy, split, dockq; row i is graph i."""

    path: Path
    tensors: dict[str, Tensor]
    decoys: pd.DataFrame
    metadata: dict[str, Any]

    @classmethod
    def open(cls, path: Path) -> _Pack:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 -- not a dict
            metadata = json.loads(file.metadata()[DESCRIPTION])
        decoys = pd.DataFrame(metadata.pop("decoys"), columns=["target", "decoy", "split"], dtype=str)
        return cls(path, tensors, decoys.assign(dockq=tensors["y"].double().numpy()), metadata)

    def kind(self) -> dict[str, Any]:
        """What must be equal for packs to be used together."""
        return {
            "node width": self.tensors["x"].shape[1],
            "edge width": self.tensors["edge_attr"].shape[1],
            "feature modules": self.metadata.get("features"),
            "graph format": self.metadata.get("format"),
        }


@dataclass(frozen=True)
class GraphStore:
    """The graphs of one or more packs, in memory-mapped tensors.

    decoys : DataFrame with target, decoy, split, dockq (nan where unlabelled); row i is graph i.
    metadata : format, feature modules and columns; empty for graphs made elsewhere without metadata.
    """

    decoys: pd.DataFrame
    metadata: dict[str, Any]
    parts: list[dict[str, Tensor]]
    part_of: np.ndarray
    place_in_part: np.ndarray

    def __len__(self) -> int:
        return len(self.decoys)

    @property
    def node_width(self) -> int:
        """Columns of x."""
        return self.parts[0]["x"].shape[1]

    @property
    def edge_width(self) -> int:
        """Columns of edge_attr."""
        return self.parts[0]["edge_attr"].shape[1]

    @classmethod
    def open(cls, paths: list[Path]) -> GraphStore:
        """Open packs and check that they hold the same kind of graphs; an empty one fits any other."""
        packs = [_Pack.open(path) for path in paths]
        packs = [pack for pack in packs if len(pack.decoys)] or packs[:1]
        for pack in packs:
            _check_alike(str(packs[0].path), packs[0].kind(), str(pack.path), pack.kind())
        sizes = [len(pack.decoys) for pack in packs]
        return cls(
            decoys=pd.concat([pack.decoys for pack in packs], ignore_index=True),
            metadata=packs[0].metadata,
            parts=[pack.tensors for pack in packs],
            part_of=np.repeat(np.arange(len(packs)), sizes),
            place_in_part=np.concatenate([np.arange(size) for size in sizes]),
        )

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
            index=torch.tensor(indices),
        )

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
