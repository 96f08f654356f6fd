"""Graph files into one pack, from which `learning.graphs` slices batches."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from toporank.code import code_of
from toporank.errors import GraphError
from toporank.features.registry import canonical
from toporank.files.atomic import replacing
from toporank.files.graph_file import REBUILD, Graph, read_graph
from toporank.files.packfile import (
    BETWEEN,
    DESCRIPTION,
    Pack,
    check_alike,
    content_digest,
    kind_of,
)
from toporank.files.tensors import Growing, write_tensors

log = logging.getLogger(__name__)


class Member(NamedTuple):
    """One graph to be packed. split : of its decoy, or the name of an interface. graph : what messages call it.

    sha256, content : checksum and bytes of it. quality_sha256 : of what its local quality is made of; empty where
    that is unknown.
    """

    target: str
    decoy: str
    split: str
    graph: Path
    sha256: str
    content: Callable[[], bytes]
    quality_sha256: str = ""


Quality = Callable[[tuple[str, str], Graph], np.ndarray]
"""Target and name of a decoy, and its graph with edges as a pack has them → local quality of these: float32, (E,)."""


def write_pack(path: Path, members: list[Member], joined: int = 0, quality: Quality | None = None) -> int:
    """Pack graphs; what a pack at `path` has of the same files is copied from there. Returns how many were read.

    joined : in how many a partner has several chains. quality : of the members with a `quality_sha256`.
    The result does not depend on what was there before. A data set without any graph gives an empty pack. Raises
    GraphError naming a graph that is damaged, or two whose widths or feature modules differ.
    """
    code = code_of("building.packing")
    digests = [_source_digest(member, code) for member in members]
    old, place = _reusable(path)
    n_read, first, nodes, edges, residues = 0, None, [0], [0], []
    with replacing(path) as temporary, ExitStack() as files:
        graded = any(member.quality_sha256 for member in members)
        tensors = _empty(partial(Growing, files, path.parent), graded=graded)
        for member, digest in zip(members, digests, strict=True):
            if digest in place:
                graph = old.graph(place[digest])
            else:
                graph, n_read = _read(member, quality), n_read + 1
            kind = kind_of(graph.x, graph.edge_attr, graph.metadata)
            first = first or (str(member.graph), kind, graph.metadata)
            check_alike(*first[:2], str(member.graph), kind)
            for name in ("x", "edge_index", "edge_attr"):
                tensors[name].add(getattr(graph, name))
            tensors["y"].add(np.array([graph.y]))
            residues.append(graph.residues)
            if "edge_y" in tensors:
                tensors["edge_y"].add(graph.edge_y if member.quality_sha256 else np.full(len(graph.edge_attr), np.nan))
            nodes.append(nodes[-1] + len(graph.x))
            edges.append(edges[-1] + len(graph.edge_attr))
        tensors["node_start"].add(np.array(nodes))
        tensors["edge_start"].add(np.array(edges))
        if first is None:
            for name, shape in {"x": (0, 0), "edge_index": (2, 0), "edge_attr": (0, 0)}.items():
                tensors[name].add(np.zeros(shape))
        description = {
            **(first[2] if first else {}),
            "decoys": [member[:3] for member in members],
            "sources": digests,
            "joined": joined,
            "residues": residues,
            "content": content_digest({name: tensor.pieces() for name, tensor in tensors.items()}),
        }
        write_tensors(temporary, tensors, {DESCRIPTION: canonical(description)})
    return n_read


def _empty(new: Callable[..., Growing], *, graded: bool) -> dict[str, Growing]:
    """The tensors of a pack, without rows. graded : whether edges have a local quality."""
    tensors = {
        "x": new("float32"),
        "edge_index": new("int32", axis=1),
        "edge_attr": new("float32"),
        "node_start": new("int64"),
        "edge_start": new("int64"),
        "y": new("float32"),
    }
    return tensors | ({"edge_y": new("float32")} if graded else {})


def _read(member: Member, quality: Quality | None) -> Graph:
    """A graph as a pack has it."""
    content = member.content()
    if hashlib.sha256(content).hexdigest() != member.sha256:
        raise GraphError("the graph file is damaged", where=member.graph, remedy=REBUILD)
    graph = by_destination(read_graph(content, member.graph))
    edge_y = quality(member[:2], graph) if member.quality_sha256 else None
    metadata = {k: v for k, v in graph.metadata.items() if k not in ("residues", "partners")}
    return graph._replace(metadata=metadata, edge_y=edge_y, residues=BETWEEN.join(graph.metadata["residues"]))


def by_destination(graph: Graph) -> Graph:
    """With its edges sorted by the node they point to, as the network reads them."""
    order = np.argsort(graph.edge_index[1], kind="stable")
    return graph._replace(edge_index=graph.edge_index[:, order], edge_attr=graph.edge_attr[order])


def _source_digest(member: Member, code: str) -> str:
    """SHA-256 of the file of a graph, of what its local quality is made of, and of the code that packs both."""
    return hashlib.sha256(f"{member.sha256} {member.quality_sha256} {code}".encode()).hexdigest()


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
