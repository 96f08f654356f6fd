"""targets.csv: one row for each target, most promising first."""

from __future__ import annotations

import csv
import dataclasses
import io

import pytest

from toporank.building.compared import ComparedDecoy
from toporank.building.coverage import CoverageRow
from toporank.inputs.confidence.table import Confidence
from toporank.ranking.interfaces import InterfaceRow
from toporank.ranking.leakage import LeakageRow
from toporank.ranking.ranked import ranking
from toporank.report.answer import verdict
from toporank.report.rankings import target_lines
from toporank.report.results import Study, joined_results
from toporank.report.run_card import balance
from toporank.report.run_card import coverage as coverage_of
from toporank.report.targets import target_rows, targets_text
from toporank.scorer.prediction import Estimate, Score
from toporank.structures.identity import Status


def covered(target: str, decoy: str, status: str = Status.OK) -> CoverageRow:
    known = {name: "" for name in CoverageRow._fields}
    numbers = {"n_chains": 2, "n_interface_residues": 60, "dockq": None, "model": 0}
    return CoverageRow(
        **{**known, **numbers, "target": target, "decoy": decoy, "status": status, "path": f"in/{decoy}"}
    )


@pytest.fixture
def study() -> Study:
    """A target that its predictor is sure of, one with two models of two predictors, a wrong one, and one unread."""
    coverage = [covered("sure", "a"), covered("two", "b"), covered("two", "c"), covered("bad", "d")]
    coverage += [covered("bad", "e", Status.UNREADABLE), covered("lost", "f", Status.UNREADABLE)]
    dockq = {("sure", "a"): 0.8, ("two", "b"): 0.4, ("two", "c"): 0.5, ("bad", "d"): 0.1}
    scores = [Score(*key, value, None, pred_structure=value, pred_confidence=0.6) for key, value in dockq.items()]
    chance = {"sure": 0.9, "two": 0.5, "bad": 0.1}
    trusted = {key: Estimate(0.0, 0.9, "", value, chance[key[0]]) for key, value in dockq.items()}
    table = ranking(coverage, scores, estimates=trusted)
    said = [Confidence("sure", "a", "Boltz", iptm=0.9, low_plddt=0.1), Confidence("two", "b", "Boltz")]
    said += [Confidence("two", "c", "ColabFold", iptm=0.4)]
    seen = [LeakageRow(**{name: "" for name in LeakageRow._fields} | {"target": "two", "seen_in_training": "no"})]
    results = joined_results("s", coverage, table)
    return Study(["s"], results, {}, None, {}, {}, confidence={"s": said}, leakage={"s": seen})


def test_every_target_has_one_row_the_most_promising_first(study):
    rows = target_rows(study)
    assert [(row.target, row.best, row.verdict) for row in rows] == [
        ("sure", "a", "likely"), ("two", "c", "doubtful"), ("bad", "d", "wrong"), ("lost", "", ""),
    ]  # fmt: skip
    assert [(row.n_models, row.n_scored) for row in rows] == [(1, 1), (2, 2), (2, 1), (1, 0)]


def test_copies_and_intermediate_states_have_rows_but_do_not_count(study):
    """Five models as AlphaFold writes them, PDB, mmCIF and ranked; one has no interface, and there are recycles."""
    coverage = []
    for n in range(5):
        status = Status.NO_INTERFACE if n == 4 else Status.OK
        coverage.append(covered("T", f"ranked_{n}", status))
        coverage += [
            covered("T", f"{copy}_{n}", status)._replace(duplicate_of=f"ranked_{n}") for copy in ("relaxed", "z")
        ]
        coverage.append(covered("T", f"recycle_{n}", Status.INTERMEDIATE))
    scores = [Score("T", row.decoy, 0.5, None) for row in coverage if row.status == Status.OK]
    found = Study(["s"], joined_results("s", coverage, ranking(coverage, scores)), {}, None, {}, {})
    assert len(found.decoys) == 20
    (row,) = target_rows(found)
    assert (row.n_models, row.n_scored, row.best) == (5, 4, "ranked_0")
    assert row.why.endswith("1 of 5 models has no score: 1 no interface")
    (line,) = target_lines(found, {})
    assert (line["decoys"], line["scored"]) == (5, 4)
    whole = balance(found.decoys)
    assert [whole[name] for name in ("decoys", "scored", "skipped", "copies", "intermediate")] == [5, 4, 1, 10, 5]
    assert coverage_of(found)["rows"][0]["decoys"] == 5


def test_a_row_says_what_is_known_of_the_best_model(study):
    sure, two, *_ = target_rows(study)
    assert (sure.file, sure.dockq, sure.pred_high, sure.p_acceptable, sure.iptm, sure.low_plddt) == (
        "in/a", 0.8, 0.9, 0.9, 0.9, 0.1,
    )  # fmt: skip
    assert (two.predictors, two.iptm, two.seen_in_training, two.pred_structure) == ("Boltz, ColabFold", 0.4, "no", 0.5)


def test_pairs_of_a_screen_have_a_probability_to_interact_from_the_highest_iptm(study):
    assert [row.p_interact for row in target_rows(study)] == [0.8572, 0.2596, None, None]
    of_one = [row for row in study.results if row.target == "sure"]
    assert [row.p_interact for row in target_rows(dataclasses.replace(study, results=of_one))] == [None]


def test_predictors_agree_by_the_share_of_models_of_others_in_the_cluster_of_the_best():
    decoys = {"b1": ("Boltz", 1), "b2": ("Boltz", 1), "c1": ("ColabFold", 1), "c2": ("ColabFold", 2), "x": ("", 1)}
    coverage = [covered("T", decoy) for decoy in decoys]
    compared = [ComparedDecoy("T", decoy, cluster, 0.5, "") for decoy, (_, cluster) in decoys.items()]
    table = ranking(coverage, [Score("T", d, 0.9 if d == "b1" else 0.5, None) for d in decoys], comparison=compared)
    said = [Confidence("T", decoy, predictor) for decoy, (predictor, _) in decoys.items()]
    touching = InterfaceRow("T", "b1", "A:B", 40, 90, 3.8, None, None, "", "ok", chains="C:B")
    results = joined_results("s", coverage, table)
    study = Study(["s"], results, {}, None, {}, {}, {"s": []}, interfaces={"s": [touching]}, confidence={"s": said})
    (row,) = target_rows(study)
    assert (row.best, row.chains, row.predictors_agree) == ("b1", "B:C", 0.5)
    study.confidence["s"] = said[:2]
    assert target_rows(study)[0].predictors_agree is None


def test_what_speaks_against_it_stands_as_codes_and_in_words(study):
    _, two, bad, lost = target_rows(study)
    assert two.caveats == "predictor_doubts"
    assert two.why == "the predictor itself doubts it: ipTM 0.40, below 0.6"
    assert bad.caveats.split() == ["none_acceptable", "apart"]
    assert "1 of 2 models has no score: 1 unreadable" in bad.why
    assert (lost.caveats, lost.why) == ("", "1 of 1 model has no score: 1 unreadable")


def test_the_file_has_the_rows_and_empty_cells_for_what_is_unknown(study):
    rows = list(csv.DictReader(io.StringIO(targets_text(study))))
    assert [row["target"] for row in rows] == ["sure", "two", "bad", "lost"]
    assert rows[3]["dockq"] == rows[0]["ipsae"] == ""


@pytest.mark.parametrize(
    ("dockq", "chance", "expected"),
    [
        (0.3, 0.75, "likely"), (0.6, 0.74, "doubtful"), (0.6, 0.25, "wrong"),
        (0.1, None, "wrong"), (0.3, None, "doubtful"), (0.5, None, "likely"), (0.9, None, "likely"),
    ],
)  # fmt: skip
def test_a_verdict_goes_by_the_probability_and_without_one_by_the_class(dockq, chance, expected):
    trusted = {("T", "a"): Estimate(0.0, 1.0, "", dockq, chance)}
    coverage = [covered("T", "a")]
    table = ranking(coverage, [Score("T", "a", dockq, None)], estimates=trusted)
    assert verdict(joined_results("s", coverage, table)[0]) == expected


def test_without_a_score_there_is_no_verdict():
    assert verdict(None) == ""
