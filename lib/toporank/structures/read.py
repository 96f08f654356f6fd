"""Structure files into `Complex`: PDB and mmCIF, plain or compressed, through gemmi."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import gemmi
import numpy as np

from toporank.errors import StructureError
from toporank.structures import hetero
from toporank.structures.columns import PdbModel, PdbText, check_mmcif, number_ligands
from toporank.structures.complex import STANDARD, Complex
from toporank.structures.copies import copies
from toporank.structures.density import check_density
from toporank.structures.identity import ResidueId, structure_format
from toporank.structures.molecules import chains_in_question, far_apart, part_molecules
from toporank.structures.oxygens import with_terminal_oxygens
from toporank.structures.parts import join_parts, with_ter_where_numbers_go_back
from toporank.structures.residue_names import READ_AS, amino_acid, with_short_names
from toporank.structures.side_chains import lacking_side_chains
from toporank.structures.text import read_text

BEFORE_CHARGE = 78
"""Columns of a PDB line that are read: some programs do not write a charge into the charge columns."""
MAX_COORDINATE = 9999.0
"""Å. Some programs write this, or more, for atoms whose place they do not know; no complex is as large."""
TWIN_DISTANCE = 1.0
"""Å between two CA atoms beyond which equal ids mean two residues."""

LONGEST_NAME = 100
"""Most letters of a residue or chain name."""
LONGEST_MESSAGE = 200
"""Letters of gemmi's messages that are repeated; some quote the file."""

ONE_TO_THREE = {one: three for three, one in STANDARD.items()}
BACKBONE = ("N", "CA", "C", "O")
"""Atoms that make a residue missing from all dictionaries an amino acid."""


def read_complex(path: Path, model: int | None = None, content: bytes | None = None) -> Complex:
    """Read one model of a structure file.

    model : its position, from 0. None takes the first, and a note says so where there are more.
    content : of the file, where it was read before.

    Of alternate locations the one with the highest occupancy is kept, and of equal ones the first.
    Modified amino acids count as their parent (`MSE` as `MET`). What was decided is in `Complex.notes`.

    Raises StructureError when the file cannot be read, is not what its suffix says, has no such model, holds no atoms,
    or holds invalid numbers.
    """
    with reading(path, content) as (file_format, text):
        structure, notes = parse_pdb(text, model) if file_format == "pdb" else parse_mmcif(text, model)[1:]
        complex_ = _complex(structure, notes, with_labels=file_format == "mmcif")
        check_density(complex_)
        return complex_


@contextlib.contextmanager
def reading(path: Path, content: bytes | None = None) -> Iterator[tuple[str, str]]:
    """Format (`pdb` or `mmcif`) and text of a structure file; what is wrong with them is said with the path."""
    file_format, _ = structure_format(path)
    text = read_text(path, content)
    try:
        yield file_format, text
    except StructureError as error:
        raise StructureError(error.what, where=path, remedy=error.remedy) from error


@contextlib.contextmanager
def _parsing(file_format: str) -> Iterator[None]:
    """Around calls of gemmi's parsers: what they raise becomes a StructureError."""
    try:
        yield
    except (RuntimeError, ValueError, IndexError) as error:
        reason = re.sub(r"^string:", "line ", str(error))[:LONGEST_MESSAGE]  # gemmi begins with source and line
        raise StructureError(f"not a readable {file_format} file: {reason}", remedy="make or fetch it again") from error


def pdb_text(text: str) -> PdbText:
    """PDB text by lines, with residue names of three letters, without END between the parts of one complex.

    Raises StructureError when it is mmCIF.
    """
    if "_atom_site" in text and re.search(r"^[ \t]*_atom_site\.", text, re.MULTILINE):
        raise StructureError("not a readable pdb file: this is mmCIF", remedy="rename it to end in .cif")
    lines = PdbText(text.encode("ascii", errors="replace"))  # gemmi counts columns in bytes
    return join_parts(with_short_names(lines))


def parse_pdb(text: str, model: int | None = None) -> tuple[gemmi.Structure, list[str]]:
    """PDB text into gemmi's structure of one model, and notes. Raises StructureError."""
    lines = pdb_text(text)
    _check_model(model, max(len(lines.models), 1))
    structure = model_of(lines, model or 0)
    several = model is None and len(lines.models) > 1
    notes = [_several(len(lines.models), lines.chain_names())] if several else []
    _, first, stop = lines.models[model or 0] if lines.models else PdbModel(1, 0, len(lines.starts))
    shortened = Counter(words for line, words in lines.shortened if first <= line < stop)
    return structure, notes + [f"{count} {words}" for words, count in shortened.items()]


def model_of(lines: PdbText, position: int) -> gemmi.Structure:
    """gemmi's structure of one model of PDB text. Raises StructureError when it is unfit or has no atoms."""
    text = with_ter_where_numbers_go_back(lines, position)
    with _parsing("pdb"):
        structure = gemmi.read_pdb_string(text, max_line_length=BEFORE_CHARGE, split_chain_on_ter=True)
    lines.check(position)
    return _with_atoms(structure, "pdb")


def parse_mmcif(text: str, model: int | None = None) -> tuple[gemmi.cif.Block, gemmi.Structure, list[str]]:
    """mmCIF text into the block that holds the structure, gemmi's structure of one model, and notes.

    Raises StructureError.
    """
    block, structure, notes = gemmi_mmcif(text)
    _check_model(model, len(structure))
    if model is None and len(structure) > 1:
        notes.append(_several(len(structure), {chain.name for each in structure for chain in each}))
    del structure[(model or 0) + 1 :]
    del structure[: model or 0]
    return block, _with_atoms(structure, "mmcif"), notes


def _check_model(model: int | None, count: int) -> None:
    if model is not None and not 0 <= model < count:
        there = "one model" if count == 1 else f"{count} models"
        raise StructureError(f"no model {model + 1}, only {there}", remedy="was the file changed? run again")


def _several(count: int, chains: set[str]) -> str:
    """The note on several models, by the names of all chains in them."""
    models = f"{count} models" if len(chains) > 1 else f"an ensemble of {count} models of one chain"
    return f"{models}, the first is used"


def _with_atoms(structure: gemmi.Structure, file_format: str) -> gemmi.Structure:
    """The structure, if its first model has atoms."""
    if len(structure) == 0 or structure[0].count_atom_sites() == 0:
        raise StructureError(f"no atoms found in this {file_format} file", remedy="truncated or another format?")
    return structure


def gemmi_mmcif(text: str) -> tuple[gemmi.cif.Block, gemmi.Structure, list[str]]:
    """mmCIF text into the first block with a structure, gemmi's structure of it, and notes. Raises StructureError."""
    table = "_atom_site." in text or "_atom_site." in text.lower()
    if not table and re.search(r"^(ATOM  |HETATM).{48}", text, re.MULTILINE):
        raise StructureError("not a readable mmcif file: this is PDB format", remedy="rename it to end in .pdb")
    with _parsing("mmcif"):
        blocks = [block for block in gemmi.cif.read_string(text) if block.find_values("_atom_site.Cartn_x")]
    if not blocks:
        raise StructureError("no _atom_site table in this mmcif file", remedy="make or fetch it again")
    check_mmcif(blocks[0])
    number_ligands(blocks[0])
    with _parsing("mmcif"):
        structure = gemmi.make_structure_from_block(blocks[0])
    notes = [f"{len(blocks)} structures in one file, the first is used"] if len(blocks) > 1 else []
    return blocks[0], _with_atoms(structure, "mmcif"), notes


class Residues(NamedTuple):
    """The residues of a model in the order of the file, with the name of the chain, their own and their parent's."""

    residues: list[gemmi.Residue]
    chains: list[str]
    names: list[str]
    parents: list[str]


def residues_of(model: gemmi.Model, *, whole: bool = True) -> tuple[Residues, list[str]]:
    """The residues of a model, and notes, after the copies of chains are removed from it. Raises StructureError.

    whole : whether a chain may still be several molecules under one name, which get names of their own.
    """
    _check_names("chain name", {chain.name for chain in model})
    residues = [list(chain) for chain in model]  # taken once: gemmi makes a new object each time
    chains = [[chain.name] * len(of_chain) for chain, of_chain in zip(model, residues, strict=True)]
    names = [[residue.name for residue in of_chain] for of_chain in residues]
    parents = [list(map(_parent, *of_chain)) for of_chain in zip(residues, names, strict=True)]
    in_question = chains_in_question(model, residues, parents)
    if whole and (new_names := part_molecules(model, in_question, residues, parents)):
        parted, further = residues_of(model, whole=False)
        return parted, new_names + further
    joined = far_apart(in_question) + hetero.join([chain.name for chain in model], residues, names, parents)
    original = copies(model, parents)
    if not original:
        return Residues(*(list(itertools.chain(*lists)) for lists in (residues, chains, names, parents))), joined
    for name in original:
        model.remove_chain(name)
    notes = [f"chain {copy} is a copy of chain {name} in the same place: left out" for copy, name in original.items()]
    found, joined = residues_of(model, whole=False)
    return found, notes + joined


def _parent(residue: gemmi.Residue, name: str) -> str:
    """The standard residue a residue counts as; `""` when it is not part of a protein chain."""
    if name in STANDARD:
        return name if residue.het_flag != "H" else ""  # a free amino acid is a ligand, see `hetero`
    if name in READ_AS:
        return READ_AS[name]
    info = gemmi.find_tabulated_residue(name)
    if not info.found():
        return amino_acid(name) or "UNK" if all(atom in residue for atom in BACKBONE) else ""
    if not info.is_amino_acid() or "CA" not in residue:
        return ""
    return ONE_TO_THREE.get(info.one_letter_code.upper(), "UNK")


def _complex(structure: gemmi.Structure, notes: list[str], *, with_labels: bool) -> Complex:
    """gemmi's single-model structure into arrays."""
    (residues, chains, names, parents), left_out = residues_of(structure[0])
    notes += left_out
    _check_names("residue name", set(names))
    places = [residue.seqid for residue in residues]
    ids = [ResidueId(chain, place.num, place.icode.strip()) for chain, place in zip(chains, places, strict=True)]
    labels = tuple((r.subchain, r.label_seq) for r in residues) if with_labels else ()
    _check_names("insertion code", {residue.insertion_code for residue in ids})
    _check_names("label chain name", {chain for chain, _ in labels})
    protein = np.array([bool(parent) for parent in parents])
    for residue, name in zip(ids, names, strict=True):
        if residue.number is None:
            raise StructureError(f"a residue {name} of chain {residue.chain!r} has no number", remedy="number it")
    flat = _flat(structure)
    atom_names = flat.atom_names.view("S8").ravel()
    _check_names("atom name", {name.decode("utf-8", "replace") for name in set(atom_names.tolist())})
    residue_of = np.repeat(np.arange(len(residues)), [len(residue) for residue in residues])
    atom_names = with_terminal_oxygens(atom_names, residue_of, protein)
    _check_places(flat.pos, ids, residue_of)
    same = _first_of(ids)
    ca = np.flatnonzero((atom_names == b"CA") & protein[residue_of])
    _check_twins(ids, same, residue_of[ca], flat.pos[ca], flat.altlocs[ca])
    site = _told_apart(same, ["" if parent else name for name, parent in zip(names, parents, strict=True)])
    keep = _one_conformation(flat, site, names, residue_of)
    if not keep.all():
        notes.append(f"{np.count_nonzero(~keep)} atoms in alternate locations left out")
    modified = Counter(f"{n} read as {p}" for n, p in zip(names, parents, strict=True) if p and p != n)
    notes += [f"{count} {what}" for what, count in sorted(modified.items())]
    whole = _told_apart(same, names)[residue_of]
    order = np.flatnonzero(keep)[np.argsort(whole[keep], kind="stable")]  # parts of a residue may stand apart
    xyz, atom_names, residue_of = flat.pos[order], atom_names[order], whole[order]
    ca = _ca_atoms(atom_names, residue_of, protein)
    present = np.bincount(residue_of, minlength=len(residues)) > 0
    without = np.count_nonzero(present & protein & (ca < 0))
    if without:
        notes.append(f"{without} amino acids without CA atom")
    notes += lacking_side_chains([residue.chain for residue in ids], parents, atom_names, residue_of)
    return Complex(
        residues=tuple(ids),
        names=tuple(names),
        parents=tuple(parents),
        xyz=np.ascontiguousarray(xyz, dtype=np.float64),
        atom_names=atom_names,
        residue_of=residue_of,
        ca=ca,
        hetero=frozenset(i for i, residue in enumerate(residues) if residue.het_flag == "H"),
        notes=tuple(notes),
        labels=labels,
    )


def _check_names(what: str, names: set[str]) -> None:
    """Refuse names that would break a table or fill a screen."""
    for name in sorted(names):
        if not name.isprintable():
            raise StructureError(
                f"a character that cannot be printed in the {what} {name[:LONGEST_NAME]!r}",
                remedy="make or fetch the file again, or rename it",
            )
        if len(name) > LONGEST_NAME:
            raise StructureError(
                f"a {what} of {len(name)} letters: {name[:20]}…", remedy="is the file damaged? shorten it"
            )


def _first_of(keys: list) -> np.ndarray:
    """Index of the first that is equal, for each key; int, shape (n,)."""
    first: dict = {}
    return np.array([first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.intp)


def _told_apart(same: np.ndarray, names: list[str]) -> np.ndarray:
    """`same`, by `_first_of`, where the names have to be equal, too."""
    if (same == np.arange(len(same))).all():
        return same
    return _first_of(list(zip(same.tolist(), names, strict=True)))


def _flat(structure: gemmi.Structure) -> gemmi.FlatStructure:
    """gemmi's arrays of atoms; they have no room for names of eight letters and more."""
    try:
        return gemmi.FlatStructure(structure)
    except RuntimeError:
        for chain in structure[0]:
            chain.name = ""
            for residue in chain:
                residue.name = residue.subchain = residue.entity_id = ""
    try:
        return gemmi.FlatStructure(structure)
    except RuntimeError as error:
        name = str(error).rpartition(" ")[2]
        raise StructureError(f"an atom name of eight letters or more: {name[:20]}", remedy="shorten it") from error


def _check_places(xyz: np.ndarray, ids: list[ResidueId], residue_of: np.ndarray) -> None:
    """Refuse coordinates, shape (A, 3), that no atom can have."""
    lost = np.flatnonzero(~(np.abs(xyz) < MAX_COORDINATE).all(axis=1))
    if len(lost):
        residue, value = ids[residue_of[lost[0]]], xyz[lost[0]][~(np.abs(xyz[lost[0]]) < MAX_COORDINATE)][0]
        if not np.isfinite(value):
            raise StructureError(f"a coordinate of {residue} is not a number", remedy="make or fetch the file again")
        raise StructureError(
            f"a coordinate of {residue} is {value:g} Å, which is outside any complex",
            remedy="remove atoms of unknown place, or move the complex to the origin",
        )
    if len(xyz) > 1 and not xyz.any():
        raise StructureError("all coordinates are 0", remedy="make or fetch the file again")


def _check_twins(
    ids: list[ResidueId], same: np.ndarray, residue: np.ndarray, xyz: np.ndarray, altloc: np.ndarray
) -> None:
    """Refuse two different residues of one identity: chains that share a name, numbers that start anew.

    same : int, shape (R,), equal for equal identities. residue, xyz, altloc : of the CA atoms of amino acids.
    """
    _, first, twin = np.unique(same[residue] * 256 + altloc, return_index=True, return_inverse=True)
    apart = np.linalg.norm(xyz - xyz[first[twin]], axis=1)
    if (apart > TWIN_DISTANCE).any():
        one = np.argmax(apart > TWIN_DISTANCE)
        raise StructureError(
            f"residue {ids[residue[one]]} stands twice in the file, {apart[one]:.1f} Å apart",
            remedy="do two chains share a name? give each its own",
        )


def _one_conformation(
    flat: gemmi.FlatStructure, site: np.ndarray, names: list[str], residue_of: np.ndarray
) -> np.ndarray:
    """Which atoms to keep, bool, shape (A,).

    Two atoms compete when residue identity and atom name are equal: alternate locations and plain duplicates
    alike. Of alternate residues at one position all atoms of one stay. Protein competes with protein only: a
    ligand or water may have the number of a residue.

    site : int, shape (R,), equal for residues that compete.
    """
    kinds, kind = np.unique(flat.atom_names.view("<u8").ravel(), return_inverse=True)
    atom = site[residue_of] * len(kinds) + kind
    if (np.diff(site) > 0).all() and (np.diff(np.sort(atom)) > 0).all():  # nothing competes
        return np.ones(len(atom), dtype=bool)
    occupancy = np.zeros(len(site))
    np.maximum.at(occupancy, residue_of, np.nan_to_num(flat.occ))
    best: dict[int, int] = {}
    for i, place in enumerate(site.tolist()):
        if occupancy[i] > occupancy[best.setdefault(place, i)]:
            best[place] = i
    chosen = np.array([names[best[place]] == name for place, name in zip(site.tolist(), names, strict=True)])[
        residue_of
    ]
    order = np.lexsort((-flat.occ, ~chosen, atom))
    keep = np.zeros(len(order), dtype=bool)
    keep[order[np.append(True, np.diff(atom[order]) > 0)]] = True
    return keep & chosen


def _ca_atoms(atom_names: np.ndarray, residue_of: np.ndarray, protein: np.ndarray) -> np.ndarray:
    """Index of the CA atom of each protein residue, -1 where there is none; shape (R,)."""
    ca = np.full(len(protein), -1)
    atoms = np.flatnonzero(atom_names == b"CA")
    ca[residue_of[atoms]] = atoms
    ca[~protein] = -1
    return ca
