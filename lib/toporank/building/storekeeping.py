"""What lies in a reuse store, and making room in it."""

from __future__ import annotations

import contextlib
import shutil
import time
import zipfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from toporank.building.chunks.store import BOX

DAY = 86400.0
RUNS = "runs"
"""Kind and folder of finished training runs."""


@dataclass(frozen=True)
class Kept:
    """One thing in the store: what is in it by kind (stages, `edges`, `runs`), files, bytes, time of last use (s)."""

    kinds: Counter[str]
    files: tuple[Path, ...]
    size: int
    used: float


def contents(root: Path) -> list[Kept]:
    """Everything in a store. What cannot be read is of the kind `unfinished`."""
    found = [_kept(_kinds(path), [path]) for path in sorted(root.glob("[0-9a-f][0-9a-f]/*"))]
    runs = [[path for path in sorted(run.rglob("*")) if path.is_file()] for run in sorted(root.glob(f"{RUNS}/*"))]
    return found + [_kept(Counter([RUNS]), files) for files in runs if files]


def _kinds(path: Path) -> Counter[str]:
    with contextlib.suppress(zipfile.BadZipFile, ValueError):
        if path.suffix == BOX and not path.name.startswith("."):
            with zipfile.ZipFile(path) as box:
                return Counter(name.partition("/")[0] for name in box.namelist())
    return Counter(["unfinished"])


def _kept(kinds: Counter[str], files: list[Path]) -> Kept:
    stats = [path.stat() for path in files]
    return Kept(kinds, tuple(files), sum(s.st_size for s in stats), max((s.st_mtime for s in stats), default=0.0))


def to_prune(kept: Iterable[Kept], older_than: float, now: float | None = None) -> list[Kept]:
    """What was not used for a number of days."""
    now = time.time() if now is None else now
    return [each for each in kept if now - each.used > older_than * DAY]


def remove(kept: Iterable[Kept]) -> None:
    """Delete files of the store."""
    for each in kept:
        for path in each.files:
            path.unlink(missing_ok=True)
        if each.kinds[RUNS]:
            shutil.rmtree(next(folder for folder in each.files[0].parents if folder.parent.name == RUNS))


def table(kept: Iterable[Kept], now: float | None = None) -> str:
    """Number of artefacts by kind; files, size and time since the last use of all, as text."""
    kept, now = list(kept), time.time() if now is None else now
    kinds = sum((each.kinds for each in kept), Counter())
    lines = [f"{kind:<14}{number:>10}" for kind, number in sorted(kinds.items())]
    if kept:
        ages = [(now - each.used) / DAY for each in kept]
        size = sum(each.size for each in kept) / 1e6
        lines.append(f"{len(kept)} files, {size:.2f} MB, last used {min(ages):.1f} to {max(ages):.1f} days ago")
    return "".join(f"{line}\n" for line in lines)
