"""The answer on top of a score page: the best decoy, the next, and what speaks against it."""

from __future__ import annotations

import pytest

from toporank.decoys.identity import Status
from toporank.evaluation.confidence import Estimate
from toporank.evaluation.coverage import CoverageRow
from toporank.evaluation.interfaces import Score
from toporank.evaluation.leakage import LeakageRow
from toporank.evaluation.ranking import ComparedDecoy, ranking
from toporank.report.answer import answers, summary
from toporank.report.results import Study, joined_results


def study(scores, lost=(), domain="", sd=0.05, copies=(), twins=(), leakage=()) -> Study:
    """One target with these predicted DockQ, best first; decoys a, b, c …; `lost` are statuses of others."""
    names = "abcdefgh"[: len(scores)]
    rows = [
        CoverageRow("T", name, Status.OK, "graphs", "", None, "", 2, 20, "x", dict(copies).get(name, ""))
        for name in names
    ]
    rows += [CoverageRow("T", f"z{i}", status, "read", "why", None, "", 2, 0, "x") for i, status in enumerate(lost)]
    table = ranking(
        rows,
        [Score("T", name, score, sd) for name, score in zip(names, scores, strict=True)],
        comparison=[ComparedDecoy("T", name, 1, 0.5, dict(twins).get(name, "")) for name in names],
        estimates={("T", name): Estimate(0.1, 0.9, domain) for name in names},
    )
    return Study(["bench"], joined_results("bench", rows, table), {}, None, {}, {}, {"bench": list(leakage)})


def answer(*given, toy="", **more) -> dict:
    (found,) = answers(study(*given, **more), toy)
    return found


def test_the_best_decoy_and_the_next_one():
    found = answer([0.9, 0.6])
    assert (found["best"].decoy, found["best"].pred_capri, found["best"].pred_low) == ("a", "high", 0.1)
    assert found["next"] == "Next is b with 0.600, 0.300 behind"
    assert found["caveats"] == []


def test_a_decoy_that_is_hardly_worse_is_called_so_and_so_is_one_with_the_same_interface():
    assert answer([0.9, 0.89])["next"] == "Next is b with 0.890, no worse by this scorer"
    assert answer([0.9, 0.6], twins=[("b", "a")])["next"].endswith("; its interface is nearly the same")


def test_a_copy_of_the_best_is_not_the_next():
    assert answer([0.9, 0.9, 0.5], copies=[("b", "a")])["next"].startswith("Next is c ")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"domain": "9 chains, training had 2 to 6"}, "Out of the domain of the scorer"),
        ({"sd": 0.2}, "The networks disagree about it: their standard deviation is 0.20"),
        ({"lost": [Status.PARTNER_APART, Status.PARTNER_APART]}, "2 of 4 decoys have no score: partner apart 2"),
        ({"lost": [Status.UNREADABLE]}, "1 of 3 decoys has no score: unreadable 1"),
        ({"leakage": [LeakageRow("T", "yes", "1ABC", 0.9, "it shares a chain with 1ABC")]}, "Seen in training: it sha"),
        ({"toy": "this is a toy"}, "this is a toy"),
    ],
)
def test_whatever_speaks_against_it_is_said_in_words(more, words):
    (caveat,) = answer([0.9, 0.6], **more)["caveats"]
    assert caveat.startswith(words)


def test_a_target_that_is_new_has_no_caveat():
    assert answer([0.9, 0.6], leakage=[LeakageRow("T", "no", "1ABC", 0.1, "new")])["caveats"] == []


def test_of_wrong_decoys_the_best_is_no_answer():
    assert answer([0.2, 0.1])["caveats"][0].startswith("No decoy is predicted to be acceptable")


def test_a_single_decoy_and_none_at_all():
    assert "only decoy" in answer([0.9])["caveats"][0]
    found = answer([], lost=[Status.NO_INTERFACE])
    assert found["best"] is None
    assert found["caveats"] == ["1 of 1 decoy has no score: no interface 1"]


def test_many_targets_are_summed_up_by_class():
    found = [answer([score]) for score in (0.9, 0.85, 0.3)] + [answer([], lost=[Status.FAILED])]
    expected = "The best decoy of 4 targets is predicted to be high for 2, acceptable for 1 and unknown for 1"
    assert summary(found) == expected
    assert summary(found[:1]) == "The best decoy of 1 target is predicted to be high for 1"
