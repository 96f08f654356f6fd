"""Packs: many graphs as one, in memory or in a memory-mapped safetensors file.

`building.packing` writes such files.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from toporank.errors import GraphError
from toporank.files import described
from toporank.files.graph_file import Graph

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)

REPACK = "delete it and run again: the graphs are packed anew"
BETWEEN = "\t"
"""Stands between the names of residues; no name has it."""
NUMBERS = {
    "x": ("float32", 2),
    "edge_index": ("int32", 2),
    "edge_attr": ("float32", 2),
    "node_start": ("int64", 1),
    "edge_start": ("int64", 1),
    "y": ("float32", 1),
    "edge_y": ("float32", 1),
}
"""Type and dimensions of each array. Where no native says how good the edges of a pack are,
`edge_y` is not in the file and empty here.
"""

COLUMNS = {"x": "node_columns", "edge_attr": "edge_columns"}
"""Arrays of features, and where the metadata name their columns."""
OF_PACK = {"decoys", "sources", "residues", "content", "joined"}
"""Parts of the description that are not metadata of the graphs."""
NOT_A_PACK = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""What reading a file raises that is damaged, or no pack."""


def content_digest(arrays: dict[str, np.ndarray]) -> str:
    """Digest of all numbers of a pack."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(arrays[name].data)
    return digest.hexdigest()


def check_alike(
    file: str, kind: dict[str, Any], other_file: str, other: dict[str, Any]
) -> None:
    """Raise GraphError naming what differs between the kinds of two files."""
    for name in kind:
        if kind[name] != other[name]:
            raise GraphError(
                f"graphs differ in {name}: {kind[name]} in {file}, {other[name]} in {other_file}",
                remedy="build them with one feature configuration",
            )


def with_columns(
    numbers: dict[str, np.ndarray], metadata: dict[str, Any], others: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Numbers and metadata of graphs with the columns of others, in their order.

    Columns that the graphs lack are 0. Nothing changes where columns have no names, or one of the
    graphs is not among those of the others: no rule says then what it would become.

    Parameters
    ----------
    numbers, metadata : of a pack
    others : `node_columns` and `edge_columns`, as metadata and descriptions of checkpoints have
    """
    for tensor, key in COLUMNS.items():
        names, wanted = metadata.get(key), others.get(key)
        if not names or not wanted or names == wanted or not {*names} <= {*wanted}:
            continue
        values = np.zeros((len(numbers[tensor]), len(wanted)), np.float32)
        values[:, [wanted.index(name) for name in names]] = numbers[tensor]
        numbers = {**numbers, tensor: values}
        metadata = {**metadata, key: wanted}
    return numbers, metadata


# ---- packs ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pack:
    """Many graphs, of a file memory-mapped, and not to be written to.

    numbers : by the names of `NUMBERS`. decoys : target, decoy and split; item i is graph i.
    sources : SHA-256 of what each graph here was made of, its file, its local quality and the code.
    content : that of all numbers. joined : number of graphs in which a partner has several chains.
    residues : names of the nodes of each graph as in its file, with `BETWEEN` between them.
    """

    path: Path
    numbers: dict[str, np.ndarray]
    decoys: list[tuple[str, str, str]]
    metadata: dict[str, Any]
    sources: list[str]
    content: str
    joined: int
    residues: list[str]

    def __len__(self) -> int:
        return len(self.decoys)

    @classmethod
    def of(
        cls, decoys: list[tuple[str, str, str]], graphs: Sequence[Graph], joined: int
    ) -> Pack:
        """Pack graphs in memory; the order of their edges stays.

        Raises GraphError where they are of different kinds.
        """
        numbers: dict[str, Any] = {
            "x": [graph.x for graph in graphs] or [np.zeros((0, 0))],
            "edge_index": [graph.edge_index for graph in graphs] or [np.zeros((2, 0))],
            "edge_attr": [graph.edge_attr for graph in graphs] or [np.zeros((0, 0))],
            "node_start": [[0], np.cumsum([len(graph.x) for graph in graphs])],
            "edge_start": [[0], np.cumsum([len(graph.edge_attr) for graph in graphs])],
            "y": [[graph.y for graph in graphs]],
            "edge_y": [[]],
        }
        names = ["/".join(decoy[:2]) for decoy in decoys]
        for name, graph in zip(names, graphs, strict=True):
            first, other = graphs[0].kind(), graph.kind()
            check_alike(names[0], first, name, other)
        for name, (dtype, _) in NUMBERS.items():
            along = 1 if name == "edge_index" else 0
            # loops are compiled for arrays as those of a file are: by rows, not to be written
            values = np.concatenate(numbers[name], axis=along)
            values = np.ascontiguousarray(values, dtype)
            values.setflags(write=False)
            numbers[name] = values
        return cls(
            path=Path(names[0] if names else ""),
            numbers=numbers,
            decoys=decoys,
            metadata=graphs[0].metadata if graphs else {},
            sources=[],
            content="",
            joined=joined,
            residues=[graph.residues for graph in graphs],
        )

    @classmethod
    def open(cls, path: Path) -> Pack:
        """Open a pack.

        Raises GraphError when the file is missing, cut off or no pack, or an edge joins no
        nodes of its graph.

        The edges are looked at here, once, because a network that follows an invalid edge reads
        foreign memory. A digest is no protection: whoever wrote the edges could write that, too.
        The check takes milliseconds for ten million edges.
        """
        try:
            numbers, description = described.mapped(path)
            pack = cls(
                path=path,
                numbers=numbers,
                decoys=[
                    (target, decoy, split)
                    for target, decoy, split in description["decoys"]
                ],
                sources=list(description["sources"]),
                residues=list(description["residues"]),
                content=description["content"],
                joined=description["joined"],
                metadata={
                    key: description[key] for key in description if key not in OF_PACK
                },
            )
        except NOT_A_PACK as error:
            raise GraphError(
                f"not a readable pack: {error}", where=path, remedy=REPACK
            ) from error
        numbers.setdefault("edge_y", np.zeros(0, np.float32))
        is_even = len(pack.sources) == len(pack.residues) == len(pack)
        if not is_even or not _fit_together(numbers, len(pack)):
            fault = "the tables of this pack do not fit together"
        elif not _edges_join_nodes(numbers):
            fault = "an edge of this pack joins nodes that its graph does not have"
        else:
            return pack
        raise GraphError(fault, where=path, remedy=REPACK)

    def verify(self) -> None:
        """Raise GraphError when the numbers are not those that were packed."""
        if self.content != content_digest(self.numbers):
            what = "the numbers of this pack are not those that were packed"
            raise GraphError(what, where=self.path, remedy=REPACK)

    def graph(self, i: int) -> Graph:
        """Graph i, still mapped."""
        numbers = self.numbers
        nodes = slice(*numbers["node_start"][i : i + 2].tolist())
        edges = slice(*numbers["edge_start"][i : i + 2].tolist())
        return Graph(
            x=numbers["x"][nodes],
            edge_index=numbers["edge_index"][:, edges],
            edge_attr=numbers["edge_attr"][edges],
            y=float(numbers["y"][i]),
            metadata=self.metadata,
            edge_y=numbers["edge_y"][edges] if len(numbers["edge_y"]) else None,
            residues=self.residues[i],
        )

    def with_columns(self, others: Mapping[str, Any]) -> Pack:
        """The same with the columns of other graphs, as the function `with_columns`."""
        numbers, metadata = with_columns(self.numbers, self.metadata, others)
        for key in COLUMNS.values():
            lacking = {*metadata.get(key, ())} - {*self.metadata.get(key, ())}
            if lacking:
                names = ", ".join(sorted(lacking))
                log.warning("%s: %s are 0, which other graphs have", self.path, names)
        return replace(self, numbers=numbers, metadata=metadata)

    def kind(self) -> dict[str, Any]:
        """What must be equal for packs to be used together."""
        x, edge_attr = self.numbers["x"], self.numbers["edge_attr"]
        index = self.numbers["edge_index"]
        return Graph(x, index, edge_attr, math.nan, self.metadata).kind()


def _fit_together(numbers: dict[str, np.ndarray], n_graphs: int) -> bool:
    """Whether the arrays are those of a pack, and the numbers of graphs, nodes and edges agree."""
    if {
        name: (str(values.dtype), values.ndim) for name, values in numbers.items()
    } != NUMBERS:
        return False
    n_edges = len(numbers["edge_attr"])
    return (
        len(numbers["y"]) == n_graphs
        and numbers["edge_index"].shape == (2, n_edges)
        and len(numbers["edge_y"]) in (0, n_edges)
        and _starts_fit(numbers["node_start"], n_graphs, len(numbers["x"]))
        and _starts_fit(numbers["edge_start"], n_graphs, n_edges)
    )


def _starts_fit(start: np.ndarray, n_graphs: int, n_rows: int) -> bool:
    """Whether rows are shared out among graphs from the first to the last."""
    rising = bool((start[:-1] <= start[1:]).all())
    return (
        len(start) == n_graphs + 1 and start[0] == 0 and start[-1] == n_rows and rising
    )


def _edges_join_nodes(numbers: dict[str, np.ndarray]) -> bool:
    """Whether all edges join nodes of their own graph."""
    index, first = numbers["edge_index"], numbers["edge_start"]
    graphs = np.flatnonzero(np.diff(first))
    if not len(graphs):
        return True
    # a negative place is far beyond the last node
    unsigned = index.view(f"u{index.itemsize}")
    last = np.maximum.reduceat(unsigned, first[graphs], axis=1).max(axis=0)
    return bool(
        (last < np.diff(numbers["node_start"])[graphs].astype(last.dtype)).all()
    )


class PackedRows(NamedTuple):
    """The tensors of a pack by name, and the rows of one of its graphs in them."""

    part: dict[str, Any]
    nodes: slice
    edges: slice


@dataclass(frozen=True)
class PackedGraphs:
    """The graphs of one or more packs, memory-mapped.

    target, decoy, split : (B,) texts and dockq : (B,) float64, nan where unlabelled; item i is
        graph i.
    residues : (B,) texts as in `Pack`.
    metadata : format, feature modules and columns; empty where there are no graphs.
    parts : the numbers of each pack, by the names of `NUMBERS`.
    part_of, place_in_part : (B,), in which pack a graph is, and where.
    joined : number of graphs in which a partner has several chains.
    """

    target: np.ndarray
    decoy: np.ndarray
    split: np.ndarray
    dockq: np.ndarray
    metadata: dict[str, Any]
    parts: list[dict[str, Any]]
    part_of: np.ndarray
    place_in_part: np.ndarray
    residues: np.ndarray
    joined: int = 0

    def __len__(self) -> int:
        return len(self.target)

    @cached_property
    def decoys(self) -> pd.DataFrame:
        """Target, decoy, split and dockq as a table; row i is graph i."""
        import pandas as pd  # takes longer to import than small packs to be read

        names = {"target": self.target, "decoy": self.decoy, "split": self.split}
        return pd.DataFrame(names, dtype=str).assign(dockq=self.dockq)

    def some(self, chosen: np.ndarray) -> Self:
        """The graphs at some places, int, in this order."""
        each = (
            "target",
            "decoy",
            "split",
            "dockq",
            "part_of",
            "place_in_part",
            "residues",
        )
        return replace(self, **{name: getattr(self, name)[chosen] for name in each})

    def with_columns(self, others: Mapping[str, Any]) -> Self:
        """The same with the columns of other graphs, as the function `with_columns`."""
        parts, metadata = [], self.metadata
        for part in self.parts:
            numbers, metadata = with_columns(part, self.metadata, others)
            parts.append(numbers)
        return replace(self, parts=parts, metadata=metadata)

    def rows(self, i: int) -> PackedRows:
        """Where the numbers of graph i are."""
        part, place = self.parts[self.part_of[i]], self.place_in_part[i]
        first_node, end_node = part["node_start"][place : place + 2].tolist()
        first_edge, end_edge = part["edge_start"][place : place + 2].tolist()
        return PackedRows(
            part, slice(first_node, end_node), slice(first_edge, end_edge)
        )

    def graph(self, i: int) -> Graph:
        """Graph i, without local quality."""
        part, nodes, edges = self.rows(i)
        return Graph(
            x=np.asarray(part["x"][nodes]),
            edge_index=np.asarray(part["edge_index"][:, edges]),
            edge_attr=np.asarray(part["edge_attr"][edges]),
            y=float(self.dockq[i]),
            metadata=self.metadata,
            residues=self.residues[i],
        )

    def names(self, i: int) -> list[str]:
        """Names of the residues of graph i, such as `A:52A`, in the order of its nodes.

        Raises GraphError when these are not as many as it has nodes.
        """
        names = self.residues[i].split(BETWEEN)
        n_nodes = self.n_nodes[i]
        if len(names) != n_nodes:
            decoy = f"{self.target[i]}/{self.decoy[i]}"
            what = f"a pack names {len(names)} residues of {decoy}, which has {n_nodes} nodes"
            raise GraphError(what, remedy=REPACK)
        return names

    @cached_property
    def n_nodes(self) -> np.ndarray:
        """Number of nodes of each graph: int64, (B,)."""
        n_nodes = np.zeros(len(self), np.int64)
        for p, part in enumerate(self.parts):
            in_part = self.part_of == p
            n_nodes[in_part] = np.diff(part["node_start"])[self.place_in_part[in_part]]
        return n_nodes

    @property
    def node_width(self) -> int:
        """Columns of x."""
        return self.parts[self._first]["x"].shape[1]

    @property
    def edge_width(self) -> int:
        """Columns of edge_attr."""
        return self.parts[self._first]["edge_attr"].shape[1]

    @property
    def knows_local_quality(self) -> bool:
        """Whether a pack says how good the edges of labelled decoys are."""
        return any(len(part["edge_y"]) for part in self.parts)

    @property
    def _first(self) -> int:
        """The first pack that is not empty, if there is one."""
        return int(self.part_of[0]) if len(self) else 0

    @classmethod
    def open(cls, paths: list[Path], *, verify: bool = False) -> PackedGraphs:
        """Open packs and join them, as `of_packs`.

        verify : check all numbers. Raises GraphError when a pack is damaged.
        """
        packs = [Pack.open(path) for path in paths]
        if verify:
            for pack in packs:
                pack.verify()
        return PackedGraphs.of_packs(packs)

    @classmethod
    def of_packs(cls, packs: Sequence[Pack]) -> PackedGraphs:
        """Join packs and check that they hold the same kind of graphs; an empty one fits any."""
        decoys: list[tuple[str, str, str]] = []
        residues: list[str] = []
        for pack in packs:
            decoys += pack.decoys
            residues += pack.residues
        widest = {}
        for tensor, key in COLUMNS.items():
            pack = max(packs, key=lambda pack: pack.numbers[tensor].shape[1])
            widest[key] = pack.metadata.get(key)
        packs = [pack.with_columns(widest) for pack in packs]
        first, *others = [pack for pack in packs if len(pack)] or packs[:1]
        for pack in others:
            check_alike(str(first.path), first.kind(), str(pack.path), pack.kind())
        sizes = [len(pack) for pack in packs]
        names = np.array(decoys, dtype=object).reshape(-1, 3)
        return PackedGraphs(
            target=names[:, 0],
            decoy=names[:, 1],
            split=names[:, 2],
            residues=np.array(residues, dtype=object),
            dockq=np.concatenate(
                [pack.numbers["y"].astype(np.float64) for pack in packs]
            ),
            metadata=first.metadata,
            parts=[pack.numbers for pack in packs],
            part_of=np.repeat(np.arange(len(packs)), sizes),
            place_in_part=np.concatenate([np.arange(size) for size in sizes]),
            joined=sum(pack.joined for pack in packs),
        )
