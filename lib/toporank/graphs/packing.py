"""Graph files into one pack, of which `pack` slices batches."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch_geometric.data import Data

from toporank.errors import GraphError
from toporank.features.registry import canonical
from toporank.files import replacing, sha256
from toporank.graphs.pack import DESCRIPTION, Pack, PackedGraph, check_alike, content_digest, kind_of
from toporank.graphs.pyg_file import read_graph
from toporank.graphs.tensorfile import Growing, write_tensors

log = logging.getLogger(__name__)

PRECISIONS = {"float32": torch.float32, "float16": torch.float16}
CHANGED_REMEDY = "it was changed after it was built; delete results/<dataset>/ledger/graphs and run again"


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
                graph, n_read = _read(Path(file)), n_read + 1
                graph = graph._replace(x=_as(dtype, graph.x, file), edge_attr=_as(dtype, graph.edge_attr, file))
            first = first or (file, kind_of(graph.x, graph.edge_attr, graph.metadata), graph.metadata)
            check_alike(*first[:2], file, kind_of(graph.x, graph.edge_attr, graph.metadata))
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
            "content": content_digest({name: tensor.pieces() for name, tensor in tensors.items()}),
        }
        write_tensors(temporary, tensors, {DESCRIPTION: canonical(description)})
    return n_read


def _read(path: Path) -> PackedGraph:
    graph = by_destination(read_graph(path))
    label = graph.get("y")
    metadata = {k: v for k, v in (graph.get("metadata") or {}).items() if k != "residues"}
    return PackedGraph(graph.x, graph.edge_index, graph.edge_attr, float("nan" if label is None else label), metadata)


def by_destination(graph: Data) -> Data:
    """With its edges sorted by the node they point to, as the network reads them."""
    order = torch.argsort(graph.edge_index[1], stable=True)
    graph.edge_index, graph.edge_attr = graph.edge_index[:, order], graph.edge_attr[order]
    return graph


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


def _reusable(path: Path, dtype: torch.dtype) -> tuple[Pack | None, dict[str, int]]:
    """The pack that is there, and the place in it of each file it was made of."""
    if not path.exists():
        return None, {}
    try:
        old = Pack.open(path)
        old.verify()
    except GraphError as error:
        log.warning("nothing is copied from the old pack: %s", error)
        return None, {}
    if old.tensors["x"].dtype != dtype:
        return None, {}
    return old, {digest: i for i, digest in enumerate(old.sources)}
