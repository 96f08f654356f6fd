"""How packages are compiled with numba, and where the compiled code is kept.

Numba compiles a function when it is first called and keeps the result on disk. It notices when the file of a function
changes, but not when an inlined file changes. So the folder is named after the content of all files of the function's
package: a change in any of them compiles afresh.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock
from numba import config, njit

from toporank.files.atomic import first_writable, user_cache

log = logging.getLogger(__name__)

LOCK = "compiling.lock"
PATIENCE = 600.0
"""Seconds to wait for another process that compiles; after that, both do."""


def _load_without_blas() -> None:
    """Load what numba loads when it is first called, except SciPy's linear algebra.

    Numba imports that only to see whether it is there, which takes as long as all the rest; code that used it would
    import it again.
    """
    name = "scipy.linalg.cython_blas"
    if name not in sys.modules:
        sys.modules[name] = None  # marks a module that cannot be imported
        try:
            importlib.import_module("numba.np.arraymath")
        finally:
            del sys.modules[name]


_load_without_blas()


def compiled(function: Callable, *, inline: bool = False, fastmath: bool | set[str] = False) -> Callable:
    """Decorator: compile with numba, without its lock on Python; the result is kept in `cache_folder`.

    fastmath : numba's flags for reordering sums; none by default.
    """
    options = {"forceinline": True} if inline else {}
    folder = cache_folder(Path(function.__code__.co_filename).parent)
    theirs, config.CACHE_DIR = config.CACHE_DIR, str(folder)  # numba looks at it here and nowhere else
    try:
        return njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath, **options)(function)
    finally:
        config.CACHE_DIR = theirs


def inlined(function: Callable) -> Callable:
    """As `compiled`, but inlined into its callers."""
    return compiled(function, inline=True)


@functools.cache
def cache_folder(package: Path) -> Path:
    """Where compiled code of a folder is kept: below NUMBA_CACHE_DIR, in that folder, or in the user's cache folder.

    The first that is writable; otherwise a temporary folder, which means compiling again next time.
    """
    given = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    name = "toporank-" + package_digest(package)
    return first_writable(folder / name for folder in [*given, package / "__pycache__", user_cache()])


def package_digest(package: Path) -> str:
    """Digest of all Python files of a folder, and of this file."""
    digest = hashlib.sha256()
    for path in [*sorted(package.glob("*.py")), Path(__file__)]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def one_at_a_time(package: Path) -> Iterator[None]:
    """Keep other processes from compiling a package, so that one compiles and the others find its work.

    Without it every job of a run that starts on an empty cache would compile for itself. It only saves time: a process
    that cannot lock, or has waited long enough, goes on.
    """
    folder = cache_folder(package)
    lock = FileLock(folder / LOCK)
    with contextlib.suppress(OSError, NotImplementedError):
        lock.acquire(timeout=PATIENCE)
    if not any(folder.rglob("*.nbi")):
        log.info("compiling toporank.%s: less than a minute, once until it changes", package.name)
    try:
        yield
    finally:
        lock.release()
