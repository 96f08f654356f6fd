"""What lies in a reuse store, and making room in it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from toporank import layout
from toporank.building.store import SEALED

DAY = 86400.0
RUNS = "runs"
"""Kind and folder of finished training runs."""


@dataclass(frozen=True)
class Kept:
    """One thing in the store: its kind (a stage, `edges`, `runs`), files, bytes, and time of last change (s).

    linked : whether a results folder on the same file system shows it.
    """

    kind: str
    files: tuple[Path, ...]
    size: int
    changed: float
    linked: bool

    @property
    def publishable(self) -> bool:
        """Whether a results folder would show it while it is in use; edges and runs are copied from."""
        return self.kind in layout.STAGES


def contents(root: Path) -> list[Kept]:
    """Everything in a store. An artefact without a readable record is of the kind `unfinished`."""
    entries: dict[str, list[Path]] = {}
    for path in sorted(root.glob("[0-9a-f][0-9a-f]/*")):
        entries.setdefault(path.name.lstrip(".").partition(".")[0], []).append(path)
    found = [_kept(_kind(files), files) for files in entries.values()]
    runs = [[path for path in sorted(run.rglob("*")) if path.is_file()] for run in sorted(root.glob(f"{RUNS}/*"))]
    return found + [_kept(RUNS, files) for files in runs if files]


def _kind(files: list[Path]) -> str:
    if len(files) == 1 and files[0].suffix in SEALED and not files[0].name.startswith("."):
        return SEALED[files[0].suffix]
    record = next((path for path in files if path.suffix == ".json"), None)
    try:
        return str(json.loads(record.read_text())["kind"]) if record and len(files) > 1 else "unfinished"
    except (ValueError, KeyError, TypeError):
        return "unfinished"


def _kept(kind: str, files: list[Path]) -> Kept:
    stats = [path.stat() for path in files]
    linked = any(stat.st_nlink > 1 for stat in stats)
    return Kept(
        kind, tuple(files), sum(s.st_size for s in stats), max((s.st_mtime for s in stats), default=0.0), linked
    )


def to_prune(kept: Iterable[Kept], *, unused: bool, older_than: float | None, now: float | None = None) -> list[Kept]:
    """What may go: what no results folder shows (`unused`) and what is older than a number of days; both if both."""
    now = time.time() if now is None else now
    return [
        each
        for each in kept
        if (not unused or (each.publishable and not each.linked) or each.kind == "unfinished")
        and (older_than is None or now - each.changed > older_than * DAY)
    ]


def remove(kept: Iterable[Kept]) -> None:
    """Delete entries, the record first: an entry without record counts as nothing."""
    for each in kept:
        for path in sorted(each.files, key=lambda path: path.suffix != ".json"):
            path.unlink(missing_ok=True)
        if each.kind == RUNS and each.files:
            shutil.rmtree(next(folder for folder in each.files[0].parents if folder.parent.name == RUNS))


def table(kept: Iterable[Kept], now: float | None = None) -> str:
    """Number, size, share that is linked, and age by kind, as aligned text."""
    now, groups = time.time() if now is None else now, {}
    for each in kept:
        groups.setdefault(each.kind, []).append(each)
    rows = [("kind", "entries", "MB", "linked", "oldest, days", "newest, days")]
    for kind in sorted(groups):
        rows.append((kind, *_row(groups[kind], now)))
    everything = [each for group in groups.values() for each in group]
    if everything:
        rows.append(("all", *_row(everything, now)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]) + "\n"
        for row in rows
    )


def _row(kept: list[Kept], now: float) -> tuple[str, ...]:
    ages = [(now - each.changed) / DAY for each in kept]
    size, linked = sum(each.size for each in kept) / 1e6, sum(each.linked for each in kept)
    return str(len(kept)), f"{size:.2f}", str(linked), f"{max(ages):.1f}", f"{min(ages):.1f}"
