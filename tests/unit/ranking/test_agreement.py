"""Which model the predictor itself would pick: by its own score, by the ranks in names, or by a
measure.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
import pytest

from toporank.inputs.confidence.table import Confidence
from toporank.ranking.agreement import OtherChoice, other_choices


def models(
    *rows: tuple[str, float, str], copies: dict[str, str] | None = None
) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["decoy", "dockq", "capri"]).assign(target="T")
    return table.assign(
        duplicate_of=[(copies or {}).get(decoy, "") for decoy in table["decoy"]]
    )


MEDIUM = [
    ("a", 0.7, "medium"),
    ("b", 0.6, "medium"),
    ("c", 0.55, "medium"),
    ("d", 0.5, "medium"),
]
FIVE = models(*MEDIUM, ("e", 0.2, "incorrect"))
THREE = [(0.7, "medium"), (0.6, "medium"), (0.2, "incorrect")]


def choice(table: pd.DataFrame, stated: list[Confidence]) -> OtherChoice | None:
    return other_choices(table, stated).get("T")


def stated(table: pd.DataFrame, preferred: str) -> list[Confidence]:
    return [
        Confidence("T", name, "Boltz", ranking_score=0.9 if name == preferred else 0.5)
        for name in table["decoy"]
    ]


@pytest.mark.parametrize(
    ("preferred", "place"), [("a", 0), ("b", 0), ("c", 0), ("d", 4), ("e", 5)]
)
def test_the_choice_differs_by_class_or_in_the_lower_half(preferred, place):
    found = choice(FIVE, stated(FIVE, preferred))
    assert (
        (found.decoy, found.place, found.n) == (preferred, place, 5)
        if place
        else found is None
    )


@pytest.mark.parametrize(("preferred", "place"), [("b", 0), ("c", 3)])
def test_of_four_models_of_a_class_the_third_is_in_the_lower_half(preferred, place):
    four = models(*MEDIUM)
    found = choice(four, stated(four, preferred))
    assert (found.place if found else 0) == place


def test_copies_do_not_count():
    """Of four, the third is in the upper half; with two copies of the first it would be the fifth
    of six.
    """
    rows = [MEDIUM[0], ("a2", 0.7, "medium"), ("a3", 0.7, "medium"), *MEDIUM[1:]]
    table = models(*rows, copies={"a2": "a", "a3": "a"})
    found = choice(table, stated(table, "d"))
    assert (found.decoy, found.place, found.n) == ("d", 4, 4)
    assert choice(table, stated(table, "b")) is None


def test_of_copies_the_one_of_which_most_is_known_counts():
    """A copy that comes first by its name has lost the ranking score."""
    table = models(
        *MEDIUM, ("0", 0.2, "incorrect"), ("e", 0.2, "incorrect"), copies={"e": "0"}
    )
    known = [
        Confidence("T", name, "Boltz", ranking_score=0.5, plddt=80.0) for name in "abcd"
    ]
    known += [
        Confidence("T", "0", "Boltz", plddt=80.0),
        Confidence("T", "e", "Boltz", ranking_score=0.9, plddt=80.0),
    ]
    found = choice(table, known)
    assert (found.decoy, found.value, found.n) == ("0", 0.9, 5)


def by_plddt(names: Iterable[str], predictor: str) -> list[Confidence]:
    """Models whose pLDDT rises in this order."""
    stated = []
    for k, name in enumerate(names):
        stated.append(Confidence("T", name, predictor, interface_plddt=80.0 + k))
    return stated


@pytest.mark.parametrize(
    ("names", "predictor"),
    [
        ("ranked_1 ranked_2 ranked_0", "AlphaFold-Multimer"),
        (
            "x_unrelaxed_rank_002_m x_unrelaxed_rank_003_m x_unrelaxed_rank_001_m",
            "ColabFold",
        ),
        (
            "pred.model_idx_4.rank_1 pred.model_idx_0.rank_2 pred.model_idx_3.rank_0",
            "Chai-1",
        ),
    ],
)
def test_the_rank_in_the_names_of_models_is_what_the_predictor_prefers(
    names, predictor
):
    first, second, third = names.split()
    table = models((first, *THREE[0]), (second, *THREE[1]), (third, *THREE[2]))
    known = by_plddt([third, second, first], predictor)
    found = choice(table, known)
    assert (found.decoy, found.place) == (third, 3)
    assert str(found) == f"{predictor} would pick {third} instead, as its name says"
    scored = [
        row._replace(ranking_score=0.9 if row.decoy == third else 0.5) for row in known
    ]
    assert choice(table, scored).measure == "ranking_score"


@pytest.mark.parametrize(
    ("names", "predictor"),
    [
        ("a b c", "Boltz"),
        ("run1_ranked_0 run2_ranked_0 run1_ranked_1", "AlphaFold-Multimer"),
        ("ranking_0_a franked_1 ranks_2", "Boltz"),
    ],
)
def test_without_a_ranking_of_its_own_the_highest_measure_is_named_as_what_it_is(
    names, predictor
):
    first, second, third = names.split()
    table = models((first, *THREE[0]), (second, *THREE[1]), (third, *THREE[2]))
    known = by_plddt([first, second, third], predictor)
    assert str(choice(table, known)) == f"{third} has the highest interface pLDDT (82)"


def test_scores_of_different_predictors_are_not_compared():
    pairs = [("a", "Boltz", 0.9, 0.1), ("e", "AlphaFold 3", 0.2, 0.95)]
    known = [
        Confidence("T", name, by, iptm=iptm, ranking_score=own)
        for name, by, iptm, own in pairs
    ]
    assert choice(FIVE, known) is None
    assert (
        choice(FIVE, [row._replace(predictor="Boltz") for row in known]).measure
        == "ranking_score"
    )


def test_of_haddock_scores_the_lowest_is_preferred_and_equal_ones_decide_nothing():
    known = [
        Confidence("T", "a", "HADDOCK", haddock_score=-50.0),
        Confidence("T", "e", "HADDOCK", haddock_score=-90.0),
    ]
    assert choice(FIVE, known).decoy == "e"
    assert choice(FIVE, [row._replace(haddock_score=-50.0) for row in known]) is None
