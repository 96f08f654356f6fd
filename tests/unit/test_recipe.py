"""The conda recipe, continuous integration and the issue forms say what pyproject.toml and .ci/run
say.
"""

from __future__ import annotations

import re
import tomllib

import jinja2
import pytest
import yaml

from conftest import REPOSITORY

CONDA_NAMES = {"torch": "pytorch", "torch-geometric": "pytorch_geometric"}
"""Name in the Python package index → name in conda-forge, where they differ."""
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
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
    import toporank

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
