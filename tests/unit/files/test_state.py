"""The state of a file: another one whenever its content may be another."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from replacing import WAYS
from toporank.files.state import MISSING, state_if_there, state_of


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_other_content_is_another_state_whatever_size_and_time_say(tmp_path, way):
    path = tmp_path / "folder/a.pdb"
    path.parent.mkdir()
    path.write_text("one")
    before, times = state_of(path), path.stat()
    way(path, b"two")
    assert (path.read_text(), path.stat().st_mtime_ns) == ("two", times.st_mtime_ns)
    assert state_of(path) != before


def test_two_links_that_change_places_change_their_state(tmp_path):
    """Also where both files were written in the same moment, as far as their times say."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    link = tmp_path / "link"
    link.symlink_to("a")
    before = state_of(link)
    assert before == state_of(tmp_path / "a")
    link.unlink()
    link.symlink_to("b")
    assert state_of(link) != before


def test_a_file_that_nobody_changed_keeps_its_state(tmp_path):
    path = tmp_path / "folder/a.pdb"
    path.parent.mkdir()
    path.write_text("one")
    before = state_of(path)
    path.read_text()
    (path.parent / "b.pdb").write_text("two")
    path.parent.rename(tmp_path / "moved")
    assert state_of(tmp_path / "moved/a.pdb") == before


def test_what_cannot_be_looked_at_has_a_state_too(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    assert state_if_there(tmp_path / "link") == MISSING
    Path(tmp_path / "nowhere").write_text("")
    assert (
        state_if_there(tmp_path / "link") == state_of(tmp_path / "nowhere") != MISSING
    )
    with pytest.raises(OSError, match="No such file"):
        state_of(os.fspath(tmp_path / "gone"))
