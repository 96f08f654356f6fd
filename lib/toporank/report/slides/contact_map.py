"""A slide with the contacts of a model: residues of one partner against those of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from toporank.ranking.residues import ContactRow
from toporank.report.formatting import QUALITY_COLOURS, counted
from toporank.report.results import Result
from toporank.report.slides.canvas import INK, LINE, MUTED, Canvas, shade, titled
from toporank.structures.complex import STANDARD
from toporank.structures.partners import Partners, partner_name

BONDS = ("hydrogen bond", "salt bridge")
"""Kinds of contacts that have a mark."""
UNGRADED = "#b9c2c8"


def contacts_slide(row: Result, contacts: Sequence[ContactRow]) -> Canvas:
    """Residues of one partner against those of another; squares are contacts, coloured by their predicted quality.

    contacts : of two partners, one or more, those of the first partner as `chain_1`.
    """
    rows, columns = (_axis(contacts, side) for side in (1, 2))
    several = [len({key[0] for key in axis}) > 1 for axis in (rows, columns)]
    cell = max(6.0, min(34.0, 1180 / len(columns), 900 / len(rows)))
    size = min(17.0, 0.62 * cell)
    left, width = 190.0, max(cell * len(columns), 480.0)
    sides = [partner_name(tuple(dict.fromkeys(key[0] for key in axis))) for axis in (rows, columns)]
    canvas = Canvas(left + width + 330, 330 + max(cell * len(rows), 420), f"Contacts of {row.target}: {row.decoy}")
    line = f"{counted(len(contacts), 'contact')} of {_side(sides[0])} (rows) and {_side(sides[1])} (columns)"
    top = titled(canvas, row.target, [row.decoy, line]) + 75
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
    return f"{chain}:" * with_chain + f"{STANDARD.get(name, 'X' if name else '')}{residue}"


def _cell(canvas: Canvas, contact: ContactRow, x: float, y: float, cell: float) -> None:
    colour = UNGRADED if contact.pred_quality is None else shade(QUALITY_COLOURS, contact.pred_quality)
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
