"""A ranking against labels: splits apart, and nothing labelled goes uncounted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from toporank.confidence.table import Confidence
from toporank.finding.labels import Label
from toporank.ranking.evaluation import CONFIDENCE, CONSENSUS, calibration, evaluate
from toporank.ranking.interfaces import InterfaceRow
from toporank.tables.columns import CONFIDENCE as CONFIDENCES
from toporank.tables.columns import INTERFACES
from toporank.tables.frames import of_records


def labels(*rows: tuple[str, str, float, str]) -> list[Label]:
    return [Label(*row) for row in rows]


def predictions(*rows: tuple[str, str, float | None]) -> pd.DataFrame:
    """As much of a ranking as evaluation looks at; None for a decoy that was not scored."""
    table = pd.DataFrame(rows, columns=["target", "decoy", "score"])
    return table.assign(
        network_sd=0.1, dockq_low=np.nan, dockq_high=np.nan, consensus=np.nan
    )


LABELS = labels(
    ("A", "d1", 0.9, "train"),
    ("A", "d2", 0.5, "train"),
    ("A", "d3", 0.1, "train"),
    ("V", "d1", 0.8, "val"),
    ("V", "d2", 0.3, "val"),
    ("V", "d3", 0.0, "val"),
    ("V", "gone", 0.7, "val"),
    ("V", "apart", 0.0, "val"),
)
PREDICTED = predictions(
    ("A", "d1", 0.9), ("A", "d2", 0.5), ("A", "d3", 0.1),
    ("V", "d1", 0.2), ("V", "d2", 0.6), ("V", "d3", 0.1), ("V", "apart", None),
    ("V", "unlabelled", 0.99),
)  # fmt: skip


def test_every_split_is_summarised_apart_and_what_was_not_scored_is_counted():
    table, summary = evaluate(PREDICTED, LABELS)
    train, val = summary["train"], summary["val"]
    assert train["per_target"]["ranking_loss"]["mean"] == 0.0
    assert train["pooled"]["spearman"]["value"] == pytest.approx(1.0)
    assert val["per_target"]["ranking_loss"]["mean"] == pytest.approx(0.8 - 0.3)
    # ranks 3 2 1 against 2 3 1
    assert val["pooled"]["spearman"]["value"] == pytest.approx(0.5)
    assert (train["n_labels"], train["n_not_scored"]) == (3, 0)
    assert (val["n_labels"], val["n_not_scored"], val["n_decoys"]) == (5, 2, 3)
    shown = table[["target", "split", "n_decoys", "top_decoy", "top_dockq"]]
    assert shown.values.tolist() == [
        ["A", "train", 3, "d1", 0.9],
        ["V", "val", 3, "d2", 0.3],
    ]


def test_the_spread_is_compared_with_the_error_of_each_split():
    _, summary = evaluate(PREDICTED, LABELS)
    assert summary["val"]["calibration"]["n"] == 3
    # errors 0.6, 0.3 and 0.1
    assert summary["val"]["calibration"]["within_1_sd"] == pytest.approx(1 / 3)
    assert (
        evaluate(PREDICTED.assign(network_sd=np.nan), LABELS)[1]["val"]["calibration"]
        is None
    )


def test_neither_the_order_of_rows_nor_decoys_without_label_change_anything():
    table, summary = evaluate(PREDICTED, LABELS)
    other = PREDICTED[PREDICTED["decoy"] != "unlabelled"][::-1]
    other_table, other_summary = evaluate(other, [*LABELS[3:], *LABELS[:3]])
    pd.testing.assert_frame_equal(table, other_table)
    assert summary == other_summary


def test_decoys_of_one_name_in_two_targets_keep_their_own_scores():
    _, summary = evaluate(
        predictions(("A", "d", 0.9), ("B", "d", 0.1)),
        labels(("A", "d", 0.9, "val"), ("B", "d", 0.1, "val")),
    )
    assert summary["val"]["pooled"]["mae"]["value"] == pytest.approx(0.0)


def test_a_split_without_any_score_is_counted_and_has_no_metric():
    table, summary = evaluate(
        predictions(("A", "d", 0.5)),
        labels(("A", "d", 0.5, "test"), ("B", "d", 0.5, "val")),
    )
    assert summary["val"] == {"n_labels": 1, "n_not_scored": 1}
    assert table["split"].tolist() == ["test"]


def test_without_any_score_there_is_an_empty_table():
    table, summary = evaluate(predictions(), labels(("A", "d", 0.5, "val")))
    assert table.empty
    assert summary == {"val": {"n_labels": 1, "n_not_scored": 1}}


def test_the_consensus_is_held_against_the_same_decoys():
    """It is no DockQ, so it has no error; a decoy without others has none, and that is no merit."""
    consensus = {("V", "d1"): 0.9, ("V", "d2"): 0.4, ("V", "d3"): 0.1}
    known = pd.concat([PREDICTED, predictions(("W", "lonely", 0.5))], ignore_index=True)
    known["consensus"] = [
        consensus.get(key, np.nan)
        for key in zip(known["target"], known["decoy"], strict=True)
    ]
    table, summary = evaluate(known, [*LABELS, Label("W", "lonely", 0.7, "val")])
    assert CONSENSUS not in summary["train"]
    of_val = summary["val"][CONSENSUS]
    assert (
        of_val["per_target"]["ranking_loss"]["mean"]
        == 0.0
        < summary["val"]["per_target"]["ranking_loss"]["mean"]
    )
    assert of_val["n_decoys"] == summary["val"]["n_decoys"] == 4
    assert of_val["pooled"].keys() == {"spearman", "pearson", "auroc"}
    by_consensus = table.set_index("target").loc["V"]
    assert (by_consensus["consensus_top_decoy"], by_consensus["top_decoy"]) == (
        "d1",
        "d2",
    )
    assert "consensus_best_dockq" not in table


def test_labels_of_interfaces_are_compared_with_the_predictions_of_interfaces():
    """Ranked among those of one name: decoy b has the better A:B, decoy a the better A:C."""
    true = {("a", "A:B"): 0.1, ("b", "A:B"): 0.7, ("a", "A:C"): 0.9, ("b", "A:C"): 0.3}
    parts = [
        Label("T", decoy, dockq, "val", interface=name)
        for (decoy, name), dockq in true.items()
    ]
    found = [
        InterfaceRow(
            "T",
            decoy,
            name,
            9,
            9,
            5.0,
            0.5 if name == "A:C" else true[decoy, name],
            None,
            "ok",
        )
        for decoy, name in true
    ]
    found = of_records(INTERFACES, found)
    _, summary = evaluate(predictions(), [Label("T", "a", 0.5, "val"), *parts], found)
    assert (summary["val"]["n_labels"], summary["val"]["n_not_scored"]) == (1, 1)
    of_parts = summary["val"]["interfaces"]
    assert (
        of_parts["n_labels"],
        of_parts["n_not_scored"],
        of_parts["n_targets"],
        of_parts["n_decoys"],
    ) == (4, 0, 2, 4)
    assert of_parts["per_target"]["ranking_loss"]["mean"] == pytest.approx(0.0)
    assert of_parts["n_clusters"] == 1  # two interfaces of one target
    _, summary = evaluate(predictions(), parts, found[:3])
    assert summary["val"]["interfaces"]["n_not_scored"] == 1


def test_intervals_are_over_clusters_where_they_are_known():
    given = labels(
        *((target, f"d{i}", i / 4, "val") for target in "ABC" for i in range(4))
    )
    scored = predictions(
        *(
            (x.target, x.decoy, x.dockq if x.target == "A" else 1 - x.dockq)
            for x in given
        )
    )
    losses = []
    for clusters in (None, {"A": "A", "B": "B", "C": "B"}, dict.fromkeys("ABC", "A")):
        summary = evaluate(scored, given, clusters=clusters)[1]["val"]
        losses.append(
            (
                summary["n_clusters"],
                *(
                    summary["per_target"]["ranking_loss"][key]
                    for key in ("mean", "low")
                ),
            )
        )
    assert losses == [(3, 0.5, 0.0), (2, 0.5, 0.0), (1, 0.5, None)]


def test_each_measure_of_the_predictor_is_a_baseline_for_the_decoys_that_have_it():
    """The scorer stands beside it for the same decoys; of PAE the lowest is best."""
    said = [
        Confidence("V", f"d{n}", iptm=iptm, interface_pae=30 * (1 - iptm))
        for n, iptm in ((1, 0.9), (2, 0.4))
    ]
    table, summary = evaluate(
        PREDICTED, LABELS, confidence=of_records(CONFIDENCES, said)
    )
    assert CONFIDENCE not in summary["train"]
    assert summary["val"][CONFIDENCE].keys() == {"iptm", "interface_pae"}
    for found in summary["val"][CONFIDENCE].values():
        assert (found["n_decoys"], found["per_target"]["ranking_loss"]["mean"]) == (
            2,
            0.0,
        )
        assert found["scorer"] == {
            "ranking_loss": 0.5,
            "success_at_1": 1.0,
            "spearman": None,
        }
        assert found["pooled"].keys() == {"spearman", "pearson", "auroc"}
    of_target = table.set_index("target")["iptm_ranking_loss"]
    assert of_target["V"] == 0
    assert pd.isna(of_target["A"])


Y = np.full(10, 0.5)
SD = np.arange(1, 11) / 100


@pytest.mark.parametrize(
    ("predicted", "sd", "spearman", "within"),
    [(Y + SD, SD * 1.0001, 1.0, (1.0, 1.0)), (Y - 1.5 * SD, SD, 1.0, (0.0, 1.0)), (Y + SD[::-1], SD, -1.0, (0.5, 0.7)),
     (Y + SD, np.full(10, 0.1), None, (1.0, 1.0))],
)  # fmt: skip
def test_the_spread_is_compared_with_the_error(predicted, sd, spearman, within):
    found = calibration(Y, predicted, sd)
    assert found["spearman"] == (None if spearman is None else pytest.approx(spearman))
    assert (found["within_1_sd"], found["within_2_sd"]) == within
    assert [row["n"] for row in found["table"]] == [2] * 5
    assert [row["sd"] for row in found["table"]] == sorted(
        row["sd"] for row in found["table"]
    )


def test_decoys_without_a_spread_are_left_out():
    assert calibration(Y, Y + 0.1, np.where(np.arange(10) < 4, np.nan, SD))["n"] == 6
    assert calibration(Y, Y, np.full(10, np.nan)) is None
