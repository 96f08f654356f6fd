"""What was seen in a file is kept, until the file is another."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from replacing import WAYS, written_over
from structures_text import pair, pdb, put, shifted, with_b
from toporank import workers as worker_processes
from toporank.building.chunks.chunk import keep_file
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.building.planning import plan_of
from toporank.finding import look
from toporank.finding.discovery import decoys_of
from toporank.finding.look import sketches
from toporank.structures import read
from toporank.structures import text as text_of_files
from toporank.workers import forked

TEXT = pdb(pair())


@pytest.fixture
def looked_at(monkeypatch) -> list[str]:
    """The files that were looked into."""
    names, look_into = [], look.look
    monkeypatch.setattr(
        look,
        "look",
        lambda path, keep: names.append(Path(path).name) or look_into(path, keep),
    )
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
    assert after.first.chains != before.first.chains


def test_the_chains_of_models_of_one_complex_are_kept_once(tmp_path, looked_at):
    paths = [str(tmp_path / "a.pdb"), str(tmp_path / "b.pdb")]
    Path(paths[0]).write_text(TEXT)
    Path(paths[1]).write_text(TEXT + "REMARK\n")
    store = tmp_path / "store"
    before = sketches(paths, store)
    chains = json.dumps(before[paths[0]].first.chains)
    assert (store / look.CACHE).read_text().count(chains) == 1
    assert sketches(paths, store) == before
    assert before[paths[0]].content != before[paths[1]].content
    assert looked_at == ["a.pdb", "b.pdb"]


@pytest.mark.parametrize("workers", [1, 2])
def test_many_files_are_looked_into_by_as_many_processes_as_are_allowed(
    tmp_path, monkeypatch, workers
):
    models = tmp_path / "models"
    models.mkdir()
    for name in "ab":
        (models / f"{name}.pdb").write_text(TEXT)
    (models / "a_recycle_1.pdb").write_text(TEXT)
    monkeypatch.setattr(look, "FILES_PER_WORKER", 1)
    pools = []
    start = lambda n, *rest: pools.append(n) or forked(n, *rest)  # noqa: E731
    monkeypatch.setattr(worker_processes, "forked", start)
    found = decoys_of("ds", models, "folder", tmp_path / "store", workers=workers)
    assert len(found.chains) == 3
    assert pools == ([] if workers == 1 else [2])


def test_a_folder_is_listed_once_and_each_file_is_read_once(tmp_path, monkeypatch):
    put(tmp_path / "models", dict.fromkeys(("T/a.pdb", "T/b.pdb", "U/c.pdb"), TEXT))
    read, listed = [], []
    read_bytes, scandir = Path.read_bytes, os.scandir
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: read.append(path.name) or read_bytes(path)
    )
    monkeypatch.setattr(
        os,
        "scandir",
        lambda path: listed.append(Path(path)) or scandir(path),
    )
    grouped = decoys_of("ds", tmp_path / "models", "sequence", tmp_path / "store")
    assert len(grouped.decoys) == 3
    assert sorted(name for name in read if name.endswith(".pdb")) == [
        "a.pdb",
        "b.pdb",
        "c.pdb",
    ]
    of_models = [path.name for path in listed if tmp_path in path.parents]
    assert sorted(of_models) == ["T", "U", "models"]


def test_a_file_of_many_models_is_read_and_hashed_once(tmp_path, monkeypatch):
    """So its costs rise with the number of models, not with its square."""
    n = 30
    text = ""
    for number in range(1, n + 1):
        atoms = with_b(shifted(pair(), number), range(number, number + 4))
        text += f"MODEL     {number:4d}\n{pdb(atoms)}ENDMDL\n"
    put(tmp_path / "models", {"all.pdb": text})
    calls: Counter[str] = Counter()

    def count(module: object, name: str) -> None:
        function = getattr(module, name)

        def counted(*args):
            calls[name] += name != "sha256" or len(args[0]) >= len(text)
            return function(*args)

        monkeypatch.setattr(module, name, counted)

    for module, name in ((text_of_files, "read_content"), (read, "read_text"), (read, "of_pdb"),
                         (read, "parse_model"), (hashlib, "sha256")):  # fmt: skip
        count(module, name)
    store = tmp_path / "store"
    keep = functools.partial(keep_file, store=Store(store, graphs_only=True))
    grouped = decoys_of("ds", tmp_path / "models", "sequence", store, keep=keep)
    assert len(grouped.decoys) == n
    assert calls.pop("parse_model") <= 2 * n
    assert calls == dict.fromkeys(("read_content", "read_text", "of_pdb", "sha256"), 1)


def planned_of(folder: Path) -> list[PlannedDecoy]:
    return plan_of(decoys_of("ds", folder, "sequence", folder.with_name("store")), {})


def same(path: Path) -> None:
    """Nothing."""


@pytest.mark.parametrize(
    "change",
    [
        os.utime,
        lambda path: path.chmod(0o600),
        lambda path: written_over(path, path.read_bytes()),
        same,
    ],
    ids=["touched", "permissions", "copied", "same"],
)
def test_a_file_with_the_content_that_it_had_is_no_other_decoy(tmp_path, change):
    path = tmp_path / "models/a.pdb"
    path.parent.mkdir()
    path.write_text(TEXT)
    before = planned_of(path.parent)
    change(path)
    assert planned_of(path.parent) == before
    written_over(path, TEXT.replace("ALA", "GLY").encode())
    assert planned_of(path.parent) != before


def test_a_file_that_cannot_be_looked_into_is_another_decoy_once_it_changes(tmp_path):
    path = tmp_path / "models/a.pdb"
    path.parent.mkdir()
    path.write_text("one")
    before = planned_of(path.parent)
    written_over(path, b"two")
    assert planned_of(path.parent) != before
