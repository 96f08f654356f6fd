"""targets.csv: the most promising target first, and sentences only where they change what one
does.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pandas as pd
import pytest
from _chains import HEAVY, LIGHT
from _ranked import covered, met, record, stated

from toporank.building.compared import ComparedDecoy
from toporank.comparing.homology.chain_tables import ChainRow
from toporank.confidence.table import Confidence
from toporank.ranking.agreement import with_predictor
from toporank.ranking.interfaces import InterfaceRow, with_roles
from toporank.ranking.leakage import LeakageRow
from toporank.ranking.model_table import model_table
from toporank.ranking.target_table import target_notes, target_table
from toporank.structures.identity import Status
from toporank.tables.columns import CONFIDENCE
from toporank.tables.frames import BETWEEN, of_records


@dataclasses.dataclass
class Case:
    """Models of targets: name → DockQ, which is the probability, too; and what is known of them."""

    models: dict[str, dict[str, float | None]]
    clusters: dict[str, int] = dataclasses.field(default_factory=dict)
    record: dict[str, Any] = dataclasses.field(default_factory=dict)
    row: dict[str, Any] = dataclasses.field(default_factory=dict)
    confidence: list[Confidence] = dataclasses.field(default_factory=list)
    interfaces: list[InterfaceRow] = dataclasses.field(default_factory=list)
    chains: list[ChainRow] = dataclasses.field(default_factory=list)
    leakage: list[LeakageRow] = dataclasses.field(default_factory=list)
    between: float | None = None
    new: tuple[str, ...] = ()

    def table(self) -> pd.DataFrame:
        coverage, scores, among = [], {}, []
        for target, values in self.models.items():
            for decoy, value in values.items():
                status = Status.UNREADABLE if value is None else Status.OK
                coverage.append(covered(decoy, status, target, **self.row))
                if value is not None:
                    trust = {"p_acceptable": value, "dockq_low": value / 2}
                    trust |= {"dockq_high": 1.0, **self.record}
                    row = record(decoy, value, value, target, **trust)
                    scores.setdefault(target, []).append(row)
                    cluster = self.clusters.get(decoy)
                    among.append(ComparedDecoy(target, decoy, cluster, 0.5, ""))
        models = with_predictor(
            model_table(coverage, scores, self.interfaces, among),
            of_records(CONFIDENCE, self.confidence),
        )
        notes = target_notes(
            models,
            self.interfaces,
            self.confidence,
            self.chains,
            between=lambda target, native, model: self.between,
        )
        return target_table(
            models, notes, self.interfaces, self.confidence, self.leakage, self.new
        )

    def caveats(self) -> list[str]:
        """Of the only target."""
        (sentences,) = self.table()["caveats"]
        return sentences.split(BETWEEN) if sentences else []


def test_the_most_promising_target_comes_first_and_the_row_is_that_of_its_best_model():
    case = Case(
        {
            "low": {"m": 0.1, "lost": None},
            "none": {"m": None},
            "high": {"a": 0.9, "b": 0.8},
            "half": {"m": 0.5},
        }
    )
    case.leakage = [LeakageRow("high", "yes", "1ABC", 0.9, "it shares a chain")]
    case.interfaces = [met("a", "A:B", 0.9, "high", chains="H:X")]
    table = case.table().set_index("target")
    assert table["verdict"].to_dict() == {
        "high": "believe",
        "half": "check",
        "low": "do not believe",
        "none": "",
    }
    assert table["n_models"].tolist() == [2, 1, 2, 1]
    assert table["n_scored"].tolist() == [2, 1, 1, 0]
    best = table.loc["high"]
    assert (best["best"], best["dockq"], best["capri"], best["file"]) == (
        "a",
        0.9,
        "high",
        "in/a.pdb",
    )
    assert (
        best["partners"],
        best["seen_in_training"],
        best["nearest_training_target"],
    ) == (
        "H:X",
        "yes",
        "1ABC",
    )
    assert table.loc["low", "notes"] == "1 of 2 models has no score: 1 unreadable"
    assert pd.isna(table.loc["none", "dockq"])


def test_an_ordinary_target_has_no_caveat():
    case = Case(
        {"T": {"a": 0.9, "b": 0.85, "c": 0.2}}, clusters={"a": 1, "b": 1, "c": 2}
    )
    case.confidence = stated("a b c", iptm=[0.8] * 3, status=["ok"] * 3)
    case.record = {"network_sd": 0.3, "network": 0.1, "confidence": 0.4}
    assert case.caveats() == []
    case.record["confidence"] = float("nan")  # of no model
    assert case.table()["notes"].tolist() == [""]


TWO = {"T": {"a": 0.9, "b": 0.89}}
APART = {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (Case({"T": {"a": 0.9}}), "Only one model was given: five or more make this surer"),
        (
            Case(TWO, record={"out_of_domain": "9 chains"}),
            "The networks may err here: 9 chains",
        ),
        (Case(TWO, row={"side_chains": "no side chains in chain A"}), "no side chains in chain A"),
        (Case(TWO, clusters=APART), "b cannot be told apart from it and binds differently: look at both"),
        (
            Case(TWO, confidence=[Confidence("T", "a", "AlphaFold", iptm=0.4, status="ok")]),
            "AlphaFold itself doubts it: ipTM 0.40 is below 0.6",
        ),
        (
            Case(TWO, confidence=[Confidence("T", "b", status="incomplete", reason="x.json is damaged")]),
            "TopoRank does not use all files of the predictor of 1 of 2 models, such as b: x.json "
            "is damaged",
        ),
        (Case(TWO, confidence=[Confidence("T", "a", status="ok", reason="files differ")]), "files differ"),
        (Case(TWO, confidence=[Confidence("T", "a", status="ok", reason="a | b.json differs")]), "a|b.json differs"),
    ],
)  # fmt: skip
def test_what_changes_what_one_does_is_a_sentence(case, sentence):
    assert case.caveats() == [sentence]


@pytest.mark.parametrize(
    "case",
    [
        Case(
            {"T": {"a": 0.1, "b": 0.1}},
            clusters=APART,
            confidence=[Confidence("T", "a", iptm=0.2, status="ok")],
        ),
        Case(TWO, clusters={"a": 1, "b": 1}),
    ],
)
def test_a_model_that_nobody_believes_and_one_that_binds_alike_need_no_sentence(case):
    assert case.caveats() == []


def test_a_model_to_check_that_its_predictor_doubts_has_a_sentence():
    doubted = [Confidence("T", "a", "AlphaFold", iptm=0.4, status="ok")]
    case = Case({"T": {"a": 0.5, "b": 0.4}}, confidence=doubted)
    assert case.caveats() == ["AlphaFold itself doubts it: ipTM 0.40 is below 0.6"]


@pytest.mark.parametrize(("between", "column"), [(0.05, "caveats"), (0.8, "notes")])
def test_the_first_of_the_predictor_stands_beside_ours(between, column):
    """It is a caveat where it binds differently: then one has to look at both."""
    case = Case({"T": {"a": 0.9, "b": 0.7}}, between=between)
    case.confidence = stated("a b", ranking_score=[0.5, 0.9], status=["ok", "ok"])
    (row,) = case.table().to_dict("records")
    assert row[column].startswith("Boltz's first is b: DockQ 0.70 against 0.90")
    assert (row["predictor_rank"], row["predictor_score"]) == (2, 0.5)
    assert (row["predictor_first"], row["predictor_first_dockq"]) == ("b", 0.7)
    assert row["dockq_between"] == between


def test_a_target_that_is_new_is_marked():
    case = Case({"T": {"a": 0.9}, "U": {"a": 0.8}}, new=("U",))
    assert case.table()["new"].tolist() == ["", "yes"]


def test_a_screen_of_single_models_has_no_sentence_for_each():
    assert Case({"T": {"a": 0.9}, "U": {"a": 0.9}}).table()["caveats"].tolist() == [
        "",
        "",
    ]


def test_an_antibody_is_named_and_one_that_is_parted_gets_a_hint():
    joined = Case(
        TWO, row={"joined": "A and B are an antibody: counted as A+B against C"}
    )
    assert joined.table()["notes"].tolist() == [
        "A and B are an antibody: counted as A+B against C"
    ]
    parted = Case(TWO)
    parted.interfaces = [met(name, "A+C:B", 0.7, n_ca_pairs=80) for name in "ab"]
    parted.chains = [
        ChainRow("T", "a", "", "A", "protein", HEAVY),
        ChainRow("T", "a", "", "B", "protein", LIGHT),
    ]
    (hint,) = parted.caveats()
    assert hint.startswith(
        "A and B look like one antibody, but are different partners in A+C:B, so scores count the contacts between them; to score them as one: --partners A+B:C"
    )


def test_pairs_of_a_screen_have_a_probability_to_interact_from_the_highest_iptm():
    confidence = [
        Confidence("T", "a", iptm=0.4),
        Confidence("T", "b", iptm=0.9),
        Confidence("U", "a", iptm=0.4),
    ]
    both = (
        Case({**TWO, "U": {"a": 0.9}}, confidence=confidence)
        .table()
        .set_index("target")
    )
    assert both["p_interact"].round(2).to_dict() == {"T": 0.86, "U": 0.26}
    assert Case(TWO, confidence=confidence[:2]).table()["p_interact"].isna().all()
    of_three = [met(of, name) for of in TWO["T"] for name in ("A:B", "B:C")]
    table = Case(
        {**TWO, "U": {"a": 0.9}}, confidence=confidence, interfaces=with_roles(of_three)
    ).table()
    assert table.set_index("target")["p_interact"].notna().to_dict() == {
        "T": False,
        "U": True,
    }, "the curve was measured for two proteins"
