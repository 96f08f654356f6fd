"""Digests of source code: what a result was computed with.

A result is made again when any file of the rooms that make it changes, a comment too. That is
coarse, but nobody keeps a list of the files that decide a result, so nobody can forget one.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

LIBRARY = Path(__file__).parent
SUFFIXES = (".py", ".csv", ".js", ".css", ".j2")
"""Of the files that count: code, tables beside it, and the code of pages."""
GRAPHS = (
    "chains",
    "structures",
    "features",
    "../toporank_kernels",
    "files/graph_file.py",
    "building/chunks/stages.py",
    "building/chunks/artefacts.py",
    "lookup.py",
)
"""What makes graphs, and the artefacts before them."""
ROOMS = (
    "comparing",
    "programs",
    "confidence",
    "finding",
    "building",
    "learning",
    "scorer",
    "ranking",
)
"""From structures and features to scores: each uses those before it."""
SCORES = (*GRAPHS, *ROOMS, "metrics.py", "tables/of_predictors.py")
"""What makes the scores of a target."""


@functools.cache
def code_of(*parts: str) -> str:
    """Digest of source files.

    Parameters
    ----------
    parts : folders and files of this package, such as `features`, or paths of files elsewhere

    Returns
    -------
    16 hexadecimal digits
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(_source(part))
    return digest.hexdigest()[:16]


@functools.cache
def _source(part: str) -> bytes:
    """Digest of the files of a part, with their names: many steps use the same rooms."""
    place = LIBRARY / part
    files = sorted(place.rglob("*")) if place.is_dir() else [place]
    digest = hashlib.sha256()
    for path in files:
        if path.suffix in SUFFIXES:
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.digest()
