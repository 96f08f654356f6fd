"""A quick look into a structure file: its models and the sequences of its protein chains, without atoms.

Only where sequences are those of antibodies, T-cell receptors or MHC molecules it looks at atoms, too: they say which
chains belong together.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import gemmi
import numpy as np

from toporank.errors import StructureError
from toporank.structures.columns import RESIDUE, PdbText
from toporank.structures.complex import STANDARD
from toporank.structures.immune import Pair, Trace, may_pair, pairs_of
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
    pairs : chains of the first model that belong together, and of each of the further ones, if there are any
    """

    models: tuple[int, ...]
    chains: Chains
    further: tuple[Chains, ...] = ()
    content: str = ""
    pairs: tuple[tuple[Pair, ...], ...] = ()

    def of_model(self, place: int) -> Chains:
        """The chains of a model. place : in the file, from 1; 0 for the only one."""
        return self.further[place - 2] if place > 1 and self.further else self.chains

    def pairs_of_model(self, place: int) -> tuple[Pair, ...]:
        """The chains of a model that belong together. place : as for `of_model`."""
        if not self.pairs:
            return ()
        return self.pairs[place - 1] if place > 1 and self.further else self.pairs[0]


def sketch(path: Path) -> Sketch:
    """Look into a structure file.

    Raises StructureError where `read_complex` does, but does not see what is wrong with atoms and distances.
    """
    with reading(path) as (file_format, text):
        if file_format == "pdb":
            lines = pdb_text(text)
            return _with_pairs(_of_pdb(lines), lambda place: model_of(lines, place)[0])
        structure = gemmi_mmcif(text)[1]
        first, *others = structure
        further = [_chains(model) for model in others]
        found = _sketch((first.num, *(model.num for model in others)), _chains(first), further)
        return _with_pairs(found, lambda place: structure[place])


def _with_pairs(found: Sketch, model: Callable[[int], gemmi.Model]) -> Sketch:
    """A sketch with the chains that belong together. model : by its place in the file, from 0."""
    pairs: list[tuple[Pair, ...]] = []
    for place, chains in enumerate((found.chains, *found.further)):
        could = may_pair([sequence for _, sequence in chains])
        pairs.append(tuple(pairs_of(_traces(model(place)))) if could else ())
    return found._replace(pairs=tuple(pairs) if any(pairs) else ())


def _traces(model: gemmi.Model) -> dict[str, Trace]:
    """The protein chains of a model with their CA atoms."""
    found, _ = residues_of(model)
    letters: dict[str, list[str]] = {}
    positions: dict[str, list[list[float]]] = {}
    numbers: dict[str, list[int]] = {}
    for residue, name, parent in zip(found.residues, found.chains, found.parents, strict=True):
        if parent:
            ca = residue.find_atom("CA", "*")
            letters.setdefault(name, []).append(STANDARD.get(parent, "X"))
            positions.setdefault(name, []).append(ca.pos.tolist() if ca else [np.nan] * 3)
            numbers.setdefault(name, []).append(residue.seqid.num or 0)
    return {name: Trace("".join(letters[name]), np.array(positions[name]), numbers[name]) for name in letters}


def _of_pdb(lines: PdbText) -> Sketch:
    first, further = _chains(model_of(lines, 0)[0]), []
    like_first = _residues(lines, 0) if len(lines.models) > 1 and len(first) > 1 else b""
    for place in range(1, len(lines.models) if like_first else 0):
        further.append(first if _residues(lines, place) == like_first else _chains_if_read(lines, place))
    return _sketch(tuple(model.number for model in lines.models), first, further)


def _sketch(models: tuple[int, ...], first: Chains, further: list[Chains]) -> Sketch:
    return Sketch(models, first, tuple(further) if any(chains != first for chains in further) else ())


def _residues(lines: PdbText, place: int) -> bytes:
    """The columns that name the residue of every atom of a model: equal ones have equal chains."""
    bounds = np.searchsorted(lines.atoms, lines.models[place][1:])
    atoms = lines.atoms[slice(*bounds)]
    return b"".join(lines.numbers(columns, atoms).tobytes() for columns in RESIDUE)


def _chains_if_read(lines: PdbText, place: int) -> Chains:
    try:
        return _chains(model_of(lines, place)[0])
    except StructureError:  # reading this model fails later, with the reason
        return ()


def _chains(model: gemmi.Model) -> Chains:
    found, _ = residues_of(model)
    chains: dict[str, list[str]] = {}
    for name, parent in zip(found.chains, found.parents, strict=True):
        if parent:
            chains.setdefault(name, []).append(STANDARD.get(parent, "X"))
    return tuple((name, "".join(letters)) for name, letters in chains.items())
