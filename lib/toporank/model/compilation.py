"""How the loops of the network are compiled, and where the compiled code is kept."""

from __future__ import annotations

from collections.abc import Callable

from numba import config, njit

from toporank.persistence.compilation import cache_folder

REORDERING = {"reassoc", "contract", "arcp", "nsz"}
"""Liberties with sums that vector instructions need. Infinities and nan stay what they are."""


def compiled(function: Callable) -> Callable:
    """Decorator: compile with numba on the first call, without its lock on Python, and keep the result on disk."""
    theirs, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder())  # numba looks at it here and nowhere else
    try:
        return njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERING)(function)
    finally:
        config.CACHE_DIR = theirs
