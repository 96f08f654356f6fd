"""The maker of small complexes and of the files that people bring with them.

    alanine("A", 1, x=0.0)                  the atoms of one residue
    protein("B", "MKTAYIAK", y=5.0)         of a straight chain by its sequence
    atoms_of(EXAMPLES / "1GCQ/mid1.pdb")    of a file
    changed(atoms, chain="H"), shifted(atoms, 9.0), with_b(atoms, [90.0, 80.0])
    pdb(atoms), mmcif(atoms)                as text
    complex_of(atoms)                       as the library sees them
    put(folder, {"x_model_0.cif": atoms, "confidence_x_model_0.json": {"iptm": 0.5}})

A chain moved, turned or left out of real complexes: `complexes.py`. Parts of a `Complex` put
together anew: `unit/_complexes.py`. Models with confidence: `unit/_confidence.py`.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import zstandard

from toporank.chains.chain import ResidueId
from toporank.files.compressed import compression_of, without_compression
from toporank.finding.look import sketch_of
from toporank.finding.sketch import Sketch
from toporank.structures.chains import ONE_TO_THREE
from toporank.structures.complex import STANDARD, Complex
from toporank.structures.identity import Decoy
from toporank.structures.read import open_structure

COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}
EXAMPLES = Path(__file__).parents[1] / "resources" / "example" / "decoys"


def sketch(path: Path) -> Sketch:
    """What a look into a file finds; raises StructureError where it cannot be read."""
    return sketch_of(open_structure(path))


@dataclass(frozen=True)
class Atom:
    """One atom record. A coordinate may be text, to write what is not a number."""

    name: str
    residue: str
    chain: str
    number: int | str
    x: float | str
    y: float | str
    z: float | str
    insertion_code: str = ""
    altloc: str = ""
    occupancy: float = 1.0
    het: bool = False
    element: str = ""
    model: int = 1
    b_factor: float = 0.0


def atoms_of(path: Path) -> list[Atom]:
    """The ATOM records of a PDB file, gzipped or not."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    atoms = []
    for line in text.splitlines():
        if line.startswith("ATOM"):
            name, residue, chain = line[12:16].strip(), line[17:20].strip(), line[21]
            xyz = [float(line[column : column + 8]) for column in (30, 38, 46)]
            atom = Atom(name, residue, chain, int(line[22:26]), *xyz)
            codes = {"altloc": line[16].strip(), "insertion_code": line[26].strip()}
            element, occupancy = line[76:78].strip(), float(line[54:60])
            atoms.append(replace(atom, **codes, element=element, occupancy=occupancy))
    return atoms


def alanine(
    chain: str, number: int, x: float, y: float = 0.0, z: float = 0.0, **other
) -> list[Atom]:
    """N, CA, C, O, CB of an alanine with its CA at (x, y, z)."""
    shape = {
        "N": (-1.2, 0.6, 0.5),
        "CA": (0, 0, 0),
        "C": (1.2, 0.7, -0.6),
        "O": (1.3, 1.9, -0.8),
        "CB": (0, -1.1, 1.1),
    }
    return [
        Atom(
            name,
            "ALA",
            chain,
            number,
            round(x + a, 3),
            round(y + b, 3),
            round(z + c, 3),
            **other,
        )
        for name, (a, b, c) in shape.items()
    ]


def pair() -> list[Atom]:
    """The smallest complex: an alanine in each of the chains A and B, 5 Å apart."""
    return alanine("A", 1, 0.0) + alanine("B", 1, 5.0)


def straight(
    chain: str,
    residues: Iterable[str],
    *,
    y: float = 0.0,
    step: float = 4.0,
    first: int = 1,
    **other,
) -> list[Atom]:
    """The backbone of a chain along x, numbered from `first` on; a step of 4 Å joins residues of
    these names by peptide bonds.
    """
    atoms = []
    for k, name in enumerate(residues):
        atoms += changed(alanine(chain, first + k, step * k, y, **other), residue=name)
    return atoms


def protein(chain: str, sequence: str, **other) -> list[Atom]:
    """A straight chain by its sequence."""
    return straight(chain, [ONE_TO_THREE[letter] for letter in sequence], **other)


def changed(atoms: Iterable[Atom], **other) -> list[Atom]:
    """The same atoms with other values in some fields."""
    return [replace(atom, **other) for atom in atoms]


def shifted(atoms: Iterable[Atom], x: float) -> list[Atom]:
    """The same atoms, so many Å further along x."""
    return [replace(atom, x=atom.x + x) for atom in atoms]


def with_b(atoms: Iterable[Atom], of_residues: Iterable[float]) -> list[Atom]:
    """The same atoms with these B factors of their residues, in order."""
    values, last, found = iter(of_residues), None, []
    for atom in atoms:
        residue = (atom.chain, atom.number, atom.insertion_code)
        if residue != last:
            value, last = float(next(values)), residue
        found.append(replace(atom, b_factor=value))
    return found


def pdb_line(atom: Atom, serial: int | str = 1) -> str:
    """An ATOM or HETATM record by the columns of the format, 80 characters."""
    x, y, z = (
        f"{v:8.3f}" if isinstance(v, int | float) else f"{v:>8}"
        for v in (atom.x, atom.y, atom.z)
    )
    name = atom.name if len(atom.name) == 4 else f" {atom.name:<3}"
    record, element = "HETATM" if atom.het else "ATOM", atom.element or atom.name[0]
    line = (
        f"{record:<6}{serial:>5} "
        f"{name}{atom.altloc or ' '}{atom.residue:>3}{atom.chain:>2}{atom.number:>4}"
        f"{atom.insertion_code or ' '}   {x}{y}{z}{atom.occupancy:6.2f}"
        f"{atom.b_factor:6.2f}          "
        f"{element:>2}"
    )
    return f"{line:<80}"


def pdb(atoms: Iterable[Atom]) -> str:
    """Atom records only: no HEADER, no TER, no END."""
    return "".join(
        pdb_line(atom, serial % 100000) + "\n" for serial, atom in enumerate(atoms, 1)
    )


COLUMNS = (
    "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id "
    "label_entity_id label_seq_id pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy "
    "B_iso_or_equiv auth_seq_id auth_comp_id auth_asym_id auth_atom_id pdbx_PDB_model_num"
)
"""Columns of an _atom_site table."""


def mmcif(
    atoms: Iterable[Atom],
    *,
    columns: str = COLUMNS,
    without: Iterable[str] = (),
    **special: Callable[[Atom], object],
) -> str:
    """An _atom_site table. `without`: columns to leave out; `special`: the values of columns."""
    names = [column for column in columns.split() if column not in without]
    lines = ["data_test", "#", "loop_", *(f"_atom_site.{column}" for column in names)]
    for serial, atom in enumerate(atoms, 1):
        values = {
            "group_PDB": "HETATM" if atom.het else "ATOM",
            "id": serial,
            "type_symbol": atom.element or atom.name[0],
            "atom_id": f'"{atom.name}"',
            "label_alt_id": atom.altloc or ".",
            "comp_id": atom.residue,
            "asym_id": atom.chain,
            "label_entity_id": 1,
            "seq_id": atom.number,
            "pdbx_PDB_ins_code": atom.insertion_code or "?",
            "Cartn_x": atom.x,
            "Cartn_y": atom.y,
            "Cartn_z": atom.z,
            "occupancy": atom.occupancy,
            "B_iso_or_equiv": round(atom.b_factor, 2),
            "pdbx_PDB_model_num": atom.model,
        }
        words = []
        for column in names:
            if column in special:
                words.append(special[column](atom))
            else:
                words.append(values.get(column, values.get(column.partition("_")[2])))
        lines.append(" ".join(map(str, words)))
    return "\n".join([*lines, "#", ""])


def write(path: Path, text: str | bytes) -> Path:
    """Write a file, compressed when its name says so."""
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(COMPRESS.get(compression_of(path.name), bytes)(data))
    return path


def lay(folder: Path, *names: str) -> Path:
    """Empty files with these names below a folder."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def by_target(decoys: Iterable[Decoy]) -> dict[str, list[str]]:
    """Names of decoys by target."""
    names: dict[str, list[str]] = {}
    for decoy in decoys:
        names.setdefault(decoy.target, []).append(decoy.name)
    return names


def put(folder: Path, files: Mapping[str, object]) -> Path:
    """Write files by the endings of their names.

    files : name → atoms of a structure, text or bytes as they are, arrays by name (npz), an array
    (npy), or values (json, pkl); compressed where the name says so.
    """
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        kind = Path(without_compression(name)).suffix
        if isinstance(content, str | bytes):
            write(path, content)
        elif kind in (".pdb", ".cif"):
            write(path, (mmcif if kind == ".cif" else pdb)(content))
        elif kind == ".npz":
            np.savez(path, **content)
        elif kind == ".npy":
            np.save(path, content)
        elif kind == ".pkl":
            write(path, pickle.dumps(content, protocol=4))
        else:
            write(path, json.dumps(content, default=np.ndarray.tolist))
    return folder


def pdb_with(
    source: Path, of_residues: np.ndarray, within: float = 0.0, jitter: float = 0.0
) -> str:
    """The PDB text of a decoy with these B factors of residues; within : Å² by which atoms of a
    residue differ.

    jitter : Å by which atoms are moved.
    """
    draw, atoms = np.random.default_rng(1), []
    for atom in with_b(atoms_of(source), of_residues):
        x, y, z = np.array([atom.x, atom.y, atom.z]) + draw.normal(0, jitter, 3)
        b_factor = atom.b_factor + draw.uniform(-within, within)
        atoms.append(replace(atom, x=x, y=y, z=z, b_factor=b_factor))
    return pdb(atoms)


def complex_of(atoms: Iterable[Atom]) -> Complex:
    """A `Complex` straight from atoms of protein residues, without any file. Atoms of a residue
    stand together.
    """
    atoms = list(atoms)
    keys = [(ResidueId(a.chain, a.number, a.insertion_code), a.residue) for a in atoms]
    residues = list(dict.fromkeys(keys))
    ca = np.full(len(residues), -1)
    for i, atom in enumerate(atoms):
        if atom.name == "CA":
            ca[residues.index(keys[i])] = i
    return Complex(
        residues=tuple(residue for residue, _ in residues),
        names=tuple(name for _, name in residues),
        parents=tuple(name if name in STANDARD else "UNK" for _, name in residues),
        xyz=np.array([[a.x, a.y, a.z] for a in atoms], dtype=np.float64),
        atom_names=np.array([a.name.encode() for a in atoms], dtype="S8"),
        residue_of=np.array([residues.index(key) for key in keys]),
        ca=ca,
    )


def ca_trace(
    residues: Iterable[tuple[str, int, str, tuple[float, float, float]]],
) -> Complex:
    """A complex of one CA for each (chain, number, insertion code, position)."""
    return complex_of(
        Atom("CA", "ALA", chain, n, *xyz, insertion_code=ic)
        for chain, n, ic, xyz in residues
    )


def in_line(*chain_and_x: tuple[str, float]) -> Complex:
    """A CA for each chain and place along x, numbered in order."""
    numbered = enumerate(chain_and_x, 1)
    return ca_trace((chain, n, "", (x, 0.0, 0.0)) for n, (chain, x) in numbered)


def random_complex(
    seed: int, *, chains: str = "AB", residues: int = 6, spread: float = 6.0
) -> Complex:
    """Residues of random type with random atoms near random places: no two distances alike."""
    draw = np.random.default_rng(seed)
    atoms = []
    for chain in chains:
        for number in range(1, residues + 1):
            centre = draw.uniform(-spread, spread, 3)
            names = ["N", "CA", "C", "O", "CB", "CG", "OD1", "ND2"][
                : draw.integers(4, 9)
            ]
            kind = draw.choice(sorted(STANDARD))
            atoms += [
                Atom(name, str(kind), chain, number, *(centre + draw.normal(0, 1.5, 3)))
                for name in names
            ]
    return complex_of(atoms)


def shape_named(name: str, shift: float = 0.0) -> str:
    """A shape of one chain, as `structures.model_shape.shape_of` writes it, another for each name.

    shift : Å along each axis.
    """
    draw = np.random.default_rng(list(name.encode()))
    points = draw.uniform(-20, 20, (5, 3)) + shift
    return json.dumps([["A", "kind", np.rint(points * 10_000).astype(int).tolist()]])


def moved(complex_: Complex, seed: int = 0) -> Complex:
    """The complex turned at random and shifted by tens of Å."""
    draw = np.random.default_rng(seed)
    q, r = np.linalg.qr(draw.normal(size=(3, 3)))
    rotation = q * np.sign(np.diag(r))
    rotation[:, 0] *= np.linalg.det(rotation)  # a turn, not a reflection
    return replace(complex_, xyz=complex_.xyz @ rotation.T + draw.uniform(-50, 50, 3))
