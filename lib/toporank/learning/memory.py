"""How much memory a process takes, and keeping what it freed."""

from __future__ import annotations

import ctypes
import resource
import sys
from pathlib import Path

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


def peak_memory() -> int:
    """The most memory this process has held so far, in bytes.

    On Linux from its own memory map: getrusage's figure outlives exec, so that a child started by a large process
    would report its parent's.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        status = ""
    told = [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")]
    if told:
        return told[0]
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
