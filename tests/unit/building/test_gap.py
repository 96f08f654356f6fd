"""The coverage gap: what is still to do, told from plans and ledgers alone."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from replacing import WAYS
from structures_text import put, shape_named
from toporank import layout
from toporank.building.chunks.ledger import Ledger, LedgerRow, write_ledger
from toporank.building.chunks.plan import Chunks, deal, planned, write_plans
from toporank.building.coverage import WITHOUT_FILE, coverage_table, write_coverage
from toporank.building.gap import (
    COLUMNS,
    NO_NATIVE,
    NOT_IN_TABLE,
    OF_NATIVE,
    DecoyGap,
    State,
    describe_fates,
    describe_missing,
    describe_reasons,
    describe_stages,
    survey,
    with_labels,
    write_gap,
)
from toporank.errors import ConfigError, RecordError
from toporank.finding.folders import find_decoys
from toporank.finding.labels import Label
from toporank.structures.identity import Decoy, Status

RECIPES = {stage: ["c0de", f"{stage}-parameters"] for stage in layout.STAGES}
ALL_DONE = (State.UP_TO_DATE,) * 4


@pytest.fixture(autouse=True)
def _models(own_folder):
    put(own_folder / "in/T", {"bad.pdb": "bad atoms", "good.pdb": "good atoms"})


def dealt(labels: dict | None = None) -> Chunks:
    return deal(planned(find_decoys("ds", Path("in")), labels or {}), 10)


def ledger(chunk: str) -> Path:
    return Path(layout.LEDGER.format(dataset="ds", chunk=chunk))


def build(recipes: dict[str, list[str]] = RECIPES, labels: dict | None = None) -> str:
    """As a job does: plan and ledger. `bad` fails in the node stage. Name of the chunk."""
    chunks = dealt(labels)
    (chunk,) = chunks
    write_plans("ds", chunks)
    rows = [
        LedgerRow("T", "bad", Status.FAILED, "nodes", "mkdssp failed"),
        LedgerRow("T", "good", Status.OK, "graphs"),
    ]
    rows = [row for row in rows if Path(f"in/T/{row.decoy}.pdb").exists()]
    write_ledger(ledger(chunk), Ledger(recipes, rows))
    return chunk


def look(
    recipes: dict[str, list[str]] = RECIPES,
    labels: dict | None = None,
    damaged=frozenset(),
) -> list[DecoyGap]:
    return survey("ds", dealt(labels), recipes, damaged)


def gap(*args, **keywords) -> dict[str, tuple[str, ...]]:
    """State of each decoy in each stage."""
    return {row.decoy: row.states for row in look(*args, **keywords)}


# ---- states --------------------------------------------------------------------------------------


def test_before_the_first_build_every_decoy_is_new():
    assert gap() == dict.fromkeys(("bad", "good"), (State.NEW,) * 4)


def test_after_a_build_nothing_is_to_do_but_for_what_failed():
    build()
    assert gap() == {
        "good": ALL_DONE,
        "bad": (State.UP_TO_DATE, State.UP_TO_DATE, State.FAILED, State.FAILED),
    }


def test_a_ledger_that_lacks_a_decoy_is_named():
    chunk = build()
    ledger(chunk).write_text(
        "".join(ledger(chunk).read_text().splitlines(keepends=True)[:-1])
    )
    with pytest.raises(
        RecordError,
        match=rf"ledger/{chunk}.tsv: other models than in the plan .* \(delete it and run",
    ):
        look()


def test_a_changed_decoy_is_to_do_in_every_stage_and_its_sibling_in_none():
    build()
    Path("in/T/good.pdb").write_text("other atoms")
    assert gap()["good"] == (State.CHANGED,) * 4
    assert State.CHANGED not in gap()["bad"]


def test_an_added_decoy_is_new_and_a_removed_one_is_not_listed():
    build()
    Path("in/T/good.pdb").rename("in/T/renamed.pdb")
    states = gap()
    assert states.keys() == {"bad", "renamed"}
    assert states["renamed"] == (State.NEW,) * 4


def test_a_moved_data_set_is_up_to_date():
    build()
    Path("in").rename("moved")
    moved = planned(
        [Decoy("ds", "T", n, f"moved/T/{n}.pdb") for n in ("bad", "good")], {}
    )
    assert survey("ds", deal(moved, 10), RECIPES)[1].states == ALL_DONE


def test_a_changed_label_concerns_the_graph_alone():
    build(labels={("T", "good"): 0.25})
    assert gap(labels={("T", "good"): 0.5})["good"] == (*ALL_DONE[:3], State.RELABELLED)


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (["c0de", "other"], State.PARAMETER),
        (["c0df", "topology-parameters"], State.CODE),
    ],
    ids=["parameter", "code"],
)
def test_a_parameter_or_code_of_a_stage_concerns_this_stage_and_the_later_ones(
    now, state
):
    build()
    assert gap({**RECIPES, "topology": now})["good"] == (
        State.UP_TO_DATE,
        state,
        state,
        state,
    )
    assert gap() == {
        "good": ALL_DONE,
        "bad": (State.UP_TO_DATE, State.UP_TO_DATE, State.FAILED, State.FAILED),
    }


def test_a_damaged_artefact_is_told_where_it_lies_and_nowhere_else():
    build()
    states = gap(damaged={("topology", "T", "good"), ("interface", "U", "bad")})
    assert states["good"] == (
        State.UP_TO_DATE,
        State.DAMAGED,
        State.UP_TO_DATE,
        State.UP_TO_DATE,
    )
    assert State.DAMAGED not in states["bad"]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_file_of_the_same_size_and_time_counts_as_changed(way):
    build()
    way(Path("in/T/good.pdb"), b"doog atoms")
    assert gap()["good"] == (State.CHANGED,) * 4
    build()
    assert gap()["good"] == ALL_DONE


def test_after_a_build_by_a_version_with_other_columns_every_decoy_is_new():
    plan = Path(layout.PLAN.format(dataset="ds", chunk=build()))
    plan.write_text(plan.read_text().replace("version", "mtime_ns", 1))
    Path("in/T/good.pdb").write_text("other atoms")
    assert gap() == dict.fromkeys(("bad", "good"), (State.NEW,) * 4)


# ---- words ---------------------------------------------------------------------------------------


def test_stages_with_equal_numbers_share_a_line_and_failures_are_counted_by_status():
    build()
    rows = look({**RECIPES, "graphs": ["c0de", "other"]})
    assert describe_stages(rows) == [
        "interface, topology: 2 up to date",
        "nodes: 1 failed before (1 failed) + 1 up to date",
        "graphs: 1 failed before (1 failed) + 1 parameter changed",
    ]
    assert describe_fates(rows) == "2 models = 1 failed + 1 ok"


def test_the_two_most_frequent_reasons_of_failures_are_counted():
    def failed(decoy: str, reason: str) -> DecoyGap:
        return DecoyGap(
            "T", decoy, (State.UP_TO_DATE, *[State.FAILED] * 3), Status.FAILED, reason
        )

    rows = [
        failed("a", "rare"),
        *(failed(f"b{i}", "mkdssp failed") for i in range(3)),
        failed("c", "empty " * 20),
    ]
    rows += [
        failed("d", "empty " * 20),
        DecoyGap("T", "fine", ALL_DONE, Status.OK, "8 atoms left out"),
    ]
    assert describe_reasons(rows) == [
        "failed before, 3 of 6: mkdssp failed",
        f"failed before, 2 of 6: {'empty ' * 11}…",
    ]
    assert describe_reasons(rows[-1:]) == []


def test_the_list_names_every_decoy_and_every_label_without_one():
    build()
    given = [Label("T", "good", 0.1 + 0.2, "train"), Label("T", "gone", 0.5, "val")]
    rows = with_labels(look(), given, NOT_IN_TABLE)
    write_gap("ds", rows)
    head, *lines = Path("results/ds/gap.tsv").read_text().splitlines()
    assert tuple(head.split("\t")) == COLUMNS
    failed = ["up to date"] * 2 + ["failed before"] * 2
    assert [line.split("\t") for line in lines] == [
        ["T", "bad", *failed, "failed", "mkdssp failed", "", "", NOT_IN_TABLE],
        ["T", "gone", *["no model"] * 4, "label_without_decoy", WITHOUT_FILE, "0.5", "val", ""],
        ["T", "good", *["up to date"] * 4, "ok", "", "0.3", "train", ""],
    ]  # fmt: skip
    assert describe_missing(rows) == [
        "labels without model: 1, such as T/gone",
        "models without label: 1, such as T/bad",
    ]
    assert describe_fates(rows) == "2 models = 1 failed + 1 ok"
    assert describe_stages(rows)[0] == "interface, topology: 2 up to date"


def test_a_label_that_a_native_will_give_is_told_from_one_that_is_missing():
    expected = [Label("T", "good", math.nan, "val")]
    bad, good = with_labels(look(), expected, NO_NATIVE)
    assert (bad.label, good.label, good.dockq) == (NO_NATIVE, OF_NATIVE, None)
    why = {("T", "bad"): "none: another protein"}
    assert with_labels(look(), expected, NO_NATIVE, why)[0].label == why["T", "bad"]


def test_what_has_a_graph_or_may_get_one():
    assert [row.with_graph for row in look()] == [True, True]
    build()
    assert [row.with_graph for row in look()] == [False, True]
    for change in ("bad", "good"):
        Path(f"in/T/{change}.pdb").write_text("other atoms")
    assert [row.with_graph for row in look()] == [True, True]
    gone = with_labels([], [Label("T", "gone", 0.5, "val")], "")
    assert [row.with_graph for row in gone] == [False]


def test_a_file_that_cannot_be_read_is_known_before_it_is_built():
    Path("in/T/good.pdb").rename("in/T/a\tb.pdb")
    refused, bad = sorted(look(), key=lambda row: row.decoy != "a_b")
    assert (refused.states[0], refused.status) == (State.REFUSED, Status.UNREADABLE)
    assert refused.reason
    assert (refused.with_graph, bad.with_graph) == (False, True)


def test_status_and_reason_are_those_of_coverage():
    """A further chain that others lack, and a complex that was moved as a whole."""
    chunk = build()
    rows = [
        LedgerRow("T", "bad", Status.UNREADABLE, "interface", "no atoms", n_chains=1),
        LedgerRow("T", "good", Status.OK, "graphs", n_chains=2),
    ]
    write_ledger(ledger(chunk), Ledger(RECIPES, rows))
    plan = [row._replace(lacks="C is missing") for row in dealt()[chunk]]
    lacking = deal(plan, 10)
    write_plans("ds", lacking)
    write_ledger(ledger(next(iter(lacking))), Ledger(RECIPES, rows))
    table = coverage_table(plan, rows, [])
    seen = survey("ds", lacking, RECIPES)
    assert [row[3:5] for row in seen] == [(row.status, row.reason) for row in table]
    assert {row.status for row in seen} == {Status.CHAIN_MISSING}
    planned_decoys = dealt()[chunk]
    poses = []
    for place in range(3):
        name = ("good", "good_2", "good_3")[place]
        shape = shape_named("pose", 10.0 * place)
        poses.append(rows[1]._replace(decoy=name, shape=shape))
        if place:
            planned_decoys = [*planned_decoys, planned_decoys[1]._replace(decoy=name)]
    moved = coverage_table(planned_decoys, [rows[0], *poses], [])[:2]
    write_coverage(layout.COVERAGE.format(dataset="ds"), moved)
    assert [row[3:5] for row in look()] == [(row.status, row.reason) for row in moved]
    assert look()[1].status == Status.ONE_BODY


def test_what_a_build_removes_while_its_results_are_looked_at_is_not_there(monkeypatch):
    """Ledgers of another chunk go between listing them and looking at them."""
    removed = build()
    Path("in/T/good.pdb").write_text("other atoms")
    build()
    listed = os.scandir

    def remove_what_is_listed(folder):
        entries = list(listed(folder))
        for entry in entries:
            if entry.name == f"{removed}.tsv":
                os.unlink(entry.path)
        return entries

    monkeypatch.setattr(os, "scandir", remove_what_is_listed)
    Path("in/T/good.pdb").write_text("atoms once more")
    assert gap()["good"] == (State.CHANGED,) * 4
    assert not ledger(removed).exists()


def test_a_list_that_cannot_be_written_is_an_error_with_its_place():
    Path(layout.GAP.format(dataset="ds")).mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"gap\.tsv: cannot be written"):
        write_gap("ds", [])
