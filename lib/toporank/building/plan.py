"""Which decoys each feature job handles, written down as small files.

Snakemake tracks one plan and one ledger per chunk and stage, not four files per decoy: ten thousand
decoys cost it what a hundred files cost. The plan of a chunk states its decoys with size, modification
time and label, so that any change to any of them changes the plan, and Snakemake runs the chunk's jobs;
these recompute only what the change concerns (see `store`).
"""

from __future__ import annotations

import csv
import hashlib
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
from toporank.decoys.identity import Decoy, Status
from toporank.errors import ConfigError
from toporank.files import sha256, write_text_if_changed
from toporank.validation import did_you_mean

COLUMNS = ("target", "decoy", "path", "size", "mtime_ns", "dockq")
CHUNK_NAME = re.compile(r"(?:(only-[0-9a-f]{8})-)?\d+-of-(\d+)")
"""Selection, empty for all decoys, and number of chunks."""


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
    dataset: str, decoys: Iterable[Decoy], labels: Mapping[tuple[str, str], float], chunk_size: int, again: bool = False
) -> list[str]:
    """Write the plan of every chunk of a data set where it changed; return the chunk names.

    A plan also changes when an artefact is not what its ledger says (see `damaged_artefacts`), and, when asked to
    try `again`, when one of its decoys has no result.
    """
    return write_plans(dataset, [_row(decoy, labels.get(decoy.key)) for decoy in decoys], chunk_size, again=again)


def write_plans(
    dataset: str, rows: list[PlanRow], chunk_size: int, selection: str = "", *, again: bool = False
) -> list[str]:
    """As `make_plans`, for planned decoys. selection : name of the part of the data set that `rows` are."""
    before = {
        name: Path(layout.PLAN.format(dataset=dataset, chunk=name)) for name in planned_chunks(dataset, selection)
    }
    count = _chunk_count(len(rows), chunk_size, list(before))
    prefix = f"{selection}-" if selection else ""
    chunks: dict[str, list[PlanRow]] = {f"{prefix}{i + 1:03d}-of-{count:03d}": [] for i in range(count if rows else 0)}
    names = list(chunks)
    for row in rows:
        chunks[names[zlib.crc32(f"{row.target}/{row.decoy}".encode()) % count]].append(row)
    chunks = {name: members for name, members in chunks.items() if members}
    there, claims = artefacts_on_disk(dataset), claims_of_others(dataset, selection)
    for name, members in chunks.items():
        path = Path(layout.PLAN.format(dataset=dataset, chunk=name))
        repair = damaged_artefacts(dataset, name, members, there, claims) or (again and _without_result(dataset, name))
        repairs = _repairs(path) + (1 if repair else 0)
        write_text_if_changed(path, _format(repairs, members))
    for name in before.keys() - chunks.keys():
        before[name].unlink()
    return list(chunks)


def selection_name(*words: str) -> str:
    """Name of a part of a data set, told by `words`: kind of part, then targets, or target and name of one decoy."""
    return "only-" + hashlib.sha256("\t".join(words).encode()).hexdigest()[:8]


def planned_chunks(dataset: str, selection: str = "") -> list[str]:
    """Chunk names as written down: what a job that is not the main process goes by."""
    folder = Path(layout.PLAN.format(dataset=dataset, chunk="x")).parent
    names = [(path.stem, CHUNK_NAME.fullmatch(path.stem)) for path in folder.glob("*.tsv")]
    return sorted(name for name, match in names if match and (match[1] or "") == selection)


def planned_decoys(dataset: str, selection: str = "") -> list[PlanRow]:
    """All decoys of a data set, or of a part of it, as planned."""
    chunks = planned_chunks(dataset, selection)
    return [row for chunk in chunks for row in read_plan(Path(layout.PLAN.format(dataset=dataset, chunk=chunk)))]


def plan_decoy(dataset: str, target: str, decoy: str, again: bool = False) -> str:
    """Plan one decoy by itself; return the name of its chunk. Raises ConfigError when there is no such decoy.

    again : as of `write_plans`.
    """
    known = {(row.target, row.decoy): row for row in planned_decoys(dataset)}
    if (target, decoy) not in known:
        remedy = did_you_mean(f"{target}/{decoy}", ("/".join(key) for key in known))
        raise ConfigError(f"no decoy {target}/{decoy}", where=f"dataset {dataset}", remedy=remedy)
    (chunk,) = write_plans(dataset, [known[target, decoy]], 1, selection_name("decoy", target, decoy), again=again)
    return chunk


def ledgers_of_others(dataset: str, stage: str, selection: str = "") -> list[Path]:
    """Ledgers of a stage that belong to other parts of a data set than this one, oldest first."""
    folder = Path(layout.LEDGER.format(dataset=dataset, stage=stage, chunk="x")).parent
    names = [(path, CHUNK_NAME.fullmatch(path.stem)) for path in folder.glob("*.tsv")]
    return sorted((p for p, m in names if m and (m[1] or "") != selection), key=lambda path: path.stat().st_mtime_ns)


Claims = dict[str, dict[tuple[str, str], tuple[int, str]]]
"""stage → (target, decoy) → when another part of the data set was built, and the SHA-256 of its artefact."""


def claims_of_others(dataset: str, selection: str) -> Claims:
    """What builds of other parts of a data set made of its artefacts, as far as they are later than any of this one."""
    claims: Claims = {}
    for stage in layout.STAGES:
        own = [
            Path(layout.LEDGER.format(dataset=dataset, stage=stage, chunk=c))
            for c in planned_chunks(dataset, selection)
        ]
        first = min((path.stat().st_mtime_ns for path in own if path.exists()), default=None)
        claims[stage] = {
            (row.target, row.decoy): (time, row.sha256)
            for path in (ledgers_of_others(dataset, stage, selection) if first is not None else ())
            if (time := path.stat().st_mtime_ns) > first
            for row in read_ledger(path)
        }
    return claims


def _without_result(dataset: str, chunk: str) -> bool:
    """Whether a decoy of a chunk that was built has no graph."""
    ledger = Path(layout.LEDGER.format(dataset=dataset, stage=layout.STAGES[-1], chunk=chunk))
    return ledger.exists() and any(row.status != Status.OK for row in read_ledger(ledger))


def read_plan(path: Path) -> list[PlanRow]:
    """The decoys of a chunk."""
    with open(path, encoding="utf-8", newline="") as handle:
        next(handle)  # the repair count
        rows = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [PlanRow(**{**row, "size": int(row["size"]), "mtime_ns": int(row["mtime_ns"])}) for row in rows]


Artefacts = dict[str, dict[tuple[str, str], tuple[int, int]]]
"""stage → (target, decoy) → size in bytes and modification time of its artefact."""


def damaged_artefacts(dataset: str, chunk: str, members: list[PlanRow], there: Artefacts, claims: Claims) -> list[str]:
    """Artefacts of a chunk's decoys that a ledger calls good but that are gone, have other content, or were replaced.

    Only what is newer than its ledger is read: nothing writes an artefact after that, except a build of a part,
    which may touch it. A part may also have been built with other parameters since: a later ledger says so.
    """
    planned = {(row.target, row.decoy) for row in members}
    bad = []
    for stage in layout.STAGES:
        ledger = Path(layout.LEDGER.format(dataset=dataset, stage=stage, chunk=chunk))
        time = ledger.stat().st_mtime_ns if ledger.exists() else 0
        for row in read_ledger(ledger) if time else ():
            key = (row.target, row.decoy)
            if row.status != Status.OK or key not in planned:
                continue
            later, digest = claims[stage].get(key, (0, ""))
            size, changed = there[stage].get(key, (-1, 0))
            replaced = size != row.size or (later > time and digest != row.sha256)
            name = layout.artefact(stage, *key) if replaced or changed > time else ""
            if replaced or (name and _digest(dataset, name) != row.sha256):
                bad.append(name)
    return bad


def _digest(dataset: str, artefact: str) -> str:
    """SHA-256 of an artefact; empty where it cannot be read."""
    try:
        return sha256(Path(layout.ARTEFACTS.format(dataset=dataset, stage="x")).parent / artefact)
    except OSError:
        return ""


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


def artefacts_on_disk(dataset: str) -> Artefacts:
    """Every artefact on disk."""
    there: Artefacts = defaultdict(dict)
    for stage in layout.STAGES:
        root, suffix = layout.ARTEFACTS.format(dataset=dataset, stage=stage), layout.SUFFIX[stage]
        for target in _entries(root):
            for file in _entries(target.path):
                if file.name.endswith(suffix):
                    stat = file.stat()
                    there[stage][target.name, file.name.removesuffix(suffix)] = (stat.st_size, stat.st_mtime_ns)
    return there


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
