"""How plain the code is: what docs/style.md asks for and ruff cannot count. `make lint` runs it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[2] / "lib"
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def nodes(kind: type | tuple[type, ...]) -> Iterator[tuple[str, ast.AST]]:
    """Every such node of the library, with its place."""
    for path in sorted(LIBRARY.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kind):
                yield f"{path.relative_to(LIBRARY)}:{node.lineno}", node


def test_a_comprehension_has_one_for_and_no_other_inside():
    dense = []
    for place, node in nodes(COMPREHENSIONS):
        inner = [part for part in ast.walk(node) if isinstance(part, COMPREHENSIONS)]
        if len(node.generators) > 1 or len(inner) > 1:
            dense.append(place)
    assert dense == [], "write a loop, or name the inner part"


def test_no_tuple_is_unpacked_from_a_generator():
    packed = []
    for place, node in nodes(ast.Assign):
        is_tuple = isinstance(node.targets[0], ast.Tuple)
        if is_tuple and isinstance(node.value, ast.GeneratorExp):
            packed.append(place)
    assert packed == [], "write a line for each value"


def test_no_value_is_named_inside_a_comprehension():
    packed = []
    for place, node in nodes(COMPREHENSIONS):
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            packed.append(place)
    assert packed == []
