"""What has to be installed is written down once, and everywhere else it is the same: pip, conda, its
recipe, Snakemake and continuous integration.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest
import yaml

import toporank
from toporank.app.workflow.runs import use_this_environment

REPOSITORY = Path(__file__).resolve().parents[2]
LIBRARY = REPOSITORY / "lib"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
RULE_FILES = sorted(REPOSITORY.glob("rules/*.smk"))

IMPORTED_AS = {
    "biopython": "Bio",
    "pyyaml": "yaml",
    "pytorch": "torch",
    "pytorch_geometric": "torch_geometric",
    "scikit_learn": "sklearn",
}
"""Package → what it is imported as, where that differs."""
PIP_NAMES = {"pytorch": "torch", "pytorch_geometric": "torch_geometric"}
CONDA_NAMES = {"torch": "pytorch", "torch-geometric": "pytorch_geometric"}
"""Name in conda-forge → name in the Python package index, where they differ."""
ONLY_CONDA = {"python", "dssp"}
DRAWING = {"matplotlib", "scikit_learn"}
"""An extra for pip, since the page of a scoring has no figures; conda's environments have it."""
COMPUTE_FEATURES = {"features.yaml", "learning.yaml", "making.yaml"}
"""Other environments read what features are, but never compute any: what is imported for that they
do not need.
"""
OPTIONAL = {"teddympnn", "torchao", "triton"}
"""Imported only when the configuration asks for them, or on a GPU; extras of the package."""
NEED_AN_EXTRA = {"inverse_folding.py"}
"""What these import inside functions runs only where such an extra is installed, which brings it.
"""


def normal(name: str) -> str:
    return name.lower().replace("-", "_")


def pins() -> dict[str, str]:
    """Package → version in constraints.txt and requirements-train.txt."""
    files = ("constraints.txt", "requirements-train.txt")
    lines = [
        line for name in files for line in (REPOSITORY / name).read_text().splitlines()
    ]
    return {
        normal(name): version
        for name, _, version in (line.partition("==") for line in lines)
        if version
    }


def conda(environment: Path) -> dict[str, str]:
    """Package → version constraint in a conda environment file."""
    entries = yaml.safe_load(environment.read_text())["dependencies"]
    named = (entry.partition(" ") for entry in entries if isinstance(entry, str))
    return {normal(name): version for name, _, version in named}


@functools.cache
def scripts_of_environments() -> dict[str, set[str]]:
    """Environment file → the workflow scripts of the rules that use it."""
    found: dict[str, set[str]] = {}
    text = "\n".join(path.read_text() for path in RULE_FILES)
    text = text.replace(
        "        BUILD_CHUNK\n", "        build_chunk.py\n"
    )  # one command for four rules
    for rule in re.split(r"^\s*rule ", text, flags=re.MULTILINE):
        for environment in re.findall(r"envs/(\w+\.yaml)", rule):
            found.setdefault(environment, set()).update(
                re.findall(r"\b(\w+\.py)\b", rule)
            )
    return found


@functools.cache
def file_of(module: str) -> Path | None:
    """Where a module of the library is; None for a name that is none."""
    path = LIBRARY.joinpath(*module.split("."))
    return next(
        (
            file
            for file in (path / "__init__.py", path.with_suffix(".py"))
            if file.is_file()
        ),
        None,
    )


@functools.cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """What a file imports, and whether only inside a function; with `from a import b` both a and
    a.b.
    """
    tree = ast.parse(path.read_text())
    late = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    }
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if _is_for_types(block)
        for node in ast.walk(block)
    }
    found = []
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in late) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [
                node.module,
                *(f"{node.module}.{alias.name}" for alias in node.names),
            ]
            found += [(name, id(node) in late) for name in names]
    return found


def _is_for_types(node: ast.AST) -> bool:
    """Whether it is a block that only type checkers read."""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def with_parents(module: str) -> Iterator[str]:
    """`a.b.c` → a, a.b, a.b.c: importing one imports all."""
    parts = module.split(".")
    return (".".join(parts[: i + 1]) for i in range(len(parts)))


@functools.cache
def imports_torch(module: str) -> bool:
    """Whether importing a module of the library imports torch."""
    return "torch" in packages(file_of(module), late=False)


def packages(
    start: Path, *, torch: bool = True, features: bool = True, late: bool = True
) -> set[str]:
    """What a script and all it imports import from outside the library.

    torch : without it, imports inside functions that lead to torch are not followed: another rule's
    environment has it. features : without it, imports inside functions that compute features do not
    count. late : whether imports inside functions count at all.
    """
    outside, seen, waiting = set(), set(), [start]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        computes = path.parent.name in ("features", "structures")
        for name, inside in imports(path):
            if inside and (
                not late or (computes and not features) or path.name in NEED_AN_EXTRA
            ):
                continue
            if not name.split(".")[0].startswith("toporank"):
                outside.add(name.split(".")[0])
                continue
            files = {
                module: file
                for module in with_parents(name)
                if (file := file_of(module))
            }
            if inside and not torch and any(map(imports_torch, files)):
                continue
            waiting += files.values()
        # it imports every feature module by listing the folder
        if path.name == "registry.py":
            waiting += path.parent.glob("*.py")
    return outside - set(sys.stdlib_module_names) - OPTIONAL


def needed(environment: str) -> dict[str, set[str]]:
    """Script → what it needs in the environment of its rules."""
    torch = "pytorch" in conda(REPOSITORY / "envs" / environment)
    return {
        script: packages(
            REPOSITORY / "workflow_scripts" / script,
            torch=torch,
            features=environment in COMPUTE_FEATURES,
        )
        for script in sorted(scripts_of_environments()[environment])
    }


def as_imported(package: str) -> str:
    return IMPORTED_AS.get(package, package)


def test_every_rule_file_names_environments_that_exist():
    assert set(scripts_of_environments()) <= {
        path.name for path in REPOSITORY.glob("envs/*.yaml")
    }
    assert sum(map(len, scripts_of_environments().values())) >= 10


@pytest.mark.parametrize("name", sorted(scripts_of_environments()))
def test_an_environment_has_what_its_scripts_import_and_nothing_else(name):
    has = set(map(as_imported, set(conda(REPOSITORY / "envs" / name)) - ONLY_CONDA))
    assert {
        script: found - has for script, found in needed(name).items() if found - has
    } == {}
    assert has - DRAWING - set.union(*needed(name).values()) == set()


@pytest.mark.parametrize("name", sorted(scripts_of_environments()))
def test_versions_are_those_of_requirements(name):
    theirs = {
        p: version
        for p, version in conda(REPOSITORY / "envs" / name).items()
        if p not in ONLY_CONDA
    }
    assert theirs == {
        package: f"={pins()[PIP_NAMES.get(package, package)]}" for package in theirs
    }


def declared() -> dict[str, str]:
    """Package → least version in pyproject.toml."""
    entries = (entry.partition(">=") for entry in PROJECT["project"]["dependencies"])
    return {normal(name): version for name, _, version in entries}


def as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def test_pip_takes_the_pinned_versions_and_no_other_file_repeats_them():
    lines = (REPOSITORY / "requirements.txt").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "-e .",
        "-c constraints.txt",
    ]
    pinned = [
        line
        for line in (REPOSITORY / "constraints.txt").read_text().splitlines()
        if line[0] != "#"
    ]
    assert [line for line in pinned if not re.fullmatch(r"[\w-]+==[\w.]+", line)] == []
    assert set(declared()) <= {normal(line.partition("==")[0]) for line in pinned}


def test_the_pins_are_allowed_by_the_package():
    for package, least in declared().items():
        assert as_numbers(pins()[package]) >= as_numbers(least), package


def test_the_conda_environment_for_users_has_what_the_package_depends_on_and_what_the_jobs_have():
    whole = conda(REPOSITORY / "environment.yaml")
    assert {PIP_NAMES.get(name, name) for name in whole} == {
        *declared(),
        *DRAWING,
        *ONLY_CONDA,
        "pip",
    }
    for name in ("features.yaml", "learning.yaml", "report.yaml"):
        assert conda(REPOSITORY / "envs" / name).items() <= whole.items()
    for name in set(whole) - ONLY_CONDA - {"pip"}:
        assert whole[name] == f"={pins()[PIP_NAMES.get(name, name)]}"


def test_what_only_the_tests_import_is_no_dependency_of_the_package():
    names = {name for path in LIBRARY.rglob("*.py") for name, _ in imports(path)}
    used = {name.split(".")[0] for name in names}
    # `snakemake --report` needs Pygments, and does not bring it
    of_snakemake = {name for name in declared() if name.startswith("snakemake")}
    libraries = set(declared()) - of_snakemake - {"pygments"}
    assert set(map(as_imported, libraries)) <= used


def test_the_workflow_asks_for_the_snakemake_that_the_package_asks_for():
    (least,) = re.findall(
        r'^min_version\("(.+)"\)', (REPOSITORY / "Snakefile").read_text(), re.MULTILINE
    )
    assert least == declared()["snakemake"]


# ---- the conda recipe, continuous integration and the issue forms --------------------------------

FORMS = sorted((REPOSITORY / ".github/ISSUE_TEMPLATE").glob("*.yml"))


@pytest.fixture(scope="module")
def recipe() -> dict:
    """conda/meta.yaml as conda-build reads it."""
    text = (REPOSITORY / "conda/meta.yaml").read_text(encoding="utf-8")
    given = {
        "PYTHON": "python",
        "pin_subpackage": lambda name, max_pin: f"{name} {max_pin}",
    }
    return yaml.safe_load(
        jinja2.Template(text, undefined=jinja2.StrictUndefined).render(given)
    )


def as_conda(requirement: str) -> str:
    """`torch>=2.6` as `pytorch >=2.6`."""
    name, bound = re.fullmatch(r"([\w.-]+)(.*)", requirement).groups()
    return f"{CONDA_NAMES.get(name, name)} {bound}".strip()


def test_the_recipe_needs_what_the_package_needs(recipe):
    python = f"python {PROJECT['project']['requires-python']}"
    assert sorted(recipe["requirements"]["run"]) == sorted(
        [python, *map(as_conda, PROJECT["project"]["dependencies"])]
    )
    assert sorted(recipe["requirements"]["host"]) == sorted(
        ["pip", python, *map(as_conda, PROJECT["build-system"]["requires"])]
    )


def test_the_recipe_has_the_version_the_commands_and_the_licence_of_the_package(recipe):
    assert recipe["package"] == {
        "name": PROJECT["project"]["name"],
        "version": toporank.__version__,
    }
    assert recipe["build"]["entry_points"] == [
        f"{n} = {to}" for n, to in PROJECT["project"]["scripts"].items()
    ]
    assert recipe["about"]["license"] == PROJECT["project"]["license"]
    assert recipe["about"]["summary"] == PROJECT["project"]["description"]
    assert (REPOSITORY / recipe["about"]["license_file"]).is_file()


def test_continuous_integration_runs_ci_run_at_both_ends_of_what_is_said_to_work():
    workflow = yaml.safe_load(
        (REPOSITORY / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    )
    tests = workflow["jobs"]["tests"]
    assert any(step.get("run", "").endswith(" .ci/run") for step in tests["steps"])
    versions = re.findall(
        r":: (3\.\d+)$", "\n".join(PROJECT["project"]["classifiers"]), re.MULTILINE
    )
    assert tests["strategy"]["matrix"]["python"] == [versions[0], versions[-1]]
    assert PROJECT["project"]["requires-python"] == f">={versions[0]}"


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_in_a_way_that_a_forge_shows(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.name == "config.yml":
        assert form == {"blank_issues_enabled": True}
        return
    assert {"name", "description", "labels", "body"} <= set(form)
    ids = [part["id"] for part in form["body"]]
    assert len(ids) == len(set(ids))
    assert {part["type"] for part in form["body"]} <= {"textarea", "dropdown"}
    assert all(part["attributes"]["label"] for part in form["body"])
    required = [
        part for part in form["body"] if part.get("validations", {}).get("required")
    ]
    assert any(
        "toporank doctor" in part["attributes"]["label"] for part in required
    ) == (path.stem in ("bug", "wrong_answer"))


# ---- what jobs find ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of_user", "behind"),
    [("", []), ("/my/modules", ["/my/modules"]), ("/x:OURS:/y", ["/x", "/y"])],
)
def test_what_the_user_has_on_the_path_of_python_stays_there_behind_ours(
    monkeypatch, of_user, behind
):
    ours = str(REPOSITORY / "lib")
    for name in ("PATH", "PYTHONHASHSEED", "TOPORANK_STORE"):
        monkeypatch.setenv(name, "before")
    monkeypatch.setenv("PYTHONPATH", of_user.replace("OURS", ours))
    for _ in range(2):  # of the process of a job, too
        use_this_environment("store")
        assert os.environ["PYTHONPATH"].split(os.pathsep) == [ours, *behind]
        assert os.environ["PATH"].split(os.pathsep)[1:] == [
            str(REPOSITORY / "workflow_scripts"),
            "before",
        ]
