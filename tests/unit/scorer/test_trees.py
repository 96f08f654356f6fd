"""Boosted trees: the same sums as LightGBM's own, and files that would lead a walk astray refused."""

from __future__ import annotations

from pathlib import Path

import lightgbm
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from toporank.errors import CheckpointError
from toporank.scorer.trees import ARRAYS, AT_ONCE, KEY, Forest, from_lightgbm, read_forests, write_forests

QUIET = {"objective": "regression", "verbose": -1, "num_threads": 1, "min_data_in_leaf": 2, "min_data_in_bin": 1}
NAMES = ["a", "b", "c", "d"]


def rows(n: int, unknown: float, seed: int = 0) -> np.ndarray:
    """Random numbers, zeros among them, of which a share is unknown."""
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(n, len(NAMES))).round(1)
    values[draw.random(values.shape) < unknown] = np.nan
    return values


def grown(values: np.ndarray) -> lightgbm.Booster:
    """Trees that follow a and b, whether b is known, and noise."""
    draw = np.random.default_rng(1)
    target = np.nan_to_num(values[:, 0], nan=2.0) * np.nan_to_num(values[:, 1], nan=-1.0) + draw.normal(
        size=len(values)
    )
    data = lightgbm.Dataset(values, target, feature_name=NAMES)
    return lightgbm.train({**QUIET, "num_leaves": 9}, data, 12)


@pytest.mark.parametrize("of_training", [0.0, 0.2])
@pytest.mark.parametrize("asked", [0.0, 0.3])
def test_predictions_are_those_of_lightgbm(of_training, asked):
    """Also for rows that know less, or more, than those that the trees were grown on."""
    booster, values = grown(rows(300, of_training)), rows(AT_ONCE + 200, asked, seed=2)
    forest = from_lightgbm(booster.dump_model())
    assert forest.inputs == NAMES
    np.testing.assert_allclose(forest.predict(values), booster.predict(values), rtol=0, atol=1e-12)
    assert np.ptp(forest.predict(values)) > 1


def test_values_on_a_threshold_go_left_as_lightgbm_has_it():
    booster = grown(rows(300, 0.0))
    forest = from_lightgbm(booster.dump_model())
    values = np.zeros((forest.threshold.size, len(NAMES)))
    inner = forest.feature.ravel() >= 0
    values[np.arange(len(values))[inner], forest.feature.ravel()[inner]] = forest.threshold.ravel()[inner]
    np.testing.assert_allclose(forest.predict(values), booster.predict(values), rtol=0, atol=1e-12)


def test_a_tree_may_be_a_single_leaf():
    """All of them, where nothing can be split, or some among others."""
    values = rows(40, 0.0)
    booster = lightgbm.train(QUIET, lightgbm.Dataset(values, np.full(40, 0.7), feature_name=NAMES), 3)
    alone = from_lightgbm(booster.dump_model())
    assert (alone.feature == -1).all()
    np.testing.assert_allclose(alone.predict(values), booster.predict(values), rtol=0, atol=1e-12)
    other = grown(values)
    mixed = other.dump_model()
    mixed["tree_info"] = [*booster.dump_model()["tree_info"], *mixed["tree_info"]]
    both = booster.predict(values) + other.predict(values)
    np.testing.assert_allclose(from_lightgbm(mixed).predict(values), both, rtol=0, atol=1e-12)


def test_no_rows_have_no_predictions():
    assert from_lightgbm(grown(rows(100, 0.0)).dump_model()).predict(np.zeros((0, 4))).shape == (0,)


# ---- files ------------------------------------------------------------------------------------------------


def stump(**other) -> Forest:
    """One tree: a ≤ 0.5 → 1; else b ≤ 0 → 2, above → 3. Unknown a goes right, unknown b left."""
    parts = {
        "feature": np.array([[0, 1]], np.int32), "threshold": np.array([[0.5, 0.0]]),
        "left": np.array([[-1, -2]], np.int32), "right": np.array([[1, -3]], np.int32),
        "nan_left": np.array([[False, True]]), "leaf": np.array([[1.0, 2.0, 3.0]]),
    }  # fmt: skip
    return Forest(["a", "b"], **(parts | other))


def test_a_tree_drawn_by_hand():
    asked = np.array([[0.5, 9.0], [0.6, 0.0], [0.6, 0.1], [np.nan, 0.1], [np.nan, np.nan]])
    assert stump().predict(asked).tolist() == [1.0, 2.0, 3.0, 3.0, 2.0]


def test_forests_that_are_written_and_read_are_the_same(tmp_path):
    first, second = stump(), from_lightgbm(grown(rows(200, 0.1)).dump_model())
    write_forests(tmp_path / "trees", [first, second], {"features": {"nodes": "x"}})
    found, said = read_forests(tmp_path / "trees")
    assert said == {"features": {"nodes": "x"}, "forests": [["a", "b"], NAMES]}
    for one, other in zip(found, (first, second), strict=True):
        assert one.inputs == other.inputs
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            assert getattr(one, name).dtype == getattr(other, name).dtype


def refusal(path: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        read_forests(path)
    assert len(str(caught.value).splitlines()) == 1
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param({"right": np.array([[0, -3]], np.int32)}, id="a child that is its parent"),
        pytest.param({"left": np.array([[-1, 0]], np.int32)}, id="a child that is the root"),
        pytest.param({"right": np.array([[2, -3]], np.int32)}, id="a child that is not there"),
        pytest.param({"right": np.array([[1, -4]], np.int32)}, id="a leaf that is not there"),
        pytest.param({"feature": np.array([[0, 2]], np.int32)}, id="an input that is not there"),
        pytest.param({"leaf": np.array([1.0, 2.0, 3.0])}, id="leaves of no tree"),
        pytest.param({"leaf": np.ones((2, 3))}, id="leaves of another number of trees"),
        pytest.param({"leaf": np.ones((1, 0))}, id="no leaves"),
        pytest.param({"threshold": np.zeros((1, 3))}, id="thresholds of other nodes"),
        pytest.param({"nan_left": np.zeros((2, 1), bool)}, id="another shape"),
        pytest.param({name: getattr(stump(), name)[:, :0] for name in ARRAYS if name != "leaf"}, id="no root"),
        pytest.param({"feature": np.full((1, 2), -1, np.int32), "leaf": np.ones((1, 0))}, id="not even one leaf"),
        pytest.param(
            {"feature": np.array([[0, -1]], np.int32), "right": np.array([[1, 1]], np.int32)}, id="a walk in a circle"
        ),
        pytest.param(
            {"feature": np.array([[0, -1]], np.int32), "right": np.array([[1, -99_999]], np.int32)},
            id="a walk to nowhere",
        ),
        pytest.param({"feature": np.array([[0, -1]], np.int32)}, id="a node that asks nothing"),
        pytest.param({"leaf": np.array([[1.0, np.nan, 3.0]])}, id="a leaf that is no number"),
        pytest.param({"leaf": np.array([[1.0, np.inf, 3.0]])}, id="an infinite leaf"),
        pytest.param({"threshold": np.array([[np.nan, 0.0]])}, id="a threshold that is no number"),
        pytest.param({"left": np.array([[-1.0, -2.0]])}, id="children of another type"),
    ],
)
def test_trees_that_lead_nowhere_are_refused(tmp_path, damage):
    write_forests(tmp_path / "trees", [stump(), stump(**damage)], {})
    assert "do not fit together" in refusal(tmp_path / "trees")


def test_files_that_are_cut_off_or_no_trees_are_refused(tmp_path):
    path = tmp_path / "trees"
    write_forests(path, [stump()], {})
    whole = path.read_bytes()
    for content in (b"", b"{}", whole[:-5], whole[:50], whole.replace(b'\\"forests\\"', b'\\"nothing\\"')):
        path.write_bytes(content)
        assert "not readable trees" in refusal(path)
    path.unlink()
    refusal(path)


def test_a_missing_table_is_named(tmp_path):
    path = tmp_path / "trees"
    write_forests(path, [stump()], {})
    with safe_open(path, "numpy") as file:
        text, tensors = file.metadata()[KEY], {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    del tensors["nan_left.0"]
    save_file(tensors, path, {KEY: text})
    assert "nan_left.0" in refusal(path)
