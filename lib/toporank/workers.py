"""Worker processes, which are copies of this one."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.pool import Pool


def n_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def forked(n_workers: int, prepare: Callable[[], object] | None = None) -> Pool:
    """Return a pool of copies of this process.

    Ctrl-C in a terminal reaches every process. The copies leave it to this one, which ends them.

    Parameters
    ----------
    n_workers : number of processes
    prepare : is called first in each of them
    """
    context = multiprocessing.get_context("fork")
    return context.Pool(n_workers, _begin, [prepare])


def _begin(prepare: Callable[[], object] | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if prepare:
        prepare()
