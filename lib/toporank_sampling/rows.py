"""The table of the outcome of a target: its decoys, and whatever failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from toporank.files import spreadsheets
from toporank.structures import identity


class Row(NamedTuple):
    """A decoy, or why there is none; empty where there is no value. RMSDs in Å."""

    Target: str
    Model: str = ""
    Partners: str = ""
    DockQ: str = ""
    CAPRI: str = ""
    fnat: str = ""
    iRMSD: str = ""
    LRMSD: str = ""
    Status: str = identity.Status.OK
    Reason: str = ""
    Docking: str = ""
    Form: str = ""


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as CSV."""
    spreadsheets.write_rows(path, Row._fields, rows)


def read_rows(path: Path) -> list[Row]:
    """Rows as `write_rows` wrote them."""
    return [Row(**row) for row in spreadsheets.read_rows(path)]


def describe(rows: Sequence[Row], labels: str, poses: str) -> list[str]:
    """What was made of all natives, in one or two lines.

    labels, poses : paths of the tables of decoys, and of whatever failed besides.
    """
    good = [row for row in rows if row.Status == identity.Status.OK]
    n_of_class = Counter(row.CAPRI for row in good)
    classes = ", ".join(f"{n} {name}" for name, n in n_of_class.items())
    targets = {row.Target for row in good}
    lines = [
        f"{len(good)} decoys of {len(targets)} targets ({classes}); labels: {labels}"
    ]
    without = sorted({row.Target for row in rows} - targets)
    if without:
        what = f"{len(without)} targets without decoys, such as {without[0]}"
        lines.append(f"{what}; reasons: {poses}")
    return lines
