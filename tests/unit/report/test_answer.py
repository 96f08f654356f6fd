"""The answer on top of a score page and at the end of `toporank score`: the best decoy, and what speaks against it."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from _chains import HEAVY, LIGHT

from toporank.building.coverage import CoverageRow
from toporank.inputs.confidence.table import Confidence
from toporank.ranking.agreement import disagreements
from toporank.ranking.interfaces import InterfaceRow
from toporank.ranking.leakage import LeakageRow
from toporank.ranking.ranked import ComparedDecoy, ranking
from toporank.report.answer import answers, shown, summary
from toporank.report.results import Study, joined_results
from toporank.report.targets import target_rows
from toporank.scorer.prediction import Estimate, Score
from toporank.structures.identity import Status


def study(
    scores, lost=(), domain="", sd=0.01, copies=(), twins=(), leakage=(), network=None, clusters=(), iptm=(), least=()
) -> Study:
    """One target with these predicted DockQ, best first; decoys a, b, c …; `lost` are statuses of others.

    least : predicted DockQ of the worst interface of each, by which they are then ranked.
    """
    names = "abcdefgh"[: len(scores)]
    rows = [
        CoverageRow("T", name, Status.OK, "graphs", "", None, "", 2, 20, "x", dict(copies).get(name, ""))
        for name in names
    ]
    rows += [CoverageRow("T", f"z{i}", status, "read", "why", None, "", 2, 0, "x") for i, status in enumerate(lost)]
    table = ranking(
        rows,
        [Score("T", name, score, sd, pred_network=network) for name, score in zip(names, scores, strict=True)],
        [InterfaceRow("T", n, "A:B", 9, 9, 4.0, value, None, "", "ok") for n, value in zip(names, least, strict=False)],
        "min_interface" if least else "complex",
        comparison=[ComparedDecoy("T", n, dict(clusters).get(n, 1), 0.5, dict(twins).get(n, "")) for n in names],
        estimates={("T", name): Estimate(0.1, 0.9, domain) for name in names},
    )
    said = [Confidence("T", name, "chai1", iptm=value) for name, value in zip(names, iptm, strict=False)]
    known = {
        "leakage": {"bench": list(leakage)},
        "confidence": {"bench": said},
        "disagreements": {"bench": disagreements(table, said)},
    }
    return Study(["bench"], joined_results("bench", rows, table), {}, None, {}, {}, **known)


def answer(*given, **more) -> dict:
    (found,) = answers(study(*given, **more))
    return {**found, "caveats": [*found["caveats"].values()]}


def test_the_best_decoy_and_the_next_one():
    found = answer([0.7, 0.6])
    assert (found["best"].decoy, found["best"].pred_capri, found["best"].pred_low) == ("a", "medium", 0.1)
    assert found["next"] == "Next is b with 0.60, 0.10 behind"
    assert found["caveats"] == []


def test_of_a_model_that_was_picked_the_expected_dockq_is_told_and_its_class():
    """The score, by which it is ranked, is the highest of several and too high."""
    given = study([0.85, 0.82])
    expected = {"a": 0.45, "b": 0.44}
    rows = [row._replace(expected_dockq=expected[row.decoy]) for row in given.results]
    (found,) = answers(replace(given, results=rows))
    assert (found["best"].shown_dockq, found["best"].shown_capri, found["place"]) == (0.45, "acceptable", 1)
    assert shown(found["best"]) == "expected DockQ"
    assert found["next"] == "Next is b with 0.82 for its score, 0.03 behind"
    assert summary([found]) == "Of 1 target the best model is predicted to be acceptable for 1"


def test_chains_that_are_one_partner_are_named_with_the_answer():
    given = study([0.7])
    sentence = "A and B are an antibody: counted as A+B against C"
    joined = replace(given, results=[row._replace(joined=sentence) for row in given.results])
    assert answers(joined)[0]["joined"] == sentence
    assert [row.joined for row in target_rows(joined)] == [sentence]


def test_an_antibody_that_is_parted_gets_a_hint():
    meeting = InterfaceRow("T", "a", "A+C:B", 9, 80, 4.0, 0.7, None, "", "ok")
    sequences = {"bench": {"T": {"A": HEAVY, "B": LIGHT}}}
    parted = replace(study([0.7]), interfaces={"bench": [meeting]}, sequences=sequences)
    hint = "A and B look like one antibody, but A+C:B parts them: say {}, or scores are of their contacts, too"
    assert (answers(parted)[0]["joined"], answers(parted)[0]["hint"]) == ("", hint.format("--partners A+B:C"))
    trained = replace(parted, leaderboard=pd.DataFrame())
    assert answers(trained)[0]["hint"] == hint.format("partners=A+B:C"), "a study has no --partners, but the key"


def test_of_several_interfaces_the_answer_is_about_the_weakest():
    """The order is that of the scores of the whole."""
    given = study([0.85, 0.6])
    weakest = {"a": ("A:C", 0.2), "b": ("A:B", 0.5)}
    rows = []
    for row in given.results:
        name, dockq = weakest[row.decoy]
        rows.append(row._replace(weakest=name, min_interface=dockq, p_acceptable=dockq))
    (found,) = answers(replace(given, results=rows))
    assert (found["best"].decoy, found["best"].shown_dockq, found["best"].shown_capri) == ("a", 0.2, "incorrect")
    assert shown(found["best"]) == "predicted DockQ of its weakest interface, A:C,"
    (target,) = target_rows(replace(given, results=rows))
    assert (target.weakest, target.dockq, target.verdict, target.pred_dockq) == ("A:C", 0.2, "wrong", 0.85)


def test_one_with_the_same_interface_is_called_so():
    assert answer([0.7, 0.69], twins=[("b", "a")])["next"].endswith("; its interface is nearly the same")


def test_a_copy_of_the_best_is_not_the_next():
    assert answer([0.9, 0.9, 0.5], copies=[("b", "a")])["next"].startswith("Next is c ")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"domain": "9 chains, training had 2 to 6"},
            "out of domain, so that score and interval are an extrapolation: 9",
        ),
        ({"sd": 0.2}, "b is as good (0.60): the networks disagree by 0.20"),
        ({"sd": 0.2, "twins": [("b", "a")]}, "the networks disagree about it by 0.20"),
        (
            {"leakage": [LeakageRow("T", "yes", "1ABC", 0.9, "it shares a chain with 1ABC")]},
            "seen in training, so that",
        ),
        ({"network": 0.9}, "the networks alone predict 0.90 (high)"),
    ],
)
def test_whatever_speaks_against_it_is_said_in_words(more, words):
    (caveat,) = answer([0.7, 0.6], **more)["caveats"]
    assert caveat.startswith(words)


@pytest.mark.parametrize(
    ("more", "rival"),
    [
        ({}, ["b is as good (0.69)"]),
        ({"sd": 0.05}, ["b is as good (0.69): the networks disagree by 0.05"]),
        ({"twins": [("b", "a")]}, []),
        ({"twins": [("a", "b")]}, []),
        ({"copies": [("b", "a")]}, []),
    ],
)
def test_another_decoy_is_as_good_within_the_disagreement_unless_it_is_nearly_the_same(more, rival):
    assert answer([0.7, 0.69, 0.5], **more)["caveats"] == rival


def test_a_cluster_that_is_not_the_best_is_told():
    found = answer([0.7, 0.66, 0.66, 0.5], clusters=[("b", 2), ("c", 2)])["caveats"]
    assert found == ["its cluster ranks only number 2"]


def test_a_predictor_that_prefers_another_decoy_is_heard():
    found = answer([0.7, 0.3, 0.25], iptm=[0.7, 0.9, 0.6])["caveats"]
    assert found == ["b has the highest ipTM (0.9), here number 2 of 3"]


def test_a_best_model_without_side_chains_is_named_once():
    given = study([0.7, 0.3])
    note = "no side chains in chain A (all glycine), chain B (backbone only): the score means little"
    bare = replace(given, results=[row._replace(reason=f"1 MSE read as MET; {note}") for row in given.results])
    (entry,) = answers(bare)
    assert entry["caveats"]["no_side_chains"] == note
    assert "no_side_chains" not in answers(given)[0]["caveats"]


def test_a_predictor_that_doubts_what_the_scorer_likes_is_heard():
    (doubt,) = answer([0.7, 0.5], iptm=[0.26, 0.2])["caveats"]
    assert doubt == "the predictor itself doubts it: ipTM 0.26, below 0.6"
    assert answer([0.7, 0.5], iptm=[0.61, 0.2])["caveats"] == []


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ([Status.PARTNER_APART, Status.PARTNER_APART], "2 of 4 models have no score: 2 partner apart"),
        ([Status.UNREADABLE], "1 of 3 models has no score: 1 unreadable"),
    ],
)
def test_decoys_without_score_are_counted(lost, words):
    assert answer([0.7, 0.6], lost=lost)["lost"] == words


def test_a_target_that_is_new_has_no_caveat():
    assert answer([0.7, 0.6], leakage=[LeakageRow("T", "no", "1ABC", 0.1, "new")])["caveats"] == []


def test_of_wrong_decoys_the_best_is_no_answer():
    assert answer([0.2, 0.1])["caveats"][0].startswith("no model is predicted to be acceptable")


def test_ranked_by_the_worst_interface_the_first_need_not_be_the_best_of_all():
    assert answer([0.2, 0.6], least=[0.18, 0.05])["caveats"] == []
    found = answer([0.69, 0.7], least=[0.6, 0.5])
    assert found["caveats"] == []
    assert found["ranked_by"] == "its weakest interface: 0.60"
    assert found["next"] == "Next is b with 0.50, 0.10 behind"
    assert answer([0.69, 0.3], least=[0.6, 0.59])["caveats"] == ["b is as good (0.59)"]


def test_a_single_decoy_and_none_at_all():
    """Only the judge looks at the other decoys of a target."""
    assert answer([0.9], network=0.9)["caveats"] == ["a single model: scores are more reliable with several"]
    assert answer([0.9])["caveats"] == []
    found = answer([], lost=[Status.NO_INTERFACE])
    assert (found["best"], found["caveats"]) == (None, [])
    assert found["lost"] == "1 of 1 model has no score: 1 no interface"


def test_many_targets_are_summed_up_by_class():
    found = [answer([score]) for score in (0.9, 0.85, 0.3)] + [answer([], lost=[Status.FAILED])]
    expected = "Of 4 targets the best model is predicted to be high for 2, acceptable for 1 and unknown for 1"
    assert summary(found) == expected
    assert summary(found[:1]) == "Of 1 target the best model is predicted to be high for 1"


def apart(structure: float, confidence: float) -> list[str]:
    """What is said of a model whose structure and confidence speak for these DockQ."""
    row = CoverageRow("T", "a", Status.OK, "graphs", "", None, "", 2, 20, "x")
    known = {"pred_structure": structure, "pred_confidence": confidence}
    table = ranking([row], [Score("T", "a", (structure + confidence) / 2, None, **known)])
    (found,) = answers(Study(["s"], joined_results("s", [row], table), {}, None, {}, {}))
    return [text for code, text in found["caveats"].items() if code == "apart"]


def test_where_structure_and_confidence_speak_for_different_classes_it_is_said_who_doubts():
    doubts = "the structure looks right, the predictor doubts it: 0.69 by structure, 0.09 by confidence"
    assert apart(0.69, 0.09) == [doubts]
    sure = "the predictor is sure of it, the structure does not look right: 0.10 by structure, 0.70 by confidence"
    assert apart(0.1, 0.7) == [sure]


@pytest.mark.parametrize(("structure", "confidence"), [(0.5, 0.79), (0.45, 0.55), (0.1, 0.22)])
def test_a_small_contrast_and_one_within_a_class_are_none(structure, confidence):
    assert apart(structure, confidence) == []


def of_unused(*reasons: str) -> str:
    """The caveat on models, of which not all that their predictor left is used, for these reasons; empty for none."""
    rows = [CoverageRow("T", f"m{i}", Status.OK, "graphs", "", None, "", 2, 20, "x") for i in range(len(reasons))]
    table = ranking(rows, [Score("T", f"m{i}", 0.7 - 0.1 * i, None) for i in range(len(reasons))])
    said = [Confidence("T", f"m{i}", status="incomplete" if why else "ok", reason=why) for i, why in enumerate(reasons)]
    other = Confidence("U", "m0", status="incomplete", reason="of another target")
    study = Study(["s"], joined_results("s", rows, table), {}, None, {}, {}, confidence={"s": [*said, other]})
    (found,) = answers(study)
    return found["caveats"].get("confidence_unused", "")


def test_that_a_file_of_the_predictor_is_not_used_is_said_with_the_answer():
    assert of_unused("", "") == ""
    assert of_unused("a.json is cut off") == "TopoRank does not use all that the predictor left: a.json is cut off"
    assert of_unused("", "b.json is empty", "c.json is empty") == (
        "TopoRank does not use all that the predictor left of 2 of 3 models, such as m1: b.json is empty"
    )


def test_which_of_two_files_with_plddt_counts_is_said_with_the_best_model():
    rows = [CoverageRow("T", name, Status.OK, "graphs", "", None, "", 2, 20, "x") for name in ("a", "b")]
    table = ranking(rows, [Score("T", "a", 0.7, None), Score("T", "b", 0.6, None)])
    said = [Confidence("T", name, status="ok", reason=f"the B factors of {name} are others") for name in ("a", "b")]
    (found,) = answers(Study(["s"], joined_results("s", rows, table), {}, None, {}, {}, confidence={"s": said}))
    assert found["caveats"]["b_factors_differ"] == "the B factors of a are others"
    assert "confidence_unused" not in found["caveats"]


def of_some(confidence: list[float | None]) -> str:
    """The caveat on models beside which others have confidence of their predictor; empty for none."""
    rows = [CoverageRow("T", f"m{i}", Status.OK, "graphs", "", None, "", 2, 20, "x") for i in range(len(confidence))]
    scores = [
        Score("T", f"m{i}", 0.7 - 0.1 * i, None, pred_structure=0.7 - 0.1 * i, pred_confidence=known)
        for i, known in enumerate(confidence)
    ]
    (found,) = answers(Study(["s"], joined_results("s", rows, ranking(rows, scores)), {}, None, {}, {}))
    return found["caveats"].get("some_confidence", "")


def test_models_with_confidence_beside_models_without_are_ranked_on_two_scales():
    assert of_some([0.7, None, 0.5, None]) == (
        "2 of 4 models have no confidence of their predictor: TopoRank ranks them by structure alone, beside the "
        "others (`--without-confidence` ranks all by structure)"
    )
    assert of_some([None, 0.6]).startswith("1 of 2 models has no confidence of its predictor: TopoRank ranks it by")
    assert of_some([0.7, 0.6]) == of_some([None, None]) == ""
