"""Digests of source code: what a result was computed with."""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path


def source_digest(sources: Iterable[str]) -> str:
    """Digest of source files. Comments, layout and docstrings do not count: only what is computed does."""
    return hashlib.sha256(b"".join(map(file_digest, sources))).hexdigest()[:16]


@functools.cache
def file_digest(source: str) -> bytes:
    """The share of one file."""
    tree = ast.parse(Path(source).read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [n for n in body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    return hashlib.sha256(ast.dump(tree).encode()).digest()
