"""Digests of source code: what a result was computed with.

A result names the module that makes it. Which other files decide the result follows from the imports, read from the
text of the files: nobody keeps a list of them, so nobody can forget one.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from toporank.files.atomic import write_text

LIBRARY = Path(__file__).parent
"""This package. Packages beside it whose names begin with its name and `_` belong to the library, too."""
KNOWN = LIBRARY / "__pycache__" / "digests.json"
"""Records by the content of their files: parsing them at each start would take longer than everything else there."""

PLUMBING = ("code", "errors", "files.atomic", "layout", "plugins", "settings", "features.registry")
"""Modules that decide no number: they name, check, read and write. Chosen parameters are part of every key."""
PAGES = (".js", ".css", ".j2")
"""Suffixes of the code of pages, which counts with every module of its package."""


class _Source(NamedTuple):
    """A source file. digest : of its code; imports : names of what it imports from the library, as in `_Tree`."""

    digest: str
    imports: list[str]


class _Tree(NamedTuple):
    """The library. modules : file by dotted name. data : files that are not Python by the name they count under.

    Names begin below this package, such as `features.topology`; those of a package beside it with its own name.
    """

    modules: dict[str, str]
    data: dict[str, list[str]]


def closure(*roots: str, without: Iterable[str] = ()) -> tuple[str, ...]:
    """The files that decide what some modules compute, sorted: their own and all that they import, near and far.

    Only files of this library are found. With a module come its packages, the table beside it that has its name, and
    the code of pages of its package. Imports for type checkers alone do not count.

    roots : dotted names as in `_Tree`, or paths of files, which may lie elsewhere.
    without : modules and packages that are not followed, besides `PLUMBING`.
    """
    tree, ends, found = _tree(LIBRARY), {*PLUMBING, *without}, set()
    left = [*roots, *(name for root in roots for name in _with_packages(root) if name in tree.modules)]
    while left:
        name = left.pop()
        if name not in found and ends.isdisjoint(_with_packages(name)):
            found.add(name)
            left += _imported(tree.modules.get(name, name), LIBRARY)
    _keep()
    return tuple(sorted({path for name in found for path in (tree.modules.get(name, name), *_data(name, tree))}))


def code_of(*roots: str, without: Iterable[str] = ()) -> str:
    """Digest of the code that decides what some modules compute; the arguments are those of `closure`."""
    return source_digest(closure(*roots, without=without))


def source_digest(sources: Iterable[str]) -> str:
    """Digest of source files. Comments, layout and docstrings of Python do not count: only what is computed does."""
    digest = hashlib.sha256("".join(_source(source).digest for source in sources).encode()).hexdigest()[:16]
    _keep()
    return digest


@functools.cache
def _imported(path: str, library: Path) -> tuple[str, ...]:
    """Modules that run when a file does: an import names one, or something in one, and its packages run first."""
    modules = _tree(library).modules
    return tuple({name: 0 for each in _source(path).imports for name in _with_packages(each) if name in modules})


@functools.cache
def _with_packages(name: str) -> tuple[str, ...]:
    """`a.b.c` → `a`, `a.b`, `a.b.c`."""
    parts = name.split(".")
    return tuple(".".join(parts[:n]) for n in range(1, len(parts) + 1))


def _data(name: str, tree: _Tree) -> list[str]:
    """Files that count with a module: its table, and the code of pages of its package."""
    return tree.data.get(f"{name}.csv", []) + tree.data.get(name.partition(".")[0], [])


@functools.cache
def _tree(library: Path) -> _Tree:
    tree = _Tree({}, {})
    beside = (init.parent for init in library.parent.glob(f"{library.name}_*/__init__.py"))
    for package, above in [(library, library), *((package, library.parent) for package in beside)]:
        start = len(str(above)) + 1
        for folder, inner, names in os.walk(package):
            inner[:] = {*inner} - {"__pycache__", "repository"}  # the workflow, where it is part of the package
            for path in (f"{folder}/{name}" for name in names):
                _place(path, path[start:].replace("/", "."), tree)
    return tree


def _place(path: str, dotted: str, tree: _Tree) -> None:
    """Note a file of the library in the tree, if it can count."""
    if path.endswith(".py"):
        tree.modules[dotted.removesuffix(".py").removesuffix(".__init__")] = path
    elif path.endswith(".csv"):
        tree.data[dotted] = [path]
    elif path.endswith(PAGES):
        tree.data.setdefault(dotted.partition(".")[0], []).append(path)


def forget() -> None:
    """Read all files again: what is known of them stays while a process runs."""
    for cached in (_imported, _tree, _source, _known):
        cached.cache_clear()


@functools.cache
def _source(path: str) -> _Source:
    content = Path(path).read_bytes()
    key = hashlib.sha256(content).hexdigest()
    if not path.endswith(".py"):
        return _Source(key, [])
    known = _known()
    if key not in known.sources:
        known.sources[key], known.to_keep[:] = _parsed(path, content), [True]
    return _Source(*known.sources[key])


class _Known(NamedTuple):
    """Records by content; to_keep : not empty when some are not written yet."""

    sources: dict[str, tuple[str, list[str]]]
    to_keep: list[bool]


@functools.cache
def _known() -> _Known:
    try:
        found = json.loads(KNOWN.read_text(encoding="utf-8"))
        return _Known({key: (str(digest), list(names)) for key, (digest, names) in found.items()}, [])
    except (OSError, ValueError, TypeError, AttributeError):  # missing, damaged or older: it is made again
        return _Known({}, [])


def _keep() -> None:
    known = _known()
    if known.to_keep:
        known.to_keep.clear()
        with contextlib.suppress(OSError):  # an installation that cannot be written to
            write_text(KNOWN, json.dumps(known.sources))


def _parsed(path: str, content: bytes) -> _Source:
    tree = ast.parse(content, path)
    imports = sorted(set(_imports(tree)))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [n for n in body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    return _Source(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), imports)


def _imports(node: ast.AST) -> Iterator[str]:
    """Dotted names, as in `_Tree`, that code imports from the library, wherever the import stands."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        names = []
    yield from (name.removeprefix("toporank.") for name in names if name.startswith(("toporank.", "toporank_")))
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING")):
            yield from _imports(child)
