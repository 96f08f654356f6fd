"""The whole answer to each of twelve small folders is as it was: see `tests/golden.py`."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from golden import ANSWERS, HERE, printed, tables

NEAR = 1e-4
"""By which numbers may differ between machines."""


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_as_it_was(tmp_path, name):
    results = ANSWERS[name](tmp_path.resolve())
    assert printed(results, tmp_path.resolve()) == (HERE / name / "printed.txt").read_text()  # fmt: skip
    for kind, table in tables(results).items():
        found = pd.read_csv(io.StringIO(table.to_csv(index=False)))
        expected = pd.read_csv(HERE / name / f"{kind}.csv")
        pd.testing.assert_frame_equal(found, expected, rtol=0, atol=NEAR, obj=kind)
