"""The published edge features: CA distance and a histogram of atom–atom distances."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from toporank.features.pairs import (
    Edges,
    Rising,
    atom_distances,
    both_directions,
    node_pairs,
)
from toporank.features.registry import Angstrom, Parameters, Scaling, register
from toporank.structures.complex import Complex

AXES = {"xyz": [0, 1, 2], "xyy": [0, 1, 1]}
"""Columns of `Complex.xyz` that atom–atom distances are taken from."""


class LegacyV11(Parameters):
    """Parameters of `edges/legacy_v11`."""

    cutoff: Angstrom = Field(10.0, le=50)
    """Nodes of different partners whose CA atoms are closer than this are joined."""
    bins: Annotated[tuple[float, ...], Rising] = Field(
        (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0),
        min_length=1,
        json_schema_extra={"unit": "Å"},
    )
    """Lower edges of the histogram of atom–atom distances; the last bin has no upper end.
    Distances under the first edge are not counted.
    """
    coordinates: Literal["xyz", "xyy"] = "xyz"
    """Of the histogram. `xyy`: the published one, which reads y as z; for networks trained on
    that.
    """
    scaling: Scaling = "training_set"
    """`per_decoy`: every column to [0, 1] within each decoy, as published. `training_set`: by mean
    and standard deviation of the training graphs, kept in the checkpoint. `none`: Å and counts.
    """


def legacy_columns(parameters: LegacyV11) -> list[str]:
    """CA distance and one count for each bin."""
    return ["ca_distance", *(f"atom_pairs_from_{edge:g}" for edge in parameters.bins)]


@register(
    "edges/legacy_v11",
    alias="legacy",
    summary="CA distance and histogram of all atom–atom distances",
    parameters=LegacyV11,
    columns=legacy_columns,
)
def legacy_edges(parameters: LegacyV11, complex_: Complex, nodes: np.ndarray) -> Edges:
    """The published edges, by default with the third coordinate put right.

    nodes : int, shape (n,), residue indices.
    """
    pairs, distance = node_pairs(complex_, nodes, parameters.cutoff)
    seen = replace(complex_, xyz=complex_.xyz[:, AXES[parameters.coordinates]])
    counts = atom_distances(seen, nodes[pairs], np.array([*parameters.bins, np.inf]))
    attributes = np.column_stack([distance, counts])
    return both_directions(pairs, attributes, attributes, parameters.scaling)
