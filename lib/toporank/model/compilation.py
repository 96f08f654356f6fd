"""How the loops of the network are compiled: as all others, but free to reorder sums."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from numba import config, njit

from toporank.compilation import cache_folder

REORDERING = {"reassoc", "contract", "arcp", "nsz"}
"""Liberties with sums that vector instructions need. Infinities and nan stay what they are."""


def vectorised(function: Callable) -> Callable:
    """Decorator: compile with numba on the first call, without its lock on Python, and keep the result on disk."""
    theirs, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder(Path(__file__).parent))
    try:
        return njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERING)(function)
    finally:
        config.CACHE_DIR = theirs
