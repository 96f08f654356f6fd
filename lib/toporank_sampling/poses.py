"""Poses of a form: docked, and then bent and minimised."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from toporank.comparing.native.dockq import Scores
from toporank.comparing.native.label import label
from toporank.errors import RefinementError
from toporank_sampling import rotations
from toporank_sampling.bending import root_mean_square
from toporank_sampling.docking import Pose, eased
from toporank_sampling.form import Form

PEAKS = 3
"""Translations kept of each rotation."""
BEST = 400
"""Poses of global docking that are kept, by score."""
LOCAL = ((45.0, 14.0), (14.0, 5.0))
"""Local docking: largest rotation (degrees) and shift (Å) from the native, wide and narrow."""
FOUND = (4.0, 2.0)
"""The same for rigid partners, as narrow as where programs find the native."""
LOCAL_SHARE = 0.2
"""Rotations of each, for each of global docking."""
INTERFACE = 10.0
"""Å between CA atoms of an interface."""
CLASH, OVERLAP = 3.0, 2.5
"""Å between heavy atoms: such clashes are balanced; a pose with a nearer pair is left out."""
MOST_OVERLAPS = 5
"""Nearer pairs that a rigid pose may have, as poses of docking programs do."""
FEWEST_PAIRS = 20
"""CA pairs of the smallest interface."""
SHRINKING = 1.5
"""Times as many must there be before minimisation, which shrinks interfaces."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A docked pose of a form. docking : `global` or `local`. size : CA pairs of its interface."""

    form: Form
    pose: Pose
    docking: str
    dockq: float
    size: int


@dataclass(frozen=True, eq=False)
class Refined:
    """A minimised pose. bent : Å, root mean square over the CA atoms of both partners; 0 if it was not bent."""

    candidate: Candidate
    bent: float
    xyz: list[np.ndarray]
    scores: Scores
    energy: float
    properties: tuple[float, ...]  # what must not tell DockQ: interface residues, clashes, CA pairs, form, bent or not

    def is_like(self, other: Refined) -> bool:
        """Whether their energies can be compared."""
        return self.candidate.form is other.candidate.form and (self.bent > 0) == (other.bent > 0)


def docked(form: Form, n: int, rng: np.random.Generator) -> list[Candidate]:
    """Global and local poses of a form, each with its DockQ before minimisation."""
    receptor, ligand = form.shown
    found = [pose for r in rotations.even(n, rng) for pose in form.docking.poses(r, PEAKS)]
    found = [(pose, "global") for pose in sorted(found, key=lambda pose: -pose.score)[:BEST]]
    for angle, shift in (*LOCAL, FOUND) if form.rigid else LOCAL:
        near = form.docking.centre, shift
        for rotation in rotations.near(int(np.ceil(LOCAL_SHARE * n)), angle, rng):
            found += [(pose, "local") for pose in form.docking.poses(rotation, PEAKS, near)]
    tree, ca_tree, candidates = cKDTree(receptor.xyz), cKDTree(receptor.xyz[receptor.ca]), []
    for found_pose, docking in found:
        xyz = found_pose.place(ligand.xyz, form.docking.centre)
        shift = eased(tree, xyz)
        pose = replace(found_pose, translation=found_pose.translation + shift)
        size = int(ca_tree.count_neighbors(cKDTree(xyz[ligand.ca] + shift), INTERFACE))
        if size >= SHRINKING * FEWEST_PAIRS:
            candidates.append(Candidate(form, pose, docking, form.dockq(pose), size))
    return candidates


def minimised(candidate: Candidate, bending: bool, rng: np.random.Generator) -> Refined:
    """A pose bent, if it is to be, eased and minimised. Raises RefinementError when it cannot be used."""
    form = candidate.form
    start = [side.xyz for side in form.all]
    if bending:
        start = [xyz + by for xyz, by in zip(start, form.bends(rng), strict=True)]
    bent = np.concatenate([(a - side.xyz)[side.ca] for a, side in zip(start, form.all, strict=True)])
    start[1] = candidate.pose.place(start[1], form.docking.centre)
    start[1] = start[1] + eased(cKDTree(start[0][form.heavy[0]]), start[1][form.heavy[1]])
    receptor, ligand, energy = form.refine(*start)
    xyz = [side[heavy] for side, heavy in zip((receptor, ligand), form.heavy, strict=True)]
    trees = [cKDTree(side) for side in xyz]
    overlaps = int(trees[0].count_neighbors(trees[1], OVERLAP))
    if overlaps > (MOST_OVERLAPS if form.rigid else 0):
        raise RefinementError(f"{overlaps} pairs of heavy atoms of both partners nearer than {OVERLAP:g} Å are left")
    pairs = ca_pairs(*(x[side.ca] for side, x in zip(form.shown, xyz, strict=True)))
    if len(pairs) < FEWEST_PAIRS:
        raise RefinementError(f"{len(pairs)} pairs of CA atoms within {INTERFACE:g} Å are left, too few")
    residues = sum(len(np.unique(side)) for side in pairs.T)
    clashes = int(trees[0].count_neighbors(trees[1], CLASH))
    properties = (residues, clashes, len(pairs), float(form.name == "bound"), float(bending))
    (scores,) = label(form.native, form.complex_of(xyz)).interfaces.values()
    return Refined(candidate, root_mean_square(bent), xyz, scores, energy, properties)


def ca_pairs(receptor: np.ndarray, ligand: np.ndarray) -> np.ndarray:
    """Pairs of CA atoms, (n, 3), within `INTERFACE`: int, shape (m, 2)."""
    near = cKDTree(receptor).query_ball_tree(cKDTree(ligand), INTERFACE)
    return np.array([(i, j) for i, found in enumerate(near) for j in found], dtype=np.intp).reshape(-1, 2)
