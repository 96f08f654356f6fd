"""Wrong arrangements of real complexes, whose place in a ranking is known: a partner turned, moved
away or missing.

`tests/data/antibody_7DAA.pdb.gz` has the variable domains H and L of an antibody on their antigen A
(PDB 7DAA, CC0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from structures_text import Atom, changed, pdb

ANTIBODY = Path(__file__).parent / "data" / "antibody_7DAA.pdb.gz"
Move = Callable[[np.ndarray], np.ndarray]


def positions(atoms: Iterable[Atom]) -> np.ndarray:
    """Coordinates in Å, shape (n, 3)."""
    return np.array([(atom.x, atom.y, atom.z) for atom in atoms])


def renamed(atoms: Iterable[Atom], names: Mapping[str, str]) -> list[Atom]:
    """Chains under other names, in order of name."""
    found = [replace(a, chain=names.get(a.chain, a.chain)) for a in atoms]
    return sorted(found, key=lambda atom: atom.chain)


def chains_of(atoms: Iterable[Atom], chains: Iterable[str]) -> list[Atom]:
    """The atoms of these chains."""
    return [atom for atom in atoms if atom.chain in chains]


def without(atoms: Iterable[Atom], chains: Iterable[str]) -> list[Atom]:
    """The atoms of the other chains."""
    return [atom for atom in atoms if atom.chain not in chains]


def moved(atoms: list[Atom], chains: Iterable[str], move: Move) -> list[Atom]:
    """The atoms, of which those of some chains are moved."""
    found = []
    for atom, xyz in zip(atoms, positions(atoms), strict=True):
        x, y, z = move(xyz) if atom.chain in chains else xyz
        found.append(replace(atom, x=float(x), y=float(y), z=float(z)))
    return found


def away(atoms: list[Atom], chains: Iterable[str], distance: float) -> list[Atom]:
    """Some chains moved by a distance in Å, away from the middle of the others."""
    direction = _middle(chains_of(atoms, chains)) - _middle(without(atoms, chains))
    step = distance * direction / np.linalg.norm(direction)
    return moved(atoms, chains, lambda xyz: xyz + step)


def near_partner(
    atoms: list[Atom], one: str, other: str, distance: float
) -> list[Atom]:
    """The residues of two sides that have an atom within `distance` Å of the other side."""
    residues = set()
    for side, facing in ((one, other), (other, one)):
        atoms_of_side = chains_of(atoms, side)
        tree = cKDTree(positions(chains_of(atoms, facing)))
        nearest, _ = tree.query(positions(atoms_of_side))
        for atom, apart in zip(atoms_of_side, nearest, strict=True):
            if apart < distance:
                residues.add(_residue(atom))
    return [atom for atom in atoms if _residue(atom) in residues]


def turned(atoms: list[Atom], chains: Iterable[str]) -> list[Atom]:
    """Some chains turned by 180° about an axis through their middle, across the direction to the
    others.
    """
    middle = _middle(chains_of(atoms, chains))
    across = np.cross(middle - _middle(without(atoms, chains)), (0.3, 0.5, 0.8))
    across /= np.linalg.norm(across)
    turn = 2 * np.outer(across, across) - np.eye(3)
    return moved(atoms, chains, lambda xyz: turn @ (xyz - middle) + middle)


def ring(atoms: list[Atom], n: int, radius: float) -> list[Atom]:
    """Copies A, B, C … of one chain around an axis, each middle `radius` Å from it."""
    middle, found = _middle(atoms) - np.array([radius, 0, 0]), []
    for k in range(n):
        c, s = np.cos(2 * np.pi * k / n), np.sin(2 * np.pi * k / n)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        name = chr(65 + k)
        copy = changed(atoms, chain=name)
        found += moved(copy, name, lambda xyz, turn=turn: turn @ (xyz - middle))
    return found


def _middle(atoms: list[Atom]) -> np.ndarray:
    return positions(atoms).mean(axis=0)


def _residue(atom: Atom) -> tuple[str, int | str, str]:
    return atom.chain, atom.number, atom.insertion_code


def write_pdb(path: Path, atoms: list[Atom]) -> Path:
    """Write a PDB file, chain by chain."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = dict.fromkeys(atom.chain for atom in atoms)
    chains = [pdb(chains_of(atoms, [name])) for name in names]
    path.write_text("".join(f"{chain}TER\n" for chain in chains) + "END\n")
    return path


def antibody_decoys(folder: Path, atoms: list[Atom], antigen: str) -> None:
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
