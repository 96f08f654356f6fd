"""Worker processes, which are copies of this one."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from toporank.errors import TopoRankError

KILLED = "was killed before it could say why, most often because the memory was full"
REMEDY = (
    "try again with fewer cores, --cores N or workers=N, or where there is more memory"
)


def n_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


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


def _begin(prepare: Callable[[], object] | None, begun: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    begun.put(os.getpid())
    if prepare:
        prepare()
