"""Keeping the memory that a process freed."""

from __future__ import annotations

import ctypes

# of glibc's malloc.h, where they are part of the interface
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
LARGEST_MMAP_THRESHOLD = 32 * 2**20


def keep_freed_memory() -> bool:
    """Keep what is freed for the next arrays of the same size, which each training step needs.

    By default large arrays are given back to the system and come back as pages that it first has to find and clear:
    a fourth of the time of a step. Returns whether that worked; only glibc supports it.
    """
    try:
        tell = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    asked = ((M_MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD), (M_TRIM_THRESHOLD, 2**30), (M_TOP_PAD, 64 * 2**20))
    return all([tell(option, value) == 1 for option, value in asked])
