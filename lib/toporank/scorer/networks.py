"""Scores packed graphs with the networks of a scorer."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from toporank.errors import CheckpointError, GraphError
from toporank.files.packfile import PackedGraphs
from toporank.learning.checkpoint import check_fits
from toporank.learning.inference import (
    CONTACT,
    Predicted,
    Predicting,
    open_network,
    predict_all,
)
from toporank.scorer.prediction import (
    CONTACTS,
    DECIMALS,
    QUALITY_DECIMALS,
    RESIDUES,
    Predictions,
    Score,
    table_of,
)
from toporank.scorer.scorer import Scorer

NEAREST = "nearest_atoms"
"""The edge column with the distance of the nearest heavy atoms, Å."""
KINDS = {
    "salt_bridges": "salt bridge",
    "hydrogen_bonds": "hydrogen bond",
    "apolar_contacts": "apolar",
}
"""Edge columns that are above 0 for a contact of each type. The first that holds counts."""
CARBONS_APART = 3.3
"""Å. Carbons do not come nearer: where the nearest atoms do, polar ones touch, and the contact is
not an apolar one.
"""


class _Network(NamedTuple):
    """A checkpoint, read."""

    path: Path
    network: Predicting
    description: dict[str, Any]


class Networks:
    """The networks of a scorer.

    Each checkpoint is read once, when they are made, and copies of one count once.

    Raises
    ------
    CheckpointError : a checkpoint cannot be used
    """

    def __init__(self, scorer: Scorer):
        self.scorer = scorer
        self._networks: dict[str, _Network] = {}
        for path in (scorer.checkpoint, *scorer.members):
            digest = scorer.digests[path]
            if digest not in self._networks:
                self._networks[digest] = _Network(path, *open_network(path))

    def predict(self, graphs: PackedGraphs) -> Predictions:
        """Predict DockQ of every graph, and the quality of the residues and contacts of decoys.

        Parameters
        ----------
        graphs : of decoys in the first pack; of their interfaces in the second, if there is one

        Returns
        -------
        Predictions; pred_sd is the standard deviation over the members, None with fewer than two.
        The judge has not looked at them yet.

        Raises
        ------
        CheckpointError : a network was trained on other features than the graphs have
        GraphError : a score is not a finite number
        """
        networks = list(self._networks.values())
        store = graphs.with_columns(networks[0].description)
        _check_alike(networks, store)
        with one_thread():
            predicted = predict_all([one.network for one in networks], store)
        for one, of_network in zip(networks, predicted, strict=True):
            _check_finite(one, of_network, store)
        by_digest = dict(zip(self._networks, predicted, strict=True))
        digests = self.scorer.digests
        of_members = [by_digest[digests[path]] for path in self.scorer.members]
        of_checkpoints = [
            by_digest[digests[path]] for path in self.scorer.scoring_checkpoints
        ]
        local = [
            of_network for of_network in of_checkpoints if of_network.local is not None
        ]
        pooled = by_digest[digests[self.scorer.checkpoint]].pooled
        table = pd.DataFrame(
            {
                "target": store.target,
                "decoy": store.decoy,
                "pred_dockq": _stacked(of_checkpoints, "score")
                .mean(axis=0)
                .round(DECIMALS),
                "pred_sd": None,
                "interface": np.where(store.part_of > 0, store.split, ""),
                "pred_local": None,
                "pooled": list(map(tuple, pooled.astype(np.float64).tolist())),
            }
        )
        if len(of_members) > 1:
            table["pred_sd"] = (
                _stacked(of_members, "score").std(axis=0, ddof=1).round(DECIMALS)
            )
        if local:
            table["pred_local"] = _stacked(local, "local").mean(axis=0).round(DECIMALS)
        residues = residue_table(store, local)
        return Predictions(
            scores=[Score(**row) for row in table.to_dict("records")],
            residues=residues,
            contacts=contact_table(store, local, residues),
        )


def _stacked(predicted: list[Predicted], name: str) -> np.ndarray:
    """One of the values of several networks, float64, (networks, n)."""
    values = [getattr(of_network, name) for of_network in predicted]
    return np.array(values, dtype=np.float64)


def residue_table(store: PackedGraphs, predicted: list[Predicted]) -> pd.DataFrame:
    """The residues of decoys with the mean predicted quality of their contacts.

    The table is empty where no network predicts it.
    """
    if not predicted:
        return table_of(RESIDUES)
    n_decoys = np.count_nonzero(store.part_of == 0)
    names: list[str] = []
    for decoy in range(n_decoys):
        names.extend(store.names(decoy))
    graph = np.repeat(np.arange(n_decoys), store.n_nodes[:n_decoys])
    quality = _stacked(predicted, "residues").mean(axis=0)
    return table_of(
        RESIDUES,
        target=store.target[graph],
        decoy=store.decoy[graph],
        residue=names,
        pred_network=quality[: len(names)].round(QUALITY_DECIMALS),
    )


def contact_table(
    store: PackedGraphs, predicted: list[Predicted], residues: pd.DataFrame
) -> pd.DataFrame:
    """The contacts of decoys with the mean predicted quality of both directions.

    The table is empty where the edges do not say how residues touch.

    residues : of the decoys, in the order of the nodes.
    """
    columns = store.metadata.get("edge_columns") or []
    features = store.metadata.get("features") or {}
    is_scaled = features.get("edges", {}).get("scaling") == "per_decoy"
    is_known = {CONTACT, NEAREST, *KINDS} <= set(columns) and not is_scaled
    if not (len(residues) and is_known):
        return table_of(CONTACTS)
    decoys = store.parts[0]
    touching = np.flatnonzero(decoys["edge_attr"][:, columns.index(CONTACT)])
    ends = decoys["edge_index"][:, touching]
    edges = pd.DataFrame(decoys["edge_attr"][touching], columns=columns)
    edges["graph"] = np.searchsorted(decoys["edge_start"], touching, side="right") - 1
    edges["destination"] = ends[1]
    edges["low"], edges["high"] = np.sort(ends, axis=0)
    edges = edges.sort_values(["graph", "destination"], kind="stable")
    edges["pred_network"] = _stacked(predicted, "contacts").mean(axis=0)[: len(edges)]
    both_ways = edges.groupby(["graph", "low", "high"])
    contacts = both_ways.first().reset_index()
    is_of_type = contacts[list(KINDS)] > 0
    is_of_type["apolar_contacts"] &= contacts[NEAREST] >= CARBONS_APART
    names = residues["residue"].to_numpy()
    start = decoys["node_start"][contacts["graph"]]
    return table_of(
        CONTACTS,
        target=store.target[contacts["graph"]],
        decoy=store.decoy[contacts["graph"]],
        first=names[start + contacts["low"]],
        second=names[start + contacts["high"]],
        distance=contacts[NEAREST],
        type=np.select(list(is_of_type.to_numpy().T), list(KINDS.values()), "other"),
        pred_network=both_ways["pred_network"].mean().to_numpy(),
    )


def _check_alike(networks: list[_Network], store: PackedGraphs) -> None:
    """Raise CheckpointError unless all networks were trained on the features of the graphs."""
    first = networks[0]
    for other in networks[1:]:
        _check_features(other, first.description.get("features"), f"{first.path}")
    if len(store) == 0:
        return
    for one in networks:
        _check_features(one, store.metadata.get("features"), "these graphs have")
        check_fits(one.description, store, one.path)


def _check_features(one: _Network, expected: Any, whose: str) -> None:
    features = one.description.get("features") or {}
    expected = expected or {}
    stages = sorted({*features, *expected})
    different = [
        stage for stage in stages if features.get(stage) != expected.get(stage)
    ]
    if different:
        raise CheckpointError(
            f"was trained on other features than {whose}: {', '.join(different)} differ",
            where=one.path,
            remedy="build the graphs with the checkpoint's features",
        )


def _check_finite(one: _Network, predicted: Predicted, store: PackedGraphs) -> None:
    odd = np.flatnonzero(~np.isfinite(predicted.score))
    if len(odd):
        first = f"{store.target[odd[0]]}/{store.decoy[odd[0]]}"
        raise GraphError(
            f"the predictions for {len(odd)} models are not finite numbers, the first is {first}",
            where=one.path,
            remedy="the graphs hold numbers far from those it was trained on",
        )


_ARITHMETIC = threading.Lock()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Arithmetic with one thread: sums depend on the number of threads, so the last digit would.

    Small graphs also take longer with more. The number belongs to the process, so one caller at a
    time has it.
    """
    with _ARITHMETIC, threadpool_limits(1, "blas"):
        torch = sys.modules.get("torch")
        if torch is None:
            yield
            return
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)
