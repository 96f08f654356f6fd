"""How far a build is.

Jobs leave counts in small files, and the main process shows one line for each data set.

Nothing depends on these files: they are for a person who waits.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from toporank import layout

FIRST, LONGEST = 2.0, 30.0
"""Seconds before the first look, and between two looks at most: each time twice as long."""


@dataclass(frozen=True)
class Part:
    """One job: a chunk of a data set, or a part of its targets. step : what it makes."""

    dataset: str
    chunk: str
    step: str = ""

    @property
    def title(self) -> str:
        """What its line begins with."""
        return f"{self.dataset}, {self.step}" if self.step else self.dataset

    @property
    def path(self) -> Path:
        """Where the job leaves its counts."""
        return Path(layout.PROGRESS.format(dataset=self.dataset, chunk=self.chunk))

    def counts(self) -> tuple[int, int]:
        """Decoys that are finished, and those of them without result."""
        try:
            done, failed = self.path.read_text(encoding="utf-8").split()
        except (
            OSError,
            ValueError,
        ):  # the job has not started; half a file, on some disks
            return 0, 0
        return int(done), int(failed)


def line(title: str, decoys: Mapping[Part, int], seconds: float) -> tuple[str, int]:
    """Return the line of a step of a data set, and how many of its decoys are finished.

    Parameters
    ----------
    title : what the line begins with
    decoys : their number in each job
    seconds : since the step began

    Returns
    -------
    text : the line
    finished : number of decoys
    """
    finished = failed = 0
    for part in decoys:
        n_done, n_failed = part.counts()
        finished += n_done
        failed += n_failed
    total = sum(decoys.values())
    text = (
        f"{title}: {finished:,}/{total:,} models, {failed:,} without result, "
        f"{finished / total:.0%} done"
    )
    if finished and seconds:
        rate = finished / seconds
        text += (
            f", {rate:.2g}/s, {tqdm.format_interval((total - finished) / rate)} left"
        )
    return text, finished


def watch(
    parts: Mapping[Part, int],
    logger: logging.Logger,
    sleep: Callable[[float], None] = time.sleep,
) -> threading.Thread:
    """Report the progress of each step of each data set.

    A thread does it, which ends with its jobs or with the process.

    parts : the jobs of this run and how many decoys each has; counts that earlier runs left are
    removed.
    """
    running: dict[str, dict[Part, int]] = defaultdict(dict)
    for part, n in parts.items():
        part.path.unlink(missing_ok=True)
        running[part.title][part] = n

    def report() -> None:
        began = dict.fromkeys(running, time.monotonic())
        finished = dict.fromkeys(running, -1)
        wait = FIRST
        sleep(wait)
        while running:
            for title in sorted(running):
                decoys = running[title]
                text, n_finished = line(title, decoys, time.monotonic() - began[title])
                if n_finished != finished[title]:
                    logger.info(text)
                finished[title] = n_finished
                if not n_finished:
                    began[title] = time.monotonic()
                if n_finished >= sum(decoys.values()):
                    del running[title]
            wait = min(2 * wait, LONGEST)
            sleep(wait)

    return _in_background(report)


def watch_training(
    runs: Mapping[str, Path],
    logger: logging.Logger,
    sleep: Callable[[float], None] = time.sleep,
) -> threading.Thread | None:
    """Report the last epoch of each run that is being trained.

    A thread does it, which ends with the process; none where nothing is trained.

    runs : name → where its job leaves its last line; those that earlier runs left are removed.
    """
    if not runs:
        return None
    for path in runs.values():
        path.unlink(missing_ok=True)

    def report() -> None:
        last: dict[str, str] = {}
        while True:
            sleep(LONGEST)
            for name, path in sorted(runs.items()):
                # its job has not come that far
                with contextlib.suppress(FileNotFoundError):
                    text = path.read_text(encoding="utf-8")
                    if last.get(name) != text:
                        last[name] = text
                        logger.info(f"{name}: {text}")

    return _in_background(report)


def _in_background(report: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    return thread
