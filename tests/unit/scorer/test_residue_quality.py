"""How good each residue is: the votes of the other decoys, and the probability that it is right."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _contacts import content

from toporank.comparing.decoys import Compared
from toporank.errors import RecordError
from toporank.layout import repository
from toporank.scorer.prediction import CONTACTS, ResidueScore, Score
from toporank.scorer.residue_quality import (
    Witness,
    fit_residue_quality,
    graded,
    read_residue_quality,
    residue_table,
    touched,
    with_agreement,
    write_residue_quality,
)

SHIPPED = [repository() / "resources" / name / "residues.json" for name in ("scorer", "thorough_scorer")]
QUALITY = read_residue_quality(SHIPPED[0])


def residues(**known: float | None) -> tuple[ResidueScore, ...]:
    return tuple(ResidueScore(name, value) for name, value in known.items())


# ---- agreement --------------------------------------------------------------------------------------------


def shares(scores: list[Score], contacts: dict[str, set[int]], copy_of: dict | None = None) -> list[list[float | None]]:
    found = with_agreement(scores, lambda key: Compared(key[1], content(contacts[key[1]])), copy_of or {})
    assert [score._replace(residues=()) for score in found] == [score._replace(residues=()) for score in scores]
    return [[residue.agreement for residue in score.residues] for score in found]


THREE = residues(**{"A:1": 0.5, "A:2": 0.5, "A:9": 0.5})


def test_residues_have_the_agreement_of_the_other_decoys_by_their_scores_and_copies_that_of_their_originals():
    """By hand, c of 0.8 and b of 0.4 vote on a, 4 to 1; c has A:1 and b has not. A:9 touches nothing: the mean of the
    others, B:1 and B:2 among them. The copy votes once. An interface by itself has no residues, nor has a decoy whose
    graph does not name them.
    """
    contacts = {"a": {1, 2}, "b": {2, 3}, "c": {1, 2}, "copy": {1, 2}}
    scores = [Score("T", name, dockq, None, residues=THREE) for name, dockq in zip("abc", (0.2, 0.4, 0.8), strict=True)]
    scores += [Score("T", "copy", 0.2, None, residues=THREE), Score("T", "unnamed", 0.5, None)]
    scores += [Score("U", "a", 0.5, None, residues=THREE), Score("T", "a", 0.5, None, interface="A:B")]
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


# ---- quality ----------------------------------------------------------------------------------------------


def known_contacts(*ends: tuple[int, int]) -> bytes:
    return np.array([(*pair, 4.0, 0, 0.5, np.nan) for pair in ends], CONTACTS).tobytes()


def test_without_weights_it_is_the_mean_of_network_and_agreement_and_unknown_without_the_network():
    rows = [ResidueScore("A:1", *values) for values in ((0.2, 0.7), (0.2,), (None, 0.7), (None,))]
    found = graded(Score("T", "d", 0.5, None, residues=tuple(rows), contacts=known_contacts((0, 1))), None)
    assert [row.pred_quality for row in found.residues] == [0.45, 0.2, None, None]
    assert [row._replace(pred_quality=None) for row in found.residues] == rows


def test_a_residue_counts_the_residues_that_it_touches_and_one_that_touches_none_the_mean_of_the_others():
    score = Score("T", "d", 0.5, None, residues=residues(**{name: 0.5 for name in "abcd"}))
    assert touched(score._replace(contacts=known_contacts((0, 1), (0, 2)))).tolist() == [2, 1, 1, 4 / 3]
    assert touched(score._replace(contacts=b"")).tolist() == [0.0] * 4


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parent.name)
def test_it_rises_with_all_that_speaks_for_a_residue_and_knows_whether_there_are_others(path):
    quality, one = read_residue_quality(path), np.ones(1)

    def of(network=0.5, contacts=3.0, decoy=0.5, agreement=0.5):
        return quality(network * one, contacts * one, decoy, agreement * one)[0]

    for more in ({"network": 0.9}, {"contacts": 8.0}, {"decoy": 0.8}, {"agreement": 0.9}):
        assert of() < of(**more) < 1
    assert 0 < of(agreement=np.nan) < of(agreement=np.nan, contacts=8.0) < 1
    assert of(agreement=0.0, decoy=0.1, network=0.1) < 0.05 < 0.9 < of(agreement=1.0, decoy=0.9, network=0.9)


def test_a_score_has_the_quality_of_its_residues():
    rows = (ResidueScore("A:1", 0.9, 1.0), ResidueScore("B:1", 0.9, None), ResidueScore("B:2", None, None))
    found = graded(Score("T", "d", 0.7, None, residues=rows, contacts=known_contacts((0, 1))), QUALITY)
    both = QUALITY(np.array([0.9, 0.9]), np.ones(2), 0.7, np.array([1.0, np.nan])).round(4).tolist()
    assert [row.pred_quality for row in found.residues] == [*both, None]


# ---- what it is made from ---------------------------------------------------------------------------------


def made(n: int = 4000) -> pd.DataFrame:
    """Residues that are right with probabilities by known weights; agreement is known of half of them."""
    draw = np.random.default_rng(5)
    network, agreement = draw.uniform(0.05, 0.95, n), np.where(np.arange(n) % 2, draw.uniform(size=n), np.nan)
    contacts, decoy = draw.integers(1, 10, n), draw.uniform(size=n)
    x = -4 + np.log(network / (1 - network)) + np.log1p(contacts) + 2 * decoy + 3 * np.nan_to_num(agreement)
    right = draw.uniform(size=n) < 1 / (1 + np.exp(-x))
    columns = {"network": network, "contacts": contacts, "decoy": decoy, "alone": decoy, "agreement": agreement}
    return pd.DataFrame({**columns, "right": right, "cluster": np.arange(n) % 40})


def test_the_weights_that_made_the_residues_are_found_again():
    found = fit_residue_quality(made(40_000)).among
    weights = [found.constant, found.network, found.contacts, found.decoy, found.agreement]
    assert weights == pytest.approx([-4, 1, 1, 2, 3], abs=0.2)


def test_weights_are_finite_where_right_and_wrong_residues_are_told_apart_and_where_nothing_differs():
    table = made().assign(decoy=0.5)
    found = fit_residue_quality(table.assign(right=table["network"] > 0.5))
    assert np.isfinite([*found.alone.model_dump().values(), *found.among.model_dump().values()]).all()
    assert found.among.decoy == pytest.approx(0, abs=1e-6)


def test_the_table_has_the_residues_of_which_it_is_known_whether_they_are_right():
    own = residues(**{"A:1": 0.9, "A:2": 0.5, "B:1": None, "B:2": 0.4})
    score = Score("T", "a", 0.0, None, residues=own, contacts=known_contacts((0, 2), (1, 3), (0, 3)))
    of_a = Witness(score, Compared("a", content({1, 2})), {"A:1": True, "B:1": True, "B:2": False})
    of_b = Witness(score._replace(decoy="b"), Compared("b", content({1})), {})
    table = residue_table([of_a, of_b], {("T", "a"): 0.6, ("T", "b"): 0.3}, {("T", "a"): 0.5, ("T", "b"): 0.2})
    assert table.drop(columns=["alone"]).values.tolist() == [
        ["T", "a", "A:1", 0.9, 2, 0.6, 1.0, True],
        ["T", "a", "B:2", 0.4, 2, 0.6, 0.0, False],
    ]
    (alone,) = residue_table([of_a], {("T", "a"): 0.6}, {("T", "a"): 0.5})["agreement"].unique()
    assert np.isnan(alone)


@pytest.mark.parametrize(
    "damage",
    [lambda text: text[:-9], lambda text: "[]", lambda text: text.replace('"format":1', '"format":9'),
     lambda text: json.dumps({**json.loads(text), "alone": {}})],
)  # fmt: skip
def test_a_damaged_file_is_refused_by_name_in_one_line(tmp_path: Path, damage):
    path = tmp_path / "residues.json"
    path.write_text(damage(SHIPPED[0].read_text()))
    with pytest.raises(RecordError, match="not usable") as error:
        read_residue_quality(path)
    assert str(path) in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_what_is_written_is_read_again(tmp_path: Path):
    write_residue_quality(tmp_path / "residues.json", QUALITY)
    assert read_residue_quality(tmp_path / "residues.json") == QUALITY
