"""Edges that do not change when a complex is turned or shifted, or its chains are renamed or written in another order.

The 24 columns of `edges/multiscale_v24` give directions in the frame of the file; here they are given in the frames of
the two residues. Types of residues are node features, which the network sees with every edge; chain names mean nothing
and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import AfterValidator, Field

from toporank.features.pairs import Edges, atom_distances, both_directions, node_pairs, rising
from toporank.features.registry import Parameters, register
from toporank.features.scaling import Scaling, scaled
from toporank.structures.complex import Complex

BACKBONE = [b"N", b"CA", b"C", b"O", b"OXT"]


class Invariant(Parameters):
    """Parameters of `edges/invariant/v1`."""

    bands: Annotated[tuple[float, float, float, float], AfterValidator(rising)] = Field(
        (0.0, 6.0, 10.0, 14.0),
        json_schema_extra={"unit": "Å"},
        description="Limits of the short, medium and long band of CA distances; the last one is the cutoff.",
    )
    bins: Annotated[tuple[float, ...], AfterValidator(rising)] = Field(
        (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20),
        min_length=2,
        json_schema_extra={"unit": "Å"},
        description="Limits of the histogram of distances between heavy atoms, as shares of those within the limits.",
    )
    contacts: Annotated[tuple[float, ...], AfterValidator(rising)] = Field(
        (2.5, 5.0, 10.0),
        min_length=1,
        json_schema_extra={"unit": "Å"},
        description="Pairs of heavy atoms nearer than each of these are counted; the first are clashes.",
    )
    scaling: Scaling = Field(
        "training_set",
        description="`training_set`: by mean and standard deviation of the training graphs, kept in the checkpoint."
        " `per_decoy`: every column to [0, 1] within each decoy. `none`: Å, counts and cosines as they are.",
    )

    @property
    def reach(self) -> float:
        return 0.0  # atoms of partners only


def columns(parameters: Invariant) -> list[str]:
    """Columns that are equal in both directions come first."""
    bins = parameters.bins
    return [
        "ca_distance", "inverse_distance", "band_short", "band_medium", "band_long",
        "nearest_atoms", "side_chain_distance",
        *(f"contacts_{limit:g}" for limit in parameters.contacts),
        *(f"atom_pairs_{low:g}_{high:g}" for low, high in pairwise(bins)),
        "axes_x", "axes_y", "axes_z", "side_chains",
        "from_x", "from_y", "from_z", "side_chain_from",
        "to_x", "to_y", "to_z", "side_chain_to",
    ]  # fmt: skip


@register(
    "edges/invariant/v1",
    alias="invariant",
    summary="distance bands, local directions and orientation, heavy-atom histogram, contacts; the same in any frame",
    parameters=Invariant,
    columns=columns,
)
def invariant_edges(parameters: Invariant, complex_: Complex, nodes: np.ndarray) -> Edges:
    """Edges by distance, mutual orientation and atom–atom distances. nodes : int, shape (n,), residue indices.

    For an edge from i to j: `from_*` is the direction to j in the frame of i and `to_*` the direction to i in
    the frame of j, as unit vectors; `axes_*` are the cosines between equal axes of both frames; `side_chain*` are
    cosines of the side-chain directions with each other and with these directions. Hydrogens are left out.
    Raises FeatureError when there is no edge.
    """
    pairs, distance = node_pairs(complex_, nodes, parameters.bands[-1], parameters.bands[0])
    heavy = complex_.without_hydrogens()
    counts, nearest = atom_distances(heavy, nodes[pairs], np.array(parameters.bins))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    contacts = atom_distances(heavy, nodes[pairs], np.array([0.0, *parameters.contacts]))[0].cumsum(axis=1)
    band = np.eye(3)[np.searchsorted(parameters.bands[1:3], distance, side="right")]
    turned = orientation(heavy, nodes, pairs, distance)
    seen = [distance, 1.0 / distance, band, nearest, turned.apart, contacts, shares, turned.axes, turned.side_chains]
    ends = turned.from_first, turned.from_second
    edges = both_directions(pairs, np.column_stack([*seen, *ends]), np.column_stack([*seen, *ends[::-1]]))
    return Edges(edges.index, scaled(edges.attributes, parameters.scaling))


class Orientation(NamedTuple):
    """How the residues of P pairs are turned to each other.

    apart : (P,), Å between the centres of their side chains. axes : (P, 3), cosines between equal axes of both frames,
    side_chains : (P,), between the directions of the side chains. from_first, from_second : (P, 4), see `_seen`.
    """

    apart: np.ndarray
    axes: np.ndarray
    side_chains: np.ndarray
    from_first: np.ndarray
    from_second: np.ndarray


def orientation(heavy: Complex, nodes: np.ndarray, pairs: np.ndarray, distance: np.ndarray) -> Orientation:
    """Of pairs of nodes, int, (P, 2), with these distances in Å between their CA atoms, (P,); no hydrogens."""
    poses, (i, j) = residue_poses(heavy, nodes), pairs.T
    unit = (poses.ca[j] - poses.ca[i]) / distance[:, None]
    facing = _unit(poses.side_chain)
    return Orientation(
        np.linalg.norm(poses.ca[j] + poses.side_chain[j] - poses.ca[i] - poses.side_chain[i], axis=1),
        (poses.frame[i] * poses.frame[j]).sum(axis=2),
        (facing[i] * facing[j]).sum(axis=1),
        _seen(poses.frame[i], facing[i], unit),
        _seen(poses.frame[j], facing[j], -unit),
    )


def _seen(frame: np.ndarray, facing: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Directions, (P, 3), in frames, (P, 3, 3), and their cosine with the side chains' directions: shape (P, 4)."""
    return np.column_stack([np.einsum("pak,pk->pa", frame, direction), (facing * direction).sum(axis=1)])


@dataclass(frozen=True)
class Poses:
    """Where residues are and how they are turned.

    Attributes
    ----------
    ca : shape (n, 3), Å
    frame : shape (n, 3, 3); rows are unit vectors: from CA to C, towards N at right angles to that, and the third
        of a right-handed system. Zeros where N or C is missing or in line with CA.
    side_chain : shape (n, 3), Å, from CA to the mean of the side chain's heavy atoms; zeros where there are none
    """

    ca: np.ndarray
    frame: np.ndarray
    side_chain: np.ndarray


def residue_poses(heavy: Complex, residues: np.ndarray) -> Poses:
    """Poses of residues with a CA, int, shape (n,), of a complex without hydrogens."""
    ca = heavy.xyz[heavy.ca[residues]]
    n, c = (_from_ca(heavy, residues, name) for name in (b"N", b"C"))
    first = _unit(c)
    second = _unit(n - (n * first).sum(axis=1, keepdims=True) * first)
    frame = np.stack([first, second, np.cross(first, second)], axis=1)
    frame[~frame.any(axis=2).all(axis=1)] = 0.0
    side = ~np.isin(heavy.atom_names, BACKBONE)
    of, size = heavy.residue_of[side], len(heavy.residues)
    count = np.maximum(np.bincount(of, minlength=size), 1)[residues, None]
    total = np.stack([np.bincount(of, x, minlength=size) for x in heavy.xyz[side].T], axis=1)[residues]
    has_any = np.isin(residues, of)[:, None]
    return Poses(ca, frame, np.where(has_any, total / count - ca, 0.0))


def _from_ca(complex_: Complex, residues: np.ndarray, name: bytes) -> np.ndarray:
    """Å, shape (n, 3), from CA to the atom of that name; zeros where there is none."""
    atom = np.full(len(complex_.residues), -1)
    found = np.flatnonzero(complex_.atom_names == name)
    atom[complex_.residue_of[found]] = found
    atom = atom[residues]
    return np.where((atom >= 0)[:, None], complex_.xyz[atom] - complex_.xyz[complex_.ca[residues]], 0.0)


LEAST_LENGTH = 1e-6
"""Å, of a vector that has a direction."""


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors, shape (n, 3), of length 1; zeros where they have no direction."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(length > LEAST_LENGTH, vectors / np.maximum(length, LEAST_LENGTH), 0.0)
