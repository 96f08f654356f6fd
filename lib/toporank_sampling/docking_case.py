"""What is docked: two partners as they were crystallised together, or each alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from toporank.comparing.native.label import Native
from toporank.errors import StructureError
from toporank.structures.complex import Complex
from toporank_sampling.docking import Docking, Pose, channels
from toporank_sampling.quality import Reference
from toporank_sampling.sides import exchanged, joined, with_atoms

COVERED = 0.5
"""Least share of the native's contacts that unbound partners have the residues for."""
END_OXYGEN = b"OXT"
"""The second oxygen at the end of a chain, which few predicted models have."""


class DockingCase:
    """Bound or unbound partners, ready to be docked and compared with the native.

    Parameters
    ----------
    form : `bound` or `unbound`
    native : what poses are compared with
    partners : receptor and ligand, heavy atoms only, in the frame of the native

    Raises
    ------
    StructureError : the partners lack more than half of the native's contacts
    """

    def __init__(self, form: str, native: Native, partners: tuple[Complex, Complex]):
        receptor = _without_end_oxygen(partners[0])
        ligand = _without_end_oxygen(partners[1])
        self.form = form
        self.native = native
        self.receptor = receptor
        self.ligand = ligand
        self.docking = Docking(
            (receptor.xyz, channels(receptor)), (ligand.xyz, channels(ligand))
        )
        self._references = [Reference(native, (receptor, ligand))]
        chain_pairs = exchanged(receptor, ligand)
        if chain_pairs:
            self._references.append(Reference(native, (receptor, ligand), chain_pairs))
        covered = self._references[0].covered
        if covered < COVERED:
            what = (
                f"the {form} partners have the residues of {covered:.0%} "
                "of the native's contacts"
            )
            raise StructureError(what)

    def ligand_in(self, pose: Pose) -> np.ndarray:
        """Coordinates of the ligand in a pose: Å, shape (A, 3)."""
        return pose.place(self.ligand.xyz, self.docking.centre)

    def dockq(self, pose: Pose) -> float:
        """DockQ of a pose.

        Where the partners are copies of one another, the better assignment counts.
        """

        def place(xyz: np.ndarray) -> np.ndarray:
            return pose.place(xyz, self.docking.centre)

        return max(reference.dockq(place) for reference in self._references)

    def complex_of(self, ligand_xyz: np.ndarray) -> Complex:
        """Both partners, the ligand with other coordinates."""
        return joined([self.receptor, replace(self.ligand, xyz=ligand_xyz)])


def _without_end_oxygen(partner: Complex) -> Complex:
    return with_atoms(partner, partner.atom_names != END_OXYGEN)
