"""Points near points, as SciPy's tree finds them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from structures_text import EXAMPLES
from toporank.features.registry import choose
from toporank.structures.neighbours import pairs_between_groups
from toporank.structures.read import read_complex


@pytest.mark.parametrize("spread", [3.0, 40.0, 4000.0])
@pytest.mark.parametrize("cutoff", [2.5, 10.0])
def test_the_grid_finds_the_pairs_of_a_kd_tree(spread, cutoff):
    draw = np.random.default_rng(0)
    xyz = np.concatenate(
        [draw.normal(0, spread, (400, 3)), draw.normal(50, 3, (300, 3))]
    )
    group = draw.integers(0, 3, len(xyz))
    pairs, distance = pairs_between_groups(xyz, group, cutoff)
    tree = cKDTree(xyz).query_pairs(cutoff, output_type="ndarray")
    expected = tree[group[tree[:, 0]] != group[tree[:, 1]]]
    assert len(expected) > 100
    assert sorted(map(tuple, pairs)) == sorted(map(tuple, expected))
    ends = xyz[pairs]
    np.testing.assert_allclose(
        distance, np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    )


def test_the_interface_is_that_of_a_kd_tree():
    complex_ = read_complex(EXAMPLES / "1GCQ/mid1.pdb")
    residues = choose("interface", {"module": "ca_cutoff", "cutoff": 9.0})(
        complex_
    ).index
    ca, body = complex_.xyz[complex_.ca], complex_.body_of
    pairs = cKDTree(ca).query_pairs(9.0, output_type="ndarray")
    between = pairs[body[pairs[:, 0]] != body[pairs[:, 1]]]
    assert sorted(residues) == sorted(np.unique(between))
