"""Which files decide a result: found from the imports, so that none can be forgotten."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from toporank import code
from toporank.app.workflow import jobs
from toporank.building.chunks import stages

REPOSITORY = Path(__file__).resolve().parents[2]
STEPS = sorted(path.name for path in REPOSITORY.glob("workflow_scripts/*.py"))


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A function that makes these files a library; the digests of another one are not kept."""
    monkeypatch.setattr(code, "KNOWN", tmp_path / "digests.json")
    monkeypatch.setattr(code, "LIBRARY", tmp_path / "toporank")

    def write(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = tmp_path / "toporank" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        code.forget()

    yield write
    code.forget()


def files_of(*roots: str, **cut) -> set[str]:
    """Files of the library that count; those of a package beside it with the name of the package."""
    above = code.LIBRARY.parent
    paths = map(Path, code.closure(*roots, **cut))
    return {str(path.relative_to(above)).removeprefix("toporank/") for path in paths if path.is_relative_to(above)}


# ---- what an import is ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "import toporank.near",
        "import toporank.near as n",
        "from toporank import near",
        "from toporank.near import x",
        "def f():\n    from toporank.near import x",
        "if True:\n    import toporank.near",
        "try:\n    import toporank.near\nexcept ImportError: ...",
        "from toporank.middle import y",
    ],
)
def test_every_way_to_import_counts_near_and_far(library, line):
    others = {"near.py": "import toporank.far", "middle.py": "import toporank.near", "far.py": "", "other.py": ""}
    library({"a.py": line, **others})
    assert files_of("a") - {"middle.py"} == {"a.py", "near.py", "far.py"}


@pytest.mark.parametrize(
    "text",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import toporank.near",
        "import typing\nif typing.TYPE_CHECKING:\n    import toporank.near",
        "'import toporank.near'",
        "import near, numpy",
    ],
)
def test_imports_for_type_checkers_and_of_others_do_not_count(library, text):
    library({"a.py": text, "near.py": ""})
    assert files_of("a") == {"a.py"}


def test_with_a_module_come_its_package_and_its_table_and_the_code_of_pages(library):
    imports = {"a.py": "from toporank.page.one import x", "page/__init__.py": "import toporank.far"}
    library({**imports, "page/one.py": "", "far.py": "", "page/one.csv": "1", "page/two.csv": "2"})
    library({"page/deep/view.js": "3", "other/view.js": "4"})
    assert files_of("a") == {"a.py", "far.py", "page/__init__.py", "page/one.py", "page/one.csv", "page/deep/view.js"}


@pytest.mark.parametrize(
    "line", ["import toporank_more.near", "from toporank_more import near", "from toporank_more.near import x"]
)
def test_a_package_beside_the_library_that_has_its_name_and_more_belongs_to_it(library, line):
    beside = {"__init__.py": "", "near.py": "from toporank import far", "near.csv": "1", "other.py": ""}
    library({"far.py": "", **{f"../toporank_more/{name}": text for name, text in beside.items()}})
    library({"a.py": line, "../toporankless/__init__.py": "", "../toporank_notes/far.py": ""})
    assert files_of("a") == {"a.py", "far.py", *(f"toporank_more/{name}" for name in {*beside} - {"other.py"})}
    before = code.code_of("a")
    library({"../toporank_more/near.py": "from toporank import far\nx = 1"})
    assert code.code_of("a") != before


def test_what_is_cut_off_is_not_followed_nor_is_a_circle(library):
    library({"a.py": "import toporank.b\nimport toporank.p.c", "b.py": "import toporank.a"})
    library({"p/c.py": "import toporank.d", "d.py": ""})
    assert files_of("a", without=["p"]) == {"a.py", "b.py"}
    assert files_of("a", without=["p.c"]) == {"a.py", "b.py"}
    assert files_of("a") == {"a.py", "b.py", "p/c.py", "d.py"}


# ---- what it finds here -----------------------------------------------------------------------------------


def test_the_topology_is_made_by_all_of_persistence_and_by_nothing_of_the_report():
    found = files_of("features.topology")
    assert {
        f"features/persistence/{path.name}" for path in (code.LIBRARY / "features/persistence").glob("*.py")
    } <= found
    assert not any(name.startswith(("report/", "learning/", "app/")) for name in found)


def test_whatever_python_itself_imports_with_a_module_is_found():
    for name in (
        "toporank.features.topology",
        "toporank.comparing.contacts",
        "toporank.comparing.native.label",
        "toporank.building.packing",
        "toporank_sampling.target",
    ):
        program = f"import sys, {name}; print(*[m for m in sys.modules if m.startswith(('toporank.', 'toporank_'))])"
        answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        wanted = {each.removeprefix("toporank.") for each in answer.stdout.split()} - {*code.PLUMBING}
        files = files_of(name.removeprefix("toporank."))
        here = {path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path in files}
        assert wanted <= here


def test_an_edit_of_any_file_changes_the_digest(tmp_path, monkeypatch):
    copy = tmp_path / "toporank"
    shutil.copytree(code.LIBRARY, copy, ignore=shutil.ignore_patterns("__pycache__", "3dmol"))
    monkeypatch.setattr(code, "KNOWN", tmp_path / "digests.json")
    monkeypatch.setattr(code, "LIBRARY", copy)
    code.forget()
    last, files = code.code_of("features.contact_edges"), code.closure("features.contact_edges")
    assert str(copy / "features/potentials.csv") in files
    for path in map(Path, files):
        path.write_text(path.read_text() + "\nSTRAY = 0\n")
        code.forget()
        before, last = last, code.code_of("features.contact_edges")
        assert last != before, path
    code.forget()


def test_the_stages_name_every_module_that_makes_something():
    """What `building.chunks.stages` imports decides some artefact, or stands here with the reason why not."""
    others = {
        "building/chunks/__init__.py",
        "building/chunks/stages.py",  # counts by itself
        "building/chunks/store.py",  # keeps artefacts by what they are made of
        "files/user_tables.py",  # reads tables of users, which count by their values
    }
    chosen = [f"features.{module}" for module in ("interface", "topology", "nodes", "topoqa.edges")]
    made_by = {root for roots in stages.MADE_BY.values() for root in roots}
    assert files_of("building.chunks.stages") - files_of(*made_by, *chosen, without=stages.NOT_FOLLOWED) == others


def test_a_step_after_the_graphs_counts_its_script_and_whatever_that_imports_but_what_makes_graphs():
    assert {"score_targets.py", "evaluate.py", "pack_graphs.py"} <= {*STEPS}
    score = files_of(str(REPOSITORY / "workflow_scripts/score_targets.py"), without=jobs.BY_CONTENT)
    assert {"learning/network.py", "scorer/trees.py", "ranking/ranked.py", "comparing/votes.py"} <= score
    assert not any(name.startswith(("report/", "app/", "building/chunks/", "features/")) for name in score)
    report = files_of(str(REPOSITORY / "workflow_scripts/write_report.py"), without=jobs.BY_CONTENT)
    assert {"report/page.js", "report/page.html.j2", "report/style.css", "report/3dmol/3Dmol-min.js"} <= report
    pack = files_of(str(REPOSITORY / "workflow_scripts/pack_graphs.py"), without=jobs.BY_CONTENT)
    assert {"comparing/native/local.py", "building/local_quality.py", "building/packing.py"} <= pack
    sample = files_of(str(REPOSITORY / "workflow_scripts/sample_target.py"), without=jobs.BY_CONTENT)
    packages = {"toporank_sampling/__init__.py", "toporank_sampling/target.py", "toporank_sampling/docking.py"}
    assert packages | {"comparing/native/label.py", "structures/read.py"} <= sample


def test_every_step_has_a_digest_of_its_own():
    assert len({jobs.step_code(REPOSITORY, step) for step in STEPS}) == len(STEPS)


def test_the_rules_of_steps_name_the_script_that_they_run():
    for path in REPOSITORY.glob("rules/*.smk"):
        for part in path.read_text().split('jobs.step_code(REPOSITORY, "')[1:]:
            script, _, rest = part.partition('")')
            assert f'"{script} ' in rest.partition("\nrule ")[0], path
