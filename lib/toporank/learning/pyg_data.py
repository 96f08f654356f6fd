"""Graphs of another pipeline: PyTorch Geometric `Data` files into the arrays that are packed.

`torch.load` opens them with `weights_only`, so that no file can run code.
"""

from __future__ import annotations

import hashlib
import io
import math
import pickle
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

from toporank.errors import GraphError, printable
from toporank.features.registry import DEFAULT_MODULES
from toporank.files.graph_file import Graph
from toporank.files.packfile import BETWEEN
from toporank.inputs.graph_files import EXPECTED, SUFFIX, GraphFile
from toporank.structures.identity import split_suffix, table_name

OF_PYG = [Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]
"""What a `Data` file names beside what PyTorch Geometric itself declares safe."""
TENSORS = ("x", "edge_index", "edge_attr")
SAVE_PLAIN = "save a Data of tensors, numbers and texts alone, with torch.save"
NAMES_OF_TARGET, NAMES_OF_DECOY = ("target",), ("name", "decoy", "model")
"""Under which a file may say what it is, in `metadata` or beside it."""


def examine_graph_files(folder: Path, paths: Iterable[Path]) -> list[GraphFile]:
    """Read all graphs once and check that they are alike: the first says how many columns all must have.

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
        Naming the file, when one cannot be read, lacks a tensor, or has another number of columns than the first.
    """
    files, first, widths = [], None, ()
    for path in paths:
        content = path.read_bytes()
        saved = _saved(path, content)
        graph = _graph(path, saved)
        own_widths = (graph.x.shape[1], graph.edge_attr.shape[1])
        if first is None:
            first, widths = path, own_widths
        _check_widths(path, own_widths, first, widths)
        sub_folder = path.parent.name if path.parent != folder else ""
        file_name = _without_folder_and_ending(path.stem)
        graph_file = GraphFile(
            path=path,
            target=_without_folder_and_ending(_text(saved, NAMES_OF_TARGET)) or table_name(sub_folder),
            decoy=_without_folder_and_ending(_text(saved, NAMES_OF_DECOY)) or file_name,
            file_name=file_name,
            dockq=graph.y,
            sha256=hashlib.sha256(content).hexdigest(),
            names_features="features" in graph.metadata,
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
        x of shape (n, k), edge_index (2, E) and edge_attr (E, m); an edge_attr of shape (E,) becomes one column. The
        metadata has the columns and feature modules where the file names them in TopoRank's words.

    Raises
    ------
    GraphError
        Naming the file and what is wrong with it.
    """
    return _graph(path, _saved(path, path.read_bytes()))


def _saved(path: Path, content: bytes) -> dict[str, Any]:
    """Return what a file stores, by name."""
    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals(OF_PYG):
            warnings.simplefilter("ignore")
            data = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        unsafe = re.search(r"GLOBAL (\S+)", str(error))
        if unsafe is None:
            raise _unreadable(path, error) from error
        what = f"TopoRank does not open it: it needs {unsafe[1]}, and a file with such objects could run any code"
        raise GraphError(what, where=path, remedy=SAVE_PLAIN) from error
    except (OSError, EOFError, RuntimeError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise _unreadable(path, error) from error
    if not isinstance(data, Data):
        raise GraphError(f"holds a {type(data).__name__}, not a Data", where=path, remedy=EXPECTED)
    return data.to_dict()


def _unreadable(path: Path, error: Exception) -> GraphError:
    reason = printable(str(error).partition("\n")[0]) or "it is empty or cut off"
    return GraphError(f"not a readable graph: {reason}", where=path, remedy="write it again, or remove it")


def _graph(path: Path, saved: dict[str, Any]) -> Graph:
    missing = [name for name in TENSORS if not isinstance(saved.get(name), torch.Tensor)]
    if missing:
        raise GraphError(
            f"has no tensor {' and no tensor '.join(missing)}",
            where=path,
            remedy=f"every graph needs {', '.join(TENSORS)}: write the file again with them, or remove it",
        )
    edge_attr = saved["edge_attr"]
    columns = edge_attr.unsqueeze(1) if edge_attr.dim() == 1 else edge_attr
    x, attributes = _features(path, "x", saved["x"]), _features(path, "edge_attr", columns)
    edge_index = _edge_index(path, saved["edge_index"], n_nodes=len(x), n_edges=len(attributes))
    metadata = _metadata(saved.get("metadata"), node_width=x.shape[1], edge_width=attributes.shape[1])
    names = BETWEEN.join(str(place) for place in range(1, len(x) + 1))
    return Graph(x, edge_index, attributes, _label(path, saved.get("y")), metadata, residues=names)


def _features(path: Path, name: str, values: torch.Tensor) -> np.ndarray:
    """Return a table of features in single precision, shape (rows, columns)."""
    if values.layout != torch.strided or values.is_complex() or values.dim() != 2 or 0 in values.shape:
        shape = tuple(values.shape)
        remedy = "it must be a dense table of numbers: one row a node or edge, one column a feature"
        raise GraphError(f"{name} has the shape {shape} and the type {values.dtype}", where=path, remedy=remedy)
    table = values.detach().float()
    if not torch.isfinite(table).all():
        remedy = "replace missing values before you save the graph"
        raise GraphError(f"{name} has values that are not finite numbers", where=path, remedy=remedy)
    return table.contiguous().numpy()


def _edge_index(path: Path, values: torch.Tensor, *, n_nodes: int, n_edges: int) -> np.ndarray:
    """Return the nodes that edges join, shape (2, E)."""
    whole = not (values.is_floating_point() or values.is_complex() or values.dtype == torch.bool)
    if not whole or tuple(values.shape) != (2, n_edges):
        what = f"edge_index has the shape {tuple(values.shape)} and the type {values.dtype}"
        remedy = f"edge_attr has {n_edges} rows, so it must be whole numbers of shape (2, {n_edges})"
        raise GraphError(what, where=path, remedy=remedy)
    index = values.detach().long().contiguous().numpy()
    if index.min() < 0 or index.max() >= n_nodes:
        what = f"edge_index names node {index.max() if index.max() >= n_nodes else index.min()}"
        raise GraphError(what, where=path, remedy=f"x has {n_nodes} rows, so nodes are 0 to {n_nodes - 1}")
    return index


def _label(path: Path, y: Any) -> float:
    """Return the DockQ of a graph, nan without."""
    if y is None:
        return math.nan
    values = torch.as_tensor(y).reshape(-1).tolist() if isinstance(y, torch.Tensor | int | float) else []
    remedy = "y is the DockQ of the whole graph, one number from 0 to 1; leave it out where it is unknown"
    if len(values) != 1 or isinstance(values[0], complex):
        raise GraphError("y is not one number", where=path, remedy=remedy)
    dockq = float(values[0])
    if not (math.isnan(dockq) or 0 <= dockq <= 1):
        raise GraphError(f"y is {dockq:g}", where=path, remedy=remedy)
    return dockq


def _metadata(metadata: Any, *, node_width: int, edge_width: int) -> dict[str, Any]:
    """Return what a pack keeps of the metadata of a graph: what TopoRank understands of it."""
    metadata = metadata if isinstance(metadata, dict) else {}
    understood: dict[str, Any] = {}
    features = metadata.get("features")
    if isinstance(features, dict) and all(_is_record(features.get(stage)) for stage in DEFAULT_MODULES):
        understood["features"] = {stage: features[stage] for stage in DEFAULT_MODULES}
        understood["format"] = metadata.get("format") if isinstance(metadata.get("format"), int) else None
    for name, width in (("node_columns", node_width), ("edge_columns", edge_width)):
        columns = metadata.get(name)
        if isinstance(columns, list) and len(columns) == width and all(isinstance(column, str) for column in columns):
            understood[name] = columns
    return understood


def _is_record(record: Any) -> bool:
    return isinstance(record, dict) and isinstance(record.get("module"), str)


def _without_folder_and_ending(name: str) -> str:
    """Return the name of a file as tables show it, without folder and without the ending of a structure or graph."""
    name = Path(name).name.removesuffix(SUFFIX)
    return table_name((split_suffix(name) or (name,))[0])


def _text(saved: dict[str, Any], keys: Iterable[str]) -> str:
    """Return the first text under one of these names, in the metadata or beside it; empty without."""
    metadata = saved.get("metadata")
    places = [metadata, saved] if isinstance(metadata, dict) else [saved]
    for place in places:
        for key in keys:
            if isinstance(place.get(key), str) and place[key]:
                return place[key]
    return ""


def _check_widths(path: Path, widths: tuple[int, int], first: Path, expected: tuple[int, int]) -> None:
    for tensor, width, other in zip(("x", "edge_attr"), widths, expected, strict=True):
        if width != other:
            raise GraphError(
                f"{tensor} has {width} columns, in {first} it has {other}",
                where=path,
                remedy="all graphs of a data set need the same columns: remove those of another kind",
            )
