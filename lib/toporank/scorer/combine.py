"""The prediction of a scorer that has trees beside its networks.

Three forests: the first sees descriptors only and says what a decoy by itself is worth, with which it votes for others.
The second sees descriptors and votes, the third networks and votes, both also how far each value is above the mean of
the target; the prediction is the mean of these two, and leans to the consensus the more decoys agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.comparing.decoys import Compared, read_decoys
from toporank.comparing.votes import similarities, votes
from toporank.errors import CheckpointError
from toporank.scorer.prediction import DECIMALS, Score
from toporank.scorer.tree_inputs import AGREEING, SAID, joined, relative, vote_inputs
from toporank.scorer.trees import RESTORE, Forest, read_forests, write_forests

Key = tuple[str, str]
"""Target and decoy."""
LEAN = "lean_at_most"
"""Where a file of trees has `Trees.lean`."""
ENOUGH = 2.0
"""Other decoys that agree with one on average, with which it leans half as far as with very many."""


class Trees(NamedTuple):
    """The forests of a scorer. alone : of descriptors. judges : of what is known of a decoy among others. lean : DockQ
    for each standard deviation by which a decoy's consensus is above the mean of its target, where very many decoys
    agree: between models that are nearly alike, where trees see little, it says which is the better one.
    """

    alone: Forest
    judges: list[Forest]
    lean: float

    def worth(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """What each decoy by itself is worth, between 0 and 1. columns : by name, (n,)."""
        return _between(predicted(self.alone, columns))

    def judge(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Predicted DockQ, between 0 and 1. columns : by name, (n,), nan where unknown."""
        return leaning(np.mean([predicted(forest, columns) for forest in self.judges], axis=0), columns, self.lean)


def predicted(forest: Forest, columns: dict[str, np.ndarray]) -> np.ndarray:
    """What a forest says of each decoy: (n,)."""
    return forest.predict(np.column_stack([columns[name] for name in forest.inputs]))


def leaning(values: np.ndarray, columns: dict[str, np.ndarray], lean: float) -> np.ndarray:
    """Predictions, (n,), moved towards what the other decoys of the target agree on, between 0 and 1.

    Where hardly any two agree, as in poses of different programs, the consensus is chance, and nothing moves.
    """
    deviations, agreeing = (np.nan_to_num(columns[name]) for name in ("consensus_deviations", AGREEING))
    return _between(values + lean * deviations * agreeing / (agreeing + ENOUGH))


def _between(values: np.ndarray) -> np.ndarray:
    return np.clip(values, 0.0, 1.0)


def write_trees(path: Path, trees: Trees, features: dict) -> None:
    """Write trees.safetensors. features : records of the modules of the graphs that they were grown on."""
    write_forests(path, [trees.alone, *trees.judges], {"features": features, LEAN: trees.lean})


def read_trees(path: Path) -> tuple[Trees, dict]:
    """The trees of a file, and the features that they were grown on. Raises CheckpointError when it is damaged."""
    forests, said = read_forests(path)
    lean = said.get(LEAN)
    if len(forests) < 2 or not isinstance(lean, float) or not 0 <= lean <= 1:
        what = f"the trees of a scorer are two forests at least and {LEAN} between 0 and 1, which older ones lack"
        raise CheckpointError(what, where=path, remedy=RESTORE)
    return Trees(forests[0], forests[1:], lean), said.get("features")


def combine(
    scores: list[Score],
    descriptors: Mapping[str, Sequence[float]],
    features: dict[str, Any],
    contacts: Callable[[Key], Compared],
    copy_of: Mapping[Key, str],
    trees: Path | None,
) -> list[Score]:
    """Scores of networks with the predictions of trees in their place; `pred_network` is what they were.

    scores : of the networks, of decoys and of their interfaces. descriptors : of the same graphs, by name. features :
    records of the modules of the graphs. contacts : (target, decoy) → what it is compared by. copy_of : (target, decoy)
    → the decoy that it is a copy of; copies vote once.
    The interfaces of a decoy stand alone. trees : file, None for a scorer without. Raises CheckpointError when the
    trees need something else than there is.
    """
    if trees is None or not scores:
        return scores
    forests, of_trees = read_trees(trees)
    if features != of_trees:
        what = "these trees were grown on other features than the graphs have"
        raise CheckpointError(what, where=trees, remedy=RESTORE)
    columns = {name: np.array(values, dtype=np.float64) for name, values in descriptors.items()}
    _check_inputs([forests.alone], columns, trees)
    worth = forests.worth(columns)
    said = [(score.pred_dockq, np.nan if score.pred_local is None else score.pred_local) for score in scores]
    columns |= dict(zip(SAID, np.array(said).T, strict=True))
    first = {(score.target, score.decoy): i for i, score in enumerate(scores) if not score.interface}
    copy_of = {key: name for key, name in copy_of.items() if (key[0], name) in first}
    targets, found = _of_targets(scores, copy_of), []
    for (target, interface), places in targets.items():
        alike = ()
        if not interface:
            decoys = read_decoys(contacts((target, scores[i].decoy)) for i in places)
            alike = similarities(decoys.contacts)
        found.append((places, vote_inputs(votes(alike, worth[places]))))
    columns |= {**relative(columns, targets.values()), **joined(found, len(scores))}
    for i, score in enumerate(scores):
        if not score.interface and (score.target, score.decoy) in copy_of:
            original = first[score.target, copy_of[score.target, score.decoy]]
            for values in columns.values():
                values[i] = values[original]
    _check_inputs(forests.judges, columns, trees)
    return [
        score._replace(pred_dockq=round(value, DECIMALS), pred_network=score.pred_dockq)
        for score, value in zip(scores, forests.judge(columns).tolist(), strict=True)
    ]


def _of_targets(scores: list[Score], copy_of: Mapping[Key, str]) -> dict[tuple[str, str], np.ndarray]:
    """Places of the decoys of each target but copies, and of each interface by itself under a second name."""
    found: dict[tuple[str, str], list[int]] = {}
    for i, score in enumerate(scores):
        if not score.interface and (score.target, score.decoy) in copy_of:
            continue
        found.setdefault((score.target, f"{score.decoy} {score.interface}" if score.interface else ""), []).append(i)
    return {key: np.array(places) for key, places in found.items()}


def _check_inputs(forests: list[Forest], columns: dict[str, np.ndarray], path: Path) -> None:
    missing = sorted({name for forest in forests for name in forest.inputs} - columns.keys())
    if missing:
        raise CheckpointError(
            f"these trees need {', '.join(missing[:5])}, which is not known here", where=path, remedy=RESTORE
        )
