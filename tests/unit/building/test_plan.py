"""Chunks: which job handles which decoy, what changes when the decoys do, and what a run writes
down.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replacing import WAYS
from toporank import layout
from toporank.building.built import read_built
from toporank.building.chunks.ledger import (
    Ledger,
    LedgerRow,
    last_fates,
    remove_old,
    write_ledger,
)
from toporank.building.chunks.plan import (
    Chunks,
    Current,
    PlannedDecoy,
    chunk_names,
    deal,
    dealt_in_parts,
    parts_of,
    planned,
    read_chunk,
    read_current,
    write_current,
    write_plans,
)
from toporank.errors import RecordError
from toporank.files.state import state_of
from toporank.structures.identity import Decoy, Status

pytestmark = pytest.mark.usefixtures("own_folder")


def rows(n: int) -> list[PlannedDecoy]:
    """Decoys without files, which a plan does not need."""
    return planned(
        [
            Decoy("ds", f"T{i % 7}", f"d{i:05d}", f"decoys/d{i:05d}.pdb")
            for i in range(n)
        ],
        {},
    )


def run_of(chunks: Chunks, of_all: Chunks | None = None) -> Current:
    current = Current(("in", "/in"), list(chunks), list(of_all or chunks))
    write_plans("ds", {**(of_all or {}), **chunks})
    write_current("ds", current)
    return current


def first(n: int, chunk_size: int = 100) -> Chunks:
    return deal(rows(n), chunk_size)


# ---- decoys to chunks ----------------------------------------------------------------------------


@settings(max_examples=25)
@given(n=st.integers(0, 60), chunk_size=st.integers(1, 30))
def test_every_decoy_is_in_exactly_one_chunk(n, chunk_size):
    members = [row for chunk in deal(rows(n), chunk_size).values() for row in chunk]
    assert sorted(members) == sorted(rows(n))


@pytest.mark.parametrize(
    ("n", "chunk_size"), [(10_000, 250), (1_000, 500), (3_000, 500)]
)
def test_chunks_have_about_the_wanted_size(n, chunk_size):
    sizes = [len(members) for members in deal(rows(n), chunk_size).values()]
    assert max(sizes) < 2.5 * chunk_size
    assert len(sizes) <= 2 * n / chunk_size


@pytest.mark.parametrize(
    ("n_targets", "n_models", "n_parts"),
    [(5, 2_000, 5), (40, 2_000, 40), (10, 1_000, 10), (2_000, 5, 20), (1, 3, 1), (0, 0, 0)],
)  # fmt: skip
def test_no_part_is_empty_and_each_has_whole_targets_in_their_order(
    n_targets, n_models, n_parts
):
    targets = [f"T{n:04d}" for n in range(n_targets)]
    plan = [row(target, n) for target in targets for n in range(n_models)]
    parts = parts_of(reversed(plan), 500)
    assert [row.key for part in parts for row in part] == sorted(r.key for r in plan)
    of_parts = [{row.target for row in part} for part in parts]
    assert sum(map(len, of_parts)) == n_targets
    assert n_parts / 2 <= len(parts) <= n_parts * 1.5
    sizes = [len(part) for part in parts]
    assert all(0 < size <= max(2 * 500, n_models) for size in sizes)
    assert all(size >= 250 for size in sizes[:-1])


def row(target: str, number: int) -> PlannedDecoy:
    return PlannedDecoy(target, f"m{number:04d}", "path", 1, number, "")


@settings(max_examples=15, deadline=None)
@given(changed=st.integers(0, 399), n_more=st.sampled_from([-3, -1, 1, 7]))
def test_a_target_that_grows_or_shrinks_leaves_most_other_parts_as_they_are(
    changed, n_more
):
    sizes = dict.fromkeys((f"T{n:04d}" for n in range(400)), 20)
    before = dealt_in_parts([row(t, n) for t in sizes for n in range(sizes[t])], 200)
    sizes[f"T{changed:04d}"] += n_more
    after = dealt_in_parts([row(t, n) for t in sizes for n in range(sizes[t])], 200)
    assert len(set(after) - set(before)) <= 4
    assert len(before) >= 30


def test_of_a_large_part_one_decoy_more_or_less_concerns_its_own_chunk():
    def chunks(n: int) -> set[str]:
        return set(deal([row("T", number) for number in range(n)], 100))

    assert len(chunks(990)) == len(chunks(989)) == 10
    assert len(chunks(990) & chunks(989)) == 9
    # where one more is needed, one is parted in two; the new decoy may lie in a third
    assert len(chunks(1050) & chunks(1051)) >= 8


def write(path: Path, text: str = "atoms") -> Decoy:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return Decoy("ds", path.parent.name, path.stem, str(path))


def replaced(way: Callable[[Path, bytes], None], decoy: Decoy) -> None:
    way(Path(decoy.path), b"smota")


@pytest.mark.parametrize(
    "change",
    [
        lambda decoy: Path(decoy.path).write_text("other atoms"),
        lambda decoy: os.utime(decoy.path, (1, 1)),
        *(partial(replaced, way) for way in WAYS),
        lambda decoy: os.remove(decoy.path),
        lambda decoy: 0.5,
    ],
    ids=[
        "content",
        "time",
        *(f"same size and time, {way.__name__}" for way in WAYS),
        "deleted",
        "label",
    ],
)
def test_any_change_of_a_decoy_makes_another_chunk(change):
    decoy, other = write(Path("in/T/a.pdb")), write(Path("in/T/b.pdb"))
    before = deal(planned([decoy, other], {other.key: 0.1}), 10)
    label = change(decoy)
    labels = {other.key: 0.1} | ({decoy.key: label} if isinstance(label, float) else {})
    after = deal(planned([decoy, other], labels), 10)
    assert before.keys() != after.keys()
    assert deal(planned([decoy, other], labels), 10).keys() == after.keys()


def test_a_plan_states_the_file_and_the_label():
    decoy = write(Path("in/T/a.pdb"), "12345")
    decoy = decoy._replace(model=2, lacks="of 3 chains, 2: no C", spare="B")
    (row,) = planned([decoy], {decoy.key: 0.1 + 0.2})
    of_file = ("in/T/a.pdb", 5, state_of(decoy.path).version)
    assert row[:11] == (
        "T",
        "a",
        *of_file,
        "0.30000000000000004",
        "",
        "",
        2,
        decoy.lacks,
        decoy.spare,
    )
    assert {*row[11:]} == {""}


def test_a_dangling_link_is_planned_and_noticed_when_it_leads_somewhere():
    link = Path("in/T/a.pdb")
    link.parent.mkdir(parents=True)
    link.symlink_to("../../later.pdb")
    decoy = Decoy("ds", "T", "a", str(link))
    before = deal(planned([decoy], {}), 10)
    Path("later.pdb").write_text("atoms")
    assert deal(planned([decoy], {}), 10).keys() != before.keys()


def test_a_refused_name_is_planned_without_its_path():
    (row,) = planned(
        [Decoy("ds", "T", "a-1f2e", "in/T/a\n.pdb", "unprintable name")], {}
    )
    assert (row.path, row.refused) == ("", "unprintable name")


# ---- what a run writes down ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["NA", "1e5", "007", '"', "'a' b", "#x", "a,b", "Å", "\\t"]
)
def test_names_come_back_as_they_are(name):
    members = [PlannedDecoy(name, name, f"in/{name}", 1, 2, "0.5")]
    run_of(deal(members, 1))
    (chunk,) = read_current("ds").chunks
    assert read_chunk("ds", chunk) == members


def test_jobs_find_what_the_run_builds():
    whole, part = first(20, 5), first(3)
    current = run_of(part, whole)
    assert read_current("ds") == current
    assert [row for chunk in current.of_all for row in read_chunk("ds", chunk)] == [
        r for m in whole.values() for r in m
    ]


def test_writing_down_the_same_again_touches_no_plan():
    chunks = first(20, 5)
    run_of(chunks)
    plans = list(Path("results/ds/plan").glob("*.tsv"))
    for plan in plans:
        os.utime(plan, (1, 1))
    run_of(chunks)
    assert {plan.stat().st_mtime for plan in plans} == {1}


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage", b"a\tb\n", b"\xff"],
    ids=["empty", "garbage", "other", "bytes"],
)
def test_a_plan_that_is_not_what_its_name_says_is_one_line_and_is_written_anew_by_the_next_run(
    content,
):
    chunks = first(3)
    run_of(chunks)
    (chunk,) = chunks
    Path(layout.PLAN.format(dataset="ds", chunk=chunk)).write_bytes(content)
    with pytest.raises(
        RecordError, match=r"plan/.*\.tsv: .* \(delete it and run again\)$"
    ):
        read_chunk("ds", chunk)
    run_of(chunks)
    assert read_chunk("ds", chunk) == chunks[chunk]


def test_a_plan_with_the_columns_of_another_version_is_as_good_as_none():
    """As a ledger is: its decoys count as changed."""
    run_of(chunks := first(3))
    (chunk,) = chunks
    path = Path(layout.PLAN.format(dataset="ds", chunk=chunk))
    path.write_text(path.read_text().replace("version", "mtime_ns", 1))
    with pytest.raises(FileNotFoundError, match="a plan of another version"):
        read_chunk("ds", chunk)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"folder": 1}'])
def test_without_a_record_of_the_last_run_there_was_none(content):
    Path("results/ds/plan").mkdir(parents=True)
    assert read_current("ds") is None
    Path(layout.CURRENT.format(dataset="ds")).write_text(content)
    assert read_current("ds") is None
    with pytest.raises(RecordError, match="no record of a run"):
        read_built("ds")


# ---- all ledgers together ------------------------------------------------------------------------


def end(chunk: str, members: list[PlannedDecoy], reason: str) -> None:
    """Ledger, log, times and progress of a chunk, as its job leaves them."""
    ledger = Ledger(
        {}, [LedgerRow(*row.key, Status.OK, "graphs", reason) for row in members]
    )
    for pattern in (layout.LOG, layout.TIMES, layout.PROGRESS):
        path = Path(pattern.format(dataset="ds", chunk=chunk))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    write_ledger(Path(layout.LEDGER.format(dataset="ds", chunk=chunk)), ledger)


def test_of_decoys_outside_a_part_the_latest_build_tells():
    whole, part = first(4), deal(rows(1), 1)
    earlier = run_of(whole)
    end(*next(iter(whole.items())), "whole")
    assert {row.reason for row in last_fates("ds", earlier).values()} == {"whole"}
    current = run_of(part, whole)
    end(*next(iter(part.items())), "part")
    fates = last_fates("ds", current)
    assert [fates[row.key].reason for row in rows(4)] == [
        "part",
        "whole",
        "whole",
        "whole",
    ]


def test_what_belongs_to_chunks_of_no_more_use_goes_when_all_is_built_and_not_before():
    old, new, part = first(3), first(4), deal(rows(1), 1)
    for chunks in (old, part, new):
        run_of(chunks)
        for chunk, members in chunks.items():
            end(chunk, members, "")
    write_current("ds", Current(("in", "/in"), list(new), list(new)))
    remove_old("ds", Current(("in", "/in"), list(part), list(new)))
    folders = [Path("results/ds/plan"), Path("results/ds/ledger")]
    assert [len(chunk_names(folder)) for folder in folders] == [3] * 2
    remove_old("ds", Current(("in", "/in"), list(new), list(new)))
    assert [chunk_names(folder) for folder in folders] == [list(new)] * 2
    others = [
        Path("logs/chunks/ds"),
        Path("logs/benchmarks/chunks/ds"),
        Path(".toporank/progress/ds"),
    ]
    assert [
        [file.name.partition(".")[0] for file in folder.iterdir()] for folder in others
    ] == [list(new)] * 3
    assert read_current("ds") is not None


def test_a_plan_of_a_dry_run_beside_the_build_stays():
    run_of(first(3))
    beside = first(3, 1)
    write_plans("ds", beside)
    remove_old("ds", read_current("ds"))
    assert set(chunk_names(Path("results/ds/plan"))) >= set(beside)
