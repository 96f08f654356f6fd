"""The reuse store: work is done once, is never wrong, and is never half there. And the file writing below it."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toporank.building.store import Store, cpu_seconds
from toporank.files import link_or_copy, replacing, sha256, write_text, write_text_if_changed

INGREDIENTS = {"structure": "ab12", "module": {"module": "interface/v1", "cutoff": 10.0}, "code": "c0de", "dockq": None}
HELLO_SHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"  # sha256sum of `hello`


class Maker:
    """Makes `text` and counts how often it was asked to."""

    def __init__(self, text: str = "hello", error: BaseException | None = None):
        self.text, self.error, self.calls = text, error, 0

    def __call__(self) -> tuple[bytes, dict]:
        self.calls += 1
        if self.error:
            raise self.error
        return self.text.encode(), {"n_chains": 2}


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "store")


def files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


# ---- reuse ------------------------------------------------------------------------------------------------


def test_the_same_ingredients_are_made_once(store):
    make = Maker()
    first, second = (store.obtain("interface", INGREDIENTS, ".txt", make) for _ in range(2))
    assert make.calls == 1
    assert first == second
    assert (store.computed, store.reused) == ({"interface": 1}, {"interface": 1})


def test_an_entry_states_the_content_of_its_artefact(store):
    entry = store.obtain("interface", INGREDIENTS, ".txt", Maker("hello"))
    assert entry.path.read_text() == "hello"
    assert (entry.sha256, entry.size, entry.facts) == (HELLO_SHA256, 5, {"n_chains": 2})


def test_another_process_finds_the_work_again(store):
    first = store.obtain("interface", INGREDIENTS, ".txt", Maker())
    later, make = Store(store.root), Maker()
    assert later.obtain("interface", INGREDIENTS, ".txt", make) == first
    assert make.calls == 0
    assert not later.computed


def test_the_order_in_which_ingredients_are_named_is_irrelevant(store):
    make = Maker()
    store.obtain("interface", INGREDIENTS, ".txt", make)
    store.obtain("interface", dict(reversed(INGREDIENTS.items())), ".txt", make)
    assert make.calls == 1


def test_a_parameter_changed_there_and_back_computes_nothing_new(store):
    make = Maker()
    for cutoff in (10.0, 12.0, 10.0):
        store.obtain("interface", {"module": {"cutoff": cutoff}}, ".txt", make)
    assert make.calls == 2


@pytest.mark.parametrize(
    "change",
    [
        {"structure": "ab13"},
        {"module": {"module": "interface/v1", "cutoff": 10.5}},
        {"module": {"module": "interface/v2", "cutoff": 10.0}},
        {"module": {"module": "interface/v1", "cutoff": "10.0"}},
        {"code": "c0df"},
        {"dockq": 0.0},
        {"upstream": ""},
    ],
    ids=["structure", "parameter", "module", "type", "code", "label", "one more"],
)
def test_every_ingredient_makes_another_artefact(store, change):
    first = store.obtain("interface", INGREDIENTS, ".txt", Maker("one"))
    other = store.obtain("interface", {**INGREDIENTS, **change}, ".txt", Maker("other"))
    assert other.path != first.path
    assert (first.path.read_text(), other.path.read_text()) == ("one", "other")


def test_kinds_with_equal_ingredients_stay_apart(store):
    one = store.obtain("edges", INGREDIENTS, ".txt", Maker("one"))
    other = store.obtain("graphs", INGREDIENTS, ".txt", Maker("other"))
    assert one.path.with_suffix("") != other.path.with_suffix("")
    assert store.computed == {"edges": 1, "graphs": 1}


VALUES = st.recursive(
    st.none() | st.integers(-3, 3) | st.text("ab\"',:{}", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=2),
    max_leaves=4,
)
DEPENDENCIES = st.dictionaries(st.text("ab", max_size=2), VALUES, max_size=3)


@settings(deadline=None, max_examples=60)
@given(DEPENDENCIES, DEPENDENCIES)
def test_entries_are_shared_exactly_when_all_ingredients_are_equal(one, other):
    with tempfile.TemporaryDirectory() as folder:
        paths = [Store(Path(folder)).obtain("kind", d, ".txt", Maker()).path for d in (one, other)]
    assert (paths[0] == paths[1]) == (one == other)


# ---- sealed -----------------------------------------------------------------------------------------------


def test_a_sealed_entry_is_one_file_that_is_read_only_if_it_is_whole(store):
    entry = store.obtain("edges", INGREDIENTS, ".edges", lambda: (b"hello", {}))
    assert [path for path in store.root.rglob("*") if path.is_file()] == [entry.path]
    assert (entry.content, entry.sha256, entry.size) == (b"hello", HELLO_SHA256, 5)
    assert store.obtain("edges", INGREDIENTS, ".edges", Maker("never called")) == entry
    whole = entry.path.read_bytes()
    for damaged in (whole[:-1], whole + b"x", whole[:10], b"", whole[:-1] + b"O"):
        entry.path.write_bytes(damaged)
        assert store.obtain("edges", INGREDIENTS, ".edges", lambda: (b"hello", {})) == entry
        assert entry.path.read_bytes() == whole


# ---- damage -----------------------------------------------------------------------------------------------


def truncate(entry):
    entry.path.write_text("hel")


def alter(entry):
    entry.path.write_text("jello")


def empty(entry):
    entry.path.write_text("")


def delete(entry):
    entry.path.unlink()


def forget(entry):
    entry.path.with_suffix(".json").unlink()


def record(content: bytes):
    def damage(entry):
        entry.path.with_suffix(".json").write_bytes(content)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        truncate,
        alter,
        empty,
        delete,
        forget,
        pytest.param(record(b""), id="empty record"),
        pytest.param(record(b'{"kind":"interface","sha2'), id="half a record"),
        pytest.param(record(b'{"size":5}'), id="record without digest"),
        pytest.param(
            record(b"\xff\xfe\x00"),
            id="record of bytes",
        ),
        pytest.param(
            record(b"null"),
            id="record that is no table",
        ),
    ],
)
def test_a_damaged_entry_is_made_again(store, damage):
    good = store.obtain("interface", INGREDIENTS, ".txt", Maker())
    damage(good)
    make = Maker()
    assert store.obtain("interface", INGREDIENTS, ".txt", make) == good
    assert make.calls == 1
    assert good.path.read_text() == "hello"
    assert store.obtain("interface", INGREDIENTS, ".txt", make) == good
    assert make.calls == 1


@pytest.mark.parametrize("error", [ValueError("science"), OSError(errno.ENOSPC, "disk full"), KeyboardInterrupt()])
def test_an_exception_in_make_leaves_nothing_behind(store, error):
    with pytest.raises(type(error)):
        store.obtain("interface", INGREDIENTS, ".txt", Maker(error=error))
    assert files_below(store.root) == []
    assert not store.computed
    assert not store.reused
    assert store.obtain("interface", INGREDIENTS, ".txt", Maker()).path.read_text() == "hello"


def test_an_entry_holds_the_bytes_that_were_compared_with_its_record(store):
    """Whoever damages the file after that does no harm to who reads the entry."""
    store.obtain("interface", INGREDIENTS, ".txt", Maker())
    entry = store.obtain("interface", INGREDIENTS, ".txt", Maker())
    alter(entry)
    assert entry.content == b"hello"


def test_making_one_entry_may_obtain_others(store):
    def make() -> tuple[bytes, dict]:
        return store.obtain("complex", INGREDIENTS, ".txt", Maker("before ")).content + b"and after", {}

    assert store.obtain("interface", INGREDIENTS, ".txt", make).content == b"before and after"
    assert store.computed == {"complex": 1, "interface": 1}


def test_a_killed_run_that_wrote_the_artefact_but_not_its_record_counts_as_nothing(store, monkeypatch):
    monkeypatch.setattr("toporank.building.store.write_text", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        store.obtain("interface", INGREDIENTS, ".txt", Maker("unrecorded"))
    monkeypatch.undo()
    assert store.obtain("interface", INGREDIENTS, ".txt", Maker("hello")).path.read_text() == "hello"


# ---- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "digest"),
    [
        (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),  # FIPS 180-2, B.1
        (b"x" * 3_000_000, hashlib.sha256(b"x" * 3_000_000).hexdigest()),
    ],
    ids=["empty", "abc", "three megabytes"],
)
def test_sha256_is_that_of_the_bytes(tmp_path, content, digest):
    (tmp_path / "file").write_bytes(content)
    assert sha256(tmp_path / "file") == digest


def test_writing_makes_the_folders_above(tmp_path):
    write_text(tmp_path / "a" / "b" / "file", "Å")
    assert (tmp_path / "a" / "b" / "file").read_bytes() == "Å".encode()


def test_a_reader_keeps_the_old_content_and_the_next_one_sees_the_new(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")
    with open(path) as reader:
        write_text(path, "new")
        assert (reader.read(), path.read_text()) == ("old", "new")


def test_a_failed_write_keeps_the_old_content_and_leaves_no_other_file(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")

    def write_half() -> None:
        with replacing(path) as temporary:
            temporary.write_text("ne")
            raise OSError(errno.ENOSPC, "disk full")

    with pytest.raises(OSError, match="disk full"):
        write_half()
    assert path.read_text() == "old"
    assert files_below(tmp_path) == [path]


def test_equal_text_leaves_the_modification_time_alone(tmp_path):
    path = tmp_path / "file"
    assert write_text_if_changed(path, "a") is True
    os.utime(path, ns=(1, 1))
    assert write_text_if_changed(path, "a") is False
    assert path.stat().st_mtime_ns == 1
    assert write_text_if_changed(path, "b") is True
    assert path.stat().st_mtime_ns > 1
    assert path.read_text() == "b"


def test_link_or_copy_links(tmp_path):
    source, destination = tmp_path / "source", tmp_path / "deep" / "destination"
    source.write_text("a")
    link_or_copy(source, destination)
    assert destination.samefile(source)


def test_link_or_copy_copies_where_links_are_impossible(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EXDEV, "another file system")

    monkeypatch.setattr(os, "link", refuse)
    source, destination = tmp_path / "source", tmp_path / "destination"
    source.write_text("a")
    link_or_copy(source, destination)
    assert not destination.samefile(source)
    assert destination.read_text() == "a"


def test_link_or_copy_replaces_a_file_without_writing_into_it(tmp_path):
    new, old, destination = tmp_path / "new", tmp_path / "old", tmp_path / "destination"
    new.write_text("new")
    old.write_text("old")
    os.link(old, destination)
    link_or_copy(new, destination)
    assert (destination.read_text(), old.read_text()) == ("new", "old")


def test_link_or_copy_does_not_write_through_the_link_a_killed_process_left(tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    new.write_text("new")
    old.write_text("old")
    os.link(old, tmp_path / f".destination.{os.getpid()}.tmp")  # process numbers come again, in containers above all
    link_or_copy(new, tmp_path / "destination")
    assert (tmp_path / "destination").read_text() == "new"
    assert old.read_text() == "old"


def test_the_seconds_of_features_leave_the_first_artefact_of_a_kind_out(store):
    """It also loads libraries, which is no cost of the features."""

    def busy() -> tuple[bytes, dict]:
        until = cpu_seconds() + 0.05
        while cpu_seconds() < until:
            pass
        return b"", {}

    store.obtain("nodes", {"n": 1}, ".txt", busy)
    assert store.make_seconds == 0
    store.obtain("nodes", {"n": 2}, ".txt", busy)
    counted = store.make_seconds
    assert counted >= 0.049
    store.obtain("nodes", {"n": 2}, ".txt", busy)
    assert store.make_seconds == counted
