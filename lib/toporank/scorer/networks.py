"""The networks of a scorer and packed graphs into scores."""

from __future__ import annotations

import contextlib
import math
import statistics
import threading
from collections.abc import Iterator, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from toporank.errors import CheckpointError, GraphError
from toporank.learning import published_checkpoint
from toporank.learning.data import GraphStore
from toporank.learning.network import DockQNet
from toporank.learning.weights import CONTACT, check_fits, load_weights, predict_all
from toporank.scorer.prediction import (
    CONTACT_KINDS,
    CONTACTS,
    DECIMALS,
    QUALITY_DECIMALS,
    ResidueScore,
    Score,
)
from toporank.scorer.scorer import Scorer

NEAREST = "nearest_atoms"
"""The edge column with the distance of the nearest heavy atoms, Å."""
OF_KINDS = ("salt_bridges", "hydrogen_bonds", "apolar_contacts")
"""The edge columns that are above 0 for a contact of each of the first `CONTACT_KINDS`."""
CARBONS_APART = 3.3
"""Å. Carbons do not come nearer: where the nearest atoms do, polar ones touch, and the contact is
not an apolar one.
"""


class _Network(NamedTuple):
    """A checkpoint, read."""

    path: Path
    network: DockQNet
    description: dict[str, Any]


class _Found(NamedTuple):
    """Predicted DockQ, local quality and pooled vector of each graph, and the quality of all
    residues, (n,), and of all edges in contact, (C,), of all graphs.
    """

    scores: list[float]
    local: list[float] | None
    residues: np.ndarray | None
    contacts: np.ndarray | None
    pooled: np.ndarray


class Networks:
    """The networks of a scorer. Each checkpoint is read once, when they are made, and copies of one
    count once.

    Raises CheckpointError when a checkpoint cannot be used.
    """

    def __init__(self, scorer: Scorer):
        self.scorer = scorer
        self._read: dict[str, _Network] = {}
        for path, digest in scorer.digests.items():
            if path in (scorer.checkpoint, *scorer.members) and digest not in self._read:
                self._read[digest] = _Network(path, *load_weights(path))

    def score(self, pack: Path, interfaces: Path | None = None) -> list[Score]:
        """Score every graph of a pack of decoys, then of one of their `interfaces` if it is given,
        in their order.

        pred_sd is the standard deviation over the members, None with fewer than two. Trees have no
        say yet, see `scorer.combine`. Raises CheckpointError when a network was trained on other
        features than the graphs have.
        """
        store = GraphStore.open([pack, *([interfaces] if interfaces else [])])
        networks, digests = [*self._read.values()], self.scorer.digests
        _check_alike(networks, store)
        with one_thread():
            predictions = _predictions(networks, store)
        found = dict(zip(self._read, predictions, strict=True))
        own, theirs = (
            found[digests[self.scorer.checkpoint]],
            [found[digests[path]] for path in self.scorer.members],
        )
        judges = [found[digests[path]] for path in self.scorer.judges]
        local = [each.local for each in judges if each.local is not None]
        residues = _of_residues(
            store, [each.residues for each in judges if each.residues is not None]
        )
        contacts = _of_contacts(
            store, [each.contacts for each in judges if each.contacts is not None]
        )
        pooled = own.pooled.astype(float).tolist()
        return [
            Score(
                target,
                decoy,
                _mean([each.scores[i] for each in theirs])
                if self.scorer.mean
                else round(own.scores[i], DECIMALS),
                round(statistics.stdev(each.scores[i] for each in theirs), DECIMALS)
                if len(theirs) > 1
                else None,
                str(store.split[i]) if store.part_of[i] else "",
                pred_local=_mean([each[i] for each in local]) if local else None,
                pooled=tuple(pooled[i]),
                residues=residues.get(i, ()),
                contacts=contacts.get(i, b"") if i in residues else b"",
            )
            for i, (target, decoy) in enumerate(_names(store))
        ]


def _names(store: GraphStore) -> list[tuple[str, str]]:
    """Target and decoy of every graph."""
    return list(zip(store.target.tolist(), store.decoy.tolist(), strict=True))


def _mean(values: list[float]) -> float:
    return round(statistics.fmean(values), DECIMALS)


def _of_residues(
    store: GraphStore, predicted: list[np.ndarray]
) -> dict[int, tuple[ResidueScore, ...]]:
    """The residues of each decoy with their mean predicted quality; of none, where no network
    predicts it.
    """
    if not predicted:
        return {}
    quality = np.mean(predicted, axis=0).round(QUALITY_DECIMALS)
    values = np.where(np.isnan(quality), None, quality).tolist()
    ends = np.cumsum(store.n_nodes).tolist()
    decoys = np.flatnonzero(store.part_of == 0).tolist()
    named = (
        (i, zip(store.names(i), values[ends[i] - store.n_nodes[i] : ends[i]], strict=True))
        for i in decoys
    )
    return {i: tuple(starmap(ResidueScore, residues)) for i, residues in named}


def _of_contacts(store: GraphStore, predicted: list[np.ndarray]) -> dict[int, bytes]:
    """The contacts of each decoy, as in `Score`; of none, where the edges do not say how residues
    touch.

    predicted : by each network, the quality of all edges in contact, by graph and destination,
    (C,).
    """
    columns, features = (
        store.metadata.get("edge_columns") or [],
        store.metadata.get("features") or {},
    )
    known = {CONTACT, NEAREST, *OF_KINDS} <= {*columns}
    decoys = np.flatnonzero(store.part_of == 0)
    if (
        not (predicted and known and len(decoys))
        or features.get("edges", {}).get("scaling") == "per_decoy"
    ):
        return {}
    graph, ends, values = _touching(
        store, [columns.index(name) for name in (CONTACT, NEAREST, *OF_KINDS)]
    )
    low, high = np.sort(ends, axis=0)
    order = np.lexsort(
        (high, low, graph)
    )  # the two directions of a contact come one after the other
    keys = np.stack([graph, low, high])[:, order]
    once = np.flatnonzero(np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))[: len(order)])
    quality = np.mean(predicted, axis=0, dtype=float)[: len(order)][
        order
    ]  # those of decoys come first
    found = np.zeros(len(once), CONTACTS)
    found["first"], found["second"] = keys[1:, once]
    found["distance"], found["agreement"] = values[order[once], 0], np.nan
    of_kind = values[order[once], 1:] > 0
    of_kind[:, CONTACT_KINDS.index("apolar")] &= found["distance"] >= CARBONS_APART
    found["kind"] = np.where(
        of_kind.any(axis=1), of_kind.argmax(axis=1), CONTACT_KINDS.index("other")
    )
    found["pred_network"] = (
        np.add.reduceat(quality, once) / np.diff(once, append=len(order)) if len(once) else 0.0
    )
    starts = np.searchsorted(keys[0, once], np.arange(len(store) + 1)).tolist()
    return {
        i: found[starts[i] : starts[i + 1]].tobytes()
        for i in np.flatnonzero(store.part_of == 0).tolist()
    }


def _touching(store: GraphStore, columns: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Graph, (C,), ends, (2, C), and k columns, (C, k), of the edges of decoys in contact, by graph
    and destination.

    columns : that of contact, then the k others.
    """
    part = {name: values.numpy() for name, values in store.parts[0].items()}
    edges = np.flatnonzero(part["edge_attr"][:, columns[0]])
    graph = np.searchsorted(part["edge_start"], edges, side="right") - 1
    order = np.lexsort((part["edge_index"][1, edges], graph))
    edges = edges[order]
    return graph[order], part["edge_index"][:, edges], part["edge_attr"][edges][:, columns[1:]]


def _check_alike(networks: list[_Network], store: GraphStore) -> None:
    """Raise CheckpointError unless all networks were trained on the features that the graphs
    have.
    """
    first = networks[0]
    for other in networks[1:]:
        _check_features(other, first.description.get("features"), f"{first.path}")
    if len(store) == 0:
        return
    for one in networks:
        _check_features(one, store.metadata.get("features"), "these graphs have")
        check_fits(one.description, store, one.path)


def _check_features(one: _Network, ours: Any, whose: str) -> None:
    theirs = one.description.get("features")
    if theirs == ours:
        return
    theirs, ours = theirs or {}, ours or {}
    different = sorted(
        stage for stage in {**theirs, **ours} if theirs.get(stage) != ours.get(stage)
    )
    raise CheckpointError(
        f"was trained on other features than {whose}: {', '.join(different)} differ",
        where=one.path,
        remedy="build the graphs with the checkpoint's features",
    )


def _predictions(networks: Sequence[_Network], store: GraphStore) -> list[_Found]:
    """What each network predicts of every graph. Raises GraphError when a score is not a number."""
    names = _names(store)
    found = []
    for one, each in zip(
        networks, predict_all([_usable(one) for one in networks], store), strict=True
    ):
        scores = each.score.double().tolist()
        odd = [name for name, value in zip(names, scores, strict=True) if not math.isfinite(value)]
        if odd:
            raise GraphError(
                f"the predictions for {len(odd)} decoys are not finite numbers, the first is "
                f"{'/'.join(odd[0])}",
                where=one.path,
                remedy="the graphs hold numbers far from those it was trained on",
            )
        local = (None, None, None)
        if each.local is not None:
            local = (
                each.local.double().tolist(),
                each.residues.double().numpy(),
                each.contacts.numpy(),
            )
        found.append(_Found(scores, *local, each.pooled.numpy()))
    return found


def _usable(one: _Network) -> DockQNet:
    if one.description.get("origin") != published_checkpoint.ORIGIN:
        return one.network
    from toporank.learning.message_passing import (
        PublishedNetwork,
    )  # with PyG, which takes seconds to import

    return PublishedNetwork(one.network).eval()


_ARITHMETIC = threading.Lock()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Arithmetic with one thread: sums depend on the number of threads, so the last digit would.

    Small graphs also take longer with more. The number belongs to the process, so one caller at a
    time has it.
    """
    with _ARITHMETIC, threadpool_limits(1, "blas"):
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)
