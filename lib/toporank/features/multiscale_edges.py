"""The 24 edge features of the QTopoQA system.

They are three distance bands, direction, codes of both ends and atom contacts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

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
from toporank.lookup import places_of
from toporank.structures.complex import STANDARD, Complex

N_BINS = 10
"""Bins of the histogram of atom–atom distances."""
N_LETTERS = 26
N_RESIDUE_TYPES = 21
"""The 20 amino acids and the unknown one."""


class MultiscaleV24(Parameters):
    """Parameters of `edges/multiscale_v24`."""

    bands: Annotated[tuple[float, float, float, float], Rising] = Field(
        (0.0, 6.0, 10.0, 14.0), json_schema_extra={"unit": "Å"}
    )
    """Limits of the short, medium and long band of CA distances; the last one is the cutoff."""
    bin_width: Angstrom = 2.0
    """Width of the ten bins of atom–atom distances."""
    contact: Angstrom = 5.0
    """Atom pairs at most this far apart are contacts."""
    scaling: Scaling = "none"
    """`none`: values as they are, as in the original. `training_set`: by mean and standard
    deviation of the training graphs, kept in the checkpoint. `per_decoy`: every column to [0,
    1] within each decoy.
    """


def multiscale_columns(parameters: MultiscaleV24) -> list[str]:
    """Return the 24 column names.

    Parameters
    ----------
    parameters : MultiscaleV24
        `bin_width` is part of the names of the histogram.

    Returns
    -------
    list of str
    """
    limits = [f"{parameters.bin_width * i:g}" for i in range(N_BINS + 1)]
    histogram = [f"atom_pairs_{low}_{high}" for low, high in pairwise(limits)]
    return [
        "ca_distance",
        "inverse_distance",
        "unit_x",
        "unit_y",
        "unit_z",
        "chain_from",
        "chain_to",
        "residue_from",
        "residue_to",
        "band",
        "band_short",
        "band_medium",
        "band_long",
        *histogram,
        "contacts",
    ]


@register(
    "edges/multiscale_v24",
    alias="multiscale",
    summary=(
        "three distance bands, unit vector, chain and residue codes, normalised histogram, contacts"
    ),
    parameters=MultiscaleV24,
    columns=multiscale_columns,
)
def multiscale_edges(
    parameters: MultiscaleV24, complex_: Complex, nodes: np.ndarray
) -> Edges:
    """Return the 24-column edges of the QTopoQA system, each directed edge once.

    The unit vector depends on the frame of the file, and the chain code on the names of chains: a
    network trained on this module gives another score to a rotated complex.

    Parameters
    ----------
    parameters : MultiscaleV24
    complex_ : Complex
    nodes : numpy.ndarray of int, shape (n,)
        Indices of the residues that are nodes.

    Returns
    -------
    Edges
        Attributes of shape (E, 24), in the order of `multiscale_columns`; docs/features.md has
        their units.

    Raises
    ------
    FeatureError
        When no two nodes of different partners are within the bands.

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> from toporank.structures.read import read_complex
    >>> complex_ = read_complex(example / "decoys/1PPE/near1.pdb.gz")
    >>> from toporank.features.interface import CaCutoff, ca_cutoff_interface
    >>> interface = ca_cutoff_interface(CaCutoff(), complex_)
    >>> edges = multiscale_edges(MultiscaleV24(), complex_, interface.index)
    >>> edges.attributes.shape[1], len(multiscale_columns(MultiscaleV24()))
    (24, 24)
    """
    nearest, *inner_limits, cutoff = parameters.bands
    pairs, distance = node_pairs(complex_, nodes, cutoff, nearest)
    residue_pairs = nodes[pairs]

    counts = atom_distances(
        complex_, residue_pairs, np.arange(N_BINS + 1) * parameters.bin_width
    )
    histogram = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    just_beyond = np.nextafter(
        parameters.contact, np.inf
    )  # bins are open above, and the limit itself is a contact
    contacts = atom_distances(complex_, residue_pairs, np.array([0.0, just_beyond]))
    band = np.searchsorted(inner_limits, distance, side="right")
    band_one_hot = np.eye(3)[band]

    ca = complex_.xyz[complex_.ca[nodes]]
    unit = (ca[pairs[:, 1]] - ca[pairs[:, 0]]) / distance[:, None]
    chain = _chain_codes(complex_, nodes)[pairs]
    residue = _residue_codes(complex_, nodes)[pairs]

    lengths = np.column_stack([distance, 1.0 / distance])
    symmetric = np.column_stack([band, band_one_hot, histogram, contacts])
    forward = np.column_stack([lengths, unit, chain, residue, symmetric])
    backward = np.column_stack(
        [lengths, -unit, chain[:, ::-1], residue[:, ::-1], symmetric]
    )
    return both_directions(pairs, forward, backward, parameters.scaling)


def _chain_codes(complex_: Complex, nodes: np.ndarray) -> np.ndarray:
    """Return the place in the alphabet of the first letter of each chain name, over 26.

    0 for other characters.
    """
    codes = np.zeros(len(nodes))
    for i, residue in enumerate(nodes):
        letter = complex_.residues[residue].chain[:1].upper()
        if "A" <= letter <= "Z":
            codes[i] = (ord(letter) - ord("A")) / N_LETTERS
    return codes


def _residue_codes(complex_: Complex, nodes: np.ndarray) -> np.ndarray:
    """Return the place of each residue type among the 20 by one-letter code, over 21.

    An unknown type is the last.
    """
    by_letter = sorted(STANDARD, key=STANDARD.__getitem__)
    place = places_of(by_letter)
    unknown = len(by_letter)
    return np.array(
        [
            place.get(complex_.parents[residue], unknown) / N_RESIDUE_TYPES
            for residue in nodes
        ]
    )
