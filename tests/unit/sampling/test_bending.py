"""Normal modes of the elastic network: what mechanics demands of them."""

from __future__ import annotations

import numpy as np
import pytest

from structures_text import EXAMPLES
from toporank.structures.read import read_complex
from toporank_sampling.bending import SOFTEST, anm_hessian, bend, root_mean_square, softest_modes

COMPLEX = read_complex(EXAMPLES / "1PPE/near1.pdb.gz")
CA = COMPLEX.xyz[COMPLEX.ca[COMPLEX.ca >= 0]]
MODES = softest_modes(CA)
RIGID = [np.broadcast_to(axis, CA.shape) for axis in np.eye(3)] + [np.cross(axis, CA) for axis in np.eye(3)]


def test_moving_or_turning_the_whole_costs_nothing():
    for motion in RIGID:
        np.testing.assert_allclose(anm_hessian(CA) @ motion.ravel() / np.linalg.norm(motion), 0, atol=1e-9)


def test_stretching_a_single_spring_costs_what_a_spring_of_unit_constant_costs():
    hessian = anm_hessian(np.array([[0.0, 0, 0], [3, 4, 0]])).toarray()
    along, across = np.array([0, 0, 0, 0.6, 0.8, 0]), np.array([0, 0, 0, -0.8, 0.6, 0])
    assert along @ hessian @ along == pytest.approx(1)
    assert across @ hessian @ across == pytest.approx(0)


def test_modes_are_orthogonal_unit_vectors_and_no_rigid_motion():
    shapes = MODES.shapes.reshape(SOFTEST, -1)
    np.testing.assert_allclose(shapes @ shapes.T, np.eye(SOFTEST), atol=1e-8)
    for motion in RIGID:
        np.testing.assert_allclose(shapes @ motion.ravel() / np.linalg.norm(motion), 0, atol=1e-6)


def test_modes_are_the_softest_of_all():
    hessian = anm_hessian(CA[:50]).toarray()
    np.testing.assert_allclose(
        softest_modes(CA[:50]).stiffness, np.linalg.eigvalsh(hessian)[6 : 6 + SOFTEST], rtol=1e-6
    )


def test_a_bend_has_the_size_that_was_asked_for_and_is_mostly_soft():
    moved = bend(MODES, 1.5, np.random.default_rng(1))
    assert np.sqrt(np.square(moved).sum(axis=1).mean()) == pytest.approx(1.5)
    shares = np.square(np.einsum("mnx,nx->m", MODES.shapes, moved)) / np.square(moved).sum()
    assert shares.sum() == pytest.approx(1)
    many = np.mean([bend(MODES, 1.0, np.random.default_rng(s)) ** 2 for s in range(3)])
    assert many == pytest.approx(1 / 3)


def test_how_far_atoms_moved_is_a_length_in_space():
    assert root_mean_square(np.array([[3.0, 4, 0], [0, 0, 5]])) == pytest.approx(5)


class Same:
    """A generator whose numbers are all 1."""

    def normal(self, size: int) -> np.ndarray:
        return np.ones(size)


def test_every_mode_takes_up_the_same_energy():
    """Equipartition: stiffness times the square of the amplitude is the same for all modes."""
    amplitudes = np.einsum("mnx,nx->m", MODES.shapes, bend(MODES, 1.0, Same()))
    energies = MODES.stiffness * amplitudes**2
    np.testing.assert_allclose(energies, energies.mean(), rtol=1e-6)


def test_a_chain_of_five_residues_can_be_bent():
    few = softest_modes(CA[:5])
    assert len(few.stiffness) >= 1
    assert np.isfinite(bend(few, 0.5, np.random.default_rng(1))).all()
