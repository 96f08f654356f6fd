"""What the networks of a scorer say of graphs, kept in the reuse store: a graph that they saw before costs nothing."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy

from toporank.building.store import Box, Store
from toporank.code import code_of
from toporank.errors import GraphError
from toporank.graphs.pack import GraphStore
from toporank.model.network import Network
from toporank.model.weights import predict_graph

KIND = "seen"
PACKAGES = ("torch", "numpy", "numba")


class Seen(NamedTuple):
    """What k networks say of a graph.

    scores, local : predicted DockQ and mean local quality by network, float64, (k,); nan where one predicts none.
    residues, contacts : local quality of nodes, (n,), and of edges in contact by destination, (C,): means over the
    judges, float64; empty where none of them predicts it. pooled : what the head of the first network sees, (d,).
    """

    scores: np.ndarray
    local: np.ndarray
    residues: np.ndarray
    contacts: np.ndarray
    pooled: np.ndarray


def look(
    networks: Mapping[str, Network], judges: Sequence[str], graphs: GraphStore, store: Store | None = None
) -> list[Seen]:
    """What networks say of every graph; each graph is looked at once, however often it is there.

    networks : by digest of the checkpoint. judges : digests of those whose mean counts. store : keeps what they said,
    in a box for each target. Raises GraphError when a score is not a number.
    """
    found: dict[str, Seen] = {}
    digests = [graphs.digest(i) for i in range(len(graphs))]
    key = _key(networks, judges, graphs)
    for target in dict.fromkeys(graphs.target.tolist()):
        places = {digests[i]: i for i in np.flatnonzero(graphs.target == target)[::-1].tolist()}
        box = store.box(hashlib.sha256(f"{KIND} {target}".encode()).hexdigest()) if store else None
        for digest, i in places.items():
            if digest not in found:
                found[digest] = _one(networks, judges, graphs, i, box, {**key, "graph": digest})
        if box:
            box.save()
    seen = [found[digest] for digest in digests]
    _check(seen, graphs)
    return seen


def _key(networks: Mapping[str, Network], judges: Sequence[str], graphs: GraphStore) -> dict[str, Any]:
    """What the answers depend on besides the graph."""
    code = code_of("model.seen", without=("building",))
    columns = {name: graphs.metadata.get(name) for name in ("node_columns", "edge_columns", "features")}
    versions = [metadata.version(package) for package in PACKAGES]
    return {"networks": [*networks], "judges": [*judges], "code": code, "packages": versions, **columns}


def _one(
    networks: Mapping[str, Network],
    judges: Sequence[str],
    graphs: GraphStore,
    i: int,
    box: Box | None,
    depends_on: dict[str, Any],
) -> Seen:
    """What is in the box, or else what the networks say of graph i."""

    def make() -> tuple[bytes, dict[str, Any]]:
        return safetensors.numpy.save(_predicted(networks, judges, graphs, i)._asdict()), {}

    return Seen(**safetensors.numpy.load(box.obtain(KIND, depends_on, make).content)) if box else (
        _predicted(networks, judges, graphs, i)
    )  # fmt: skip


def _predicted(networks: Mapping[str, Network], judges: Sequence[str], graphs: GraphStore, i: int) -> Seen:
    each = dict(zip(networks, predict_graph([*networks.values()], graphs, i), strict=True))
    first = next(iter(each.values()))
    local = [each[name] for name in judges if each[name].local is not None]
    return Seen(
        np.array([float(one.score.double()) for one in each.values()]),
        np.array([math.nan if one.local is None else float(one.local.double()) for one in each.values()]),
        np.mean([one.residues.double().numpy() for one in local], axis=0) if local else np.zeros(0),
        np.mean([one.contacts.numpy() for one in local], axis=0, dtype=float) if local else np.zeros(0),
        first.pooled[0].double().numpy(),
    )


def _check(seen: Sequence[Seen], graphs: GraphStore) -> None:
    odd = [i for i, one in enumerate(seen) if not np.isfinite(one.scores).all()]
    if odd:
        raise GraphError(
            f"the predictions for {len(odd)} decoys are not finite numbers, "
            f"the first is {graphs.target[odd[0]]}/{graphs.decoy[odd[0]]}",
            remedy="the graphs hold numbers far from those that the networks were trained on",
        )
