"""Compiled persistence: GUDHI's bars on every cloud, or the word that it does not know; compiled
once.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import config
from scipy.spatial import cKDTree

from oracle import reference
from processes import printed
from structures_text import EXAMPLES
from toporank.code import _source, code_of
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.features.topology import h1_bars as gudhi_bars
from toporank.files.atomic import first_writable
from toporank.structures.read import read_complex
from toporank_kernels.compilation import cache_folder
from toporank_kernels.persistence import (
    LARGEST,
    describe_clouds,
    members_of_balls,
)

SETS = ("C", "N", "O", "CN", "CO", "NO", "CNO")
DEATH, LENGTH = 8.0, 0.01
LIMITS = {"max_death": DEATH, "min_persistence": LENGTH}
some = settings(max_examples=40)
few = settings(some, max_examples=15)
seeds = st.integers(0, 2**32 - 1)


def by_gudhi(points: np.ndarray) -> np.ndarray:
    """The 20 columns of one cloud: Rips for H0, alpha complex for H1, as published."""
    deaths = np.array(reference.rips_h0(points) if len(points) else [])
    deaths = deaths[(deaths >= LENGTH) & (deaths <= DEATH)]
    bars = np.reshape(reference.alpha_h1(points), (-1, 2))
    birth, death = bars[bars[:, 1] - bars[:, 0] >= LENGTH].T
    return np.concatenate(
        [
            reference.summary(values.tolist())
            for values in (deaths, death - birth, birth, death)
        ]
    )


def columns(points: np.ndarray, **limits: float) -> tuple[np.ndarray, bool]:
    """The 20 columns of one cloud, and whether GUDHI was not asked."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    one = (
        np.full(len(points), b"C"),
        ("C",),
        np.array([0, len(points)]),
        np.arange(len(points)),
    )
    values, sure = describe_clouds(points, *one, **LIMITS | limits, in_doubt=gudhi_bars)
    return values[0], bool(sure[0, 0])


def assert_as_by_gudhi(points: np.ndarray) -> bool:
    """All columns of a cloud are GUDHI's; returns whether GUDHI was not asked."""
    values, sure = columns(points)
    np.testing.assert_allclose(values, by_gudhi(points), rtol=1e-9, atol=1e-9)
    return sure


# ---- shapes with known bars ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("corners", "radius", "lift"), [(12, 5.0, 0.3), (16, 4.0, 0.2), (10, 7.0, 0.5)]
)
def test_a_ring_with_uneven_corners_has_one_loop(corners, radius, lift):
    """Born with half the longest distance of neighbours, dead with the radius; uneven, so that no
    doubt remains.
    """
    k, draw = np.arange(corners), np.random.default_rng(corners)
    angle = 2 * np.pi * k / corners + draw.uniform(-0.05, 0.05, corners)
    ring = np.column_stack(
        [
            radius * np.cos(angle),
            radius * np.sin(angle),
            lift * (-1.0) ** k + draw.normal(0, 0.05),
        ]
    )
    ring[:, 2] += draw.normal(0, 1e-3, corners)
    side = np.sort(np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1))
    values, sure = columns(ring, min_persistence=0.1)
    assert sure
    np.testing.assert_allclose(
        values[:3], [side[:-1].sum(), side[0], side[-2]], rtol=1e-12
    )
    births, deaths = values[10:13], values[15:18]  # sum, least and largest: of one bar
    np.testing.assert_allclose(births, (side[-1] / 2) ** 2, rtol=1e-12)
    np.testing.assert_allclose(deaths, radius**2, rtol=0.02)


# ---- against GUDHI -------------------------------------------------------------------------------


@some
@given(
    seeds,
    st.integers(4, 120),
    st.floats(0.5, 30.0),
    st.floats(-300.0, 300.0),
    st.sampled_from([None, 3, 1]),
)
def test_random_clouds_have_the_bars_of_gudhi(seed, count, size, offset, decimals):
    points = np.random.default_rng(seed).uniform(-size, size, (count, 3)) + offset
    points = points if decimals is None else points.round(decimals)
    assert_as_by_gudhi(points)


@some
@given(
    st.integers(0, 40).flatmap(
        lambda n: arrays(np.float64, (n, 3), elements=st.integers(-3, 3))
    )
)
def test_double_cospherical_coplanar_and_collinear_points_have_the_statistics_of_gudhi(
    points,
):
    assert_as_by_gudhi(points)


@few
@given(seeds, st.integers(5, 60))
@pytest.mark.parametrize("noise", [1e-15, 1e-13, 1e-12, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3])
def test_nearly_degenerate_clouds_have_the_bars_of_gudhi(noise, seed, count):
    """Lattice points moved by very little: almost every sphere, plane and right angle is in doubt
    at first.
    """
    draw = np.random.default_rng(seed)
    points = np.unique(draw.integers(-3, 4, (count, 3)), axis=0) * 1.3
    points += noise * draw.standard_normal(points.shape)
    assert_as_by_gudhi(points)


def on_a_sphere(draw: np.random.Generator, n: int) -> np.ndarray:
    points = draw.standard_normal((n, 3))
    return 5 * points / np.linalg.norm(points, axis=1)[:, None]


def helix(draw: np.random.Generator, n: int) -> np.ndarray:
    t = np.linspace(0, 6, n)
    return np.stack([3 * np.cos(t), 3 * np.sin(t), t], 1)


SHAPES = {
    "sphere": on_a_sphere,
    "circle": lambda draw, n: np.column_stack(
        [5 * np.cos(a := draw.uniform(0, 7, n)), 5 * np.sin(a), np.zeros(n)]
    ),
    "plane": lambda draw, n: draw.standard_normal((n, 3)) * [1, 1, 0],
    "line": lambda draw, n: draw.standard_normal((n, 3)) * [1, 0, 0],
    "a double point": lambda draw, n: draw.standard_normal((n, 3))[[*range(n - 1), 0]],
    "one point": lambda draw, n: np.repeat(draw.standard_normal((1, 3)), n, axis=0),
    "two ends": lambda draw, n: (
        draw.standard_normal((n, 3)) + 100.0 * (np.arange(n) % 2)[:, None]
    ),
    "helix": helix,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [4, 5, 12, 60])
@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-8, 1e-4])
def test_shapes_have_the_statistics_of_gudhi(shape, count, noise):
    draw = np.random.default_rng(count)
    assert_as_by_gudhi(
        SHAPES[shape](draw, count) + noise * draw.standard_normal((count, 3))
    )


@pytest.mark.parametrize(
    "decoy",
    ["1GCQ/mid1.pdb", "1AVZ/far1.pdb", "1PPE/near1.pdb.gz", "1GCQ/wrong2.cif.gz"],
)
def test_all_interface_residues_of_real_decoys_have_the_columns_of_plain_loops(decoy):
    path = EXAMPLES / decoy
    complex_ = read_complex(path)
    residues = ca_cutoff_interface(CaCutoff(), complex_).index
    atoms = complex_.is_protein[complex_.residue_of]
    start, member = members_of_balls(
        complex_.xyz[atoms], complex_.xyz[complex_.ca[residues]], 8.0
    )
    clouds = complex_.xyz[atoms], complex_.elements[atoms], SETS, start, member
    values, sure = describe_clouds(*clouds, **LIMITS, in_doubt=gudhi_bars)
    np.testing.assert_allclose(values, reference.topology(path), rtol=0, atol=1e-9)
    assert sure.mean() > 0.99  # or it would not be worth it


@pytest.mark.parametrize("count", [127, 128, 400, LARGEST])
def test_a_random_cloud_of_any_size_needs_no_gudhi(count):
    assert assert_as_by_gudhi(
        np.random.default_rng(count).uniform(0, 1.4 * count ** (1 / 3), (count, 3))
    )


def test_a_cloud_that_is_too_large_goes_to_gudhi():
    points = np.random.default_rng(0).uniform(0, 20, (LARGEST + 1, 3))
    assert not assert_as_by_gudhi(points)


# ---- doubt ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_without_a_tetrahedron_there_is_no_loop_and_no_doubt(count):
    points = np.random.default_rng(0).uniform(0, 3, (count, 3))
    values, sure = columns(points)
    assert sure
    assert not values[5:].any()
    assert assert_as_by_gudhi(points)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200, 1e-200])
def test_coordinates_beyond_reason_are_in_doubt(bad):
    points = np.random.default_rng(0).uniform(0, 3, (10, 3))
    if 0 < bad < np.inf:
        points *= bad
    else:
        points[5] = bad
    one = np.full(10, b"C"), ("C",), np.array([0, 10]), np.arange(10)
    no_bars = np.zeros((0, 2))
    _, sure = describe_clouds(points, *one, **LIMITS, in_doubt=lambda points: no_bars)
    assert not sure.any()


def test_the_points_in_doubt_are_those_of_the_set_and_their_bars_are_believed():
    square = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0.5, 0.5, 3.0]])
    elements, asked = np.array([b"C", b"C", b"C", b"C", b"N"]), []

    def in_doubt(points):
        asked.append(points)
        return np.array([[1.0, 4.0], [1.0, 1.001]])

    values, sure = describe_clouds(
        square,
        elements,
        ("N", "C"),
        np.array([0, 5]),
        np.arange(5),
        **LIMITS,
        in_doubt=in_doubt,
    )
    np.testing.assert_array_equal(sure, [[True, False]])
    np.testing.assert_array_equal(asked, [square[:4]])
    lengths, births, deaths = values[0, 25:].reshape(3, 5)
    # the second bar is too short
    assert (lengths[0], births[0], deaths[0]) == (3.0, 1.0, 4.0)
    assert (values[0, 10:25] == 0).all()


# ---- many clouds ---------------------------------------------------------------------------------


@few
@given(seeds, st.permutations(SETS), st.booleans())
def test_sets_share_work_without_changing_the_result(seed, sets, rough):
    """All seven sets of several clouds in any order, atoms of other elements among them."""
    draw = np.random.default_rng(seed)
    xyz = draw.uniform(-7, 7, (150, 3)).round(0 if rough else 3)
    elements = draw.choice(
        np.array([b"C", b"N", b"O", b"H", b"S"]), 150, p=[0.5, 0.17, 0.2, 0.1, 0.03]
    )
    start, member = members_of_balls(xyz, xyz[:2], 8.0)
    values, _ = describe_clouds(
        xyz, elements, tuple(sets), start, member, **LIMITS, in_doubt=gudhi_bars
    )
    for r in range(2):
        atoms = member[start[r] : start[r + 1]]
        for s, letters in enumerate(sets):
            of_set = atoms[np.isin(elements[atoms], np.array(list(letters), "S1"))]
            h0, h1 = values[r, 5 * s : 5 * s + 5], values[r, 35 + 15 * s : 50 + 15 * s]
            expected = by_gudhi(xyz[of_set])
            np.testing.assert_allclose([*h0, *h1], expected, rtol=1e-9, atol=1e-9)


@some
@given(seeds)
def test_balls_hold_the_points_of_a_tree_search(seed):
    xyz = np.random.default_rng(seed).uniform(-10, 10, (200, 3)).round(0)
    start, member = members_of_balls(xyz, xyz[:9], 8.0)
    for r, expected in enumerate(cKDTree(xyz).query_ball_point(xyz[:9], 8.0)):
        assert sorted(expected) == member[start[r] : start[r + 1]].tolist()


# ---- compiled code on disk -----------------------------------------------------------------------


def test_the_folder_of_compiled_code_changes_with_any_file_of_the_package(
    tmp_path, monkeypatch
):
    """Numba looks at the file of the function alone, not at those whose functions went into it."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    names = set()
    for text in ("A = 1", "A = 2"):
        (tmp_path / "inlined.py").write_text(text)
        for cached in (cache_folder, code_of, _source):
            cached.cache_clear()
        names.add(cache_folder(tmp_path))
    assert len(names) == 2
    assert {path.parent for path in names} == {tmp_path}


def test_a_folder_that_cannot_be_written_is_passed_over(tmp_path):
    (tmp_path / "file").write_text("")
    forbidden = tmp_path / "file" / "below"
    assert (
        first_writable([forbidden, tmp_path / "good" / "deep", tmp_path])
        == tmp_path / "good" / "deep"
    )
    program = f"""
from pathlib import Path
from toporank.files.atomic import first_writable
folder = first_writable([Path({str(forbidden)!r})])
print(folder, folder.is_dir())"""
    temporary, was_there = printed(program).split()
    assert was_there == "True"
    assert not Path(temporary).exists()
