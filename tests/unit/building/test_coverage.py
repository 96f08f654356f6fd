"""Coverage: every decoy and every label has one row, the numbers add up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structures_text import shape_named
from toporank.app.config import Coverage
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.coverage import (
    CoverageRow,
    check_policy,
    conflicting,
    counts,
    coverage_table,
    describe_labels,
    read_coverage,
    write_coverage,
)
from toporank.errors import ConfigError, RecordError
from toporank.finding.labels import Label
from toporank.structures.identity import Status

ODD_NAMES = [
    "NA", "nan", "null", "None", "1e5", "007", "3E12", "True", "-", "=1+1", "'=1", "+1", "@x", "'", '"', "'q'", "a b",
    " a", "#x", "a,b", "Å",
]  # fmt: skip


pytestmark = pytest.mark.usefixtures("own_folder")


def planned(*keys: tuple[str, str]) -> list[PlannedDecoy]:
    return [
        PlannedDecoy(target, decoy, f"in/{target}/{decoy}.pdb", 10, 0, "")
        for target, decoy in keys
    ]


def fate(
    target: str, decoy: str, status: str = Status.OK, reason: str = "", **other
) -> LedgerRow:
    known = {"n_chains": 2, "n_interface_residues": 9} if status == Status.OK else {}
    return LedgerRow(
        target,
        decoy,
        status,
        other.pop("stage", "graphs"),
        reason,
        **{**known, **other},
    )


def labels(*rows: tuple[str, str, float, str]) -> list[Label]:
    return [Label(*row) for row in rows]


NO_CONTACT = {"stage": "interface", "n_chains": 2, "n_interface_residues": 0}
NO_DSSP = {"stage": "nodes", "n_chains": 2, "n_interface_residues": 4}


@pytest.fixture
def table() -> list[CoverageRow]:
    """Four decoys of two targets, one of each fate; one is not labelled, one label has no decoy."""
    return coverage_table(
        planned(("B", "d1"), ("A", "d2"), ("A", "d1"), ("A", "d3")),
        [
            fate("A", "d1"),
            fate("A", "d2", Status.NO_INTERFACE, "closest 31.4 Å", **NO_CONTACT),
            fate("A", "d3", Status.UNREADABLE, "the file is empty", stage="interface"),
            fate("B", "d1", Status.FAILED, 'mkdssp said: "no"', **NO_DSSP),
        ],
        labels(
            ("A", "d1", 0.9, "train"),
            ("A", "d2", 0.0, "train"),
            ("B", "d1", 0.5, "val"),
            ("B", "d9", 0.1 + 0.2, "val"),
        ),
    )


def write(table: list[CoverageRow]) -> Path:
    path = Path("coverage.tsv")
    write_coverage(path, table)
    return path


# ---- the table -----------------------------------------------------------------------------------


def test_every_decoy_and_every_label_has_one_row(table):
    without_file = "the label table names it, but there is no such file"
    of_a1, of_a2, of_a3 = (f"in/A/d{i}.pdb" for i in (1, 2, 3))
    assert [row[:10] for row in table] == [
        ("A", "d1", "ok", "graphs", "", 0.9, "train", 2, 9, of_a1),
        (
            "A",
            "d2",
            "no_interface",
            "interface",
            "closest 31.4 Å",
            0.0,
            "train",
            2,
            0,
            of_a2,
        ),
        (
            "A",
            "d3",
            "unreadable",
            "interface",
            "the file is empty",
            None,
            "",
            None,
            None,
            of_a3,
        ),
        (
            "B",
            "d1",
            "failed",
            "nodes",
            'mkdssp said: "no"',
            0.5,
            "val",
            2,
            4,
            "in/B/d1.pdb",
        ),
        (
            "B",
            "d9",
            "label_without_decoy",
            "",
            without_file,
            0.1 + 0.2,
            "val",
            None,
            None,
            "",
        ),
    ]


def test_a_decoy_that_was_not_asked_for_says_so():
    (row,) = coverage_table(planned(("A", "d")), [], labels())
    assert (row.status, row.reason) == (
        Status.NOT_BUILT,
        "its target was not requested",
    )


def test_a_data_set_without_labels_is_covered_too():
    table = coverage_table(planned(("A", "d")), [fate("A", "d")], labels())
    assert [row.status for row in read_coverage(write(table))] == ["ok"]
    assert counts(table) == "1 model = 1 ok; 0 labels = 0; 1 model without label"


@pytest.mark.parametrize("what", ["plan", "fate", "label"])
def test_a_decoy_that_is_given_twice_is_an_error(what):
    given = [planned(("A", "d")), [fate("A", "d")], labels(("A", "d", 0.5, "train"))]
    twice = [
        2 * part if name == what else part
        for name, part in zip(("plan", "fate", "label"), given, strict=True)
    ]
    with pytest.raises(ValueError, match="A/d is given twice"):
        coverage_table(*twice)


# ---- the file ------------------------------------------------------------------------------------


def test_the_file_looks_like_this(table):
    assert write(table).read_text().splitlines()[:3] == [
        "target\tdecoy\tstatus\tstage\treason\tdockq\tsplit\tn_chains\tn_interface_residues\tpath\tduplicate_of"
        "\tchains\tmodel\tjoined\tside_chains",
        "A\td1\tok\tgraphs\t\t0.9\ttrain\t2\t9\tin/A/d1.pdb\t\t\t0\t\t",
        "A\td2\tno_interface\tinterface\tclosest 31.4 Å\t0.0\ttrain\t2\t0\tin/A/d2.pdb\t\t\t0\t\t",
    ]


@pytest.mark.parametrize("mark", ["\t", "\n", "\r"])
def test_a_name_that_is_more_than_a_cell_is_an_error_that_names_it(mark):
    table = coverage_table([], [], labels(("A", f"a{mark}b", 0.5, "train")))
    with pytest.raises(
        ConfigError,
        match=r"coverage\.tsv: target 'A', model 'a\\.b': a tab or line break",
    ):
        write(table)


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_survive_the_way_through_the_file(name):
    table = coverage_table(
        planned((name, name), ("other", "d")),
        [fate(name, name, Status.FAILED, name), fate("other", "d")],
        labels((name, name, 0.5, "train"), (name, "without", 0.25, "train")),
    )
    back = read_coverage(write(table))
    assert back == table
    assert {row[:2] for row in back} == {
        (name, name),
        (name, "without"),
        ("other", "d"),
    }


def test_the_table_comes_back_as_it_was(table):
    assert read_coverage(write(table)) == table


# ---- counts --------------------------------------------------------------------------------------


def test_the_line_of_counts_reads_like_this(table):
    assert counts(table) == (
        "4 models = 1 failed + 1 no_interface + 1 ok + 1 unreadable; "
        "4 labels = 1 failed + 1 label_without_decoy + 1 no_interface + 1 with a graph; "
        "1 model without label"
    )


KEYS = st.tuples(st.sampled_from("AB"), st.sampled_from(["d1", "d2", "d3", "d4"]))


def test_copies_of_a_model_with_another_label_are_named():
    given = labels(
        ("A", "a", 0.25, "train"), ("A", "b", 0.95, "train"), ("A", "c", 0.254, "train")
    )
    rows = coverage_table(
        planned(("A", "a"), ("A", "b"), ("A", "c")),
        [fate("A", d) for d in "abc"],
        given,
    )
    copies = [
        row._replace(duplicate_of="" if row.decoy == "a" else "a") for row in rows
    ]
    assert conflicting(copies) == (
        "1 copy has another DockQ than the same atoms under another name, such as A/b (0.95) and "
        "a (0.25)"
    )
    assert conflicting(rows) == ""


STATUSES = [Status.OK, Status.NO_INTERFACE, Status.UNREADABLE, Status.FAILED]


@settings(max_examples=20)
@given(st.dictionaries(KEYS, st.sampled_from(STATUSES)), st.sets(KEYS))
def test_the_numbers_add_up(fates, labelled):
    table = coverage_table(
        planned(*fates),
        [fate(*key, status) for key, status in fates.items()],
        labels(*((*key, 0.5, "train") for key in labelled)),
    )
    assert len(table) == len(fates.keys() | labelled)
    decoys, with_label, without = counts(table).split("; ")
    for part, total in ((decoys, len(fates)), (with_label, len(labelled))):
        first, *rest = map(int, re.findall(r"\d+(?= )", part))
        assert first == total == sum(rest)
    n_without = len(fates.keys() - labelled)
    plural = "" if n_without == 1 else "s"
    assert without == f"{n_without} model{plural} without label"
    good = sum(fates.get(key) == Status.OK for key in labelled)
    assert (f"{good} with a graph" in with_label) == (good > 0)


# ---- policy --------------------------------------------------------------------------------------


def covered(good: int, bad: int) -> list[CoverageRow]:
    """A table of labelled decoys, some with a graph and some without."""
    keys = [("A", f"d{i:03d}") for i in range(good + bad)]
    return coverage_table(
        planned(*keys),
        [
            fate(*key, Status.OK if i < good else Status.FAILED)
            for i, key in enumerate(keys)
        ],
        labels(*((*key, 0.5, "train") for key in keys)),
    )


@pytest.mark.parametrize(
    ("good", "bad", "policy", "enough"),
    [
        (10, 0, {}, True),
        (9, 1, {}, True),  # 90 % is the default
        (8, 1, {}, False),
        (1, 9, {"minimum_percent": 0}, True),
        (99, 1, {"minimum_percent": 100}, False),
        (9, 0, {"minimum_percent": 100}, True),
        (0, 0, {}, False),
        (0, 0, {"minimum_percent": 0}, True),
    ],
)
def test_training_stops_when_too_few_labels_have_a_graph(good, bad, policy, enough):
    table = covered(good, bad)
    if enough:
        check_policy(table, Coverage(**policy), "ds")
    else:
        with pytest.raises(ConfigError):
            check_policy(table, Coverage(**policy), "ds")


def test_a_label_without_decoy_counts_against_it():
    table = coverage_table(
        planned(("A", "d1")),
        [fate("A", "d1")],
        labels(("A", "d1", 0.5, "train"), ("A", "d2", 0.5, "train")),
    )
    with pytest.raises(ConfigError, match="1 label_without_decoy"):
        check_policy(table, Coverage(), "ds")


def test_the_error_says_how_many_why_where_and_what_to_do():
    message = (
        r"^dataset bm55: 2 of 8 labels \(25\.0 %\) have a graph, at least 75 % must \(missing: 6 "
        r"failed\) \(see results/bm55/coverage\.tsv"
    )
    with pytest.raises(ConfigError, match=message):
        check_policy(covered(2, 6), Coverage(minimum_percent=75), "bm55")


def split_in(train: tuple[int, int], val: tuple[int, int]) -> list[CoverageRow]:
    """Labels of both splits, some of each with a graph: (with, all)."""
    rows = []
    for split, (good, n) in (("train", train), ("val", val)):
        for i in range(n):
            status = Status.OK if i < good else Status.FAILED
            dockq = 0.8 if i < good else 0.2
            rows.append(CoverageRow(split, f"d{i}", status, dockq=dockq, split=split))
    return rows


def test_each_split_must_have_enough():
    check_policy(split_in((18, 20), (9, 10)), Coverage(), "ds")
    message = (
        r"^dataset ds: 93 of 100 labels \(93\.0 %\) have a graph \(train 90 of 94, 95\.7 %, val 3 of "
        r"6, 50\.0 %\), at least 90 % of each split must \(missing: 7 failed\)"
    )
    with pytest.raises(ConfigError, match=message):
        check_policy(split_in((90, 94), (3, 6)), Coverage(), "ds")


def test_labels_with_a_graph_are_counted_for_each_split_and_compared_with_the_others():
    assert describe_labels(split_in((8684, 8723), (3366, 3397))) == (
        "labels with a graph: train 8,684 of 8,723, val 3,366 of 3,397; mean DockQ 0.800, of the "
        "others 0.200"
    )
    complete = [row._replace(split="") for row in split_in((2, 2), (0, 0))]
    assert describe_labels(complete) == "labels with a graph: 2 of 2"
    assert describe_labels([]) == ""


@pytest.mark.parametrize("n", [7, 100])
def test_a_limit_that_is_met_exactly_is_met(n):
    for good in range(n - 6, n + 1):
        check_policy(
            covered(good, n - good), Coverage(minimum_percent=100 * good / n), "ds"
        )


def test_copies_are_told_from_the_first_of_their_target_and_from_nothing_else():
    """By their shapes, whatever the files are; a model with a graph is no copy of one without."""
    plan = planned(
        *(("A", name) for name in ("ranked_0", "relaxed_1", "relaxed_2", "failed")),
        ("B", "ranked_0"),
    )
    same = [
        fate(t, d, shape=shape_named("ab"))
        for t, d in (("A", "relaxed_1"), ("A", "ranked_0"), ("B", "ranked_0"))
    ]
    other = [
        fate("A", "relaxed_2", shape=shape_named("cd")),
        fate("A", "failed", Status.FAILED, shape=shape_named("ab")),
    ]
    found = {
        (row.target, row.decoy): row.duplicate_of
        for row in coverage_table(plan, [*same, *other], [])
    }
    assert {key: first for key, first in found.items() if first} == {
        ("A", "relaxed_1"): "ranked_0"
    }


def test_a_file_without_a_result_is_a_copy_of_the_same_file_under_another_name():
    names = ("ranked_3", "unrelaxed_4", "other", "state")
    files = dict(zip(names, (77, 77, 78, 77), strict=True))
    plan = [
        row._replace(version=files[row.decoy])
        for row in planned(*(("A", name) for name in names))
    ]
    plan[3] = plan[3]._replace(refused="no model")
    fates = [fate("A", name, Status.NO_INTERFACE) for name in names]
    found = {row.decoy: row.duplicate_of for row in coverage_table(plan, fates, [])}
    assert {name: first for name, first in found.items() if first} == {
        "unrelaxed_4": "ranked_3"
    }


def test_models_that_are_one_complex_moved_have_a_status_of_their_own():
    names = "pose_1", "pose_2", "pose_3", "apart", "other"
    plan = planned(*(("A", name) for name in names))
    fates = []
    for place, name in enumerate(names):
        shape = shape_named("other" if name == "other" else "pose", 10.0 * place)
        if name != "apart":
            fates.append(fate("A", name, reason="1 MSE read as MET", shape=shape))
    table = {row.decoy: row for row in coverage_table(plan, fates, [])}
    assert [table[name].status for name in names] == [
        *3 * [Status.ONE_BODY], Status.NOT_BUILT, Status.OK
    ]  # fmt: skip
    assert table["pose_1"].reason.startswith(
        "3 models of the target are one complex, moved as a whole"
    )
    assert table["pose_1"].reason.endswith("; 1 MSE read as MET")


@pytest.mark.parametrize("content", ["", "x\n", "target\tdecoy\n", "\xff"])
def test_a_damaged_table_is_one_line_and_not_an_empty_data_set(table, content):
    path = write(table)
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(
        RecordError,
        match=r"^coverage\.tsv: not a coverage table: .* \(delete it and run again\)$",
    ):
        read_coverage(path)
