"""Structure files into `Complex`: PDB and mmCIF, plain or compressed, through gemmi.

`StructureFile` reads a file once and parses each of its models once, whatever is asked of them.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import gemmi
import numpy as np

from toporank.chains.chain import ChainSequences, ResidueId, chains_by_name
from toporank.chains.immune import Pair, may_pair, pairs_of
from toporank.errors import StructureError
from toporank.files.state import state_of
from toporank.structures.chains import residues_of
from toporank.structures.complex import STANDARD, Complex
from toporank.structures.density import check_density
from toporank.structures.experiment import of_mmcif, of_pdb
from toporank.structures.identity import structure_format
from toporank.structures.mmcif_text import parse_mmcif
from toporank.structures.model_atoms import complex_of_model
from toporank.structures.model_residue import ModelResidue
from toporank.structures.model_shape import shape_of
from toporank.structures.molecules import about_molecules
from toporank.structures.parts import join_parts, with_ter_where_numbers_go_back
from toporank.structures.pdb_text import PdbText
from toporank.structures.residue_names import is_modified, with_short_names
from toporank.structures.sketch import Modified, Sketch
from toporank.structures.text import parsing, read_content, read_text

BEFORE_CHARGE = 78
"""Columns of a PDB line that are read: some programs do not write a charge into the charge columns.
"""
A_FEW = 5
"""Residues between two CA atoms whose distance tells the shape of a chain."""
BENT = 0.1
"""Å, change of these distances on average; rounding alone changes them by less."""
FEWEST_B_FACTORS = 5
"""Different values by which the B factors of a chain are recognised in another model."""


def read_complex(
    path: Path, model: int | None = None, content: bytes | None = None
) -> Complex:
    """Read one model of a structure file.

    Of alternate locations the one with the highest occupancy is kept, and of equal ones the first.
    Modified amino acids count as their parent (`MSE` as `MET`). What was decided is in
    `Complex.notes`.

    Parameters
    ----------
    path : PDB or mmCIF file, compressed or not
    model : its position, from 0. None takes the first, and a note says so where there are more
    content : of the file, where it was read before

    Returns
    -------
    Complex

    Raises
    ------
    StructureError : the file cannot be read, is not what its suffix says, has no such model, holds
        no atoms, or holds invalid numbers

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> complex_ = read_complex(example / "decoys/1PPE/near1.pdb.gz")
    >>> complex_.chains, complex_.xyz.shape
    (['A', 'B'], (1851, 3))
    """
    return open_structure(path, content).complex(model)


_last_opened: dict[tuple, StructureFile] = {}
"""The file that was opened last, by its path and state."""


def open_structure(path: Path, content: bytes | None = None) -> StructureFile:
    """Open a structure file; the same object as before if it is the last one and has not changed.

    So the sketch, the complex and the B factors of a file take one read and one parse.

    Parameters
    ----------
    path : PDB or mmCIF file, compressed or not
    content : of the file, where it was read before

    Returns
    -------
    file : gives models as complexes

    Raises
    ------
    StructureError : it cannot be read
    ConfigError : its name is not that of a structure

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> file = open_structure(example / "decoys/1PPE/near1.pdb.gz")
    >>> len(file.complex().residues)
    252
    """
    try:
        state = state_of(path)
    except OSError:
        return StructureFile(path, content)
    if content is not None and len(content) != state.size:
        return StructureFile(path, content)
    key = path, state
    file = _last_opened.get(key)
    if file is None:
        file = StructureFile(path, content)
        _last_opened.clear()
        _last_opened[key] = file
    return file


class ParsedModel(NamedTuple):
    """A model of a file: gemmi's structure of it alone, its residues, and notes on them."""

    structure: gemmi.Structure
    residues: list[ModelResidue]
    notes: list[str]


class StructureFile:
    """A structure file, read once.

    Parameters
    ----------
    path : PDB or mmCIF file, compressed or not
    content : of the file, where it was read before

    Attributes
    ----------
    format : `pdb` or `mmcif`
    text : unpacked
    model_numbers : of each model, as the file has it; empty for a PDB file without atoms
    block : of an mmCIF file the block with the structure, else None
    sha256 : of the file as it is

    Raises
    ------
    StructureError : the file cannot be read or is not what its suffix says
    """

    def __init__(self, path: Path, content: bytes | None = None):
        self.path = path
        self.format, _ = structure_format(path)
        content = read_content(path) if content is None else content
        self.sha256 = hashlib.sha256(content).hexdigest()
        self.text = read_text(path, content)
        self.block: gemmi.cif.Block | None = None
        self._lines: PdbText | None = None
        self._last: dict[int, ParsedModel] = {}
        self._last_complex: dict[int | None, Complex] = {}
        with self._naming_file():
            if self.format == "pdb":
                self._lines = _pdb_lines(self.text)
                self.model_numbers = tuple(model.number for model in self._lines.models)
                self._notes: list[str] = []
            else:
                self.block, self._structure, self._notes = parse_mmcif(self.text)
                self.model_numbers = tuple(model.num for model in self._structure)

    def complex(self, model: int | None = None) -> Complex:
        """One of its models, as `read_complex` gives it."""
        if model not in self._last_complex:
            self._last_complex = {model: self._complex(model)}
        return self._last_complex[model]

    def _complex(self, model: int | None) -> Complex:
        with self._naming_file():
            n_models = max(len(self.model_numbers), 1)
            models = "one model" if n_models == 1 else f"{n_models} models"
            if model is not None and not 0 <= model < n_models:
                what = f"no model {model + 1}, only {models}"
                raise StructureError(what, remedy="was the file changed? run again")
            parsed = self._parse(model or 0)
            notes = list(self._notes)
            if model is None and n_models > 1:
                if len(self._chain_names()) < 2:
                    models = f"an ensemble of {models} of one chain"
                notes.append(f"{models}, the first is used")
            notes += self._notes_on_lines(model or 0) + parsed.notes
            complex_ = complex_of_model(
                parsed.structure,
                parsed.residues,
                notes,
                with_labels=self.format == "mmcif",
            )
            check_density(complex_)
            return complex_

    @functools.cached_property
    def is_crystal(self) -> bool:
        """Whether the file has the cell of a crystal; programs write cells of lengths 0 and 1."""
        structure = self._parse(0).structure if self.block is None else self._structure
        return structure.cell.is_crystal() and structure.cell.volume > 1

    def parsed(self, model: int | None = None) -> ParsedModel:
        """One of its models before it becomes a complex; None takes the first.

        Raises StructureError.
        """
        with self._naming_file():
            return self._parse(model or 0)

    def sketch(self) -> Sketch:
        """Look at the chains of all models.

        Raises StructureError when the first cannot be parsed.
        """
        with self._naming_file():
            first = self._parse(0)
            chains, pairs = _chains_and_pairs(first)
            chains_of, pairs_of_models = [chains], [pairs]
            modified_of = [_modified(first)]
            n_models = len(self.model_numbers)
            shapes = [self._shape(None if n_models < 2 else 0)] if n_models else []
            bends = [_distances(first)] if n_models > 1 else []
            b_factors = [_b_factors_of_chains(first)]
            for position in range(1, len(self.model_numbers)):
                chains_of_model, pairs_of_model, modified, shape = (), (), (), ""
                of_chains: tuple[str, ...] = ()
                # Reading a model that cannot be parsed fails later, with the reason.
                with contextlib.suppress(StructureError):
                    model = self._parse(position)
                    chains_of_model, pairs_of_model = _chains_and_pairs(model)
                    modified = _modified(model)
                    shape = self._shape(position)
                    if position in (1, len(self.model_numbers) - 1):
                        bends.append(_distances(model))
                    of_chains = _b_factors_of_chains(model)
                chains_of.append(chains_of_model)
                pairs_of_models.append(pairs_of_model)
                modified_of.append(modified)
                shapes.append(shape)
                b_factors.append(of_chains)
            if chains_of.count(chains) == len(chains_of):
                chains_of, pairs_of_models = [chains], [pairs]
                modified_of = modified_of[:1]
            experiment = (
                of_pdb(self.text) if self.block is None else of_mmcif(self.block)
            )
            return Sketch(
                models=self.model_numbers,
                chains=chains,
                further=tuple(chains_of[1:]),
                shapes=tuple(shapes),
                notes=tuple(about_molecules(first.notes)),
                pairs=tuple(pairs_of_models) if any(pairs_of_models) else (),
                modified=tuple(modified_of) if any(modified_of) else (),
                experiment=experiment.method,
                entry=experiment.entry,
                bends=_bends(bends),
                b_factors=tuple(b_factors) if any(b_factors) else (),
            )

    def _shape(self, model: int | None) -> str:
        """The shape of a model; empty where it cannot be used."""
        try:
            return shape_of(self.complex(model))
        except StructureError:
            return ""

    def _parse(self, position: int) -> ParsedModel:
        if position not in self._last:
            structure = self._structure_of(position)
            if len(structure) == 0 or structure[0].count_atom_sites() == 0:
                what = f"no atoms found in this {self.format} file"
                raise StructureError(what, remedy="truncated or another format?")
            self._last = {position: ParsedModel(structure, *residues_of(structure))}
        return self._last[position]

    def _structure_of(self, position: int) -> gemmi.Structure:
        """gemmi's structure of one model."""
        if self._lines is not None:
            text, n_lines_before = with_ter_where_numbers_go_back(self._lines, position)
            with parsing("pdb", n_lines_before):
                structure = gemmi.read_pdb_string(
                    text, max_line_length=BEFORE_CHARGE, split_chain_on_ter=True
                )
            self._lines.check(position)
            return structure
        if len(self._structure) < 2:
            return self._structure
        structure = gemmi.Structure()
        structure.add_model(self._structure[position])
        return structure

    def _chain_names(self) -> set[str]:
        """The names of the chains of all models, as they stand in the file."""
        if self._lines is not None:
            return self._lines.chain_names()
        names = set()
        for model in self._structure:
            names.update(chain.name for chain in model)
        return names

    def _notes_on_lines(self, position: int) -> list[str]:
        """What was changed in the lines of a model before it was parsed."""
        if self._lines is None:
            return []
        first, stop = 0, len(self._lines.starts)
        if self._lines.models:
            _, first, stop = self._lines.models[position]
        changes = Counter(
            words for line, words in self._lines.changes if first <= line < stop
        )
        return [f"{count} {words}" for words, count in changes.items()]

    @contextlib.contextmanager
    def _naming_file(self) -> Iterator[None]:
        """Errors name the file."""
        try:
            yield
        except StructureError as error:
            raise type(error)(
                error.what, where=self.path, remedy=error.remedy
            ) from error


def _pdb_lines(text: str) -> PdbText:
    """PDB text by lines, with residue names of three letters.

    It has no END between the parts of one complex.

    Raises StructureError when it is mmCIF.
    """
    if "_atom_site" in text and re.search(r"^[ \t]*_atom_site\.", text, re.MULTILINE):
        raise StructureError(
            "not a readable pdb file: this is mmCIF", remedy="rename it to end in .cif"
        )
    # gemmi counts columns in bytes
    lines = PdbText(text.encode("ascii", errors="replace"))
    return join_parts(with_short_names(lines))


def _chains_and_pairs(model: ParsedModel) -> tuple[ChainSequences, tuple[Pair, ...]]:
    """The protein chains of a model, and those that belong together by nature."""
    protein = [residue for residue in model.residues if residue.parent]
    letters = [STANDARD.get(residue.parent, "X") for residue in protein]
    sequences: dict[str, str] = {}
    for residue, letter in zip(protein, letters, strict=True):
        sequences[residue.chain] = sequences.get(residue.chain, "") + letter
    pairs: list[Pair] = []
    # few may, and places take as long as all the rest
    if may_pair([*sequences.values()]):
        residues = [ResidueId(each.chain, each.number or 0) for each in protein]
        ca = np.array([residue.ca_place() for residue in protein])
        pairs = pairs_of(chains_by_name(residues, letters, ca))
    return tuple(sequences.items()), tuple(pairs)


def _modified(model: ParsedModel) -> tuple[Modified, ...]:
    """The residues of a model that are no amino acids of the genetic code, but modified ones."""
    found = []
    lengths: Counter[str] = Counter()
    for residue in model.residues:
        if residue.parent:
            if is_modified(residue.name):
                found.append((residue.chain, lengths[residue.chain], residue.name))
            lengths[residue.chain] += 1
    return tuple(found)


def _distances(model: ParsedModel) -> np.ndarray:
    """Å between each CA atom of a model and one a few residues on in its chain; nan without one."""
    protein = [residue for residue in model.residues if residue.parent]
    ca = np.array([residue.ca_place() for residue in protein]).reshape(-1, 3)
    chain = np.array([residue.chain for residue in protein])
    apart = np.linalg.norm(ca[A_FEW:] - ca[:-A_FEW], axis=1)
    return np.where(chain[A_FEW:] == chain[:-A_FEW], apart, np.nan)


def _bends(distances: list[np.ndarray]) -> bool:
    """Whether chains have other shapes in other models; those of docked poses keep theirs."""
    for other in distances[1:]:
        if len(other) == len(distances[0]):
            change = np.abs(other - distances[0])
            change = change[np.isfinite(change)]
            if len(change) and change.mean() > BENT:
                return True
    return False


def _b_factors_of_chains(model: ParsedModel) -> tuple[str, ...]:
    """A digest of the B factors of the CA atoms of each protein chain, in order of digests.

    Chains of few or like values have none.
    """
    values: dict[str, list[float]] = {}
    for residue in model.residues:
        ca = residue.atom("CA") if residue.parent else None
        if ca:
            values.setdefault(residue.chain, []).append(round(ca.b_iso, 2))
    digests = []
    for of_chain in values.values():
        if len(set(of_chain)) >= FEWEST_B_FACTORS:
            text = repr(of_chain).encode()
            digests.append(hashlib.blake2b(text, digest_size=12).hexdigest())
    return tuple(sorted(digests))
