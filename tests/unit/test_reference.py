"""Sections of docstrings are such that the reference shows each parameter in a line of its own."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import toporank
from toporank.app.results import Results
from toporank.scorer.scorer import Scorer

LIBRARY = Path(toporank.__file__).parent
SECTION = re.compile(
    r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=\n\n(?:\w+\n-+\n|>>> )|\Z)",
    re.MULTILINE | re.DOTALL,
)
ENTRY = re.compile(r"[*\w]+(?:, [*\w]+)*(?: : |$)")
REPOSITORY = LIBRARY.parents[1]
WITHOUT_PARAMETERS = {"self", "cls"}
RAISES = {
    "Scorer.open",
    *(f"Results.{name}" for name in ("figure", "open", "show", "write")),
}
"""Methods that raise on purpose, beside the functions of `app.api`."""


def public_functions() -> dict[str, object]:
    """What the reference lists, and its public methods, by full name; the list is read, since mkdocs
    need not be installed here.
    """
    site = ast.parse((REPOSITORY / "docs/site.py").read_text(encoding="utf-8"))
    (listed,) = [
        node.value
        for node in site.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FUNCTIONS"
    ]
    functions = {}
    for names in ast.literal_eval(listed).values():
        for name in names:
            module, _, attribute = f"toporank.{name}".rpartition(".")
            functions[name] = getattr(importlib.import_module(module), attribute)
    for name in sorted(RAISES):
        owner, _, method = name.partition(".")
        functions[name] = getattr({"Results": Results, "Scorer": Scorer}[owner], method)
    return functions


FUNCTIONS = public_functions()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_the_reference_lists_has_all_sections_and_an_example(name):
    function = FUNCTIONS[name]
    text = inspect.getdoc(function)
    if inspect.isclass(function):
        assert re.search(r"^(Attributes|Parameters)\n---", text, re.MULTILINE)
        needed = ["Examples"]
    else:
        signature = inspect.signature(function)
        parameters = [*signature.parameters.keys() - WITHOUT_PARAMETERS]
        needed = ["Parameters", "Examples"] if parameters else ["Examples"]
        if signature.return_annotation not in ("None", None):
            needed.append("Returns")
        if name in RAISES or name.startswith("app.api."):
            needed.append("Raises")
        entries = re.search(
            r"^Parameters\n-+\n(.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL
        )
        described = set()
        for line in entries[1].splitlines() if entries else ():
            if ENTRY.match(line):
                described.update(re.split(", ", line.partition(" : ")[0].strip("*")))
        assert set(parameters) <= described
    missing = [each for each in needed if f"\n{each}\n---" not in text]
    assert missing == []
    assert "\n>>> " in text


def test_docs_of_python_name_functions_that_there_are():
    page = (REPOSITORY / "docs/api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"toporank\.(\w+)\(", page))
    assert named
    assert all(hasattr(toporank, name) for name in named)


@pytest.mark.parametrize(
    "room", [path.name for path in LIBRARY.iterdir() if path.is_dir()]
)
def test_each_parameter_has_a_line(room):
    broken = []
    for path in sorted((LIBRARY / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                for section in SECTION.findall(ast.get_docstring(node) or ""):
                    entries = [
                        line for line in section.splitlines() if line[:1].strip()
                    ]
                    broken += [
                        f"{path.name}: {line}"
                        for line in entries
                        if not ENTRY.match(line)
                    ]
    assert broken == []
