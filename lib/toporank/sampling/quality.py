"""fnat, iRMSD, LRMSD and DockQ of poses of one pair of partners: what can be is computed once, a pose takes 1 ms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from toporank.features.neighbours import kd_tree
from toporank.sampling.partners import backbone, matching, superposition
from toporank.structures.complex import Complex

CONTACT = 5.0
"""Å between heavy atoms of two residues in contact."""
INTERFACE = 10.0
"""Å between heavy atoms that make a residue part of the interface whose RMSD is taken."""
IRMSD, LRMSD = 1.5, 8.5
"""Å at which the scaled RMSDs of DockQ (Basu & Wallner 2016, doi:10.1371/journal.pone.0161879) are one half."""
FAR = 1e4
"""Å: where atoms are that fill up a table."""
MAIN_CHAIN = (b"N", b"CA", b"C", b"O")


@dataclass(frozen=True)
class Quality:
    """How near a pose is to the native: fnat from 0 to 1, RMSDs in Å."""

    fnat: float
    irmsd: float
    lrmsd: float

    @property
    def dockq(self) -> float:
        """From 0 to 1."""
        scaled = (1 / (1 + (self.irmsd / IRMSD) ** 2), 1 / (1 + (self.lrmsd / LRMSD) ** 2))
        return (self.fnat + sum(scaled)) / 3


class Reference:
    """A native to which poses of two partners are compared.

    native, partners : receptor and ligand. names : the native's chain of each chain of a partner, where not the same.
    """

    def __init__(
        self,
        native: tuple[Complex, Complex],
        partners: tuple[Complex, Complex],
        names: dict[str, str] | None = None,
    ):
        pairs = [matching(ours, theirs, names) for ours, theirs in zip(partners, native, strict=True)]
        near = _residues_within(*native, INTERFACE)
        contacts = _residues_within(*native, CONTACT)
        self._all = len(contacts)
        self._native, self._ours, self._inside = [], [], []
        for side in (0, 1):
            ours, theirs = pairs[side].T
            own, other = backbone(partners[side], MAIN_CHAIN)[ours], backbone(native[side], MAIN_CHAIN)[theirs]
            both = (own >= 0) & (other >= 0)
            self._ours.append(own[both])
            self._native.append(native[side].xyz[other[both]])
            inside = np.isin(theirs, near[:, side])[:, None]
            self._inside.append(np.broadcast_to(inside, both.shape)[both])
            place = np.full(len(native[side].residues), -1)
            place[theirs] = ours
            contacts[:, side] = place[contacts[:, side]]
        contacts = contacts[(contacts >= 0).all(axis=1)]
        self._contacts = [_atoms_of(p)[contacts[:, side]] for side, p in enumerate(partners)]
        self._larger = int(len(native[1].residues) > len(native[0].residues))

    @property
    def covered(self) -> float:
        """Share of the native's contacts between residues that the partners have, too."""
        return len(self._contacts[0]) / self._all if self._all else 0.0

    def __call__(self, receptor: np.ndarray, ligand: np.ndarray) -> Quality:
        """Quality of a pose. receptor, ligand : coordinates of the partners' atoms, (A, 3)."""
        model = [xyz[atoms] for xyz, atoms in zip((receptor, ligand), self._ours, strict=True)]
        large, small = self._larger, 1 - self._larger
        rotation, translation = superposition(model[large], self._native[large])
        lrmsd = rmsd(model[small] @ rotation.T + translation, self._native[small])
        ours, theirs = (
            np.concatenate([x[i] for x, i in zip(s, self._inside, strict=True)]) for s in (model, self._native)
        )
        rotation, translation = superposition(ours, theirs)
        irmsd = rmsd(ours @ rotation.T + translation, theirs)
        first, second = (
            np.vstack([x, [[far] * 3]])[atoms]
            for x, far, atoms in zip((receptor, ligand), (FAR, -FAR), self._contacts, strict=True)
        )
        squared = np.square(first[:, :, None] - second[:, None]).sum(axis=-1)
        kept = np.count_nonzero(squared.min(axis=(1, 2), initial=np.inf) < CONTACT**2)
        return Quality(float(kept / max(self._all, 1)), irmsd, lrmsd)


def rmsd(a: np.ndarray, b: np.ndarray) -> float:
    """Root mean square distance of points (n, 3)."""
    return float(np.sqrt(np.square(a - b).sum(axis=1).mean()))


def _residues_within(receptor: Complex, ligand: Complex, cutoff: float) -> np.ndarray:
    """Pairs of residues with atoms nearer than the cutoff (Å): int, shape (n, 2)."""
    close = kd_tree(receptor.xyz).sparse_distance_matrix(kd_tree(ligand.xyz), cutoff, output_type="ndarray")
    close = close[close["v"] < cutoff]
    pairs = np.column_stack([receptor.residue_of[close["i"]], ligand.residue_of[close["j"]]])
    return np.unique(pairs, axis=0)


def _atoms_of(partner: Complex) -> np.ndarray:
    """Atoms of each residue: int, shape (R, most atoms), filled up with -1."""
    first = partner.atom_slices
    count = np.diff(first)
    column = np.arange(count.max())
    return np.where(column < count[:, None], first[:-1, None] + column, -1)
