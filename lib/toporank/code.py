"""Digests of source code: what a result was computed with."""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from toporank.files import write_text

LIBRARY = Path(__file__).parent
KNOWN = LIBRARY / "__pycache__" / "digests.json"
"""Digests by the content of their files: parsing them at each start would take longer than everything else there."""

SUFFIXES = (".py", ".js", ".css", ".j2")
"""Of files that are code."""


def library_digest(packages: Iterable[str]) -> str:
    """Digest of the code in these packages of the library, wherever it is installed."""
    files = [path for name in packages for path in sorted((LIBRARY / name).rglob("*")) if path.suffix in SUFFIXES]
    return source_digest(map(str, files))


def source_digest(sources: Iterable[str]) -> str:
    """Digest of source files. Comments, layout and docstrings of Python do not count: only what is computed does."""
    contents = {hashlib.sha256(content := _read(source)).hexdigest(): (source, content) for source in sources}
    known = _known()
    if not contents.keys() <= known.keys():
        new = {key: file for key, file in contents.items() if key not in known}
        known |= {key: _digest(*file) if file[0].endswith(".py") else key for key, file in new.items()}
        with contextlib.suppress(OSError):  # an installation that cannot be written to
            write_text(KNOWN, json.dumps(known))
    return hashlib.sha256("".join(known[key] for key in contents).encode()).hexdigest()[:16]


def _read(source: str) -> bytes:
    return Path(source).read_bytes()


@functools.cache
def _known() -> dict[str, str]:
    try:
        found = json.loads(KNOWN.read_text(encoding="utf-8"))
        return {str(key): str(digest) for key, digest in found.items()}
    except (OSError, ValueError, AttributeError):  # missing or damaged: it is made again
        return {}


def _digest(source: str, content: bytes) -> str:
    tree = ast.parse(content, source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [n for n in body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()
