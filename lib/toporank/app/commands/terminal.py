"""Lines for a terminal: at most 100 columns, aligned, with colours where it shows them."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from toporank.ranking.verdict import VERDICTS

WIDEST = 100
COLOURS = ("32", "33", "31")
"""ANSI codes of the verdicts, from good to bad: green, yellow, red."""
CUT = "…"
SHORTEST = 12
"""Letters of a name to which it is cut."""


@dataclass(frozen=True)
class Terminal:
    """Where lines are shown.

    Attributes
    ----------
    width : columns
    colours : whether it shows colours
    """

    width: int = WIDEST
    colours: bool = False

    @classmethod
    def of_output(cls) -> Terminal:
        """Return that of the standard output; NO_COLOR in the environment keeps colours away."""
        is_terminal = sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if is_terminal else WIDEST
        colours = is_terminal and not os.environ.get("NO_COLOR")
        return cls(min(width, WIDEST), colours)

    def painted(self, text: str, verdict: str) -> str:
        """Return a text in the colour of a verdict."""
        if not self.colours or verdict not in VERDICTS:
            return text
        return f"\033[{COLOURS[VERDICTS.index(verdict)]}m{text}\033[0m"

    def wrapped(self, label: str, text: str, indent: str = "") -> list[str]:
        """Return a text behind a label, in as many lines as it needs; names are not cut."""
        first = f"{indent}{label} " if label else indent
        return textwrap.wrap(
            text,
            self.width,
            initial_indent=first,
            subsequent_indent=" " * len(first),
            break_long_words=False,
            break_on_hyphens=False,
        )

    def table(
        self,
        heads: Sequence[str],
        rows: Sequence[Sequence[str]],
        numbers: Sequence[str] = (),
        names: Sequence[str] = (),
        spare: Sequence[str] = (),
        indent: str = "",
    ) -> list[str]:
        """Return aligned rows below their heads; a cell that is a verdict has its colour.

        Parameters
        ----------
        heads : of the columns
        rows : their cells
        numbers : heads of columns that are aligned to the right
        names : heads of columns that are cut in the middle where the table is too wide
        spare : heads of columns that are left out, the first first, where that is not enough
        indent : before each line
        """
        table = [heads, *rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        long = [k for k, head in enumerate(heads) if head in names]
        room = self.width - len(indent) - 2 * (len(heads) - 1)
        least = sum(widths) - sum(max(widths[k] - SHORTEST, 0) for k in long)
        left_out = [k for k, head in enumerate(heads) if head in spare[:1]]
        if least > room and spare:
            kept = np.delete(np.array(table, dtype=object), left_out, axis=1).tolist()
            return self.table(kept[0], kept[1:], numbers, names, spare[1:], indent)
        while long and sum(widths) > room:
            widest = max(long, key=lambda k: widths[k])
            if widths[widest] <= SHORTEST:
                break
            widths[widest] -= 1
        lines = []
        for row in table:
            cells = []
            for cell, head, width in zip(row, heads, widths, strict=True):
                text = shortened(cell, width)
                text = text.rjust(width) if head in numbers else text.ljust(width)
                cells.append(self.painted(text, cell))
            lines.append(f"{indent}{'  '.join(cells)}".rstrip())
        return lines


def shortened(name: str, width: int) -> str:
    """Return a name of at most so many letters, its middle left out.

    >>> shortened("pair_unrelaxed_rank_001", 12)
    'pair_u…k_001'
    """
    if len(name) <= width:
        return name
    n_end = (width - 1) // 2
    return name[: width - 1 - n_end] + CUT + name[len(name) - n_end :]
