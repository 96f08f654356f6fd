"""Chains that are written twice: merged files often hold the same chain under two names, in the same place."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import gemmi

SAME_PLACE = 0.5
"""Å between the CA atoms of a chain and of its copy, at most."""
NEIGHBOURS = tuple(itertools.product((-1, 0, 1), repeat=3))


def copies(model: gemmi.Model, parents: list[list[str]]) -> dict[str, str]:
    """Chains that stand in the place of an earlier one: name of the copy → name of that chain.

    A copy has the same amino acids in the same order, and each CA within `SAME_PLACE` of its counterpart; a chain with
    the same sequence somewhere else is not a copy. parents : of the residues of each chain, "" for what is not protein.
    """
    sequences: dict[str, list[str]] = defaultdict(list)
    for chain, of_chain in zip(model, parents, strict=True):
        sequences[chain.name] += filter(None, of_chain)
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, sequence in sequences.items():
        alike[tuple(sequence)].append(name)
    found: dict[str, str] = {}
    for names in alike.values():
        if len(names) > 1:
            found |= _in_one_place(_protein(model, parents, names))
    return found


def _protein(model: gemmi.Model, parents: list[list[str]], names: list[str]) -> dict[str, list[gemmi.Residue]]:
    """The protein residues of some chains, whose parts may stand apart."""
    found: dict[str, list[gemmi.Residue]] = {name: [] for name in names}
    for chain, of_chain in zip(model, parents, strict=True):
        if chain.name in found:
            found[chain.name] += itertools.compress(chain, of_chain)
    return found


def _in_one_place(chains: dict[str, list[gemmi.Residue]]) -> dict[str, str]:
    """Copies among chains of equal sequences, by the cell of a grid that their first CA is in."""
    cells: dict[tuple[int, ...], list[str]] = defaultdict(list)
    found: dict[str, str] = {}
    for name, residues in chains.items():
        first = next(filter(None, map(_ca, residues)), None)
        if first is None or not all(map(math.isfinite, first.pos.tolist())):
            continue
        cell = tuple(math.floor(x / SAME_PLACE) for x in first.pos.tolist())
        near = (other for step in NEIGHBOURS for other in cells.get(tuple(map(sum, zip(cell, step, strict=True))), ()))
        original = next((other for other in near if _coincide(chains[other], residues)), None)
        if original:
            found[name] = original
        else:
            cells[cell].append(name)
    return found


def _coincide(one: list[gemmi.Residue], other: list[gemmi.Residue]) -> bool:
    """Whether all CA atoms of two chains with equal sequences are in the same places."""
    pairs = ((_ca(a), _ca(b)) for a, b in zip(one, other, strict=True))
    return all((a is b is None) or (a and b and a.pos.dist(b.pos) <= SAME_PLACE) for a, b in pairs)


def _ca(residue: gemmi.Residue) -> gemmi.Atom | None:
    return residue.find_atom("CA", "*")
