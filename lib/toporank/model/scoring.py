"""The networks of a scorer and packed graphs into scores."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.building.store import Store
from toporank.errors import CheckpointError
from toporank.features.registry import same_features
from toporank.graphs.pack import GraphStore
from toporank.model import topoqa
from toporank.model.checkpoint import toy
from toporank.model.network import Network
from toporank.model.seen import Seen, look
from toporank.model.weights import CONTACT, as_seen_by, check_fits, load_weights
from toporank.scorer.prediction import CONTACT_KINDS, CONTACTS, DECIMALS, QUALITY_DECIMALS, ResidueScore, Score
from toporank.scorer.scorer import Scorer

NEAREST = "nearest_atoms"
"""The edge column with the distance of the nearest heavy atoms, Å."""
OF_KINDS = ("salt_bridges", "hydrogen_bonds", "apolar_contacts")
"""The edge columns that are above 0 for a contact of each of the first `CONTACT_KINDS`."""
CARBONS_APART = 3.3
"""Å. Carbons do not come nearer: where the nearest atoms do, polar ones touch, and the contact is not an apolar one."""


class _Network(NamedTuple):
    """A checkpoint, read."""

    path: Path
    network: Network
    description: dict[str, Any]


class Networks:
    """The networks of a scorer. Each checkpoint is read once, when they are made, and copies of one count once.

    Raises CheckpointError when a checkpoint cannot be used.
    """

    def __init__(self, scorer: Scorer):
        self.scorer = scorer
        self._read: dict[str, _Network] = {}
        for path, digest in scorer.digests.items():
            if path in (scorer.checkpoint, *scorer.members) and digest not in self._read:
                self._read[digest] = _Network(path, *load_weights(path))

    @property
    def descriptions(self) -> list[dict[str, Any]]:
        """What the checkpoints that give the score say of themselves, that of the scorer first."""
        paths = [self.scorer.checkpoint, *(self.scorer.members if self.scorer.mean else ())]
        return [self._read[self.scorer.digests[path]].description for path in paths]

    @property
    def toy(self) -> str:
        """`Scorer.toy`, from what was read."""
        return toy(self.descriptions[0], self.scorer.n_targets)

    def score(self, pack: Path, interfaces: Path | None = None, store: Store | None = None) -> list[Score]:
        """Score every graph of a pack of decoys, then of one of their `interfaces` if it is given, in their order.

        store : keeps what the networks say, and has it where they said it before. pred_sd is the standard deviation
        over the members, None with fewer than two. Trees have no say yet, see `scorer.combine`. Raises CheckpointError
        when a network was trained on other features than the graphs have.
        """
        graphs = GraphStore.open([pack, *([interfaces] if interfaces else [])])
        networks, digests, scorer = [*self._read.values()], self.scorer.digests, self.scorer
        graphs = as_seen_by(networks[0].description, graphs)
        _check_alike(networks, graphs)
        checkpoint = digests[scorer.checkpoint]
        usable = {digest: _usable(self._read[digest]) for digest in dict.fromkeys([checkpoint, *self._read])}
        seen = look(usable, [digests[path] for path in scorer.judges], graphs, store)
        place = {digest: k for k, digest in enumerate(usable)}
        members, judges = ([place[digests[path]] for path in paths] for paths in (scorer.members, scorer.judges))
        residues, contacts = _of_residues(graphs, seen), _of_contacts(graphs, seen)
        return [
            Score(
                target,
                decoy,
                _mean(one.scores[members]) if scorer.mean else round(float(one.scores[place[checkpoint]]), DECIMALS),
                round(statistics.stdev(one.scores[members].tolist()), DECIMALS) if len(members) > 1 else None,
                str(graphs.split[i]) if graphs.part_of[i] else "",
                pred_local=_mean(local) if len(local := _known(one.local[judges])) else None,
                pooled=tuple(one.pooled.tolist()),
                residues=residues.get(i, ()),
                contacts=contacts.get(i, b"") if i in residues else b"",
            )
            for i, (target, decoy, one) in enumerate(
                zip(graphs.target.tolist(), graphs.decoy.tolist(), seen, strict=True)
            )
        ]


def _known(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)]


def _mean(values: np.ndarray) -> float:
    return round(statistics.fmean(values.tolist()), DECIMALS)


def _of_residues(store: GraphStore, seen: Sequence[Seen]) -> dict[int, tuple[ResidueScore, ...]]:
    """The residues of each decoy with their mean predicted quality; of none, where no network predicts it."""
    found = {}
    for i in np.flatnonzero(store.part_of == 0).tolist():
        if store.residues[i] and len(seen[i].residues):
            quality = seen[i].residues.round(QUALITY_DECIMALS)
            values = np.where(np.isnan(quality), None, quality).tolist()
            found[i] = tuple(map(ResidueScore, store.names(i), values))
    return found


def _of_contacts(store: GraphStore, seen: Sequence[Seen]) -> dict[int, bytes]:
    """The contacts of each decoy, as in `Score`; of none, where the edges do not say how residues touch."""
    predicted = [one.contacts for one, part in zip(seen, store.part_of, strict=True) if not part]
    columns, features = store.metadata.get("edge_columns") or [], store.metadata.get("features") or {}
    known = {CONTACT, NEAREST, *OF_KINDS} <= {*columns}
    if not (any(map(len, predicted)) and known) or features.get("edges", {}).get("scaling") == "per_decoy":
        return {}
    graph, ends, values = _touching(store, [columns.index(name) for name in (CONTACT, NEAREST, *OF_KINDS)])
    low, high = np.sort(ends, axis=0)
    order = np.lexsort((high, low, graph))  # the two directions of a contact come one after the other
    keys = np.stack([graph, low, high])[:, order]
    once = np.flatnonzero(np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))[: len(order)])
    quality = np.concatenate(predicted)[order]
    found = np.zeros(len(once), CONTACTS)
    found["first"], found["second"] = keys[1:, once]
    found["distance"], found["agreement"] = values[order[once], 0], np.nan
    of_kind = values[order[once], 1:] > 0
    of_kind[:, CONTACT_KINDS.index("apolar")] &= found["distance"] >= CARBONS_APART
    found["kind"] = np.where(of_kind.any(axis=1), of_kind.argmax(axis=1), CONTACT_KINDS.index("other"))
    found["pred_network"] = np.add.reduceat(quality, once) / np.diff(once, append=len(order)) if len(once) else 0.0
    starts = np.searchsorted(keys[0, once], np.arange(len(store) + 1)).tolist()
    return {i: found[starts[i] : starts[i + 1]].tobytes() for i in np.flatnonzero(store.part_of == 0).tolist()}


def _touching(store: GraphStore, columns: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Graph, (C,), ends, (2, C), and k columns, (C, k), of the edges of decoys in contact, by graph and destination.

    columns : that of contact, then the k others.
    """
    part = {name: values.numpy() for name, values in store.parts[0].items()}
    edges = np.flatnonzero(part["edge_attr"][:, columns[0]])
    graph = np.searchsorted(part["edge_start"], edges, side="right") - 1
    order = np.lexsort((part["edge_index"][1, edges], graph))
    edges = edges[order]
    return graph[order], part["edge_index"][:, edges], part["edge_attr"][edges][:, columns[1:]]


def _check_alike(networks: list[_Network], store: GraphStore) -> None:
    """Raise CheckpointError unless all networks were trained on the features that the graphs have."""
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
    if same_features(theirs, ours):
        return
    theirs, ours = theirs or {}, ours or {}
    different = sorted(stage for stage in {**theirs, **ours} if theirs.get(stage) != ours.get(stage))
    raise CheckpointError(
        f"was trained on other features than {whose}: {', '.join(different)} differ",
        where=one.path,
        remedy="build the graphs with the checkpoint's features",
    )


def _usable(one: _Network) -> Network:
    if one.description.get("origin") != topoqa.ORIGIN:
        return one.network
    from toporank.model.pyg_network import PlainNetwork  # with PyTorch Geometric, which takes seconds to import

    return PlainNetwork.of(one.network).eval()
