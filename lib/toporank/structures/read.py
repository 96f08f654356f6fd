"""Structure files into `Complex`: PDB and mmCIF, plain or gzipped, through gemmi."""

from __future__ import annotations

import contextlib
import gzip
import re
import stat
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import gemmi
import numpy as np

from toporank.errors import StructureError
from toporank.identity import ResidueId, structure_format
from toporank.structures.columns import check_mmcif, check_pdb, number_ligands
from toporank.structures.complex import STANDARD, Complex

MAX_BYTES = 1 << 28
"""Largest text a file may unpack to: far above any complex, far below memory (gzip bombs)."""
BEFORE_CHARGE = 78
"""Columns of a PDB line that are read: what some programs write in place of the charge is none."""
MAX_COORDINATE = 9999.0
"""Å. Some programs write this, or more, for atoms whose place they do not know; no complex is as large."""
TWIN_DISTANCE = 1.0
"""Å between two CA atoms of one residue from which on they are not one residue told twice, but two."""

ONE_TO_THREE = {one: three for three, one in STANDARD.items()}
FORCE_FIELD_NAMES = {
    **dict.fromkeys(("HID", "HIE", "HIP", "HSD", "HSE", "HSP"), "HIS"),
    **dict.fromkeys(("CYX", "CYM"), "CYS"),
    "ASH": "ASP", "GLH": "GLU", "LYN": "LYS",
}  # fmt: skip
"""Names that Amber and CHARMM give to protonation states; no dictionary of residues has them."""
BACKBONE = ("N", "CA", "C", "O")
"""Atoms by which a residue that no dictionary has is known for an amino acid."""


def read_complex(path: Path) -> Complex:
    """Read the first model of a structure file.

    Of alternate locations the one with the highest occupancy is kept, and of equal ones the first.
    Modified amino acids count as their parent (`MSE` as `MET`). What was decided is in `Complex.notes`.

    Raises StructureError when the file cannot be read, is not what its suffix says, holds no atoms, or
    holds numbers that are none.
    """
    file_format, zipped = structure_format(path)
    text = _text(path, zipped)
    try:
        structure, notes = _parse_pdb(text) if file_format == "pdb" else _parse_mmcif(text)
        if len(structure) == 0 or structure[0].count_atom_sites() == 0:
            raise StructureError(f"no atoms found in this {file_format} file", remedy="truncated or another format?")
        if len(structure) > 1:
            notes.append(f"{len(structure)} models, the first is used")
        del structure[1:]
        return _complex(structure, notes, with_labels=file_format == "mmcif")
    except StructureError as error:
        raise StructureError(error.what, where=path, remedy=error.remedy) from error


def check_file(path: Path) -> None:
    """Raise StructureError unless this is a regular file of bearable size: a pipe or a device might never end."""
    try:
        found = path.stat()
    except OSError as error:
        remedy = "a broken link?" if path.is_symlink() else "is it still there?"
        raise StructureError(f"cannot be read: {error.strerror}", where=path, remedy=remedy) from error
    if not stat.S_ISREG(found.st_mode):
        what = "Is a directory" if stat.S_ISDIR(found.st_mode) else "not a regular file"
        raise StructureError(f"cannot be read: {what}", where=path, remedy="put the structure file in its place")
    if found.st_size > MAX_BYTES:
        raise _too_large(path)


def _too_large(path: Path) -> StructureError:
    return StructureError(
        f"more than {MAX_BYTES >> 20} MiB of text", where=path, remedy="not a single decoy? split or replace it"
    )


def _text(path: Path, zipped: bool) -> str:
    """The file's text; every way a file can be unreadable becomes a StructureError."""
    check_file(path)
    try:
        with gzip.open(path, "rb") if zipped else open(path, "rb") as handle:
            data = handle.read(MAX_BYTES + 1)
    except gzip.BadGzipFile as error:
        plain = str(error).startswith("Not a gzipped file")
        remedy = "is it plain text? take .gz off its name" if plain else "fetch or compress it again"
        raise StructureError(f"damaged gzip file: {error}", where=path, remedy=remedy) from error
    except (EOFError, zlib.error) as error:
        raise StructureError(f"damaged gzip file: {error}", where=path, remedy="fetch or compress it again") from error
    except OSError as error:
        remedy = "make it readable for the user who runs the workflow"
        raise StructureError(f"cannot be read: {error.strerror}", where=path, remedy=remedy) from error
    if len(data) > MAX_BYTES:
        raise _too_large(path)
    if not data.strip():
        raise StructureError("the file is empty", where=path, remedy="make or fetch it again")
    if data.startswith(b"\x1f\x8b"):
        remedy = "compressed twice: unpack it once" if zipped else "rename it to end in .gz"
        raise StructureError("binary data, not text: it is gzipped", where=path, remedy=remedy)
    if b"\0" in data:
        raise StructureError("binary data, not text", where=path, remedy="fetch it again, or save it as plain text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")  # one letter for each byte: the columns stay where they are


@contextlib.contextmanager
def _parsing(file_format: str) -> Iterator[None]:
    """Around calls of gemmi's parsers: what they raise becomes a StructureError."""
    try:
        yield
    except (RuntimeError, ValueError, IndexError) as error:
        reason = re.sub(r"^string:", "line ", str(error))  # gemmi begins with source and line
        raise StructureError(f"not a readable {file_format} file: {reason}", remedy="make or fetch it again") from error


def _parse_pdb(text: str) -> tuple[gemmi.Structure, list[str]]:
    """PDB text into gemmi's structure, and notes."""
    if "_atom_site." in text and re.search(r"^[ \t]*_atom_site\.", text, re.MULTILINE):
        raise StructureError("not a readable pdb file: this is mmCIF", remedy="rename it to end in .cif")
    text = text.encode("ascii", errors="replace").decode("ascii")  # gemmi counts columns in bytes
    with _parsing("pdb"):
        structure = gemmi.read_pdb_string(text, max_line_length=BEFORE_CHARGE)
    check_pdb(text)
    return structure, []


def _parse_mmcif(text: str) -> tuple[gemmi.Structure, list[str]]:
    """mmCIF text into gemmi's structure, and notes."""
    if "_atom_site." not in text.lower() and re.search(r"^(ATOM  |HETATM).{48}", text, re.MULTILINE):
        raise StructureError("not a readable mmcif file: this is PDB format", remedy="rename it to end in .pdb")
    with _parsing("mmcif"):
        blocks = [block for block in gemmi.cif.read_string(text) if block.find_values("_atom_site.Cartn_x")]
    if not blocks:
        raise StructureError("no _atom_site table in this mmcif file", remedy="make or fetch it again")
    check_mmcif(blocks[0])
    number_ligands(blocks[0])
    with _parsing("mmcif"):
        structure = gemmi.make_structure_from_block(blocks[0])
    return structure, [f"{len(blocks)} structures in one file, the first is used"] if len(blocks) > 1 else []


def _parent(residue: gemmi.Residue) -> str:
    """The standard residue a residue counts as; `""` when it is not part of a protein chain."""
    if residue.name in STANDARD:
        return residue.name if residue.het_flag != "H" else ""  # a free amino acid is a ligand
    if residue.name in FORCE_FIELD_NAMES:
        return FORCE_FIELD_NAMES[residue.name]
    info = gemmi.find_tabulated_residue(residue.name)
    if not info.found():
        return "UNK" if all(name in residue for name in BACKBONE) else ""
    if not info.is_amino_acid() or "CA" not in residue:
        return ""
    return ONE_TO_THREE.get(info.one_letter_code.upper(), "UNK")


def _complex(structure: gemmi.Structure, notes: list[str], *, with_labels: bool) -> Complex:
    """gemmi's single-model structure into arrays."""
    residues = [(chain.name, residue) for chain in structure[0] for residue in chain]
    ids = [ResidueId(chain, r.seqid.num, r.seqid.icode.strip()) for chain, r in residues]
    names = [r.name for _, r in residues]
    labels = tuple((r.subchain, r.label_seq) for _, r in residues if with_labels)
    parents = [_parent(r) for _, r in residues]
    for residue, name in zip(ids, names, strict=True):
        if residue.number is None:
            raise StructureError(f"a residue {name} of chain {residue.chain!r} has no number", remedy="number it")
    flat = _flat(structure)
    atom_names = flat.atom_names.view("S8").ravel()
    residue_of = np.repeat(np.arange(len(residues)), [len(r) for _, r in residues])
    _check_places(flat.pos, ids, residue_of)
    _check_twins(flat, ids, parents, residue_of)
    keep, dropped = _one_conformation(flat, ids, parents, names, residue_of, atom_names)
    if dropped:
        notes.append(f"{dropped} atoms in alternate locations left out")
    modified = Counter(f"{n} read as {p}" for n, p in zip(names, parents, strict=True) if p and p != n)
    notes += [f"{count} {what}" for what, count in sorted(modified.items())]
    first: dict[tuple[ResidueId, str], int] = {}
    whole = np.array([first.setdefault(place, i) for i, place in enumerate(zip(ids, names, strict=True))])[residue_of]
    order = np.flatnonzero(keep)[np.argsort(whole[keep], kind="stable")]  # parts of a residue may stand apart
    xyz, atom_names, residue_of = flat.pos[order], atom_names[order], whole[order]
    ca = _ca_atoms(atom_names, residue_of, parents)
    without = sum(bool(parents[r]) and ca[r] < 0 for r in set(residue_of.tolist()))
    if without:
        notes.append(f"{without} amino acids without CA atom")
    return Complex(
        residues=tuple(ids),
        names=tuple(names),
        parents=tuple(parents),
        xyz=np.ascontiguousarray(xyz, dtype=np.float64),
        atom_names=atom_names,
        residue_of=residue_of,
        ca=ca,
        hetero=frozenset(i for i, (_, r) in enumerate(residues) if r.het_flag == "H"),
        notes=tuple(notes),
        labels=labels,
    )


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
        raise StructureError(f"an atom name of eight letters or more: {name}", remedy="shorten it") from error


def _check_places(xyz: np.ndarray, ids: list[ResidueId], residue_of: np.ndarray) -> None:
    """Refuse coordinates, shape (A, 3), that no atom has."""
    lost = np.flatnonzero(~(np.abs(xyz) < MAX_COORDINATE).all(axis=1))
    if len(lost):
        residue, value = ids[residue_of[lost[0]]], xyz[lost[0]][~(np.abs(xyz[lost[0]]) < MAX_COORDINATE)][0]
        if not np.isfinite(value):
            raise StructureError(f"a coordinate of {residue} is not a number", remedy="make or fetch the file again")
        raise StructureError(
            f"a coordinate of {residue} is {value:g} Å, which is no place in a complex",
            remedy="remove atoms of unknown place, or move the complex to the origin",
        )
    if len(xyz) > 1 and not xyz.any():
        raise StructureError("all coordinates are 0", remedy="make or fetch the file again")


def _check_twins(flat: gemmi.FlatStructure, ids: list[ResidueId], parents: list[str], residue_of: np.ndarray) -> None:
    """Refuse two different residues of one identity: chains that share a name, numbers that start anew."""
    seen: dict[tuple[ResidueId, int], int] = {}
    for atom in np.flatnonzero(flat.atom_names.view("S8").ravel() == b"CA").tolist():
        residue = residue_of[atom]
        if not parents[residue]:
            continue
        twin = seen.setdefault((ids[residue], flat.altlocs[atom]), atom)
        apart = np.linalg.norm(flat.pos[atom] - flat.pos[twin]) if atom != twin else 0.0
        if apart > TWIN_DISTANCE:
            raise StructureError(
                f"residue {ids[residue]} stands twice in the file, {apart:.1f} Å apart",
                remedy="do two chains share a name? give each its own",
            )


def _one_conformation(flat, ids, parents, names, residue_of, atom_names) -> tuple[np.ndarray, int]:
    """bool mask of the atoms to keep, shape (A,), and how many are left out.

    Two atoms compete when residue identity and atom name are equal: alternate locations and plain duplicates
    alike. Of alternate residues at one position all atoms of one stay. Protein competes with protein only: a
    ligand or water may have the number of a residue.
    """
    places = [(residue, "" if parent else name) for residue, parent, name in zip(ids, parents, names, strict=True)]
    occupancy = np.zeros(len(ids))
    np.maximum.at(occupancy, residue_of, np.nan_to_num(flat.occ))
    best: dict[tuple[ResidueId, str], int] = {}
    for i, place in enumerate(places):
        if occupancy[i] > occupancy[best.setdefault(place, i)]:
            best[place] = i
    chosen = np.array([names[best[place]] == name for place, name in zip(places, names, strict=True)])[residue_of]
    site = np.array([best[place] for place in places])[residue_of]
    order = np.lexsort((np.arange(len(site)), -flat.occ, ~chosen, atom_names, site))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (site[order][1:] != site[order][:-1]) | (atom_names[order][1:] != atom_names[order][:-1])
    keep = np.zeros(len(order), dtype=bool)
    keep[order[new]] = True
    keep &= chosen
    return keep, int((~keep).sum())


def _ca_atoms(atom_names: np.ndarray, residue_of: np.ndarray, parents: list[str]) -> np.ndarray:
    """Index of the CA atom of each protein residue, -1 where there is none; shape (R,)."""
    ca = np.full(len(parents), -1)
    atoms = np.flatnonzero(atom_names == b"CA")
    ca[residue_of[atoms]] = atoms
    ca[np.array([not parent for parent in parents], dtype=bool)] = -1
    return ca
