"""Digests of source code: what a result was computed with."""

from __future__ import annotations

import ast
import functools
import hashlib
from pathlib import Path


@functools.cache
def source_digest(sources: tuple[str, ...]) -> str:
    """Digest of source files. Comments, layout and docstrings do not count: only what is computed does."""
    digest = hashlib.sha256()
    for source in sources:
        tree = ast.parse(Path(source).read_bytes())
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            if isinstance(body, list):
                node.body = [n for n in body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()[:16]
