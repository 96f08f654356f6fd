"""The partners of a target as crystallised together or alone: a form of it, from which decoys are made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from toporank.comparing.native.label import Native
from toporank.errors import StructureError
from toporank.structures.complex import Complex
from toporank_sampling.bending import Modes, bend, softest_modes
from toporank_sampling.docking import Docking, Pose, channels
from toporank_sampling.quality import Reference
from toporank_sampling.refinement import Refinement, Whole, unrefined, whole
from toporank_sampling.sides import exchanged, joined, with_atoms

BENDS = (0.4, 1.8)
"""Å by which the CA atoms of each partner are bent, root mean square."""
COVERED = 0.5
"""Least share of the native's contacts that unbound partners have the residues for."""
AWAY = np.array([1e3, 0.0, 0.0])
"""Å: where partners do not feel one another."""


class Form:
    """Bound or unbound partners, ready to be docked, compared with the native and, unless rigid, bent and minimised.

    Raises RefinementError when OpenMM cannot handle them, StructureError when they hardly cover the native's interface.

    partners : receptor and ligand, in the frame of the native. rigid : they stay as they are: nothing is built, bent
    or minimised.
    """

    def __init__(self, name: str, native: Native, partners: tuple[Complex, Complex], seed: int, rigid: bool = False):
        self.name, self.native, self.rigid = name, native, rigid
        completed = [Whole(side, None) if rigid else whole(side, seed + k) for k, side in enumerate(partners)]
        self.refine = unrefined if rigid else Refinement(*completed)
        self.heavy = [side.heavy for side in completed]
        receptor, ligand, _ = self.refine(completed[0].complex.xyz, completed[1].complex.xyz + AWAY)
        self.all = [replace(s.complex, xyz=xyz) for s, xyz in zip(completed, (receptor, ligand - AWAY), strict=True)]
        self.shown = tuple(with_atoms(side, heavy) for side, heavy in zip(self.all, self.heavy, strict=True))
        self.docking = Docking(*((side.xyz, channels(side)) for side in self.shown))
        names = exchanged(*partners)
        self._references = [Reference(native, self.shown)] + ([Reference(native, self.shown, names)] if names else [])
        covered = self._references[0].covered
        if covered < COVERED:
            raise StructureError(f"the {name} partners have the residues of {covered:.0%} of the native's contacts")
        self._modes: list[Modes] = []

    def dockq(self, pose: Pose) -> float:
        """Of a rigid pose; of partners that are copies of one another, with the better assignment."""
        return max(r.dockq(lambda xyz: pose.place(xyz, self.docking.centre)) for r in self._references)

    def complex_of(self, xyz: list[np.ndarray]) -> Complex:
        """Both partners with other coordinates of their heavy atoms."""
        return joined(replace(side, xyz=new) for side, new in zip(self.shown, xyz, strict=True))

    def bends(self, rng: np.random.Generator) -> list[np.ndarray]:
        """Random displacements of all atoms of both partners, (A, 3) each."""
        self._modes = self._modes or [softest_modes(side.xyz[side.ca]) for side in self.all]
        by = rng.uniform(*BENDS)
        return [bend(modes, by, rng)[side.residue_of] for modes, side in zip(self._modes, self.all, strict=True)]
