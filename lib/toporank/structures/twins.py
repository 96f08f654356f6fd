"""Several residues of one identity: conformations of one residue, or its parts."""

from __future__ import annotations

import math
from collections import defaultdict

import gemmi

from toporank.structures.model_residue import ModelResidue

TWIN_DISTANCE = 1.0
"""Å between two CA atoms beyond which equal ids mean two residues."""


def join_twins(residues: list[ModelResidue]) -> tuple[list[ModelResidue], list[str]]:
    """Leave one amino acid for each identity, so that a chain has each of its letters once.

    Of amino acids with different names the one with the highest occupancy stays, and of equal ones
    the first; parts of one are joined. Those in different places stay, since no complex can have
    them.

    Parameters
    ----------
    residues : of a model; the first of each identity gets the name and the atoms

    Returns
    -------
    residues : without the others
    notes : what was left out
    """
    sites: dict[tuple, list[ModelResidue]] = defaultdict(list)
    for residue in residues:
        if residue.parent:
            sites[residue.chain, residue.number, residue.code].append(residue)
    further: set[int] = set()
    n_left_out = 0
    for site in sites.values():
        if len(site) < 2 or _are_apart(site):
            continue
        best = max(site, key=_occupancy)
        parts = [residue for residue in site if residue.name == best.name]
        n_atoms = sum(len(residue.residue) for residue in site)
        _take(site[0], best, parts)
        n_left_out += n_atoms - len(site[0].residue)
        further.update(residue.place for residue in site[1:])
    if not further:
        return residues, []
    notes = []
    if n_left_out:
        notes.append(f"{n_left_out} atoms in alternate locations left out")
    return [residue for residue in residues if residue.place not in further], notes


def _take(first: ModelResidue, best: ModelResidue, parts: list[ModelResidue]) -> None:
    """Give the first of some residues the name of the best one and all atoms of its parts."""
    atoms: list[gemmi.Atom] = []
    for part in parts:
        atoms += [atom.clone() for atom in part.residue]
    first.name, first.parent = best.name, best.parent
    first.residue.name = best.name
    first.residue.het_flag = best.residue.het_flag
    first.residue.label_seq = best.residue.label_seq
    while len(first.residue):
        del first.residue[0]
    for atom in atoms:
        first.residue.add_atom(atom)


def _occupancy(residue: ModelResidue) -> float:
    numbers = [atom.occ for atom in residue.residue if not math.isnan(atom.occ)]
    return max(numbers, default=0.0)


def _are_apart(site: list[ModelResidue]) -> bool:
    """Whether CA atoms that are no alternate locations of each other lie in different places."""
    first: dict[str, gemmi.Position] = {}
    for residue in site:
        ca = residue.atom("CA")
        if ca and first.setdefault(ca.altloc, ca.pos).dist(ca.pos) > TWIN_DISTANCE:
            return True
    return False
