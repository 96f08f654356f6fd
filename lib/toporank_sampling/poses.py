"""Docked poses of two partners, and the label of each that can become a decoy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from toporank.comparing.native.dockq import Scores
from toporank.comparing.native.label import label
from toporank.errors import DockingError
from toporank_sampling import rotations
from toporank_sampling.docking import Pose, eased
from toporank_sampling.docking_case import DockingCase

PEAKS = 3
"""Translations that are taken of each rotation."""
BEST = 400
"""Poses of global docking that are taken, by score."""
LOCAL = ((45.0, 14.0), (14.0, 5.0), (4.0, 2.0))
"""Local docking: largest rotation (degrees) and shift (Å) from the native, down to where programs
find the native.
"""
LOCAL_SHARE = 0.2
"""Rotations of each kind of local docking, for each of global docking."""
INTERFACE = 10.0
"""Å between CA atoms of an interface."""
CLASH, OVERLAP = 3.0, 2.5
"""Å between heavy atoms. The number of clashes must not tell DockQ; overlaps are limited."""
MOST_OVERLAPS = 5
"""Overlapping pairs that a pose may have, as poses of docking programs do."""
FEWEST_PAIRS = 20
"""CA pairs of the smallest interface of a decoy."""
FEWEST_DOCKED_PAIRS = 30
"""CA pairs of the smallest interface of a docked pose."""


@dataclass(frozen=True, eq=False)
class DockedPose:
    """A docked pose. docking : `global` or `local`. size : CA pairs of its interface."""

    case: DockingCase
    pose: Pose
    docking: str
    dockq: float
    size: int


@dataclass(frozen=True, eq=False)
class LabelledPose:
    """A pose that can become a decoy.

    ligand_xyz : Å, shape (A, 3). properties : what must not tell DockQ, the most important first:
    interface residues, clashes, CA pairs, and whether the partners are bound ones.
    """

    docked: DockedPose
    ligand_xyz: np.ndarray
    scores: Scores
    properties: tuple[float, ...]


def dock(
    case: DockingCase, n_rotations: int, rng: np.random.Generator
) -> list[DockedPose]:
    """Global and local poses with interfaces that are large enough, each with its DockQ.

    n_rotations : of global docking.
    """
    poses = [(pose, "global") for pose in _global_poses(case, n_rotations, rng)]
    poses += [(pose, "local") for pose in _local_poses(case, n_rotations, rng)]
    receptor = cKDTree(case.receptor.xyz)
    receptor_ca = cKDTree(case.receptor.xyz[case.receptor.ca])
    large_enough = []
    for pose, docking in poses:
        ligand_xyz = case.ligand_in(pose)
        shift = eased(receptor, ligand_xyz)
        moved = replace(pose, translation=pose.translation + shift)
        ligand_ca = cKDTree(ligand_xyz[case.ligand.ca] + shift)
        size = int(receptor_ca.count_neighbors(ligand_ca, INTERFACE))
        if size >= FEWEST_DOCKED_PAIRS:
            docked = DockedPose(
                case, moved, docking, dockq=case.dockq(moved), size=size
            )
            large_enough.append(docked)
    return large_enough


def _global_poses(
    case: DockingCase, n_rotations: int, rng: np.random.Generator
) -> list[Pose]:
    """The best poses of rotations that are spread evenly, best first."""
    poses = []
    for rotation in rotations.even(n_rotations, rng):
        poses += case.docking.poses(rotation, PEAKS)
    return sorted(poses, key=lambda pose: -pose.score)[:BEST]


def _local_poses(
    case: DockingCase, n_rotations: int, rng: np.random.Generator
) -> list[Pose]:
    """Poses near the native."""
    poses = []
    for angle, shift in LOCAL:
        for rotation in rotations.near(
            int(np.ceil(LOCAL_SHARE * n_rotations)), angle, rng
        ):
            poses += case.docking.poses(rotation, PEAKS, (case.docking.centre, shift))
    return poses


def labelled(docked: DockedPose) -> LabelledPose:
    """A docked pose with its label. Raises DockingError when it cannot become a decoy."""
    case = docked.case
    ligand_xyz = case.ligand_in(docked.pose)
    receptor_atoms = cKDTree(case.receptor.xyz)
    ligand_xyz = ligand_xyz + eased(receptor_atoms, ligand_xyz)
    ligand_atoms = cKDTree(ligand_xyz)
    overlaps = int(receptor_atoms.count_neighbors(ligand_atoms, OVERLAP))
    if overlaps > MOST_OVERLAPS:
        what = f"{overlaps} pairs of heavy atoms of both partners are nearer than {OVERLAP:g} Å"
        raise DockingError(what)
    pairs = ca_pairs(case.receptor.xyz[case.receptor.ca], ligand_xyz[case.ligand.ca])
    if len(pairs) < FEWEST_PAIRS:
        raise DockingError(
            f"{len(pairs)} pairs of CA atoms lie within {INTERFACE:g} Å, too few"
        )
    n_residues = len(np.unique(pairs[:, 0])) + len(np.unique(pairs[:, 1]))
    clashes = int(receptor_atoms.count_neighbors(ligand_atoms, CLASH))
    (scores,) = label(case.native, case.complex_of(ligand_xyz)).interfaces.values()
    properties = (n_residues, clashes, len(pairs), float(case.form == "bound"))
    return LabelledPose(
        docked=docked, ligand_xyz=ligand_xyz, scores=scores, properties=properties
    )


def ca_pairs(receptor: np.ndarray, ligand: np.ndarray) -> np.ndarray:
    """Pairs of CA atoms within `INTERFACE`.

    The result is int, shape (m, 2). receptor, ligand : coordinates, Å, shape (n, 3).
    """
    near = cKDTree(receptor).sparse_distance_matrix(
        cKDTree(ligand), INTERFACE, output_type="ndarray"
    )
    return np.column_stack([near["i"], near["j"]])
