"""Nodes that also say what a residue does in the interface.

They have the surface that it buries, shares and leaves free.
"""

from __future__ import annotations

import numpy as np

from toporank.features.atom_types import APOLAR, POLAR, atom_types
from toporank.features.dssp_nodes import (
    DsspTopology,
    NodeTable,
    dssp_topology_nodes,
)
from toporank.features.dssp_nodes import columns as dssp_columns
from toporank.features.potentials import read_potentials
from toporank.features.registry import register
from toporank.features.surface import Seen, around, neighbours
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
        "ten columns of the surface that a residue buries, shares and leaves free, then those "
        "of nodes/dssp_topology/v1"
    ),
    parameters=DsspTopology,
    columns=columns,
)
def contact_nodes(
    parameters: DsspTopology,
    complex_: Complex,
    residues: np.ndarray,
    topology: np.ndarray,
) -> NodeTable:
    """Node table of a complex.

    It has ten columns before those of `dssp_nodes.dssp_topology_nodes`, which takes the same
    arguments.

    Surface in Å²: `free`, `buried` by other partners (all, apolar and polar atoms), `shared` with
    them; `shared_energy` and `water_energy`, the potentials of both; `unsatisfied`, buried polar
    atoms without N or O of another residue within 3.5 Å; `clashes`, atoms of other partners within
    3 Å; `heavy_atoms`. Of all the square root, with its sign, is taken.
    """
    table = dssp_topology_nodes(parameters, complex_, residues, topology)
    values = _surface_columns(around(complex_, residues), residues)
    values = np.sign(values) * np.sqrt(np.abs(values))
    values[np.array(table.lost) != ""] = 0.0
    return NodeTable(np.concatenate([values, table.values], axis=1), table.lost)


def _surface_columns(seen: Seen, residues: np.ndarray) -> np.ndarray:
    """The columns `OWN` before their roots, shape (n, 10)."""
    heavy, types, shared = seen
    potentials = read_potentials()
    body = heavy.body_of[heavy.residue_of]
    place = np.full(len(heavy.residues), -1)
    place[residues] = np.arange(len(residues))

    def of_residues(atoms: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        return np.bincount(
            place[heavy.residue_of[atoms]], values, minlength=len(residues)
        )

    atoms, buried = shared.atoms, shared.alone - shared.free
    kind = types[atoms]
    is_typed = kind >= 0
    is_polar, is_apolar = is_typed & POLAR[kind], is_typed & APOLAR[kind]

    across = (body[shared.by] >= 0) & (body[shared.of] != body[shared.by])
    of, by, area = shared.of[across], shared.by[across], shared.area[across]
    type_of = types[of]
    type_by = atom_types(heavy, np.unique(heavy.residue_of[by]))[by]
    both_typed = (type_of >= 0) & (type_by >= 0)

    start, near = neighbours(heavy, atoms, HYDROGEN_BOND)
    whose = np.repeat(np.arange(len(atoms)), np.diff(start))
    first = atoms[whose]
    apart = np.linalg.norm(heavy.xyz[first] - heavy.xyz[near], axis=1)
    is_clash = (apart < CLASH) & (body[first] != body[near])
    is_bond = np.isin(heavy.elements[near], [b"N", b"O"])
    is_bond &= heavy.residue_of[first] != heavy.residue_of[near]
    n_bonds = np.bincount(whose, is_bond, minlength=len(atoms))
    was_buried = (shared.alone > EXPOSED) & (shared.free < BURIED)
    return np.column_stack(
        [
            of_residues(atoms, shared.free),
            of_residues(atoms, buried),
            of_residues(atoms, buried * is_apolar),
            of_residues(atoms, buried * is_polar),
            of_residues(of, area),
            of_residues(of, area * both_typed * potentials.surface[type_of, type_by]),
            of_residues(atoms, shared.free * is_typed * potentials.water[kind]),
            of_residues(atoms, is_polar & was_buried & (n_bonds == 0)),
            of_residues(first, is_clash),
            of_residues(atoms),
        ]
    )
