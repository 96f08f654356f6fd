"""The backbone of a complex as ProteinMPNN takes it, the neighbours of each residue, and what describes an edge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from toporank.features.inverse_folding.parameters import RADIAL
from toporank.structures.complex import Complex
from toporank.structures.neighbours import PAIRS_AT_ONCE

BACKBONE = (b"N", b"CA", b"C", b"O")
LETTERS = "ACDEFGHIKLMNPQRSTVWYX"
"""Amino acids in the order of the network."""
NEIGHBOURS = 48
FARTHEST_PLACE = 32
"""The largest difference of places in a chain; the network takes larger ones for this one."""
NEAREST, FARTHEST = 2.0, 22.0
"""Å, centres of the first and the last Gaussian that describe a distance."""


class Backbone(NamedTuple):
    """Residues that have all atoms of `BACKBONE`; n of them.

    xyz : float64, (n, 4, 3), Å. chain : int, (n,). place : int, (n,), in the chain, with gaps where residues are
    missing. letter : int, (n,), in `LETTERS`. body : int, (n,), the partner. residue : int, (n,), in the complex.
    """

    xyz: np.ndarray
    chain: np.ndarray
    place: np.ndarray
    letter: np.ndarray
    body: np.ndarray
    residue: np.ndarray

    def part(self, which: np.ndarray) -> Backbone:
        """Some of the residues. which : bool, (n,), or int."""
        return Backbone(*(values[which] for values in self))


def backbone(complex_: Complex) -> Backbone:
    """The protein residues of all partners that have their backbone atoms."""
    atoms = np.full((len(complex_.residues), len(BACKBONE)), -1)
    for column, name in enumerate(BACKBONE):
        named = np.flatnonzero(complex_.atom_names == name)
        atoms[complex_.residue_of[named], column] = named
    residue = np.flatnonzero(complex_.is_protein & (complex_.body_of >= 0) & (atoms >= 0).all(axis=1))
    _, chain = np.unique([complex_.residues[r].chain for r in residue], return_inverse=True)
    number = np.array([complex_.residues[r].number for r in residue], dtype=int)
    letter = np.array([LETTERS.index(complex_.letters[r]) for r in residue], dtype=int)
    return Backbone(
        complex_.xyz[atoms[residue]], chain, places(chain, number), letter, complex_.body_of[residue], residue
    )


def places(chain: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The place of each residue in its chain, int, (n,). Only differences within a chain mean something.

    They are those of the numbers, so that missing residues leave gaps. Residues that share a number, with different
    insertion codes, have places of their own in the order of the file. chain, number : int, (n,).
    """
    order = np.lexsort((number, chain))
    step = np.diff(number[order], prepend=0)
    step[1:][(np.diff(chain[order]) == 0) & (step[1:] == 0)] = 1
    sorted_places = np.cumsum(step)
    place = np.empty(len(order), dtype=int)
    place[order] = sorted_places
    return place


def with_cb(xyz: np.ndarray) -> np.ndarray:
    """The atoms N, CA, C, O and the ideal place of CB; float32, (n, 5, 3), about their centre.

    xyz : float64, (n, 4, 3), Å. The three coefficients are those of Dauparas et al. 2022.
    """
    n, ca, c = xyz[:, 0], xyz[:, 1], xyz[:, 2]
    cb = ca - 0.58273431 * np.cross(ca - n, c - ca) + 0.56802827 * (ca - n) - 0.54067466 * (c - ca)
    atoms = np.concatenate([xyz, cb[:, None]], axis=1)
    return (atoms - ca.mean(axis=0)).astype(np.float32)


def nearest(ca: np.ndarray, count: int = NEIGHBOURS) -> np.ndarray:
    """The residues nearest to each by their CA atoms, itself among them: int, (n, min(n, count)), in no order.

    ca : float64, (n, 3), Å.
    """
    count = min(count, len(ca))
    if count == len(ca):
        return np.tile(np.arange(count), (count, 1))
    rows = max(1, PAIRS_AT_ONCE // len(ca))
    squares = (((ca[i : i + rows, None] - ca) ** 2).sum(axis=2) for i in range(0, len(ca), rows))
    return np.concatenate([np.argpartition(block, count - 1, axis=1)[:, :count] for block in squares])


def offsets(residues: Backbone, rows: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The difference of the places of residues and their neighbours, from 0 to 64, and 65 for those of other chains.

    rows : int, (r,), near : int, (r, k), residues. Returns int, (r, k).
    """
    apart = residues.place[rows, None] - residues.place[near] + FARTHEST_PLACE
    same = residues.chain[rows, None] == residues.chain[near]
    return np.where(same, np.clip(apart, 0, 2 * FARTHEST_PLACE), 2 * FARTHEST_PLACE + 1)


def radial(atoms: np.ndarray, rows: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The 25 distances between the atoms of residues and their neighbours, each as `RADIAL` Gaussians.

    atoms : float32, (n, 5, 3). rows : int, (r,), near : int, (r, k), residues. Returns float32, (r * k, 25 * `RADIAL`).
    """
    difference = atoms[rows][:, None, :, None] - atoms[near][:, :, None]
    distance = np.sqrt((difference**2).sum(axis=-1) + np.float32(1e-6))
    centres = np.linspace(NEAREST, FARTHEST, RADIAL, dtype=np.float32)
    scaled = (distance[..., None] - centres) * np.float32(RADIAL / (FARTHEST - NEAREST))
    np.multiply(scaled, scaled, out=scaled)
    np.negative(scaled, out=scaled)
    return np.exp(scaled, out=scaled).reshape(near.size, -1)
