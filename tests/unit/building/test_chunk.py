"""The decoys of a chunk through all stages: whose failure is whose, and what is kept. And which
code counts.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import re
import shutil
import sys
from pathlib import Path

import pytest

from building import build as build_decoys
from structures_text import put
from toporank.building.chunks import chunk
from toporank.building.chunks.artefacts import artefacts_of
from toporank.building.chunks.chunk import artefact, run_chunk
from toporank.building.chunks.ledger import Ledger, LedgerRow, read_ledger, write_ledger
from toporank.building.chunks.plan import deal, planned, write_plans
from toporank.building.chunks.stages import Source, code_digest
from toporank.building.chunks.store import Entry, Store
from toporank.errors import (
    CheckpointError,
    FeatureError,
    NoInterfaceError,
    OverlapError,
    RecordError,
    StructureError,
)
from toporank.features.registry import DEFAULT_MODULES, choose, resolve
from toporank.finding.folders import find_decoys
from toporank.layout import LEDGER, STAGES
from toporank.structures.dssp import DsspMissingError
from toporank.structures.identity import Decoy, Status

# the failing decoy comes first, so that its siblings come after
NAMES = ("bad", "good1", "good2")
RECIPES = {stage: ["c0de", "{}"] for stage in STAGES}


pytestmark = pytest.mark.usefixtures("own_folder")


class Toy:
    """Stages that copy the decoy in capitals, unless told to do something else for `bad` in one of
    them.
    """

    def __init__(self):
        self.stage, self.trouble, self.seen = STAGES[0], None, []

    def __call__(self, source, store, choices, partners, dockq) -> Toy:
        """In place of `artefacts_of`."""
        self.path, self.content = source.path, source.content
        self.seen.append((source.path, source.sha256, dockq))
        self.scope = store.scope(source.sha256)
        return self

    interfaces = {}  # noqa: RUF012 -- a toy has none

    def finish(self, stage: str) -> Entry:
        if self.path.stem == "bad" and stage == self.stage and self.trouble is not None:
            raise self.trouble
        facts = (
            {"n_chains": 2, "n_interface_residues": 7}
            if stage == "interface"
            else {"notes": [f"{stage} done"]}
        )
        text = f"{stage} of ".encode() + self.content
        return self.scope.cached({"kind": stage}, lambda: (text.upper(), facts))

    def read_file(self) -> None:
        """Nothing is made of the file itself."""

    def save(self) -> None:
        self.scope.save()


@pytest.fixture
def toy(monkeypatch) -> Toy:
    put(Path("in/T"), {f"{name}.pdb": f"{name} atoms" for name in NAMES})
    toy = Toy()
    monkeypatch.setattr(chunk, "artefacts_of", toy)
    monkeypatch.setattr(chunk, "recipes", lambda choices: RECIPES)
    return toy


def run(
    toy: Toy,
    labels: dict | None = None,
    decoys: list[Decoy] | None = None,
    natives: dict | None = None,
) -> dict[str, LedgerRow]:
    """Plan, run and read back the ledger: decoy → row."""
    decoys = find_decoys("ds", Path("in")) if decoys is None else decoys
    chunks = deal(planned(decoys, labels or {}), 10)
    (toy.chunk,) = chunks
    write_plans("ds", chunks)
    toy.store = Store(Path("store"))
    rows = run_chunk("ds", toy.chunk, {}, toy.store, natives)
    assert read_ledger(ledger(toy)) == Ledger(RECIPES, rows)
    return {row.decoy: row for row in rows}


def ledger(toy: Toy) -> Path:
    return Path(LEDGER.format(dataset="ds", chunk=toy.chunk))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# ---- everything well -----------------------------------------------------------------------------


def test_every_decoy_gets_a_row_with_the_checksums_of_its_artefacts(toy):
    rows = run(toy, labels={("T", "good1"): 0.25})
    assert list(rows) == list(NAMES)
    for name, row in rows.items():
        notes = "topology done; nodes done; graphs done"
        made = [digest(f"{stage} of {name} atoms".upper()) for stage in STAGES]
        label = "0.25" if name == "good1" else ""
        known = (digest(f"{name} atoms"), "", label)
        assert row == LedgerRow(
            "T", name, Status.OK, "graphs", notes, 2, 7, "", *known, *made, parts="{}"
        )
        assert row.artefacts == dict(zip(STAGES, made, strict=True))
        in_store = (
            Store(Path("store")).scope(row.structure_sha256).find("nodes", row.nodes)
        )
        assert in_store == f"nodes of {name} atoms".upper().encode()


def test_a_second_run_computes_nothing_and_writes_the_same_ledger(toy):
    run(toy)
    first = ledger(toy).read_bytes()
    run(toy)
    assert ledger(toy).read_bytes() == first
    assert not toy.store.computed
    assert toy.store.reused == {"row": 3}


def test_a_changed_decoy_alone_is_computed_again(toy):
    before = run(toy)
    Path("in/T/good1.pdb").write_text("moved atoms")
    after = run(toy)
    assert toy.store.computed == dict.fromkeys([*STAGES, "row"], 1)
    assert {name for name in NAMES if before[name] != after[name]} == {"good1"}


def test_a_renamed_decoy_finds_its_work_again(toy):
    run(toy)
    Path("in/T/good1.pdb").rename("in/T/new.pdb")
    assert run(toy)["new"].graphs == digest("GRAPHS OF GOOD1 ATOMS")
    assert not toy.store.computed


def test_labels_of_natives_take_the_place_of_those_of_the_plan(toy):
    rows = run(toy, labels={("T", "good1"): 0.25}, natives={("T", "good2"): 0.5})
    assert [dockq for _, _, dockq in toy.seen] == [None, None, 0.5]
    assert [row.dockq for row in rows.values()] == ["", "", "0.5"]


def test_a_file_is_read_once(toy, monkeypatch):
    """The stages get what was read for the digest, so that all see the same atoms."""
    reads = []
    real = chunk.read_content
    monkeypatch.setattr(
        chunk, "read_content", lambda path: reads.append(path.stem) or real(path)
    )
    run(toy)
    assert reads == list(NAMES)


# ---- a decoy's own failure -----------------------------------------------------------------------

FAILURES = [
    (
        StructureError("no atoms", where="x.pdb", remedy="truncated?"),
        Status.UNREADABLE,
        "no atoms (truncated?)",
    ),
    (OverlapError("A lies inside B"), Status.OVERLAPPING, "A lies inside B"),
    (FeatureError("mkdssp failed"), Status.FAILED, "mkdssp failed"),
    (
        NoInterfaceError(
            "closest 31.4 Å", facts={"n_chains": 3, "n_interface_residues": 0}
        ),
        Status.NO_INTERFACE,
        "closest 31.4 Å",
    ),
    (
        ZeroDivisionError("by zero"),
        Status.FAILED,
        "unexpected ZeroDivisionError: by zero",
    ),
    (CheckpointError("out of place"), Status.FAILED, "unexpected out of place"),
]
each_failure = pytest.mark.parametrize(
    ("error", "status", "reason"),
    FAILURES,
    ids=[type(error).__name__ for error, *_ in FAILURES],
)


@each_failure
def test_a_failing_decoy_becomes_a_status_and_its_siblings_finish(
    toy, error, status, reason
):
    toy.trouble = error
    rows = run(toy)
    chains, residues = (3, 0) if status == Status.NO_INTERFACE else (-1, -1)
    bad = rows["bad"]._replace(structure_sha256="")
    assert bad == LedgerRow("T", "bad", status, "interface", reason, chains, residues)
    assert [rows[name].status for name in NAMES[1:]] == [Status.OK, Status.OK]
    toy.trouble = None
    assert run(toy)["bad"].status == Status.OK
    assert toy.store.computed == dict.fromkeys([*STAGES, "row"], 1)


def test_what_a_decoy_had_before_it_failed_is_kept_and_later_stages_are_not_tried(toy):
    toy.stage, toy.trouble = "nodes", FeatureError("mkdssp failed")
    row = run(toy)["bad"]
    assert (row.status, row.stage, row.reason, row.n_chains) == (
        Status.FAILED,
        "nodes",
        "mkdssp failed",
        2,
    )
    assert list(row.artefacts) == ["interface", "topology"]
    toy.trouble = None
    run(toy)
    assert toy.store.computed == {"nodes": 1, "graphs": 1, "row": 1}


def test_an_unexpected_error_is_logged_with_its_traceback(toy, caplog):
    toy.trouble = ZeroDivisionError("by zero")
    run(toy)
    assert "Traceback" in caplog.text
    assert "raise self.trouble" in caplog.text


def test_an_expected_failure_is_one_line_in_the_log_that_names_the_decoy(toy, caplog):
    toy.trouble = NoInterfaceError(
        "closest 31.4 Å", facts={"n_chains": 2, "n_interface_residues": 0}
    )
    with caplog.at_level(logging.WARNING):
        run(toy)
    assert [record.getMessage() for record in caplog.records] == [
        "T/bad: no_interface: closest 31.4 Å"
    ]


def test_the_log_says_how_long_each_stage_of_a_decoy_took(toy, caplog):
    toy.stage, toy.trouble = "nodes", FeatureError("mkdssp failed")
    with caplog.at_level(logging.INFO):
        run(toy)
        run(toy)
    lines = [record.getMessage() for record in caplog.records]
    seconds = r" \d+\.\d+ s"
    of_stages = [f"{stage}{seconds}" for stage in STAGES]
    assert re.fullmatch("T/bad: " + ", ".join(of_stages[:2]), lines[0])
    assert re.fullmatch("T/good1: " + ", ".join(of_stages), lines[2])
    assert "T/good1: all stages from the reuse store" in lines


def test_a_decoy_that_cannot_be_opened_is_unreadable_and_its_siblings_finish(toy):
    Path("in/T/bad.pdb").unlink()
    Path("in/T/bad.pdb").symlink_to("nowhere.pdb")
    rows = run(toy)
    assert (rows["bad"].status, rows["good2"].status) == (Status.UNREADABLE, Status.OK)
    assert "No such file" in rows["bad"].reason


@pytest.mark.parametrize(
    "words",
    [
        "tab\tand\nline\r\nbreak",
        "a \"quote\" and 'another'",
        "Å \u2028 \x85 end",
        "#x",
        "",
    ],
)
@pytest.mark.parametrize("kind", [FeatureError, RuntimeError])
def test_any_words_of_an_error_fit_on_one_line_of_the_ledger(toy, words, kind):
    toy.trouble = kind(words)
    rows = run(toy)  # compares what is read back with what was meant
    assert len(ledger(toy).read_text().split("\n")) == 2 + len(NAMES) + 1
    assert (
        rows["bad"].reason.split()
        == (
            f"unexpected RuntimeError: {words}" if kind is RuntimeError else words
        ).split()
    )


def test_a_decoy_whose_name_is_refused_is_unreadable_with_the_reason(toy):
    refused = Decoy(
        "ds", "T", "odd-1f2e", "in/T/odd\n.pdb", "unprintable name (rename it)"
    )
    row = run(toy, decoys=[*find_decoys("ds", Path("in")), refused])["odd-1f2e"]
    assert (row.status, row.reason) == (
        Status.UNREADABLE,
        "unprintable name (rename it)",
    )


# ---- nobody's fault ------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", [STAGES[0], STAGES[-1]])
@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EIO, "Input/output error"),
        MemoryError(),
        DsspMissingError("not found on the PATH"),
        KeyboardInterrupt(),
    ],
    ids=["full disk", "broken disk", "memory", "no mkdssp", "ctrl-c"],
)
def test_what_is_no_decoys_fault_ends_the_job_and_no_ledger_is_written(
    toy, error, stage
):
    toy.stage, toy.trouble = stage, error
    with pytest.raises(type(error)):
        run(toy)
    assert not ledger(toy).exists()


# ---- ledgers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["NA", "1e5", "007", '"', "'a' b", "#x", "a,b", "Å", "\\t"]
)
def test_ledgers_give_names_and_numbers_back_as_they_were(name):
    row = LedgerRow(
        name,
        name,
        Status.OK,
        "nodes",
        name,
        -1,
        0,
        "[]",
        "cd",
        "ef",
        "0.25",
        "1",
        "2",
        "3",
        "4",
    )
    ledger = Ledger({"nodes": [name, '{"cutoff":9.0}']}, [row] * 2)
    write_ledger(Path("ledger.tsv"), ledger)
    assert read_ledger(Path("ledger.tsv")) == ledger


@pytest.mark.parametrize(
    "content", [b"", b"garbage", b"\xff\xfe", b"{}\nother\tcolumns\n", b"cut"]
)
def test_a_damaged_ledger_is_one_line_that_names_it(content):
    write_ledger(
        Path("ledger.tsv"), Ledger({}, [LedgerRow("T", "d", Status.OK, "nodes")])
    )
    whole = Path("ledger.tsv").read_bytes()
    Path("ledger.tsv").write_bytes(
        whole[:-18] + b"\n" if content == b"cut" else content
    )
    with pytest.raises(
        RecordError, match=r"^ledger.tsv: not a ledger: .* \(delete it and run again\)$"
    ):
        read_ledger(Path("ledger.tsv"))


def test_a_ledger_of_another_version_is_as_good_as_none(toy):
    run(toy)
    ledger(toy).write_text(
        ledger(toy)
        .read_text()
        .replace("\tside_chains\n", "\n")
        .replace("\t{}\t\n", "\t{}\n")
    )
    with pytest.raises(FileNotFoundError, match="another version"):
        read_ledger(ledger(toy))


@pytest.mark.parametrize("graphs", [{}, {"A:B": "1"}, {"A:B": "1", "A:C": "2"}])
def test_a_row_knows_the_graphs_of_interfaces_also_where_only_one_of_several_has_one(
    toy, monkeypatch, graphs
):
    monkeypatch.setattr(
        Toy,
        "interfaces",
        {name: Entry(digest, {}, b"") for name, digest in graphs.items()},
    )
    assert [row.graphs_of_interfaces for row in run(toy).values()] == [graphs] * len(
        NAMES
    )


# ---- which packages count; which code does: test_code.py -----------------------------------------


KINDS = {
    "atoms",
    "interface",
    "contacts",
    "topology",
    "nodes",
    "edges",
    "graphs",
    "label",
}


def test_another_version_of_a_package_recomputes_what_it_computed(monkeypatch):
    choices = resolve({stage: {} for stage in DEFAULT_MODULES})
    before = {kind: code_digest(kind, choices) for kind in KINDS}
    stages = sys.modules[Source.__module__]
    real = stages._version
    monkeypatch.setattr(
        stages,
        "_version",
        lambda package: "99" if package == "gemmi" else real(package),
    )
    assert {kind for kind in KINDS if code_digest(kind, choices) != before[kind]} == {
        "atoms",
        "interface",
    }


@pytest.mark.parametrize(
    "stage", ["atoms", "contacts", "interface", "topology", "nodes", "edges", "graphs"]
)
def test_the_key_of_an_artefact_names_all_it_is_made_from(stage, example, monkeypatch):
    """Another structure, file format, label, partners or parameter, of its own stage or one before,
    is another key, and is known before anything is made.
    """
    monkeypatch.setattr(Source, "open", None)
    choices = resolve({name: {} for name in DEFAULT_MODULES})
    other = {
        "interface": {"cutoff": 9.0},
        "topology": {"radius": 7.0},
        "nodes": {"scaling": "none"},
        "edges": {"scaling": "none"},
    }
    order = [*other, "graphs"]
    before = order[: order.index(stage) + 1] if stage in order else []
    source = Source(Path("a.pdb"), "structure")
    told = [(source, choices, (), None)]
    for name in other:
        record = choices[name].record() | other[name]
        told.append((source, choices | {name: choose(name, record)}, (), None))
    told.append((source, choices, (("A",), ("H", "L")), None))
    told.append((source, choices, (), 0.5))
    keys = []
    for of, modules, partners, dockq in told:
        made = artefacts_of(of, Store(Path("store")), modules, partners, dockq)
        keys.append(made.key(stage))
    differs = [name in before for name in other]
    differs += [stage != "atoms", stage == "graphs"]
    assert [key != keys[0] for key in keys[1:]] == differs
    others = {source.scope, source._replace(path=Path("a.cif")).scope}
    others |= {source._replace(sha256="other").scope, source._replace(model=1).scope}
    assert len(others) == 4


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, example):
    path = shutil.copy(example / "decoys/1AVZ/far1.pdb", tmp_path / "d.pdb")
    made = artefacts_of(Source(Path(path), "another"), Store(tmp_path), {})
    with pytest.raises(StructureError, match="changed while it was built"):
        _ = made["atoms"]


# ---- what is gone is made again ------------------------------------------------------------------


@pytest.fixture
def built(example) -> tuple:
    """A decoy with its row and the store it was built with."""
    decoy = Decoy(
        "ds", "T", "far1", shutil.copy(example / "decoys/1AVZ/far1.pdb", "far1.pdb")
    )
    choices, store = (
        resolve({stage: {} for stage in DEFAULT_MODULES}),
        Store(Path("store")),
    )
    (row,) = build_decoys([decoy], choices, store, labels={decoy.key: 0.25})
    (member,) = planned([decoy], {decoy.key: 0.25})
    return member, row, choices, store


@pytest.mark.parametrize("stage", STAGES)
def test_an_artefact_that_the_store_lost_is_made_again_with_its_label(built, stage):
    member, row, choices, store = built
    kept = artefact(stage, row.artefacts[stage], *built)
    shutil.rmtree(store.root)
    relabelled = member._replace(dockq="0.5")
    later = Store(store.root)
    again = artefact(stage, row.artefacts[stage], relabelled, row, choices, later)
    assert again == kept
    assert later.computed[stage] == 1
    assert digest_of(kept) == row.artefacts[stage]


def test_an_artefact_that_comes_out_differently_is_refused(built):
    member, row, choices, store = built
    other = choices | {
        "edges": choose("edges", choices["edges"].record() | {"cutoff": 9.0})
    }
    shutil.rmtree(store.root)
    store = Store(store.root)
    with pytest.raises(
        RecordError,
        match=r"^T/far1, graphs: is not in the store, and comes out differently .*forcerun",
    ):
        artefact("graphs", row.graphs, member, row, other, store)


def test_an_artefact_of_a_decoy_that_was_changed_since_is_refused(built):
    member, row, choices, store = built
    shutil.rmtree(store.root)
    Path("far1.pdb").write_text("other")
    with pytest.raises(StructureError, match="changed while it was built"):
        artefact("graphs", row.graphs, member, row, choices, Store(store.root))


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
