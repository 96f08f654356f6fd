"""A quick look into a structure file: its models and the sequences of its protein chains, without atoms."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import gemmi
import numpy as np

from toporank.errors import StructureError
from toporank.structures.columns import RESIDUE, PdbText
from toporank.structures.complex import STANDARD
from toporank.structures.molecules import SEVERAL
from toporank.structures.read import gemmi_mmcif, model_of, pdb_text, reading, residues_of

Chains = tuple[tuple[str, str], ...]
"""Name and sequence of each protein chain of a model, in the order of the file. A sequence has a letter for each
protein residue, as `read_complex` counts them: X for an unknown one, M for MSE."""


class Sketch(NamedTuple):
    """What a structure file holds.

    Attributes
    ----------
    models : the number of each model as the file has it; a file without MODEL records has one model, number 1
    chains : of the first model
    further : of each further model, if one of them has other chains; none where they cannot be read
    content : SHA-256 of the file, where it is known
    notes : which of its chains are several molecules, a sentence each
    """

    models: tuple[int, ...]
    chains: Chains
    further: tuple[Chains, ...] = ()
    content: str = ""
    notes: tuple[str, ...] = ()

    def of_model(self, place: int) -> Chains:
        """The chains of a model. place : in the file, from 1; 0 for the only one."""
        return self.further[place - 2] if place > 1 and self.further else self.chains


def sketch(path: Path) -> Sketch:
    """Look into a structure file.

    Raises StructureError where `read_complex` does, but does not see what is wrong with atoms and distances.
    """
    with reading(path) as (file_format, text):
        if file_format == "pdb":
            return _of_pdb(pdb_text(text))
        first, *others = gemmi_mmcif(text)[1]
        chains, notes = _chains(first)
        further = [_chains(model)[0] for model in others]
        return _sketch((first.num, *(model.num for model in others)), chains, further, notes)


def _of_pdb(lines: PdbText) -> Sketch:
    first, notes = _chains(model_of(lines, 0)[0])
    further = []
    like_first = _residues(lines, 0) if len(lines.models) > 1 and len(first) > 1 else b""
    for place in range(1, len(lines.models) if like_first else 0):
        further.append(first if _residues(lines, place) == like_first else _chains_if_read(lines, place))
    return _sketch(tuple(model.number for model in lines.models), first, further, notes)


def _sketch(models: tuple[int, ...], first: Chains, further: list[Chains], notes: tuple[str, ...]) -> Sketch:
    differ = any(chains != first for chains in further)
    return Sketch(models, first, tuple(further) if differ else (), notes=notes)


def _residues(lines: PdbText, place: int) -> bytes:
    """The columns that name the residue of every atom of a model: equal ones have equal chains."""
    bounds = np.searchsorted(lines.atoms, lines.models[place][1:])
    atoms = lines.atoms[slice(*bounds)]
    return b"".join(lines.numbers(columns, atoms).tobytes() for columns in RESIDUE)


def _chains_if_read(lines: PdbText, place: int) -> Chains:
    try:
        return _chains(model_of(lines, place)[0])[0]
    except StructureError:  # reading this model fails later, with the reason
        return ()


def _chains(model: gemmi.Model) -> tuple[Chains, tuple[str, ...]]:
    """The chains of a model, and which of the names in the file stand for several molecules."""
    found, notes = residues_of(model)
    chains: dict[str, list[str]] = {}
    for name, parent in zip(found.chains, found.parents, strict=True):
        if parent:
            chains.setdefault(name, []).append(STANDARD.get(parent, "X"))
    several = tuple(note for note in notes if SEVERAL in note)
    return tuple((name, "".join(letters)) for name, letters in chains.items()), several
