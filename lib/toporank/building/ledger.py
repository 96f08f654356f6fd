"""What became of every decoy of a chunk in one stage: the file that Snakemake tracks."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from toporank import layout
from toporank.building.plan import NAME, Current, chunk_names
from toporank.errors import RecordError
from toporank.features.interface import Meeting
from toporank.files import write_text


class LedgerRow(NamedTuple):
    """One decoy in one stage.

    stage : where it failed, or this stage. Counts are -1 while unknown. meetings : how its partners meet, as
    `meetings_text` writes it; empty while unknown. structure_sha256 : of the decoy's file.
    atoms_sha256 : of its atoms (see `structures.stored.atoms_digest`). sha256, size (bytes) and mtime_ns : of the
    artefact under results/; empty and 0 without one.
    """

    target: str
    decoy: str
    status: str
    stage: str
    reason: str = ""
    n_chains: int = -1
    n_interface_residues: int = -1
    meetings: str = ""
    structure_sha256: str = ""
    atoms_sha256: str = ""
    sha256: str = ""
    size: int = 0
    mtime_ns: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Identity within the data set."""
        return self.target, self.decoy


class Ledger(NamedTuple):
    """recipe : modules, parameters and code that the artefacts were made with, in one line."""

    recipe: str
    rows: list[LedgerRow]


def read_ledger(path: Path) -> Ledger:
    """Read a ledger. Raises RecordError when the file is not a ledger."""
    try:
        recipe, header, *lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        if header.split("\t") != list(LedgerRow._fields):
            raise ValueError("other columns")
        return Ledger(recipe, [_row(line.split("\t")) for line in lines])
    except ValueError as error:
        raise RecordError(f"not a ledger: {error}", where=path, remedy="delete it and run again") from error


def _row(cells: list[str]) -> LedgerRow:
    *texts, chains, residues, meetings, structure, atoms, digest, size, mtime = cells
    numbers = int(chains), int(residues)
    return LedgerRow(*texts, *numbers, meetings, structure, atoms, digest, int(size), int(mtime))


def meetings_text(meetings: Iterable[Meeting]) -> str:
    """How partners meet, as a row has it."""
    return json.dumps(list(meetings), separators=(",", ":"))


def read_meetings(row: LedgerRow) -> list[Meeting]:
    """The inverse of `meetings_text`; empty while unknown."""
    return [Meeting(*cells) for cells in json.loads(row.meetings or "[]")]


def read_stage(dataset: str, stage: str, chunk: str, keys: Iterable[tuple[str, str]]) -> Ledger:
    """The ledger of one job. Raises RecordError unless it has a row for each of these decoys of its chunk."""
    path = Path(layout.LEDGER.format(dataset=dataset, stage=stage, chunk=chunk))
    ledger = read_ledger(path)
    if {row.key for row in ledger.rows} != set(keys):
        raise RecordError("other decoys than in the plan of its chunk", where=path, remedy="delete it and run again")
    return ledger


def write_ledger(path: Path, ledger: Ledger) -> None:
    """Write a ledger in one step: the recipe, the names of the columns, a line for each decoy."""
    lines = [ledger.recipe, "\t".join(LedgerRow._fields), *("\t".join(map(str, row)) for row in ledger.rows)]
    write_text(path, "\n".join([*lines, ""]))


def last_fates(dataset: str, current: Current) -> dict[tuple[str, str], LedgerRow]:
    """What became of every decoy in the last stage: in this run or, outside a partial build, in an earlier one."""
    folder = Path(layout.LEDGER.format(dataset=dataset, stage=layout.STAGES[-1], chunk="x")).parent
    earlier = chunk_names(folder) if current.chunks != current.of_all else []
    return {row.key: row for chunk in [*earlier, *current.chunks] for row in read_ledger(folder / f"{chunk}.tsv").rows}


def remove_old(dataset: str, current: Current) -> None:
    """Delete plans, ledgers and logs of chunks that no longer exist, once a run has built all decoys.

    What was written since the run began belongs to another run, such as a dry run, at the same time.
    """
    if current.chunks != current.of_all:
        return
    began = Path(layout.CURRENT.format(dataset=dataset)).stat().st_mtime_ns
    for pattern, stage in itertools.product(layout.OF_CHUNKS, layout.STAGES):
        for file in Path(pattern.format(dataset=dataset, stage=stage, chunk="x")).parent.glob("*"):
            chunk = NAME.match(file.name)
            if chunk and chunk[0] not in current.chunks and file.stat().st_mtime_ns < began:
                file.unlink()
