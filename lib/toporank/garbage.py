"""Python's search for garbage, which takes a tenth of the time of scoring and finds next to none."""

from __future__ import annotations

import atexit
import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def not_searched() -> Iterator[None]:
    """Let Python not look for cycles of objects inside the block, nor when it ends.

    On exit Python would look through all of torch, for as long as a third of importing it.
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
