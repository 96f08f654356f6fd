"""The last stage of a decoy: its edges, and its graph with the label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from toporank.building.stages import Stage, Task, code_digest, node_columns
from toporank.building.store import Entry, Store
from toporank.building.tables import matrix, read_residues
from toporank.features.edges import Edges
from toporank.features.registry import Choice, records
from toporank.graphs.pyg_file import FORMAT, graph_bytes
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex


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
        described = {**metadata, "residues": [str(complex_.residues[r]) for r in index]}
        path.write_bytes(graph_bytes(values, arrays["index"], arrays["attributes"], task.dockq, described))
        return {}

    return store.obtain("graphs", depends_on, ".pt", make)


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
