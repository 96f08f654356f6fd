"""How far to trust a score: intervals that hold DockQ as often as they say, and what is unlike the training decoys."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from toporank.errors import RecordError
from toporank.scorer.calibration import (
    Calibration,
    calibrate,
    estimates,
    expectations,
    read_calibration,
    why_of_another,
    write_calibration,
)
from toporank.scorer.conformal import fit_intervals
from toporank.scorer.expected import held_against_others
from toporank.scorer.scorer import Scorer

REPOSITORY = Path(__file__).resolve().parents[3]
SCORER = {"checkpoint": "0" * 64, "members": [], "score": "best"}


def predicted_decoys(n_clusters: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Clusters of 1 to 30 decoys that err alike, the more the better they are predicted; and their vectors."""
    draw = np.random.default_rng(seed)
    rows = []
    for cluster in range(n_clusters):
        common = draw.normal()
        for predicted in draw.uniform(size=draw.integers(1, 31)):
            error = (0.02 + 0.15 * predicted) * (common + draw.normal()) / 2**0.5
            dockq = float(np.clip(predicted + error, 0, 1))
            rows.append((f"c{cluster}", dockq, predicted, int(draw.integers(10, 100)), int(draw.integers(2, 5))))
    table = pd.DataFrame(rows, columns=["cluster", "dockq", "predicted", "n_interface_residues", "n_chains"])
    table["target"] = range(len(table))
    return table, draw.normal(size=(len(table), 12)) * np.arange(12, 0, -1)


def judged(calibration: Calibration, table: pd.DataFrame, pooled: np.ndarray) -> pd.DataFrame:
    """The table with the estimates."""
    asked = (table[name] for name in ("predicted", "n_interface_residues", "n_chains"))
    return table.join(pd.DataFrame(estimates(calibration, *asked, pooled)))


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return calibrate(*predicted_decoys(150, seed=1), SCORER)


@pytest.fixture(scope="module")
def fresh(calibration) -> pd.DataFrame:
    """Decoys of clusters that the calibration does not know."""
    return judged(calibration, *predicted_decoys(150, seed=2))


# ---- intervals --------------------------------------------------------------------------------------------


def test_of_new_clusters_about_80_percent_of_dockq_is_in_the_interval(fresh):
    inside = fresh["dockq"].between(fresh["pred_low"], fresh["pred_high"])
    assert 0.75 <= inside.groupby(fresh["cluster"]).mean().mean() <= 0.85


def test_the_file_says_how_often_that_was_so_for_clusters_left_out_in_turn(calibration):
    assert 0.75 <= calibration.in_domain.inside_interval <= 0.85


def test_intervals_are_wider_where_errors_are_larger(fresh):
    width = fresh["pred_high"] - fresh["pred_low"]
    assert width[fresh["predicted"] > 0.6].median() > 2 * width[fresh["predicted"] < 0.2].median()


def test_intervals_are_within_0_and_1_as_dockq_is(fresh):
    assert fresh["pred_low"].min() == 0
    assert fresh["pred_high"].max() == 1
    assert (fresh["pred_low"] < fresh["pred_high"]).all()


def test_a_decoy_without_others_has_an_interval_of_its_own():
    """Alone, decoys are predicted with twice the error here."""
    table, pooled = predicted_decoys(150, seed=3)
    alone = table.assign(alone=np.clip(table["predicted"] + (table["predicted"] - table["dockq"]), 0, 1))
    found = calibrate(alone, pooled, SCORER)
    asked = [0.5], [50], [3], pooled[:1]
    among, lone = (estimates(found, *asked, [is_alone])[0] for is_alone in (False, True))
    assert lone.pred_high - lone.pred_low > 1.5 * (among.pred_high - among.pred_low)
    plain = calibrate(table, pooled, SCORER)
    assert estimates(plain, *asked, [True]) == estimates(plain, *asked, [False])


def test_intervals_may_come_from_some_decoys_and_the_domain_from_all():
    """Decoys of every other cluster are predicted exactly, and are larger."""
    table, pooled = predicted_decoys(160, seed=3)
    some = table["cluster"].isin(sorted(set(table["cluster"]))[::2])
    table.loc[~some, "predicted"] = table["dockq"]
    table.loc[~some, "n_interface_residues"] += 100
    found = calibrate(table.assign(for_intervals=some), pooled, SCORER)
    assert found.expected == calibrate(table[some], pooled[some], SCORER).expected
    assert found.domain == calibrate(table, pooled, SCORER).domain
    assert found.in_domain.n_decoys + found.out_of_domain.n_decoys == len(table)
    assert found.in_domain.inside_interval > 0.85


def test_a_prediction_that_is_always_too_low_is_moved():
    table, pooled = predicted_decoys(150, seed=3)
    table["predicted"] = table["dockq"] * 0.5
    calibration = calibrate(table, pooled, SCORER)
    found = judged(calibration, table, pooled)
    high = found[found["predicted"] > 0.3]
    assert (high["pred_low"] > high["predicted"]).all()


def test_each_cluster_weighs_the_same_however_many_decoys_it_has():
    """One cluster of 2,000 decoys with large errors among 99 of one decoy with small ones."""
    rows = [("large", 0.9)] * 2000 + [(f"c{i}", 0.5 + i / 1000) for i in range(99)]
    (alone,) = fit_intervals(pd.DataFrame(rows, columns=["cluster", "dockq"]).assign(predicted=0.5)).bins
    assert alone.high == pytest.approx(0.09)  # the 91st of 100 clusters, as (100 + 1) 0.9 asks for


def test_of_few_clusters_nothing_is_promised():
    """Eight cannot tell what one of ten exceeds."""
    (only,) = fit_intervals(predicted_decoys(8, seed=4)[0]).bins
    assert (only.low, only.high, only.n_clusters) == (-1, 1, 8)


def test_the_bounds_leave_room_for_the_cluster_that_is_not_known_yet():
    """Errors 0.01 to 0.94 of 94 clusters: nine tenths of 95 clusters are 85.5, so the bound is the 86th."""
    rows = [(f"c{i}", i / 100) for i in range(1, 95)]
    (only,) = fit_intervals(pd.DataFrame(rows, columns=["cluster", "dockq"]).assign(predicted=0.0)).bins
    assert (only.low, only.high) == pytest.approx((0.09, 0.86))


# ---- what to expect of a decoy that was picked ------------------------------------------------------------


def models_of_targets(n_targets: int, seed: int, n: int = 10) -> tuple[pd.DataFrame, np.ndarray]:
    """Targets of models that are about as good as each other, which the scores only seem to tell apart."""
    draw = np.random.default_rng(seed)
    target = np.repeat(np.arange(n_targets), n)
    dockq = np.clip(draw.uniform(size=n_targets)[target] + draw.normal(scale=0.03, size=len(target)), 0, 1)
    predicted = np.clip(dockq + draw.normal(scale=0.1, size=len(target)), 0, 1)
    named = {"cluster": [f"c{i}" for i in target], "target": [f"t{i}" for i in target]}
    sizes = {"n_interface_residues": 20, "n_chains": 2}
    return pd.DataFrame({**named, "dockq": dockq, "predicted": predicted, **sizes}), np.zeros((len(target), 1))


def first_of_each(calibration: Calibration, table: pd.DataFrame, pooled: np.ndarray) -> pd.DataFrame:
    """The model of each target with the highest score, and what to expect of it."""
    held = held_against_others(table["predicted"], table["target"])
    asked = (table[name] for name in ("predicted", "n_interface_residues", "n_chains"))
    known = table.join(pd.DataFrame(estimates(calibration, *asked, pooled, held=held)))
    return known.loc[known.groupby("target")["predicted"].idxmax()]


@pytest.fixture(scope="module")
def first() -> pd.DataFrame:
    return first_of_each(calibrate(*models_of_targets(200, seed=1), SCORER), *models_of_targets(200, seed=2))


def test_of_the_first_of_ten_models_the_expected_dockq_is_right_on_average_where_the_score_is_too_high(first):
    assert (first["predicted"] - first["dockq"]).mean() > 0.1
    assert abs((first["expected_dockq"] - first["dockq"]).mean()) < 0.05


def test_the_intervals_of_the_first_of_ten_hold_as_often_as_they_say(first):
    assert 0.75 <= first["dockq"].between(first["pred_low"], first["pred_high"]).mean() <= 0.88


def test_within_a_target_expected_dockq_keeps_the_order_of_the_scores():
    table, pooled = models_of_targets(60, seed=3)
    known = calibrate(table, pooled, SCORER)
    held = held_against_others(table["predicted"], table["target"])
    found = estimates(known, table["predicted"], table["n_chains"], table["n_chains"], pooled, held=held)
    ordered = table.assign(expected=[one.expected_dockq for one in found]).sort_values(["target", "predicted"])
    assert (ordered.groupby("target")["expected"].diff().dropna() >= 0).all()


def test_no_score_is_held_above_the_mean_of_its_target_in_which_bad_models_and_copies_hardly_count():
    assert held_against_others([0.6], ["T"]).tolist() == pytest.approx([0.6])
    assert held_against_others([0.8, 0.4], ["T", "T"]).tolist() == pytest.approx([(0.64 + 0.16) / 1.2, 0.4])
    assert held_against_others([0.8, 0.4], ["T", "U"]).tolist() == pytest.approx([0.8, 0.4])
    assert held_against_others([0.8, 0.4, 0.4], ["T"] * 3, [True, True, False])[0] == pytest.approx(0.8 / 1.2)
    assert held_against_others([0.8, *[0.01] * 20], ["T"] * 21)[0] > 0.6
    assert held_against_others([0.0, 0.0], ["T", "T"]).tolist() == [0, 0]


def test_a_model_without_others_has_a_curve_of_its_own():
    table, pooled = models_of_targets(60, seed=4)
    known = calibrate(table.assign(alone=table["dockq"] / 2), pooled, SCORER)
    (lone,) = estimates(known, [0.25], [20], [2], pooled[:1], [True], held=[0.25])
    assert lone.expected_dockq == pytest.approx(0.5, abs=0.05)


def test_docked_poses_have_a_curve_and_intervals_of_their_own():
    """Here models are as good as their scores say, and poses half as good, with larger errors."""
    table, pooled = models_of_targets(60, seed=7)
    errors = np.random.default_rng(7).normal(scale=0.1, size=len(table))
    halved = np.clip(table["dockq"] / 2 + errors, 0, 1)
    docked = table.assign(
        dockq=halved, for_intervals=False, cluster="p" + table["cluster"], target="p" + table["target"]
    )
    both = pd.concat([table.assign(pose=False, for_intervals=True), docked.assign(pose=True)], ignore_index=True)
    known = calibrate(both.assign(alone=both["predicted"]), np.concatenate([pooled, pooled]), SCORER)
    asked = [0.8, 0.8], [20, 20], [2, 2], pooled[:2]
    for alone in (False, True):
        pose, model = estimates(known, *asked, alone, from_predictor=[False, True])
        assert (pose.expected_dockq, model.expected_dockq) == pytest.approx((0.4, 0.8), abs=0.1)
        assert pose.pred_low < 0.4 < pose.pred_high < model.pred_high
        assert pose.pred_high - pose.pred_low > model.pred_high - model.pred_low
        assert pose.p_acceptable < model.p_acceptable


def test_where_too_few_clusters_have_poses_they_count_as_models_of_predictors():
    table, pooled = models_of_targets(60, seed=8)
    known = calibrate(table.assign(pose=table["cluster"].isin(["c1", "c2", "c3", "c4"])), pooled, SCORER)
    assert (known.poses, known.poses_alone) == (None, None)
    pose, model = estimates(known, [0.5] * 2, [20] * 2, [2] * 2, pooled[:2], from_predictor=[False, True])
    assert pose == model


def test_six_decimals_of_the_scores_are_enough_for_the_same_curve():
    """So a table of the predictions of a study gives what the study gave."""
    table, _ = models_of_targets(60, seed=5)
    assert expectations(table) == expectations(table.round(6))


def test_the_shipped_calibration_is_what_the_table_of_predictions_gives():
    shipped = read_calibration(REPOSITORY / "resources/scorer/calibration.json")
    table = pd.read_csv(REPOSITORY / "docs/scorer/predictions.csv.gz", dtype={"target": str, "cluster": str})
    table = table.assign(predicted=table["scorer"], target=table["dataset"] + "/" + table["target"])
    docked = ["docked", "protac-megadock", "sabdab-docked", "membrane-zdock"]
    kinds = {"for_intervals": table["group"] == "bm55-af2-boltz", "pose": table["group"].isin(docked)}
    assert dict(expectations(table.assign(**kinds))).items() <= dict(shipped).items()


# ---- domain -----------------------------------------------------------------------------------------------


def test_most_decoys_like_those_of_the_training_are_in_domain(fresh):
    assert 0.95 < (fresh["domain"] == "").mean() < 1


@pytest.mark.parametrize(
    ("residues", "chains", "step", "reason"),
    [
        (50, 3, 0.0, ""),
        (612, 3, 0.0, "interface of 612 residues, training had 10 to 99"),
        (9, 5, 0.0, "interface of 9 residues, training had 10 to 99; 5 chains, training had 2 to 4"),
        (50, 3, 100.0, "unlike the training decoys: distance "),
    ],
)
def test_a_decoy_is_out_of_domain_by_its_sizes_or_by_what_the_network_sees_and_the_reason_is_told(
    calibration, residues, chains, step, reason
):
    vector = np.zeros((1, 12))
    vector[0, 0] = step  # the first axis has a standard deviation of 12
    (found,) = estimates(calibration, [0.5], [residues], [chains], vector)
    assert found.domain.startswith(reason)
    assert bool(found.domain) == bool(reason)


def test_errors_inside_and_outside_are_told_with_their_counts(calibration):
    """Decoys that are larger than any of the other clusters are predicted badly."""
    table, pooled = predicted_decoys(100, seed=5)
    odd = table["cluster"] == "c7"
    table.loc[odd, "n_interface_residues"] = 5000
    table.loc[odd, ["predicted", "dockq"]] = 0.9, 0.1
    found = calibrate(table, pooled, SCORER)
    assert found.in_domain.n_decoys + found.out_of_domain.n_decoys == len(table)
    assert found.out_of_domain.n_decoys >= odd.sum()
    assert found.out_of_domain.mae > found.in_domain.mae


def test_vectors_that_are_all_alike_have_no_distance():
    table, _ = predicted_decoys(30, seed=6)
    found = judged(calibrate(table, np.ones((len(table), 3)), SCORER), table, np.ones((len(table), 3)))
    assert not found["domain"].str.contains("unlike").any()


# ---- what cannot be calibrated ----------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["one cluster", "missing", "vectors"])
def test_predictions_that_cannot_be_calibrated_are_refused(change):
    table, pooled = predicted_decoys(10, seed=7)
    if change == "one cluster":
        table["cluster"] = "c"
    if change == "missing":
        table.loc[3, "predicted"] = None
    with pytest.raises(ValueError, match=r"5 clusters are needed|is missing"):
        calibrate(table, pooled[1:] if change == "vectors" else pooled, SCORER)


# ---- the file ---------------------------------------------------------------------------------------------


@pytest.fixture
def path(calibration, tmp_path) -> Path:
    write_calibration(tmp_path / "calibration.json", calibration)
    return tmp_path / "calibration.json"


def test_a_calibration_survives_the_way_through_its_file(calibration, path):
    assert read_calibration(path) == calibration


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        (("format",), 2, "format: Input should be 3"),
        (("scorer", "checkpoint"), "abc", "scorer.checkpoint: String should match"),
        (("expected", "intervals", "level"), 0.9, "intervals.level: Input should be less than or equal to 0.8"),
        (("expected", "intervals", "edges"), [0.5, 0.2], "rising edges are needed"),
        (("expected", "intervals", "bins"), [], "intervals.bins: List should have at least 1 item"),
        (("domain", "center"), [0.0], "as many numbers as the center has"),
        (("domain", "center"), [0.0] * 10_000, "List should have at most 8192 items"),
        (("domain", "limit"), float("nan"), "domain.limit: Input should be"),
        (("remark",), "hello", "remark: unknown key"),
    ],
)
def test_a_damaged_calibration_is_one_line_that_says_where_and_what_to_do(path, key, value, complaint):
    content = json.loads(path.read_text())
    inner = content
    for name in key[:-1]:
        inner = inner[name]
    inner[key[-1]] = value
    path.write_text(json.dumps(content))
    with pytest.raises(RecordError) as caught:
        read_calibration(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: not a usable calibration: ")
    assert complaint in said
    assert "(delete it, " in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    "content", ["", "[" * 100_000, " " * 2**24 + "{}", b"\xff"], ids=["empty", "deep", "large", "bytes"]
)
def test_what_is_no_calibration_is_refused(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(RecordError, match="not a usable calibration"):
        read_calibration(path)


def test_a_calibration_is_for_vectors_of_one_length(calibration):
    with pytest.raises(RecordError, match="for vectors of 12 numbers, the network gives 3"):
        estimates(calibration, [0.5], [50], [3], np.zeros((1, 3)))


def test_a_calibration_belongs_to_one_scorer(tmp_path):
    files = [tmp_path / name for name in ("best.ckpt", "a.ckpt", "b.ckpt")]
    for file in files:
        file.write_text(file.name)
    best, *others = files

    def identity(checkpoint, members, mean):
        return Scorer.of(checkpoint, members, mean=mean).identity

    made = calibrate(*predicted_decoys(10, seed=8), identity(best, files, True))
    assert why_of_another(made, identity(best, files[::-1], True)) == ""
    assert why_of_another(made, identity(best, files, False)).endswith("with another way to combine them")
    assert "another checkpoint and other members" in why_of_another(made, identity(others[0], others, True))
