"""How loops are compiled with numba, and where the compiled code is kept.

Numba compiles a function when it is first called and keeps the result on disk. It notices when the
file of a function changes, but not when a file changes whose functions are inlined. So the folder
is named after the content of all files of the function's package: a change in any of them compiles
again.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit

from toporank.code import code_of
from toporank.files.atomic import first_writable, user_cache

BLAS = "scipy.linalg.cython_blas"
if BLAS not in sys.modules:
    # Numba imports it only to see whether it is there, which takes 0.13 s: as long as all the rest
    # that it loads here.
    sys.modules[BLAS] = None  # type: ignore[assignment]
    importlib.import_module("numba.np.arraymath")
    del sys.modules[BLAS]


def compiled(
    function: Callable, *, inline: bool = False, fastmath: bool | set[str] = False
) -> Callable:
    """Decorator: compile with numba, without its lock on Python.

    `cache_folder` keeps the result.

    fastmath : numba's flags for reordering sums; none by default.
    """
    options: dict[str, Any] = {"forceinline": True} if inline else {}
    configured = numba.config.CACHE_DIR
    package = Path(function.__code__.co_filename).parent
    numba.config.CACHE_DIR = str(cache_folder(package))  # numba looks at it here only
    options |= {
        "cache": True,
        "nogil": True,
        "error_model": "numpy",
        "fastmath": fastmath,
    }
    try:
        return njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = configured


def inlined(function: Callable) -> Callable:
    """As `compiled`, but inlined into its callers."""
    return compiled(function, inline=True)


@functools.cache
def cache_folder(package: Path) -> Path:
    """Where compiled code of a folder is kept.

    That is below NUMBA_CACHE_DIR, in that folder, or in the user's cache folder.

    The first that is writable; otherwise a temporary folder, which means compiling again next time.
    """
    folders = [package / "__pycache__", user_cache()]
    if numba.config.CACHE_DIR:
        folders.insert(0, Path(numba.config.CACHE_DIR))
    name = "toporank-" + code_of(str(package), __file__)
    return first_writable(folder / name for folder in folders)
