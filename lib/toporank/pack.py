"""Many graphs in one memory-mapped file, and batches sliced from it."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch_geometric.data import Data

from toporank.errors import GraphError
from toporank.features.registry import canonical
from toporank.files import replacing, sha256
from toporank.graphs import read_graph
from toporank.tensorfile import Growing, write_tensors

log = logging.getLogger(__name__)

DESCRIPTION = "toporank"
PRECISIONS = {"float32": torch.float32, "float16": torch.float16}
REPACK = "delete it and run again: the graphs are packed anew"
CHANGED_REMEDY = "it was changed after it was built; delete results/<dataset>/ledger/graphs and run again"


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


class _Graph(NamedTuple):
    """One graph on its way into a pack. metadata : its own, without residues. y : nan where unlabelled."""

    x: Tensor
    edge_index: Tensor
    edge_attr: Tensor
    y: float
    metadata: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> _Graph:
        graph = by_destination(read_graph(path))
        label = graph.get("y")
        metadata = {k: v for k, v in (graph.get("metadata") or {}).items() if k != "residues"}
        return cls(graph.x, graph.edge_index, graph.edge_attr, float("nan" if label is None else label), metadata)


def write_pack(path: Path, members: pd.DataFrame, precision: str = "float32") -> int:
    """Pack graphs; what a pack at `path` has of the same files is copied from there. Returns how many were read.

    members : one row a graph with target, decoy, split, graph (path of its `.pt`) and, where a ledger tells, sha256
    and size of that file. precision : float32, or float16 for half the space. The result does not depend on what was
    there before. A data set without any graph gives an empty pack.
    Raises GraphError naming a graph that is not the file its ledger tells of or does not fit into `precision`, or
    two whose widths or feature modules differ.
    """
    dtype = PRECISIONS[precision]
    digests = [_source_digest(row) for row in members.itertuples()]
    old, place = _reusable(path, dtype)
    n_read, first, nodes, edges = 0, None, [0], [0]
    with replacing(path) as temporary, ExitStack() as files:
        new = partial(Growing, files, path.parent)
        tensors = {"x": new(precision), "edge_index": new("int32", axis=1), "edge_attr": new(precision),
                   "node_start": new("int64"), "edge_start": new("int64"), "y": new("float32")}  # fmt: skip
        for file, digest in zip(members["graph"], digests, strict=True):
            if digest in place:
                graph = old.graph(place[digest])
            else:
                _check_source(file, digest)
                graph, n_read = _Graph.read(Path(file)), n_read + 1
                graph = graph._replace(x=_as(dtype, graph.x, file), edge_attr=_as(dtype, graph.edge_attr, file))
            first = first or (file, _kind(graph.x, graph.edge_attr, graph.metadata), graph.metadata)
            _check_alike(*first[:2], file, _kind(graph.x, graph.edge_attr, graph.metadata))
            for name in ("x", "edge_index", "edge_attr"):
                tensors[name].add(getattr(graph, name).numpy())
            tensors["y"].add(np.array([graph.y]))
            nodes.append(nodes[-1] + len(graph.x))
            edges.append(edges[-1] + len(graph.edge_attr))
        tensors["node_start"].add(np.array(nodes))
        tensors["edge_start"].add(np.array(edges))
        if first is None:
            for name, shape in {"x": (0, 0), "edge_index": (2, 0), "edge_attr": (0, 0)}.items():
                tensors[name].add(np.zeros(shape))
        description = {
            **(first[2] if first else {}),
            "decoys": members[["target", "decoy", "split"]].values.tolist(),
            "sources": digests,
            "content": _content({name: tensor.pieces() for name, tensor in tensors.items()}),
        }
        write_tensors(temporary, tensors, {DESCRIPTION: canonical(description)})
    return n_read


def _source_digest(row: Any) -> str:
    """SHA-256 of the file of a graph, as its ledger has it or else as it is."""
    file = Path(row.graph)
    if not file.exists():
        raise GraphError("the graph file is missing", where=file, remedy="build the graph again")
    if not hasattr(row, "sha256"):
        return sha256(file)
    if file.stat().st_size != row.size:
        raise GraphError(
            f"the graph of {row.target}/{row.decoy} has {file.stat().st_size} bytes, its ledger says {row.size}",
            where=file, remedy=CHANGED_REMEDY,
        )  # fmt: skip
    return row.sha256


def _check_source(file: str, expected: str) -> None:
    if sha256(file) != expected:
        raise GraphError("the graph is not the one its ledger tells of", where=file, remedy=CHANGED_REMEDY)


def _as(dtype: torch.dtype, values: Tensor, file: str) -> Tensor:
    """Features in the precision of the pack."""
    rounded = values.float().to(dtype)
    if dtype != torch.float32 and bool((rounded.isinf() & values.isfinite()).any()):
        raise GraphError(
            f"a feature of {values.abs().max():g} is too large for float16", where=file,
            remedy="use pack_precision: float32",
        )  # fmt: skip
    return rounded


def _reusable(path: Path, dtype: torch.dtype) -> tuple[_Pack | None, dict[str, int]]:
    """The pack that is there, and the place in it of each file it was made of."""
    if not path.exists():
        return None, {}
    try:
        old = _Pack.open(path)
        old.verify()
    except GraphError as error:
        log.warning("nothing is copied from the old pack: %s", error)
        return None, {}
    if old.tensors["x"].dtype != dtype:
        return None, {}
    return old, {digest: i for i, digest in enumerate(old.sources)}


def _content(tensors: dict[str, Iterable[bytes | np.ndarray]]) -> str:
    """Digest of all numbers of a pack, given in pieces."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        for piece in tensors[name]:
            digest.update(piece)
    return digest.hexdigest()


def by_destination(graph: Data) -> Data:
    """With its edges sorted by the node they point to, as the network reads them."""
    order = torch.argsort(graph.edge_index[1], stable=True)
    graph.edge_index, graph.edge_attr = graph.edge_index[:, order], graph.edge_attr[order]
    return graph


def _kind(x: Tensor, edge_attr: Tensor, metadata: dict[str, Any]) -> dict[str, Any]:
    """What must be equal for graphs to be trained on together."""
    return {
        "node width": x.shape[1],
        "edge width": edge_attr.shape[1],
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
    def open(cls, path: Path) -> _Pack:
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
        if self.content is not None and self.content != _content(numbers):
            raise GraphError("the numbers of this pack are not those that were packed", where=self.path, remedy=REPACK)

    def graph(self, i: int) -> _Graph:
        """Graph i, still mapped."""
        (n, n_end), (e, e_end) = (self.tensors[k][i : i + 2].tolist() for k in ("node_start", "edge_start"))
        parts = self.tensors["x"][n:n_end], self.tensors["edge_index"][:, e:e_end], self.tensors["edge_attr"][e:e_end]
        return _Graph(*parts, float(self.tensors["y"][i]), self.metadata)

    def kind(self) -> dict[str, Any]:
        """What must be equal for packs to be used together."""
        return _kind(self.tensors["x"], self.tensors["edge_attr"], self.metadata)


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
        packs = [_Pack.open(path) for path in paths]
        for pack in packs if verify else []:
            pack.verify()
        packs = [pack for pack in packs if len(pack.decoys)] or packs[:1]
        for pack in packs:
            _check_alike(str(packs[0].path), packs[0].kind(), str(pack.path), pack.kind())
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
