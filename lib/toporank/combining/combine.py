"""The prediction of a scorer that has trees beside its networks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from toporank.combining.descriptors import describe
from toporank.combining.inputs import network_inputs, standing
from toporank.combining.trees import Forest, read_forests
from toporank.errors import CheckpointError
from toporank.evaluation.interfaces import DECIMALS, Score
from toporank.evaluation.ranking import ComparedDecoy
from toporank.graphs.packfile import PackedGraphs


def predict(forests: list[Forest], columns: dict[str, np.ndarray]) -> np.ndarray:
    """Mean of the forests for each decoy, between 0 and 1. columns : by name, float64, (n,), nan where unknown."""
    each = [forest.predict(np.column_stack([columns[name] for name in forest.inputs])) for forest in forests]
    return np.clip(np.mean(each, axis=0), 0.0, 1.0)


def combine(
    scores: list[Score], packs: list[Path], comparison: Iterable[ComparedDecoy], trees: Path | None
) -> list[Score]:
    """Scores of networks with the predictions of trees in their place; `pred_network` is what they were.

    scores : of all graphs of the packs in their order, `scoring.score_pack`. comparison : of the decoys of the packs;
    interfaces of decoys stand alone. trees : file, None for a scorer without. Raises CheckpointError when the trees
    need something else than there is.
    """
    if trees is None or not scores:
        return scores
    forests, said = read_forests(trees)
    graphs = PackedGraphs.open(packs)
    if graphs.metadata.get("features") != said.get("features"):
        raise CheckpointError("these trees were grown on other features than the graphs have", where=trees)
    names, values = describe(graphs)
    known = {(row.target, row.decoy): row.consensus for row in comparison}
    consensus = [known.get((s.target, s.decoy)) if not s.interface else None for s in scores]
    # an interface stands alone: it is compared with nothing
    target = np.array([s.target if not s.interface else f"{s.target}/{s.decoy}/{s.interface}" for s in scores], object)
    columns = dict(zip(names, values.T, strict=True))
    columns |= standing(target, np.array([np.nan if value is None else value for value in consensus], float))
    columns |= network_inputs(target, np.array([s.pred_dockq for s in scores]))
    missing = sorted({name for forest in forests for name in forest.inputs} - columns.keys())
    if missing:
        raise CheckpointError(f"these trees need {', '.join(missing[:5])}, which is not known here", where=trees)
    return [
        score._replace(pred_dockq=round(value, DECIMALS), pred_network=score.pred_dockq)
        for score, value in zip(scores, predict(forests, columns).tolist(), strict=True)
    ]
