"""What fills the transfer table: pools by hand, intervals over clusters, the error of
probabilities.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from transfer import Pool, _of_pools, calibration_error, interval


def pool(*rows: int) -> Pool:
    n = len(rows)
    return Pool(np.array(rows), np.eye(n), np.zeros(n), n - 1.0)


def test_loss_and_order_of_pools_by_hand():
    decoys = pd.DataFrame(
        {"dockq": [0.1, 0.2, 0.3, 0.4, 0.5, 0.51, 0.52], "target": "T", "cluster": "c"}
    )
    value = np.array([4.0, 3, 2, 1, 0, 1, 2])
    # the second is not worth ranking
    drawn = [pool(0, 1, 2, 3), pool(4, 5, 6), pool(0, 3)]
    found = _of_pools(decoys, drawn, lambda each: value[each.rows])
    assert found["loss"].tolist() == pytest.approx([0.3, 0.3])
    assert found["spearman"].tolist() == pytest.approx([-1.0, np.nan], nan_ok=True)
    undecided = _of_pools(decoys, drawn[:1], lambda each: np.ones(4))
    assert undecided[["loss", "spearman"]].values.tolist() == [
        [pytest.approx(0.15), 0.0]
    ]


def test_intervals_are_over_clusters():
    rows = pd.DataFrame(
        {"cluster": ["a"] * 98 + ["b", "c"], "loss": [0.0] * 98 + [1.0, 1.0]}
    )
    value, low, high = interval(rows, "loss")
    assert value == pytest.approx(0.02)
    assert low == 0
    assert high == 1


def test_probabilities_that_come_true_have_no_error():
    rows = pd.DataFrame({"cluster": range(4), "p": 0.75, "right": [1.0, 1, 1, 0]})
    assert calibration_error(rows) == pytest.approx(0)
    assert calibration_error(rows.assign(p=0.25)) == pytest.approx(0.5)
