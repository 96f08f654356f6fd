"""Which random changes of the library its unit tests notice.

    pip install pytest-cov
    python benchmarks/mutants.py --seed 11 --count 60

Every change is one of a comparison, an operator, a condition or a number (+1) in the rooms of the
science. The tests that run the changed lines judge it first, then the unit tests of its room and
those that import its module. All happens in a copy of the repository's last commit. The first run
notes which tests run which lines, in four minutes; a change then takes half a minute.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from coverage import CoverageData

REPOSITORY = Path(__file__).resolve().parents[1]
ROOMS = (
    "scorer",
    "comparing",
    "features",
    "confidence",
    "programs",
    "structures",
    "ranking",
)
COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
MOST_TESTS = 600
PATIENCE = 900
"""Seconds after which a change counts as noticed."""


def annotations(tree: ast.AST) -> set[ast.AST]:
    """The nodes of types, whose changes mean nothing."""
    found = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if isinstance(part, ast.AST):
                found.update(ast.walk(part))
    return found


def places(text: str) -> list[ast.AST]:
    """The nodes that can be changed."""
    tree = ast.parse(text)
    left_out = annotations(tree)
    return [
        node
        for node in ast.walk(tree)
        if node not in left_out and changed(node) is not None
    ]


def changed(node: ast.AST) -> ast.AST | None:
    """The node as it is after a change; None where it has none."""
    new = copy.copy(node)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        new.ops = [COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        new.op = OPERATORS[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        new = new.operand
    elif isinstance(node, ast.If | ast.IfExp):
        new = ast.UnaryOp(ast.Not(), new.test)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        new.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        new.value = node.value + 1
    else:
        return None
    return new


def mutant(text: str, node: ast.AST) -> tuple[str, range, str]:
    """The text with one node changed, its lines, and the change in words."""
    new = changed(node)
    old = node.test if isinstance(node, ast.If | ast.IfExp) else node
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    begin = starts[old.lineno - 1] + old.col_offset
    end = starts[old.end_lineno - 1] + old.end_col_offset
    raw = text.encode()
    after = ast.unparse(new)
    if not isinstance(new, ast.Constant):
        after = f"({after})"
    new_text = raw[:begin] + after.encode() + raw[end:]
    words = f"{raw[begin:end].decode()} -> {after}"
    return new_text.decode(), range(old.lineno, old.end_lineno + 1), words


def pytest(folder: Path, *arguments: str) -> bool:
    """Whether a test fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow"]
    command += ["-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(folder / "lib")}
    try:
        status = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return True
    return status not in (0, 5)  # 5: no test was chosen


def importing(folder: Path, module: Path) -> list[str]:
    """The unit tests that import a module."""
    package = ".".join(module.parent.parts[1:])
    tests = []
    for test in sorted((folder / "tests/unit").rglob("test_*.py")):
        text = test.read_text(encoding="utf-8")
        if f"{package}.{module.stem}" in text:
            tests.append(str(test.relative_to(folder)))
    return tests


def noticed(folder: Path, module: Path, tests: list[str]) -> bool:
    """Whether the tests notice what was changed in a module. tests : that run the changed lines."""
    if tests:
        chosen = folder / "chosen.txt"
        chosen.write_text("\n".join(tests[:MOST_TESTS]), encoding="utf-8")
        if pytest(folder, f"@{chosen}"):
            return True
    room = f"tests/unit/{module.parts[2]}"  # programs has none
    rooms = [room] if (folder / room).is_dir() else []
    chosen_by_name = [*rooms, *importing(folder, module)]
    return bool(chosen_by_name) and pytest(folder, *chosen_by_name)


def drawn(folder: Path, seed: int, count: int) -> Iterator[tuple[Path, int]]:
    """Modules, and which of their places is changed."""
    pool = []
    for room in ROOMS:
        for path in sorted((folder / "lib/toporank" / room).rglob("*.py")):
            n_places = len(places(path.read_text(encoding="utf-8")))
            module = path.relative_to(folder)
            pool += [(module, place) for place in range(n_places)]
    random.Random(seed).shuffle(pool)
    yield from pool[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room, "copy")
        subprocess.run(["git", "clone", "-q", REPOSITORY, folder], check=True)
        covered = ("--cov=lib", "--cov-context=test", "--cov-report=")
        pytest(folder, "-n2", *covered, "tests/unit", "tests/inputs")
        data = CoverageData(str(folder / ".coverage"))
        data.read()
        n_noticed = 0
        for module, place in drawn(folder, args.seed, args.count):
            path = folder / module
            text = path.read_text(encoding="utf-8")
            new_text, lines, words = mutant(text, places(text)[place])
            contexts = data.contexts_by_lineno(str(path))
            tests = set()
            for line in lines:
                tests.update(contexts.get(line, ()))
            names = sorted({test.partition("|")[0] for test in tests if test})
            random.Random(args.seed).shuffle(names)
            path.write_text(new_text, encoding="utf-8")
            is_noticed = noticed(folder, module, names)
            path.write_text(text, encoding="utf-8")
            n_noticed += is_noticed
            outcome = "noticed" if is_noticed else "MISSED "
            print(f"{outcome} {module}:{lines[0]}  {words}", flush=True)
        print(f"{n_noticed} of {args.count} noticed")


if __name__ == "__main__":
    main()
