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

    x : (n, k) float32. edge_index : (2, E) int64. edge_attr : (E, m) float32.
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
        graph = read_graph(Path(file))
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
        x, index, attr, y, nodes, edges = [], [], [], [], [], []
        offset = 0
        for i in indices:
            part, k = self.parts[self.part_of[i]], self.place_in_part[i]
            n0, n1 = part["node_start"][k : k + 2].tolist()
            e0, e1 = part["edge_start"][k : k + 2].tolist()
            x.append(part["x"][n0:n1])
            index.append(part["edge_index"][:, e0:e1].long() + offset)
            attr.append(part["edge_attr"][e0:e1])
            y.append(part["y"][k])
            nodes.append(n1 - n0)
            edges.append(e1 - e0)
            offset += n1 - n0
        graph = torch.arange(len(indices))
        return GraphBatch(
            x=torch.cat(x),
            edge_index=torch.cat(index, dim=1),
            edge_attr=torch.cat(attr),
            node_graph=graph.repeat_interleave(torch.tensor(nodes)),
            edge_graph=graph.repeat_interleave(torch.tensor(edges)),
            y=torch.stack(y),
            index=torch.tensor(indices),
        )
