"""The table of what became of a target: its decoys, and whatever failed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from toporank.decoys.identity import Status
from toporank.files import write_text


class Row(NamedTuple):
    """A decoy, or why there is none; empty where there is no value. RMSDs and `Bent` in Å."""

    Target: str
    Model: str = ""
    Partners: str = ""
    DockQ: str = ""
    CAPRI: str = ""
    fnat: str = ""
    iRMSD: str = ""
    LRMSD: str = ""
    Status: str = Status.OK
    Reason: str = ""
    Docking: str = ""
    Form: str = ""
    Bent: str = ""


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows(rows)
    write_text(path, text.getvalue())


def read_rows(path: Path) -> list[Row]:
    """Rows as `write_rows` wrote them."""
    with open(path, encoding="utf-8", newline="") as handle:
        return [Row(**row) for row in csv.DictReader(handle)]
