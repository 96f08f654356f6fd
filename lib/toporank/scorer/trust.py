"""How far to trust the scores of a data set, by the calibration of the scorer that gave them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from toporank.building.coverage import CoverageRow
from toporank.inputs.confidence.table import Confidence
from toporank.scorer.calibration import estimates, read_calibration, why_of_another
from toporank.scorer.expected import held_against_others
from toporank.scorer.own_confidence import read_own_confidence
from toporank.scorer.prediction import Estimate, Score
from toporank.scorer.scorer import Scorer


def how_far_to_trust(
    scorer: Scorer,
    coverage: Iterable[CoverageRow],
    scores: Iterable[Score],
    stated: Iterable[Confidence],
) -> dict[tuple[str, str], Estimate]:
    """(target, decoy) → how far to trust its score, for every decoy; empty where that is unknown.

    scores : of the scorer. stated : rows of confidence.csv; a model with pLDDT is one that a structure predictor made.
    Raises RecordError when the calibration is damaged.
    """
    decoys = {(score.target, score.decoy): score for score in scores if not score.interface}
    if not decoys or scorer.calibration is None or why_no_intervals(scorer):
        return {}
    known = read_calibration(scorer.calibration)
    from_predictor = {(row.target, row.decoy) for row in stated if row.plddt is not None}
    rows = {(row.target, row.decoy): row for row in coverage}
    originals = [not rows[key].duplicate_of for key in decoys]
    models = Counter(key[0] for key, original in zip(decoys, originals, strict=True) if original)
    predicted, targets = [score.pred_dockq for score in decoys.values()], [key[0] for key in decoys]
    given = (
        predicted,
        [rows[key].n_interface_residues for key in decoys],
        [rows[key].n_chains for key in decoys],
        np.array([score.pooled for score in decoys.values()]),
        [models[target] < 2 for target in targets],
        held_against_others(predicted, targets, originals),
    )
    found = estimates(known, *given, [key in from_predictor for key in decoys])
    if scorer.own_confidence and any(score.pred_confidence is not None for score in decoys.values()):
        own = read_own_confidence(scorer.own_confidence)
        expected = {"expected": own.expected, "expected_alone": own.expected_alone}
        with_own = estimates(known.model_copy(update=expected), *given)
        found = [
            plain if score.pred_confidence is None else better
            for score, plain, better in zip(decoys.values(), found, with_own, strict=True)
        ]
    return dict(zip(decoys, found, strict=True))


def why_no_intervals(scorer: Scorer) -> str:
    """Why TopoRank does not use the calibration of a scorer, in a sentence; empty where it does, or there is none.

    Raises RecordError when the calibration is damaged.
    """
    if scorer.calibration is None:
        return ""
    why = why_of_another(read_calibration(scorer.calibration), scorer.identity)
    return f"{scorer.calibration} is not used, so there are no intervals: {why}" if why else ""
