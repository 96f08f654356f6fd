"""The spread of an ensemble held against the error of its score."""

from __future__ import annotations

import numpy as np
import pytest

from toporank.ranking.spread import calibration

Y = np.full(10, 0.5)
SD = np.arange(1, 11) / 100


def test_a_spread_that_equals_the_error_is_calibrated():
    found = calibration(Y, Y + SD, SD * 1.0001)
    assert found["spearman"] == pytest.approx(1.0)
    assert (found["within_1_sd"], found["within_2_sd"]) == (1.0, 1.0)
    assert [row["n"] for row in found["table"]] == [2] * 5
    for row in found["table"]:
        assert row["rmse"] == pytest.approx(row["sd"], rel=0.1)


def test_a_spread_that_is_too_small_covers_few_errors():
    found = calibration(Y, Y - 1.5 * SD, SD)
    assert (found["within_1_sd"], found["within_2_sd"]) == (0.0, 1.0)


def test_a_spread_that_goes_the_wrong_way_correlates_negatively():
    found = calibration(Y, Y + SD[::-1], SD)
    assert found["spearman"] == pytest.approx(-1.0)
    assert [row["sd"] for row in found["table"]] == sorted(row["sd"] for row in found["table"])


def test_for_normal_errors_the_shares_are_those_of_the_normal_distribution():
    draw = np.random.default_rng(0)
    sd = draw.uniform(0.01, 0.1, 20_000)
    found = calibration(np.full(20_000, 0.5), 0.5 + sd * draw.normal(size=20_000), sd)
    assert found["within_1_sd"] == pytest.approx(0.683, abs=0.01)
    assert found["within_2_sd"] == pytest.approx(0.954, abs=0.01)


def test_decoys_without_a_spread_are_left_out_and_counted_by_n():
    sd = np.where(np.arange(10) < 4, np.nan, SD)
    assert calibration(Y, Y + 0.1, sd)["n"] == 6
    assert calibration(Y, Y, np.full(10, np.nan)) is None


def test_a_constant_spread_has_no_correlation():
    assert calibration(Y, Y + SD, np.full(10, 0.1))["spearman"] is None
