"""What was seen in a file is kept, until the file is another."""

from __future__ import annotations

from pathlib import Path

import pytest

from replacing import WAYS
from structures_text import pair, pdb
from toporank.inputs import discovery
from toporank.inputs.discovery import sketches

TEXT = pdb(pair())


@pytest.fixture
def looked_at(monkeypatch) -> list[str]:
    """The files that were looked into."""
    names, look = [], discovery._look
    monkeypatch.setattr(discovery, "_look", lambda path: names.append(Path(path).name) or look(path))
    return names


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_file_is_looked_into_once_and_again_where_another_of_its_size_and_time_takes_its_place(
    tmp_path, looked_at, way
):
    path, store = tmp_path / "models/a.pdb", tmp_path / "store"
    path.parent.mkdir()
    path.write_text(TEXT)
    (before,) = sketches([str(path)], store).values()
    assert sketches([str(path)], store) == {str(path): before}
    assert looked_at == ["a.pdb"]
    way(path, TEXT.replace("ALA", "GLY").encode())
    (after,) = sketches([str(path)], store).values()
    assert looked_at == ["a.pdb", "a.pdb"]
    assert dict(after.chains) != dict(before.chains)
