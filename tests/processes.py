"""Programs in a process of their own, which import the checkout: `conftest.py` puts it on their
path.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from pathlib import Path

from numba.core.caching import UserProvidedCacheLocator

LIBRARY = Path(__file__).parents[1] / "lib"


def printed(program: str, *arguments: object, **how: object) -> str:
    """What a program prints that ends well. how : for `subprocess.run`."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def copy_compiled(library: Path, before: float = math.inf) -> None:
    """Give a copy of the library what numba compiled here before a time, in the folders where it
    looks for it there; the files that it was compiled from get the times of those here.
    """
    for cache in LIBRARY.glob("**/__pycache__/toporank-*"):
        package = cache.parents[1]
        copy = library / package.relative_to(LIBRARY)
        for module in package.glob("*.py"):
            shutil.copystat(module, copy / module.name)
        place = UserProvidedCacheLocator.get_suitable_cache_subpath(copy / "_")
        to = copy / "__pycache__" / cache.name / place
        to.mkdir(parents=True, exist_ok=True)
        for file in cache.glob("*_*/*.nb?"):
            if file.stat().st_mtime < before:
                shutil.copy2(file, to)
