"""The table of models: one DockQ that falls with the rank, and a row for every model that went
in.
"""

from __future__ import annotations

import csv
import io
from typing import Any

import pandas as pd
import pytest
from _ranked import covered, met, record
from hypothesis import given, settings
from hypothesis import strategies as st

from toporank.building.compared import ComparedDecoy
from toporank.confidence.table import Confidence
from toporank.ranking.agreement import with_predictor
from toporank.ranking.interfaces import with_roles
from toporank.ranking.model_table import (
    best_of_each_target,
    distinct_models,
    model_table,
    read_models,
)
from toporank.structures.identity import Status
from toporank.tables.columns import CONFIDENCE, DETAILS, MODELS
from toporank.tables.frames import of_records, write


def scored(**values: float) -> dict[str, list[dict]]:
    """Scores of target T without a calibration."""
    return {"T": [record(decoy, value) for decoy, value in values.items()]}


def order(table: pd.DataFrame) -> list[tuple[str, Any]]:
    return [
        (row.decoy, None if pd.isna(row.rank) else row.rank)
        for row in table.itertuples()
    ]


def test_the_best_comes_first_and_what_has_no_score_last():
    statuses = {"unreadable": Status.UNREADABLE, "apart": Status.NO_INTERFACE, "failed": Status.FAILED,
                "lacks": Status.CHAIN_MISSING, "label": Status.NO_DECOY}  # fmt: skip
    coverage = [
        covered("low"),
        covered("high"),
        *(covered(*row) for row in statuses.items()),
    ]
    table = model_table(coverage, scored(low=0.1, high=0.85))
    assert order(table) == [
        ("high", 1), ("low", 2), ("lacks", 3), ("apart", 4), ("failed", None), ("unreadable", None),
    ]  # fmt: skip
    assert table["capri"].tolist()[:3] == ["high", "incorrect", ""]
    assert table["dockq"].notna().sum() == 2
    assert order(model_table([covered("apart", Status.NO_INTERFACE)], {})) == [
        ("apart", 1)
    ]
    assert model_table([], {}).empty


def test_two_scores_of_one_model_are_an_error():
    with pytest.raises(ValueError, match="T/d has two scores"):
        model_table([covered("d")], {"T": 2 * scored(d=0.5)["T"]})


def test_copies_share_the_rank_of_the_original_and_ties_go_by_name():
    coverage = [
        covered("d10"),
        covered("copy", duplicate_of="d2"),
        covered("d1"),
        covered("d2"),
    ]
    table = model_table(coverage, scored(d10=0.5, copy=0.9, d1=0.5, d2=0.9))
    assert order(table) == [("d2", 1), ("copy", 1), ("d1", 2), ("d10", 3)]
    assert distinct_models(table)["decoy"].tolist() == ["d2", "d1", "d10"]


def test_the_expected_dockq_decides_and_the_score_behind_it_where_that_is_equal():
    records = [
        record("a", 0.9, 0.4),
        record("b", 0.8, 0.6),
        record("c", 0.95, 0.4),
    ]
    table = model_table([covered(name) for name in "abc"], {"T": records})
    assert order(table) == [("b", 1), ("c", 2), ("a", 3)]


@settings(max_examples=25, deadline=None)
@given(
    values=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)),
        min_size=1,
        max_size=8,
    ),
    calibrate=st.booleans(),
)
def test_within_a_target_dockq_never_rises_with_the_rank(values, calibrate):
    """Whatever the scores of models and of their interfaces are, with a calibration and without."""
    names = [f"d{i}" for i in range(len(values))]
    records = []
    meetings = []
    for name, (score, dockq, other) in zip(names, values, strict=True):
        records.append(record(name, score / 5, dockq / 5 if calibrate else None))
        for pair, value in (("A:B", other / 5), ("B:C", 0.9)):
            meetings.append(met(name, pair, value))
    meetings = with_roles(meetings)
    table = model_table([covered(name) for name in names], {"T": records}, meetings)
    assert sorted(table["decoy"]) == names
    assert table["rank"].tolist() == list(range(1, len(names) + 1))
    assert table["dockq"].is_monotonic_decreasing


def test_a_target_that_networks_learned_from_is_of_no_unknown_kind():
    kind = {"kind": "protein and peptide", "unknown_kind": "protein and peptide"}
    sure = record("a", 0.9, dockq=0.85, p_acceptable=0.97, out_of_domain="x", **kind)
    for learned, verdict in (((), "check"), (["T"], "believe")):
        table = model_table([covered("a")], {"T": [sure]}, learned=learned)
        row = table.iloc[0]
        assert row["verdict"] == verdict
        assert (row["out_of_domain"] == "x") is (not learned)
        assert ("did not learn from any protein" in row["verdict_reason"]) is (
            not learned
        )


def test_another_column_can_decide():
    meetings = [met("a", "A:B", 0.9), met("a", "B:C", 0.1)]
    meetings += [met("b", "A:B", 0.4), met("b", "B:C", 0.4)]
    meetings = with_roles(meetings)
    coverage = [covered("a"), covered("b")]
    for rank_by, first in (
        ("complex", "a"),
        ("min_interface", "b"),
        ("mean_interface", "a"),
    ):
        table = model_table(coverage, scored(a=0.6, b=0.5), meetings, rank_by=rank_by)
        assert table["decoy"].iloc[0] == first
    assert table.set_index("decoy")["weakest_interface"].to_dict() == {
        "a": "B:C",
        "b": "A:B",
    }


def test_clusters_are_ranked_by_the_mean_of_their_best_four_without_copies():
    values = {
        1: [0.9, 0.3, 0.3, 0.3, 0.3],
        2: [0.6, 0.6, 0.6, 0.6, 0.0, 0.0, 0.0],
        None: [1.0],
    }
    found = {
        f"{cluster}_{i}": p for cluster, of in values.items() for i, p in enumerate(of)
    }
    among = [
        ComparedDecoy("T", name, int(name[0]) if name[0] in "12" else None, 0.5, "")
        for name in found
    ]
    coverage = [
        *(covered(name) for name in found),
        covered("copy", duplicate_of="1_0"),
    ]
    among.append(ComparedDecoy("T", "copy", 1, 0.5, ""))
    table = model_table(coverage, scored(**found, copy=0.9), comparison=among)
    pairs = {(None if pd.isna(row.cluster) else row.cluster, None if pd.isna(row.cluster_rank) else row.cluster_rank)
             for row in table.itertuples()}  # fmt: skip
    assert pairs == {(1, 2), (2, 1), (None, None)}


ODD_NAMES = [
    "NA",
    "1e5",
    "007",
    "nan",
    '"',
    "a,b",
    "Å",
    "=1+1",
    "-1",
    "+x",
    "@x",
    "'=1",
    "''-",
    "'q'",
    "\tx",
    "a\nb",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_and_numbers_survive_the_files_and_no_name_is_a_formula(tmp_path, name):
    coverage = [covered(name, target=name), covered("other", Status.FAILED, name)]
    known = {"target": name, "out_of_domain": "9 chains"}
    records = {name: [record(name, 0.123456, 0.2, **known)]}
    table = model_table(
        coverage, records, comparison=[ComparedDecoy(name, name, 1, 0.25, name)]
    )
    table = with_predictor(table, of_records(CONFIDENCE, ()))
    table["path"] = [str(tmp_path / path) for path in table["path"]]
    files = tmp_path / "models.csv", tmp_path / "details.csv"
    write(MODELS, table, files[0])
    write(DETAILS, table, files[1])
    read = read_models(*files)
    further = ["joined", "side_chains"]
    pd.testing.assert_frame_equal(
        read[list(table.columns.drop(further))],
        table.drop(columns=further),
        check_dtype=False,
    )
    for file in files:
        text = file.read_bytes().decode("utf-8-sig")
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        texts = [cell for cell in cells if not cell.removeprefix("-").isdecimal()]
        assert not any(text.startswith(("=", "@", "+", "-", "\t")) for text in texts)


def test_models_csv_looks_like_this_and_components_are_in_details_alone(tmp_path):
    coverage = [
        covered("good"),
        covered("gone", Status.UNREADABLE, reason="it is empty"),
    ]
    table = model_table(coverage, {"T": [record("good", 0.8, 0.5, p_acceptable=0.9)]})
    said = [Confidence("T", "good", "Boltz", ranking_score=0.7)]
    table = with_predictor(table, of_records(CONFIDENCE, said))
    table["path"] = [str(tmp_path / path) for path in table["path"]]
    write(MODELS, table, tmp_path / "m")
    write(DETAILS, table, tmp_path / "d")
    assert (tmp_path / "m").read_text().splitlines() == [
        "target,decoy,rank,dockq,dockq_low,dockq_high,p_acceptable,capri,verdict,verdict_reason,predictor,predictor_rank,"
        "predictor_score,predictor_measure,predictor_order,weakest_interface,weak_partners,status,reason,duplicate_of,path",
        "T,good,1,0.5,0.3,0.7,0.9,medium,believe,,Boltz,1,0.7,ranking score,own score,,,ok,,,in/good.pdb",
        "T,gone,,,,,,,,,,,,,,,,unreadable,it is empty,,in/gone.pdb",
    ]
    assert (
        (tmp_path / "d")
        .read_text()
        .splitlines()[0]
        .startswith("target,decoy,score,confidence,n_chains")
    )


def test_the_best_of_each_target_is_named():
    coverage = [
        covered("d", Status.NO_INTERFACE, "AA"),
        *(covered("d", target=f"T{i:02}") for i in range(12)),
    ]
    records = {f"T{i:02}": [record("d", 0.5, 0.5, f"T{i:02}")] for i in range(12)}
    lines = best_of_each_target(model_table(coverage, records))
    assert lines[:2] == [
        "AA  no model was scored",
        "T00  d, DockQ 0.50 (80 % interval 0.30 to 0.70), acceptable or better with 50 %: check",
    ]
    assert (len(lines), lines[-1]) == (11, "and 3 more targets")
