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
from toporank.files.torch_pickles import DamagedFileError, Global, Instance, SavedTensor

FORMAT = 1
"""Version of the graph file; raise it when what is written changes meaning."""

REBUILD = "build the graph again"
FOLDER = "graph"
"""What all entries of an archive lie in."""
ALIGNMENT = 64
"""Bytes; numbers begin at multiples of it, so that the file can be memory-mapped."""
DEEPEST = 50
"""Levels of lists and dictionaries in metadata."""
MOST_VALUES = 2**20
"""Values in metadata."""

DATA = Global("torch_geometric.data.data", "Data")
NAMES = {
    DATA, Global("torch_geometric.data.data", "DataEdgeAttr"), Global("torch_geometric.data.data", "DataTensorAttr"),
    Global("torch_geometric.data.storage", "GlobalStorage"),
    Global("torch._utils", "_rebuild_sparse_tensor"), Global("torch.serialization", "_get_layout"),
    Global("torch", "Size"), Global("torch", "device"),
    Global("builtins", "set"), Global("__builtin__", "set"), Global("_codecs", "encode"),
    Global("builtins", "bytearray"), Global("__builtin__", "bytearray"), Global("builtins", "complex"),
}  # fmt: skip
"""What a graph may be made of beside tensors."""


class Graph(NamedTuple):
    """One decoy as the network sees it.

    x : (n, k) float32. edge_index : (2, E) int64. edge_attr : (E, m) float32. y : its DockQ, nan where unlabelled.
    metadata : of the features; empty for a graph made elsewhere without. edge_y : (E,) float32, the local quality of
    each edge, nan where unknown; of a graph in a pack alone, None where the pack has none. residues : of a graph in a
    pack alone, the names of its nodes as `packfile.Pack` has them.
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
    data = b"\x80\x02" + _global(*DATA) + b")\x81q\0}("
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
    """Read a graph file, ours or what anyone made with `torch.save`, without running code from it.

    content : its bytes, where they are known; `path` then only names them.

    Numbers of another type become float32 or int64; attributes that no graph needs are ignored. Raises GraphError when
    the file is damaged, asks for more memory than it can need, holds something other than a `Data`, or lacks x,
    edge_index or edge_attr.
    """
    try:
        with TorchFile(path if content is None else io.BytesIO(content), NAMES) as file:
            found = _attributes(file.content, path)
            x, edge_index, edge_attr = (_matrix(file, name, found, path) for name in ("x", "edge_index", "edge_attr"))
            y = found.get("y")
            label = _label(file.numbers(y) if isinstance(y, SavedTensor) else y, path)
    except (OSError, DamagedFileError) as error:
        raise GraphError(f"not a readable graph file: {error}", where=path, remedy=REBUILD) from error
    _check_edges(len(x), edge_index, len(edge_attr), path)
    metadata = _metadata(found.get("metadata"), path)
    return Graph(x.astype(np.float32), edge_index.astype(np.int64), edge_attr.astype(np.float32), label, metadata)


def _matrix(file: TorchFile, name: str, found: dict[str, Any], path: Path) -> np.ndarray:
    """The numbers of a tensor with two dimensions; raises GraphError if there is none of that name."""
    value = found.get(name)
    if not isinstance(value, SavedTensor):
        what = "missing" if value is None else f"a {_kind(value)}"
        raise GraphError(f"`{name}` is {what}", where=path, remedy=REBUILD)
    if len(value.shape) != 2:
        raise GraphError(f"`{name}` is of shape {value.shape}", where=path, remedy=REBUILD)
    return file.numbers(value)


def _attributes(content: Any, path: Path) -> dict[str, Any]:
    """The attributes of a `Data` object by name."""
    if not (isinstance(content, Instance) and content.kind == DATA):
        raise GraphError(f"holds a {_kind(content)}, not a torch_geometric Data", where=path, remedy=REBUILD)
    for name in ("_store", "_mapping"):
        state = content.state if isinstance(content, Instance) else None
        content = state.get(name) if isinstance(state, dict) else None
    if not isinstance(content, dict):
        raise GraphError("is a Data without attributes, or one of PyTorch Geometric 1", where=path, remedy=REBUILD)
    return content


def _kind(value: Any) -> str:
    if isinstance(value, SavedTensor):
        return "Tensor"
    return value.kind.name if isinstance(value, Instance) else type(value).__name__


def _check_edges(n_nodes: int, index: np.ndarray, n_attributes: int, path: Path) -> None:
    if n_attributes != index.shape[1]:
        raise GraphError(f"{index.shape[1]} edges but {n_attributes} rows of edge_attr", where=path, remedy=REBUILD)
    whole = index.dtype.kind in "iu" and len(index) == 2
    if not whole or (index.size and not 0 <= index.min() <= index.max() < n_nodes):
        raise GraphError("`edge_index` is not two rows of node numbers", where=path, remedy=REBUILD)


def _label(y: Any, path: Path) -> float:
    """A label, nan without."""
    if y is None:
        return math.nan
    if isinstance(y, np.ndarray) and y.size == 1:
        return float(y.flat[0])
    if isinstance(y, int | float):
        return float(y)
    what = f"of shape {y.shape}" if isinstance(y, np.ndarray) else f"a {_kind(y)}"
    raise GraphError(f"`y` is {what}, not one number", where=path, remedy=REBUILD)


def _metadata(found: Any, path: Path) -> dict[str, Any]:
    """Plain values, each a new one: what a pickle uses a thousand times becomes a thousand values, or an error."""
    if not isinstance(found, dict | None):
        raise GraphError(f"`metadata` is a {_kind(found)}, not a dictionary", where=path, remedy=REBUILD)
    left = MOST_VALUES

    def plain(value: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or depth > DEEPEST:
            raise GraphError("`metadata` has too many values or levels", where=path, remedy=REBUILD)
        if value is None or isinstance(value, str | bool | int | float):
            return value
        if type(value) in (list, tuple):
            return [plain(each, depth + 1) for each in value]
        if type(value) is dict and all(isinstance(key, str) for key in value):
            return {key: plain(each, depth + 1) for key, each in value.items()}
        raise GraphError(f"`metadata` holds a {_kind(value)}", where=path, remedy="leave it out, or make it a text")

    return plain(found or {}, 0)
