"""What is published under results/: the artefacts of the last build, nothing but that, and nothing
of anyone else.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from toporank import layout
from toporank.building.chunks import published
from toporank.building.chunks.ledger import Ledger, LedgerRow, write_ledger
from toporank.building.chunks.plan import (
    Current,
    PlannedDecoy,
    deal,
    planned,
    read_chunk,
    write_current,
    write_plans,
)
from toporank.building.chunks.published import (
    damaged,
    place,
    publish,
    publish_artefact,
    read_published,
)
from toporank.building.chunks.store import Store
from toporank.errors import RecordError
from toporank.features.registry import DEFAULT_MODULES, resolve
from toporank.structures.identity import Decoy, Status

KEYS = [("T", "d1"), ("T", "d2"), ("U", "d1")]
NODES = Path("results/ds/nodes/T/d1.csv")
CHOICES = resolve({stage: {} for stage in DEFAULT_MODULES})


@pytest.fixture(autouse=True)
def made(tmp_path, monkeypatch) -> list[str]:
    """In a folder of its own, with a store that has everything; the artefacts that were asked
    for.
    """
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    asked = []

    def artefact(stage, digest, member, row, choices, store) -> bytes:
        asked.append(f"{stage}/{row.target}/{row.decoy}")
        return text_of(stage, row.key, row.reason)

    monkeypatch.setattr(published, "artefact", artefact)
    return asked


def text_of(stage: str, key: tuple[str, str], text: str) -> bytes:
    return f"{stage} {key} {text}".encode()


def built(
    *keys: tuple[str, str],
    text: str = "",
    failed: str = "",
    part: Callable | None = None,
) -> list[str]:
    """The records of a build; the names of its chunks. failed : the stage in which all fail. part :
    which are built.
    """
    rows = planned([Decoy("ds", *key, f"in/{key[1]}.pdb") for key in keys], {})
    chunks = {name: members for row in rows for name, members in deal([row], 1).items()}
    write_plans("ds", chunks)
    mine = {
        name: rows for name, rows in chunks.items() if part is None or part(rows[0].key)
    }
    for name, (member,) in mine.items():
        stages = (
            layout.STAGES[: layout.STAGES.index(failed)] if failed else layout.STAGES
        )
        digests = {
            stage: hashlib.sha256(text_of(stage, member.key, text)).hexdigest()
            for stage in stages
        }
        status = (Status.FAILED, failed) if failed else (Status.OK, "graphs")
        row = LedgerRow(*member.key, *status, text)._replace(**digests)
        write_ledger(
            Path(layout.LEDGER.format(dataset="ds", chunk=name)), Ledger({}, [row])
        )
    write_current("ds", Current(("in", "/in"), [*mine], [*chunks]))
    return [*mine]


def as_file(stage: str, artefact: bytes) -> bytes:
    return b"file of " + artefact


def shown() -> tuple[int, int]:
    return publish("ds", CHOICES, Store(Path("store")), as_file)


def files() -> set[str]:
    return {
        str(path)
        for path in Path("results/ds").rglob("*")
        if path.suffix in (".csv", ".pt")
    }


def test_artefacts_stand_where_the_readme_says():
    assert (
        str(place("mini", "topology", "1AVZ", "near1"))
        == "results/mini/topology/1AVZ/near1.csv"
    )
    assert (
        str(place("mini", "graphs", "1AVZ", "near1"))
        == "results/mini/graphs/1AVZ/near1.pt"
    )
    assert layout.SUFFIX.keys() == set(layout.STAGES)


def test_every_artefact_is_published_once_and_the_table_says_so(made):
    built(*KEYS)
    assert shown() == (12, 0)
    assert NODES.read_bytes() == b"file of " + text_of("nodes", KEYS[0], "")
    known = read_published("ds")["nodes", "T", "d1"]
    assert known.artefact == hashlib.sha256(text_of("nodes", KEYS[0], "")).hexdigest()
    assert known.file == hashlib.sha256(NODES.read_bytes()).hexdigest()
    assert known.state == (NODES.stat().st_size, NODES.stat().st_mtime_ns)
    table = Path("results/ds/published.tsv").read_bytes()
    assert shown() == (0, 0)
    assert Path("results/ds/published.tsv").read_bytes() == table
    assert len(made) == 12
    assert damaged("ds") == set()


def test_only_what_changed_is_published_again():
    built(*KEYS)
    shown()
    built(*KEYS, text="other")
    assert shown() == (12, 0)
    assert NODES.read_bytes() == b"file of " + text_of("nodes", KEYS[0], "other")


def test_of_a_decoy_that_fails_what_it_had_before_that_is_published():
    built(KEYS[0])
    shown()
    built(KEYS[0], failed="nodes")
    assert shown() == (0, 2)
    assert files() == {"results/ds/interface/T/d1.csv", "results/ds/topology/T/d1.csv"}


def test_artefacts_of_removed_decoys_go_and_nothing_else():
    built(*KEYS)
    shown()
    others = [
        Path("results/ds", name)
        for name in ("coverage.tsv", "nodes/T/notes.txt", "nodes/readme", "U.csv")
    ]
    for other in others:
        other.write_text("mine")
    built(KEYS[0])
    assert shown() == (0, 8)
    assert not Path("results/ds/nodes/U").exists()
    assert all(other.exists() for other in others)
    assert len(files()) == 5  # with U.csv


def test_a_partial_build_leaves_what_it_does_not_build(made):
    built(*KEYS)
    shown()
    NODES.write_text("damaged")
    built(*KEYS, text="other", part=lambda key: key[0] == "U")
    assert shown() == (4, 0)
    assert damaged("ds") == {("nodes", "T", "d1")}
    built(*KEYS)
    assert shown() == (5, 0)
    assert damaged("ds") == set()


@pytest.mark.parametrize("record", [True, False])
def test_a_single_artefact_is_published_by_itself_where_it_is_recorded_so_is_its_damage(
    monkeypatch, record
):
    row = LedgerRow("T", "d1", Status.OK, "nodes")
    monkeypatch.setattr(published, "run_stage", lambda *arguments: (row, b"content"))
    decoy = PlannedDecoy("T", "d1", "in/d1.pdb", 1, 2, "")
    store = Store(Path("store"))
    made = publish_artefact(
        "ds", decoy, "nodes", CHOICES, store, as_file, record=record
    )
    assert made.status == Status.OK
    assert files() == {str(NODES)}
    assert NODES.read_bytes() == b"file of content"
    NODES.write_text("damaged")
    assert damaged("ds") == ({("nodes", "T", "d1")} if record else set())


def test_a_decoy_that_fails_has_an_empty_file_which_stays_and_is_no_artefact(
    monkeypatch,
):
    chunk = built(KEYS[0], failed="nodes")
    row = LedgerRow("T", "d1", Status.FAILED, "nodes", "why")
    monkeypatch.setattr(published, "run_stage", lambda *arguments: (row, b""))
    (decoy,) = read_chunk("ds", *chunk)
    store = Store(Path("store"))
    publish_artefact("ds", decoy, "nodes", CHOICES, store, as_file, record=False)
    assert shown() == (2, 0)
    assert NODES.read_bytes() == b""
    assert ("nodes", "T", "d1") not in read_published("ds")
    built()  # the decoy is gone
    assert shown() == (0, 3)
    assert not NODES.exists()


@pytest.mark.parametrize(
    "change",
    [
        Path.unlink,
        lambda path: path.write_text("CONTENT"),
        lambda path: path.write_bytes(path.read_bytes().upper()),
        lambda path: os.truncate(path, 2),
        lambda path: (path.unlink(), path.symlink_to("nowhere")),
        lambda path: shutil.rmtree("results/ds/nodes"),
    ],
    ids=["deleted", "edited", "same size", "cut", "dangling link", "folder deleted"],
)
def test_whatever_is_done_to_an_artefact_is_noticed_and_undone(change):
    built(KEYS[0])
    shown()
    change(NODES)
    for _ in range(2):  # looking does not make the next look forget
        assert damaged("ds") == {("nodes", "T", "d1")}
    assert shown() == (1, 0)
    assert damaged("ds") == set()
    assert NODES.read_bytes() == b"file of " + text_of("nodes", KEYS[0], "")


def test_an_artefact_of_the_same_content_asks_for_nothing():
    """Touched, or copied without its time."""
    built(KEYS[0])
    shown()
    os.utime(NODES, (1, 1))
    assert damaged("ds") == set()
    assert shown() == (0, 0)


@pytest.mark.parametrize("content", [b"", b"garbage", b"a\nb\tc\n", b"\xff\xfe"])
def test_without_a_table_nothing_is_known_to_be_published_but_no_good_file_is_written_again(
    content,
):
    built(KEYS[0])
    shown()
    written = NODES.stat().st_mtime_ns
    Path("results/ds/published.tsv").write_bytes(content)
    assert read_published("ds") == {}
    assert shown() == (0, 0)
    assert len(read_published("ds")) == 4
    assert NODES.stat().st_mtime_ns == written


def test_results_may_be_a_link_to_another_disk():
    Path("../elsewhere").mkdir()
    Path("results").symlink_to("../elsewhere")
    built(*KEYS)
    shown()
    assert damaged("ds") == set()
    built(KEYS[0])
    assert shown() == (0, 8)
    assert not Path("../elsewhere/ds/nodes/U").exists()


@pytest.mark.parametrize("link", ["results/ds/nodes", "results/ds/nodes/V"])
def test_nothing_is_deleted_through_a_link_in_results(link):
    """A link that leads to a folder with files of artefacts' names: they belong to somebody
    else.
    """
    mine = Path("../mine") / Path("results/ds/nodes/V/d9.csv").relative_to(link)
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    Path(link).parent.mkdir(parents=True)
    Path(link).symlink_to(Path("../mine").resolve())
    built(KEYS[0])
    assert shown() == (4, 0)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    "in_the_way",
    ["results/ds/nodes/T", "results/ds/nodes", "results/ds/nodes/T/d1.csv"],
)
@pytest.mark.parametrize(
    "what",
    [Path.touch, lambda path: path.symlink_to("nowhere")],
    ids=["file", "dangling link"],
)
def test_what_is_in_the_way_of_a_result_is_named_with_a_remedy(in_the_way, what):
    path = Path(in_the_way)
    path.parent.mkdir(parents=True)
    what(path) if path.suffix == "" else path.mkdir()
    built(KEYS[0])
    with pytest.raises(
        RecordError,
        match=r"^results/ds/nodes/T/d1\.csv: something else .* \(remove it\)$",
    ):
        shown()


def test_a_full_disk_leaves_no_temporary_file_and_the_table_of_before(monkeypatch):
    built(*KEYS)
    shown()
    built(*KEYS, text="other")
    table = Path("results/ds/published.tsv").read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        shown()
    assert Path("results/ds/published.tsv").read_bytes() == table
    assert not list(Path("results").rglob(".*.tmp"))
