"""Python's search for garbage: a tenth of the time of scoring, and it finds next to none."""

from __future__ import annotations

import atexit
import contextlib
import gc
import threading
from collections.abc import Iterator

_LOCK = threading.Lock()
_n_inside = 0
"""Blocks of `not_searched` in all threads."""
_was_enabled = False
"""Whether Python looked for garbage before the first of them."""


@contextlib.contextmanager
def not_searched() -> Iterator[None]:
    """Let Python not look for cycles of objects inside the block.

    Where several threads have such blocks, the last one that ends lets it look again.
    """
    global _n_inside, _was_enabled
    with _LOCK:
        if not _n_inside:
            _was_enabled = gc.isenabled()
            gc.disable()
        _n_inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _n_inside -= 1
            if _was_enabled and not _n_inside:
                gc.enable()


def end_without_search() -> None:
    """Let Python not look for cycles on exit.

    It would look through all of torch, for as long as a third of importing it. This is for
    processes of TopoRank alone: objects in a cycle are then not closed, such as a file of the user.
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
