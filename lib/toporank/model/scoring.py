"""Checkpoints and packed graphs into scores."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.errors import CheckpointError, GraphError
from toporank.evaluation.confidence import Estimate, estimates, read_calibration, scorer_of, why_of_another
from toporank.evaluation.coverage import CoverageRow
from toporank.evaluation.expected import held_against_others
from toporank.evaluation.interfaces import DECIMALS, QUALITY_DECIMALS, ResidueScore, Score
from toporank.features.registry import same_features
from toporank.files import sha256
from toporank.graphs.pack import GraphStore
from toporank.model import topoqa
from toporank.model.ensemble import Ensemble
from toporank.model.network import Network
from toporank.model.scorer import check_fits, load_weights, predict_all


class _Scorer(NamedTuple):
    path: Path
    network: Network
    description: dict[str, Any]


class _Found(NamedTuple):
    """Predicted DockQ, local quality and pooled vector of each graph, and the quality of all residues of all, (n,)."""

    scores: list[float]
    local: list[float] | None
    residues: np.ndarray | None
    pooled: np.ndarray


def score_pack(
    checkpoint: Path, members: list[Path], pack: Path, *, interfaces: Path | None = None, mean: bool = False
) -> list[Score]:
    """Score every graph of a pack of decoys, then of one of their `interfaces` if it is given, in their order.

    checkpoint gives the score or, with `mean`, all `members` together, and must then be one of them. pred_sd is the
    standard deviation over the members, None with fewer than two.
    Raises CheckpointError when a checkpoint cannot be used or was trained on other features than the graphs have.
    """
    store = GraphStore.open([pack, *([interfaces] if interfaces else [])])
    contents, scorers = {}, {}
    for path in dict.fromkeys([checkpoint, *members]):
        loaded = load_weights(path)  # says what is wrong with a file, if it is no checkpoint
        contents[path] = sha256(path)
        scorers.setdefault(contents[path], _Scorer(path, *loaded))
    if mean and contents[checkpoint] not in [contents[path] for path in members]:
        raise CheckpointError(
            f"the score is the mean of the {len(members)} checkpoints of the ensemble beside it, and this one is not"
            " among them",
            where=checkpoint,
            remedy="score with one of them, or copy this checkpoint to a folder of its own to score with it alone",
        )
    _check_alike([*scorers.values()], store)
    found = dict(zip(scorers, _predictions([*scorers.values()], store), strict=True))
    predicted = {content: each.scores for content, each in found.items()}
    own, theirs = predicted[contents[checkpoint]], [predicted[contents[path]] for path in members]
    judges = [found[contents[path]] for path in (members if mean else [checkpoint])]
    local = [each.local for each in judges if each.local is not None]
    residues = _of_residues(store, [each.residues for each in judges if each.residues is not None])
    pooled = found[contents[checkpoint]].pooled.astype(float).tolist()
    return [
        Score(
            target,
            decoy,
            _mean([each[i] for each in theirs]) if mean else round(own[i], DECIMALS),
            round(statistics.stdev(each[i] for each in theirs), DECIMALS) if len(theirs) > 1 else None,
            str(store.split[i]) if store.part_of[i] else "",
            pred_local=_mean([each[i] for each in local]) if local else None,
            pooled=tuple(pooled[i]),
            residues=residues.get(i, ()),
        )
        for i, (target, decoy) in enumerate(_names(store))
    ]


def how_far_to_trust(
    calibration: Path | None,
    checkpoint: Path,
    ensemble: Ensemble,
    trees: Path | None,
    coverage: Iterable[CoverageRow],
    scores: Iterable[Score],
) -> tuple[dict[tuple[str, str], Estimate], str]:
    """(target, decoy) → how far to trust its score, for every decoy; and, where that is unknown, why.

    calibration, trees : files beside the scorer, None where there is none. scores : of the scorer.
    Raises RecordError when the file is damaged.
    """
    if calibration is None:
        return {}, ""
    known = read_calibration(calibration)
    parts = [*ensemble.members, *([trees] if trees else [])]
    if why := why_of_another(known, scorer_of(checkpoint, parts, mean=ensemble.mean)):
        return {}, f"{calibration} is not used, so there are no intervals: {why}"
    decoys = {(score.target, score.decoy): score for score in scores if not score.interface}
    if not decoys:
        return {}, ""
    rows = {(row.target, row.decoy): row for row in coverage}
    originals = [not rows[key].duplicate_of for key in decoys]
    models = Counter(key[0] for key, original in zip(decoys, originals, strict=True) if original)
    predicted, targets = [score.pred_dockq for score in decoys.values()], [key[0] for key in decoys]
    found = estimates(
        known,
        predicted,
        [rows[key].n_interface_residues for key in decoys],
        [rows[key].n_chains for key in decoys],
        np.array([score.pooled for score in decoys.values()]),
        [models[target] < 2 for target in targets],
        held_against_others(predicted, targets, originals),
    )
    return dict(zip(decoys, found, strict=True)), ""


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


def _check_alike(scorers: list[_Scorer], store: GraphStore) -> None:
    """Raise CheckpointError unless all networks were trained on the features that the graphs have."""
    first = scorers[0]
    for other in scorers[1:]:
        _check_features(other, first.description.get("features"), f"{first.path}")
    if len(store) == 0:
        return
    for scorer in scorers:
        _check_features(scorer, store.metadata.get("features"), "these graphs have")
        check_fits(scorer.description, store, scorer.path)


def _check_features(scorer: _Scorer, ours: Any, whose: str) -> None:
    theirs = scorer.description.get("features")
    if same_features(theirs, ours):
        return
    theirs, ours = theirs or {}, ours or {}
    different = sorted(stage for stage in {**theirs, **ours} if theirs.get(stage) != ours.get(stage))
    raise CheckpointError(
        f"was trained on other features than {whose}: {', '.join(different)} differ",
        where=scorer.path,
        remedy="build the graphs with the checkpoint's features",
    )


def _predictions(scorers: Sequence[_Scorer], store: GraphStore) -> list[_Found]:
    """What each network predicts of every graph. Raises GraphError when a score is not a number."""
    names = _names(store)
    found = []
    for scorer, each in zip(scorers, predict_all([_network(scorer) for scorer in scorers], store), strict=True):
        scores = each.score.double().tolist()
        odd = [name for name, value in zip(names, scores, strict=True) if not math.isfinite(value)]
        if odd:
            raise GraphError(
                f"the predictions for {len(odd)} decoys are not finite numbers, the first is {'/'.join(odd[0])}",
                where=scorer.path,
                remedy="the graphs hold numbers far from those it was trained on",
            )
        local = (None, None) if each.local is None else (each.local.double().tolist(), each.residues.double().numpy())
        found.append(_Found(scores, *local, each.pooled.numpy()))
    return found


def _network(scorer: _Scorer) -> Network:
    if scorer.description.get("origin") != topoqa.ORIGIN:
        return scorer.network
    from toporank.model.pyg_network import PlainNetwork  # with PyTorch Geometric, which takes seconds to import

    return PlainNetwork.of(scorer.network).eval()
