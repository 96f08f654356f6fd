"""Boosted regression trees, as LightGBM grows them, in arrays that NumPy evaluates.

LightGBM is needed only to grow trees: its import takes longer than scoring a thousand decoys.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError, safe_open

from toporank.errors import CheckpointError
from toporank.files.atomic import write_bytes

KEY = "toporank"
ARRAYS = {"feature": "i", "threshold": "f", "left": "i", "right": "i", "nan_left": "b", "leaf": "f"}
"""The tables of a forest and the kinds of their numbers."""
RESTORE = "restore the file from where the scorer came from, or delete it to score with its networks alone"
NO_LIGHTGBM = "LightGBM, which grows the trees of a scorer, is not installed"
INSTALL = "pip install 'toporank[train]', or -r requirements-train.txt in a clone"
AT_ONCE = 128
"""Rows evaluated at a time: what is kept of them stays in the processor's cache."""


class Forest(NamedTuple):
    """Trees whose leaves add up. T trees of up to M inner nodes and L leaves.

    inputs : names of the columns that `feature` counts. feature, left, right : int32, (T, M); a child below zero is the
    leaf -1 - child. threshold : float64, (T, M): not larger goes left. nan_left : bool, (T, M), where what is not known
    goes. leaf : float64, (T, L).
    """

    inputs: list[str]
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    nan_left: np.ndarray
    leaf: np.ndarray

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Sum of the leaves for each row of values, float64, shape (n, len(inputs)), nan where unknown: shape (n,)."""
        flat = self._flat()
        parts = [self._predict(values[i : i + AT_ONCE], flat) for i in range(0, len(values), AT_ONCE)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _flat(self) -> Forest:
        """With all trees in one row, (T * M,), where a child is its place there: NumPy finds single places fastest."""
        roots = np.arange(len(self.feature))[:, None] * self.feature.shape[1]
        left, right = (np.where(child < 0, child, child + roots) for child in (self.left, self.right))
        tables = self.feature, self.threshold, left, right, self.nan_left
        return Forest(self.inputs, *(table.ravel() for table in tables), self.leaf)

    def _predict(self, values: np.ndarray, flat: Forest) -> np.ndarray:
        n, width = values.shape
        roots = np.arange(len(self.feature)) * self.feature.shape[1]
        node = np.repeat(np.where(self.feature[:, 0] < 0, -1, roots), n)
        row, values = np.tile(np.arange(n) * width, len(roots)), values.ravel()
        walking = np.flatnonzero(node >= 0)
        while len(walking):
            at = node.take(walking)
            value = values.take(row.take(walking) + flat.feature.take(at))
            left = (value <= flat.threshold.take(at)) | (np.isnan(value) & flat.nan_left.take(at))
            node[walking] = np.where(left, flat.left.take(at), flat.right.take(at))
            walking = walking[node.take(walking) >= 0]
        return self.leaf[np.arange(len(roots))[:, None], (-1 - node).reshape(-1, n)].sum(axis=0)


class _Said(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)
    forests: list[list[str]]


def from_lightgbm(dump: dict[str, Any]) -> Forest:
    """The forest that `Booster.dump_model()` describes, of numeric columns."""
    trees = [_flat(tree["tree_structure"]) for tree in dump["tree_info"]]
    inner, leaves = max(max(len(nodes), 1) for nodes, _ in trees), max(len(values) for _, values in trees)
    arrays = np.full((4, len(trees), inner), -1.0), np.zeros((len(trees), inner), bool), np.zeros((len(trees), leaves))
    for t, (nodes, values) in enumerate(trees):
        for m, (feature, threshold, left, right, nan_left) in enumerate(nodes):
            arrays[0][:, t, m] = feature, threshold, left, right
            arrays[1][t, m] = nan_left
        arrays[2][t, : len(values)] = values
    feature, threshold, left, right = arrays[0]
    feature, left, right = (part.astype(np.int32) for part in (feature, left, right))
    return Forest(list(dump["feature_names"]), feature, threshold, left, right, *arrays[1:])


def _flat(tree: dict[str, Any]) -> tuple[list[tuple[int, float, int, int, bool]], list[float]]:
    """Inner nodes, the root first, and leaves."""
    nodes: list[tuple[int, float, int, int, bool]] = []
    leaves: list[float] = []

    def place(node: dict[str, Any]) -> int:
        if "leaf_value" in node:
            leaves.append(node["leaf_value"])
            return -len(leaves)
        mine = len(nodes)
        nodes.append((0, 0.0, 0, 0, False))
        # without unknown values in training, LightGBM takes an unknown one for zero
        known = node["missing_type"] != "NaN"
        nan_left = node["threshold"] >= 0 if known else node["default_left"]
        nodes[mine] = (
            node["split_feature"],
            node["threshold"],
            place(node["left_child"]),
            place(node["right_child"]),
            nan_left,
        )
        return mine

    place(tree)
    return nodes, leaves


def write_forests(path: Path, forests: list[Forest], said: dict[str, Any]) -> None:
    """Write forests and what is said of them, plain values that JSON has."""
    arrays = {f"{name}.{i}": np.ascontiguousarray(getattr(f, name)) for i, f in enumerate(forests) for name in ARRAYS}
    text = json.dumps({**said, "forests": [forest.inputs for forest in forests]}, sort_keys=True)
    write_bytes(path, safetensors.numpy.save(arrays, {KEY: text}))


def read_forests(path: Path) -> tuple[list[Forest], dict[str, Any]]:
    """The forests of a file, and what it says of them. Raises CheckpointError when it is damaged."""
    try:
        with safe_open(path, "numpy") as file:
            said = _Said.model_validate_json((file.metadata() or {}).get(KEY, ""))
            forests = [
                Forest(inputs, *(file.get_tensor(f"{name}.{i}") for name in ARRAYS))
                for i, inputs in enumerate(said.forests)
            ]
    except (OSError, SafetensorError, ValidationError) as error:
        raise CheckpointError(
            f"not readable trees: {str(error).splitlines()[0]}", where=path, remedy=RESTORE
        ) from error
    if not all(_is_whole(forest) for forest in forests):
        raise CheckpointError("the tables of these trees do not fit together", where=path, remedy=RESTORE)
    return forests, said.model_dump()


def _is_whole(forest: Forest) -> bool:
    """Whether every walk ends in a leaf, every input is there, and every leaf is a number."""
    shape, leaves = forest.feature.shape, forest.leaf.shape
    if any(getattr(forest, name).dtype.kind != kind for name, kind in ARRAYS.items()):
        return False
    if len(shape) != 2 or any(getattr(forest, name).shape != shape for name in ARRAYS if name != "leaf"):
        return False
    if len(leaves) != 2 or leaves[0] != shape[0] or not (shape[1] and leaves[1]):
        return False
    if forest.feature.max(initial=-1) >= len(forest.inputs):
        return False
    if not np.isfinite(forest.leaf).all() or np.isnan(forest.threshold).any():
        return False
    return all(_lead_on(child, forest.feature, leaves[1]) for child in (forest.left, forest.right))


def _lead_on(child: np.ndarray, feature: np.ndarray, leaves: int) -> bool:
    """Whether every child, also of a node that no walk should reach, is a later inner node or a leaf."""
    place, inner = np.arange(feature.shape[1]), child >= 0
    after = (child > place) & (child < feature.shape[1])
    if not (after | ~inner).all() or child.min() < -leaves:
        return False
    return bool((np.take_along_axis(feature, np.maximum(child, 0), axis=1) >= 0)[inner].all())
