"""The judge: what each witness adds, what a missing one means, and how far to trust the answer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from _contacts import content
from _ranked import covered
from hypothesis import given
from hypothesis import strategies as st

from conftest import REPOSITORY
from toporank.chains.complex_kinds import ANTIBODY, PROTEINS, RECEPTOR
from toporank.comparing.decoys import Compared
from toporank.confidence.table import (
    ALL_CHAINS,
    Confidence,
    best_measured,
    of_copies,
)
from toporank.errors import RecordError
from toporank.scorer.judge import (
    OF_PAIRS,
    OF_RESIDUES,
    Calibration,
    Domain,
    Judge,
    Knot,
    how_far_to_trust,
    ordered,
    read_judge,
    write_judge,
)
from toporank.scorer.judging import judged
from toporank.scorer.prediction import Score

SHIPPED = REPOSITORY / "resources/scorer/judge.json"
JUDGE = read_judge(SHIPPED)
SURE = {
    "contact_plddt": 95.0,
    "pdockq": 0.6,
    "iptm": 0.9,
    "ipsae": 0.8,
    "lis": 0.6,
    "pdockq2": 0.8,
}
UNSURE = {
    "contact_plddt": 45.0,
    "pdockq": 0.05,
    "iptm": 0.2,
    "ipsae": 0.0,
    "lis": 0.05,
    "pdockq2": 0.02,
}


def stated(decoy: str, target: str = "T", **measures: float) -> Confidence:
    return Confidence(target, decoy, **measures)


def score(
    decoy: str, pred_dockq: float, interface: str = "", target: str = "T"
) -> Score:
    return Score(
        target,
        decoy,
        pred_dockq,
        None,
        interface,
        pooled=(0.0,) * len(JUDGE.domain.center),
    )


LARGE_FROM_TWO = JUDGE.model_copy(update={"voters": 2})


def by_decoy(
    scores: list[Score],
    contacts: dict[str, set[int]],
    rows: tuple = (),
    copies: dict | None = None,
    judge: Judge = JUDGE,
    with_c: dict[str, frozenset[int]] | None = None,
    chains: dict[str, dict[str, str]] | None = None,
) -> dict:
    """Scores of the judge by decoy and interface.

    contacts, with_c : of each decoy, as numbers. chains : of each, by those of the target.
    """

    def compared(key: tuple[str, str]) -> Compared:
        decoy = key[1]
        touching = content(contacts[decoy], with_c=(with_c or {}).get(decoy, ()))
        return Compared(decoy, touching, (chains or {}).get(decoy, {}))

    found = judged(
        judge,
        scores,
        compared,
        copies or {},
        rows,
        {},
    )
    return {each.decoy + each.interface: each for each in found}


def by_confidence(
    measures: dict[str, float], kind: str = PROTEINS, program: str = ""
) -> float:
    known = {
        name: np.array([measures.get(name, np.nan)])
        for name in (*OF_RESIDUES, *OF_PAIRS)
    }
    return float(JUDGE.confidence(known, [kind], [program])[0])


# ---- witnesses -----------------------------------------------------------------------------------


@given(st.sets(st.sampled_from((*OF_RESIDUES, *OF_PAIRS))))
def test_any_subset_of_measures_gives_a_dockq_that_points_where_they_point(names):
    sure, unsure = (
        by_confidence({name: said[name] for name in names}) for said in (SURE, UNSURE)
    )
    if {*OF_RESIDUES} <= names or names & {*OF_PAIRS}:
        assert 0 <= unsure < 0.4 < sure <= 1
    else:
        assert np.isnan([sure, unsure]).all()


@pytest.mark.parametrize("kind", [PROTEINS, ANTIBODY])
def test_confidence_means_something_else_in_each_kind_of_complex_and_program(kind):
    """A program that nobody has fitted takes the lowest level of the kind."""
    programs = (
        "Protenix",
        "AlphaFold-Multimer",
        "ColabFold",
        "Boltz",
        "AlphaFold 3",
        "",
    )
    found = {name: by_confidence({"iptm": 0.8}, kind, name) for name in programs}
    lowest = min(found.values())
    assert found["AlphaFold 3"] == found[""] == lowest
    assert found["ColabFold"] == found["AlphaFold-Multimer"]
    if kind == ANTIBODY:
        assert lowest == found["Protenix"] < found["Boltz"] < 0.4
        assert (
            found["Boltz"] < found["AlphaFold-Multimer"] < by_confidence({"iptm": 0.8})
        )
    else:
        assert lowest == found["Boltz"] < found["Protenix"]
        residues = {name: SURE[name] for name in OF_RESIDUES}
        assert by_confidence(residues, ANTIBODY) < by_confidence(residues, kind)


def test_votes_are_similarities_to_the_others_and_to_the_model_that_may_be_right():
    """By hand: two of four are the same, the third shares half with each, the fourth nothing."""
    alike = np.array([[1, 1, 0.5, 0], [1, 1, 0.5, 0], [0.5, 0.5, 1, 0], [0, 0, 0, 1]])
    order, consensus = ordered(
        np.log([0.1, 0.2, 0.3, 0.4]), alike, temperature=1, own=0
    )
    assert consensus.tolist() == pytest.approx([0.5, 0.5, 1 / 3, 0])
    assert order.tolist() == pytest.approx([0.45, 0.45, 0.45, 0.4])


def test_models_stand_as_the_formulas_say():
    """By hand: quality is the mean of network and confidence; one of four models is right, the
    better the likelier.
    """
    network, confidence = (
        np.array([0.4, 0.4, 0.4, 0.2]),
        np.array([0.6, np.nan, np.nan, np.nan]),
    )
    alike = np.full((4, 4), 0.5) + np.eye(4) / 2
    witnesses = {"network": network, "confidence": confidence}
    found = JUDGE.standing(witnesses, alike, np.full(4, 30))
    quality = np.array([0.5, 0.4, 0.4, 0.2])
    right = np.exp(quality / (2 * JUDGE.temperature))
    order = 0.5 + 0.5 * right / right.sum() + quality / 4
    assert found.above.tolist() == pytest.approx((order - order.mean()).tolist())
    assert found.level.tolist() == pytest.approx(
        [(0.375 + 0.5 * JUDGE.consensus) / (1 + JUDGE.consensus)] * 4
    )
    first_alone = {name: values[:1] for name, values in witnesses.items()}
    alone = JUDGE.standing(first_alone, (), np.array([30]))
    assert (alone.level.tolist(), alone.above.tolist()) == ([0.5], [0.0])
    weighted = JUDGE.model_copy(update={"weights": {"network": 3, "confidence": 1}})
    for first, level in ((0.6, 0.45), (np.nan, 0.4)):
        witnesses = {"network": network[:1], "confidence": np.array([first])}
        standing = weighted.standing(witnesses, (), np.array([30]))
        assert standing.level.tolist() == pytest.approx([level])


def test_without_confidence_a_larger_interface_than_usual_raises_a_model_up_to_a_limit():
    """By hand: 10, 20 and 40 residues are ln 2 apart, which is more than 0.5; 20 and 22 are less."""
    alike = np.full((3, 3), 0.5) + np.eye(3) / 2
    for sizes, larger in (
        ([10, 20, 40], [-0.5, 0, 0.5]),
        ([20, 20, 22], np.array([-1, -1, 2]) * np.log(1.1) / 3),
        ([0, 1, 1], [0, 0, 0]),
    ):
        found = JUDGE.standing({"network": np.full(3, 0.4)}, alike, np.array(sizes))
        quality = 0.4 + JUDGE.size * np.array(larger)
        order, _ = ordered(quality, alike, JUDGE.temperature * np.sqrt(3))
        assert found.above.tolist() == pytest.approx((order - order.mean()).tolist())
        assert np.ptp(found.level) == 0
        sure = {"network": np.full(3, 0.4), "confidence": np.full(3, 0.4)}
        assert np.ptp(JUDGE.standing(sure, alike, np.array(sizes)).above) < 1e-9
        assert found.level[0] == pytest.approx(
            (0.4 + 0.5 * JUDGE.consensus) / (1 + JUDGE.consensus)
        )


RANKED = {"a": 0.7, "b": 0.9, "c": 0.8}
"""Ranking scores of three models."""


@pytest.mark.parametrize(
    ("rows", "first"),
    [([stated(name, predictor="P", ranking_score=value) for name, value in RANKED.items()], "b"),
     ([stated(name, predictor="P", ranking_score=value) for name, value in zip("abc", (0.9, 0.9, 0.8), strict=True)], "a"),
     ([stated(name, predictor="P" if name == "a" else "Q", ranking_score=value) for name, value in RANKED.items()], None),
     ([stated(name, predictor="P", ranking_score=value) for name, value in [*RANKED.items()][:2]], None),
     ([stated(name, predictor="P", ranking_score=0.9) for name in RANKED], None),
     ([stated(name, ranking_score=value) for name, value in RANKED.items()], None), ([], None)],
)  # fmt: skip
def test_the_first_of_the_program_that_made_and_ranked_all_models_stays_first(
    rows, first
):
    """The others follow by the votes. Where it gives two the same score, the votes decide. In a pool
    of fewer models than vote in a large one, the votes alone do.
    """
    scores = [score("a", 0.6), score("b", 0.2), score("c", 0.4)]
    contacts = {"a": {1, 2}, "b": {9}, "c": {1, 2, 3}}
    assert not any(one.is_first for one in by_decoy(scores, contacts, rows).values())
    found = by_decoy(scores, contacts, rows, judge=LARGE_FROM_TWO)
    places = sorted("abc", key=lambda name: -found[name].pred_dockq)
    by_votes = ["a", "c", "b"]
    assert places == (
        by_votes if first is None else [first, *(n for n in by_votes if n != first)]
    )
    assert [name for name in "abc" if found[name].is_first] == [*(first or "")]


def test_ranks_in_names_count_where_the_program_gives_no_score():
    names = ["x_rank_002", "x_rank_001"]
    rows = tuple(stated(name, predictor="P") for name in names)
    scores = [score(name, 0.9 - i / 2) for i, name in enumerate(names)]
    contacts = {names[0]: {1}, names[1]: {2}}
    found = by_decoy(scores, contacts, rows, judge=LARGE_FROM_TWO)
    assert [found[name].is_first for name in names] == [False, True]


def crowd(n_wrong: int, n_right: int) -> tuple[np.ndarray, np.ndarray]:
    """Models that agree with their like alone: quality, and similarity, of wrong and right ones."""
    n = n_wrong + n_right
    right = np.arange(n) >= n_wrong
    alike = np.where(right[:, None] == right, 0.9, 0.1)
    np.fill_diagonal(alike, 1)
    return np.where(right, 0.8, 0.5), alike


@pytest.mark.parametrize(
    ("n_wrong", "n_right", "has_confidence", "right_first"),
    [(4, 1, True, True), (15, 2, True, False), (90, 9, True, True), (90, 9, False, False)],
)  # fmt: skip
def test_in_a_large_pool_the_most_confident_vote_and_without_confidence_all_do(
    n_wrong, n_right, has_confidence, right_first
):
    quality, alike = crowd(n_wrong, n_right)
    witnesses = {"network": quality}
    if has_confidence:
        witnesses["confidence"] = quality
    standing = JUDGE.standing(witnesses, alike, np.full(len(quality), 30))
    assert (standing.above.argmax() >= n_wrong) == right_first


def test_a_model_alone_is_judged_like_an_interface_and_better_than_one_with_which_no_other_agrees():
    scores = [score("a", 0.5), score("a", 0.5, "A:B")]
    found = by_decoy(scores, {"a": {1}})
    assert found["a"].pred_dockq == found["aA:B"].pred_dockq
    assert (
        found["a"].consensus,
        found["a"].pred_confidence,
        found["a"].pred_network,
    ) == (
        None,
        None,
        0.5,
    )
    apart = by_decoy([score("a", 0.5), score("b", 0.5)], {"a": {1}, "b": {2}})
    assert apart["a"].pred_dockq < found["a"].pred_dockq
    assert apart["a"].consensus == 0.0


TOUCHING = {"a": set(range(1, 9)), "b": set(range(1, 9)), "c": set(range(20, 28))}


def interfaces(name: str) -> list[Score]:
    scores = [score(decoy, 0.5) for decoy in TOUCHING]
    return scores + [score(decoy, 0.5, name) for decoy in TOUCHING]


def test_an_interface_is_judged_by_the_same_interface_of_the_other_models():
    """Two models agree on A:B; all three agree on A:C, which says nothing about A:B."""
    with_c = dict.fromkeys(TOUCHING, frozenset(range(40, 60)))
    scores = [*interfaces("A:B"), *(score(decoy, 0.5, "A:C") for decoy in TOUCHING)]
    found = by_decoy(scores, TOUCHING, with_c=with_c)
    pair = by_decoy(interfaces("A:B"), TOUCHING)
    for decoy in TOUCHING:
        assert found[decoy + "A:B"].pred_dockq == pair[decoy + "A:B"].pred_dockq
        # of a pair the interface is the whole
        assert pair[decoy + "A:B"].pred_dockq == pair[decoy].pred_dockq
        assert found[decoy + "A:C"].pred_dockq > found["aA:B"].pred_dockq
        assert found[decoy + "A:B"].pred_network == 0.5
    assert found["aA:B"].pred_dockq > found["cA:B"].pred_dockq


def test_interfaces_are_the_same_by_the_chains_of_the_target():
    swapped = {"b": {"A": "B", "B": "A"}}
    found = by_decoy(interfaces("A:B"), TOUCHING, chains=swapped)
    plain = by_decoy(interfaces("A:B"), TOUCHING)
    assert found["bA:B"].pred_dockq == plain["bA:B"].pred_dockq
    elsewhere = by_decoy(
        interfaces("A:B"), TOUCHING, chains={"b": {"A": "D", "B": "E"}}
    )
    assert elsewhere["aA:B"].pred_dockq < plain["aA:B"].pred_dockq


def test_the_interface_of_a_copy_has_no_vote_and_the_number_of_its_original():
    scores = [*interfaces("A:B"), score("d", 0.5), score("d", 0.5, "A:B")]
    touching = {**TOUCHING, "d": TOUCHING["c"]}
    copies = {("T", "d"): "c"}
    found = by_decoy(scores, touching, copies=copies)
    plain = by_decoy(interfaces("A:B"), TOUCHING)
    assert found["dA:B"].pred_dockq == found["cA:B"].pred_dockq
    assert found["cA:B"].pred_dockq == plain["cA:B"].pred_dockq


def test_each_witness_counts_in_the_direction_in_which_it_points():
    contacts = {"a": {1, 2}, "b": {1, 2, 3}, "c": {9}}
    equal = [score(name, 0.5) for name in "abc"]
    agreed = by_decoy(equal, contacts)
    assert agreed["a"].pred_dockq > agreed["c"].pred_dockq
    better = by_decoy([score("a", 0.5), score("b", 0.5), score("c", 0.9)], contacts)
    assert better["c"].pred_dockq > agreed["c"].pred_dockq
    rows = (stated("a", **UNSURE), stated("b", **SURE), stated("c", **UNSURE))
    confident = by_decoy(equal, contacts, rows)
    assert confident["b"].pred_dockq > confident["a"].pred_dockq
    assert confident["b"].pred_confidence > 0.5 > confident["a"].pred_confidence


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=6), st.integers(0, 5), st.floats(0, 0.5),
)  # fmt: skip
def test_a_better_network_score_never_lowers_the_place_or_the_dockq_of_a_model(
    network, which, more
):
    which %= len(network)
    scores = np.array(network)
    raised = scores + np.where(np.arange(len(scores)) == which, more, 0)
    before, after = (_expected(values) for values in (scores, raised))
    assert after[which] >= before[which] - 1e-9
    assert (after[which] >= after[before <= before[which]] - 1e-9).all()


def _expected(network: np.ndarray) -> np.ndarray:
    """DockQ to expect of models that share half of their contacts with each other."""
    unknown = np.full(len(network), np.nan)
    alike = np.full((len(network), len(network)), 0.5)
    sizes = np.full(len(network), 30)
    standing = JUDGE.standing({"network": network}, alike, sizes)
    return JUDGE.expected(standing.level, standing.above, unknown)


def test_copies_vote_once_and_have_the_numbers_of_their_originals():
    contacts = {"a": {1, 2}, "b": {1}, "copy": {1, 2}}
    before = by_decoy([score("a", 0.5), score("b", 0.3)], contacts)
    after = by_decoy(
        [score("a", 0.5), score("b", 0.3), score("copy", 0.5)],
        contacts,
        (),
        {("T", "copy"): "a"},
    )
    assert {name: after[name] for name in "ab"} == before
    assert after["copy"] == before["a"]._replace(decoy="copy")


def test_iptm_counts_as_that_between_the_partners_where_that_of_the_file_is_of_all_chains():
    def of(**measures: float | str) -> float | None:
        return by_decoy([score("a", 0.5)], {}, (stated("a", **measures),))[
            "a"
        ].pred_confidence

    assert of(iptm=0.72, iptm_of=ALL_CHAINS, interface_iptm=0.15) == of(iptm=0.15)
    assert of(iptm=0.72, iptm_of=ALL_CHAINS, lis=0.1) == of(lis=0.1)
    assert of(iptm=0.72, iptm_of=ALL_CHAINS) is None


def test_a_structure_that_looks_right_and_that_its_predictor_doubts_loses_its_class():
    """As the model of H1140 by Chai-1: ipTM 0.26, interface pLDDT 44, and 0.69 by structure."""
    found = by_decoy([score("a", 0.69)], {}, (stated("a", **UNSURE),))["a"]
    assert found.pred_dockq < 0.49 < found.pred_network
    assert found.pred_confidence < 0.23


def test_copies_share_all_measures_so_a_copy_without_plddt_is_a_predicted_model_too():
    rows = [
        stated("a"),
        stated("b", plddt=90.0, iptm=0.8),
        stated("c", plddt=50.0),
        stated("c", "U", iptm=0.1),
    ]
    found = of_copies(rows, {("T", "b"): "a"})
    assert [(row.target, row.decoy, row.plddt, row.iptm) for row in found] == [
        ("T", "a", 90.0, 0.8),
        ("T", "b", 90.0, 0.8),
        ("T", "c", 50.0, None),
        ("U", "c", None, 0.1),
    ]
    assert of_copies(rows, {}) == rows


def test_the_copy_of_which_most_is_known_stands_for_all():
    """AlphaPulldown copies its best model without the PAE; of equally known copies the first by
    name stays.
    """
    copies = {
        ("T", "seed_0"): "ranked_0",
        ("T", "seed_1"): "ranked_0",
        ("T", "d"): "c",
        ("U", "y"): "x",
    }
    rows = [
        stated("ranked_0", iptm=0.9),
        stated("seed_0", iptm=0.9, ipsae=0.7),
        stated("seed_1", iptm=0.9),
    ]
    rows += [stated("c", iptm=0.5), stated("d", iptm=0.5), stated("y", "U", plddt=80.0)]
    assert best_measured(copies, rows) == {
        ("T", "ranked_0"): "seed_0", ("T", "seed_1"): "seed_0", ("T", "d"): "c", ("U", "x"): "y",
    }  # fmt: skip
    assert best_measured(copies, []) == copies


# ---- how far to trust it -------------------------------------------------------------------------


def test_the_dockq_to_expect_falls_with_the_rank_and_its_bounds_hold_it():
    names = "abcdefgh"
    scores = [score(name, 0.1 * i) for i, name in enumerate(names)]
    found = by_decoy(scores, {name: {1, 20 + i} for i, name in enumerate(names)})
    trust = how_far_to_trust(JUDGE, [covered(name) for name in names], found.values())
    rows = [trust["T", name] for name in names]
    assert [row.dockq for row in rows] == sorted(row.dockq for row in rows)
    assert all(
        0 <= row.low <= row.high <= 1 and 0 <= row.p_acceptable <= 1 for row in rows
    )
    assert [row.p_acceptable for row in rows] == sorted(
        row.p_acceptable for row in rows
    )
    assert how_far_to_trust(None, [], found.values()) == {}


def test_what_is_unlike_the_training_decoys_is_named():
    domain = Domain(
        n_interface_residues=(10, 90),
        n_chains=(2, 4),
        center=[0.0, 0.0],
        axes=[[0.0, 1.0]],
        deviations=[2.0],
        limit=3,
        kinds=(ANTIBODY,),
    )
    judge = JUDGE.model_copy(update={"domain": domain})
    scores = [
        score(name, 0.5)._replace(pooled=(9.0, y), kind=kind)
        for name, y, kind in (("a", 6.0, ANTIBODY), ("b", 6.1, RECEPTOR))
    ]
    trust = how_far_to_trust(
        judge, [covered("a"), covered("b", n_interface_residues=9, n_chains=5)], scores
    )
    assert (trust["T", "a"].domain, trust["T", "a"].unknown_kind) == ("", "")
    assert trust["T", "b"].unknown_kind == RECEPTOR
    assert trust["T", "b"].domain == (
        "T-cell receptor and MHC molecule, training had no such complex; interface of 9 residues, training had 10 to 90; 5 chains, training had 2 to 4; "
        "its interface is 3.0 away from all in training (usual: up to 3.0)"
    )


def test_bounds_are_straight_between_knots():
    knots = [
        Knot(dockq=0.2, low=0, high=0.4, p_acceptable=0.2),
        Knot(dockq=0.6, low=0.4, high=0.8, p_acceptable=1),
    ]
    calibration = Calibration(constant=0, mean=1, within=1, knots=knots)
    assert (
        pytest.approx(np.array([[0, 0.4, 0.2], [0.2, 0.6, 0.6], [0.4, 0.8, 1]]))
        == calibration.about(np.array([0.1, 0.4, 0.9])).T
    )
    with pytest.raises(ValueError, match="not in the order"):
        Calibration(constant=0, mean=1, within=1, knots=knots[::-1])


# ---- the file ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [lambda text: text[:-9], lambda text: "[]", lambda text: text.replace('"format":1', '"format":9'),
     lambda text: json.dumps({**json.loads(text), "consensus": -1})],
)  # fmt: skip
def test_a_damaged_file_is_refused_by_name_in_one_line(tmp_path: Path, damage):
    path = tmp_path / "judge.json"
    path.write_text(damage(SHIPPED.read_text()))
    with pytest.raises(RecordError, match="not a usable judge") as error:
        read_judge(path)
    assert str(path) in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_what_is_written_is_read_again(tmp_path: Path):
    write_judge(tmp_path / "judge.json", JUDGE)
    assert read_judge(tmp_path / "judge.json") == JUDGE
