"""Completing partners and minimising poses with OpenMM (Amber ff14SB in vacuum), on one core.

OpenMM and PDBFixer are optional: `requirements-sampling.txt`.
"""

from __future__ import annotations

import functools
import io
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from toporank.errors import RefinementError
from toporank.structures.complex import Complex
from toporank_sampling.sides import pieces

CUTOFF = 9.0
"""Å within which atoms act on one another, and CA atoms of a partner are joined by springs."""
SPRING = 500.0
"""kJ/mol/nm² of these springs, which keep the fold of each partner."""
STEPS = 50
"""Most steps of the minimiser (L-BFGS)."""
TOLERANCE = 10.0
"""kJ/mol/nm, root mean square force at which it ends."""
NM = 10.0
"""Å."""
PH = 7.0
LONGEST_MESSAGE = 300
"""Letters of OpenMM's messages that are repeated."""


@dataclass(frozen=True)
class Whole:
    """A partner with all atoms, hydrogens too, and OpenMM's topology of the same atoms; None for a rigid partner."""

    complex: Complex
    topology: Any

    @property
    def heavy(self) -> np.ndarray:
        """Atoms that a decoy shows: bool, shape (A,). Not the oxygen that ends every piece of a chain."""
        return ~self.complex.is_hydrogen & (self.complex.atom_names != b"OXT")


def whole(partner: Complex, seed: int) -> Whole:
    """A partner with missing side-chain atoms and hydrogens built. Raises RefinementError when OpenMM cannot."""
    from openmm.app import Modeller
    from pdbfixer import PDBFixer

    with _explained("the partner cannot be completed"):
        fixer = PDBFixer(pdbfile=io.StringIO(_pdb(partner)), platform=_platform())
        fixer.missingResidues = {}
        known = {name: {a.name for a in t.topology.atoms()} | {"OXT"} for name, t in fixer.templates.items()}
        modeller = Modeller(fixer.topology, fixer.positions)
        modeller.delete([a for a in modeller.topology.atoms() if a.name not in known[a.residue.name]])
        fixer.topology, fixer.positions = modeller.topology, modeller.positions
        fixer.findMissingAtoms()
        fixer.addMissingAtoms(seed=seed)
        modeller = Modeller(fixer.topology, fixer.positions)
        random.seed(seed)  # OpenMM draws where a hydrogen begins
        modeller.addHydrogens(_force_field(), pH=PH, platform=_platform())
    return Whole(_complex(partner, modeller), modeller.topology)


class Refinement:
    """Minimises poses of two partners: Amber ff14SB in vacuum, and springs that keep the fold of each partner.

    Raises RefinementError when the force field does not know the partners.
    """

    def __init__(self, receptor: Whole, ligand: Whole):
        from openmm import Context, HarmonicBondForce, VerletIntegrator
        from openmm.app import CutoffNonPeriodic, Modeller
        from openmm.unit import Quantity, nanometer

        partners = (receptor.complex, ligand.complex)
        self._split = len(partners[0].xyz)
        springs = [_near(partner) for partner in partners]
        self._springs = np.concatenate([springs[0], springs[1] + self._split])
        with _explained("the force field does not take these partners"):
            both = Modeller(receptor.topology, Quantity(partners[0].xyz / NM, nanometer))
            both.add(ligand.topology, Quantity(partners[1].xyz / NM, nanometer))
            system = _force_field().createSystem(
                both.topology, nonbondedMethod=CutoffNonPeriodic, nonbondedCutoff=CUTOFF / NM
            )
            self._force = HarmonicBondForce()
            for i, j in self._springs.tolist():
                self._force.addBond(i, j, 0.0, SPRING)
            system.addForce(self._force)
            self._context = Context(system, VerletIntegrator(0.001), _platform())

    def __call__(self, receptor: np.ndarray, ligand: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Coordinates of both partners (Å) after minimisation, and the energy (kJ/mol).

        receptor, ligand : of all atoms, (A, 3). The springs rest at the lengths given here. Raises RefinementError
        when OpenMM gives up.
        """
        from openmm import LocalEnergyMinimizer
        from openmm.unit import kilojoule_per_mole

        xyz = np.concatenate([receptor, ligand]) / NM
        lengths = np.linalg.norm(xyz[self._springs[:, 0]] - xyz[self._springs[:, 1]], axis=1)
        with _explained("the pose cannot be minimised"):
            for k, ((i, j), length) in enumerate(zip(self._springs.tolist(), lengths.tolist(), strict=True)):
                self._force.setBondParameters(k, i, j, length, SPRING)
            self._force.updateParametersInContext(self._context)
            self._context.setPositions(xyz)
            LocalEnergyMinimizer.minimize(self._context, TOLERANCE, STEPS)
            state = self._context.getState(positions=True, energy=True)
        found = state.getPositions(asNumpy=True)._value * NM
        energy = state.getPotentialEnergy().value_in_unit(kilojoule_per_mole)
        if not (np.isfinite(found).all() and np.isfinite(energy)):
            raise RefinementError("the pose flies apart when it is minimised")
        return found[: self._split], found[self._split :], energy


def unrefined(receptor: np.ndarray, ligand: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Rigid partners as they are, in the place of a `Refinement`; no energy is computed."""
    return receptor, ligand, 0.0


@functools.cache
def _force_field() -> Any:
    from openmm.app import ForceField

    return ForceField("amber14/protein.ff14SB.xml")


def _platform() -> Any:
    """The CPU with one thread: the same forces every time."""
    from openmm import Platform

    found = Platform.getPlatformByName("CPU")
    found.setPropertyDefaultValue("Threads", "1")
    found.setPropertyDefaultValue("DeterministicForces", "true")
    return found


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Around calls of OpenMM and PDBFixer: what they raise becomes a RefinementError."""
    from openmm import OpenMMException

    try:
        yield
    except (OpenMMException, ValueError, KeyError, IndexError) as error:
        raise RefinementError(f"{what}: {type(error).__name__}: {error}"[:LONGEST_MESSAGE]) from error


def _near(partner: Complex) -> np.ndarray:
    """Atoms of the pairs of CA within `CUTOFF`: int, shape (n, 2)."""
    pairs = cKDTree(partner.xyz[partner.ca]).query_pairs(CUTOFF, output_type="ndarray")
    return partner.ca[pairs[np.lexsort(pairs.T)]]


def _pdb(partner: Complex) -> str:
    """PDB text for PDBFixer: every unbroken piece is a chain of its own."""
    lines, slices = [], partner.atom_slices
    for piece in pieces(partner):
        for residue in piece.tolist():
            for atom in range(slices[residue], slices[residue + 1]):
                name, (x, y, z) = partner.atom_names[atom].decode(), partner.xyz[atom]
                lines.append(
                    f"ATOM  {len(lines) % 100_000:5d} {name if len(name) > 3 else ' ' + name:<4} "
                    f"{partner.names[residue]} A{residue % 10_000:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
                    f"          {name[0]:>2}"
                )
        lines.append("TER")
    return "\n".join([*lines, "END", ""])


def _complex(partner: Complex, modeller: Any) -> Complex:
    """The partner's residues with the atoms of OpenMM's model."""
    from openmm.unit import angstrom

    atoms = list(modeller.topology.atoms())
    names = np.array([atom.name.encode() for atom in atoms], dtype="S8")
    residue_of = np.array([atom.residue.index for atom in atoms])
    ca = np.flatnonzero(names == b"CA")
    if [atom.residue.name for atom in atoms if atom.name == "CA"] != list(partner.names):
        raise RefinementError("OpenMM changed the residues of the partner")
    xyz = np.array(modeller.positions.value_in_unit(angstrom), dtype=float)
    return replace(partner, xyz=xyz, atom_names=names, residue_of=residue_of, ca=ca)
