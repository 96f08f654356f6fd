"""A quick look into a structure file: its models and the sequences of its protein chains, without atoms."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import gemmi
import numpy as np

from toporank.structures.columns import PdbModel, PdbText, word
from toporank.structures.complex import STANDARD
from toporank.structures.read import check_names, gemmi_mmcif, gemmi_pdb, parent_of, pdb_text, reading

RESIDUE = (slice(17, 25), slice(25, 27), slice(72, 76))
"""Columns of a PDB record that tell residues apart: name, chain, number, insertion code and segment."""
NAME, ATOM = slice(16, 20), slice(12, 16)
"""Columns of alternate location and residue name, and of the atom name."""
_STANDARD = [word(name.encode()) for name in STANDARD]
_CA = [word(name) for name in (b" CA ", b"CA  ", b"  CA")]


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
        return _sketch_pdb(pdb_text(text)) if file_format == "pdb" else _sketch_mmcif(text)


def _sketch_pdb(lines: PdbText) -> Sketch:
    if not lines.models:
        return _of(gemmi_pdb(lines.text), ())
    first = lines.models[0]
    structure = gemmi_pdb(_few_atoms(lines, first))
    lines.check(first)
    return _of(structure, tuple(model.number for model in lines.models))


def _sketch_mmcif(text: str) -> Sketch:
    _, structure, _ = gemmi_mmcif(text)
    return _of(structure, tuple(model.num for model in structure))


def _of(structure: gemmi.Structure, models: tuple[int, ...]) -> Sketch:
    """The sketch of gemmi's structure, whose first model is looked at."""
    chains: dict[str, list[str]] = {}
    for chain in structure[0]:
        parents = filter(None, (parent_of(residue, residue.name) for residue in chain))
        chains.setdefault(chain.name, []).extend(STANDARD.get(parent, "X") for parent in parents)
    check_names("chain name", set(chains))
    return Sketch(models, tuple((name, "".join(letters)) for name, letters in chains.items() if letters))


def _few_atoms(lines: PdbText, model: PdbModel) -> bytes:
    """The text of a model with the first atom and the CA of each of the 20 amino acids, and all atoms of others."""
    atoms = lines.atoms[slice(*np.searchsorted(lines.atoms, [model.first, model.stop]))]
    needed = ~np.isin(lines.numbers(NAME, atoms) >> 8, _STANDARD) | np.isin(lines.numbers(ATOM, atoms), _CA)
    for columns in RESIDUE:
        numbers = lines.numbers(columns, atoms)
        needed[1:] |= numbers[1:] != numbers[:-1]
    needed[0] = True
    bounds = zip(lines.starts[atoms[needed]].tolist(), lines.starts[atoms[needed] + 1].tolist(), strict=True)
    return lines.lines(0, atoms[0]) + b"".join([lines.text[start:stop] for start, stop in bounds])
