"""Wrong arrangements of real complexes, whose place in a ranking is known: a partner turned, moved
away or missing.

`tests/data/antibody_7DAA.pdb.gz` has the variable domains H and L of an antibody on their antigen A
(PDB 7DAA, CC0).
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

ANTIBODY = Path(__file__).parent / "data" / "antibody_7DAA.pdb.gz"
Move = Callable[[np.ndarray], np.ndarray]


def read_atoms(path: Path) -> list[str]:
    """The ATOM lines of a PDB file, gzipped or not."""
    text = (
        gzip.decompress(path.read_bytes())
        if path.suffix == ".gz"
        else path.read_bytes()
    )
    return [line for line in text.decode().splitlines() if line.startswith("ATOM")]


def positions(atoms: Iterable[str]) -> np.ndarray:
    """Coordinates in Å, shape (n, 3)."""
    return np.array([[float(line[i : i + 8]) for i in (30, 38, 46)] for line in atoms])


def moved(atoms: list[str], chains: Iterable[str], move: Move) -> list[str]:
    """The atoms, of which those of some chains are moved."""
    found = []
    for line, xyz in zip(atoms, positions(atoms), strict=True):
        x, y, z = move(xyz) if line[21] in chains else xyz
        found.append(f"{line[:30]}{x:8.3f}{y:8.3f}{z:8.3f}{line[54:]}")
    return found


def without(atoms: list[str], chains: Iterable[str]) -> list[str]:
    """The atoms of the other chains."""
    return [line for line in atoms if line[21] not in chains]


def away(atoms: list[str], chains: Iterable[str], distance: float) -> list[str]:
    """Some chains moved by a distance in Å, away from the middle of the others."""
    direction = _middle(atoms, chains) - positions(without(atoms, chains)).mean(axis=0)
    return moved(
        atoms,
        chains,
        lambda xyz: xyz + distance * direction / np.linalg.norm(direction),
    )


def near_partner(atoms: list[str], one: str, other: str, distance: float) -> list[str]:
    """The residues of two sides that have an atom within `distance` Å of the other side."""
    residues = set()
    for side, facing in ((one, other), (other, one)):
        tree = cKDTree(positions([line for line in atoms if line[21] in facing]))
        for line in (line for line in atoms if line[21] in side):
            if tree.query(positions([line])[0])[0] < distance:
                residues.add(line[21:27])
    return [line for line in atoms if line[21:27] in residues]


def turned(atoms: list[str], chains: Iterable[str]) -> list[str]:
    """Some chains turned by 180° about an axis through their middle, across the direction to the
    others.
    """
    middle = _middle(atoms, chains)
    direction = middle - positions(without(atoms, chains)).mean(axis=0)
    across = np.cross(direction, (0.3, 0.5, 0.8))
    across /= np.linalg.norm(across)
    return moved(
        atoms,
        chains,
        lambda xyz: (
            (2 * np.outer(across, across) - np.eye(3)) @ (xyz - middle) + middle
        ),
    )


def ring(atoms: list[str], n: int, radius: float) -> list[str]:
    """Copies A, B, C … of one chain around an axis, each middle `radius` Å from it."""
    xyz = positions(atoms)
    centred, found = xyz - xyz.mean(axis=0), []
    for k in range(n):
        c, s = np.cos(2 * np.pi * k / n), np.sin(2 * np.pi * k / n)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        copy = [f"{line[:21]}{chr(65 + k)}{line[22:]}" for line in atoms]
        place = iter((centred + np.array([radius, 0, 0])) @ turn.T)
        found += moved(copy, [chr(65 + k)], lambda _, place=place: next(place))
    return found


def _middle(atoms: list[str], chains: Iterable[str]) -> np.ndarray:
    return positions(line for line in atoms if line[21] in chains).mean(axis=0)


def write_pdb(path: Path, atoms: list[str]) -> Path:
    """Write a PDB file, chain by chain."""
    path.parent.mkdir(parents=True, exist_ok=True)
    chains = dict.fromkeys(line[21] for line in atoms)
    blocks = (
        "\n".join(line for line in atoms if line[21] == chain) for chain in chains
    )
    path.write_text("".join(f"{block}\nTER\n" for block in blocks) + "END\n")
    return path


def antibody_decoys(folder: Path, atoms: list[str], antigen: str) -> None:
    """An antibody on its antigen, and what everybody knows to be worse."""
    variants = {
        "native": atoms,
        "turned": turned(atoms, antigen),
        "away50": away(atoms, antigen, 50.0),
        "away200": away(atoms, antigen, 200.0),
        "no_antigen": without(atoms, antigen),
    }
    for name, variant in variants.items():
        write_pdb(folder / f"{name}.pdb", variant)
