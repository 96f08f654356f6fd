"""Standard amino acids in HETATM records.

They are part of a chain where a peptide bond says so, and ligands otherwise.
"""

from __future__ import annotations

from collections import defaultdict

from toporank.structures.complex import STANDARD
from toporank.structures.model_residue import ModelResidue

LEAST = 3
"""Amino acids in a row that are a chain of their own; fewer are a ligand."""


def join_chains(residues: list[ModelResidue]) -> dict[str, list[str]]:
    """Give amino acids in HETATM records that are part of a chain their parent.

    It returns the notes on them, by chain.

    They are bonded to an amino acid of their chain, directly or by others, or are the whole of it.
    """
    candidates: dict[str, list[ModelResidue]] = defaultdict(list)
    for residue in residues:
        if not residue.parent and residue.name in STANDARD and residue.atom("CA"):
            candidates[residue.chain].append(residue)
    notes: dict[str, list[str]] = {}
    for chain, free in candidates.items():
        protein = [
            residue for residue in residues if residue.chain == chain and residue.parent
        ]
        joined = _bonded_groups(protein, free)
        for residue in joined:
            residue.parent = residue.name
        n_ligands = len(free) - len(joined)
        notes[chain] = []
        if joined:
            s = "s" if len(joined) > 1 else ""
            notes[chain].append(
                f"{len(joined)} amino acid{s} of chain {chain} written as "
                "HETATM, read as part of it"
            )
        if n_ligands >= LEAST:
            notes[chain].append(
                f"{n_ligands} amino acids of chain {chain} written as HETATM and not bonded to "
                "others, read as ligands"
            )
    return notes


def _bonded_groups(
    protein: list[ModelResidue], free: list[ModelResidue]
) -> list[ModelResidue]:
    """Those free amino acids that are part of the chain. protein : the others of it."""
    near = _neighbours(protein + free)
    free_places = {residue.place for residue in free}
    only_hetero = all(residue.residue.het_flag == "H" for residue in protein)
    seen: set[int] = set()
    joined = []
    for first in free:
        if first.place in seen:
            continue
        group = {first.place: first}
        to_visit = [first]
        while to_visit:
            residue = to_visit.pop()
            for other in near[residue.place]:
                bonded = residue.bonded(other) or other.bonded(residue)
                if bonded and other.place not in group:
                    group[other.place] = other
                    if other.place in free_places:
                        to_visit.append(other)
        seen |= group.keys()
        touches_protein = not group.keys() <= free_places
        if touches_protein or (only_hetero and len(group) >= LEAST):
            joined += [
                residue for residue in group.values() if residue.place in free_places
            ]
    return joined


def _neighbours(residues: list[ModelResidue]) -> dict[int, list[ModelResidue]]:
    """By place, the residues that come next in the file or by number."""
    of_number: dict[int, list[ModelResidue]] = defaultdict(list)
    for residue in residues:
        of_number[residue.number].append(residue)
    order = sorted(residues, key=lambda residue: residue.place)
    near = {}
    for k, residue in enumerate(order):
        number = residue.number
        near[residue.place] = [
            *order[max(0, k - 1) : k + 2],
            *of_number[number - 1],
            *of_number[number],
            *of_number[number + 1],
        ]
    return near
