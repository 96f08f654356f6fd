"""Contacts: which residues of different partners touch.

By them, and by CA atoms, decoys are compared.
"""

from __future__ import annotations

import json

import numpy as np
import safetensors.numpy

from toporank.structures.complex import Complex
from toporank.structures.neighbours import candidate_pairs, portions

TOUCHING = 5.0
"""Å between heavy atoms of two residues in contact (Rodrigues et al. 2012, doi 10.1002/prot.24078).
"""
INTERFACE = 10.0
"""Å between the CA atoms of interface residues and one of another partner."""


def residue_contacts(complex_: Complex) -> np.ndarray:
    """Pairs of protein residues of different partners with heavy atoms nearer than `TOUCHING`.

    The result is int, shape (P, 2).

    A pair is a row i < j of places in `residues`, rows in rising order. Only residues whose spheres
    come near each other are looked at atom by atom.
    """
    heavy = complex_.without_hydrogens()
    sizes = np.diff(heavy.atom_slices)
    residues = np.flatnonzero(
        (complex_.body_of >= 0) & complex_.is_protein & (sizes > 0)
    )
    if not len(residues):
        return np.zeros((0, 2), dtype=np.intp)
    xyz = heavy.xyz[np.isin(heavy.residue_of, residues)]
    sizes = sizes[residues]
    starts = np.cumsum(sizes) - sizes
    centre = (np.minimum.reduceat(xyz, starts) + np.maximum.reduceat(xyz, starts)) / 2
    radius = np.sqrt(
        np.maximum.reduceat(
            ((xyz - np.repeat(centre, sizes, axis=0)) ** 2).sum(axis=1), starts
        )
    )
    pairs = _pairs_between(complex_.body_of[residues], centre, radius + TOUCHING / 2)
    touching = np.zeros(len(pairs), dtype=bool)
    combinations = sizes[pairs].prod(axis=1)
    for rows in portions(combinations):
        n = combinations[rows]
        nth = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        first, second = np.divmod(nth, np.repeat(sizes[pairs[rows, 1]], n))
        first += np.repeat(starts[pairs[rows, 0]], n)
        second += np.repeat(starts[pairs[rows, 1]], n)
        close = ((xyz[first] - xyz[second]) ** 2).sum(axis=1) < TOUCHING**2
        touching[np.repeat(rows, n)[close]] = True
    contacts = residues[pairs[touching]]
    return contacts[np.lexsort(contacts.T[::-1])]


def interface_residues(complex_: Complex) -> np.ndarray:
    """Whether a residue has a CA nearer than `INTERFACE` to a CA of another partner.

    The result is bool, shape (R,).
    """
    residues = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    xyz = complex_.xyz[complex_.ca[residues]]
    pairs = _pairs_between(
        complex_.body_of[residues], xyz, np.full(len(residues), INTERFACE / 2)
    )
    is_interface = np.zeros(len(complex_.residues), dtype=bool)
    is_interface[residues[pairs]] = True
    return is_interface


def _pairs_between(
    body: np.ndarray, centre: np.ndarray, reach: np.ndarray
) -> np.ndarray:
    """Pairs of spheres of different bodies that overlap: int, shape (P, 2).

    body : int, shape (n,). centre : float64, shape (n, 3). reach : of each sphere, Å, shape (n,).
    """
    overlapping = [np.zeros((0, 2), dtype=np.intp)]
    for pairs in candidate_pairs(centre, 2 * reach.max(initial=0.0)):
        i, j = pairs[body[pairs[:, 0]] != body[pairs[:, 1]]].T
        overlap = ((centre[i] - centre[j]) ** 2).sum(axis=1) < (
            reach[i] + reach[j]
        ) ** 2
        overlapping.append(np.column_stack([i[overlap], j[overlap]]))
    return np.concatenate(overlapping)


def contact_bytes(complex_: Complex) -> bytes:
    """What a decoy is compared by, in safetensors format.

    Of the amino acids of partners that have a heavy atom: `residues` (JSON text of their
    identities), `letters` (uint8, shape (n,), one-letter codes), `ca` (float32, shape (n, 3), Å,
    nan without CA), `interface` (bool, shape (n,)); `contacts` : int32, shape (P, 2), places in
    these.
    """
    contacts = residue_contacts(complex_)
    has_atoms = np.diff(complex_.without_hydrogens().atom_slices) > 0
    is_in = complex_.is_protein & has_atoms & (complex_.body_of >= 0)
    residues = np.flatnonzero(is_in)
    ca = complex_.ca[residues]
    names = json.dumps(complex_.residues_at(residues), separators=(",", ":"))
    tensors: dict[str, np.ndarray] = {
        "residues": np.frombuffer(names.encode(), dtype=np.uint8),
        "letters": np.frombuffer(complex_.letters.encode(), dtype=np.uint8)[residues],
        "ca": np.where(ca[:, None] >= 0, complex_.xyz[ca], np.nan).astype(np.float32),
        "interface": interface_residues(complex_)[residues],
        "contacts": np.searchsorted(residues, contacts).astype(np.int32),
    }
    return safetensors.numpy.save(tensors)
