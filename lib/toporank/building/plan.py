"""Which decoys each feature job handles, written down as small files.

Snakemake tracks one plan and one ledger per chunk and stage, not four files per decoy: ten thousand
decoys cost it what a hundred files cost. The plan of a chunk states its decoys with size, modification
time and label, so that any change to any of them changes the plan, and Snakemake runs the chunk's jobs;
these recompute only what the change concerns (see `store`).
"""

from __future__ import annotations

import csv
import io
import os
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from toporank import layout
from toporank.building.ledger import read_ledger
from toporank.files import write_text_if_changed
from toporank.identity import Decoy, Status

COLUMNS = ("target", "decoy", "path", "size", "mtime_ns", "dockq")
CHUNK_NAME = re.compile(r"(\d+)-of-(\d+)")


@dataclass(frozen=True)
class PlanRow:
    """One decoy of a chunk. Size in bytes; `dockq` is empty where there is no label."""

    target: str
    decoy: str
    path: str
    size: int
    mtime_ns: int
    dockq: str


def make_plans(
    dataset: str, decoys: Iterable[Decoy], labels: Mapping[tuple[str, str], float], chunk_size: int
) -> list[str]:
    """Write the plan of every chunk of a data set where it changed; return the chunk names.

    A plan also changes when an artefact its ledger calls good is missing or has another size.
    """
    rows = [_row(decoy, labels.get(decoy.key)) for decoy in decoys]
    folder = Path(layout.PLAN.format(dataset=dataset, chunk="x")).parent
    before = {path.stem: path for path in folder.glob("*.tsv")}
    count = _chunk_count(len(rows), chunk_size, list(before))
    chunks: dict[str, list[PlanRow]] = {f"{i + 1:03d}-of-{count:03d}": [] for i in range(count if rows else 0)}
    names = list(chunks)
    for row in rows:
        chunks[names[zlib.crc32(f"{row.target}/{row.decoy}".encode()) % count]].append(row)
    chunks = {name: members for name, members in chunks.items() if members}
    sizes = artefacts_on_disk(dataset)
    for name, members in chunks.items():
        path = folder / f"{name}.tsv"
        repairs = _repairs(path) + (1 if damaged_artefacts(dataset, name, members, sizes) else 0)
        write_text_if_changed(path, _format(repairs, members))
    for name in before.keys() - chunks.keys():
        before[name].unlink()
    return list(chunks)


def planned_chunks(dataset: str) -> list[str]:
    """Chunk names as written down: what a job that is not the main process goes by."""
    folder = Path(layout.PLAN.format(dataset=dataset, chunk="x")).parent
    return sorted(path.stem for path in folder.glob("*.tsv"))


def read_plan(path: Path) -> list[PlanRow]:
    """The decoys of a chunk."""
    with open(path, encoding="utf-8", newline="") as handle:
        next(handle)  # the repair count
        rows = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [PlanRow(**{**row, "size": int(row["size"]), "mtime_ns": int(row["mtime_ns"])}) for row in rows]


def damaged_artefacts(
    dataset: str, chunk: str, members: list[PlanRow], sizes: dict[str, dict[tuple[str, str], int]]
) -> list[str]:
    """Artefacts of a chunk's decoys that a ledger calls good but that are gone or have another size."""
    planned = {(row.target, row.decoy) for row in members}
    bad = []
    for stage in layout.STAGES:
        ledger = Path(layout.LEDGER.format(dataset=dataset, stage=stage, chunk=chunk))
        for row in read_ledger(ledger) if ledger.exists() else ():
            key = (row.target, row.decoy)
            if row.status == Status.OK and key in planned and sizes[stage].get(key) != row.size:
                bad.append(layout.artefact(stage, row.target, row.decoy))
    return bad


def _row(decoy: Decoy, dockq: float | None) -> PlanRow:
    try:
        stat = os.stat(decoy.path)
        size, mtime = stat.st_size, stat.st_mtime_ns
    except OSError:  # a dangling link, say: reading it will fail and tell why
        size, mtime = -1, 0
    return PlanRow(decoy.target, decoy.name, str(decoy.path), size, mtime, "" if dockq is None else repr(float(dockq)))


def _chunk_count(n_decoys: int, chunk_size: int, existing: list[str]) -> int:
    """How many chunks: as before while they are between a quarter and twice the wanted size.

    One decoy more must not deal all decoys anew.
    """
    wanted = max(1, -(-n_decoys // chunk_size))
    counts = {int(match[2]) for name in existing if (match := CHUNK_NAME.fullmatch(name))}
    kept = [count for count in counts if wanted <= 2 * count and count <= 4 * wanted]
    return max(kept, default=wanted)


def artefacts_on_disk(dataset: str) -> dict[str, dict[tuple[str, str], int]]:
    """Size in bytes of every artefact on disk: stage → (target, decoy) → size."""
    sizes: dict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    for stage in layout.STAGES:
        root, suffix = layout.ARTEFACTS.format(dataset=dataset, stage=stage), layout.SUFFIX[stage]
        for target in _entries(root):
            for file in _entries(target.path):
                if file.name.endswith(suffix):
                    sizes[stage][target.name, file.name.removesuffix(suffix)] = file.stat().st_size
    return sizes


def _entries(folder: str) -> list[os.DirEntry]:
    try:
        return list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _repairs(path: Path) -> int:
    """How often this chunk was sent to repair so far."""
    if not path.exists():
        return 0
    with open(path, encoding="utf-8") as handle:
        count = handle.readline().rpartition(" ")[2].strip()
    return int(count) if count.isdecimal() else 0


def _format(repairs: int, members: list[PlanRow]) -> str:
    """The plan as text; the first line counts repairs, so that a repair changes the file."""
    text = io.StringIO()
    text.write(f"# repairs {repairs}\n")
    writer = csv.writer(text, delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n", quotechar=None)
    writer.writerow(COLUMNS)
    writer.writerows([getattr(row, column) for column in COLUMNS] for row in members)
    return text.getvalue()
