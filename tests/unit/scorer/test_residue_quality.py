"""How good each residue is: the votes of the other decoys, and the probability that it is right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from _contacts import content

from toporank.comparing.decoys import Compared
from toporank.layout import repository
from toporank.scorer.judge import read_judge
from toporank.scorer.prediction import CONTACTS, ResidueScore, Score
from toporank.scorer.residue_quality import (
    MEASURES,
    Truth,
    Witness,
    fit_quality,
    graded,
    measures,
    quality_table,
    touched,
    with_agreement,
)

QUALITY = read_judge(repository() / "resources/scorer/judge.json").quality


def residues(**known: float | None) -> tuple[ResidueScore, ...]:
    return tuple(ResidueScore(name, value) for name, value in known.items())


# ---- agreement -----------------------------------------------------------------------------------


def shares(
    scores: list[Score], contacts: dict[str, set[int]], copy_of: dict | None = None
) -> list[list[float | None]]:
    found = with_agreement(
        scores, lambda key: Compared(key[1], content(contacts[key[1]])), copy_of or {}
    )
    assert [score._replace(residues=()) for score in found] == [
        score._replace(residues=()) for score in scores
    ]
    return [[residue.agreement for residue in score.residues] for score in found]


THREE = residues(**{"A:1": 0.5, "A:2": 0.5, "A:9": 0.5})


def test_residues_have_the_agreement_of_the_other_decoys_by_their_scores_and_copies_that_of_their_originals():
    """By hand, c of 0.8 and b of 0.4 vote on a, 4 to 1; c has A:1 and b has not. A:9 touches
    nothing: the mean of the others, B:1 and B:2 among them. The copy votes once. An interface by
    itself has no residues, nor has a decoy whose graph does not name them.
    """
    contacts = {"a": {1, 2}, "b": {2, 3}, "c": {1, 2}, "copy": {1, 2}}
    scores = [
        Score("T", name, dockq, None, residues=THREE)
        for name, dockq in zip("abc", (0.2, 0.4, 0.8), strict=True)
    ]
    scores += [Score("T", "copy", 0.2, None, residues=THREE), Score("T", "unnamed", 0.5, None)]
    scores += [
        Score("U", "a", 0.5, None, residues=THREE),
        Score("T", "a", 0.5, None, interface="A:B"),
    ]
    a, b, _, copy, *others = shares(scores, contacts, {("T", "copy"): "a"})
    assert a == copy == [0.8, 1.0, 0.9]
    assert b == [0.5, 1.0, 0.5]  # A:2 and B:2 are shared by all, A:3 and B:3 by none
    assert others == [[], [None] * 3, []]


def test_nobody_agrees_with_a_decoy_that_touches_nothing_and_a_residue_without_quality_has_no_agreement():
    scores = [Score("T", name, 0.5, None, residues=THREE) for name in "az"]
    scores[0] = scores[0]._replace(residues=(*THREE, ResidueScore("A:7", None)))
    assert shares(scores, {"a": {1, 2}, "z": set()}) == [[0.0, 0.0, 0.0, None], [0.0] * 3]


def test_a_copy_whose_original_has_no_score_votes_itself():
    scores = [Score("T", name, 0.5, None, residues=THREE) for name in ("b", "copy")]
    assert shares(scores, {"b": {1, 2}, "copy": {1, 2}}, {("T", "copy"): "a"}) == [[1.0] * 3] * 2


# ---- quality -------------------------------------------------------------------------------------


def known_contacts(*ends: tuple[int, int]) -> bytes:
    return np.array([(*pair, 4.0, 0, 0.5, np.nan, np.nan) for pair in ends], CONTACTS).tobytes()


def contacts_of(score: Score) -> np.ndarray:
    return np.frombuffer(score.contacts, CONTACTS)


def test_without_curves_it_is_the_mean_of_network_and_agreement_and_unknown_without_the_network():
    rows = [ResidueScore("A:1", *values) for values in ((0.2, 0.7), (0.2,), (None, 0.7), (None,))]
    found = graded(
        Score("T", "d", 0.5, None, residues=tuple(rows), contacts=known_contacts((0, 1))), None
    )
    assert [row.pred_quality for row in found.residues] == [0.45, 0.2, None, None]
    assert [row._replace(pred_quality=None) for row in found.residues] == rows
    assert contacts_of(found)["pred_quality"].tolist() == [0.5]


def test_a_residue_counts_the_residues_that_it_touches_and_one_that_touches_none_the_mean_of_the_others():
    score = Score("T", "d", 0.5, None, residues=residues(**dict.fromkeys("abcd", 0.5)))
    assert touched(score._replace(contacts=known_contacts((0, 1), (0, 2)))).tolist() == [
        2,
        1,
        1,
        4 / 3,
    ]
    assert touched(score._replace(contacts=b"")).tolist() == [0.0] * 4


@pytest.mark.parametrize("of", MEASURES)
def test_it_rises_with_all_that_speaks_for_it_and_knows_whether_there_are_others(of):
    curves, one = getattr(QUALITY, of), np.ones(1)

    def by(network=0.5, agreement=0.5, decoy=0.5, touched=3.0, distance=4.0):
        return curves(measures(network * one, agreement * one, decoy, touched, distance))[0]

    nearer = {"touched": 8.0} if of == "residues" else {"distance": 3.0}
    for more in ({"network": 0.9}, {"decoy": 0.8}, {"agreement": 0.9}, nearer):
        assert by() < by(**more) < 1
    assert 0 < by(agreement=np.nan) < by(agreement=np.nan, **nearer) < 1
    assert (
        by(agreement=0.0, decoy=0.1, network=0.1)
        < 0.05
        < 0.85
        < by(agreement=1.0, decoy=0.9, network=0.9)
    )


def test_a_score_has_the_quality_of_its_residues_and_contacts():
    rows = (
        ResidueScore("A:1", 0.9, 1.0),
        ResidueScore("B:1", 0.9, None),
        ResidueScore("B:2", None, None),
    )
    found = graded(
        Score("T", "d", 0.7, None, residues=rows, contacts=known_contacts((0, 1))), QUALITY
    )
    both = measures(np.array([0.9, 0.9]), np.array([1.0, np.nan]), 0.7, touched=1)
    assert [row.pred_quality for row in found.residues] == [
        *QUALITY.residues(both).round(4).tolist(),
        None,
    ]
    contact = QUALITY.contacts(measures(np.array([0.5]), np.array([np.nan]), 0.7, distance=4.0))
    assert contacts_of(found)["pred_quality"].tolist() == pytest.approx(contact.tolist())


# ---- what it is made from ------------------------------------------------------------------------


def made(n: int = 4000) -> pd.DataFrame:
    """Residues that are right with probabilities by known weights, and contacts; agreement is known
    of half of them.
    """
    draw = np.random.default_rng(5)
    network, agreement = (
        draw.uniform(0.05, 0.95, n),
        np.where(np.arange(n) % 2, draw.uniform(size=n), np.nan),
    )
    decoy, contacts = draw.uniform(size=n), draw.integers(1, 10, n)
    known = pd.DataFrame(measures(network, agreement, decoy, contacts, draw.uniform(3, 5, n)))
    x = (
        -4
        + known["network"]
        + known["touched"]
        + 2 * known["decoy"]
        + 3 * known["agreement"].fillna(0)
    )
    right = draw.uniform(size=n) < 1 / (1 + np.exp(-x))
    table = known.assign(alone=decoy, right=right, cluster=np.arange(n) % 40)
    return pd.concat([table.assign(of=of) for of in MEASURES], ignore_index=True)


def test_the_weights_that_made_the_residues_are_found_again():
    found = fit_quality(made(40_000)).residues.among
    weights = [found.constant, *(found.weights[name] for name in MEASURES["residues"])]
    assert weights == pytest.approx([-4, 1, 1, 2, 3], abs=0.2)


def test_a_measure_that_points_the_wrong_way_has_no_weight_and_all_are_finite_where_one_tells_everything():
    table = made()
    found = fit_quality(
        table.assign(right=table["network"] > 0, decoy=-table["network"], alone=0.5)
    )
    assert found.residues.among.weights["decoy"] == pytest.approx(0, abs=1e-9)
    assert found.residues.alone.weights["decoy"] == 0
    assert found.residues.among.weights["network"] > 1
    assert np.isfinite(
        [*found.residues.among.weights.values(), found.residues.among.constant]
    ).all()


def test_where_every_decoy_is_alone_others_have_no_weight():
    found = fit_quality(made().assign(agreement=np.nan))
    assert found.residues.among == found.residues.alone


def test_the_table_has_the_residues_and_contacts_that_are_known_to_be_right_or_wrong():
    own = residues(**{"A:1": 0.9, "A:2": 0.5, "B:1": None, "B:2": 0.4})
    score = Score(
        "T", "a", 0.0, None, residues=own, contacts=known_contacts((0, 2), (1, 3), (0, 3))
    )
    truth = Truth(
        {"A:1": True, "B:1": True, "B:2": False}, frozenset({("A:1", "B:1"), ("A:2", "B:2")})
    )
    of_a = Witness(score, Compared("a", content({1, 2})), truth)
    of_b = Witness(score._replace(decoy="b"), Compared("b", content({1})), Truth({}, frozenset()))
    scores = {("T", "a"): 0.6, ("T", "b"): 0.3}
    table = quality_table([of_a, of_b], scores, {key: value / 2 for key, value in scores.items()})
    shown = table[["name", "of", "decoy", "alone", "agreement", "right"]].values.tolist()
    assert shown == [
        ["a", "residues", 0.6, 0.3, 1.0, True],  # A:1
        ["a", "residues", 0.6, 0.3, 0.0, False],  # B:2; networks say nothing of B:1
        ["a", "contacts", 0.6, 0.3, 1.0, True],  # A:1 and B:1; the native does not know A:2
        ["a", "contacts", 0.6, 0.3, pytest.approx(np.nan, nan_ok=True), False],  # A:1 and B:2
    ]
    (alone,) = quality_table([of_a], scores, scores)["agreement"].unique()
    assert np.isnan(alone)
