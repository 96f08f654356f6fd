"""The 24 edge features of the QTopoQA system."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field

from toporank.features.pairs import Edges, atom_distances, both_directions, node_pairs, rising
from toporank.features.registry import Parameters, register
from toporank.features.scaling import Scaling, scaled
from toporank.structures.complex import STANDARD, Complex


class MultiscaleV24(Parameters):
    """Parameters of `edges/multiscale_v24`."""

    bands: Annotated[tuple[float, float, float, float], AfterValidator(rising)] = Field(
        (0.0, 6.0, 10.0, 14.0),
        json_schema_extra={"unit": "Å"},
        description="Limits of the short, medium and long band of CA distances; the last one is the cutoff.",
    )
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
    """Place in the alphabet of the first letter of the chain name, over 26; 0 for other characters."""
    first = [complex_.residues[r].chain[:1].upper() for r in nodes]
    return np.array([(ord(c) - ord("A")) / 26 if "A" <= c <= "Z" else 0.0 for c in first])


def _residue_code(complex_: Complex, nodes: np.ndarray) -> np.ndarray:
    """Place of the residue type among the 20 in order of their one-letter codes, over 21; unknown is 20/21."""
    order = {name: i for i, name in enumerate(sorted(STANDARD, key=STANDARD.get))}
    return np.array([order.get(complex_.parents[r], 20) / 21 for r in nodes])
