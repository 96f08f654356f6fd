"""Worker processes, which are copies of this one."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from toporank.errors import TopoRankError

KILLED = "was killed before it could say why, most often because the memory was full"
REMEDY = (
    "try again with fewer cores, --cores N or workers=N, or where there is more memory"
)

LARGEST_KEPT, MOST_KEPT = 2**25, 2**31 - 1
"""Bytes of the largest array that is kept for the next one, and of all; the most that glibc takes.
"""
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""How `malloc.h` numbers the parameters of glibc's `mallopt`."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def keep_freed_memory() -> None:
    """Let this process and its copies keep the memory that arrays leave, for the next arrays.

    Otherwise the C library returns it to the system, and a step of training, which needs the same
    amounts as the one before, spends a tenth of its time on getting it again. Only glibc has this.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, LARGEST_KEPT)
        mallopt(TRIM_THRESHOLD, MOST_KEPT)


@contextlib.contextmanager
def forked(
    n_workers: int, prepare: Callable[[], object] | None = None
) -> Iterator[ProcessPoolExecutor]:
    """A pool of copies of this process.

    Ctrl-C in a terminal reaches every process. The copies leave it to this one, which ends them,
    as it does after any other error.

    Parameters
    ----------
    n_workers : number of processes
    prepare : is called first in each of them

    Raises
    ------
    TopoRankError
        When one of them was killed.
    """
    context = multiprocessing.get_context("fork")
    begun = context.SimpleQueue()
    pool = ProcessPoolExecutor(n_workers, context, _begin, (prepare, begun))
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        while not begun.empty():
            with contextlib.suppress(ProcessLookupError):
                os.kill(begun.get(), signal.SIGTERM)
        if isinstance(error, BrokenProcessPool):
            raise TopoRankError(f"a worker process {KILLED}", remedy=REMEDY) from error
        raise
    pool.shutdown()


def mapped(
    step: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int,
    at_a_time: int = 1,
) -> Iterator[Result]:
    """Yield what a step gives for each item, in order, computed by one or several processes.

    They have the step by their fork: it can be any function. Items and what it gives are sent, some
    at a time.

    Raises
    ------
    TopoRankError
        When one of the processes was killed.
    """
    workers = min(workers, len(items))
    if workers <= 1:
        yield from map(step, items)
        return
    with forked(workers, functools.partial(_take_step, step)) as pool:
        yield from pool.map(_run_step, items, chunksize=at_a_time)


_STEP: Callable[[Any], Any]
"""Of a worker process."""


def _take_step(step: Callable[[Any], Any]) -> None:
    global _STEP
    _STEP = step


def _run_step(item: Any) -> Any:
    return _STEP(item)


def _begin(prepare: Callable[[], object] | None, begun: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    begun.put(os.getpid())
    if prepare:
        prepare()
