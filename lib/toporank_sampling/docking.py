"""Rigid docking: complementarity of two partners for every translation of a rotated ligand, by FFT.

The score is a sum over pairs of atoms: contact and overlap, apolar contact, charge. Atoms are put
on the nearest point of a grid (Katchalski-Katzir et al. 1992, doi:10.1073/pnas.89.6.2195), so a
score is the same as its plain sum there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft
from scipy.spatial import cKDTree

from toporank.structures.complex import Complex

SPACING = 1.6
"""Å between points of the grid."""
OVERLAP, CONTACT, CHARGES = 3.0, 6.0, 12.0
"""Å: nearer atoms overlap; nearer atoms touch; charges act up to here."""
PENALTY = -12.0
"""Of an overlap, where a contact counts 1."""
APOLAR_CONTACT = 0.5
"""What a contact of two apolar atoms counts besides."""
COULOMB = 30.0
"""Score of two opposite unit charges, times r² in Å², from `OVERLAP` on."""
APART = 3
"""Points of the grid by which two translations of one rotation differ at least in some direction.
"""
EASING, EASINGS = 0.3, 12
"""Å by which a ligand is moved out of the receptor at a time, and how many times."""

CHARGED = {
    ("ASP", b"OD1"): -0.5,
    ("ASP", b"OD2"): -0.5,
    ("GLU", b"OE1"): -0.5,
    ("GLU", b"OE2"): -0.5,
    ("LYS", b"NZ"): 1.0,
    ("ARG", b"NH1"): 0.5,
    ("ARG", b"NH2"): 0.5,
}
"""Charge of side-chain atoms at pH 7."""
APOLAR = {"ALA", "VAL", "LEU", "ILE", "MET", "PHE", "TRP", "TYR", "PRO", "CYS"}
"""Residues whose side-chain carbon and sulphur atoms are apolar."""


@dataclass(frozen=True)
class Pose:
    """Where a ligand was put.

    Its atoms x lie at `(x - centre) @ rotation.T + centre + translation`.
    """

    rotation: np.ndarray
    translation: np.ndarray
    score: float

    def place(self, xyz: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """The ligand's atoms, (A, 3), in this pose."""
        return (xyz - centre) @ self.rotation.T + centre + self.translation


def channels(partner: Complex) -> np.ndarray:
    """What each heavy atom weighs in the three parts of the score: 1, apolar or not, charge.

    The result is float, shape (3, A).
    """
    parents = np.array(partner.parents)[partner.residue_of]
    names = partner.atom_names
    of_side_chain = ~np.isin(names, [b"N", b"CA", b"C", b"O"])
    is_carbon_or_sulphur = np.isin(partner.elements, [b"C", b"S"])
    apolar = np.isin(parents, list(APOLAR)) & is_carbon_or_sulphur & of_side_chain
    charge = np.zeros(len(names))
    for (parent, name), value in CHARGED.items():
        charge[(parents == parent) & (names == name)] = value
    return np.array([np.ones(len(names)), apolar, charge])


def pair_scores(distance: np.ndarray) -> np.ndarray:
    """Score of two atoms of weight 1 at these distances (Å) in each channel; shape (3, ...)."""
    contact = np.where(distance < OVERLAP, PENALTY, (distance < CONTACT).astype(float))
    apolar = np.where((distance >= OVERLAP) & (distance < CONTACT), APOLAR_CONTACT, 0.0)
    charge = np.where(
        distance < CHARGES, -COULOMB / np.maximum(distance, OVERLAP) ** 2, 0.0
    )
    return np.array([contact, apolar, charge])


class Docking:
    """A receptor on a grid large enough for a ligand on every side.

    receptor, ligand : coordinates (A, 3) and weights (3, A) of the atoms. The ligand turns about
    its mean.
    """

    def __init__(
        self,
        receptor: tuple[np.ndarray, np.ndarray],
        ligand: tuple[np.ndarray, np.ndarray],
    ):
        xyz, weights = receptor
        self._ligand, self._weights = ligand
        self.centre = self._ligand.mean(axis=0)
        reach = np.linalg.norm(self._ligand - self.centre, axis=1).max()
        self._origin = xyz.min(axis=0)
        size = np.ptp(xyz, axis=0)
        # beyond its period nothing of a touching ligand meets the next one
        n_points = np.ceil((size + 2 * reach + CHARGES) / SPACING).astype(int) + 3
        self.shape = tuple(fft.next_fast_len(int(n), real=True) for n in n_points)
        self._places, squares = [], []
        for n, length in zip(self.shape, size, strict=True):
            points = np.arange(n)
            self._places.append(_unwrapped(n, length))
            squares.append(np.square(np.minimum(points, n - points) * SPACING))
        distance = np.sqrt(sum(np.ix_(*squares)))
        kernel = fft.rfftn(pair_scores(distance).astype(np.float32), axes=(1, 2, 3))
        field = fft.rfftn(
            self._grid(self._points(xyz - self._origin), weights), axes=(1, 2, 3)
        )
        self._field = (kernel * field).astype(np.complex64)

    @staticmethod
    def _points(xyz: np.ndarray) -> np.ndarray:
        return np.rint(xyz / SPACING).astype(np.intp)

    def _grid(self, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Sums of weights on the grid: float32, shape (3, *shape)."""
        at = np.ravel_multi_index(points.T, self.shape, mode="wrap")
        size = int(np.prod(self.shape))
        sums = [np.bincount(at, weight, size) for weight in weights]
        return np.array(sums, dtype=np.float32).reshape(-1, *self.shape)

    def scores(self, rotation: np.ndarray) -> np.ndarray:
        """Score of the ligand in this rotation for every translation: float32, shape `shape`.

        `mean_at` says where the ligand's mean is for an element.
        """
        points = self._points((self._ligand - self.centre) @ rotation.T)
        ligand = fft.rfftn(self._grid(points, self._weights), axes=(1, 2, 3))
        return fft.irfftn(
            np.einsum("cijk,cijk->ijk", self._field, ligand.conj()), s=self.shape
        )

    def mean_at(self, element: tuple[int, ...]) -> np.ndarray:
        """Where the ligand's mean is for an element of `scores`: Å, shape (3,)."""
        places = [place[i] for place, i in zip(self._places, element, strict=True)]
        return self._origin + places

    def poses(
        self, rotation: np.ndarray, n: int, near: tuple[np.ndarray, float] | None = None
    ) -> list[Pose]:
        """The best translations of a rotated ligand that are `APART`, best first.

        Parameters
        ----------
        rotation : array, shape (3, 3)
            Of the ligand about its mean.
        n : int
            How many.
        near : tuple, optional
            A point (3,) and a distance (Å): only translations that bring the
            ligand's mean that near to it.
        """
        scores = self.scores(rotation)
        # the points of each axis that are looked at
        within = [np.arange(n) for n in self.shape]
        if near:
            point, distance = near
            within, squares = [], []
            for axis in range(3):
                away = self._origin[axis] + self._places[axis] - point[axis]
                rising = np.argsort(away)
                inside = rising[np.abs(away[rising]) <= distance]
                within.append(inside)
                squares.append(np.square(away[inside]))
            square = sum(np.ix_(*squares))
            scores = np.where(square <= distance**2, scores[np.ix_(*within)], -np.inf)
        poses = []
        for _ in range(n):
            best = np.unravel_index(scores.argmax(), scores.shape)
            if scores[best] == -np.inf:
                break
            element = tuple(within[axis][best[axis]] for axis in range(3))
            translation = self.mean_at(element) - self.centre
            pose = Pose(
                rotation=rotation, translation=translation, score=float(scores[best])
            )
            poses.append(pose)
            around = np.array(best)[:, None] + np.arange(1 - APART, APART)
            size = np.array(scores.shape)[:, None]
            around = around.clip(0, size - 1) if near else around % size
            scores[np.ix_(*around)] = -np.inf
        return poses


def _unwrapped(n: int, length: float) -> np.ndarray:
    """Å from the receptor's first point to each of `n` periodic points along an axis.

    Far ones lie before it.
    """
    place = np.arange(n) * SPACING
    return np.where(place > (length + n * SPACING) / 2, place - n * SPACING, place)


def eased(receptor: cKDTree, ligand: np.ndarray) -> np.ndarray:
    """A shift of the ligand, (3,), that parts it from the receptor.

    A grid hides overlaps of up to its spacing.

    Atoms nearer than `OVERLAP` push one another apart, in `EASINGS` steps; the shift with the least
    overlap is taken.

    Parameters
    ----------
    receptor : cKDTree
        Of its heavy atoms.
    ligand : array, shape (A, 3)
        Coordinates of heavy atoms, Å.
    """
    farthest = OVERLAP + EASING * EASINGS
    distance, _ = receptor.query(ligand, distance_upper_bound=farthest)
    ligand = ligand[distance < np.inf]
    shift, best, least = np.zeros(3), np.zeros(3), np.inf
    for _ in range(EASINGS):
        found = receptor.query(ligand + shift, distance_upper_bound=OVERLAP)
        distance, nearest = map(np.asarray, found)
        near = distance < OVERLAP
        depth = OVERLAP - distance[near]
        if np.square(depth).sum() < least:
            best, least = shift, np.square(depth).sum()
        push = (depth / distance[near]) @ (
            ligand[near] + shift - receptor.data[nearest[near]]
        )
        if not push.any():
            break
        shift = shift + EASING * push / np.linalg.norm(push)
    return best
