"""Edges that describe how two residues touch.

They have areas, energies, atom contacts and how the residues face each other.

The same in any frame and under any names of chains. Their sums and means over an interface are what
is known to tell good models from bad ones: its size, buried area, clashes, hydrogen bonds and
potentials of mean force.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from pydantic import Field

from toporank.errors import FeatureError
from toporank.features.atom_types import (
    APOLAR,
    ATOM_TYPES,
    NEGATIVE,
    POLAR,
    POSITIVE,
)
from toporank.features.pairs import Edges, both_directions, node_pairs
from toporank.features.potentials import CONTACT, LIMITS, RESIDUES, read_potentials
from toporank.features.registry import Angstrom, Parameters, Scaling, register
from toporank.features.residue_frames import orientation
from toporank.features.surface import Seen, around
from toporank.lookup import places_of
from toporank.structures.complex import Complex

RANGES = np.searchsorted((4.0, 6.0), LIMITS[:-1], side="right")
"""The range of each shell of distances: short, middle and long."""


def _between(first: np.ndarray, second: np.ndarray, cutoff: float) -> np.ndarray:
    """(T, T): Å for pairs of these types, (T,) each, 0 for others."""
    return cutoff * (np.outer(first, second) | np.outer(second, first))


_ELEMENT = np.array([name[0] for name in ATOM_TYPES])
CLASSES = {
    "hydrogen_bonds": _between(_ELEMENT == "N", _ELEMENT == "O", 3.5),
    "salt_bridges": _between(POSITIVE, NEGATIVE, 4.0),
    "like_charges": np.maximum(
        _between(POSITIVE, POSITIVE, 5.0), _between(NEGATIVE, NEGATIVE, 5.0)
    ),
    "apolar_contacts": _between(APOLAR, APOLAR, 4.5),
    "mixed_contacts": _between(APOLAR, POLAR, 4.5),
}
"""Contacts that are counted: the distance in Å below which two types of atoms make one."""


class ContactsV1(Parameters):
    """Parameters of `edges/contacts/v1`."""

    cutoff: Angstrom = Field(14.0, le=50)
    """Only residues with CA atoms nearer than this."""
    nearest: Angstrom = Field(8.0, le=50)
    """And with heavy atoms nearer than this."""
    scaling: Scaling = "training_set"
    """`training_set`: by mean and standard deviation of the training graphs, kept in the
    checkpoint. `per_decoy`: every column to [0, 1] within each decoy. `none`: as they are.
    """

    @property
    def reach(self) -> float:
        """How far from the interface the module looks, Å: at atoms of partners only."""
        return 0.0


def columns(parameters: ContactsV1) -> list[str]:
    """Columns that are equal in both directions come first."""
    return [
        "ca_distance",
        "nearest_atoms",
        "side_chain_distance",
        "area",
        "area_apolar",
        "area_polar",
        "area_mixed",
        "area_energy",
        "energy_short",
        "energy_middle",
        "energy_long",
        "residue_energy",
        "contact",
        *(f"atom_pairs_{low:g}_{high:g}" for low, high in pairwise(LIMITS)),
        *CLASSES,
        "axes_x",
        "axes_y",
        "axes_z",
        "side_chains",
        "from_x",
        "from_y",
        "from_z",
        "side_chain_from",
        "to_x",
        "to_y",
        "to_z",
        "side_chain_to",
    ]


ROOTS = slice(3, 30)
"""Columns that are replaced by their square root, with the sign: areas, energies and counts, which
have long tails.
"""


@register(
    "edges/contacts/v1",
    alias="contacts",
    summary=(
        "shared surface, potentials of mean force, atom contacts and mutual orientation; the same "
        "in any frame"
    ),
    parameters=ContactsV1,
    columns=columns,
)
def contact_edges(
    parameters: ContactsV1, complex_: Complex, nodes: np.ndarray
) -> Edges:
    """Edges from i to j, near residues of different partners.

    nodes : int, (n,), residue indices.

    `area*` is the surface that both share, all of it and between apolar, polar and different atoms,
    `area_energy` the potential of it; `energy_*` the potential of atom pairs by distance,
    `residue_energy` that of the residue pair, if they touch (`features.potentials`). `from_*` is
    the direction to j in the frame of i, `to_*` that to i in the frame of j, as unit vectors;
    `axes_*` are the cosines between equal axes of both frames; `side_chain*` are cosines of the
    side-chain directions with each other and with these directions
    (`features.residue_frames`). Raises FeatureError when there is no edge.
    """
    # imports numba, which is slow
    from toporank_kernels.atoms import typed_distances

    seen = around(complex_, nodes)
    heavy, types, _ = seen
    pairs, distance = node_pairs(heavy, nodes, parameters.cutoff)
    counts, energies, contacts, nearest = typed_distances(
        np.ascontiguousarray(heavy.xyz),
        types,
        heavy.atom_slices,
        nodes[pairs],
        np.array(LIMITS),
        read_potentials().atoms,
        RANGES,
        np.array([*CLASSES.values()]),
    )
    near = nearest < parameters.nearest
    if not near.any():
        raise FeatureError(
            f"no two nodes of different partners have heavy atoms within {parameters.nearest:g} Å "
            "of each other",
            remedy="are side chains missing, or do the partners hardly touch?",
        )
    touching = nearest < CONTACT
    turned = orientation(heavy, nodes, pairs, distance)
    symmetric = np.column_stack(
        [
            distance,
            nearest,
            turned.apart,
            _shared_areas(seen, nodes, pairs),
            energies,
            np.where(touching, _residue_energies(heavy, nodes[pairs]), 0.0),
            touching,
            counts,
            contacts,
            turned.axes,
            turned.side_chains,
        ]
    )
    symmetric[:, ROOTS] = np.sign(symmetric[:, ROOTS]) * np.sqrt(
        np.abs(symmetric[:, ROOTS])
    )
    forward = np.column_stack([symmetric, turned.from_first, turned.from_second])
    backward = np.column_stack([symmetric, turned.from_second, turned.from_first])
    return both_directions(
        pairs[near], forward[near], backward[near], parameters.scaling
    )


def _residue_energies(heavy: Complex, pairs: np.ndarray) -> np.ndarray:
    """The potential of each pair of residues, shape (P,).

    0 where one is not standard. pairs : int, (P, 2).
    """
    number = places_of(RESIDUES)
    kinds = np.array([number.get(parent, -1) for parent in heavy.parents])[pairs]
    energies = read_potentials().residues[tuple(kinds.T)]
    return np.where((kinds >= 0).all(axis=1), energies, 0.0)


def _shared_areas(seen: Seen, nodes: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The surface that the residues of pairs cover of each other, halved.

    Å² between all, apolar, polar and mixed atoms, and its potential; shape (P, 5).

    nodes : int, (n,), residues. pairs : int, (P, 2), places in nodes, row by row.
    """
    heavy, types, shared = seen
    place = np.full(len(heavy.residues), -1)
    place[nodes] = np.arange(len(nodes))
    ends = np.sort(place[heavy.residue_of[[shared.of, shared.by]]], axis=0)
    # One number for each pair of nodes: those of `pairs` rise, so that a binary search finds the
    # pair of an area.
    number_of_pair = pairs @ (len(nodes), 1)
    number = (len(nodes), 1) @ ends
    pair = np.searchsorted(number_of_pair, number).clip(0, len(pairs) - 1)
    is_pair = (ends[0] >= 0) & (number_of_pair[pair] == number)
    pair, area = pair[is_pair], shared.area[is_pair]
    of, by = types[shared.of[is_pair]], types[shared.by[is_pair]]
    typed = (of >= 0) & (by >= 0)
    weights = [
        np.ones(len(pair)),
        typed & APOLAR[of] & APOLAR[by],
        typed & POLAR[of] & POLAR[by],
        typed & (APOLAR[of] & POLAR[by] | POLAR[of] & APOLAR[by]),
        typed * read_potentials().surface[of, by],
    ]
    areas = [
        np.bincount(pair, area * weight, minlength=len(pairs)) for weight in weights
    ]
    return np.column_stack(areas) / 2
