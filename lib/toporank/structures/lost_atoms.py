"""Atoms whose place is not known: several in one point.

Programs write 0, 0, 0 or another constant where they know no place, put a side chain on its CA, or
repeat a residue; others add noise. Two atoms of a molecule are 1 Å apart at least.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import gemmi
import numpy as np

from toporank.errors import StructureError
from toporank.structures.model_residue import ModelResidue, n_atoms_of
from toporank.structures.stored import PER_ANGSTROM

BACKBONE = ("N", "CA", "C", "O")
MOST = 0.5
"""Share of the residues of a chain that may have no place. Where more of all atoms are too near to
the next one, the unit is another one.
"""
NEAREST = 0.5
"""Å between atoms that follow one another; nearer ones lie in one point but for noise."""
FARTHEST = 1e6
"""Å. Farther away are atoms of unknown place."""
MIXED = np.array(
    [0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64
)
"""Factors that make one number of three coordinates."""
AtomIndex = tuple[int, int]
"""Place of a residue among all, and of an atom in it."""


class PlacedResidues(NamedTuple):
    """The residues of a model with a place, and the amino acids without one.

    Attributes
    ----------
    residues, lost : in the order of the file
    notes : what was left out, a sentence for each chain
    refusal : why no complex can be made of them, where most of a chain has no place
    """

    residues: list[ModelResidue]
    lost: list[ModelResidue]
    notes: list[str]
    refusal: StructureError | None


def leave_out_lost(
    positions: np.ndarray,
    residues: list[ModelResidue],
    copies: Callable[[], dict[str, str]],
) -> PlacedResidues:
    """Leave out amino acids and side chains that lie in one point with others.

    Parameters
    ----------
    positions : of all atoms of the residues, (A, 3), Å
    residues : of a model, all of them; side chains without a place are taken out of them
    copies : gives the chains that stand in the place of another one
    """
    lost = _lost(positions, residues, copies)
    left_out: dict[str, list[ModelResidue]] = defaultdict(list)
    without_side_chain: dict[str, list[ModelResidue]] = defaultdict(list)
    for place, atoms in lost.items():
        residue = residues[place]
        names = {residue.residue[atom].name for atom in atoms}
        if "CA" in names or len(names) == len(residue.residue):
            left_out[residue.chain].append(residue)
            continue
        without_side_chain[residue.chain].append(residue)
        for atom in sorted(atoms, reverse=True):
            del residue.residue[atom]
    notes = []
    refusal = None
    places: set[int] = set()
    for chain, members in left_out.items():
        n_all = sum(
            residue.chain == chain and residue.parent != "" for residue in residues
        )
        n_lost = f"{len(members)} of {n_all} residues of chain {chain!r}"
        where = f"{n_lost} lie in one point with others ({_numbers(members)})"
        if len(members) > MOST * n_all:
            remedy = "their place is not known: make it again"
            refusal = refusal or StructureError(where, remedy=remedy)
        notes.append(f"{where}: left out, since their place is not known")
        places.update(residue.place for residue in members)
    for chain, members in without_side_chain.items():
        what = f"atoms of {len(members)} side chains of chain {chain!r}"
        notes.append(f"{what} lie in one point ({_numbers(members)}): left out")
    lost_ones = [residue for residue in residues if residue.place in places]
    placed = [residue for residue in residues if residue.place not in places]
    return PlacedResidues(placed, lost_ones, notes, refusal)


def _numbers(residues: list[ModelResidue]) -> str:
    first, last = residues[0].number, residues[-1].number
    return f"{first} to {last}" if len(residues) > 1 else f"{first}"


def _lost(
    positions: np.ndarray,
    residues: list[ModelResidue],
    copies: Callable[[], dict[str, str]],
) -> dict[int, set[int]]:
    """Place of each amino acid → its heavy atoms that share their point with another atom."""
    if not positions.any() or not (np.abs(positions) < FARTHEST).all():
        return {}  # which is said of all of them
    whole = np.rint(positions * PER_ANGSTROM).astype(np.int64)
    points = (whole.view(np.uint64) * MIXED).sum(axis=1)
    ordered = np.sort(points)
    shared = ordered[1:][ordered[1:] == ordered[:-1]]
    is_near = np.square(np.diff(positions, axis=0)).sum(axis=1) < NEAREST**2
    if is_near.sum() > MOST * len(is_near):
        is_near[:] = False
    if not len(shared) and not is_near.any():
        return {}
    sizes = n_atoms_of(residues)
    residue_of = np.repeat(np.arange(len(residues)), sizes)
    index_of = np.arange(len(points)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    names_of_copies = copies()

    def atom_of(atom: int) -> gemmi.Atom:
        return residues[residue_of[atom]].residue[index_of[atom]]

    for atom in np.flatnonzero(is_near).tolist():
        is_near[atom] = atom_of(atom).altloc == atom_of(atom + 1).altloc
    # atoms of one point have its number; atoms near to the one before have that of the first
    run_of = np.cumsum(np.append(True, ~is_near))
    of_run = np.append(False, is_near) | np.append(is_near, False)
    at_point: dict[tuple[str, int], list[AtomIndex]] = defaultdict(list)
    for atom in np.flatnonzero(np.isin(points, shared) | of_run).tolist():
        residue = residues[residue_of[atom]]
        is_heavy = not atom_of(atom).is_hydrogen()
        if residue.parent and is_heavy and residue.chain not in names_of_copies:
            of_atom = int(residue_of[atom]), int(index_of[atom])
            at_point["point", int(points[atom])].append(of_atom)
            at_point["run", int(run_of[atom])].append(of_atom)
    lost: dict[int, set[int]] = defaultdict(set)
    for atoms in at_point.values():
        for place, index in _without_place(atoms, residues):
            lost[place].add(index)
    return dict(sorted(lost.items()))


def _without_place(
    atoms: list[AtomIndex], residues: list[ModelResidue]
) -> list[AtomIndex]:
    """The atoms in one point whose place this is not.

    That is not so for alternate locations of one atom, for chains on one another, and for the atom
    of the backbone on which the side chain of its residue was put.
    """
    identities = set()
    backbone = []
    for place, index in atoms:
        residue = residues[place]
        name = residue.residue[index].name
        identities.add((residue.chain, residue.number, residue.code, name))
        if name in BACKBONE:
            backbone.append((place, index))
    atom_names = {name for *_, name in identities}
    n_chains = len({chain for chain, *_ in identities})
    if len(identities) < 2 or (len(atom_names) == 1 and n_chains == len(identities)):
        return []
    of_one_residue = len({identity[:3] for identity in identities}) == 1
    if of_one_residue and len(atom_names.intersection(BACKBONE)) == 1:
        return [atom for atom in atoms if atom not in backbone]
    return atoms
