"""What became of every decoy of a chunk in one stage: the file Snakemake tracks."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from toporank.files import write_text


@dataclass(frozen=True)
class LedgerRow:
    """One decoy in one stage.

    `stage` is where its way ended, or this stage. Counts are -1 while unknown. `sha256` and `size` (bytes)
    are those of the artefact, empty and 0 where there is none.
    """

    target: str
    decoy: str
    status: str
    stage: str
    reason: str
    n_chains: int
    n_interface_residues: int
    sha256: str
    size: int


COLUMNS = tuple(field.name for field in fields(LedgerRow))
_NUMBERS = ("n_chains", "n_interface_residues", "size")


def read_ledger(path: Path) -> list[LedgerRow]:
    """Read a ledger."""
    with open(path, encoding="utf-8", newline="") as handle:
        rows = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [LedgerRow(**{k: int(v) if k in _NUMBERS else v for k, v in row.items()}) for row in rows]


def write_ledger(path: Path, rows: list[LedgerRow]) -> None:
    """Write a ledger in one step."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n", quotechar=None)
    writer.writerow(COLUMNS)
    writer.writerows(astuple(row) for row in rows)
    write_text(path, text.getvalue())
