"""What people know of Snakemake does here what they know, wherever clone and models lie."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from conftest import FEW_SETTINGS, Study, clone_to, make_few

DONE = "Nothing to be done"


def planned(study: Study, *arguments: str) -> set[str]:
    """The rules of the jobs that a dry run shows."""
    printed = study.run("-n", *arguments, cores=None).stdout
    return set(re.findall(r"^ *(?:local)?rule (\w+):", printed, re.MULTILINE))


def test_until_ends_behind_a_rule_and_touch_makes_results_current(few):
    assert planned(few, "all", "--until", "pack_graphs") == {"pack_graphs"}
    shutil.rmtree(few.home / ".snakemake")  # with the checksums of what it has made
    os.utime(few.results / "mini/coverage.tsv", (1, 1))
    assert "write_coverage" in planned(few, "build_graphs")
    few.run("build_graphs", "--touch")
    assert DONE in few.run("build_graphs", "-n", cores=None).stdout


def test_triggers_may_be_left_out(few):
    few.configure(**FEW_SETTINGS, features={"edges": {"scaling": "none"}})
    assert "build_chunk" in planned(few, "build_graphs")
    only_times = ("--rerun-triggers", "mtime")
    assert DONE in few.run("build_graphs", "-n", *only_times, cores=None).stdout


@pytest.mark.parametrize("option", ["--rulegraph", "--dag"])
def test_the_picture_has_a_box_for_each_artefact(fresh, option):
    by_artefact = {"jobs": "artefact", **FEW_SETTINGS["workflow"]}
    fresh.configure(**{**FEW_SETTINGS, "workflow": by_artefact})
    drawn = fresh.run("build_graphs", option).stdout
    assert "digraph" in drawn
    for rule in ("interface", "topology", "node_features", "graph"):
        assert f'label = "{rule}' in drawn


def test_a_clone_that_cannot_be_written_builds_in_a_folder_whose_path_has_a_blank(
    tmp_path,
):
    clone = clone_to(tmp_path / "the clone")
    before = files_of(clone)
    for path in clone.rglob("*"):
        path.chmod(path.stat().st_mode & ~0o222)  # the superuser may write nevertheless
    study = make_few(tmp_path / "my decoys")
    study.repository = clone
    study.run("build_graphs")
    assert len(list(study.results.glob("mini/graphs/*/*.pt"))) == 4
    assert files_of(clone) == before


def files_of(folder: Path) -> set[Path]:
    """Its files, without what Python and numba compiled."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path for path in files if "__pycache__" not in path.parts}
