"""Listing and pruning the reuse store: what is shown, what goes, and that nothing goes unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toporank.__main__ import main
from toporank.building.store import Store
from toporank.files import link_or_copy
from toporank.workflow.storekeeping import DAY, contents

NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch) -> Store:
    """A graph in use and one that is not, an edge table, an artefact without record, and a training run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.time", lambda: NOW)
    store = Store(Path(".toporank/store"))
    for number, (kind, days) in enumerate([("graphs", 1), ("graphs", 9), ("edges", 9)]):
        entry = store.obtain(kind, {"number": number}, ".pt", lambda: (b"x" * 1000, {}))
        for path in (entry.path, entry.path.with_suffix(".json")):
            os.utime(path, (NOW - days * DAY,) * 2)
        if days == 1:
            link_or_copy(entry.path, Path("results/ds/graphs/T/used.pt"))
    sealed = store.obtain("contacts", {}, ".contacts", lambda: (b"x" * 1000, {}))
    os.utime(sealed.path, (NOW - 9 * DAY,) * 2)
    orphan = store.root / "ab" / ("ab" * 32 + ".pt")
    orphan.parent.mkdir(exist_ok=True)
    orphan.write_bytes(b"half")
    os.utime(orphan, (NOW - 3 * DAY,) * 2)
    run = store.root / "runs/c0ffee/best_loss.ckpt"
    (run.parent / "runners_up").mkdir(parents=True)
    for path in (run, run.parent / "runners_up/best_loss_2.ckpt"):
        path.write_bytes(b"y" * 250_000)
        os.utime(path, (NOW - 30 * DAY,) * 2)
    return store


def store_command(capsys, *arguments: str) -> str:
    main(["store", *arguments])
    return capsys.readouterr().out


def kinds() -> list[str]:
    return sorted(each.kind for each in contents(Path(".toporank/store")))


def test_the_list_tells_entries_sizes_links_and_ages_by_kind(capsys):
    rows = [line.split() for line in store_command(capsys, "list").splitlines()]
    assert rows[0] == ["kind", "entries", "MB", "linked", "oldest,", "days", "newest,", "days"]
    assert ["graphs", "2", "0.00", "1", "9.0", "1.0"] in rows
    assert ["runs", "1", "0.50", "0", "30.0", "30.0"] in rows
    assert ["unfinished", "1", "0.00", "0", "3.0", "3.0"] in rows
    assert rows[-1][:3] == ["all", "6", "0.50"]


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (("--unused",), ["contacts", "edges", "graphs", "runs"]),
        (("--older-than", "5"), ["graphs", "unfinished"]),
        (("--unused", "--older-than", "5"), ["contacts", "edges", "graphs", "runs", "unfinished"]),
        (("--older-than", "100"), ["contacts", "edges", "graphs", "graphs", "runs", "unfinished"]),
    ],
    ids=" ".join,
)
def test_pruning_says_what_would_go_and_deletes_it_only_when_told(capsys, arguments, left):
    before = kinds()
    said = store_command(capsys, "prune", *arguments)
    assert f"{len(before) - len(left)} of {len(before)} entries would be deleted (delete with --yes)" in said
    assert kinds() == before
    assert "entries deleted" in store_command(capsys, "prune", *arguments, "--yes")
    assert kinds() == left
    assert Path("results/ds/graphs/T/used.pt").read_bytes() == b"x" * 1000


def test_what_was_pruned_is_made_again_and_what_was_kept_is_not(capsys):
    store_command(capsys, "prune", "--unused", "--yes")
    store = Store(Path(".toporank/store"))
    for number in (0, 1):
        store.obtain("graphs", {"number": number}, ".pt", lambda: (b"x" * 1000, {}))
    assert (store.computed, store.reused) == ({"graphs": 1}, {"graphs": 1})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("prune",), "nothing says what to prune (give --unused, --older-than DAYS or both)"),
        (("list", "--store", "nowhere"), "nowhere: no such folder"),
    ],
)
def test_a_command_that_makes_no_sense_is_refused_with_a_remedy(arguments, told):
    with pytest.raises(SystemExit, match=told.replace("(", r"\(").replace(")", r"\)")):
        main(["store", *arguments])
    assert len(kinds()) == 6
