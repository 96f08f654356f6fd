"""Graphs as files of PyTorch Geometric.

They are those that TopoRank publishes, and those of another pipeline.

torch opens them with `weights_only`, so that no file can run code.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

from toporank.errors import GraphError
from toporank.features.registry import DEFAULT_MODULES
from toporank.features.residue_tables import read_table
from toporank.files import torch_files
from toporank.files.atomic import sha256
from toporank.files.graph_file import Graph, read_graph
from toporank.files.packfile import BETWEEN
from toporank.files.printable_names import table_name
from toporank.files.spreadsheets import table_text
from toporank.finding.graph_files import EXPECTED, SUFFIX, GraphFile
from toporank.layout import STAGES
from toporank.lookup import only
from toporank.structures.identity import split_suffix

GRAPHS = STAGES[-1]
SAFE = (Data, DataEdgeAttr, DataTensorAttr, GlobalStorage)
"""The classes in the file of a `Data`. PyTorch Geometric itself tells torch of the first alone that
it is safe.
"""
TENSORS = ("x", "edge_index", "edge_attr")
NAMES_OF_TARGET = ("target",)
NAMES_OF_DECOY = ("name", "decoy", "model")
"""Keys under which a file may say what it is, in `metadata` or beside it."""


# ---- what TopoRank publishes ---------------------------------------------------------------------


def as_file(stage: str, artefact: bytes) -> bytes:
    """Return the content of the file that shows an artefact.

    The same artefact gives the same bytes.

    Parameters
    ----------
    stage : str
        The stage that made it, one of `layout.STAGES`.
    artefact : bytes
        As it is in the reuse store.

    Returns
    -------
    content : of the file

    Raises
    ------
    GraphError
        Where it should be a graph and is not.
    """
    return pt_bytes(artefact) if stage == GRAPHS else csv_bytes(artefact)


def csv_bytes(artefact: bytes) -> bytes:
    """Return a table of residues as CSV. Its numbers have all their digits."""
    table = read_table(artefact)
    for name, column in table.items():
        if isinstance(column, np.ndarray):
            table[name] = column.tolist()
    return table_text([*table], zip(*table.values(), strict=True)).encode()


def pt_bytes(artefact: bytes) -> bytes:
    """Return a graph as a file of torch. Raises GraphError where it is not one."""
    stream = io.BytesIO()  # the name of a file would become part of what is in it
    torch.save(as_data(read_graph(artefact, "reuse store")), stream)
    return stream.getvalue()


def as_data(graph: Graph) -> Data:
    """Return a graph as a `Data` with `x`, `edge_index`, `edge_attr`, `metadata` and `y`."""
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
    GraphError
        Where the file is damaged, or holds anything but a `Data`.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            data = torch_files.load(path, SAFE)
    except OSError as error:
        raise GraphError(f"cannot be read: {error.strerror}", where=path) from error
    except ValueError as error:
        what = f"not a readable graph file: {error}"
        remedy = "save a Data of tensors, numbers and texts alone with torch.save, or remove it"
        raise GraphError(what, where=path, remedy=remedy) from error
    if not isinstance(data, Data):
        raise GraphError(
            f"holds a {type(data).__name__}, not a Data", where=path, remedy=EXPECTED
        )
    saved = vars(data)
    if "_store" not in saved:  # PyTorch Geometric before 2.0 kept tensors here
        data = Data.from_dict({name.strip("_"): saved[name] for name in saved})
    return data


# ---- graphs of another pipeline ------------------------------------------------------------------


def examine_graph_files(folder: Path, paths: Iterable[Path]) -> list[GraphFile]:
    """Read all graphs once and check that they are alike.

    The first says how many columns all must have.

    Parameters
    ----------
    folder : Path
        Of the data set; the sub-folder that holds a file names its target.
    paths : iterable of Path
        The files.

    Returns
    -------
    list of GraphFile
        In the same order.

    Raises
    ------
    GraphError
        Naming the file, when one cannot be read, lacks a tensor, or has another number of columns
        than the first.
    """
    files: list[GraphFile] = []
    expected: dict[str, int] = {}
    for path in paths:
        saved = read_pt(path).to_dict()
        graph = _graph(path, saved)
        widths = {"x": graph.x.shape[1], "edge_attr": graph.edge_attr.shape[1]}
        expected = expected or widths
        for tensor, width in widths.items():
            if width != expected[tensor]:
                raise GraphError(
                    f"{tensor} has {width} columns, in {files[0].path} it has {expected[tensor]}",
                    where=path,
                    remedy="all graphs of a data set need the same columns: remove those of "
                    "another kind",
                )
        target = _without_folder_and_ending(_text(saved, NAMES_OF_TARGET))
        decoy = _without_folder_and_ending(_text(saved, NAMES_OF_DECOY))
        sub_folder = path.parent.name if path.parent != folder else ""
        file_name = _without_folder_and_ending(path.stem)
        graph_file = GraphFile(
            path=path,
            target=target or table_name(sub_folder),
            decoy=decoy or file_name,
            file_name=file_name,
            dockq=graph.y,
            sha256=sha256(path),
            unnamed=_unnamed_stages(saved.get("metadata")),
        )
        files.append(graph_file)
    return files


def read_pyg_graph(path: Path) -> Graph:
    """Read one graph of another pipeline.

    Parameters
    ----------
    path : Path
        A file that `torch.save` made of a `torch_geometric.data.Data`.

    Returns
    -------
    Graph
        x of shape (n, k), edge_index (2, E) and edge_attr (E, m); an edge_attr of shape (E,)
        becomes one column. The metadata has the columns and feature modules where the file names
        them in TopoRank's words.

    Raises
    ------
    GraphError
        Naming the file and what is wrong with it.

    Examples
    --------
    >>> import tempfile
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> path = Path(tempfile.mkdtemp(), "model.pt")
    >>> edges = torch.tensor([[0, 1], [1, 0]])
    >>> torch.save(Data(x=torch.zeros(2, 5), edge_index=edges, edge_attr=torch.ones(2, 3)), path)
    >>> graph = read_pyg_graph(path)
    >>> graph.x.shape, graph.edge_attr.shape
    ((2, 5), (2, 3))
    """
    return _graph(path, read_pt(path).to_dict())


def _graph(path: Path, saved: dict[str, Any]) -> Graph:
    missing = [
        name for name in TENSORS if not isinstance(saved.get(name), torch.Tensor)
    ]
    if missing:
        what = f"has no tensor {' and no tensor '.join(missing)}"
        needed = ", ".join(TENSORS)
        remedy = (
            f"every graph needs {needed}: write the file again with them, or remove it"
        )
        raise GraphError(what, where=path, remedy=remedy)
    edge_attr = saved["edge_attr"]
    columns = edge_attr.unsqueeze(1) if edge_attr.dim() == 1 else edge_attr
    x = _features(path, "x", saved["x"])
    attributes = _features(path, "edge_attr", columns)
    return Graph(
        x=x,
        edge_index=_edge_index(path, saved["edge_index"], len(x), len(attributes)),
        edge_attr=attributes,
        y=_label(path, saved.get("y")),
        metadata=_metadata(saved.get("metadata"), x.shape[1], attributes.shape[1]),
        residues=BETWEEN.join(map(str, range(1, len(x) + 1))),
    )


def _features(path: Path, name: str, values: torch.Tensor) -> np.ndarray:
    """Return a table of features in single precision, shape (rows, columns)."""
    is_dense = values.layout == torch.strided and not values.is_complex()
    if not is_dense or values.dim() != 2 or 0 in values.shape:
        what = f"{name} has the shape {tuple(values.shape)} and the type {values.dtype}"
        remedy = "it must be a dense table of numbers: one row a node or edge, one column a feature"
        raise GraphError(what, where=path, remedy=remedy)
    table = values.detach().float()
    if not torch.isfinite(table).all():
        what = f"{name} has values that are not finite numbers"
        remedy = "replace missing values before you save the graph"
        raise GraphError(what, where=path, remedy=remedy)
    return table.contiguous().numpy()


def _edge_index(
    path: Path, values: torch.Tensor, n_nodes: int, n_edges: int
) -> np.ndarray:
    """Return the nodes that edges join, shape (2, E)."""
    whole = not (
        values.is_floating_point() or values.is_complex() or values.dtype == torch.bool
    )
    if not whole or tuple(values.shape) != (2, n_edges):
        what = f"edge_index has the shape {tuple(values.shape)} and the type {values.dtype}"
        wanted = f"whole numbers of shape (2, {n_edges})"
        remedy = f"edge_attr has {n_edges} rows, so it must be {wanted}"
        raise GraphError(what, where=path, remedy=remedy)
    index = values.detach().long().contiguous().numpy()
    smallest, largest = index.min(), index.max()
    if smallest < 0 or largest >= n_nodes:
        what = f"edge_index names node {largest if largest >= n_nodes else smallest}"
        remedy = f"x has {n_nodes} rows, so nodes are 0 to {n_nodes - 1}"
        raise GraphError(what, where=path, remedy=remedy)
    return index


def _label(path: Path, y: Any) -> float:
    """Return the DockQ of a graph, nan without."""
    if y is None:
        return math.nan
    is_number = isinstance(y, torch.Tensor | int | float)
    values = torch.as_tensor(y).reshape(-1).tolist() if is_number else []
    remedy = (
        "y is the DockQ of the whole graph, one number from 0 to 1; leave it out where it is "
        "unknown"
    )
    if len(values) != 1 or isinstance(values[0], complex):
        raise GraphError("y is not one number", where=path, remedy=remedy)
    dockq = float(values[0])
    if not (math.isnan(dockq) or 0 <= dockq <= 1):
        raise GraphError(f"y is {dockq:g}", where=path, remedy=remedy)
    return dockq


def _metadata(metadata: Any, node_width: int, edge_width: int) -> dict[str, Any]:
    """Return what a pack keeps of the metadata of a graph: what TopoRank understands of it."""
    metadata = metadata if isinstance(metadata, dict) else {}
    understood: dict[str, Any] = {}
    if not _unnamed_stages(metadata):
        features, version = metadata["features"], metadata.get("format")
        understood["features"] = only(features, DEFAULT_MODULES)
        understood["format"] = version if isinstance(version, int) else None
    for name, width in (("node_columns", node_width), ("edge_columns", edge_width)):
        columns = metadata.get(name)
        is_complete = isinstance(columns, list) and len(columns) == width
        if is_complete and all(isinstance(column, str) for column in columns):
            understood[name] = columns
    return understood


def _unnamed_stages(metadata: Any) -> tuple[str, ...]:
    """Return the stages whose feature module the metadata of a file do not name."""
    features = metadata.get("features") if isinstance(metadata, dict) else None
    features = features if isinstance(features, dict) else {}
    unnamed = []
    for stage in DEFAULT_MODULES:
        record = features.get(stage)
        if not isinstance(record, dict) or not isinstance(record.get("module"), str):
            unnamed.append(stage)
    return tuple(unnamed)


def _without_folder_and_ending(name: str) -> str:
    """Return the name of a file as tables show it.

    It has no folder and no ending of a structure or graph.
    """
    name = Path(name).name.removesuffix(SUFFIX)
    return table_name((split_suffix(name) or (name,))[0])


def _text(saved: dict[str, Any], keys: Iterable[str]) -> str:
    """Return the first text under one of these names, in the metadata or beside it.

    It is empty where there is no such text.
    """
    metadata = saved.get("metadata")
    places = [metadata, saved] if isinstance(metadata, dict) else [saved]
    for place in places:
        for key in keys:
            if isinstance(place.get(key), str) and place[key]:
                return place[key]
    return ""
