"""The predictor's own confidence on the page: columns of the rankings, a scatter plot, where the two disagree."""

from __future__ import annotations

from typing import Any

from toporank.inputs.confidence.table import INCOMPLETE, MEASURES, Confidence
from toporank.metrics import CAPRI_NAMES
from toporank.report.results import Result, Study

AGAINST = ("iptm", "ranking_score", "haddock_score", "interface_plddt")
"""Measures that predictions are plotted against: the first that two decoys have."""
MOST_LISTED = 20
NAMED_POINTS = 1500
"""Up to this many points, each says which decoy it is."""
DIGITS = dict.fromkeys(("plddt", "interface_plddt", "interface_pae", "haddock_score"), 1)
"""Decimals of a measure in the tables; of all others three."""


def measure_lists(rows: list[Result], of_decoys: dict[str, Confidence]) -> dict[str, Any]:
    """One target's measures for `rankings.decoys_for_script`: names and decimals, and for each the values of `rows`."""
    heads, lists = [], []
    for name, shown in MEASURES.items():
        digits = DIGITS.get(name, 3)
        values = [getattr(of_decoys.get(row.decoy), name, None) for row in rows]
        if any(value is not None for value in values):
            heads.append((shown, digits))
            lists.append([None if value is None else round(value, digits) for value in values])
    return {"q": heads, "Q": lists} if heads else {}


def of_targets(study: Study) -> dict[tuple[str, str], dict[str, Confidence]]:
    """(data set, target) → decoy → what its predictor says of it."""
    found: dict[tuple[str, str], dict[str, Confidence]] = {}
    for dataset, rows in study.confidence.items():
        for row in rows:
            found.setdefault((dataset, row.target), {})[row.decoy] = row
    return found


def sections(study: Study) -> list[dict[str, Any]]:
    """For each data set with confidence its scatter plot, the targets on which the two disagree, and what is amiss."""
    found = []
    for name, rows in study.confidence.items():
        if not rows:
            continue
        differ = study.disagreements.get(name, [])
        amiss = [row for row in rows if row.status == INCOMPLETE]
        found.append(
            {
                "name": name,
                "scatter": scatter(name, study),
                "disagreements": differ[:MOST_LISTED],
                "n_disagreements": len(differ),
                "n_targets": len({row.target for row in study.decoys if row.dataset == name}),
                "incomplete": amiss[:MOST_LISTED],
                "n_incomplete": len(amiss),
            }
        )
    return found


def scatter(dataset: str, study: Study) -> dict[str, Any] | None:
    """Predicted DockQ over a measure of the predictor's: points as fractions of the axes, from the lower left.

    None where no measure has two decoys.
    """
    said = {(row.target, row.decoy): row for row in study.confidence[dataset]}
    scored = [row for row in study.decoys if row.dataset == dataset and row.pred_dockq is not None]
    for measure in AGAINST:
        known = [(row, getattr(said.get((row.target, row.decoy)), measure, None)) for row in scored]
        known = [(row, value) for row, value in known if value is not None]
        if len(known) > 1:
            values = [value for _, value in known]
            low, high = (0.0, 1.0) if min(values) >= 0 and max(values) <= 1 else (min(values), max(values))
            width = high - low or 1.0
            points = [
                {
                    "x": (value - low) / width,
                    "y": row.pred_dockq,
                    "capri": CAPRI_NAMES.index(row.pred_capri),
                    "name": f"{row.target}/{row.decoy}: {value:.3g}, predicted {row.pred_dockq:.3f}",
                }
                for row, value in known
            ]
            named = len(points) <= NAMED_POINTS
            return {"measure": MEASURES[measure], "low": low, "high": high, "points": points, "named": named}
    return None
