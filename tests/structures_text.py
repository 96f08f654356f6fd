"""Structure files and complexes written by hand: what a test needs, and nothing that the library
could do for it.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import zstandard

from toporank.chains.chain import ResidueId
from toporank.files.compressed import compression_of
from toporank.finding.look import sketch_of
from toporank.finding.sketch import Sketch
from toporank.structures.complex import STANDARD, Complex
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


def changed(atoms: Iterable[Atom], **other) -> list[Atom]:
    """The same atoms with other values in some fields."""
    return [replace(atom, **other) for atom in atoms]


def shifted(atoms: Iterable[Atom], x: float) -> list[Atom]:
    """The same atoms, so many Å further along x."""
    return [replace(atom, x=atom.x + x) for atom in atoms]


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
        f"{atom.insertion_code or ' '}   {x}{y}{z}{atom.occupancy:6.2f}{0:6.2f}          "
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
            "B_iso_or_equiv": 0.0,
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


def pdb_with(
    source: Path, of_residues: np.ndarray, within: float = 0.0, jitter: float = 0.0
) -> str:
    """The PDB text of a decoy with these B factors of residues; within : Å² by which atoms of a
    residue differ.

    jitter : Å by which atoms are moved.
    """
    draw, lines, place, last = np.random.default_rng(1), [], -1, None
    for line in gzip.decompress(source.read_bytes()).decode().splitlines():
        if line.startswith("ATOM"):
            place, last = place + (line[21:27] != last), line[21:27]
            value = of_residues[place] + draw.uniform(-within, within)
            xyz = np.array(
                [float(line[k : k + 8]) for k in (30, 38, 46)]
            ) + draw.normal(0, jitter, 3) * (jitter > 0)
            line = f"{line[:30]}{''.join(f'{c:8.3f}' for c in xyz)}{line[54:60]}{value:6.2f}{line[66:]}"
        lines.append(line)
    return "\n".join([*lines, ""])


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
