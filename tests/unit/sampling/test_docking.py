"""Rotations and docking by FFT, against the geometry and the plain sum over pairs of atoms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from toporank_sampling import rotations
from toporank_sampling.docking import OVERLAP, SPACING, Docking, eased, pair_scores

RNG = np.random.default_rng


def angles(one: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Degrees between each of (n, 3, 3) and each of (m, 3, 3)."""
    cosine = (np.einsum("nij,mij->nm", one, others) - 1) / 2
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


# ---- rotations -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "found", [rotations.even(50, RNG(1)), rotations.near(50, 45, RNG(2))]
)
def test_rotations_keep_lengths_and_handedness(found):
    np.testing.assert_allclose(
        found @ found.transpose(0, 2, 1),
        np.broadcast_to(np.eye(3), found.shape),
        atol=1e-12,
    )
    np.testing.assert_allclose(np.linalg.det(found), 1)


def test_an_even_set_leaves_smaller_holes_than_random_rotations_do_and_points_nowhere():
    n, anywhere = 400, rotations.of_quaternions(RNG(3).normal(size=(1000, 4)))
    even, random = (
        rotations.even(n, RNG(4)),
        rotations.of_quaternions(RNG(5).normal(size=(n, 4))),
    )
    assert (
        angles(anywhere, even).min(axis=1).max()
        < 0.75 * angles(anywhere, random).min(axis=1).max()
    )
    assert np.abs(even.mean(axis=0)).max() < 0.01


def test_rotations_near_the_native_fill_their_ball():
    turned = angles(np.eye(3)[None], rotations.near(2000, 40, RNG(6)))[0]
    assert turned.max() <= 40
    np.testing.assert_allclose(
        np.mean(turned < 20), 1 / 8, atol=0.03
    )  # volume goes with the cube of the angle


# ---- docking -------------------------------------------------------------------------------------


def blob(seed: int, n: int, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Atoms in a ball about a place of their own, with weights."""
    rng = RNG(seed)
    xyz = rng.uniform(-radius, radius, size=(n, 3)) + rng.uniform(-30, 30, size=3)
    return xyz, np.array([np.ones(n), rng.random(n) < 0.5, rng.uniform(-1, 1, n)])


def plain_sum(receptor, weights, ligand, ligand_weights) -> float:
    """Score of atoms where they are after rounding to the grid that begins at the receptor."""
    at = [
        np.rint((xyz - receptor.min(axis=0)) / SPACING) * SPACING
        for xyz in (receptor, ligand)
    ]
    distance = np.linalg.norm(at[0][:, None] - at[1], axis=-1)
    return float(
        np.einsum("cij,ci,cj->", pair_scores(distance), weights, ligand_weights)
    )


RECEPTOR, LIGAND = blob(1, 40, 8.0), blob(2, 25, 5.0)
DOCKING = Docking(RECEPTOR, LIGAND)


@pytest.mark.parametrize("seed", range(4))
def test_a_pose_lies_where_the_plain_sum_over_pairs_gives_its_score(seed):
    rotation = rotations.uniform(RNG(seed))
    for pose in DOCKING.poses(rotation, 3):
        placed = pose.place(LIGAND[0], DOCKING.centre)
        assert plain_sum(*RECEPTOR, placed, LIGAND[1]) == pytest.approx(
            pose.score, abs=0.01
        )


def test_every_translation_around_the_receptor_has_the_score_of_the_plain_sum():
    scores, rng = DOCKING.scores(np.eye(3)), RNG(7)
    for element in [tuple(rng.integers(0, DOCKING.shape)) for _ in range(60)]:
        placed = LIGAND[0] - DOCKING.centre + DOCKING.mean_at(element)
        if (
            np.linalg.norm(RECEPTOR[0][:, None] - placed, axis=-1).min() < 6
        ):  # further out the grid is periodic
            assert plain_sum(*RECEPTOR, placed, LIGAND[1]) == pytest.approx(
                scores[element], abs=0.01
            )


def test_local_docking_stays_near_a_point():
    point = RECEPTOR[0].mean(axis=0) + np.array([12.0, 0, 0])
    poses = DOCKING.poses(np.eye(3), 4, near=(point, 5.0))
    assert len(poses) == 4
    assert all(
        np.linalg.norm(DOCKING.centre + pose.translation - point) <= 5 for pose in poses
    )


def test_easing_parts_what_overlaps_and_leaves_alone_what_does_not():
    wall = np.stack(
        np.meshgrid([0.0, 1.5], range(0, 30, 2), range(0, 30, 2)), axis=-1
    ).reshape(-1, 3)
    inside, outside = (wall + np.array([depth, 0.7, 0.7]) for depth in (2.5, 5.0))
    shift = eased(cKDTree(wall), inside)
    assert np.linalg.norm(wall[:, None] - inside, axis=-1).min() < OVERLAP
    assert np.linalg.norm(wall[:, None] - inside - shift, axis=-1).min() >= OVERLAP
    assert shift[0] > 1 > np.abs(shift[1:]).max()
    np.testing.assert_array_equal(eased(cKDTree(wall), outside), 0)
