"""Graphs on disk: one PyTorch Geometric `Data` file for each decoy."""

from __future__ import annotations

import io
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
import torch
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

from toporank.building.stages import Stage, Task, code_digest, node_columns
from toporank.building.store import Entry, Store
from toporank.building.tables import matrix, read_residues
from toporank.errors import GraphError
from toporank.features.edges import Edges
from toporank.features.registry import Choice, records
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

FORMAT = 1
"""Version of the graph file; raise it when what is written changes meaning."""


def run_graphs(task: Task, store: Store) -> Entry:
    """Edges, then the graph with its label. The edges are kept apart: a new label computes no feature."""
    edges = store.obtain("edges", task.depends_on("edges"), ".safetensors", lambda path: _make_edges(task, path))
    metadata = graph_metadata(task.choices)
    depends_on = {
        "edges": edges.sha256, "nodes": task.upstream_sha256, "dockq": task.dockq,
        "metadata": metadata, "code": code_digest("graphs", task.choices),
    }  # fmt: skip

    def make(path: Path) -> dict[str, Any]:
        arrays = safetensors.numpy.load_file(edges.path)
        complex_ = read_complex(task.source)
        index, values = _read_nodes(task, complex_)
        residues = [str(complex_.residues[r]) for r in index]
        graph = make_graph(values, Edges(arrays["index"], arrays["attributes"]), task.dockq, metadata, residues)
        path.write_bytes(graph_bytes(graph))
        return {}

    return store.obtain("graphs", depends_on, ".pt", make)


UNREADABLE = (
    pickle.UnpicklingError, RuntimeError, EOFError, ValueError, LookupError, TypeError, AttributeError, AssertionError,
    struct.error,
)  # fmt: skip
"""What torch raises for a damaged file."""

PYG_TYPES = (Data, DataEdgeAttr, DataTensorAttr, GlobalStorage)
"""What a `Data` file consists of beside tensors and plain Python values."""

GRAPHS = Stage("graphs", run_graphs)


def _make_edges(task: Task, path: Path) -> dict[str, Any]:
    complex_ = read_complex(task.source)
    edges: Edges = task.choices["edges"](complex_, _read_nodes(task, complex_)[0])
    path.write_bytes(safetensors.numpy.save({"index": edges.index, "attributes": edges.attributes}))
    return {"n_edges": edges.index.shape[1]}


def _read_nodes(task: Task, complex_: Complex) -> tuple[np.ndarray, np.ndarray]:
    """Residue index, int, (n,), and features, (n, k), of the rows of the node table that are nodes."""
    index, table = read_residues(task.upstream, complex_)
    kept = np.array([not reason for reason in table["lost"].to_pylist()])
    return index[kept], matrix(table, node_columns(task.choices))[kept]


def graph_metadata(choices: dict[str, Choice]) -> dict[str, Any]:
    """Feature modules with parameters, column names and format version, as kept in graphs and checkpoints."""
    return {
        "format": FORMAT,
        "features": records(choices),
        "node_columns": node_columns(choices),
        "edge_columns": choices["edges"].columns,
    }


def make_graph(
    nodes: np.ndarray, edges: Edges, dockq: float | None, metadata: dict[str, Any], residues: list[str]
) -> Data:
    """A `Data` with x (n, k) and edge_attr (E, m) in float32, edge_index (2, E), and y (1,) where labelled."""
    graph = Data(
        x=torch.from_numpy(nodes).float(),
        edge_index=torch.from_numpy(edges.index),
        edge_attr=torch.from_numpy(edges.attributes).float(),
    )
    if dockq is not None:
        graph.y = torch.tensor([dockq], dtype=torch.float32)
    graph.metadata = {**metadata, "residues": residues}
    return graph


def graph_bytes(graph: Data) -> bytes:
    """The file content of a graph; the same graph gives the same bytes."""
    buffer = io.BytesIO()  # a path would put its own name into the archive
    torch.save(graph, buffer)
    return buffer.getvalue()


def read_graph(path: Path) -> Data:
    """Read a graph file, ours or anyone's, without executing code from it.

    Raises GraphError when it is damaged, holds something else, or lacks x, edge_index or edge_attr.
    """
    graph, matrices = _load(path)
    for name, tensor in matrices.items():
        if not isinstance(tensor, torch.Tensor):
            found = "missing" if tensor is None else f"a {type(tensor).__name__}"
            raise GraphError(f"`{name}` is {found}", where=path, remedy="build the graph again")
        if tensor.dim() != 2:
            raise GraphError(f"`{name}` is of shape {tuple(tensor.shape)}", where=path, remedy="build the graph again")
    x, index, attributes = matrices.values()
    if len(attributes) != index.shape[1]:
        raise GraphError(f"{index.shape[1]} edges but {len(attributes)} rows of edge_attr", where=path)
    whole = not (index.is_floating_point() or index.is_complex()) and len(index) == 2
    if not whole or (index.numel() and not 0 <= index.min() <= index.max() < len(x)):
        raise GraphError("`edge_index` is not two rows of node numbers", where=path, remedy="build the graph again")
    return graph


def _load(path: Path) -> tuple[Data, dict[str, Any]]:
    """A graph and what it has under the names x, edge_index and edge_attr."""
    try:
        with torch.serialization.safe_globals(list(PYG_TYPES)):
            graph = torch.load(path, weights_only=True)
        if type(graph) is Data:
            return graph, {name: graph.get(name) for name in ("x", "edge_index", "edge_attr")}
    except UNREADABLE as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise GraphError(f"not a readable graph file: {said}", where=path) from error
    raise GraphError(f"holds a {type(graph).__name__}, not a torch_geometric Data", where=path)
