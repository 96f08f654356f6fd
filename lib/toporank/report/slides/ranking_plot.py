"""A slide with the ranking of a target: the models by predicted DockQ, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from toporank.inputs.confidence.table import Confidence
from toporank.metrics import ACCEPTABLE, CAPRI_NAMES, HIGH, MEDIUM
from toporank.report.answer import verdict
from toporank.report.formatting import counted
from toporank.report.results import Result
from toporank.report.slides.canvas import INK, LINE, MUTED, SIDE, Canvas, fitting, titled, wide
from toporank.report.slides.drawings import predicted
from toporank.scorer.prediction import LEVEL

VERDICTS = {"likely": "#1d8a68", "doubtful": "#d9981f", "wrong": "#c2503a"}
"""Whether a model is acceptable or better, as `answer.verdict` says, and the colour."""
NAMED = 24
"""Models of a ranking that are named, a line each; with more, each is a stroke."""


def ranking_slide(rows: Sequence[Result], said: dict[str, Confidence]) -> Canvas:
    """Predicted DockQ of the models of a target with intervals, coloured by verdict.

    rows : with a score, best first; copies of others are left out.
    """
    rows = [row for row in rows if not row.duplicate_of] or rows
    return _listed(rows, said) if len(rows) <= NAMED else _strokes(rows, said)


def _verdict(row: Result) -> str:
    return verdict(row) or "wrong"


def _listed(rows: Sequence[Result], said: dict[str, Confidence]) -> Canvas:
    """A line for each model."""
    measures = [
        (title, [getattr(said.get(row.decoy), name, None) for row in rows], digits)
        for name, title, digits in (("iptm", "ipTM", 2), ("interface_plddt", "pLDDT", 0))
    ]
    measures = [measure for measure in measures if any(value is not None for value in measure[1])]
    step = min(46.0, 820 / len(rows))
    size = min(22.0, 0.55 * step)
    canvas = Canvas(1600, 330 + step * len(rows), f"Ranking of the models of {rows[0].target}")
    title = f"{rows[0].target}: {counted(len(rows), 'model')} by predicted DockQ"
    top = titled(canvas, title, [_explained(rows)]) + 40
    left, right = 520.0, canvas.width - SIDE - 95 * (1 + len(measures))
    bottom = top + step * len(rows)
    _dockq_axis(canvas, left, right, top, bottom)
    heads = [("DockQ", [row.pred_dockq for row in rows], 2), *measures]
    for nth, (head, values, digits) in enumerate(heads):
        x = right + 95 * (nth + 1)
        canvas.text(x, top - 14, head, 20, fill=MUTED, anchor="end")
        for place, value in enumerate(values):
            y = top + step * (place + 0.5) + 0.35 * size
            text = "–" if value is None else f"{value:.{digits}f}"
            canvas.text(x, y, text, size, anchor="end", bold=nth == 0)
    for place, row in enumerate(rows):
        y, colour = top + step * (place + 0.5), VERDICTS[_verdict(row)]
        name = fitting(f"{row.rank}  {row.decoy}", size, left - SIDE - 30)
        canvas.text(SIDE, y + 0.35 * size, name, size)
        if row.pred_low is not None:
            ends = [(left + (right - left) * bound, y) for bound in (row.pred_low, row.pred_high)]
            canvas.line(ends, colour, 0.24 * step, 0.35)
        canvas.dot(left + (right - left) * row.pred_dockq, y, 0.21 * step, colour, "#ffffff", 2)
    _verdict_key(canvas, SIDE, canvas.height - 40, {_verdict(row) for row in rows})
    return canvas


def _explained(rows: Sequence[Result]) -> str:
    known = any(row.pred_low is not None for row in rows)
    return f"bars are {100 * LEVEL:.0f} % intervals" if known else "how far off it may be is not known"


def _dockq_axis(canvas: Canvas, left: float, right: float, top: float, bottom: float) -> None:
    """DockQ from 0 to 1 below a field, with the limits of CAPRI classes and the names of these above it."""
    limits = (0.0, ACCEPTABLE, MEDIUM, HIGH, 1.0)
    for low, high, name in zip(limits, limits[1:], CAPRI_NAMES, strict=False):
        middle = left + (right - left) * (low + high) / 2
        canvas.text(middle, top - 14, name, 18, fill=MUTED, anchor="middle")
    for limit in limits:
        x = left + (right - left) * limit
        canvas.line([(x, top), (x, bottom)], LINE, 2)
        canvas.text(x, bottom + 28, f"{limit:g}", 20, fill=MUTED, anchor="middle")
    canvas.text((left + right) / 2, bottom + 58, "predicted DockQ", 20, fill=MUTED, anchor="middle")


def _verdict_key(canvas: Canvas, x: float, y: float, there: set[str]) -> None:
    canvas.text(x, y, "verdict:", 20, fill=MUTED)
    x += wide("verdict:", 20) + 30
    for name, colour in VERDICTS.items():
        if name in there:
            canvas.dot(x, y - 7, 9, colour)
            canvas.text(x + 18, y, name, 20)
            x += 60 + wide(name, 20)


def _strokes(rows: Sequence[Result], said: dict[str, Confidence]) -> Canvas:
    """A stroke for each of many models, side by side; ipTM, where it is known, as a small dot."""
    canvas = Canvas(1600, 900, f"Ranking of the models of {rows[0].target}")
    title = f"{rows[0].target}: {counted(len(rows), 'model')} by predicted DockQ"
    top = titled(canvas, title, [f"best: {rows[0].decoy}, {predicted(rows[0])}"]) + 20
    left, right, bottom = 190.0, canvas.width - SIDE, canvas.height - 150.0
    for limit in (0.0, ACCEPTABLE, MEDIUM, HIGH, 1.0):
        y = bottom - (bottom - top) * limit
        canvas.line([(left, y), (right, y)], LINE, 2)
        canvas.text(left - 14, y + 7, f"{limit:g}", 20, fill=MUTED, anchor="end")
    canvas.text(SIDE + 20, (top + bottom) / 2, "predicted DockQ", 22, fill=MUTED, anchor="middle", turned=True)
    step = (right - left) / len(rows)
    iptm = [getattr(said.get(row.decoy), "iptm", None) for row in rows]
    for nth, row in enumerate(rows):
        x, colour = left + step * (nth + 0.5), VERDICTS[_verdict(row)]
        if row.pred_low is not None:
            ends = [(x, bottom - (bottom - top) * bound) for bound in (row.pred_low, row.pred_high)]
            canvas.line(ends, colour, max(0.8, min(7.0, 0.6 * step)), 0.3)
    for nth, row in enumerate(rows):
        x, colour = left + step * (nth + 0.5), VERDICTS[_verdict(row)]
        canvas.dot(x, bottom - (bottom - top) * row.pred_dockq, max(1.6, min(7.0, 0.36 * step)), colour)
        if iptm[nth] is not None:
            canvas.dot(x, bottom - (bottom - top) * iptm[nth], max(1.2, min(4.0, 0.2 * step)), INK)
    for place in np.unique(np.geomspace(1, len(rows), 6).round().astype(int)).tolist():
        canvas.text(left + step * (place - 0.5), bottom + 32, f"{place:,}", 20, fill=MUTED, anchor="middle")
    canvas.text((left + right) / 2, bottom + 64, "place in the ranking", 22, fill=MUTED, anchor="middle")
    _verdict_key(canvas, left, canvas.height - 36, {_verdict(row) for row in rows})
    note = _explained(rows) + ("; black dots are ipTM" if any(value is not None for value in iptm) else "")
    canvas.text(right, canvas.height - 36, note, 20, fill=MUTED, anchor="end")
    return canvas
