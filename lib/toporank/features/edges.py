"""Edge features: pairs of nodes of different chains, both directions, each directed edge once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from toporank.errors import FeatureError
from toporank.features.neighbours import pairs_between_groups
from toporank.features.registry import Parameters, register
from toporank.features.scaling import Scaling, scaled
from toporank.structures.complex import STANDARD, Complex

AXES = {"xyz": [0, 1, 2], "xyy": [0, 1, 1]}
"""Columns of `Complex.xyz` that atom–atom distances are taken from."""


@dataclass(frozen=True)
class Edges:
    """Directed edges: index int64, shape (2, E); attributes float64, shape (E, k)."""

    index: np.ndarray
    attributes: np.ndarray


def rising(limits: tuple[float, ...]) -> tuple[float, ...]:
    """Validator of limits: each must be greater than the one before."""
    if not all(low < high for low, high in pairwise(limits)):
        raise ValueError("each limit must be greater than the one before")
    return limits


class LegacyV11(Parameters):
    """Parameters of `edges/legacy_v11`."""

    cutoff: float = Field(
        10.0, gt=0, le=50, json_schema_extra={"unit": "Å"},
        description="Nodes of different chains whose CA atoms lie nearer than this are joined.",
    )  # fmt: skip
    bins: Annotated[tuple[float, ...], AfterValidator(rising)] = Field(
        tuple(float(edge) for edge in range(1, 11)), min_length=1, json_schema_extra={"unit": "Å"},
        description="Lower edges of the histogram of atom–atom distances; the last bin has no upper end."
        " Distances under the first edge are not counted.",
    )  # fmt: skip
    coordinates: Literal["xyz", "xyy"] = Field(
        "xyz",
        description="Of the histogram. `xyy`: the published one, which reads y as z; for networks trained on that.",
    )
    scaling: Scaling = Field(
        "training_set",
        description="`per_decoy`: every column to [0, 1] within each decoy, as published. `training_set`: by mean"
        " and standard deviation of the training graphs, kept in the checkpoint. `none`: Å and counts.",
    )


def legacy_columns(parameters: LegacyV11) -> list[str]:
    """CA distance and one count for each bin."""
    return ["ca_distance", *(f"atom_pairs_from_{edge:g}" for edge in parameters.bins)]


@register(
    "edges/legacy_v11",
    alias="legacy",
    summary="CA distance and histogram of all atom–atom distances",
    parameters=LegacyV11,
    columns=legacy_columns,
    added={"coordinates": "xyz"},
)
def legacy_edges(parameters: LegacyV11, complex_: Complex, nodes: np.ndarray) -> Edges:
    """The published edges, by default with the third coordinate put right. nodes : int, shape (n,), residue indices."""
    pairs, distance = node_pairs(complex_, nodes, parameters.cutoff)
    seen = replace(complex_, xyz=complex_.xyz[:, AXES[parameters.coordinates]])
    counts, _ = atom_distances(seen, nodes[pairs], np.array([*parameters.bins, np.inf]))
    attributes = scaled(np.column_stack([distance, counts]), parameters.scaling)
    return both_directions(pairs, attributes, attributes)


class MultiscaleV24(Parameters):
    """Parameters of `edges/multiscale_v24`."""

    bands: Annotated[tuple[float, float, float, float], AfterValidator(rising)] = Field(
        (0.0, 6.0, 10.0, 14.0), json_schema_extra={"unit": "Å"},
        description="Limits of the short, medium and long band of CA distances; the last one is the cutoff.",
    )  # fmt: skip
    bin_width: float = Field(
        2.0, gt=0, json_schema_extra={"unit": "Å"}, description="Width of the ten bins of atom–atom distances."
    )
    contact: float = Field(
        5.0, gt=0, json_schema_extra={"unit": "Å"}, description="Atom pairs at most this far apart are contacts."
    )
    scaling: Scaling = Field(
        "none",
        description="`none`: values as they are, as in the original. `training_set`: by mean and standard deviation of"
        " the training graphs, kept in the checkpoint. `per_decoy`: every column to [0, 1] within each decoy.",
    )


def multiscale_columns(parameters: MultiscaleV24) -> list[str]:
    """The 24 column names."""
    return [
        "ca_distance", "inverse_distance", "unit_x", "unit_y", "unit_z",
        "chain_from", "chain_to", "residue_from", "residue_to",
        "band", "band_short", "band_medium", "band_long",
        *(f"atom_pairs_{parameters.bin_width * i:g}_{parameters.bin_width * (i + 1):g}" for i in range(10)),
        "contacts",
    ]  # fmt: skip


@register(
    "edges/multiscale_v24",
    alias="multiscale",
    summary="three distance bands, unit vector, chain and residue codes, normalised histogram, contacts",
    parameters=MultiscaleV24,
    columns=multiscale_columns,
    added={"scaling": "none"},
)
def multiscale_edges(parameters: MultiscaleV24, complex_: Complex, nodes: np.ndarray) -> Edges:
    """The 24-column edges of the QTopoQA system, each directed edge once.

    The unit vector depends on the frame of the file and the chain code on chain names: a network trained
    on this module does not give the same score to a rotated complex.
    """
    pairs, distance = node_pairs(complex_, nodes, parameters.bands[-1], parameters.bands[0])
    histogram, _ = atom_distances(complex_, nodes[pairs], np.arange(11) * parameters.bin_width)
    histogram = histogram / np.maximum(histogram.sum(axis=1, keepdims=True), 1.0)
    beyond = np.nextafter(parameters.contact, np.inf)
    contacts, _ = atom_distances(complex_, nodes[pairs], np.array([0.0, beyond]))
    ca = complex_.xyz[complex_.ca[nodes]]
    unit = (ca[pairs[:, 1]] - ca[pairs[:, 0]]) / distance[:, None]
    band = np.searchsorted(parameters.bands[1:3], distance, side="right")
    tail = np.column_stack([band, np.eye(3)[band], histogram, contacts])
    chain, residue = _chain_code(complex_, nodes)[pairs], _residue_code(complex_, nodes)[pairs]
    head = np.column_stack([distance, 1.0 / distance])
    forward = np.column_stack([head, unit, chain, residue, tail])
    backward = np.column_stack([head, -unit, chain[:, ::-1], residue[:, ::-1], tail])
    edges = both_directions(pairs, forward, backward)
    return Edges(edges.index, scaled(edges.attributes, parameters.scaling))


def _chain_code(complex_: Complex, nodes: np.ndarray) -> np.ndarray:
    """Place in the alphabet of the first letter of the chain name, over 26; 0 for other signs."""
    first = [complex_.residues[r].chain[:1].upper() for r in nodes]
    return np.array([(ord(c) - ord("A")) / 26 if "A" <= c <= "Z" else 0.0 for c in first])


def _residue_code(complex_: Complex, nodes: np.ndarray) -> np.ndarray:
    """Place of the residue type among the 20 in order of their one-letter codes, over 21; unknown is 20/21."""
    order = {name: i for i, name in enumerate(sorted(STANDARD, key=STANDARD.get))}
    return np.array([order.get(complex_.parents[r], 20) / 21 for r in nodes])


def node_pairs(
    complex_: Complex, nodes: np.ndarray, cutoff: float, least: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs i < j of nodes of different chains with 0 < CA distance and least <= CA distance < cutoff, row by row.

    Returns pairs, int, shape (P, 2), as positions in `nodes`, and distances in Å, shape (P,).
    Raises FeatureError when there is none.
    """
    ca = complex_.xyz[complex_.ca[nodes]]
    chain = np.unique([complex_.residues[r].chain for r in nodes], return_inverse=True)[1]
    near, distance = pairs_between_groups(ca, chain, cutoff)
    joined = (distance > 0) & (distance >= least)
    if not joined.any():
        raise FeatureError(
            f"no two nodes of different chains within {cutoff:g} Å and not in one place, so the graph has no edge",
            remedy="do the chains lie on each other, or are contacts incomplete residues? see the node table",
        )
    pairs, distance = near[joined], distance[joined]
    order = np.lexsort(pairs.T[::-1])
    return pairs[order], distance[order]


def both_directions(pairs: np.ndarray, forward: np.ndarray, backward: np.ndarray) -> Edges:
    """Edges (i, j), (j, i) of each pair next to each other. pairs : (P, 2); attributes : (P, k) each."""
    index = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2).T
    attributes = np.stack([forward, backward], axis=1).reshape(2 * len(pairs), -1)
    return Edges(np.ascontiguousarray(index), attributes)


def atom_distances(complex_: Complex, pairs: np.ndarray, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many atom–atom distances of each residue pair fall into each bin [bins[b], bins[b + 1]), and the smallest.

    pairs : int, shape (P, 2), residue indices. bins : shape (B + 1,), rising, Å. Results: shapes (P, B) and (P,).
    """
    from toporank.features.kernels.distances import count_distances  # imports numba, which is slow

    return count_distances(np.ascontiguousarray(complex_.xyz), complex_.atom_slices, pairs, bins)
