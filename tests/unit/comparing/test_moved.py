"""Decoys that are one complex, moved as a whole: poses of a ligand without its receptor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from structures_text import EXAMPLES
from toporank.comparing.contacts import contact_bytes
from toporank.comparing.moved import moved_as_whole
from toporank.structures.read import read_complex

NEAR, OTHER = "1EMV/near1.pdb.gz", "1EMV/mid2.pdb.gz"


def rotation(seed: int) -> np.ndarray:
    matrix, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return matrix * np.sign(np.linalg.det(matrix))


def pose(
    seed: int,
    decoy: str = NEAR,
    *,
    noise: float = 0.0,
    digits: int = 9,
    still: bool = False,
) -> bytes:
    """The contacts of an example decoy, turned and moved, its coordinates rounded as in a PDB file.

    noise : Å, of each coordinate. digits : of the rotation, as programs round it. still : whether
    it stays in place.
    """
    complex_ = read_complex(EXAMPLES / decoy)
    generator = np.random.default_rng(seed)
    xyz = complex_.xyz + noise * generator.normal(size=complex_.xyz.shape)
    if not still:
        xyz = xyz @ rotation(seed).round(digits).T + 80 * generator.normal(size=3)
    return contact_bytes(replace(complex_, xyz=xyz.round(3)))


def named(*poses: bytes) -> dict[str, bytes]:
    return {f"pose_{k:03d}": content for k, content in enumerate(poses)}


@pytest.mark.parametrize("digits", [9, 4], ids=["EquiDock", "MEGADOCK"])
@pytest.mark.parametrize("n", [2, 3, 10])
def test_poses_of_one_body_are_recognised(n, digits):
    poses = named(*(pose(seed, digits=digits) for seed in range(n)))
    assert moved_as_whole(poses) == set(poses)


@pytest.mark.parametrize("n", [3, 4, 10])
def test_so_they_are_where_one_model_differs(n):
    poses = named(*(pose(seed) for seed in range(n - 1)), pose(n, OTHER))
    assert moved_as_whole(poses) == set(poses) - {f"pose_{n - 1:03d}"}


@pytest.mark.parametrize(
    "poses",
    [
        [pose(0)],
        [pose(seed, noise=0.05) for seed in range(4)],
        [pose(0, still=True), pose(1, noise=0.01, still=True), pose(2, still=True)],
        [
            pose(0),
            pose(1),
            pose(2, OTHER),
            pose(3, "1EMV/far2.pdb.gz"),
            pose(4, "1EMV/wrong1.pdb.gz"),
        ],
        [pose(0), pose(1, "1PPE/near1.pdb.gz")],
        [],
    ],
    ids=[
        "one model",
        "samples of a predictor",
        "models in one place",
        "two alike among five",
        "two complexes",
        "none",
    ],
)
def test_other_models_are_ranked(poses):
    assert moved_as_whole(named(*poses)) == set()
