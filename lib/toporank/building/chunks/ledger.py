"""The outcome of every decoy of a chunk: the file that Snakemake tracks."""

from __future__ import annotations

import contextlib
import errno
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank import layout
from toporank.building.chunks.plan import NAME, Current, by_key, chunk_names
from toporank.building.chunks.store import Entry
from toporank.errors import RecordError
from toporank.features.interface import Meeting
from toporank.files.atomic import write_text
from toporank.files.records import from_lines, to_lines
from toporank.structures.identity import DecoyKey


class LedgerRow(NamedTuple):
    """One decoy.

    stage : where it failed, or the last one. Counts are -1 while unknown. meetings : how its
    partners meet, as `meetings_text` writes it; empty while unknown. structure_sha256 : of the
    decoy's file; empty if it cannot be read. shape : as from
    `structures.model_shape.shape_of`. dockq : the label in its graph. interface, topology, nodes,
    graphs : checksums of its artefacts; empty without one. parts : those of the graphs of its
    interfaces, as `parts_text` writes them; empty without any graph. side_chains : which chains
    have none, in a sentence.
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
    shape: str = ""
    dockq: str = ""
    interface: str = ""
    topology: str = ""
    nodes: str = ""
    graphs: str = ""
    parts: str = ""
    side_chains: str = ""

    @property
    def graphs_of_interfaces(self) -> dict[str, str]:
        """Name of each interface → checksum of its graph; an interface without a node has none."""
        return json.loads(self.parts or "{}")

    @property
    def key(self) -> DecoyKey:
        """Identity within the data set."""
        return self.target, self.decoy

    @property
    def artefacts(self) -> dict[str, str]:
        """Stage → checksum of its artefact."""
        return {
            stage: getattr(self, stage)
            for stage in layout.STAGES
            if getattr(self, stage)
        }


Recipes = Mapping[str, list[str]]
"""Stage → code and module with parameters, as `stages.recipes` gives them."""


class Ledger(NamedTuple):
    """The outcome of the decoys of a chunk, and by which recipes."""

    recipes: Recipes
    rows: list[LedgerRow]


def read_ledger(path: Path) -> Ledger:
    """Read a ledger.

    Raises RecordError when the file is not a ledger, FileNotFoundError when another version
    wrote it.

    For a build such a ledger is as good as none: its chunk is built again, mostly from the store.
    """
    fields = list(LedgerRow._fields)
    try:
        recipes, _, table = path.read_text(encoding="utf-8").partition("\n")
        columns, *lines = from_lines(table)
        if columns[:3] != fields[:3]:
            raise ValueError("other columns")
        if columns != fields:
            what = (
                "another version of TopoRank wrote this ledger, so run that one again"
            )
            raise FileNotFoundError(errno.ENOENT, what, str(path))
        rows = list(map(LedgerRow._make, lines))
        for i, row in enumerate(rows):
            n_chains, n_residues = int(row.n_chains), int(row.n_interface_residues)
            rows[i] = row._replace(n_chains=n_chains, n_interface_residues=n_residues)
        return Ledger(json.loads(recipes), rows)
    except (ValueError, TypeError) as error:
        what = f"not a ledger: {error}"
        raise RecordError(what, where=path, remedy="delete it and run again") from error


def meetings_text(meetings: Iterable[Meeting]) -> str:
    """How partners meet, as a row has it."""
    return json.dumps(list(meetings), separators=(",", ":"))


def parts_text(graphs: Mapping[str, Entry]) -> str:
    """The checksums of the graphs of interfaces by their names, as a row has them."""
    return json.dumps(
        {name: entry.sha256 for name, entry in graphs.items()}, separators=(",", ":")
    )


def read_meetings(row: LedgerRow) -> list[Meeting]:
    """The inverse of `meetings_text`; empty while unknown."""
    return [Meeting(*cells) for cells in json.loads(row.meetings or "[]")]


def read_outcomes(dataset: str, chunk: str, keys: Iterable[DecoyKey]) -> Ledger:
    """The ledger of a chunk. Raises RecordError unless it has a row for each of these decoys."""
    path = Path(layout.LEDGER.format(dataset=dataset, chunk=chunk))
    ledger = read_ledger(path)
    if {row.key for row in ledger.rows} != set(keys):
        what = "other models than in the plan of its chunk"
        raise RecordError(what, where=path, remedy="delete it and run again")
    return ledger


def write_ledger(path: Path, ledger: Ledger) -> None:
    """Write a ledger in one step: the recipes, the names of the columns, a line for each decoy."""
    recipes = json.dumps(ledger.recipes, separators=(",", ":"))
    write_text(path, f"{recipes}\n{to_lines(LedgerRow._fields, ledger.rows)}")


def last_fates(dataset: str, current: Current) -> dict[DecoyKey, LedgerRow]:
    """The outcome of every decoy: in this run or, outside a partial build, in an earlier one."""
    folder = Path(layout.LEDGER.format(dataset=dataset, chunk="x")).parent
    rows: list[LedgerRow] = []
    for chunk in chunk_names(folder) if current.chunks != current.of_all else []:
        with contextlib.suppress(FileNotFoundError):  # of another version
            rows += read_ledger(folder / f"{chunk}.tsv").rows
    for chunk in current.chunks:
        rows += read_ledger(folder / f"{chunk}.tsv").rows
    return by_key(rows)  # the latest of each


def remove_old(dataset: str, current: Current) -> None:
    """Delete plans, ledgers, scores and logs of chunks and parts that no longer exist.

    Call it once a run has built all decoys.

    What was written since the run began belongs to another run, such as a dry run, at the same
    time.
    """
    if current.chunks != current.of_all:
        return
    began = Path(layout.CURRENT.format(dataset=dataset)).stat().st_mtime_ns
    patterns = [(pattern, current.chunks) for pattern in layout.OF_CHUNKS]
    patterns += [(pattern, [*current.parts]) for pattern in layout.OF_PARTS]
    for pattern, names in patterns:
        folder = Path(pattern.format(dataset=dataset, chunk="x", part="x")).parent
        for file in folder.glob("*"):
            name = NAME.match(file.name)
            is_old = name and name[0] not in names
            if is_old and file.stat().st_mtime_ns < began:
                file.unlink()
