"""How good each residue is: the votes of the other decoys, and the probability that it is right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from _contacts import content

from toporank.comparing.decoys import Compared
from toporank.layout import repository
from toporank.scorer.judge import read_judge
from toporank.scorer.prediction import CONTACTS, RESIDUES, table_of
from toporank.scorer.residue_quality import (
    MEASURES,
    LabelledContacts,
    fit_quality,
    measures,
    quality_table,
    touched,
    with_agreement,
    with_interface_quality,
    with_quality,
)

QUALITY = read_judge(repository() / "resources/scorer/judge.json").quality


def residues_of(decoys: str, **quality: float | None) -> pd.DataFrame:
    """These residues of each decoy."""
    parts = [table_of(RESIDUES)]
    for decoy in decoys.split():
        part = pd.DataFrame(
            {"residue": list(quality), "pred_network": list(quality.values())}
        )
        parts.append(part.assign(target="T", decoy=decoy).astype(RESIDUES))
    return pd.concat(parts)


def contacts_of(*ends: tuple[str, str], decoy: str = "a") -> pd.DataFrame:
    pairs = pd.DataFrame(ends, columns=["first", "second"])
    about = {"distance": 4.0, "type": "other", "pred_network": 0.5}
    return pairs.assign(target="T", decoy=decoy, **about)[list(CONTACTS)].astype(
        CONTACTS
    )


# ---- agreement -----------------------------------------------------------------------------------

THREE = {"A:1": 0.5, "A:2": 0.5, "A:9": 0.5}


def shares(
    residues: pd.DataFrame,
    scores: dict[str, float],
    touching: dict[str, set[int]],
    copy_of: dict | None = None,
) -> list[list[float]]:
    """The agreement on the residues of each decoy."""
    found, _ = with_agreement(
        residues,
        contacts_of(),
        {("T", decoy): score for decoy, score in scores.items()},
        lambda key: Compared(key[1], content(touching[key[1]])),
        copy_of or {},
    )
    by_decoy = found.groupby("decoy", sort=False)["agreement"]
    return [of_decoy.tolist() for _, of_decoy in by_decoy]


def test_residues_have_the_agreement_of_the_other_decoys_by_their_scores_and_copies_that_of_their_originals():
    """By hand, c of 0.8 and b of 0.4 vote on a, 4 to 1; c has A:1 and b has not. A:9 touches
    nothing: the mean of the others, B:1 and B:2 among them. The copy votes once.
    """
    touching = {"a": {1, 2}, "b": {2, 3}, "c": {1, 2}, "copy": {1, 2}}
    scores = {"a": 0.2, "b": 0.4, "c": 0.8, "copy": 0.2}
    residues = residues_of("a b c copy", **THREE)
    a, b, _, copy = shares(residues, scores, touching, {("T", "copy"): "a"})
    (alone,) = shares(residues_of("a", **THREE), scores, touching)
    assert a == copy == [0.8, 1.0, 0.9]
    assert b == [0.5, 1.0, 0.5]  # A:2 and B:2 are shared by all, A:3 and B:3 by none
    assert np.isnan(alone).all()


def test_nobody_agrees_with_a_decoy_that_touches_nothing_and_a_residue_without_quality_has_no_agreement():
    residues = pd.concat(
        [residues_of("a", **THREE, **{"A:7": None}), residues_of("z", **THREE)]
    )
    a, z = shares(residues, {"a": 0.5, "z": 0.5}, {"a": {1, 2}, "z": set()})
    assert a[:3] == z == [0.0] * 3
    assert np.isnan(a[3])


def test_a_copy_whose_original_has_no_score_votes_itself():
    touching = {"b": {1, 2}, "copy": {1, 2}}
    residues = residues_of("b copy", **THREE)
    scores = {"b": 0.5, "copy": 0.5}
    assert shares(residues, scores, touching, {("T", "copy"): "a"}) == [[1.0] * 3] * 2


def test_no_residues_stay_none():
    residues, contacts = with_quality(
        table_of(RESIDUES), contacts_of(), {}, {}.get, {}, QUALITY
    )
    assert len(residues) == len(contacts) == 0


# ---- quality -------------------------------------------------------------------------------------


def with_others(
    quality: object, touching: dict[str, set[int]], score: float = 0.5
) -> tuple:
    """A decoy `a` whose residues A:1 and B:1 touch, among others."""
    residues = residues_of(" ".join(touching), **{"A:1": 0.9, "B:1": 0.5, "B:2": None})
    scores = {("T", decoy): score for decoy in touching}
    return with_quality(
        residues,
        contacts_of(("A:1", "B:1")),
        scores,
        lambda key: Compared(key[1], content(touching[key[1]])),
        {},
        quality,
    )


def test_without_curves_it_is_the_mean_of_network_and_agreement_and_unknown_without_the_network():
    residues, contacts = with_others(None, {"a": {1}, "b": set()})
    assert residues["pred_quality"][:2].tolist() == [0.45, 0.25]
    assert np.isnan(residues["pred_quality"][2]).all()
    assert contacts["pred_quality"].tolist() == [0.25]
    residues, contacts = with_others(None, {"a": {1}})
    assert residues["pred_quality"][:2].tolist() == [0.9, 0.5]
    assert contacts["pred_quality"].tolist() == [0.5]


def test_with_curves_it_is_what_they_say():
    residues, contacts = with_others(QUALITY, {"a": {1}}, score=0.7)
    expected = QUALITY.residues(measures(residues.assign(touched=1.0)))
    assert residues["pred_quality"][:2].tolist() == expected[:2].round(4).tolist()
    assert np.isnan(residues["pred_quality"][2])
    assert contacts["pred_quality"].tolist() == pytest.approx(
        QUALITY.contacts(measures(contacts))
    )


def of_three_partners(score: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A decoy whose chain A touches B and C with a residue each; C:9 touches nothing."""
    return with_quality(
        residues_of("a", **dict.fromkeys(("A:1", "B:1", "A:2", "C:1", "C:9"), 0.9)),
        contacts_of(("A:1", "B:1"), ("A:2", "C:1")),
        {("T", "a"): score},
        lambda key: Compared(key[1], content({1, 2})),
        {},
        QUALITY,
    )


def test_of_several_interfaces_each_lends_its_contacts_and_residues_its_own_dockq():
    dockq = {frozenset("AB"): 0.9, frozenset("AC"): 0.1}
    tables = of_three_partners(0.6)
    found = with_interface_quality(*tables, {("T", "a"): dockq}, QUALITY)
    for table, of_wrong, of_right in zip(
        found, of_three_partners(0.1), of_three_partners(0.9), strict=True
    ):
        names = table["residue" if "residue" in table else "second"]
        is_wrong = names.isin(["A:2", "C:1", "C:9"])
        expected = of_right["pred_quality"].where(~is_wrong, of_wrong["pred_quality"])
        assert table["pred_quality"].tolist() == expected.tolist()
        assert table["pred_quality"][is_wrong].max() < table["pred_quality"].max() - 0.1
    nothing = [table[:0] for table in tables]  # of networks without local quality
    for table in with_interface_quality(*nothing, {("T", "a"): dockq}, QUALITY):
        assert table.empty
    unchanged = with_interface_quality(*tables, {("T", "z"): dockq}, QUALITY)
    for table, before in zip(unchanged, tables, strict=True):
        assert table.equals(before)


def test_a_residue_counts_the_residues_that_it_touches_and_one_that_touches_none_the_mean_of_the_others():
    residues = residues_of("a", **dict.fromkeys("abcd", 0.5))
    contacts = contacts_of(("a", "b"), ("a", "c"))
    assert touched(residues, contacts).tolist() == [2, 1, 1, 4 / 3]
    assert touched(residues, contacts_of()).tolist() == [0.0] * 4


@pytest.mark.parametrize("of", MEASURES)
def test_it_rises_with_every_measure_and_knows_whether_there_are_others(of):
    curves = getattr(QUALITY, of)
    about = {"touched": 3.0} if of == "residues" else {"distance": 4.0}
    nearer = {"touched": 8.0} if of == "residues" else {"distance": 3.0}

    def by(**known):
        middle = {"pred_network": 0.5, "agreement": 0.5, "pred_dockq": 0.5, **about}
        return curves(measures(pd.DataFrame([{**middle, **known}])))[0]

    for more in (
        {"pred_network": 0.9},
        {"pred_dockq": 0.8},
        {"agreement": 0.9},
        nearer,
    ):
        assert by() < by(**more) < 1
    assert 0 < by(agreement=np.nan) < by(agreement=np.nan, **nearer) < 1
    assert by(agreement=0.0, pred_dockq=0.1, pred_network=0.1) < 0.05
    assert by(agreement=1.0, pred_dockq=0.9, pred_network=0.9) > 0.85


# ---- what it is made from ------------------------------------------------------------------------


def made(n: int = 4000) -> pd.DataFrame:
    """Residues that are right with probabilities by known weights, and contacts; agreement is known
    of half of them.
    """
    draw = np.random.default_rng(5)
    known = measures(pd.DataFrame({
        "pred_network": draw.uniform(0.05, 0.95, n),
        "agreement": np.where(np.arange(n) % 2, draw.uniform(size=n), np.nan),
        "pred_dockq": draw.uniform(size=n),
        "touched": draw.integers(1, 10, n),
    }))  # fmt: skip
    known["nearness"] = draw.uniform(0, 2, n)
    x = (
        -4
        + known["network"]
        + known["touched"]
        + 2 * known["decoy"]
        + 3 * known["agreement"].fillna(0)
    )
    right = draw.uniform(size=n) < 1 / (1 + np.exp(-x))
    table = known.assign(alone=known["decoy"], right=right, cluster=np.arange(n) % 40)
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
    quality = {"A:1": 0.9, "A:2": 0.5, "B:1": None, "B:2": 0.4}
    ends = [("A:1", "B:1"), ("A:2", "B:2"), ("A:1", "B:2")]
    key = ["target", "decoy"]
    in_native = pd.DataFrame(
        {"residue": ["A:1", "B:1", "B:2"], "right": [True, True, False]}
    )
    of_a = LabelledContacts(
        residues=residues_of("a", **quality),
        contacts=contacts_of(*ends),
        compared={
            ("T", "a"): Compared("a", content({1, 2})),
            ("T", "b"): Compared("b", content({1})),
        },
        in_native=in_native.assign(target="T", decoy="a")[[*key, "residue", "right"]],
        native_contacts=contacts_of(*ends[:2])[[*key, "first", "second"]],
    )
    both = of_a._replace(residues=residues_of("a b", **quality))
    scores = {("T", "a"): 0.6, ("T", "b"): 0.3}
    table = quality_table(
        both, scores, {decoy: score / 2 for decoy, score in scores.items()}
    )
    shown = table[
        ["name", "of", "decoy", "alone", "agreement", "right"]
    ].values.tolist()
    assert shown == [
        ["a", "residues", 0.6, 0.3, 1.0, True],  # A:1
        ["a", "residues", 0.6, 0.3, 0.0, False],  # B:2; networks say nothing of B:1
        # A:1 and B:1; the native does not know A:2
        ["a", "contacts", 0.6, 0.3, 1.0, True],
        # A:1 and B:2
        ["a", "contacts", 0.6, 0.3, pytest.approx(np.nan, nan_ok=True), False],
    ]
    (alone,) = quality_table(of_a, scores, scores)["agreement"].unique()
    assert np.isnan(alone)
