"""Figures for slides of a scored folder: a complex, its PAE, its contacts, and the ranking of a target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from toporank import layout
from toporank.confidence.table import Confidence
from toporank.decoys.partners import Partners, partner_name
from toporank.evaluation.metrics import ACCEPTABLE, CAPRI_NAMES, HIGH, MEDIUM
from toporank.evaluation.residues import ContactRow, ResidueRow
from toporank.report.answer import shown, verdict
from toporank.report.canvas import INK, LINE, MUTED, Canvas, hexed, rgb, shade
from toporank.report.formatting import QUALITY_COLOURS, counted
from toporank.report.pae import COLOURS, WORST, Run, pixels, smaller
from toporank.report.results import Result
from toporank.scorer.conformal import LEVEL
from toporank.structures.complex import STANDARD, Complex

TINTS = ("#bfc6cb", "#dcc9a4", "#c9b9dc", "#b4d3b9", "#e2b9bf", "#cdd1a0", "#b9d8d6", "#d6bda8")
"""Of partners, pale, so that the quality of residues stands out."""
VERDICTS = {"likely": "#1d8a68", "doubtful": "#d9981f", "wrong": "#c2503a"}
"""Whether a model is acceptable or better, as `answer.verdict` says, and the colour."""
NAMED = 24
"""Models of a ranking that are named, a line each; with more, each is a stroke."""
LARGEST_PAE = 1200
"""Pixels of a side of a PAE; a larger one becomes smaller."""
MOST_RESIDUES = 150
"""Of a partner in a contact map that has a label and a square each."""
SIDE = 60.0
"""Of a slide, free."""
SHORT = {name: letter for name, letter in STANDARD.items()}
BONDS = ("hydrogen bond", "salt bridge")


class About(NamedTuple):
    """A model on a slide. partners : chains of its file; every chain by itself where they are not known."""

    row: Result
    partners: Partners


def _titled(canvas: Canvas, title: str, lines: Sequence[str]) -> float:
    """Write the head of a slide; returns where the rest begins."""
    canvas.text(SIDE, 70, _fitting(title, 34, canvas.width - 2 * SIDE, bold=True), 34, bold=True)
    for nth, line in enumerate(lines):
        canvas.text(SIDE, 108 + 30 * nth, _fitting(line, 22, canvas.width - 2 * SIDE), 22, fill=MUTED)
    return 108.0 + 30 * len(lines)


def _wide(text: str, size: float, bold: bool = False) -> float:
    """About how wide a text is, in pixels."""
    return sum(0.36 if letter in "ijl.,:;|' -()" else 0.63 for letter in text) * size * (1.12 if bold else 1.0)


def _fitting(text: str, size: float, width: float, bold: bool = False) -> str:
    """The text, without its middle where it is too wide."""
    if _wide(text, size, bold) <= width:
        return text
    kept = len(text)
    while kept > 4 and _wide(text[:kept] + "…", size, bold) > width:
        kept -= 1
    return f"{text[: kept // 2]}…{text[-((kept - 1) // 2) :]}"


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


def complex_slide(about: About, complex_: Complex, residues: Iterable[ResidueRow]) -> Canvas:
    """A cartoon of a model; residues of its interface are coloured by their predicted quality.

    complex_ : with its partners. residues : of the model, with `pred_quality` or without.
    """
    from toporank.report import cartoon  # imports numba, which is slow

    canvas = Canvas(1600, 1000, f"Cartoon of {_name(about.row)}")
    top = _titled(canvas, about.row.target, [about.row.decoy, predicted(about.row)])
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
        if x + 44 + _wide(text, 24) > end:
            canvas.text(x, y + 20, f"and {len(names) - nth} more", 24, fill=MUTED)
            break
        canvas.box(x, y, 26, 26, colour, stroke=hexed(0.72 * rgb(colour)), thick=1.5)
        canvas.text(x + 38, y + 21, text, 24)
        x += 44 + _wide(text, 24) + 40


def _quality_bar(canvas: Canvas, x: float, y: float, width: float) -> None:
    canvas.text(x, y - 12, "predicted quality at the interface", 20, fill=MUTED)
    canvas.colour_bar(x, y, width, 22, QUALITY_COLOURS)
    for share, text, anchor in ((0.0, "0", "start"), (0.5, "0.5", "middle"), (1.0, "1", "end")):
        canvas.text(x + share * width, y + 46, text, 20, fill=MUTED, anchor=anchor)


# ---- PAE --------------------------------------------------------------------------------------------------


def pae_slide(about: About, values: np.ndarray, chains: Sequence[Run], contacts: np.ndarray) -> Canvas:
    """The PAE of a model with lines between its chains; residues in contact across partners are outlined.

    values : Å, (n, n). contacts : places of residues in contact, int, (P, 2).
    """
    side, left, n = 900.0, 190.0, len(values)
    canvas = Canvas(1400, 1210, f"Predicted aligned error of {_name(about.row)}")
    top = _titled(canvas, f"{about.row.target}: predicted aligned error (PAE)", [about.row.decoy]) + 8
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
        middle, text = (
            (run.first + run.last) / 2 * scale,
            _fitting(f"chain {run.chain}", 22, (run.last - run.first) * scale),
        )
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


# ---- the ranking ------------------------------------------------------------------------------------------


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
    top = _titled(canvas, title, [_explained(rows)]) + 40
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
        name = _fitting(f"{row.rank}  {row.decoy}", size, left - SIDE - 30)
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
    canvas.text(x, y, "acceptable or better:", 20, fill=MUTED)
    x += _wide("acceptable or better:", 20) + 30
    for name, colour in VERDICTS.items():
        if name in there:
            canvas.dot(x, y - 7, 9, colour)
            canvas.text(x + 18, y, name, 20)
            x += 60 + _wide(name, 20)


def _strokes(rows: Sequence[Result], said: dict[str, Confidence]) -> Canvas:
    """A stroke for each of many models, side by side; ipTM, where it is known, as a small dot."""
    canvas = Canvas(1600, 900, f"Ranking of the models of {rows[0].target}")
    title = f"{rows[0].target}: {counted(len(rows), 'model')} by predicted DockQ"
    top = _titled(canvas, title, [f"best: {rows[0].decoy}, {predicted(rows[0])}"]) + 20
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


# ---- contacts ---------------------------------------------------------------------------------------------


def contacts_slide(about: About, contacts: Sequence[ContactRow]) -> Canvas:
    """Residues of one partner against those of another; squares are contacts, coloured by their predicted quality.

    contacts : of two partners, one or more, those of the first partner as `chain_1`.
    """
    rows, columns = (_axis(contacts, side) for side in (1, 2))
    several = [len({key[0] for key in axis}) > 1 for axis in (rows, columns)]
    cell = max(6.0, min(34.0, 1180 / len(columns), 900 / len(rows)))
    size = min(17.0, 0.62 * cell)
    left, width = 190.0, max(cell * len(columns), 640.0)
    sides = [partner_name(tuple(dict.fromkeys(key[0] for key in axis))) for axis in (rows, columns)]
    canvas = Canvas(left + width + 330, 330 + max(cell * len(rows), 420), f"Contacts of {_name(about.row)}")
    line = f"{counted(len(contacts), 'contact')} of {_side(sides[0])} (rows) and {_side(sides[1])} (columns)"
    top = _titled(canvas, about.row.target, [about.row.decoy, line]) + 75
    row_at, column_at = ({key: nth for nth, key in enumerate(axis)} for axis in (rows, columns))
    for nth in range(len(rows) + 1):
        canvas.line([(left, top + nth * cell), (left + cell * len(columns), top + nth * cell)], LINE, 1)
    for nth in range(len(columns) + 1):
        canvas.line([(left + nth * cell, top), (left + nth * cell, top + cell * len(rows))], LINE, 1)
    for contact in contacts:
        x = left + cell * column_at[_key(contact, 2)]
        y = top + cell * row_at[_key(contact, 1)]
        _cell(canvas, contact, x, y, cell)
    every = max(1, int(np.ceil(10 / max(size, 1e-6)))) if size < 10 else 1
    for nth, key in enumerate(rows[::every]):
        y = top + cell * (nth * every + 0.5) + 0.36 * max(size, 10)
        canvas.text(left - 10, y, _label(key, several[0]), max(size, 10), anchor="end")
    for nth, key in enumerate(columns[::every]):
        x = left + cell * (nth * every + 0.5) + 0.36 * max(size, 10)
        canvas.text(x, top - 10, _label(key, several[1]), max(size, 10), turned=True)
    _contact_key(canvas, left + width + 40, top, {contact.type for contact in contacts})
    return canvas


def _side(name: str) -> str:
    return f"{'chains' if '+' in name else 'chain'} {name}"


def _key(contact: ContactRow, side: int) -> tuple[str, int, str, str]:
    """Chain, number, number as it is written, and name of one residue of a contact; sorts by number."""
    chain, residue, name = (getattr(contact, f"{field}_{side}") for field in ("chain", "residue", "residue_name"))
    digits = residue if residue.lstrip("-").isdigit() else residue[:-1]
    return chain, int(digits), residue, name


def _axis(contacts: Sequence[ContactRow], side: int) -> list[tuple[str, int, str, str]]:
    return sorted({_key(contact, side) for contact in contacts})


def _label(key: tuple[str, int, str, str], with_chain: bool) -> str:
    """Such as `Y102`, or `H:Y102` where a partner has several chains."""
    chain, _, residue, name = key
    return f"{chain}:" * with_chain + f"{SHORT.get(name, 'X' if name else '')}{residue}"


def _cell(canvas: Canvas, contact: ContactRow, x: float, y: float, cell: float) -> None:
    colour = "#b9c2c8" if contact.pred_quality is None else shade(QUALITY_COLOURS, contact.pred_quality)
    canvas.box(x + 0.05 * cell, y + 0.05 * cell, 0.9 * cell, 0.9 * cell, colour)
    _mark(canvas, contact.type, x + cell / 2, y + cell / 2, cell)


def _mark(canvas: Canvas, kind: str, x: float, y: float, cell: float) -> None:
    """What stands for a kind of contact."""
    r = 0.2 * cell
    if kind == "hydrogen bond":
        canvas.dot(x, y, r, "#ffffff", INK, 0.05 * cell)
    elif kind == "salt bridge":
        canvas.polygon([(x, y - 1.4 * r), (x + 1.4 * r, y), (x, y + 1.4 * r), (x - 1.4 * r, y)], "#ffffff", stroke=INK,
                       thick=0.05 * cell)  # fmt: skip


def _contact_key(canvas: Canvas, x: float, top: float, kinds: set[str]) -> None:
    canvas.text(x, top + 8, "predicted quality", 20, fill=MUTED)
    canvas.colour_bar(x, top + 22, 230, 22, QUALITY_COLOURS)
    for share, text, anchor in ((0.0, "0", "start"), (0.5, "0.5", "middle"), (1.0, "1", "end")):
        canvas.text(x + 230 * share, top + 68, text, 18, fill=MUTED, anchor=anchor)
    for nth, kind in enumerate(kind for kind in BONDS if kind in kinds):
        y = top + 120 + 46 * nth
        canvas.box(x, y - 16, 32, 32, shade(QUALITY_COLOURS, 0.8))
        _mark(canvas, kind, x + 16, y, 34)
        canvas.text(x + 46, y + 7, kind, 20)


def by_partners(contacts: Iterable[ContactRow], partners: Partners) -> list[list[ContactRow]]:
    """The contacts of every two partners, most contacts first; the partner that has fewer residues as `chain_1`."""
    place = {chain: k for k, body in enumerate(partners) for chain in body}

    def pair(contact: ContactRow) -> tuple[int, int]:
        first, second = (place.get(chain, -1) for chain in (contact.chain_1, contact.chain_2))
        return min(first, second), max(first, second)

    rows = [contact if place.get(contact.chain_1, -1) <= place.get(contact.chain_2, -1) else turned(contact)
            for contact in contacts]  # fmt: skip
    found = [list(group) for _, group in groupby(sorted(rows, key=pair), key=pair)]
    found = [[*map(turned, group)] if len(_axis(group, 1)) > len(_axis(group, 2)) else group for group in found]
    return sorted(found, key=len, reverse=True)


def turned(contact: ContactRow) -> ContactRow:
    """The contact with its sides exchanged."""
    return ContactRow(*contact[:2], *contact[5:8], *contact[2:5], *contact[8:])


def scores_folder(answer: Path) -> list[Path]:
    """The folders with a ranking in the folder that a command wrote, or the folder itself if it has one."""
    name = Path(layout.RANKING).name
    if (answer / name).is_file():
        return [answer]
    return sorted(path.parent for path in answer.glob(layout.RANKING.format(dataset="*")))
