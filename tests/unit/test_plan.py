"""Plans: which job handles which decoy, and what changes when the decoys do. And where results lie."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toporank import layout
from toporank.building.ledger import LedgerRow, write_ledger
from toporank.building.plan import artefacts_on_disk, make_plans, planned_chunks, read_plan
from toporank.decoys.folders import find_decoys
from toporank.decoys.identity import Decoy, Status
from toporank.files import sha256

UNTOUCHED = 1_000_000_000  # ns: a modification time in 1970, which no write gives


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def decoys(n: int) -> list[Decoy]:
    """Decoys without files, which a plan does not need."""
    return [Decoy("ds", f"T{i % 7}", f"d{i:05d}", Path(f"decoys/d{i:05d}.pdb")) for i in range(n)]


def plan_of(chunk: str) -> Path:
    return Path("results/ds/plan", f"{chunk}.tsv")


def place(chunks: list[str]) -> dict[tuple[str, str], str]:
    """The chunk of every planned decoy."""
    rows = [(row.target, row.decoy, chunk) for chunk in chunks for row in read_plan(plan_of(chunk))]
    assert len({row[:2] for row in rows}) == len(rows), "a decoy is planned twice"
    return {row[:2]: row[2] for row in rows}


def age(chunks: list[str]) -> None:
    for chunk in chunks:
        os.utime(plan_of(chunk), ns=(UNTOUCHED, UNTOUCHED))


def rewritten(chunks: list[str]) -> set[str]:
    """Chunks whose plan was written since `age`."""
    return {chunk for chunk in chunks if plan_of(chunk).stat().st_mtime_ns != UNTOUCHED}


def n_chunks(n: int, chunk_size: int = 100) -> int:
    """Number of pieces that a plan of `n` decoys is cut into, by the names of its chunks."""
    (count,) = {int(name.split("-of-")[1]) for name in make_plans("ds", decoys(n), {}, chunk_size)}
    return count


# ---- identities to chunks ---------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(n=st.integers(0, 60), chunk_size=st.integers(1, 30), order=st.randoms(use_true_random=False))
def test_every_decoy_is_in_exactly_one_chunk_whatever_the_order(n, chunk_size, order):
    shutil.rmtree("results", ignore_errors=True)
    chunks = make_plans("ds", decoys(n), {}, chunk_size)
    assert place(chunks).keys() == {decoy.key for decoy in decoys(n)}
    assert len(chunks) <= max(1, -(-n // chunk_size))
    before, mixed = place(chunks), decoys(n)
    order.shuffle(mixed)
    assert place(make_plans("ds", mixed, {}, chunk_size)) == before


def test_ten_thousand_decoys_make_forty_chunks_of_about_250():
    chunks = make_plans("ds", decoys(10_000), {}, 250)
    assert chunks[0] == "001-of-040"
    assert chunks[-1] == "040-of-040"
    sizes = [len(read_plan(plan_of(chunk))) for chunk in chunks]
    assert sum(sizes) == 10_000
    assert min(sizes) > 250 - 5 * 250**0.5  # five standard deviations of drawing chunks at random
    assert max(sizes) < 250 + 5 * 250**0.5


def test_decoys_of_one_name_in_two_targets_are_two_decoys():
    pair = [Decoy("ds", target, "d", Path(target)) for target in "AB"]
    assert place(make_plans("ds", pair, {}, 1)).keys() == {("A", "d"), ("B", "d")}


@pytest.mark.parametrize("gone", [False, True], ids=["added", "removed"])
def test_only_the_chunk_of_an_added_or_removed_decoy_changes_its_plan(gone):
    many = decoys(500)
    few = many[:250] + many[251:]
    chunks = make_plans("ds", many if gone else few, {}, 50)
    before = place(chunks)
    age(chunks)
    again = make_plans("ds", few if gone else many, {}, 50)
    assert again == chunks
    after = place(again)
    concerned = (before if gone else after)[many[250].key]
    assert rewritten(chunks) == {concerned}
    assert {key: chunk for key, chunk in before.items() if key != many[250].key} == {
        key: chunk for key, chunk in after.items() if key != many[250].key
    }


def test_one_decoy_more_than_fits_does_not_deal_all_decoys_anew():
    assert n_chunks(200) == 2
    before = place(planned_chunks("ds"))
    assert n_chunks(201) == 2
    assert before.items() <= place(planned_chunks("ds")).items()


def test_the_number_of_chunks_grows_only_when_they_are_twice_too_large():
    assert [n_chunks(n) for n in (100, 200, 201, 500)] == [1, 1, 3, 3]


def test_the_number_of_chunks_shrinks_only_when_they_are_four_times_too_small():
    assert [n_chunks(n) for n in (800, 101, 100)] == [8, 8, 1]


def test_the_number_of_chunks_does_not_flip_back_and_forth_at_a_limit():
    assert [n_chunks(n) for n in (200, 400, 401, 400, 401)] == [2, 2, 5, 5, 5]


def test_another_chunk_size_takes_effect_when_it_differs_much():
    assert n_chunks(400, chunk_size=100) == 4
    assert n_chunks(400, chunk_size=101) == 4
    assert n_chunks(400, chunk_size=20) == 20


def test_plans_of_chunks_that_are_no_more_go():
    chunks = make_plans("ds", decoys(400), {}, 50)
    assert len(chunks) == 8
    chunks = make_plans("ds", decoys(30), {}, 50)
    assert sorted(path.stem for path in Path("results/ds/plan").iterdir()) == chunks == planned_chunks("ds")
    assert place(chunks).keys() == {decoy.key for decoy in decoys(30)}


def test_a_data_set_without_decoys_has_no_chunks():
    make_plans("ds", decoys(10), {}, 5)
    assert make_plans("ds", [], {}, 5) == []
    assert planned_chunks("ds") == []


def test_jobs_find_the_chunks_that_the_main_process_planned():
    assert planned_chunks("ds") == []
    assert make_plans("ds", decoys(300), {}, 20) == planned_chunks("ds")


# ---- what changes a plan ----------------------------------------------------------------------------------


@pytest.fixture
def on_disk() -> list[Decoy]:
    """Forty decoys with files, two targets."""
    for i in range(40):
        path = Path("in", f"T{i % 2}", f"d{i:02d}.pdb")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("ATOM\n" * i)
    return find_decoys("ds", Path("in"))


def chunk_of(decoy: Decoy) -> str:
    return place(planned_chunks("ds"))[decoy.key]


def test_planning_again_touches_nothing(on_disk):
    labels = {decoy.key: 0.1 for decoy in on_disk[::2]}
    chunks = make_plans("ds", on_disk, labels, 10)
    age(chunks)
    assert make_plans("ds", find_decoys("ds", Path("in")), labels, 10) == chunks
    assert rewritten(chunks) == set()


def grow(decoy, labels):
    stat = decoy.path.stat()
    decoy.path.write_text(decoy.path.read_text() + "END\n")
    os.utime(decoy.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def touch(decoy, labels):
    os.utime(decoy.path, ns=(5, 5))


def label(decoy, labels):
    labels[decoy.key] = 0.25


def relabel(decoy, labels):
    labels[decoy.key] += 1e-9


def unlabel(decoy, labels):
    del labels[decoy.key]


@pytest.mark.parametrize(
    ("which", "change"),
    [(7, grow), (7, touch), (7, label), (6, relabel), (6, unlabel)],
    ids=["size", "time", "new label", "other label", "no label"],
)
def test_a_change_of_a_decoy_or_its_label_changes_the_plan_of_its_chunk_alone(on_disk, which, change):
    labels = {decoy.key: 0.1 for decoy in on_disk[::2]}
    chunks = make_plans("ds", on_disk, labels, 10)
    assert len(chunks) == 4
    age(chunks)
    change(on_disk[which], labels)
    assert make_plans("ds", on_disk, labels, 10) == chunks
    assert rewritten(chunks) == {chunk_of(on_disk[which])}


def test_a_plan_states_the_file_and_the_label(on_disk):
    one, other = on_disk[3], on_disk[4]
    make_plans("ds", on_disk, {one.key: 0.1 + 0.2}, 100)
    rows = {(row.target, row.decoy): row for row in read_plan(plan_of("001-of-001"))}
    stat = os.stat(one.path)
    assert (rows[one.key].path, rows[one.key].size) == (str(one.path), stat.st_size)
    assert rows[one.key].mtime_ns == stat.st_mtime_ns
    assert float(rows[one.key].dockq) == 0.1 + 0.2  # every digit
    assert rows[other.key].dockq == ""


@pytest.mark.parametrize("name", ["NA", "1e5", "007", "True", "'q'", '"', 'a "b" c', "#x", "a,b", " ", "Å-β", "\\n"])
def test_names_come_back_as_they_are(name):
    odd = Decoy("ds", name, name + "2", Path(name + ".pdb"))
    chunks = make_plans("ds", [odd], {odd.key: 0.5}, 10)
    (row,) = read_plan(plan_of(chunks[0]))
    assert (row.target, row.decoy, row.path, row.dockq) == (name, name + "2", name + ".pdb", "0.5")


def test_a_dangling_link_is_planned_and_noticed_when_it_leads_somewhere(on_disk):
    Path("in/T0/broken.pdb").symlink_to("nowhere.pdb")
    found = find_decoys("ds", Path("in"))
    chunks = make_plans("ds", found, {}, 100)
    size = {(row.target, row.decoy): row.size for row in read_plan(plan_of(chunks[0]))}
    assert size["T0", "broken"] == -1
    age(chunks)
    Path("in/T0/nowhere.pdb").write_text("ATOM\n")
    make_plans("ds", found, {}, 100)
    assert rewritten(chunks) == set(chunks)


# ---- damaged artefacts ------------------------------------------------------------------------------------


def garble(path: Path) -> None:
    """Other content of the same size."""
    path.write_bytes(bytes(reversed(path.read_bytes())))
    touch(path)


def touch(path: Path) -> None:
    """Changed now: the clock of a file system may lag behind by some milliseconds."""
    os.utime(path, ns=(time.time_ns(), time.time_ns()))


def build(chunks: list[str], *, failed: tuple[str, str] | None = None) -> None:
    """Write every artefact and ledger as if all stages had run; one decoy may have failed."""
    for chunk in chunks:
        for stage in layout.STAGES:
            rows = []
            for member in read_plan(plan_of(chunk)):
                bad = (member.target, member.decoy) == failed
                artefact = Path("results/ds", layout.artefact(stage, member.target, member.decoy))
                if not bad:
                    artefact.parent.mkdir(parents=True, exist_ok=True)
                    artefact.write_text(f"{stage} of {member.decoy}")
                status, size = (Status.FAILED, 0) if bad else (Status.OK, artefact.stat().st_size)
                digest = "" if bad else sha256(artefact)
                rows.append(LedgerRow(member.target, member.decoy, status, stage, "", 2, 9, digest, size))
            write_ledger(Path(f"results/ds/ledger/{stage}/{chunk}.tsv"), rows)


def repairs(chunk: str) -> int:
    """The repair count a plan begins with."""
    first = plan_of(chunk).read_text().splitlines()[0]
    assert first.startswith("# repairs ")
    return int(first.removeprefix("# repairs "))


@pytest.fixture
def built(on_disk) -> tuple[list[Decoy], list[str]]:
    """All stages of forty decoys in four chunks, done."""
    chunks = make_plans("ds", on_disk, {}, 10)
    build(chunks)
    age(chunks)
    return on_disk, chunks


def artefact_of(decoy: Decoy, stage: str) -> Path:
    return Path("results/ds", layout.artefact(stage, decoy.target, decoy.name))


def test_finished_work_asks_for_no_repair(built):
    found, chunks = built
    assert make_plans("ds", found, {}, 10) == chunks
    assert rewritten(chunks) == set()
    assert [repairs(chunk) for chunk in chunks] == [0, 0, 0, 0]


@pytest.mark.parametrize("stage", layout.STAGES)
@pytest.mark.parametrize(
    "damage",
    [Path.unlink, lambda path: os.truncate(path, 3), lambda path: os.truncate(path, 99), garble],
    ids=["gone", "truncated", "grown", "same size"],
)
def test_a_missing_or_altered_artefact_sends_its_chunk_to_repair(built, stage, damage):
    found, chunks = built
    damage(artefact_of(found[11], stage))
    make_plans("ds", found, {}, 10)
    concerned = chunk_of(found[11])
    assert rewritten(chunks) == {concerned}
    assert {chunk: repairs(chunk) for chunk in chunks} == {chunk: int(chunk == concerned) for chunk in chunks}


def test_an_artefact_that_is_only_newer_than_its_ledger_asks_for_no_repair(built):
    """Snakemake touches a graph that was asked for by its path."""
    found, chunks = built
    for stage in layout.STAGES:
        touch(artefact_of(found[11], stage))
    make_plans("ds", found, {}, 10)
    assert rewritten(chunks) == set()


def test_a_repair_is_counted_once_per_audit_however_much_is_damaged(built):
    found, chunks = built
    shutil.rmtree("results/ds/graphs")
    shutil.rmtree("results/ds/nodes/T1")
    make_plans("ds", found, {}, 10)
    assert [repairs(chunk) for chunk in chunks] == [1, 1, 1, 1]
    make_plans("ds", found, {}, 10)
    assert [repairs(chunk) for chunk in chunks] == [2, 2, 2, 2]


def test_after_a_repair_the_plan_rests(built):
    found, chunks = built
    artefact_of(found[0], "nodes").unlink()
    make_plans("ds", found, {}, 10)
    build(chunks)
    age(chunks)
    make_plans("ds", found, {}, 10)
    assert rewritten(chunks) == set()
    assert repairs(chunk_of(found[0])) == 1


def test_a_decoy_that_failed_lacks_no_artefact(on_disk):
    chunks = make_plans("ds", on_disk, {}, 10)
    build(chunks, failed=on_disk[5].key)
    age(chunks)
    make_plans("ds", on_disk, {}, 10)
    assert rewritten(chunks) == set()


def test_a_removed_decoy_asks_for_no_repair(built):
    found, chunks = built
    gone = found.pop(20)
    concerned = chunk_of(gone)
    for stage in layout.STAGES:
        artefact_of(gone, stage).unlink()
    make_plans("ds", found, {}, 10)
    assert rewritten(chunks) == {concerned}
    assert repairs(concerned) == 0


def test_plans_can_be_deleted(built):
    found, chunks = built
    shutil.rmtree("results/ds/plan")
    assert make_plans("ds", found, {}, 10) == chunks


def test_an_empty_plan_is_written_again(built):
    found, chunks = built
    plan_of(chunks[0]).write_text("")
    assert make_plans("ds", found, {}, 10) == chunks
    assert len(place(chunks)) == 40


def test_the_audit_sees_artefacts_and_nothing_else(built):
    found, _ = built
    for name in ("nodes/T0/.d00.parquet.77.tmp", "nodes/T0/notes.txt", "nodes/readme.parquet"):
        Path("results/ds", name).write_text("not an artefact")
    there = artefacts_on_disk("ds")
    assert set(there) == set(layout.STAGES)
    assert there["nodes"] == {
        decoy.key: (len(f"nodes of {decoy.name}"), artefact_of(decoy, "nodes").stat().st_mtime_ns) for decoy in found
    }


def test_a_data_set_without_results_has_no_artefacts():
    assert not any(artefacts_on_disk("ds").values())


# ---- the path grammar -------------------------------------------------------------------------------------


def test_artefacts_lie_where_the_readme_of_the_workflow_says():
    assert layout.artefact("interface", "1AVZ", "near1") == "interface/1AVZ/near1.parquet"
    assert layout.artefact("graphs", "1AVZ", "near.v2") == "graphs/1AVZ/near.v2.pt"
    assert layout.ledger("nodes") == "results/{dataset}/ledger/nodes/{chunk}.tsv"
    assert layout.run_files("results/training/a")[0] == "results/training/a/best_loss.ckpt"


def test_every_stage_has_a_suffix():
    assert set(layout.SUFFIX) == set(layout.STAGES)


def test_no_two_patterns_can_name_one_file():
    patterns = [v for k, v in vars(layout).items() if k.isupper() and isinstance(v, str) and v.startswith("results/")]
    assert len(patterns) >= 18
    assert len(set(patterns)) == len(patterns)
