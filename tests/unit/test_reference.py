"""Sections of docstrings are such that the reference shows each parameter in a line of its own."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import toporank
from toporank.app import api
from toporank.app.score_folder import Results

LIBRARY = Path(toporank.__file__).parent
SECTION = re.compile(
    r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=\n\n(?:\w+\n-+\n|>>> )|\Z)",
    re.MULTILINE | re.DOTALL,
)
ENTRY = re.compile(r"[*\w]+(?:, [*\w]+)*(?: : |$)")
SECTIONS = ("Parameters", "Returns", "Raises", "Examples")
API = {
    "score": SECTIONS,
    "embed": SECTIONS,
    "features": SECTIONS,
    "interfaces": SECTIONS,
    "dockq": SECTIONS,
    "Scorer.open": SECTIONS,
    "Results.show": ("Parameters", "Returns", "Raises"),
    "Results.write": ("Parameters", "Raises"),
}
"""What docs/api.md lists, and the sections of each."""
OWNERS = {"Results": Results, "Scorer": toporank.Scorer}


def function(name: str):
    """Return the function that docs/api.md calls so."""
    owner, _, method = name.rpartition(".")
    if owner:
        return getattr(OWNERS[owner], method)
    return getattr(api, name)


@pytest.mark.parametrize("name", API)
def test_api_is_documented(name):
    text = inspect.getdoc(function(name))
    missing = [section for section in API[name] if f"\n{section}\n---" not in text]
    parameters = [
        each for each in inspect.signature(function(name)).parameters if each != "self"
    ]
    missing += [
        each for each in parameters if not re.search(rf"^{each} : ", text, re.MULTILINE)
    ]
    assert missing == []


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
