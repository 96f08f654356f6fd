"""A residue of a model, before it becomes a row of a `Complex`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import gemmi
import numpy as np

from toporank.structures.complex import STANDARD
from toporank.structures.residue_names import PEPTIDE_BOND


@dataclass(slots=True)
class ModelResidue:
    """A residue of a model.

    Attributes
    ----------
    residue : as gemmi has it
    place : among all residues of the model
    part : which stretch of one chain in the file it stands in; TER records part them, too
    chain : name of its chain
    of_file : what the file calls that
    name : as in the file
    parent : the standard residue it counts as, `UNK` if there is none, and `""` for what is not
        protein
    number, code : its number, 0 without one, and its insertion code
    """

    residue: gemmi.Residue
    place: int
    part: int
    chain: str
    of_file: str
    name: str
    parent: str
    number: int
    code: str

    @property
    def has_number(self) -> bool:
        """Whether the file numbers it."""
        return self.residue.seqid.num is not None

    def atom(self, name: str) -> gemmi.Atom | None:
        """Its first atom of this name."""
        return self.residue.find_atom(name, "*")

    def ca_place(self) -> list[float]:
        """Å, x, y and z of its CA; nan where it has none."""
        ca = self.atom("CA")
        return ca.pos.tolist() if ca else [math.nan] * 3

    def distance(self, other: ModelResidue) -> float:
        """Å between the CA atoms of two residues, or their first atoms."""
        first = self.atom("CA") or self.residue[0]
        second = other.atom("CA") or other.residue[0]
        return first.pos.dist(second.pos)

    def bonded(self, following: ModelResidue) -> bool | None:
        """Whether a peptide bond joins it to a residue that comes after.

        None where C or N is missing.
        """
        c = self.atom("C")
        n = following.atom("N")
        return c.pos.dist(n.pos) <= PEPTIDE_BOND if c and n else None


def ca_places(residues: list[ModelResidue]) -> np.ndarray:
    """Return the places of CA atoms, shape (n, 3), Å; nan where a residue has none."""
    return np.array([residue.ca_place() for residue in residues]).reshape(-1, 3)


def n_atoms_of(residues: list[ModelResidue]) -> list[int]:
    """Return the number of atoms of each residue."""
    return [len(residue.residue) for residue in residues]


def letters_of(residues: list[ModelResidue]) -> list[str]:
    """Return one-letter codes of residues as their parents, `X` for others."""
    return [STANDARD.get(residue.parent, "X") for residue in residues]
