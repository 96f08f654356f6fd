"""A quick look into a structure file: its models and the sequences of its protein chains, without atoms."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import gemmi

from toporank.structures.complex import STANDARD
from toporank.structures.read import gemmi_mmcif, model_of, pdb_text, reading, residues_of


class Sketch(NamedTuple):
    """What a structure file holds.

    Attributes
    ----------
    models : the number of each model as the file has it; a file without MODEL records has one model, number 1
    chains : name and sequence of each protein chain of the first model, in the order of the file. Letters are one for
        each protein residue, as `read_complex` counts them: X for an unknown one, M for MSE.
    """

    models: tuple[int, ...]
    chains: tuple[tuple[str, str], ...]


def sketch(path: Path) -> Sketch:
    """Look into a structure file.

    Raises StructureError where `read_complex` does, but does not see what is wrong with atoms and distances.
    """
    with reading(path) as (file_format, text):
        if file_format == "pdb":
            lines = pdb_text(text)
            return _of(model_of(lines, 0), tuple(model.number for model in lines.models))
        structure = gemmi_mmcif(text)[1]
        return _of(structure, tuple(model.num for model in structure))


def _of(structure: gemmi.Structure, models: tuple[int, ...]) -> Sketch:
    """The sketch of gemmi's structure, whose first model is looked at."""
    found, _ = residues_of(structure[0])
    chains: dict[str, list[str]] = {}
    for name, parent in zip(found.chains, found.parents, strict=True):
        if parent:
            chains.setdefault(name, []).append(STANDARD.get(parent, "X"))
    return Sketch(models, tuple((name, "".join(letters)) for name, letters in chains.items()))
