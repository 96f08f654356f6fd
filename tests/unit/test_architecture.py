"""The shape of the code: which module may know which, how long files may be, and what must not be
in them.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from processes import printed

REPOSITORY = Path(__file__).resolve().parents[2]
LIBRARY = REPOSITORY / "lib"
MODULES = sorted(LIBRARY.rglob("*.py"))


def name_of(path: Path) -> str:
    """`lib/toporank/learning/network.py` → `toporank.learning.network`."""
    parts = path.relative_to(LIBRARY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def parsed(path: Path) -> ast.Module:
    """Each module is parsed once for all tests."""
    return ast.parse(path.read_text())


# ---- who may import whom: `make lint` checks the floors with import-linter -----------------------


SAME_THING = {"__init__", "compare", "score"}
"""Names of files that occur twice because they are about one thing, such as a command and what it
does.
"""


def test_no_two_files_have_one_name_and_different_meanings():
    names = Counter(path.stem for path in MODULES)
    assert {name for name, n in names.items() if n > 1} - SAME_THING == set()


def public_types(path: Path) -> set[str]:
    """Names of a module's classes, and of its aliases such as `DecoyKey = tuple[str, str]`."""
    names = set()
    for node in parsed(path).body:
        if isinstance(node, ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names.add(node.targets[0].id)
    return {name for name in names if name[0].isupper() and not name.isupper()}


def test_a_class_or_alias_is_defined_in_one_module():
    modules = Counter(name for path in MODULES for name in public_types(path))
    assert {name for name, n in modules.items() if n > 1} == set()


def test_the_library_does_without_the_package_that_makes_decoys():
    """No file of the library names it, so that no import is hidden from import-linter either."""
    library = [path for path in MODULES if path.is_relative_to(LIBRARY / "toporank")]
    assert [
        name_of(path) for path in library if "toporank_sampling" in path.read_text()
    ] == []


TORCH = {"torch", "torch_geometric", "pytorch_lightning", "lightning_fabric"}
STARTS = (
    "import toporank.app.workflow.preflight, toporank.app.workflow.inputs, toporank.__main__, "
    "toporank.building.chunks.chunk"
)
FEATURES = f"{STARTS}; from toporank.features.registry import modules; modules()"
SCORER = "resources/scorer"
LIGHT = {
    "import toporank": TORCH | {"pandas", "snakemake", "numpy", "numba", "pydantic"},
    f"{STARTS}, toporank.report.page": TORCH,
    FEATURES: {"numba", "gudhi", "scipy"},
    # graphs that are packed need neither
    "import toporank.scorer.networks": TORCH - {"torch"},
    "import toporank.building.packing, toporank.files.graph_file, toporank.files.packfile, "
    "toporank.learning.train": {"torch", "torch_geometric", "pandas"},
    "import toporank.finding.labels, toporank.finding.folders": {"pandas"},
    # torch takes a second to import: scoring does so where something is new, and only there
    "import toporank.app.score_folder": TORCH,
    f"from toporank.scorer.scorer import Scorer; Scorer.open('{SCORER}').features": TORCH,
    f"from toporank.learning.checkpoint import read_description; "
    f"assert read_description('{SCORER}/best.safetensors')": TORCH,
}
"""What every job, every parsing of the workflow and many scorings do, and what takes so long to
import that these must not.
"""


@pytest.mark.parametrize("program", LIGHT)
def test_what_starts_often_does_not_import_what_takes_long(program):
    names = "{name.partition('.')[0] for name in sys.modules}"
    program_and_look = f"{program}\nimport sys\nprint(*{names} & {LIGHT[program]})"
    assert printed(program_and_look, cwd=REPOSITORY) == ""


def test_a_process_of_a_test_imports_the_checkout(tmp_path):
    place = printed("import toporank; print(toporank.__file__)", cwd=tmp_path)
    assert Path(place).is_relative_to(LIBRARY)


# ---- length --------------------------------------------------------------------------------------


def lines_of_docstring(node: ast.AST) -> int:
    """Number of lines of the docstring of a module, class or function."""
    body = getattr(node, "body", None)
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) or not body:
        return 0
    has_docstring = ast.get_docstring(node) is not None
    return body[0].end_lineno - body[0].lineno + 1 if has_docstring else 0


@pytest.mark.parametrize(
    ("pattern", "most", "at_least"),
    [
        ("Snakefile", 60, 1),
        ("rules/*.smk", 150, 5),
        ("workflow_scripts/*", 105, 8),
        ("lib/**/*.py", 450, 30),
    ],
)
def test_files_are_short_but_for_their_docstrings(pattern, most, at_least):
    lines = {}
    for path in REPOSITORY.glob(pattern):
        if path.is_file() and path.suffix != ".pyc":
            n = len(path.read_text(encoding="utf-8").splitlines())
            if path.suffix == ".py":
                n -= sum(map(lines_of_docstring, ast.walk(parsed(path))))
            lines[str(path.relative_to(REPOSITORY))] = n
    assert len(lines) >= at_least
    assert {name: n for name, n in lines.items() if n > most} == {}


def test_functions_are_short_but_for_their_docstrings():
    long = {}
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef):
                lines = node.end_lineno - node.lineno + 1 - lines_of_docstring(node)
                if lines > 85:
                    long[f"{name_of(path)}.{node.name}"] = lines
    assert long == {}


# ---- what must not be there ----------------------------------------------------------------------


def test_every_module_and_every_public_function_says_what_it_is():
    silent = []
    for path in MODULES:
        tree = parsed(path)
        if path.stat().st_size and not ast.get_docstring(tree):
            silent.append(name_of(path))
        for node in tree.body:
            public = isinstance(
                node, ast.FunctionDef | ast.ClassDef
            ) and not node.name.startswith("_")
            if public and node.name != "main" and not ast.get_docstring(node):
                silent.append(f"{name_of(path)}.{node.name}")
    assert silent == []


def tracked_files() -> list[Path]:
    """Files under version control; none outside a clone."""
    command = ["git", "-C", str(REPOSITORY), "ls-files", "-z"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        pytest.skip("not a clone")
    return [
        path
        for name in answer.stdout.split("\0")
        if name and (path := REPOSITORY / name).is_file()
    ]


HOMES = re.compile(r"(?<![\w.<>{}$])/(home|Users|Volumes)/[A-Za-z0-9_]+")
"""Folders of a person."""


def test_no_tracked_file_names_a_folder_of_a_machine():
    here = [
        str(place)
        for place in (REPOSITORY, Path(sys.prefix), Path.home())
        if len(place.parts) > 2
    ]
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        hits = [place for place in here if place in text] + [
            match[0] for match in HOMES.finditer(text)
        ]
        found += [f"{path.relative_to(REPOSITORY)}: {hit}" for hit in hits]
    assert found == []


def test_no_tracked_file_was_made_by_a_run_but_the_scorers_that_ship():
    made = [
        name for name in (str(path.relative_to(REPOSITORY)) for path in tracked_files())
        if re.match(r"(results|logs|\.snakemake|\.toporank)/", name)
        or (re.search(r"\.(pyc|ckpt|pt)$", name) and not re.match(r"resources/scorer/", name))
    ]  # fmt: skip
    assert made == []


def test_every_external_package_the_library_imports_is_declared():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = {
        name: entries
        for name, entries in project["optional-dependencies"].items()
        if name != "dev"
    }
    declared = [
        *project["dependencies"],
        *(entry for entries in extras.values() for entry in entries),
    ]
    names = {re.match(r"[\w-]+", entry)[0].replace("-", "_") for entry in declared}
    names |= {
        {"pyyaml": "yaml", "biopython": "Bio", "scikit_learn": "sklearn"}.get(
            name, name
        )
        for name in names
    }
    used = set()
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                used |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                used.add(node.module.split(".")[0])
    assert (
        used
        - set(sys.stdlib_module_names)
        - names
        - {"toporank", "toporank_kernels", "toporank_sampling"}
        == set()
    )
