"""Worker processes: what becomes of them, and of a task that kills its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time

import pytest

from processes import printed
from toporank.errors import TopoRankError
from toporank.workers import forked


def square_or_die(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def interrupted_at_work() -> None:
    with forked(2) as pool:
        pool.submit(time.sleep, 60)
        pool.submit(abs, 1).result()
        raise KeyboardInterrupt


def children() -> list[int]:
    return [child.pid for child in multiprocessing.active_children()]


def test_results_come_in_order_and_workers_end():
    with forked(2) as pool:
        assert list(pool.map(square_or_die, [2, 1])) == [4, 1]
        assert len(children()) == 2
    assert children() == []


def test_a_worker_that_is_killed_leaves_a_word_with_what_to_do():
    with (
        pytest.raises(TopoRankError, match=r"was killed .* memory .*fewer cores"),
        forked(2) as pool,
    ):
        list(pool.map(square_or_die, range(9)))


def test_after_ctrl_c_nobody_waits_for_the_workers():
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted_at_work()
    while children() and time.monotonic() - began < 30:
        time.sleep(0.05)
    assert children() == []


PAGES_OF_ARRAYS_THAT_COME_AND_GO = """
import resource, sys
import numpy as np
from toporank.workers import keep_freed_memory
if sys.argv[1] == "keep":
    keep_freed_memory()
for _ in range(10):
    arrays = [np.ones(2**18) for _ in range(20)]
    del arrays
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""


def test_memory_that_arrays_leave_is_kept_for_the_next_ones():
    kept = int(printed(PAGES_OF_ARRAYS_THAT_COME_AND_GO, "keep"))
    returned = int(printed(PAGES_OF_ARRAYS_THAT_COME_AND_GO, "return"))
    assert kept < returned / 3
