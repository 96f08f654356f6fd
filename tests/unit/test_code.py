"""Digests of code: which files count, and which results are made again after an edit."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from toporank import code, layout
from toporank.app.workflow import inputs
from toporank.building.chunks.stages import PACKAGES, code_digest
from toporank.features.registry import DEFAULT_MODULES, resolve
from toporank.learning.provenance import training_code

REPOSITORY = Path(__file__).resolve().parents[2]
STEPS = sorted(path.name for path in REPOSITORY.glob("workflow_scripts/*.py"))


def forget() -> None:
    """Have the source read again."""
    code.code_of.cache_clear()
    code._source.cache_clear()


@pytest.fixture
def library(tmp_path, monkeypatch) -> Path:
    """A copy of the library that digests are made of."""
    without = shutil.ignore_patterns("__pycache__", "3dmol", "*.egg-info")
    shutil.copytree(code.LIBRARY.parent, tmp_path / "lib", ignore=without)
    copy = tmp_path / "lib" / code.LIBRARY.name
    monkeypatch.setattr(code, "LIBRARY", copy)
    forget()
    yield copy
    forget()


def digests() -> dict[str, str]:
    """Digest of each kind of artefact, of a training, of scores and of the step of a report."""
    forget()
    choices = resolve({stage: {} for stage in DEFAULT_MODULES})
    kinds = {kind: code_digest(kind, choices) for kind in PACKAGES}
    others = {"training": training_code(), "scores": code.code_of(*code.SCORES)}
    return {
        **kinds,
        **others,
        "report": inputs.step_code("write_report.py"),
    }


ARTEFACTS = {*PACKAGES, "scores"}


@pytest.mark.parametrize(
    ("file", "made_again"),
    [
        ("../toporank_kernels/persistence/alpha.py", ARTEFACTS),
        ("features/potentials.csv", ARTEFACTS),
        ("chains/partners.py", ARTEFACTS | {"report"}),
        ("building/chunks/stages.py", ARTEFACTS | {"report"}),
        ("comparing/votes.py", {"contacts", "label", "scores", "report"}),
        ("learning/network.py", {"training", "scores", "report"}),
        ("scorer/judge.py", {"scores", "report"}),
        ("report/page.js", {"report"}),
        ("app/api.py", set()),
        ("layout.py", set()),
    ],
)
def test_an_edit_makes_what_its_room_makes_again(library, file, made_again):
    before = digests()
    (library / file).write_text((library / file).read_text() + "\n")
    after = digests()
    assert {name for name in before if before[name] != after[name]} == made_again


def test_files_of_no_code_do_not_count(library):
    before = digests()
    (library / "features/notes.txt").write_text("x")
    assert digests() == before
    (library / "features/new.py").write_text("")
    assert digests() != before


def test_every_step_has_a_digest_of_its_own_that_changes_with_its_script(
    tmp_path, monkeypatch
):
    assert len({inputs.step_code(step) for step in STEPS}) == len(STEPS)
    (tmp_path / "workflow_scripts").mkdir()
    monkeypatch.setattr(layout, "repository", lambda: tmp_path)
    step = shutil.copy(
        REPOSITORY / "workflow_scripts/evaluate.py", tmp_path / "workflow_scripts"
    )
    before = inputs.step_code("evaluate.py")
    Path(step).write_text(Path(step).read_text() + "\n")
    forget()
    assert inputs.step_code("evaluate.py") != before


def test_every_rule_with_a_script_runs_again_when_its_code_changes():
    for path in REPOSITORY.glob("rules/*.smk"):
        for rule in re.split(
            r"^(?=(?:    |use )?rule\b)", path.read_text(), flags=re.M
        ):
            script = re.search(r'script:\s+"../workflow_scripts/(\w+\.py)"', rule)
            if script is None and "params:" not in rule:
                continue
            codes = re.findall(r"^ +code=(.+),$", rule, re.M)
            assert len(codes) == 1, (path, rule)
            if codes[0].startswith("code("):
                assert codes == [f'code("{script[1]}")'], path
