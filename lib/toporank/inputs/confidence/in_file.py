"""What the structure file of a model says of confidence, and nothing else does."""

from __future__ import annotations

import json
from typing import NamedTuple

from toporank.chains.chain import ResidueId
from toporank.inputs.confidence.bfactors import BFactors, b_factors, written_by_toporank
from toporank.programs.catalogue import docked_by
from toporank.programs.program import Terms
from toporank.structures.read import StructureFile


class InFile(NamedTuple):
    """What is in the file of a model, kept beside its atoms, so that the file is read once.

    Attributes
    ----------
    by_toporank : whether TopoRank wrote the file
    docked_by : name of the docking program that wrote it, or nothing
    terms : of its score, by the header
    b_factors : that may be pLDDT
    """

    by_toporank: bool
    docked_by: str
    terms: Terms
    b_factors: BFactors | None

    @classmethod
    def of(cls, file: StructureFile, model: int | None = None) -> InFile:
        """From an opened file. model : its place in the file, from 0, if there are several.

        Raises StructureError when the model cannot be parsed.
        """
        docked = docked_by(file.text) if file.format == "pdb" else None
        return cls(
            by_toporank=written_by_toporank(file.text, file.format),
            docked_by=docked[0].name if docked else "",
            terms=docked[1] if docked else {},
            b_factors=b_factors(file, model),
        )

    def to_bytes(self) -> bytes:
        """As JSON."""
        values = self.b_factors
        if values:
            values = values._replace(of_residues=[*values.of_residues.items()])
        return json.dumps(self._replace(b_factors=values)).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> InFile:
        """The inverse of `to_bytes`."""
        stated = cls(*json.loads(content))
        if not stated.b_factors:
            return stated
        values = BFactors(*stated.b_factors)
        of_residues = {
            ResidueId(*residue): value for residue, value in values.of_residues
        }
        return stated._replace(b_factors=values._replace(of_residues=of_residues))
