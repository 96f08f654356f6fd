"""Figures for slides of a scored folder: a complex, its PAE, its contacts, and the ranking of a target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from toporank.ranking.residues import ResidueRow
from toporank.report.answer import shown
from toporank.report.formatting import QUALITY_COLOURS
from toporank.report.pae import COLOURS, WORST, Run, pixels, smaller
from toporank.report.results import Result
from toporank.report.slides.canvas import INK, MUTED, SIDE, Canvas, fitting, hexed, rgb, shade, titled, wide
from toporank.scorer.prediction import LEVEL
from toporank.structures.complex import Complex
from toporank.structures.partners import partner_name

TINTS = ("#bfc6cb", "#dcc9a4", "#c9b9dc", "#b4d3b9", "#e2b9bf", "#cdd1a0", "#b9d8d6", "#d6bda8")
"""Of partners, pale, so that the quality of residues stands out."""
LARGEST_PAE = 1200
"""Pixels of a side of a PAE; a larger one becomes smaller."""


def predicted(row: Result) -> str:
    """What is predicted of a model, in a line; the words and the number of the page."""
    if row.pred_dockq is None:
        return "no score"
    known = row.pred_low is not None
    interval = f", {100 * LEVEL:.0f} % interval {row.pred_low:.2f} to {row.pred_high:.2f}" if known else ""
    return f"{shown(row)} {row.shown_dockq:.2f} ({row.shown_capri}{interval})"


def _name(row: Result) -> str:
    return f"{row.target}: {row.decoy}"


# ---- the complex ------------------------------------------------------------------------------------------


def complex_slide(row: Result, complex_: Complex, residues: Iterable[ResidueRow]) -> Canvas:
    """A cartoon of a model; residues of its interface are coloured by their predicted quality.

    complex_ : with its partners. residues : of the model, with `pred_quality` or without.
    """
    from toporank.report.slides import cartoon  # imports numba, which is slow

    canvas = Canvas(1600, 1000, f"Cartoon of {_name(row)}")
    top = titled(canvas, row.target, [row.decoy, predicted(row)])
    tints = np.array([rgb(TINTS[body % len(TINTS)]) for body in complex_.body_of])
    place = {str(name): r for name, r in complex_.index().items()}
    graded = [(place.get(f"{row.chain}:{row.residue}"), row.pred_quality) for row in residues]
    for r, quality in graded:
        if r is not None and quality is not None:
            tints[r] = rgb(shade(QUALITY_COLOURS, quality))
    surface = cartoon.mesh(complex_, cartoon.view(complex_))
    width, height = int(canvas.width - 2 * SIDE), int(canvas.height - top - 110)
    canvas.picture(SIDE, top - 8, width, height, cartoon.painted(surface, tints, width, height))
    bar = canvas.width - SIDE - 330 if graded else canvas.width - SIDE
    _chips(canvas, [(partner_name(body), TINTS[k % len(TINTS)]) for k, body in enumerate(complex_.bodies)], bar - 40)
    if graded:
        _quality_bar(canvas, bar, canvas.height - 62, 330)
    return canvas


def _chips(canvas: Canvas, names: Sequence[tuple[str, str]], end: float) -> None:
    """The names of partners with their colours, below the drawing."""
    x, y = SIDE, canvas.height - 62
    for nth, (name, colour) in enumerate(names):
        text = f"{'chains' if '+' in name else 'chain'} {name}"
        if x + 44 + wide(text, 24) > end:
            canvas.text(x, y + 20, f"and {len(names) - nth} more", 24, fill=MUTED)
            break
        canvas.box(x, y, 26, 26, colour, stroke=hexed(0.72 * rgb(colour)), thick=1.5)
        canvas.text(x + 38, y + 21, text, 24)
        x += 44 + wide(text, 24) + 40


def _quality_bar(canvas: Canvas, x: float, y: float, width: float) -> None:
    canvas.text(x, y - 12, "predicted quality at the interface", 20, fill=MUTED)
    canvas.colour_bar(x, y, width, 22, QUALITY_COLOURS)
    for share, text, anchor in ((0.0, "0", "start"), (0.5, "0.5", "middle"), (1.0, "1", "end")):
        canvas.text(x + share * width, y + 46, text, 20, fill=MUTED, anchor=anchor)


# ---- PAE --------------------------------------------------------------------------------------------------


def pae_slide(row: Result, values: np.ndarray, chains: Sequence[Run], contacts: np.ndarray) -> Canvas:
    """The PAE of a model with lines between its chains; residues in contact across partners are outlined.

    values : Å, (n, n). contacts : places of residues in contact, int, (P, 2).
    """
    side, left, n = 900.0, 190.0, len(values)
    canvas = Canvas(1400, 1210, f"Predicted aligned error of {_name(row)}")
    top = titled(canvas, f"{row.target}: predicted aligned error (PAE)", [row.decoy]) + 8
    canvas.picture(left, top, side, side, pixels(smaller(values, LARGEST_PAE)), smooth=n > side)
    scale = side / n
    for run in chains[1:]:
        at = run.first * scale
        for points in (((left + at, top), (left + at, top + side)), ((left, top + at), (left + side, top + at))):
            canvas.line(points, INK, 2.2)
    for points in outlines(contacts, np.repeat(range(len(chains)), [run.last - run.first for run in chains])):
        canvas.line([(left + x * scale, top + y * scale) for x, y in points], "#e0601a", 2.6)
    canvas.box(left, top, side, side, stroke=INK, thick=2.2)
    for run in chains:
        middle = (run.first + run.last) / 2 * scale
        text = fitting(f"chain {run.chain}", 22, (run.last - run.first) * scale)
        canvas.text(left + middle, top + side + 34, text, 22, anchor="middle")
        canvas.text(left - 22, top + middle, text, 22, anchor="middle", turned=True)
    canvas.text(left + side / 2, top + side + 74, "residue whose place is predicted", 22, fill=MUTED, anchor="middle")
    canvas.text(left - 62, top + side / 2, "residue that is aligned", 22, fill=MUTED, anchor="middle", turned=True)
    _pae_scale(canvas, left + side + 46, top)
    if len(contacts):
        canvas.line([(left + side + 46, top + 440), (left + side + 82, top + 440)], "#e0601a", 3)
        for nth, line in enumerate(("around residues", "in contact")):
            canvas.text(left + side + 92, top + 447 + 28 * nth, line, 20, fill=MUTED)
    return canvas


def _pae_scale(canvas: Canvas, x: float, top: float) -> None:
    steps = 120
    for nth in range(steps):
        canvas.box(x, top + 360 * nth / steps, 30, 360 / steps + 0.6, shade(COLOURS, nth / (steps - 1)))
    canvas.box(x, top, 30, 360, stroke=MUTED, thick=1)
    for share in (0.0, 1 / 3, 2 / 3, 1.0):
        canvas.text(x + 42, top + 360 * share + 8, f"{share * WORST:.0f} Å", 20, fill=MUTED)


def outlines(contacts: np.ndarray, chain: np.ndarray, reach: int | None = None) -> list[list[tuple[float, float]]]:
    """Lines around the cells of a matrix of n residues that are near contacts, in both directions.

    contacts : int, (P, 2). chain : of each residue, int, (n,); cells of the same two chains belong to a contact.
    reach : cells on each side that do; by default so many that they are seen.
    """
    n = len(chain)
    reach = max(1, n // 130) if reach is None else reach
    near = np.zeros((n + 2, n + 2), dtype=bool)
    for i, j in np.concatenate([contacts, contacts[:, ::-1]]).tolist() if len(contacts) else []:
        rows, columns = (_around(end, chain, reach) for end in (i, j))
        near[rows, columns] = True
    across, upright = near[1:] != near[:-1], near[:, 1:] != near[:, :-1]
    lines = [[(a - 1, y), (b - 1, y)] for y, row in enumerate(across) for a, b in _stretches(row)]
    return lines + [[(x, a - 1), (x, b - 1)] for x, column in enumerate(upright.T) for a, b in _stretches(column)]


def _around(place: int, chain: np.ndarray, reach: int) -> slice:
    """The rows around one, of the same chain, in a matrix with a margin of one."""
    low, high = max(place - reach, 0), min(place + reach, len(chain) - 1)
    same = np.flatnonzero(chain[low : high + 1] == chain[place]) + low
    return slice(same[0] + 1, same[-1] + 2)


def _stretches(flags: np.ndarray) -> list[tuple[int, int]]:
    """Where runs of True begin and end, the end not included."""
    ends = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0))
    return list(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True))
