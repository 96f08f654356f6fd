"""The reuse store: work is done once, is never wrong, and is never half there."""

from __future__ import annotations

import errno
import hashlib
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toporank.building.chunks.store import Entry, Scope, Store

INGREDIENTS = {
    "structure": "ab12",
    "module": {"module": "interface/v1", "cutoff": 10.0},
    "code": "c0de",
    "dockq": None,
}
SCOPE = "ab" * 32
HELLO_SHA256 = (
    # sha256sum of `hello`
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
)


def of(kind: str) -> dict:
    """The key of a result of a kind."""
    return {"kind": kind, **INGREDIENTS}


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


# ---- reuse ---------------------------------------------------------------------------------------


def test_the_same_ingredients_are_made_once(store):
    make = Maker()
    first, second = (store.cached(SCOPE, of("interface"), make) for _ in range(2))
    assert make.calls == 1
    assert first == second == Entry(HELLO_SHA256, {"n_chains": 2}, b"hello")
    assert (store.computed, store.reused) == ({"interface": 1}, {"interface": 1})


def test_another_process_finds_the_work_again(store):
    first = store.cached(SCOPE, of("interface"), Maker())
    later, make = Store(store.root), Maker()
    assert later.cached(SCOPE, of("interface"), make) == first
    assert make.calls == 0
    assert not later.computed


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
def test_every_ingredient_makes_another_artefact_and_changed_back_it_is_found_again(
    store, change
):
    box = store.scope(SCOPE)
    for ingredients, text in [
        (INGREDIENTS, "one"),
        ({**INGREDIENTS, **change}, "other"),
        (INGREDIENTS, "one"),
    ]:
        assert (
            box.cached({"kind": "interface", **ingredients}, Maker(text)).content
            == text.encode()
        )
        box.save()
    assert store.computed == {"interface": 2}


VALUES = st.recursive(
    st.none() | st.integers(-3, 3) | st.text("ab\"',:{}", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text("ab", max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)
DEPENDENCIES = st.dictionaries(st.text("ab", max_size=2), VALUES, max_size=3)


@settings(max_examples=60)
@given(DEPENDENCIES, DEPENDENCIES)
def test_artefacts_are_shared_exactly_when_all_ingredients_are_equal(one, other):
    with tempfile.TemporaryDirectory() as folder:
        box, make = Store(Path(folder)).scope("ab"), Maker()
        for ingredients in (one, other):
            box.cached({"kind": "kind", **ingredients}, make)
    assert (make.calls == 1) == (one == other)


# ---- scopes --------------------------------------------------------------------------------------


def filled(store: Store, **texts: str) -> Scope:
    """A saved box with an artefact of each kind."""
    box = store.scope(SCOPE)
    for kind, text in texts.items():
        box.cached(of(kind), Maker(text))
    box.save()
    return box


def test_a_box_is_one_file_that_any_zip_program_opens(store):
    filled(store, nodes="one", edges="other")
    (file,) = files_below(store.root)
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        assert [name.partition("/")[0] for name in archive.namelist()] == [
            "nodes",
            "edges",
        ]


@pytest.mark.parametrize(
    ("kind", "packed"), [("edges", True), ("graphs", True), ("topology", False)]
)
def test_kinds_whose_numbers_repeat_take_less_room_and_are_read_as_they_were(
    store, kind, packed
):
    text = "0.0 1.0 " * 1000
    path = filled(store, **{kind: text}).path
    assert (path.stat().st_size < len(text) / 4) == packed
    later = Store(store.root).scope(SCOPE)
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert later.find(kind, digest) == text.encode()


def test_what_is_added_later_leaves_the_rest_as_it_is_and_equal_content_is_an_equal_file(
    store,
):
    filled(store, nodes="one")
    filled(store, edges="other")
    (file,) = files_below(store.root)
    content = file.read_bytes()
    file.unlink()
    filled(Store(store.root), nodes="one", edges="other")
    assert file.read_bytes() == content


def test_an_artefact_is_found_by_its_checksum(store):
    box = filled(store, nodes="hello", edges="other")
    assert Store(store.root).scope(SCOPE).find("nodes", HELLO_SHA256) == b"hello"
    assert box.find("edges", HELLO_SHA256) is None
    assert store.scope("cd" * 32).find("nodes", HELLO_SHA256) is None


def test_what_is_found_by_its_checksum_is_all_that_is_read(store, monkeypatch):
    """Of a capsid there are hundreds of graphs in a box."""
    filled(store, **{f"kind{k}": "hello" for k in range(20)})
    read, original = [], zipfile.ZipFile.read
    monkeypatch.setattr(
        zipfile.ZipFile,
        "read",
        lambda self, name: read.append(name) or original(self, name),
    )
    later = Store(store.root)
    assert [later.find(SCOPE, f"kind{k}", HELLO_SHA256) for k in range(20)] == [
        b"hello"
    ] * 20
    assert len(read) == 20
    assert later.find("cd" * 32, "kind0", HELLO_SHA256) is None


# ---- damage --------------------------------------------------------------------------------------


def test_whatever_byte_is_damaged_what_is_read_is_right_or_made_again(store):
    """Every third byte of a small box, and places where it may be cut."""
    path = filled(store, nodes="hello", edges="other").path
    whole = path.read_bytes()
    flipped = [
        whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :]
        for i in range(0, len(whole), 3)
    ]
    for damaged in [
        *flipped,
        *(whole[:i] for i in range(0, len(whole), 29)),
        whole + b"x",
        b"garbage",
    ]:
        path.write_bytes(damaged)
        box = Store(store.root).scope(SCOPE)
        assert box.cached(of("nodes"), Maker("hello")) == Entry(
            HELLO_SHA256, {"n_chains": 2}, b"hello"
        )
        assert box.cached(of("edges"), Maker("other")).content == b"other"
        box.save()
        assert zipfile.ZipFile(path).testzip() is None


def test_a_damaged_artefact_is_made_again_and_its_neighbour_is_not(store):
    box = filled(store, nodes="hello", edges="other")
    box.path.write_bytes(box.path.read_bytes().replace(b"hello", b"jello"))
    make, other = Maker(), Maker("never called")
    store = Store(store.root)
    box = store.scope(SCOPE)
    assert box.cached(of("edges"), other).content == b"other"
    assert box.cached(of("nodes"), make).content == b"hello"
    box.save()
    assert store.cached(SCOPE, of("nodes"), make).content == b"hello"
    assert (make.calls, other.calls) == (1, 0)


@pytest.mark.parametrize(
    "error",
    [ValueError("science"), OSError(errno.ENOSPC, "disk full"), KeyboardInterrupt()],
)
def test_an_exception_in_make_leaves_nothing_behind(store, error):
    with pytest.raises(type(error)):
        store.cached(SCOPE, of("interface"), Maker(error=error))
    assert files_below(store.root) == []
    assert not store.computed
    assert not store.reused
    assert store.cached(SCOPE, of("interface"), Maker()).content == b"hello"


def test_what_is_removed_or_replaced_while_a_box_is_open_does_no_harm(store):
    path = filled(store, nodes="hello").path
    box = store.scope(SCOPE)
    path.unlink()
    assert box.cached(of("nodes"), Maker("never called")).content == b"hello"
    box.save()


def test_making_one_artefact_may_obtain_others(store):
    box = store.scope(SCOPE)

    def make() -> tuple[bytes, dict]:
        return box.cached(of("complex"), Maker("before ")).content + b"and after", {}

    assert box.cached(of("interface"), make).content == b"before and after"
    assert store.computed == {"complex": 1, "interface": 1}


# ---- open scopes ---------------------------------------------------------------------------------


def test_what_is_made_of_a_decoy_is_written_once_and_never_read_again(
    store, monkeypatch
):
    box = store.scope(SCOPE)
    box.cached(of("complex"), Maker("atoms"))
    store.save_later(box)
    assert files_below(store.root) == []
    store.cached(SCOPE, of("graphs"), Maker("graph"))
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    assert store.lookup(SCOPE, of("complex")).content == b"atoms"
    monkeypatch.undo()
    later = Store(store.root)
    assert later.lookup(SCOPE, of("complex")).content == b"atoms"
    assert later.lookup(SCOPE, of("graphs")).content == b"graph"


def test_a_copy_of_the_process_saves_at_once(store, monkeypatch):
    box = store.scope(SCOPE)
    box.cached(of("complex"), Maker())
    monkeypatch.setattr("os.getpid", lambda: 0)
    store.save_later(box)
    assert len(files_below(store.root)) == 1


def test_what_another_process_adds_to_an_open_scope_is_found_and_stays(store):
    here, there = store.scope(SCOPE), Store(store.root)
    here.cached(of("complex"), Maker("atoms"))
    there.cached(SCOPE, of("graphs"), Maker("graph"))
    assert here.lookup(of("graphs")).content == b"graph"
    there.cached(SCOPE, of("contacts"), Maker("contacts"))
    here.save()
    later = Store(store.root)
    for kind, text in (("complex", b"atoms"), ("contacts", b"contacts")):
        assert later.lookup(SCOPE, of(kind)).content == text


def test_scopes_beyond_the_memory_are_saved_and_closed(store, monkeypatch):
    monkeypatch.setattr("toporank.building.chunks.store.MEMORY", 10)
    names = ["ab" * 32, "cd" * 32, "ef" * 32]
    for name in names:
        store.scope(name).cached(of("complex"), Maker("atoms of it"))
    assert len(files_below(store.root)) == 2
    assert store.lookup(names[0], of("complex")).content == b"atoms of it"


def test_what_another_process_has_written_is_not_written_again(store, monkeypatch):
    box = store.scope(SCOPE)
    box.cached(of("complex"), Maker("atoms"))
    Store(store.root).cached(SCOPE, of("complex"), Maker("atoms"))
    monkeypatch.setattr("toporank.building.chunks.store.write_bytes", None)
    box.save()
