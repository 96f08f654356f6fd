"""The published features of one decoy in plain loops: slow, short, and easy to believe.

Biopython reads the file, GUDHI computes both diagrams, Biopython runs mkdssp and reads its report.
Nothing of the library is used here. The work is laid out as in the published pipeline, because the
benchmark is measured against it: every stage reads the file anew and takes from the stage before
only which residues are interface, every residue's neighbours are searched in a tree built for it,
every distance between atoms is worked out by itself.
"""

from __future__ import annotations

import functools
import gzip
import math
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import gudhi
import numpy as np
import pandas as pd
from Bio.PDB import PDBIO, MMCIFParser, NeighborSearch, PDBParser
from Bio.PDB.DSSP import dssp_dict_from_pdb_file
from Bio.PDB.Structure import Structure

ELEMENT_SETS = ("C", "N", "O", "CN", "CO", "NO", "CNO")
AMINO_ACIDS = {
    "ALA": "A", "CYS": "C", "ASP": "D", "GLU": "E", "PHE": "F", "GLY": "G", "HIS": "H", "ILE": "I", "LYS": "K",
    "LEU": "L", "MET": "M", "ASN": "N", "PRO": "P", "GLN": "Q", "ARG": "R", "SER": "S", "THR": "T", "VAL": "V",
    "TRP": "W", "TYR": "Y",
}  # fmt: skip
SANDER = {
    "A": 106, "R": 248, "N": 157, "D": 163, "C": 135, "Q": 198, "E": 194, "G": 84, "H": 184, "I": 169,
    "L": 164, "K": 205, "M": 188, "F": 197, "P": 136, "S": 130, "T": 142, "W": 227, "Y": 222, "V": 142,
}  # fmt: skip


@dataclass(frozen=True)
class Residue:
    """A residue with its atoms, {name: [x, y, z]}."""

    chain: str
    number: int
    insertion_code: str
    name: str
    hetero: bool
    atoms: dict[str, np.ndarray]

    @property
    def key(self) -> tuple[str, int, str]:
        return self.chain, self.number, self.insertion_code


@dataclass(frozen=True)
class Atom:
    """What Biopython's neighbour search asks for."""

    name: str
    xyz: np.ndarray

    def get_coord(self) -> np.ndarray:
        return self.xyz


def distance(p: np.ndarray, q: np.ndarray) -> float:
    return float(np.linalg.norm(p - q))


def parse(path: Path) -> Structure:
    """The file as Biopython sees it."""
    parser = (
        MMCIFParser(QUIET=True) if ".cif" in path.suffixes else PDBParser(QUIET=True)
    )
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as handle:
        return parser.get_structure("decoy", handle)


@functools.cache
def read(path: Path) -> tuple[Residue, ...]:
    """Residues of the first model in file order. Biopython has single precision; three decimals
    bring it back.
    """
    found = []
    for chain in next(iter(parse(path))):
        for residue in chain:
            hetero, number, insertion_code = residue.id
            atoms = {
                a.id: np.array([round(float(v), 3) for v in a.coord]) for a in residue
            }
            found.append(
                Residue(
                    chain.id,
                    number,
                    insertion_code.strip(),
                    residue.resname.strip(),
                    hetero != " ",
                    atoms,
                )
            )
    return tuple(found)


@functools.cache
def interface(path: Path, cutoff: float = 10.0) -> list[Residue]:
    """Residues with a CA nearer than the cutoff to one of another chain; by chain, number,
    insertion code.
    """
    protein = [r for r in read(path) if not r.hetero and "CA" in r.atoms]
    touching = {}
    for i, a in enumerate(protein):
        for b in protein[i + 1 :]:
            if distance(a.atoms["CA"], b.atoms["CA"]) < cutoff and a.chain != b.chain:
                touching |= {a.key: a, b.key: b}
    return [touching[key] for key in sorted(touching)]


def interface_again(path: Path) -> list[Residue]:
    """The interface residues as a later stage finds them in the file."""
    keys = [r.key for r in interface(path)]
    found = {r.key: r for r in read(path) if not r.hetero}
    return [found[key] for key in keys]


def nearest(residue: Residue, others: list[Residue]) -> float:
    """Distance to the nearest CA of another chain."""
    return min(
        math.dist(residue.atoms["CA"], o.atoms["CA"])
        for o in others
        if o.chain != residue.chain
    )


def contacts(residue: Residue, others: list[Residue], cutoff: float = 10.0) -> int:
    """Number of residues of other chains within the cutoff."""
    return sum(
        o.chain != residue.chain
        and math.dist(residue.atoms["CA"], o.atoms["CA"]) < cutoff
        for o in others
    )


def summary(values: list[float]) -> list[float]:
    """sum, min, max, mean, population standard deviation."""
    if not values:
        return [0.0] * 5
    return [
        math.fsum(values),
        min(values),
        max(values),
        statistics.fmean(values),
        statistics.pstdev(values),
    ]


def rips_h0(points: list[tuple[float, float, float]]) -> list[float]:
    """Finite H0 death times of the Vietoris-Rips filtration."""
    diagram = (
        gudhi.RipsComplex(points=points)
        .create_simplex_tree(max_dimension=1)
        .persistence()
    )
    return [
        death
        for dimension, (_, death) in diagram
        if dimension == 0 and math.isfinite(death)
    ]


def alpha_h1(points: list[tuple[float, float, float]]) -> list[tuple[float, float]]:
    """H1 bars of the alpha complex, in squared radii; none for fewer than four points, as
    published.
    """
    if len(points) < 4:
        return []
    diagram = gudhi.AlphaComplex(points=points).create_simplex_tree().persistence()
    return [bar for dimension, bar in diagram if dimension == 1]


def cloud(residue: Residue, atoms: list[Atom]) -> list[Atom]:
    """Atoms within 8 Å of the residue's CA."""
    return NeighborSearch(atoms).search(residue.atoms["CA"], 8.0)


@functools.cache
def topology(path: Path, *, with_hetero: bool = False) -> np.ndarray:
    """The 140 columns of every interface residue, unscaled."""
    atoms = [
        Atom(n, xyz)
        for r in read(path)
        if with_hetero or not r.hetero
        for n, xyz in r.atoms.items()
    ]
    rows = []
    for residue in interface_again(path):
        near, h0, h1 = cloud(residue, atoms), [], []
        for letters in ELEMENT_SETS:
            points = [a.xyz for a in near if a.name[0] in letters]
            h0 += summary([d for d in rips_h0(points) if 0.01 <= d <= 8.0])
            bars = [(b, d) for b, d in alpha_h1(points) if d - b >= 0.01]
            h1 += (
                summary([d - b for b, d in bars])
                + summary([b for b, _ in bars])
                + summary([d for _, d in bars])
            )
        rows.append(h0 + h1)
    return np.array(rows)


def scaled(column: list[float], reference: list[float]) -> list[float]:
    """Min-max by the reference values; zeros where these are all alike."""
    low, high = min(reference), max(reference)
    return [(v - low) / (high - low) if high > low else 0.0 for v in column]


def scaled_columns(table: np.ndarray) -> np.ndarray:
    """Every column by itself."""
    return np.array([scaled(list(column), list(column)) for column in table.T]).T


@functools.cache
def dssp(path: Path) -> dict[tuple[str, int, str], tuple[str, float, float, float]]:
    """mkdssp on the PDB file as it is, or on what Biopython writes of an mmCIF file.

    Residue to (state, accessibility, phi, psi).
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in.pdb")
        if ".cif" in path.suffixes:
            written = PDBIO()
            written.set_structure(parse(path))
            with open(source, "w") as handle:
                handle.write(f"HEADER    {'':40}01-JAN-00   XXXX\n")
                written.save(handle)
        else:
            source.write_bytes(
                gzip.decompress(path.read_bytes())
                if path.suffix == ".gz"
                else path.read_bytes()
            )
        records, _ = dssp_dict_from_pdb_file(str(source), "mkdssp", "4.0.0")
    return {
        (c, i[1], i[2].strip()): (r[1], r[2], r[3], r[4])
        for (c, i), r in records.items()
    }


def nodes(path: Path) -> np.ndarray:
    """The 172 columns of every interface residue."""
    report = dssp(path)
    rows = []
    for residue in interface_again(path):
        letter = AMINO_ACIDS[residue.name]
        state, accessibility, phi, psi = report[residue.key]
        row = [min(accessibility / SANDER[letter], 1.0)]
        row += scaled([phi], [r[2] for r in report.values()]) + scaled(
            [psi], [r[3] for r in report.values()]
        )
        row += [float(s == (state if state in "HBEGITS" else "-")) for s in "HBEGITS-"]
        row += [float(a == letter) for a in "ACDEFGHIKLMNPQRSTVWY"] + [0.0]
        rows.append(row)
    return np.hstack([np.array(rows), scaled_columns(topology(path))])


def edges(path: Path) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Directed edges and their eleven unscaled columns."""
    residues = interface_again(path)
    table = pd.DataFrame(
        {"chain": [r.chain for r in residues], "ca": [r.atoms["CA"] for r in residues]}
    )
    index, rows = [], []
    for i, a in enumerate(residues):
        for j, b in enumerate(residues):
            if i < j and table.at[i, "chain"] != table.at[j, "chain"]:
                apart = distance(table.at[i, "ca"], table.at[j, "ca"])
                if 0 < apart < 10:
                    counts = [0.0] * 10
                    for p in a.atoms.values():
                        for q in b.atoms.values():
                            between = distance(p, q)
                            if between >= 1:
                                counts[min(int(between), 10) - 1] += 1
                    index += [(i, j), (j, i)]
                    rows += [[apart, *counts]] * 2
    return index, np.array(rows)
