"""Graphs into one pack, from which `learning.data` slices batches."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from safetensors.numpy import save_file

from toporank.code import code_of
from toporank.errors import GraphError
from toporank.files import described
from toporank.files.atomic import replacing
from toporank.files.graph_file import Graph, read_graph
from toporank.files.packfile import BETWEEN, Pack, check_alike, content_digest
from toporank.structures.identity import DecoyKey

log = logging.getLogger(__name__)


class Member(NamedTuple):
    """One graph to be packed.

    split : of its decoy, or the name of an interface. graph : what messages call it.

    sha256, content : checksum of it, and what gives the bytes that have it. quality_sha256 : of
    what its local quality is made of; empty where that is unknown. read : makes the graph, if it is
    in no file of TopoRank; sha256 then names what it is made of.
    """

    target: str
    decoy: str
    split: str
    graph: Path
    sha256: str
    content: Callable[[], bytes] = bytes
    quality_sha256: str = ""
    read: Callable[[], Graph] | None = None


TYPES: dict[str, type] = {
    "x": np.float32,
    "source": np.int32,
    "destination": np.int32,
    "edge_attr": np.float32,
    "y": np.float32,
    "edge_y": np.float32,
}
"""Of the numbers of a pack while it is written; the first two of its edges become one array."""
EdgeQuality = Callable[[DecoyKey, Graph], np.ndarray]
"""Target and name of a decoy, and its graph with edges as a pack has them → local quality of these:
float32, (E,).
"""


def write_pack(
    path: Path,
    members: list[Member],
    joined: int = 0,
    quality: EdgeQuality | None = None,
) -> int:
    """Pack graphs; what a pack at `path` has of the same files is copied from there.

    The result does not depend on what was there before. A data set without any graph gives an empty
    pack. No more than one graph is in memory at a time.

    Parameters
    ----------
    path : Path
        Of the pack.
    members : list of Member
        Its graphs, in its order.
    joined : int
        In how many a partner has several chains.
    quality : callable, optional
        Local quality of the members with a `quality_sha256`.

    Returns
    -------
    int
        How many graphs were read.

    Raises
    ------
    GraphError
        Naming a graph that is damaged, or two whose widths or feature modules differ.
    """
    code = code_of("building/packing.py", "files")
    digests = [_source_digest(member, code) for member in members]
    old, place = _reusable(path)
    n_read, first, residues, sizes = 0, None, [], []
    is_graded = any(member.quality_sha256 for member in members)
    with replacing(path) as temporary, _Growing(path.parent, is_graded) as growing:
        for member, digest in zip(members, digests, strict=True):
            if old and digest in place:
                graph = old.graph(place[digest])
            else:
                graph = _read(member, quality)
                n_read += 1
            kind = graph.kind()
            first = first or (str(member.graph), kind, graph.metadata)
            check_alike(*first[:2], str(member.graph), kind)
            growing.add(graph)
            residues.append(graph.residues)
            sizes.append((len(graph.x), len(graph.edge_attr)))
        widths = (first[1]["node width"], first[1]["edge width"]) if first else (0, 0)
        starts = np.cumsum([(0, 0), *sizes], axis=0)
        arrays = growing.arrays(*widths)
        arrays["node_start"], arrays["edge_start"] = starts.T.copy()
        description = {
            **(first[2] if first else {}),
            "decoys": [member[:3] for member in members],
            "sources": digests,
            "joined": joined,
            "residues": residues,
            "content": content_digest(arrays),
        }
        save_file(arrays, temporary, {described.KEY: described.as_text(description)})
    return n_read


def in_memory(members: Sequence[Member], joined: int = 0) -> Pack:
    """Return the same pack in memory, without local quality. Raises GraphError as `write_pack`."""
    graphs = [_read(member, None) for member in members]
    return Pack.of([member[:3] for member in members], graphs, joined)


class _Growing(contextlib.ExitStack):
    """The arrays of a pack, in files without a name while graphs are added.

    folder : where there is room for them. is_graded : whether `edge_y` is one.
    """

    def __init__(self, folder: Path, is_graded: bool):
        super().__init__()
        self._files: dict[str, IO[bytes]] = {}
        for name in TYPES:
            if is_graded or name != "edge_y":
                file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 -- closed with all
                self._files[name] = self.enter_context(file)

    def add(self, graph: Graph) -> None:
        """Append a graph. An edge whose local quality is unknown has nan."""
        edge_y = graph.edge_y
        if edge_y is None:
            edge_y = np.full(len(graph.edge_attr), np.nan)
        source, destination = graph.edge_index
        arrays = {
            "x": graph.x,
            "source": source,
            "destination": destination,
            "edge_attr": graph.edge_attr,
            "y": np.array([graph.y]),
            "edge_y": edge_y,
        }
        for name, file in self._files.items():
            file.write(np.ascontiguousarray(arrays[name], TYPES[name]).data)

    def arrays(self, node_width: int, edge_width: int) -> dict[str, np.ndarray]:
        """All of them, mapped into memory."""
        destination = self._files.pop("destination")
        destination.seek(0)
        shutil.copyfileobj(destination, self._files["source"])
        arrays = {}
        for name, file in self._files.items():
            # an empty file cannot be mapped
            is_empty = file.tell() == 0
            dtype = TYPES[name]
            arrays[name] = (
                np.zeros(0, dtype) if is_empty else np.memmap(file, dtype, "r")
            )
        arrays["x"] = _rows(arrays["x"], node_width)
        arrays["edge_attr"] = _rows(arrays["edge_attr"], edge_width)
        arrays["edge_index"] = arrays.pop("source").reshape(2, -1)
        return arrays


def _rows(values: np.ndarray, width: int) -> np.ndarray:
    return values.reshape(len(values) // max(width, 1), width)


def _read(member: Member, quality: EdgeQuality | None) -> Graph:
    """A graph as a pack has it."""
    if member.read is not None:
        return by_destination(member.read())
    graph = by_destination(read_graph(member.content(), member.graph))
    edge_y = None
    if quality and member.quality_sha256:
        edge_y = quality(member[:2], graph)
    metadata = {
        k: v for k, v in graph.metadata.items() if k not in ("residues", "partners")
    }
    return graph._replace(
        metadata=metadata,
        edge_y=edge_y,
        residues=BETWEEN.join(graph.metadata["residues"]),
    )


def by_destination(graph: Graph) -> Graph:
    """With its edges sorted by the node they point to, as the network reads them."""
    order = np.argsort(graph.edge_index[1], kind="stable")
    return graph._replace(
        edge_index=graph.edge_index[:, order], edge_attr=graph.edge_attr[order]
    )


def _source_digest(member: Member, code: str) -> str:
    """SHA-256 of a graph, of what its local quality is made of, and of the code that packs both."""
    return hashlib.sha256(
        f"{member.sha256} {member.quality_sha256} {code}".encode()
    ).hexdigest()


def _reusable(path: Path) -> tuple[Pack | None, dict[str, int]]:
    """The pack that is there, and the place in it of each file it was made of."""
    if not path.exists():
        return None, {}
    try:
        old = Pack.open(path)
        old.verify()
    except GraphError as error:
        log.warning("nothing is copied from the old pack: %s", error)
        return None, {}
    return old, {digest: i for i, digest in enumerate(old.sources)}
