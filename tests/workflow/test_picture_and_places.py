"""The picture of the rules, and a clone that is not written to, beside a path with a blank."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import FEW_SETTINGS, clone_to, make_few


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
