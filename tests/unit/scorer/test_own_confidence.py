"""The predictor's own confidence in the score: what it can do, and what it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import REPOSITORY
from toporank.errors import RecordError
from toporank.inputs.confidence.table import ALL_CHAINS, Confidence, best_measured, of_copies
from toporank.scorer import own_confidence
from toporank.scorer.own_confidence import OF_PAIRS, OF_RESIDUES, Curve, fit_curve, fit_own_confidence
from toporank.scorer.prediction import Score
from toporank.scorer.weigh import weigh_confidence

SHIPPED = REPOSITORY / "resources/scorer/confidence.json"
OWN = own_confidence.read_own_confidence(SHIPPED)
SURE = {"contact_plddt": 95.0, "pdockq": 0.6, "iptm": 0.9, "ipsae": 0.8, "lis": 0.6, "pdockq2": 0.8}
UNSURE = {"contact_plddt": 45.0, "pdockq": 0.05, "iptm": 0.2, "ipsae": 0.0, "lis": 0.05, "pdockq2": 0.02}


def spoken(stated: dict[str, float | None]) -> float | None:
    value = OWN.speaks_for({name: [np.nan if each is None else each] for name, each in stated.items()})[0]
    return None if np.isnan(value) else float(value)


def stated(decoy: str, target: str = "T", **measures: float) -> Confidence:
    return Confidence(target, decoy, **measures)


def score(decoy: str, pred_dockq: float, interface: str = "", target: str = "T") -> Score:
    return Score(target, decoy, pred_dockq, None, interface)


def weighed(scores: list[Score], rows: list[Confidence], copies: dict | None = None) -> dict[str, Score]:
    return {
        each.decoy + each.interface: each
        for each in weigh_confidence(scores, of_copies(rows, copies or {}), copies or {}, SHIPPED)
    }


@given(st.sets(st.sampled_from((*OF_RESIDUES, *OF_PAIRS))))
def test_any_subset_of_measures_gives_a_dockq_that_points_where_they_point(names):
    sure, unsure = (spoken({n: v if n in names else None for n, v in said.items()}) for said in (SURE, UNSURE))
    if {*OF_RESIDUES} <= names or names & {*OF_PAIRS}:
        assert 0 <= unsure < 0.4 < sure <= 1
    else:
        assert sure is unsure is None


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1) | st.just(float("nan"))), min_size=1, max_size=6),
    st.integers(0, 5),
    st.floats(0, 0.5),
)
def test_more_confidence_in_a_model_never_lowers_its_place_or_its_score(models, which, more):
    which %= len(models)
    structure, confidence = np.array(models).T
    raised = confidence + np.where(np.arange(len(models)) == which, more, 0)
    before, after = (OWN.joined(structure, said, ["T"] * len(models), True) for said in (confidence, raised))
    assert after[which] >= before[which] - 1e-9
    above = (before <= before[which]) & ~np.isnan(confidence)
    if not np.isnan(confidence[which]):
        assert (after[which] >= after[above] - 1e-6).all()


def test_without_confidence_nothing_changes_to_the_last_bit():
    scores = [score("a", 0.123456789), score("b", 0.5), score("a", 0.7, "A:B")]
    assert weigh_confidence(scores, [], {}, SHIPPED) == scores
    assert weigh_confidence(scores, [stated("a", haddock_score=-80.0, plddt=90.0)], {}, SHIPPED) == scores
    assert weigh_confidence(scores, [stated("a", **SURE)], {}, None) == scores


@pytest.mark.parametrize("copy", ["0_best", "z_best"])
def test_of_copies_the_one_of_which_most_is_known_speaks_for_all(copy):
    """`cp model_4.pdb best.pdb`: the copy has B factors alone, the model also the files of its predictor."""
    rows, scores = [stated("m", **UNSURE), stated("n", **SURE)], [score("m", 0.5), score("n", 0.5)]
    before = weighed(scores, rows)
    of_copy = stated(copy, contact_plddt=95.0, pdockq=0.6)
    original, other = sorted(["m", copy])
    after = weighed([*scores, score(copy, 0.5)], [*rows, of_copy], {("T", other): original})
    assert {name: after[name] for name in "mn"} == before
    assert after[copy].pred_dockq == before["m"].pred_dockq


def test_copies_share_all_measures_so_a_copy_without_plddt_is_a_predicted_model_too():
    rows = [stated("a"), stated("b", plddt=90.0, iptm=0.8), stated("c", plddt=50.0), stated("c", "U", iptm=0.1)]
    found = of_copies(rows, {("T", "b"): "a"})
    assert [(row.target, row.decoy, row.plddt, row.iptm) for row in found] == [
        ("T", "a", 90.0, 0.8),
        ("T", "b", 90.0, 0.8),
        ("T", "c", 50.0, None),
        ("U", "c", None, 0.1),
    ]
    assert of_copies(rows, {}) == rows


def test_the_copy_of_which_most_is_known_stands_for_all():
    """AlphaPulldown copies its best model without the PAE; of equally known copies the first by name stays."""
    copies = {("T", "seed_0"): "ranked_0", ("T", "seed_1"): "ranked_0", ("T", "d"): "c", ("U", "y"): "x"}
    rows = [stated("ranked_0", iptm=0.9), stated("seed_0", iptm=0.9, ipsae=0.7), stated("seed_1", iptm=0.9)]
    rows += [stated("c", iptm=0.5), stated("d", iptm=0.5), stated("y", "U", plddt=80.0)]
    assert best_measured(copies, rows) == {
        ("T", "ranked_0"): "seed_0", ("T", "seed_1"): "seed_0", ("T", "d"): "c", ("U", "x"): "y",
    }  # fmt: skip
    assert best_measured(copies, []) == copies


def test_iptm_counts_as_that_between_the_partners_where_that_of_the_file_is_of_all_chains():
    def of(**measures: float | str) -> float | None:
        return weighed([score("a", 0.5)], [stated("a", **measures)])["a"].pred_confidence

    assert of(iptm=0.72, iptm_of=ALL_CHAINS, interface_iptm=0.15) == of(iptm=0.15)
    assert of(iptm=0.72, iptm_of=ALL_CHAINS, lis=0.1) == of(lis=0.1)
    assert of(iptm=0.72, iptm_of=ALL_CHAINS) is None


def test_a_model_without_confidence_keeps_its_score_beside_others_that_have_one():
    found = weighed([score("a", 0.4), score("b", 0.5), score("c", 0.5, target="U")], [stated("a", **SURE)])
    assert [found[name].pred_dockq for name in "bc"] == [0.5, 0.5]
    assert found["b"].pred_structure == 0.5
    assert found["b"].pred_confidence is None
    assert found["a"].pred_dockq > found["a"].pred_structure == 0.4


def test_interfaces_keep_the_score_of_their_structure():
    found = weighed([score("a", 0.4), score("a", 0.2, "A:B")], [stated("a", **SURE)])
    assert found["aA:B"] == score("a", 0.2, "A:B")


def test_a_copy_has_the_confidence_of_its_original_or_gives_it_its_own():
    scores, copies = [score("a", 0.4), score("copy", 0.4)], {("T", "copy"): "a"}
    for of_a, of_copy in ((SURE, {}), ({}, SURE), (SURE, UNSURE)):
        rows = [stated("a", **of_a), stated("copy", **of_copy)]
        found = weighed(scores, rows, copies)
        alone = weighed(scores[:1], [stated("a", **SURE)])["a"]
        assert found["a"][2:] == found["copy"][2:] == alone[2:]


def test_a_structure_that_looks_right_and_that_its_predictor_doubts_loses_its_class():
    """As the model of H1140 by Chai-1: ipTM 0.26, interface pLDDT 44, and 0.69 by structure."""
    found = weighed([score("a", 0.69)], [stated("a", **UNSURE)])["a"]
    assert found.pred_dockq < 0.49 < found.pred_structure
    assert found.pred_confidence < 0.23


def test_a_curve_finds_the_one_that_made_the_data():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"iptm": rng.random(2000), "cluster": rng.integers(40, size=2000)})
    true = Curve(weights={"iptm": 5.0}, constant=-2.0)
    table["dockq"] = true({"iptm": table["iptm"].to_numpy()}) + rng.normal(0, 0.02, 2000)
    found = fit_curve(table, ["iptm"])
    assert found.weights["iptm"] == pytest.approx(5.0, abs=0.1)
    assert found.constant == pytest.approx(-2.0, abs=0.1)


@pytest.fixture(scope="module")
def made() -> pd.DataFrame:
    """Models of which structure and confidence each know half, and a measure that points the wrong way."""
    rng = np.random.default_rng(1)
    n = 1200
    target = np.repeat(np.arange(n // 6), 6)
    level = np.repeat(rng.uniform(0.2, 0.7, n // 6), 6)
    dockq = np.clip(level + rng.normal(0, 0.15, n), 0, 1)
    return pd.DataFrame(
        {
            "target": target.astype(str),
            "cluster": target.astype(str),
            "dockq": dockq,
            "predicted": np.clip(dockq + rng.normal(0, 0.2, n), 0, 1),
            "alone": np.clip(dockq + rng.normal(0, 0.3, n), 0, 1),
            "contact_plddt": 40 + 60 * np.clip(dockq + rng.normal(0, 0.2, n), 0, 1),
            "pdockq": rng.random(n) - dockq / 2,
        }
    )


def test_both_together_are_nearer_to_the_truth_than_either(made):
    own = fit_own_confidence(made)
    confidence = own.speaks_for({name: made[name] for name in OF_RESIDUES})
    both = own.joined(made["predicted"], confidence, made["target"], True)
    errors = [((each - made["dockq"]) ** 2).mean() for each in (both, made["predicted"], confidence)]
    assert errors[0] < 0.7 * min(errors[1:])


def test_a_measure_that_points_the_wrong_way_is_left_out_and_not_turned_around(made):
    own = fit_own_confidence(made)
    assert own.of_residues[0].weights["pdockq"] == pytest.approx(0, abs=1e-6)
    assert own.of_residues[0].weights["contact_plddt"] > 0
    assert min(own.among.structure_within, own.among.confidence_within, own.alone.confidence) > 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-9],
        lambda text: "[]",
        lambda text: text.replace('"contact_plddt":0', '"contact_plddt":-0'),
        lambda text: text.replace('"format":1', '"format":9'),
        lambda text: json.dumps({**json.loads(text), "of_residues": [], "of_pairs": []}),
    ],
)
def test_a_damaged_file_is_refused_by_name_in_one_line(tmp_path: Path, damage):
    path = tmp_path / "confidence.json"
    path.write_text(damage(SHIPPED.read_text()))
    with pytest.raises(RecordError, match="not usable") as error:
        own_confidence.read_own_confidence(path)
    assert str(path) in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_what_is_written_is_read_again(tmp_path: Path):
    own_confidence.write_own_confidence(tmp_path / "confidence.json", OWN)
    assert own_confidence.read_own_confidence(tmp_path / "confidence.json") == OWN
