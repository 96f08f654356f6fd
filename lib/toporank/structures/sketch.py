"""A quick look into a structure file: its models and the sequences of its protein chains, without atoms.

Only where sequences are those of antibodies, T-cell receptors or MHC molecules it looks at atoms, too: they say which
chains belong together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import gemmi
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from toporank.errors import StructureError
from toporank.structures.columns import COORDINATES, RESIDUE, PdbText
from toporank.structures.complex import STANDARD
from toporank.structures.immune import Pair, Trace, may_pair, pairs_of
from toporank.structures.molecules import READ_AS_ONE, SEVERAL
from toporank.structures.read import gemmi_mmcif, model_of, pdb_text, reading, residues_of
from toporank.structures.stored import PER_ANGSTROM

DOT, PLACES = 4, np.array([1_000_000, 100_000, 10_000, 1000, 0, 100, 10, 1], dtype=np.int32)
"""Of a coordinate of eight columns: where its decimal point is, and what each digit is worth, in 0.001 Å."""
MIXED = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)
"""Factors that make one number of three coordinates."""
FARTHEST = 1e6
"""Å. Farther away are atoms of unknown place."""
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
    places : of each model, a digest of where its atoms are, in 0.001 Å, whatever the format; none where it is not known
    notes : which of its chains are several molecules, or may be, a sentence each
    pairs : chains of the first model that belong together, and of each of the further ones, if there are any
    """

    models: tuple[int, ...]
    chains: Chains
    further: tuple[Chains, ...] = ()
    content: str = ""
    places: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    pairs: tuple[tuple[Pair, ...], ...] = ()

    def of_model(self, place: int) -> Chains:
        """The chains of a model. place : in the file, from 1; 0 for the only one."""
        return self.further[place - 2] if place > 1 and self.further else self.chains

    def atoms_of(self, place: int) -> str:
        """What two models have in common that are copies; empty where it is not known. place : as for `of_model`."""
        return self.places[max(place, 1) - 1] if self.places else ""

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
        chains, notes = _chains(first)
        further = [_chains(model)[0] for model in others]
        found = _sketch((first.num, *(model.num for model in others)), chains, further, notes)
        found = found._replace(places=_places_of(structure))
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
    first, notes = _chains(model_of(lines, 0)[0])
    further = []
    like_first = _residues(lines, 0) if len(lines.models) > 1 and len(first) > 1 else b""
    for place in range(1, len(lines.models) if like_first else 0):
        further.append(first if _residues(lines, place) == like_first else _chains_if_read(lines, place))
    found = _sketch(tuple(model.number for model in lines.models), first, further, notes)
    return found._replace(places=_places(lines))


def _sketch(models: tuple[int, ...], first: Chains, further: list[Chains], notes: tuple[str, ...]) -> Sketch:
    differ = any(chains != first for chains in further)
    return Sketch(models, first, tuple(further) if differ else (), notes=notes)


def _places(lines: PdbText) -> tuple[str, ...]:
    """The digest of each model of PDB text."""
    digests = []
    for _, first, stop in lines.models:
        atoms = lines.atoms[slice(*np.searchsorted(lines.atoms, [first, stop]))]
        columns = sliding_window_view(lines.data, COORDINATES.stop - COORDINATES.start)
        signs = columns[lines.starts[atoms] + COORDINATES.start].reshape(-1, 3, 8)
        digests.append(_digest(_thousandths(signs)))
    return tuple(digests)


def _places_of(structure: gemmi.Structure) -> tuple[str, ...]:
    """The digest of each model of a structure; none where names are too long for gemmi's arrays."""
    try:
        positions = gemmi.FlatStructure(structure).pos
    except RuntimeError:
        return ()
    ends = np.cumsum([model.count_atom_sites() for model in structure])
    return tuple(_digest(_whole(of_model)) for of_model in np.split(positions, ends[:-1]))


def _thousandths(signs: np.ndarray) -> np.ndarray | None:
    """Coordinates in 0.001 Å, int, shape (A, 3); None where they are not written as PDB files have them.

    signs : uint8, shape (A, 3, 8), their columns, such as `-12.345`
    """
    digits = signs - np.uint8(ord("0"))
    is_digit = digits < 10
    minus = signs == ord("-")
    known = is_digit | minus | (signs == ord(" "))
    known[..., DOT] = signs[..., DOT] == ord(".")
    if not known.all() or not is_digit[..., DOT + 1 :].all():
        return None
    whole = np.where(is_digit, digits, 0).astype(np.int32) @ PLACES
    return np.where(minus.any(axis=-1), -whole, whole)


def _whole(positions: np.ndarray) -> np.ndarray | None:
    """Coordinates in 0.001 Å, int, shape (A, 3); None where some are no numbers. positions : in Å."""
    known = np.isfinite(positions) & (np.abs(positions) < FARTHEST)
    return np.rint(positions * PER_ANGSTROM).astype(np.int32) if known.all() else None


def _digest(places: np.ndarray | None) -> str:
    """A digest of where atoms are, in 0.001 Å, int, shape (A, 3), in any order; empty where it is not known."""
    if places is None:
        return ""
    ordered = np.sort((places.astype(np.int64).view(np.uint64) * MIXED).sum(axis=1))
    return hashlib.blake2b(ordered.tobytes(), digest_size=12).hexdigest()


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
    """The chains of a model, and which of the names in the file stand for several molecules, or may."""
    found, notes = residues_of(model)
    chains: dict[str, list[str]] = {}
    for name, parent in zip(found.chains, found.parents, strict=True):
        if parent:
            chains.setdefault(name, []).append(STANDARD.get(parent, "X"))
    several = tuple(note for note in notes if SEVERAL in note or READ_AS_ONE in note)
    return tuple((name, "".join(letters)) for name, letters in chains.items()), several
