"""Structure files into `Complex`: PDB and mmCIF, plain or gzipped, through gemmi."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from pathlib import Path

import gemmi
import numpy as np

from toporank.errors import StructureError
from toporank.identity import ResidueId, structure_format
from toporank.structures.complex import STANDARD, Complex

MAX_BYTES = 1 << 30
"""Largest text a file may unpack to: far above any complex, far below memory (gzip bombs)."""

ONE_TO_THREE = {one: three for three, one in STANDARD.items()}
FORCE_FIELD_NAMES = {
    **dict.fromkeys(("HID", "HIE", "HIP", "HSD", "HSE", "HSP"), "HIS"),
    **dict.fromkeys(("CYX", "CYM"), "CYS"),
    "ASH": "ASP", "GLH": "GLU", "LYN": "LYS",
}  # fmt: skip
"""Names that Amber and CHARMM give to protonation states; no dictionary of residues has them."""


def read_complex(path: Path) -> Complex:
    """Read the first model of a structure file.

    Of alternate locations the one with the highest occupancy is kept, and of equal ones the first.
    Modified amino acids count as their parent (`MSE` as `MET`). What was decided is in `Complex.notes`.

    Raises StructureError when the file cannot be read, is not what its suffix says, holds no atoms, or
    holds a coordinate that is not a number.
    """
    file_format, zipped = structure_format(path)
    structure = _parse(path, _text(path, zipped), file_format)
    if len(structure) == 0 or structure[0].count_atom_sites() == 0:
        raise StructureError(
            f"no atoms found in this {file_format} file", where=path, remedy="truncated or another format?"
        )
    notes = [f"{len(structure)} models, the first is used"] if len(structure) > 1 else []
    del structure[1:]
    return _complex(structure, path, notes)


def _text(path: Path, zipped: bool) -> str:
    """The file's text; every way a file can be unreadable becomes a StructureError."""
    try:
        with gzip.open(path, "rb") if zipped else open(path, "rb") as handle:
            data = handle.read(MAX_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise StructureError(f"damaged gzip file: {error}", where=path, remedy="fetch or compress it again") from error
    except OSError as error:
        raise StructureError(f"cannot be read: {error.strerror}", where=path) from error
    if not data.strip():
        raise StructureError("the file is empty", where=path)
    if len(data) > MAX_BYTES:
        raise StructureError(f"more than {MAX_BYTES >> 20} MiB of text", where=path, remedy="not a decoy?")
    if b"\0" in data:
        raise StructureError("binary data, not text", where=path, remedy="gzipped without a .gz suffix?")
    return data.decode("utf-8-sig", errors="replace")


def _parse(path: Path, text: str, file_format: str) -> gemmi.Structure:
    """Text into gemmi's structure."""
    try:
        if file_format == "pdb":
            structure = gemmi.read_pdb_string(text)
            _check_pdb_numbers(path, text)
            return structure
        blocks = [block for block in gemmi.cif.read_string(text) if block.find_values("_atom_site.Cartn_x")]
        if not blocks:
            raise StructureError("no _atom_site table in this mmcif file", where=path)
        return gemmi.make_structure_from_block(blocks[0])
    except (RuntimeError, ValueError, IndexError) as error:
        raise StructureError(f"not a readable {file_format} file: {error}", where=path) from error


def _check_pdb_numbers(path: Path, text: str) -> None:
    """Refuse what gemmi would silently take for 0 (coordinates, residue numbers) or leave out (atoms after END)."""
    ended = False
    for number, line in enumerate(text.splitlines(), 1):
        record = line[:6].rstrip().upper()
        if record == "ENDMDL":
            return
        if record == "END":
            ended = True
        elif record.startswith(("ATOM", "HETA")):
            where = f"{path}, line {number}"
            if ended:
                raise StructureError("atoms after END", where=where, remedy="remove END lines between parts of a file")
            try:
                float(line[30:38]), float(line[38:46]), float(line[46:54])
            except ValueError:
                raise StructureError(f"not three coordinates: {line[30:54]!r}", where=where) from None
            if not line[22:26].strip().removeprefix("-").isalnum():
                raise StructureError(f"not a residue number: {line[22:26]!r}", where=where)


def _parent(residue: gemmi.Residue) -> str:
    """The standard residue a residue counts as; `""` when it is not part of a protein chain."""
    if residue.name in STANDARD:
        return residue.name if residue.het_flag != "H" else ""  # a free amino acid is a ligand
    if residue.name in FORCE_FIELD_NAMES:
        return FORCE_FIELD_NAMES[residue.name]
    info = gemmi.find_tabulated_residue(residue.name)
    if not info.is_amino_acid() or "CA" not in residue:
        return ""
    return ONE_TO_THREE.get(info.one_letter_code.upper(), "UNK")


def _complex(structure: gemmi.Structure, path: Path, notes: list[str]) -> Complex:
    """gemmi's single-model structure into arrays."""
    residues = [(chain.name, residue) for chain in structure[0] for residue in chain]
    ids = [ResidueId(chain, r.seqid.num, r.seqid.icode.strip()) for chain, r in residues]
    if any(residue.number is None for residue in ids):
        raise StructureError("a residue has no number", where=path)
    names = [r.name for _, r in residues]
    parents = [_parent(r) for _, r in residues]
    flat = gemmi.FlatStructure(structure)
    atom_names = flat.atom_names.view("S8").ravel()
    residue_of = np.repeat(np.arange(len(residues)), [len(r) for _, r in residues])
    if not np.isfinite(flat.pos).all():
        bad = int(np.flatnonzero(~np.isfinite(flat.pos).all(axis=1))[0])
        raise StructureError(f"a coordinate of {ids[residue_of[bad]]} is not a number", where=path)
    keep, dropped = _one_conformation(flat, ids, parents, names, residue_of, atom_names)
    if dropped:
        notes.append(f"{dropped} atoms in alternate locations left out")
    modified = Counter(f"{n} read as {p}" for n, p in zip(names, parents, strict=True) if p and p != n)
    notes += [f"{count} {what}" for what, count in sorted(modified.items())]
    first: dict[tuple[ResidueId, str], int] = {}
    whole = np.array([first.setdefault(place, i) for i, place in enumerate(zip(ids, names, strict=True))])[residue_of]
    order = np.flatnonzero(keep)[np.argsort(whole[keep], kind="stable")]  # parts of a residue may stand apart
    xyz, atom_names, residue_of = flat.pos[order], atom_names[order], whole[order]
    return Complex(
        residues=tuple(ids),
        names=tuple(names),
        parents=tuple(parents),
        xyz=np.ascontiguousarray(xyz, dtype=np.float64),
        atom_names=atom_names,
        residue_of=residue_of,
        ca=_ca_atoms(atom_names, residue_of, parents),
        hetero=frozenset(i for i, (_, r) in enumerate(residues) if r.het_flag == "H"),
        notes=tuple(notes),
    )


def _one_conformation(flat, ids, parents, names, residue_of, atom_names) -> tuple[np.ndarray, int]:
    """bool mask of the atoms to keep, shape (A,), and how many are left out.

    Two atoms compete when residue identity and atom name are equal: alternate locations and plain duplicates
    alike. Of alternate residues at one position all atoms of one stay. Protein competes with protein only: a
    ligand or water may have the number of a residue.
    """
    places = [(residue, "" if parent else name) for residue, parent, name in zip(ids, parents, names, strict=True)]
    occupancy = np.zeros(len(ids))
    np.maximum.at(occupancy, residue_of, flat.occ)
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
