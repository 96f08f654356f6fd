"""Nodes that also say what a residue does in the interface: the surface that it buries, shares and
leaves free.
"""

from __future__ import annotations

import numpy as np

from toporank.features.atom_types import APOLAR, POLAR, atom_types
from toporank.features.nodes import (
    DsspTopology,
    NodeTable,
    along_principal_axes,
    dssp_topology_nodes,
)
from toporank.features.nodes import columns as dssp_columns
from toporank.features.potentials import read_potentials
from toporank.features.registry import register
from toporank.features.surface import neighbours, surfaces
from toporank.structures.complex import Complex

OWN = (
    "free",
    "buried",
    "buried_apolar",
    "buried_polar",
    "shared",
    "shared_energy",
    "water_energy",
    "unsatisfied",
    "clashes",
    "heavy_atoms",
)
BURIED, EXPOSED = 1.0, 5.0
"""Å²: a polar atom with less free surface than the one, which without the other partners had more
than the other, was buried by them.
"""
HYDROGEN_BOND = 3.5
CLASH = 3.0
"""Å between heavy atoms."""


def columns(parameters: DsspTopology) -> list[str]:
    """Names of this module's own columns; the topology columns follow them."""
    return [*OWN, *dssp_columns(parameters)]


@register(
    "nodes/contacts/v1",
    alias="contacts",
    summary=(
        "those of nodes/dssp_topology/v1, and the surface that a residue buries, shares and "
        "leaves free"
    ),
    parameters=DsspTopology,
    columns=columns,
)
def contact_nodes(
    parameters: DsspTopology, complex_: Complex, residues: np.ndarray, topology: np.ndarray
) -> NodeTable:
    """Node table of a complex: ten columns before those of `nodes.dssp_topology_nodes`, which takes
    the same.

    Surface in Å²: `free`, `buried` by other partners (all, apolar and polar atoms), `shared` with
    them; `shared_energy` and `water_energy`, the potentials of both; `unsatisfied`, buried polar
    atoms without N or O of another residue within 3.5 Å; `clashes`, atoms of other partners within
    3 Å; `heavy_atoms`. Of all the square root, with its sign, is taken.
    """
    table = dssp_topology_nodes(parameters, complex_, residues, topology)
    heavy = along_principal_axes(complex_.without_hydrogens(), residues)
    values = _surface_columns(heavy, residues)
    values = np.sign(values) * np.sqrt(np.abs(values))
    values[np.array(table.lost) != ""] = 0.0
    return NodeTable(np.concatenate([values, table.values], axis=1), table.lost)


def _surface_columns(heavy: Complex, residues: np.ndarray) -> np.ndarray:
    """The columns `OWN` before their roots, shape (n, 10)."""
    shared, potentials = surfaces(heavy, residues), read_potentials()
    types, body = atom_types(heavy, residues), heavy.body_of[heavy.residue_of]
    place = np.full(len(heavy.residues), -1)
    place[residues] = np.arange(len(residues))

    def of_residues(atoms: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.bincount(place[heavy.residue_of[atoms]], values, minlength=len(residues))

    kind = types[shared.atoms]
    typed, buried = kind >= 0, shared.alone - shared.free
    polar, apolar = typed & POLAR[kind], typed & APOLAR[kind]
    across = (body[shared.by] >= 0) & (body[shared.of] != body[shared.by])
    of, area = shared.of[across], shared.area[across]
    pairs = types[of], _types_anywhere(heavy, shared.by[across])
    known = (pairs[0] >= 0) & (pairs[1] >= 0)
    start, near = neighbours(heavy, shared.atoms, HYDROGEN_BOND)
    whose = np.repeat(np.arange(len(shared.atoms)), np.diff(start))
    first = shared.atoms[whose]
    apart = np.linalg.norm(heavy.xyz[first] - heavy.xyz[near], axis=1)
    clashing = (apart < CLASH) & (body[first] != body[near])
    bonded = np.isin(heavy.elements[near], [b"N", b"O"]) & (
        heavy.residue_of[first] != heavy.residue_of[near]
    )
    alone = np.bincount(whose, bonded, minlength=len(shared.atoms)) == 0
    unsatisfied = polar & (shared.alone > EXPOSED) & (shared.free < BURIED) & alone
    return np.column_stack(
        [
            of_residues(shared.atoms, shared.free),
            of_residues(shared.atoms, buried),
            of_residues(shared.atoms, buried * apolar),
            of_residues(shared.atoms, buried * polar),
            of_residues(of, area),
            of_residues(of, area * known * potentials.surface[pairs]),
            of_residues(shared.atoms, shared.free * typed * potentials.water[kind]),
            of_residues(shared.atoms, unsatisfied),
            of_residues(first, clashing),
            of_residues(shared.atoms, np.ones(len(shared.atoms))),
        ]
    )


def _types_anywhere(heavy: Complex, atoms: np.ndarray) -> np.ndarray:
    """Types of atoms, int, (m,), whatever their residues."""
    return atom_types(heavy, np.unique(heavy.residue_of[atoms]))[atoms]
