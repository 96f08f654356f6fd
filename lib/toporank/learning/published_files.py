"""Artefacts as files that people open: a table as CSV, a graph as a `Data` of PyTorch Geometric."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

from toporank.errors import GraphError
from toporank.features.residue_tables import read_table
from toporank.files import torch_files
from toporank.files.graph_file import Graph, read_graph
from toporank.files.spreadsheets import table_text
from toporank.layout import STAGES

GRAPHS = STAGES[-1]
SAFE = (Data, DataEdgeAttr, DataTensorAttr, GlobalStorage)
"""The classes in the file of a `Data`. PyTorch Geometric itself tells torch of the first alone that it is safe."""


def as_file(stage: str, artefact: bytes) -> bytes:
    """Return the content of the file that shows an artefact; the same artefact gives the same bytes.

    Parameters
    ----------
    stage : that made it, one of `layout.STAGES`
    artefact : as it is in the reuse store

    Raises
    ------
    GraphError : where it should be a graph and is not
    """
    if stage != GRAPHS:
        return csv_bytes(artefact)
    return pt_bytes(artefact)


def csv_bytes(artefact: bytes) -> bytes:
    """Return a table of residues as CSV. Its numbers have all their digits."""
    table = read_table(artefact)
    columns = [column.tolist() if isinstance(column, np.ndarray) else column for column in table.values()]
    return table_text([*table], zip(*columns, strict=True)).encode()


def pt_bytes(artefact: bytes) -> bytes:
    """Return a graph as a file of torch. Raises GraphError where it is not one."""
    stream = io.BytesIO()  # the name of a file would become part of what is in it
    torch.save(as_data(read_graph(artefact, "reuse store")), stream)
    return stream.getvalue()


def as_data(graph: Graph) -> Data:
    """Return a graph as a `Data` with `x`, `edge_index`, `edge_attr`, `metadata` and, where it has a label, `y`."""
    data = Data(
        x=torch.tensor(graph.x),
        edge_index=torch.tensor(graph.edge_index),
        edge_attr=torch.tensor(graph.edge_attr),
    )
    if not math.isnan(graph.y):
        data.y = torch.tensor([graph.y], dtype=torch.float32)
    data.metadata = graph.metadata
    return data


def read_pt(path: Path | str) -> Data:
    """Return the `Data` in a `.pt` file. No code from the file is run.

    Raises
    ------
    GraphError : where the file is damaged, or holds anything but a `Data`
    """
    try:
        data = torch_files.load(path, SAFE)
    except OSError as error:
        raise GraphError(f"cannot be read: {error.strerror}", where=path) from error
    except ValueError as error:
        raise GraphError(f"not a readable graph file: {error}", where=path) from error
    if not isinstance(data, Data):
        raise GraphError(f"holds a {type(data).__name__}, not a graph of PyTorch Geometric", where=path)
    return data
