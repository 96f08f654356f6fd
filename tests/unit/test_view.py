"""What stands under results/: links to the store, nothing but that, and nothing is ever deleted through a link."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from toporank import layout
from toporank.building import view
from toporank.building.ledger import LedgerRow
from toporank.building.store import Entry, Store
from toporank.decoys.identity import Status
from toporank.errors import RecordError

KEY = ("T", "d1")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def stored(text: str = "content") -> Entry:
    return Store(Path("store")).obtain("nodes", {"text": text}, ".parquet", lambda: (text.encode(), {}))


def shown(text: str = "content", key: tuple[str, str] = KEY, stage: str = "nodes") -> LedgerRow:
    """Publish an artefact, as a job does."""
    entry = stored(text)
    mtime = view.show(view.place("ds", stage, key), entry)
    return LedgerRow(*key, Status.OK, stage, sha256=entry.sha256, size=entry.size, mtime_ns=mtime)


def differing(*rows: LedgerRow) -> list[tuple[str, str]]:
    return list(view.differing("ds", "nodes", rows, view.look("ds", "nodes")))


def test_artefacts_stand_where_the_readme_says():
    assert str(view.place("mini", "topology", ("1AVZ", "near1"))) == "results/mini/topology/1AVZ/near1.parquet"
    assert str(view.place("mini", "graphs", ("1AVZ", "near1"))) == "results/mini/graphs/1AVZ/near1.pt"
    assert layout.SUFFIX.keys() == set(layout.STAGES)


def test_what_stands_there_is_the_file_of_the_store():
    shown()
    assert view.place("ds", "nodes", KEY).samefile(stored().path)


def test_where_links_are_impossible_it_is_a_copy_and_is_left_alone_while_it_is_right(monkeypatch):
    def impossible(*_):
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", impossible)
    first = shown()
    monkeypatch.setattr(shutil, "copyfile", None)  # not called again
    assert shown() == first
    assert differing(first) == []


def test_another_artefact_takes_the_place_and_the_first_is_not_written_into():
    shown("one")
    shown("another")
    assert view.place("ds", "nodes", KEY).read_text() == "another"
    assert stored("one").path.read_text() == "one"


def test_what_stands_as_its_ledger_says_does_not_differ():
    row = shown()
    assert view.look("ds", "nodes") == {KEY: (row.size, row.mtime_ns)}
    assert differing(row, LedgerRow("T", "d2", Status.FAILED, "nodes")) == []


@pytest.mark.parametrize(
    "change",
    [
        Path.unlink,
        lambda path: path.write_text("CONTENT"),
        lambda path: os.truncate(path, 2),
        lambda path: (path.unlink(), path.symlink_to("nowhere")),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: shutil.rmtree("results"),
        lambda path: shown("COnTENT"),  # by a build of a part with other parameters
    ],
    ids=["deleted", "edited", "cut", "dangling link", "folder", "results deleted", "replaced"],
)
def test_whatever_is_done_to_an_artefact_is_noticed(change):
    row, other = shown(), shown(key=("T", "d2"), text="other")
    change(view.place("ds", "nodes", KEY))
    assert KEY in differing(row, other)
    if Path("results").exists():
        assert differing(other) == []


def test_an_older_artefact_of_the_same_size_is_noticed_too():
    """By a build of a part, from the store, where it had been made before."""
    stored("CONTENT")
    row = shown("content")
    os.utime(stored("CONTENT").path, (1, 1))
    shown("CONTENT")
    assert differing(row) == [KEY]


def test_results_may_be_a_link_to_another_disk():
    Path("../elsewhere").mkdir()
    Path("results").symlink_to("../elsewhere")
    row = shown()
    assert differing(row) == []
    assert view.remove_orphans("ds", []) == [view.place("ds", "nodes", KEY)]
    assert not Path("../elsewhere/ds/nodes/T").exists()


def test_artefacts_of_removed_decoys_go_and_nothing_else():
    for stage in layout.STAGES:
        for key in (KEY, ("T", "d2"), ("U", "d1")):
            shown(stage=stage, key=key)
    others = [Path("results/ds", name) for name in ("coverage.tsv", "nodes/T/notes.txt", "nodes/readme", "U.parquet")]
    for other in others:
        other.write_text("mine")
    removed = view.remove_orphans("ds", [KEY])
    assert removed == sorted(view.place("ds", stage, k) for stage in layout.STAGES for k in [("T", "d2"), ("U", "d1")])
    assert all(view.place("ds", stage, KEY).exists() for stage in layout.STAGES)
    assert not Path("results/ds/nodes/U").exists()
    assert all(other.exists() for other in others)
    assert view.remove_orphans("ds", [KEY]) == []


@pytest.mark.parametrize("link", ["results/ds", "results/ds/nodes", "results/ds/nodes/T"])
def test_nothing_is_deleted_through_a_link_in_results(link):
    """A link that leads to a folder with files of artefacts' names: they belong to somebody else."""
    below = Path("results/ds/nodes/T/d1.parquet").relative_to(link)
    mine = Path("../mine") / below
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    Path(link).parent.mkdir(parents=True)
    Path(link).symlink_to(Path("../mine").resolve())
    assert view.remove_orphans("ds", []) == []
    view.withdraw(view.place("ds", "nodes", KEY))
    assert mine.read_text() == "mine"


def test_an_artefact_of_better_days_is_withdrawn():
    shown()
    view.withdraw(view.place("ds", "nodes", KEY))
    view.withdraw(view.place("ds", "nodes", KEY))
    assert view.look("ds", "nodes") == {}
    assert stored().path.exists()


@pytest.mark.parametrize("in_the_way", ["results/ds/nodes/T", "results/ds/nodes", "results/ds/nodes/T/d1.parquet"])
@pytest.mark.parametrize("what", [Path.touch, lambda path: path.symlink_to("nowhere")], ids=["file", "dangling link"])
def test_what_is_in_the_way_of_a_result_is_named_with_a_remedy(in_the_way, what):
    path = Path(in_the_way)
    path.parent.mkdir(parents=True)
    what(path) if path.suffix == "" else path.mkdir()
    with pytest.raises(RecordError, match=r"^results/ds/nodes/T/d1\.parquet: something else .* \(remove it\)$"):
        shown()
