"""What the metrics mean: cases small enough to check by hand, then the published predictions."""

import itertools
import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toporank import metrics

EXTRACT = Path(__file__).parents[1] / "data" / "published_extract.csv"

# Few distinct values, so that ties are common.
GRID = st.integers(0, 20).map(lambda k: k / 20)
PAIRS = st.lists(st.tuples(GRID, GRID), min_size=1, max_size=25)
ROWS = st.lists(st.tuples(st.sampled_from("ABCD"), GRID, GRID), min_size=1, max_size=30)
unhurried = settings(max_examples=40)  # a busy machine must not fail a test

pytestmark = pytest.mark.filterwarnings("error")  # a metric never prints a warning


def table_of(rows) -> pd.DataFrame:
    """A table of (target, dockq, pred_dockq) rows with decoys d00, d01, ..."""
    table = pd.DataFrame(rows, columns=["target", "dockq", "pred_dockq"])
    return table.assign(decoy=[f"d{i:02d}" for i in range(len(table))])


@pytest.fixture
def two_targets() -> pd.DataFrame:
    """A is ranked right but for its best decoy, B has constant labels."""
    a = [("A", 0.9, 0.6), ("A", 0.5, 0.7), ("A", 0.1, 0.2)]
    b = [("B", 0.2, 0.5), ("B", 0.2, 0.1), ("B", 0.2, 0.3)]
    return table_of(a + b)


@pytest.fixture
def extract() -> pd.DataFrame:
    """Published predictions of four targets."""
    return pd.read_csv(EXTRACT, comment="#", dtype={"target": str})


# ---- CAPRI classes -------------------------------------------------------------------------------


def test_capri_class_thresholds_belong_to_the_better_class():
    dockq = [[0.0, 0.2299, 0.23, 0.4899], [0.49, 0.7999, 0.80, 1.0]]
    assert metrics.capri_class(dockq).tolist() == [[0, 0, 1, 1], [2, 2, 3, 3]]
    assert metrics.CAPRI_NAMES[metrics.capri_class(0.5)] == "medium"


def test_capri_class_is_the_same_in_single_precision():
    thresholds = np.array([0.23, 0.49, 0.80], dtype=np.float32)
    assert metrics.capri_class(thresholds).tolist() == [1, 2, 3]
    assert metrics.hits_at(thresholds[:1], [0.0], 1) == 1


def test_capri_class_refuses_a_missing_label():
    with pytest.raises(ValueError, match="1 of 2 values of DockQ"):
        metrics.capri_class([0.5, math.nan])


# ---- ranking loss --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dockq", "predicted", "loss"),
    [
        ([0.9, 0.5, 0.1], [0.6, 0.7, 0.2], 0.4),
        ([0.9, 0.5, 0.1], [0.8, 0.7, 0.2], 0),
        ([0.2, 0.8], [0.5, 0.5], 0.6),  # of tied predictions the first
        ([0.8, 0.2], [0.5, 0.5], 0),
        ([0.3], [0.9], 0),
    ],
)
def test_ranking_loss_is_the_dockq_given_away(dockq, predicted, loss):
    assert metrics.ranking_loss(dockq, predicted) == pytest.approx(loss)


@unhurried
@given(PAIRS)
def test_random_pick_loss_is_the_mean_loss_over_all_picks(pairs):
    dockq = [y for y, _ in pairs]
    picks = [
        metrics.ranking_loss(dockq, np.eye(len(dockq))[i]) for i in range(len(dockq))
    ]
    assert metrics.random_pick_loss(dockq) == pytest.approx(np.mean(picks), abs=1e-12)


# ---- hits and success ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dockq", "predicted", "n", "threshold", "hits"),
    [
        ([0.23, 0.1, 0.9, 0.0], [0.7, 0.8, 0.6, 0.1], 1, metrics.ACCEPTABLE, 0),
        ([0.23, 0.1, 0.9, 0.0], [0.7, 0.8, 0.6, 0.1], 2, metrics.ACCEPTABLE, 1),
        ([0.23, 0.1, 0.9, 0.0], [0.7, 0.8, 0.6, 0.1], 10, metrics.ACCEPTABLE, 2),
        ([0.5, 0.85, 0.3], [3, 2, 1], 3, metrics.MEDIUM, 2),
        ([0.5, 0.85, 0.3], [3, 2, 1], 3, metrics.HIGH, 1),
        # equals keep their order
        ([0.1, 0.9, 0.9], [0.5, 0.5, 0.5], 1, metrics.ACCEPTABLE, 0),
        # long enough for a sorting method that would not keep it
        (
            np.repeat([0.9, 0.1], [20, 180]),
            np.tile([0.4, 0.5], 100),
            10,
            metrics.ACCEPTABLE,
            10,
        ),
    ],
)
def test_hits_among_the_best_predicted(dockq, predicted, n, threshold, hits):
    assert metrics.hits_at(dockq, predicted, n, threshold) == hits


def test_a_depth_below_one_is_refused():
    with pytest.raises(ValueError, match="1 or more, not 0"):
        metrics.hits_at([0.5], [0.5], 0)


# ---- correlations --------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [metrics.spearman, metrics.pearson])
@pytest.mark.parametrize(
    ("dockq", "predicted"),
    [
        # the mean of four 0.1 need not be 0.1
        ([0.1, 0.1, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4]),
        ([0.1, 0.2, 0.3], [0.7, 0.7, 0.7]),
        ([0.1, 0.2], [0.1, 0.2]),
        ([0.1], [0.2]),
    ],
)
def test_undefined_correlations_are_nan(score, dockq, predicted):
    assert math.isnan(score(dockq, predicted))


def test_a_perfect_correlation_does_not_exceed_one_by_rounding():
    assert metrics.pearson([0.1, 0.2, 0.3], [0.2, 0.4, 0.6]) == 1
    assert metrics.pearson([0.1, 0.2, 0.3], [0.6, 0.4, 0.2]) == -1
    assert metrics.pearson([0.1, 0.2, 0.3], [1e-200, 2e-200, 3e-200]) == pytest.approx(
        1
    )


def test_decoys_may_be_there_several_times_or_not_at_all():
    y, p, times = [0.1, 0.4, 0.4, 0.7, 0.2], [0.3, 0.2, 0.9, 0.5, 0.0], [2, 1, 3, 1, 0]
    expected = scipy.stats.spearmanr(np.repeat(y, times), np.repeat(p, times)).statistic
    assert metrics.spearman(y, p, times) == pytest.approx(expected, abs=1e-12)


@unhurried
@given(st.lists(st.tuples(GRID, GRID), min_size=3, max_size=25))
def test_correlations_agree_with_scipy(pairs):
    dockq, predicted = zip(*pairs, strict=True)
    assume(len(set(dockq)) > 1 and len(set(predicted)) > 1)
    expected = scipy.stats.spearmanr(dockq, predicted).statistic
    assert metrics.spearman(dockq, predicted) == pytest.approx(expected, abs=1e-12)
    expected = scipy.stats.pearsonr(dockq, predicted).statistic
    assert metrics.pearson(dockq, predicted) == pytest.approx(expected, abs=1e-9)


@unhurried
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(-10, 10)), min_size=3, max_size=12)
)
def test_correlations_stay_in_their_range_for_any_values(pairs):
    for score in (metrics.spearman, metrics.pearson):
        value = score(*zip(*pairs, strict=True))
        assert math.isnan(value) or -1 <= value <= 1


# ---- AUROC ---------------------------------------------------------------------------------------


def test_auroc_needs_both_classes():
    assert math.isnan(metrics.auroc([0.9, 0.23], [0.1, 0.2]))
    assert math.isnan(metrics.auroc([0.1, 0.22], [0.1, 0.2]))
    assert metrics.auroc([0.9, 0.23], [0.2, 0.1], threshold=metrics.MEDIUM) == 1


@unhurried
@given(PAIRS)
def test_auroc_counts_pairs(pairs):
    positive = [p for y, p in pairs if y >= metrics.ACCEPTABLE]
    negative = [p for y, p in pairs if y < metrics.ACCEPTABLE]
    assume(positive and negative)
    wins = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a, b in itertools.product(positive, negative)
    ]
    assert metrics.auroc(*zip(*pairs, strict=True)) == pytest.approx(
        np.mean(wins), abs=1e-12
    )


# ---- what all functions of two arrays refuse -----------------------------------------------------

TWO_ARRAYS = [
    metrics.ranking_loss,
    metrics.spearman,
    metrics.pearson,
    metrics.auroc,
    lambda y, p: metrics.hits_at(y, p, 1),
]


@pytest.mark.parametrize("score", TWO_ARRAYS)
@pytest.mark.parametrize(
    ("dockq", "predicted", "message"),
    [
        ([], [], "no models"),
        ([0.1, 0.2], [0.1], r"one common shape \(n,\), not \(2,\) and \(1,\)"),
        ([[0.1, 0.2]], [[0.1, 0.2]], "one common shape"),
        ([0.1, math.nan], [0.1, 0.2], "1 of 2 values of true DockQ"),
        ([0.1, 0.2], [math.inf, math.nan], "2 of 2 values of predicted DockQ"),
    ],
)
def test_unusable_arrays_are_refused(score, dockq, predicted, message):
    with pytest.raises(ValueError, match=message):
        score(dockq, predicted)


@unhurried
@given(PAIRS, st.randoms(use_true_random=False))
def test_the_order_of_decoys_matters_only_through_ties(pairs, random):
    # distinct predictions leave nothing to the tie rule
    rows = [(y, k + p / 2) for k, (y, p) in enumerate(pairs)]
    shuffled = random.sample(rows, len(rows))
    for score in TWO_ARRAYS:
        before, after = (score(*zip(*order, strict=True)) for order in (rows, shuffled))
        assert after == pytest.approx(before, abs=1e-12, nan_ok=True)


# ---- per target ----------------------------------------------------------------------------------


def test_per_target_by_hand(two_targets):
    a, b = metrics.per_target(two_targets).to_dict("records")
    assert (a["target"], a["n_decoys"], a["top_decoy"]) == ("A", 3, "d01")
    assert (a["best_dockq"], a["top_dockq"]) == (0.9, 0.5)
    assert a["ranking_loss"] == pytest.approx(0.4)
    assert a["random_pick_loss"] == pytest.approx(0.4)
    assert [a[f"hits_at_{n}"] for n in metrics.TOP_N] == [1, 2, 2]
    assert a["spearman"] == pytest.approx(0.5)
    assert a["auroc"] == 1
    assert [b[f"success_at_{n}"] for n in metrics.TOP_N] == [False, False, False]
    assert b["ranking_loss"] == b["random_pick_loss"] == 0
    assert all(math.isnan(b[name]) for name in ("spearman", "pearson", "auroc"))


def test_per_target_columns_are_frozen(two_targets):
    names = (
        "target n_decoys best_dockq top_decoy top_dockq ranking_loss random_pick_loss "
        "hits_at_1 hits_at_5 hits_at_10 success_at_1 success_at_5 success_at_10 "
        "spearman pearson auroc"
    )
    assert list(metrics.per_target(two_targets)) == names.split()


def test_per_target_breaks_ties_by_decoy_name():
    table = table_of([("A", 0.9, 0.5), ("A", 0.1, 0.5)]).assign(decoy=["late", "early"])
    assert metrics.per_target(table)["top_decoy"].tolist() == ["early"]


@unhurried
@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_never_matters(rows, random):
    table = table_of(rows)
    shuffled = table.loc[random.sample(range(len(table)), len(table))]
    pd.testing.assert_frame_equal(
        metrics.per_target(table), metrics.per_target(shuffled)
    )
    assert metrics.summarise(table, n_bootstrap=5) == metrics.summarise(
        shuffled, n_bootstrap=5
    )


@pytest.mark.parametrize("evaluate", [metrics.per_target, metrics.summarise])
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("dockq", math.nan, r"2 of 6 rows are unlabelled .* first is A/d02"),
        ("dockq", None, "2 of 6 rows are unlabelled"),
        ("dockq", 23.0, "2 of 6 rows have a dockq outside 0 to 1"),
        ("pred_dockq", math.inf, "2 of 6 rows have no finite pred_dockq"),
        ("decoy", "d00", "1 of 6 rows repeat the target and model"),
        ("target", None, "2 of 6 rows have no target or model name"),
    ],
)
def test_unusable_rows_are_counted_and_named(
    two_targets, evaluate, column, value, message
):
    two_targets.loc[[2, 3], column] = value
    with pytest.raises(ValueError, match=message):
        evaluate(two_targets)


def test_unusable_tables_are_refused(two_targets):
    with pytest.raises(ValueError, match=r"lack the columns \['pred_dockq'\]"):
        metrics.per_target(two_targets.drop(columns="pred_dockq"))
    with pytest.raises(ValueError, match="no rows"):
        metrics.per_target(two_targets.iloc[:0])


# ---- summary -------------------------------------------------------------------------------------


def test_summary_by_hand(two_targets):
    summary = metrics.summarise(two_targets, n_bootstrap=200)
    assert (summary["n_targets"], summary["n_decoys"]) == (2, 6)
    loss = summary["per_target"]["ranking_loss"]
    assert loss["mean"] == loss["median"] == pytest.approx(0.2)
    assert (loss["low"], loss["high"]) == pytest.approx(
        (0.0, 0.4)
    )  # two targets: both drawn alike too
    assert (
        summary["attainable_success"]
        == summary["per_target"]["success_at_10"]["mean"]
        == 0.5
    )
    assert summary["pooled"]["mae"]["value"] == pytest.approx(
        (0.3 + 0.2 + 0.1 + 0.3 + 0.1 + 0.1) / 6
    )
    assert summary["pooled"]["rmse"]["value"] == pytest.approx(math.sqrt(0.25 / 6))


def test_whole_clusters_are_drawn_where_they_are_given():
    """Ten targets of which nine are alike are two samples."""
    table = table_of(
        [(f"T{i}", y, p) for i in range(10) for y, p in ((0.5, i > 0), (0.1, 0.5))]
    )
    alone = metrics.summarise(table)["per_target"]["ranking_loss"]
    clusters = {f"T{i}": "other" if i else "first" for i in range(10)}
    summary = metrics.summarise(table, clusters=clusters)
    loss = summary["per_target"]["ranking_loss"]
    assert (summary["n_targets"], summary["n_clusters"]) == (10, 2)
    assert loss["mean"] == alone["mean"] == pytest.approx(0.04)
    assert (loss["low"], loss["high"]) == pytest.approx(
        (0.0, 0.4)
    )  # each cluster is drawn alone in a fourth of samples
    assert alone["high"] < 0.2
    one = metrics.summarise(table, clusters=dict.fromkeys(clusters, "same"))
    assert (one["per_target"]["ranking_loss"]["low"], one["pooled"]["mae"]["high"]) == (
        None,
        None,
    )


def test_a_target_is_attainable_from_the_threshold_on():
    table = table_of([("A", 0.23, 0.5), ("B", 0.2299, 0.5)])
    assert metrics.summarise(table, n_bootstrap=0)["attainable_success"] == 0.5


def test_summary_counts_undefined_correlations_instead_of_averaging_them(two_targets):
    summary = metrics.summarise(two_targets, n_bootstrap=10)
    assert summary["n_undefined_correlation"] == 1
    assert summary["undefined_correlation_targets"] == ["B"]
    rho = summary["per_target"]["spearman"]
    assert rho == {
        "mean": 0.5,
        "median": 0.5,
        "low": None,
        "high": None,
        "n_targets": 1,
    }


def test_summary_of_one_target_has_no_intervals(two_targets):
    summary = metrics.summarise(two_targets.query("target == 'B'"), n_bootstrap=10)
    assert summary["per_target"]["spearman"]["mean"] is None
    assert summary["per_target"]["ranking_loss"]["low"] is None
    assert summary["pooled"]["spearman"] == {"value": None, "low": None, "high": None}


def test_samples_in_which_a_metric_is_undefined_are_left_out_of_its_interval():
    """Counted as 0, they would pull the lower end down: a third of the samples of few targets are
    such.
    """
    perfect = [(target, y, y) for target in "AB" for y in (0.1, 0.5, 0.9)]
    constant = [(target, 0.1, p) for target in "CDEF" for p in (0.01, 0.02, 0.03)]
    rho = metrics.summarise(table_of(perfect + constant), n_bootstrap=200)[
        "per_target"
    ]["spearman"]
    assert (rho["low"], rho["high"], rho["n_targets"]) == (1.0, 1.0, 2)
    apart = table_of(
        [("A", 0.9, 0.9), ("A", 0.8, 0.8), ("B", 0.1, 0.1), ("B", 0.2, 0.2)]
    )
    auroc = metrics.summarise(apart, n_bootstrap=200)["pooled"]["auroc"]
    assert auroc == {"value": 1.0, "low": 1.0, "high": 1.0}


@pytest.mark.parametrize("n_bootstrap", [0, 1, 20])
def test_summary_is_strict_json(two_targets, n_bootstrap):
    summary = metrics.summarise(two_targets, n_bootstrap=n_bootstrap)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert (summary["pooled"]["mae"]["low"] is None) == (n_bootstrap == 0)


def test_summary_depends_on_the_seed_only_in_its_intervals(extract):
    one, same, other = (
        metrics.summarise(extract, n_bootstrap=30, seed=s) for s in (1, 1, 2)
    )
    assert one == same
    assert one["pooled"]["spearman"]["value"] == other["pooled"]["spearman"]["value"]
    assert one["pooled"]["spearman"]["low"] != other["pooled"]["spearman"]["low"]


def test_a_negative_number_of_samples_is_refused(two_targets):
    with pytest.raises(ValueError, match="cannot be negative: -1"):
        metrics.summarise(two_targets, n_bootstrap=-1)


def test_intervals_are_those_of_samples_written_out_row_by_row(extract):
    summary = metrics.summarise(extract, n_bootstrap=40, seed=3)
    groups = [group for _, group in extract.groupby("target")]
    pooled, losses = [], []
    for times in np.random.default_rng(3).multinomial(4, [0.25] * 4, size=40):
        sample = pd.concat(
            [g for g, k in zip(groups, times, strict=True) for _ in range(k)]
        )
        y, p = sample["dockq"], sample["pred_dockq"]
        both = (y >= 0.23).nunique() == 2
        u = (
            scipy.stats.mannwhitneyu(p[y >= 0.23], p[y < 0.23]).statistic
            if both
            else math.nan
        )
        share = u / ((y >= 0.23).sum() * (y < 0.23).sum()) if both else math.nan
        rho, r = (
            scipy.stats.spearmanr(y, p).statistic,
            scipy.stats.pearsonr(y, p).statistic,
        )
        pooled.append(
            (rho, r, share, np.abs(y - p).mean(), np.sqrt(((y - p) ** 2).mean()))
        )
        weights = [metrics.ranking_loss(g["dockq"], g["pred_dockq"]) for g in groups]
        losses.append(np.dot(times, weights) / 4)
    expected = np.nanpercentile(pooled, [2.5, 97.5], axis=0)
    found = [
        [summary["pooled"][name][end] for name in metrics.POOLED]
        for end in ("low", "high")
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    loss = summary["per_target"]["ranking_loss"]
    assert (loss["low"], loss["high"]) == pytest.approx(
        tuple(np.percentile(losses, [2.5, 97.5]))
    )


# ---- validation scores ---------------------------------------------------------------------------


@unhurried
@given(ROWS)
def test_validation_scores_are_those_of_the_summary(rows):
    table = table_of(rows).sort_values(["target", "decoy"])
    summary = metrics.summarise(table, n_bootstrap=0)
    per_target, pooled = summary["per_target"], summary["pooled"]
    expected = {
        "spearman_pooled": pooled["spearman"]["value"],
        "pearson_pooled": pooled["pearson"]["value"],
        "spearman_per_target": per_target["spearman"]["mean"],
        "pearson_per_target": per_target["pearson"]["mean"],
        "ranking_loss": per_target["ranking_loss"]["mean"],
    }
    for codes in (table["target"], pd.factorize(table["target"])[0]):
        found = metrics.validation_scores(codes, table["dockq"], table["pred_dockq"])
        known = {
            name: None if math.isnan(value) else value for name, value in found.items()
        }
        assert known == pytest.approx(expected, abs=1e-12)


def test_validation_scores_take_the_targets_in_any_order():
    y, p = [0.9, 0.1, 0.5, 0.3, 0.1, 0.8], [0.6, 0.3, 0.7, 0.2, 0.2, 0.1]
    mixed = metrics.validation_scores([7, 2, 7, 2, 7, 2], y, p)
    assert mixed["ranking_loss"] == pytest.approx((0.4 + 0.7) / 2)
    assert mixed["spearman_per_target"] == pytest.approx((0.5 - 1) / 2)


def test_validation_scores_break_ties_by_the_given_order_within_a_target():
    codes, dockq = np.tile([1, 0], 100), np.repeat([0.9, 0.1], [2, 198])
    assert (
        metrics.validation_scores(codes, dockq, np.full(200, 0.5))["ranking_loss"] == 0
    )
    assert (
        metrics.validation_scores(codes, dockq[::-1], np.full(200, 0.5))["ranking_loss"]
        == 0.8
    )


def test_a_diverged_network_scores_nan_and_missing_labels_are_an_error():
    diverged = metrics.validation_scores([0, 0], [0.1, 0.2], [math.nan, 0.5])
    assert len(diverged) == 5
    assert all(math.isnan(value) for value in diverged.values())
    with pytest.raises(ValueError, match="1 of 2 values of true DockQ"):
        metrics.validation_scores([0, 0], [0.1, math.nan], [math.nan, 0.5])


def test_validation_scores_need_one_code_per_decoy():
    with pytest.raises(ValueError, match="2 models need as many target codes"):
        metrics.validation_scores([0], [0.1, 0.2], [0.1, 0.2])


def calls(task) -> int:
    """Python functions that a task calls."""
    counted = 0

    def count(frame, event, argument) -> None:
        nonlocal counted
        counted += event == "call"

    sys.setprofile(count)
    try:
        task()
    finally:
        sys.setprofile(None)
    return counted


def test_scoring_a_validation_set_has_no_python_loop_over_decoys():
    """It is done after every epoch: four times the decoys of a target are as many calls."""
    rng = np.random.default_rng(0)

    def counted(n_decoys: int) -> tuple[int, int]:
        codes = np.repeat(np.arange(50), n_decoys)
        y, p = rng.random(len(codes)).round(3), rng.random(len(codes))
        table = table_of({"target": codes.astype(str), "dockq": y, "pred_dockq": p})
        return calls(lambda: metrics.validation_scores(codes, y, p)), calls(
            lambda: metrics.per_target(table)
        )

    counted(20)  # imports
    for few, many in zip(counted(20), counted(80), strict=True):
        assert many < 1.1 * few


# ---- published predictions -----------------------------------------------------------------------


def mean_rank(value: float, values: list[float]) -> float:
    return sum(v < value for v in values) + (sum(v == value for v in values) + 1) / 2


def correlation(x: list[float], y: list[float]) -> float:
    mx, my = math.fsum(x) / len(x), math.fsum(y) / len(y)
    covariance = math.fsum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return covariance / math.sqrt(
        math.fsum((a - mx) ** 2 for a in x) * math.fsum((b - my) ** 2 for b in y)
    )


def test_extract_agrees_with_loops_written_out(extract):
    rows = metrics.per_target(extract).set_index("target")
    for target, group in extract.sort_values("decoy").groupby("target"):
        y, p = group["dockq"].tolist(), group["pred_dockq"].tolist()
        ranked = sorted(
            range(len(y)), key=lambda i, p=p: -p[i]
        )  # sorted() keeps the order of equals
        row = rows.loc[target]
        assert row["ranking_loss"] == pytest.approx(max(y) - y[ranked[0]])
        assert row["random_pick_loss"] == pytest.approx(max(y) - math.fsum(y) / len(y))
        assert [row[f"hits_at_{n}"] for n in (1, 5, 10)] == [
            sum(y[i] >= 0.23 for i in ranked[:n]) for n in (1, 5, 10)
        ]
        ranks = [[mean_rank(v, values) for v in values] for values in (y, p)]
        assert row["spearman"] == pytest.approx(correlation(*ranks))
        assert row["pearson"] == pytest.approx(correlation(y, p))


PUBLISHED = pd.read_csv(EXTRACT.with_name("published_metrics.csv"), comment="#")


def read_published(reference_dir: Path, dataset: str, left_out: str) -> pd.DataFrame:
    table = pd.read_csv(
        reference_dir / "published" / f"{dataset}.csv", dtype={"target": str}
    )
    table.columns = ["target", "decoy", "dockq", "pred_dockq"]
    return table[table["target"] != left_out]


@pytest.mark.parametrize("row", [*PUBLISHED.itertuples()], ids=lambda row: row.dataset)
def test_published_predictions_have_their_published_metrics(reference_dir, row):
    table = read_published(reference_dir, row.dataset, row.left_out)
    summary = metrics.summarise(table, n_bootstrap=100)
    per_target, pooled = summary["per_target"], summary["pooled"]
    assert (summary["n_targets"], summary["n_decoys"]) == (row.n_targets, row.n_decoys)
    assert round(per_target["ranking_loss"]["mean"], 4) == row.loss
    assert round(per_target["ranking_loss"]["median"], 3) == row.median_loss
    assert round(per_target["random_pick_loss"]["mean"], 3) == row.random
    assert round(pooled["spearman"]["value"], 3) == row.rho_pooled
    assert round(per_target["spearman"]["mean"], 3) == row.rho_per_target
    assert round(pooled["pearson"]["value"], 3) == row.r_pooled
    assert round(pooled["auroc"]["value"], 3) == row.auroc
    assert summary["n_negative_spearman"] == row.negative
    successes = per_target["success_at_10"]["mean"] * summary["n_targets"]
    assert round(successes) == row.success_at_10
    for interval in (per_target["ranking_loss"], per_target["spearman"]):
        assert interval["low"] < interval["mean"] < interval["high"]
