"""Chains that are written twice: merged files often hold the same chain under two names, in the
same place.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

from toporank.structures.model_residue import ModelResidue

SAME_PLACE = 0.5
"""Å between the CA atoms of a chain and of its copy, at most."""
NEIGHBOURS = tuple(itertools.product((-1, 0, 1), repeat=3))


def copies(residues: list[ModelResidue]) -> dict[str, str]:
    """Find chains that stand in the place of an earlier one: name of the copy → name of that chain.

    A copy has the same amino acids in the same order, and each CA within `SAME_PLACE` of its
    counterpart; a chain with the same sequence somewhere else is not a copy.
    """
    chains: dict[str, list[ModelResidue]] = defaultdict(list)
    for residue in residues:
        of_chain = chains[residue.chain]
        if residue.parent:
            of_chain.append(residue)
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, of_chain in chains.items():
        alike[tuple(residue.parent for residue in of_chain)].append(name)
    original: dict[str, str] = {}
    for names in alike.values():
        if len(names) > 1:
            original |= _in_one_place({name: chains[name] for name in names})
    return original


def _in_one_place(chains: dict[str, list[ModelResidue]]) -> dict[str, str]:
    """Copies among chains of equal sequences, by the cell of a grid that their first CA is in."""
    in_cell: dict[tuple[int, ...], list[str]] = defaultdict(list)
    original: dict[str, str] = {}
    for name, residues in chains.items():
        first_ca = next(filter(None, (residue.atom("CA") for residue in residues)), None)
        if first_ca is None or not all(map(math.isfinite, first_ca.pos.tolist())):
            continue
        x, y, z = [math.floor(along / SAME_PLACE) for along in first_ca.pos.tolist()]
        near: list[str] = []
        for dx, dy, dz in NEIGHBOURS:
            near += in_cell.get((x + dx, y + dy, z + dz), ())
        first = next((other for other in near if _coincide(chains[other], residues)), None)
        if first:
            original[name] = first
        else:
            in_cell[x, y, z].append(name)
    return original


def _coincide(one: list[ModelResidue], other: list[ModelResidue]) -> bool:
    """Whether all CA atoms of two chains with equal sequences are in the same places."""
    for first, second in zip(one, other, strict=True):
        ca = first.atom("CA")
        ca_of_other = second.atom("CA")
        if (ca is None) != (ca_of_other is None):
            return False
        if ca and ca.pos.dist(ca_of_other.pos) > SAME_PLACE:
            return False
    return True
