"""What the structure file of a model says of confidence, and nothing else does."""

from __future__ import annotations

import json
from typing import NamedTuple

from toporank.inputs.confidence.bfactors import BFactors, b_factors, written_by_toporank
from toporank.inputs.confidence.haddock import Haddock, of_header
from toporank.structures.identity import ResidueId
from toporank.structures.read import StructureFile


class InFile(NamedTuple):
    """What is in the file of a model, kept beside its atoms, so that the file is read once.

    Attributes
    ----------
    by_toporank : whether TopoRank wrote the file
    haddock : of the header, None where HADDOCK did not write it
    b_factors : that may be pLDDT
    """

    by_toporank: bool
    haddock: Haddock | None
    b_factors: BFactors | None

    @classmethod
    def of(cls, file: StructureFile, model: int | None = None) -> InFile:
        """From an opened file. model : its place in the file, from 0, if there are several.

        Raises StructureError when the model cannot be parsed.
        """
        return cls(
            by_toporank=written_by_toporank(file.text, file.format),
            haddock=of_header(file.text) if file.format == "pdb" else None,
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
        by_toporank, header, values = json.loads(content)
        if values:
            values = BFactors(*values)
            of_residues = {
                ResidueId(*residue): value for residue, value in values.of_residues
            }
            values = values._replace(of_residues=of_residues)
        return cls(by_toporank, Haddock(*header) if header else None, values)
