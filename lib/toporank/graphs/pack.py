"""Many graphs in one memory-mapped file, and batches sliced from it. `packing` writes such files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from toporank.errors import GraphError

DESCRIPTION = "toporank"
"""Under which key the file says what it holds."""

REPACK = "delete it and run again: the graphs are packed anew"


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


class PackedGraph(NamedTuple):
    """One graph of a pack. metadata : its own, without residues. y : nan where unlabelled."""

    x: Tensor
    edge_index: Tensor
    edge_attr: Tensor
    y: float
    metadata: dict[str, Any]


def content_digest(tensors: dict[str, Iterable[bytes | np.ndarray]]) -> str:
    """Digest of all numbers of a pack, given in pieces."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        for piece in tensors[name]:
            digest.update(piece)
    return digest.hexdigest()


def kind_of(x: Tensor, edge_attr: Tensor, metadata: dict[str, Any]) -> dict[str, Any]:
    """What must be equal for graphs to be trained on together."""
    return {
        "node width": x.shape[1],
        "edge width": edge_attr.shape[1],
        "feature modules": metadata.get("features"),
        "graph format": metadata.get("format"),
    }


def check_alike(file: str, kind: dict[str, Any], other_file: str, other: dict[str, Any]) -> None:
    """Raise GraphError naming what differs between the kinds of two files."""
    for name in kind:
        if kind[name] != other[name]:
            raise GraphError(
                f"graphs differ in {name}: {kind[name]} in {file}, {other[name]} in {other_file}",
                remedy="build them with one feature configuration",
            )


@dataclass(frozen=True)
class Pack:
    """One pack file, memory-mapped. decoys : target, decoy, split, dockq; row i is graph i.

    sources : SHA-256 of the file of each graph. content : that of all numbers. Packs of before lack both.
    """

    path: Path
    tensors: dict[str, Tensor]
    decoys: pd.DataFrame
    metadata: dict[str, Any]
    sources: list[str]
    content: str | None

    @classmethod
    def open(cls, path: Path) -> Pack:
        """Raises GraphError when the file is missing, cut off or no pack."""
        try:
            with safe_open(path, framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 -- not a dict
                metadata = json.loads(file.metadata()[DESCRIPTION])
            decoys = pd.DataFrame(metadata.pop("decoys"), columns=["target", "decoy", "split"], dtype=str)
            whole = _fits_together(tensors, len(decoys))
        except (OSError, SafetensorError, ValueError, LookupError, TypeError) as error:
            raise GraphError(f"not a readable pack: {error}", where=path, remedy=REPACK) from error
        if not whole:
            raise GraphError("the tables of this pack do not fit together", where=path, remedy=REPACK)
        sources, content = metadata.pop("sources", []), metadata.pop("content", None)
        return cls(path, tensors, decoys.assign(dockq=tensors["y"].double().numpy()), metadata, sources, content)

    def verify(self) -> None:
        """Raise GraphError when the numbers are not those that were packed."""
        numbers = {name: [tensor.contiguous().numpy()] for name, tensor in self.tensors.items()}
        if self.content is not None and self.content != content_digest(numbers):
            raise GraphError("the numbers of this pack are not those that were packed", where=self.path, remedy=REPACK)

    def graph(self, i: int) -> PackedGraph:
        """Graph i, still mapped."""
        (n, n_end), (e, e_end) = (self.tensors[k][i : i + 2].tolist() for k in ("node_start", "edge_start"))
        parts = self.tensors["x"][n:n_end], self.tensors["edge_index"][:, e:e_end], self.tensors["edge_attr"][e:e_end]
        return PackedGraph(*parts, float(self.tensors["y"][i]), self.metadata)

    def kind(self) -> dict[str, Any]:
        """What must be equal for packs to be used together."""
        return kind_of(self.tensors["x"], self.tensors["edge_attr"], self.metadata)


def _fits_together(tensors: dict[str, Tensor], n_graphs: int) -> bool:
    """Whether the numbers of graphs, nodes and edges agree."""
    x, edge_index, edge_attr = (tensors[name] for name in ("x", "edge_index", "edge_attr"))
    starts = [(tensors["node_start"], len(x)), (tensors["edge_start"], len(edge_attr))]
    whole = len(tensors["y"]) == n_graphs and edge_index.shape == (2, len(edge_attr))
    return whole and all(
        len(start) == n_graphs + 1 and start[0] == 0 and start[-1] == rows and bool((start.diff() >= 0).all())
        for start, rows in starts
    )


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
    def open(cls, paths: list[Path], *, in_memory: bool = False, verify: bool = False) -> GraphStore:
        """Open packs and check that they hold the same kind of graphs; an empty one fits any other.

        in_memory : read all of them now. verify : check all numbers. Raises GraphError when a pack is damaged.
        """
        packs = [Pack.open(path) for path in paths]
        for pack in packs if verify else []:
            pack.verify()
        packs = [pack for pack in packs if len(pack.decoys)] or packs[:1]
        for pack in packs:
            check_alike(str(packs[0].path), packs[0].kind(), str(pack.path), pack.kind())
        sizes = [len(pack.decoys) for pack in packs]
        return cls(
            decoys=pd.concat([pack.decoys for pack in packs], ignore_index=True),
            metadata=packs[0].metadata,
            parts=[{k: v.clone() if in_memory else v for k, v in pack.tensors.items()} for pack in packs],
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
            x=self._take("x", of_nodes, nodes).float(),
            edge_index=self._take("edge_index", of_edges, edges, dim=1).long() + before[edge_graph],
            edge_attr=self._take("edge_attr", of_edges, edges).float(),
            node_graph=node_graph,
            edge_graph=edge_graph,
            y=self._take("y", part, place),
            index=torch.tensor(indices, dtype=torch.int64),
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
