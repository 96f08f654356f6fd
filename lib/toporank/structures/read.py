"""Structure files into `Complex`: PDB and mmCIF, plain or compressed, through gemmi.

`StructureFile` reads a file once and parses each of its models once, whatever is asked of them.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import gemmi

from toporank.errors import StructureError
from toporank.files.state import state_of
from toporank.structures.chains import ParsedModel, parse_model
from toporank.structures.complex import Complex
from toporank.structures.density import check_apart, check_density
from toporank.structures.experiment import Experiment, of_mmcif, of_pdb
from toporank.structures.identity import structure_format
from toporank.structures.mmcif_text import parse_mmcif
from toporank.structures.model_atoms import complex_of_model
from toporank.structures.parts import join_parts, with_ter_where_numbers_go_back
from toporank.structures.pdb_text import PdbText
from toporank.structures.residue_names import with_short_names
from toporank.structures.text import (
    format_of_text,
    parsing,
    read_content,
    read_text,
)

BEFORE_CHARGE = 78
"""Columns of a PDB line that are read: some programs do not write a charge into the charge columns.
"""


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


class StructureFile:
    """A structure file, read once.

    Parameters
    ----------
    path : PDB or mmCIF file, compressed or not
    content : of the file, where it was read before

    Attributes
    ----------
    format : `pdb` or `mmcif`, as its text is; what cannot be told from that, as its name says
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
        called, _ = structure_format(path)
        content = read_content(path) if content is None else content
        self.sha256 = hashlib.sha256(content).hexdigest()
        self.text = read_text(path, content)
        self.format = format_of_text(self.text) or called
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
            if parsed.refusal:
                raise parsed.refusal
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
            check_apart(complex_)
            written: tuple[tuple[str, str], ...] = ()
            if len(parsed.written) > len(parsed.residues):
                written = tuple(parsed.sequences.items())
            on_molecules = tuple(parsed.on_molecules)
            return replace(complex_, on_molecules=on_molecules, written=written)

    @functools.cached_property
    def is_crystal(self) -> bool:
        """Whether the file has the cell of a crystal; programs write cells of lengths 0 and 1."""
        structure = self._parse(0).structure if self.block is None else self._structure
        return structure.cell.is_crystal() and structure.cell.volume > 1

    @functools.cached_property
    def experiment(self) -> Experiment:
        """How the structure was measured, where the file says that it was."""
        return of_pdb(self.text) if self.block is None else of_mmcif(self.block)

    def parsed(self, model: int | None = None) -> ParsedModel:
        """One of its models before it becomes a complex; None takes the first.

        Raises StructureError.
        """
        with self._naming_file():
            return self._parse(model or 0)

    def _parse(self, position: int) -> ParsedModel:
        if position not in self._last:
            structure = self._structure_of(position)
            if len(structure) == 0 or structure[0].count_atom_sites() == 0:
                what = f"no atoms found in this {self.format} file"
                raise StructureError(what, remedy="truncated or another format?")
            self._last = {position: parse_model(structure)}
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
        names: set[str] = set()
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
    """
    # gemmi counts columns in bytes
    lines = PdbText(text.encode("ascii", errors="replace"))
    return join_parts(with_short_names(lines))
