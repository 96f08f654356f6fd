"""Graphs on disk: one PyTorch Geometric `Data` file for each decoy, written and read without torch.

Such a file is what `torch.save` makes of a `Data`: a zip archive with a pickle that describes the object, and the
numbers of each tensor as an entry of their own.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.errors import GraphError
from toporank.files.torch_archive import TorchFile
from toporank.files.torch_pickles import DamagedFileError

FORMAT = 1
"""Version of the graph file; raise it when what is written changes meaning."""

REBUILD = "build the graph again"
FOLDER = "graph"
"""What all entries of an archive lie in."""
ALIGNMENT = 64
"""Bytes; numbers begin at multiples of it, so that the file can be memory-mapped."""


class Graph(NamedTuple):
    """One decoy as the network sees it.

    x : (n, k) float32. edge_index : (2, E) int64. edge_attr : (E, m) float32. y : its DockQ, nan where unlabelled.
    metadata : of the features. edge_y : (E,) float32, the local quality of each edge, nan where unknown; of a graph in
    a pack alone, None where the pack has none. residues : of a graph in a pack alone, the names of its nodes as
    `packfile.Pack` has them.
    """

    x: np.ndarray
    edge_index: np.ndarray
    edge_attr: np.ndarray
    y: float
    metadata: dict[str, Any]
    edge_y: np.ndarray | None = None
    residues: str = ""


# ---- writing ----------------------------------------------------------------------------------------------


def graph_bytes(
    x: np.ndarray, edge_index: np.ndarray, edge_attr: np.ndarray, y: float | None, metadata: dict[str, Any]
) -> bytes:
    """The file content of a graph, for `torch.load`; the same graph gives the same bytes.

    x : (n, k) and edge_attr : (E, m), kept in float32. edge_index : (2, E), kept in int64. y : label, None without.
    metadata : strings, numbers, lists and dictionaries, whose order does not count. Raises TypeError at anything else.
    """
    arrays = {
        "x": np.ascontiguousarray(x, "<f4"),
        "edge_index": np.ascontiguousarray(edge_index, "<i8"),
        "edge_attr": np.ascontiguousarray(edge_attr, "<f4"),
    }
    if y is not None:
        arrays["y"] = np.array([y], "<f4")
    numbers = {f"data/{i}": array.tobytes() for i, array in enumerate(arrays.values())}
    entries = {"data.pkl": _pickled(arrays, metadata), "byteorder": b"little", **numbers, "version": b"3\n"}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(f"{FOLDER}/{name}")  # dated 1980, whenever it is written
            entry.create_system = 3  # the same on every system
            padding = -(buffer.tell() + zipfile.sizeFileHeader + len(entry.filename) + 4) % ALIGNMENT
            entry.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding  # under the name torch gives it
            archive.writestr(entry, content)
    return buffer.getvalue()


def _pickled(arrays: dict[str, np.ndarray], metadata: dict[str, Any]) -> bytes:
    """A `Data` object in protocol 2. Only that object is memoised, so that equal values make equal bytes whether they
    are one object or two."""
    tensors = b"".join(_text(name) + _tensor(str(i), array) for i, (name, array) in enumerate(arrays.items()))
    mapping = b"}(" + tensors + _text("metadata") + _value(metadata) + b"u"
    data = b"\x80\x02" + _global("torch_geometric.data.data", "Data") + b")\x81q\0}("
    data += _text("_edge_attr_cls") + _global("torch_geometric.data.data", "DataEdgeAttr")
    data += _text("_tensor_attr_cls") + _global("torch_geometric.data.data", "DataTensorAttr")
    store = _global("torch_geometric.data.storage", "GlobalStorage") + b")\x81}("
    store += _text("_mapping") + mapping + _text("_parent") + b"h\0ub"
    return data + _text("_store") + store + b"ub."


def _tensor(key: str, array: np.ndarray) -> bytes:
    kind = _global("torch", "LongStorage" if array.dtype.kind == "i" else "FloatStorage")
    storage = b"(" + _text("storage") + kind + _text(key) + _text("cpu") + _value(array.size) + b"tQ"
    stride = [math.prod(max(side, 1) for side in array.shape[i:]) for i in range(1, array.ndim + 1)]
    hooks = _global("collections", "OrderedDict") + b")R"
    shape = b"(" + b"".join(map(_value, array.shape)) + b"t(" + b"".join(map(_value, stride)) + b"t"
    return _global("torch._utils", "_rebuild_tensor_v2") + b"(" + storage + b"K\0" + shape + b"\x89" + hooks + b"tR"


def _global(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def _text(text: str) -> bytes:
    encoded = text.encode()
    return b"X" + len(encoded).to_bytes(4, "little") + encoded


def _value(value: Any) -> bytes:
    """A plain value as a pickle has it."""
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, int):
        size = value.bit_length() // 8 + 1
        small = b"J" + value.to_bytes(4, "little", signed=True) if size <= 4 else None
        return small or b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, list | tuple):
        return b"](" + b"".join(map(_value, value)) + b"e"
    if isinstance(value, dict):
        return b"}(" + b"".join(_text(key) + _value(value[key]) for key in sorted(value)) + b"u"
    raise TypeError(f"metadata cannot hold a {type(value).__name__}")


# ---- reading ----------------------------------------------------------------------------------------------


def read_graph(path: Path, content: bytes | None = None) -> Graph:
    """The graph in a file that `graph_bytes` made, read without torch and without running code from it.

    content : its bytes, where they are known; `path` then only names them. The arrays are not to be written to. Raises
    GraphError when the file is damaged or another.
    """
    try:
        with TorchFile(path if content is None else io.BytesIO(content)) as file:
            saved = file.content.state["_store"].state["_mapping"]
            x, edge_index, edge_attr = (file.numbers(saved[name]) for name in ("x", "edge_index", "edge_attr"))
            y = file.numbers(saved["y"]).item() if "y" in saved else math.nan
            return Graph(x, edge_index, edge_attr, y, saved["metadata"])
    except (OSError, DamagedFileError) as error:
        raise GraphError(f"not a readable graph file: {error}", where=path, remedy=REBUILD) from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise GraphError("not a graph that TopoRank made", where=path, remedy=REBUILD) from error
