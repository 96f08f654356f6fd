"""The table of the outcome of a target: its decoys, and whatever failed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from toporank.files import spreadsheets
from toporank.structures.identity import Status


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
    Status: str = Status.OK
    Reason: str = ""
    Docking: str = ""
    Form: str = ""


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as CSV."""
    spreadsheets.write_rows(path, Row._fields, rows)


def read_rows(path: Path) -> list[Row]:
    """Rows as `write_rows` wrote them."""
    return [Row(**row) for row in spreadsheets.read_rows(path)]
