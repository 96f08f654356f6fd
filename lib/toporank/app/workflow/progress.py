"""How far a build is: jobs leave counts in small files, the main process shows one line per data set.

Nothing depends on these files: they are for a person who waits.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from toporank import layout

WINDOW = 120.0
"""Seconds over which the rate is taken."""


@dataclass(frozen=True)
class Part:
    """One feature job: a chunk of a data set."""

    dataset: str
    chunk: str

    @property
    def path(self) -> Path:
        """Where the job leaves its counts."""
        return Path(layout.PROGRESS.format(dataset=self.dataset, chunk=self.chunk))


class Build:
    """The feature jobs of one data set in this run, and how far they are.

    decoys : their number in each job. clock : gives seconds.
    """

    def __init__(self, dataset: str, decoys: Mapping[Part, int], clock: Callable[[], float] = time.monotonic):
        self.dataset = dataset
        self._decoys = decoys
        self._clock = clock
        self._counts = dict.fromkeys(decoys, (0, 0))
        self._samples = deque([(clock(), 0.0)])

    @property
    def finished(self) -> bool:
        """Whether every job was through all of its decoys when last looked at."""
        return all(self._counts[part][0] >= n for part, n in self._decoys.items())

    def look(self) -> None:
        """Read what the jobs have left since."""
        for part, n in self._decoys.items():
            if self._counts[part][0] < n:
                with contextlib.suppress(OSError, ValueError):  # the job has not started; half a file, on some disks
                    done, failed = part.path.read_text(encoding="utf-8").split()
                    self._counts[part] = min(int(done), n), int(failed)

    def line(self) -> str:
        """Decoys finished and in all, those without result, their share, decoys a second, time left."""
        finished, failed = map(sum, zip(*self._counts.values(), strict=True))
        total = sum(self._decoys.values())
        share = finished / total
        return (
            f"{self.dataset}: {finished:,}/{total:,} decoys, {failed:,} without result, {100 * share:.0f} % done"
            f"{self._pace(share, total)}"
        )

    def _pace(self, share: float, total: int) -> str:
        """Rate and time left; empty while nothing moves."""
        now = self._clock()
        while len(self._samples) > 1 and now - self._samples[1][0] >= WINDOW:
            self._samples.popleft()
        then, before = self._samples[0]
        self._samples.append((now, share))
        if share <= before or now <= then:
            return ""
        rate = (share - before) / (now - then)
        return f", {total * rate:.2g}/s, {duration((1 - share) / rate)} left"


def duration(seconds: float) -> str:
    """A time as a person would say it.

    >>> duration(40), duration(700), duration(12_000)
    ('40 s', '12 min', '3 h 20 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


def memory() -> str:
    """What this process and its jobs hold, such as `0.9 GB`."""
    import psutil

    own = psutil.Process()
    held = 0
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.Error):  # a job has ended meanwhile
            held += process.memory_info().rss
    return f"{held / 1e9:.1f} GB"


def watch(
    parts: Mapping[Part, int],
    logger: logging.Logger,
    seconds: float,
    sleep: Callable[[float], None] = time.sleep,
    *,
    here: bool = False,
) -> threading.Thread:
    """Report the progress of each data set, in a thread that ends with its jobs or with the process.

    parts : the jobs of this run and how many decoys each has; counts that earlier runs left are removed.
    seconds : between two looks; `logger` gets the lines that are not those of the last time. here : whether jobs run on
    this machine: then a line says how much memory they take.
    """
    decoys: dict[str, dict[Part, int]] = defaultdict(dict)
    for part, n in parts.items():
        part.path.unlink(missing_ok=True)
        decoys[part.dataset][part] = n
    builds = [Build(dataset, counts) for dataset, counts in sorted(decoys.items())]

    def run() -> None:
        written: list[str] = []
        sleep(seconds)
        for build in builds:
            build.look()
        while running := [build for build in builds if not build.finished]:
            for build in running:
                build.look()
            lines = [build.line() for build in running]
            for line in lines:
                if line not in written:
                    logger.info(f"{line}, {memory()}" if here else line)
            written = lines
            sleep(seconds)

    thread = threading.Thread(target=run, name="progress", daemon=True)
    thread.start()
    return thread
