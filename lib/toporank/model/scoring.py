"""The networks of a scorer and packed graphs into scores."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.errors import CheckpointError, GraphError
from toporank.features.registry import same_features
from toporank.graphs.pack import GraphStore
from toporank.model import topoqa
from toporank.model.network import Network
from toporank.model.weights import check_fits, load_weights, predict_all
from toporank.scorer.prediction import DECIMALS, QUALITY_DECIMALS, ResidueScore, Score
from toporank.scorer.scorer import Scorer


class _Network(NamedTuple):
    """A checkpoint, read."""

    path: Path
    network: Network
    description: dict[str, Any]


class _Found(NamedTuple):
    """Predicted DockQ, local quality and pooled vector of each graph, and the quality of all residues of all, (n,)."""

    scores: list[float]
    local: list[float] | None
    residues: np.ndarray | None
    pooled: np.ndarray


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

    def score(self, pack: Path, interfaces: Path | None = None) -> list[Score]:
        """Score every graph of a pack of decoys, then of one of their `interfaces` if it is given, in their order.

        pred_sd is the standard deviation over the members, None with fewer than two. Trees have no say yet, see
        `scorer.combine`. Raises CheckpointError when a network was trained on other features than the graphs have.
        """
        store = GraphStore.open([pack, *([interfaces] if interfaces else [])])
        networks, digests = [*self._read.values()], self.scorer.digests
        _check_alike(networks, store)
        found = dict(zip(self._read, _predictions(networks, store), strict=True))
        own, theirs = found[digests[self.scorer.checkpoint]], [found[digests[path]] for path in self.scorer.members]
        judges = [found[digests[path]] for path in self.scorer.judges]
        local = [each.local for each in judges if each.local is not None]
        residues = _of_residues(store, [each.residues for each in judges if each.residues is not None])
        pooled = own.pooled.astype(float).tolist()
        return [
            Score(
                target,
                decoy,
                _mean([each.scores[i] for each in theirs]) if self.scorer.mean else round(own.scores[i], DECIMALS),
                round(statistics.stdev(each.scores[i] for each in theirs), DECIMALS) if len(theirs) > 1 else None,
                str(store.split[i]) if store.part_of[i] else "",
                pred_local=_mean([each[i] for each in local]) if local else None,
                pooled=tuple(pooled[i]),
                residues=residues.get(i, ()),
            )
            for i, (target, decoy) in enumerate(_names(store))
        ]


def _names(store: GraphStore) -> list[tuple[str, str]]:
    """Target and decoy of every graph."""
    return list(zip(store.target.tolist(), store.decoy.tolist(), strict=True))


def _mean(values: list[float]) -> float:
    return round(statistics.fmean(values), DECIMALS)


def _of_residues(store: GraphStore, predicted: list[np.ndarray]) -> dict[int, tuple[ResidueScore, ...]]:
    """The residues of each decoy with their mean predicted quality; of none, where no network predicts it."""
    if not predicted:
        return {}
    quality = np.mean(predicted, axis=0).round(QUALITY_DECIMALS)
    values = np.where(np.isnan(quality), None, quality).tolist()
    ends = np.cumsum(store.n_nodes).tolist()
    decoys = [i for i in np.flatnonzero(store.part_of == 0).tolist() if store.residues[i]]
    named = ((i, zip(store.names(i), values[ends[i] - store.n_nodes[i] : ends[i]], strict=True)) for i in decoys)
    return {i: tuple(starmap(ResidueScore, residues)) for i, residues in named}


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


def _predictions(networks: Sequence[_Network], store: GraphStore) -> list[_Found]:
    """What each network predicts of every graph. Raises GraphError when a score is not a number."""
    names = _names(store)
    found = []
    for one, each in zip(networks, predict_all([_usable(one) for one in networks], store), strict=True):
        scores = each.score.double().tolist()
        odd = [name for name, value in zip(names, scores, strict=True) if not math.isfinite(value)]
        if odd:
            raise GraphError(
                f"the predictions for {len(odd)} decoys are not finite numbers, the first is {'/'.join(odd[0])}",
                where=one.path,
                remedy="the graphs hold numbers far from those it was trained on",
            )
        local = (None, None) if each.local is None else (each.local.double().tolist(), each.residues.double().numpy())
        found.append(_Found(scores, *local, each.pooled.numpy()))
    return found


def _usable(one: _Network) -> Network:
    if one.description.get("origin") != topoqa.ORIGIN:
        return one.network
    from toporank.model.pyg_network import PlainNetwork  # with PyTorch Geometric, which takes seconds to import

    return PlainNetwork.of(one.network).eval()
