"""The verdict: what the probability says, and at most *check* where evidence is missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from toporank.chains.complex_kinds import ANTIBODY, RECEPTOR
from toporank.layout import repository
from toporank.ranking.verdict import RULES, Grounds, classes_of, verdict_of

SURE = Grounds(
    dockq=0.7, low=0.5, high=0.9, p_acceptable=0.9, confidence=0.8, consensus=0.6
)


@pytest.mark.parametrize(
    ("probability", "dockq", "word"),
    [(0.75, 0.3, "believe"), (0.74, 0.9, "check"), (0.26, 0.1, "check"), (0.25, 0.9, "do not believe"),
     (None, 0.9, "check"), (np.nan, 0.23, "check"), (None, 0.22, "do not believe"), (None, None, "")],
)  # fmt: skip
def test_the_probability_decides_and_without_one_no_model_is_believed(
    probability, dockq, word
):
    verdict = verdict_of(SURE._replace(dockq=dockq, p_acceptable=probability))
    assert verdict == (word, "")


@pytest.mark.parametrize(
    ("change", "word", "reason"),
    [({"confidence": None}, "check", "confidence of its predictor is not known"),
     ({"confidence": np.nan, "low": 0.01, "high": 0.99}, "check", "confidence of its predictor is not known"),
     ({"low": 0.22, "high": 0.8}, "check", "from incorrect to high"),
     ({"low": 0.23, "high": 0.99}, "believe", ""), ({"low": 0.0, "high": 0.79}, "believe", ""),
     ({"kind": ANTIBODY, "consensus": 0.69}, "check", "other models do not agree"),
     ({"kind": RECEPTOR, "consensus": np.nan}, "check", "no other model was given"),
     ({"kind": ANTIBODY, "consensus": 0.7}, "believe", ""),
     ({"weak_partners": "C touches nothing"}, "check", "rather than believe it: C touches nothing"),
     ({"weak_partners": "C touches nothing", "p_acceptable": 0.1}, "do not believe", ""),
     ({"weak_partners": "C touches nothing", "p_acceptable": 0.5}, "check", "C touches nothing"),
     ({"p_acceptable": 0.745}, "check", ""), ({"p_acceptable": 0.7451}, "believe", ""),
     ({"p_acceptable": 0.2549}, "do not believe", ""), ({"p_acceptable": 0.256}, "check", ""),
     ({"unknown_kind": RECEPTOR}, "check", "did not learn from any T-cell receptor"),
     ({"unknown_kind": RECEPTOR, "p_acceptable": 0.1}, "check", "rather than reject it"),
     ({"confidence": None, "p_acceptable": 0.5}, "check", ""),
     ({"confidence": None, "p_acceptable": 0.1}, "do not believe", "")],
)  # fmt: skip
def test_a_model_is_at_most_one_to_check_where_evidence_is_missing(
    change, word, reason
):
    """With one reason, and none where the probability says the same."""
    verdict = verdict_of(SURE._replace(**change))
    assert verdict.word == word
    assert reason in verdict.reason
    assert bool(reason) == bool(verdict.reason)


def test_the_class_is_that_of_the_digits_that_are_shown():
    assert classes_of(pd.Series([0.799, 0.794, 0.226, None])) == [
        "high",
        "medium",
        "acceptable",
        "",
    ]


def test_the_documentation_has_the_rules_of_the_verdict():
    answer = (repository() / "docs/answer.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES if rule not in answer.replace("*", "")] == []
