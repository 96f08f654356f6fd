"""Listing and pruning the reuse store: what is shown, what goes, and that nothing goes unasked."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from toporank.__main__ import main
from toporank.building.chunks.store import Store
from toporank.building.storekeeping import DAY, contents

NOW = 1_800_000_000.0


def made(text: bytes = b"x" * 1000):
    return lambda: (text, {})


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch) -> Store:
    """A box used yesterday and one used nine days ago, half a file, and an older training run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.time", lambda: NOW)
    store = Store(Path(".toporank/store"))
    for name, days in (("aa" * 32, 1), ("bb" * 32, 9)):
        box = store.box(name)
        for kind in ("graphs", "edges"):
            box.obtain(kind, {"of": name}, made())
        box.save()
        os.utime(box.path, (NOW - days * DAY,) * 2)
    half = store.root / "ab/.1234.tmp"
    half.parent.mkdir()
    half.write_bytes(b"half")
    os.utime(half, (NOW - 3 * DAY,) * 2)
    run = store.root / "runs/c0ffee/best_loss.ckpt"
    (run.parent / "runners_up").mkdir(parents=True)
    for path in (run, run.parent / "runners_up/best_loss_2.ckpt"):
        path.write_bytes(b"y" * 250_000)
        os.utime(path, (NOW - 30 * DAY,) * 2)
    return store


def store_command(capsys, *arguments: str) -> str:
    main(["store", *arguments])
    return capsys.readouterr().out


def kinds() -> Counter[str]:
    return sum((each.kinds for each in contents(Path(".toporank/store"))), Counter())


def test_the_list_counts_by_kind_and_tells_size_and_age(capsys):
    *rows, last = store_command(capsys, "list").splitlines()
    assert [row.split() for row in rows] == [["edges", "2"], ["graphs", "2"], ["runs", "1"], ["unfinished", "1"]]
    assert last == "4 files, 0.50 MB, last used 1.0 to 30.0 days ago"


@pytest.mark.parametrize(
    ("days", "left"),
    [("5", {"edges": 1, "graphs": 1, "unfinished": 1}), ("2", {"edges": 1, "graphs": 1}), ("100", None)],
)
def test_pruning_says_what_would_go_and_deletes_it_only_when_told(capsys, days, left):
    before, n = kinds(), len(contents(Path(".toporank/store")))
    said = store_command(capsys, "prune", "--older-than", days)
    assert f" of {n} files would be deleted (delete with --yes)" in said
    assert kinds() == before
    assert "files deleted" in store_command(capsys, "prune", "--older-than", days, "--yes")
    assert kinds() == (before if left is None else left)


def test_what_was_pruned_is_made_again_and_what_was_kept_is_not(capsys):
    store_command(capsys, "prune", "--older-than", "5", "--yes")
    store = Store(Path(".toporank/store"))
    for name in ("aa" * 32, "bb" * 32):
        store.box(name).obtain("graphs", {"of": name}, made())
    assert (store.computed, store.reused) == ({"graphs": 1}, {"graphs": 1})


@pytest.mark.parametrize(
    ("arguments", "status"), [(("prune",), 2), (("list", "--store", "nowhere"), "nowhere: no such folder")]
)
def test_a_command_that_makes_no_sense_is_refused(arguments, status):
    with pytest.raises(SystemExit) as refused:
        main(["store", *arguments])
    assert refused.value.code == status or status in str(refused.value.code)
    assert len(contents(Path(".toporank/store"))) == 4
