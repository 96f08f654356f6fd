"""How residues lie and are turned to each other.

It is the same wherever a complex lies and however its chains are called.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from toporank.structures.complex import Complex

BACKBONE = [b"N", b"CA", b"C", b"O", b"OXT"]


class Orientation(NamedTuple):
    """How the residues of P pairs are turned to each other.

    apart : (P,), Å between the centres of their side chains. axes : (P, 3), cosines between equal
    axes of both frames, side_chains : (P,), between the directions of the side chains. from_first,
    from_second : (P, 4), see `_seen`.
    """

    apart: np.ndarray
    axes: np.ndarray
    side_chains: np.ndarray
    from_first: np.ndarray
    from_second: np.ndarray


def orientation(
    heavy: Complex, nodes: np.ndarray, pairs: np.ndarray, distance: np.ndarray
) -> Orientation:
    """Describe how the residues of pairs are turned to each other.

    Parameters
    ----------
    heavy : Complex
        without hydrogens
    nodes : int, shape (n,), indices of residues
    pairs : int, shape (P, 2), positions in `nodes`
    distance : float64, shape (P,), Å between the CA atoms

    Returns
    -------
    Orientation
    """
    poses = residue_poses(heavy, nodes)
    i, j = pairs.T
    facing = _unit(poses.side_chain)
    unit = (poses.ca[j] - poses.ca[i]) / distance[:, None]
    return Orientation(
        apart=np.linalg.norm(
            poses.ca[j] + poses.side_chain[j] - poses.ca[i] - poses.side_chain[i],
            axis=1,
        ),
        axes=(poses.frame[i] * poses.frame[j]).sum(axis=2),
        side_chains=(facing[i] * facing[j]).sum(axis=1),
        from_first=_seen(poses.frame[i], facing[i], unit),
        from_second=_seen(poses.frame[j], facing[j], -unit),
    )


def _seen(frame: np.ndarray, facing: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Directions, (P, 3), in frames, (P, 3, 3), and their cosine with the side chains' directions.

    The result has shape (P, 4).
    """
    return np.column_stack(
        [np.einsum("pak,pk->pa", frame, direction), (facing * direction).sum(axis=1)]
    )


@dataclass(frozen=True)
class Poses:
    """Where residues are and how they are turned.

    Attributes
    ----------
    ca : shape (n, 3), Å
    frame : shape (n, 3, 3); rows are unit vectors: from CA to C, towards N at right angles to that,
        and the third of a right-handed system. Zeros where N or C is missing or in line with CA
    side_chain : shape (n, 3), Å, from CA to the mean of the side chain's heavy atoms; zeros where
        there are none
    """

    ca: np.ndarray
    frame: np.ndarray
    side_chain: np.ndarray


def residue_poses(heavy: Complex, residues: np.ndarray) -> Poses:
    """Poses of residues with a CA, int, shape (n,), of a complex without hydrogens."""
    ca = heavy.xyz[heavy.ca[residues]]
    n, c = np.zeros((2, *ca.shape))
    for vectors, atoms in zip(
        (n, c), heavy.atoms_named(b"N", b"C")[residues].T, strict=True
    ):
        vectors[atoms >= 0] = heavy.xyz[atoms[atoms >= 0]] - ca[atoms >= 0]
    first = _unit(c)
    second = _unit(n - (n * first).sum(axis=1, keepdims=True) * first)
    frame = np.stack([first, second, np.cross(first, second)], axis=1)
    frame[~np.all(frame.any(axis=2), axis=1)] = 0.0
    side = ~np.isin(heavy.atom_names, BACKBONE)
    side_of = heavy.residue_of[side]
    n_side = np.bincount(side_of, minlength=len(heavy.residues))[residues, None]
    total = np.zeros((len(heavy.residues), 3))
    np.add.at(total, side_of, heavy.xyz[side])
    side_chain = np.where(n_side > 0, total[residues] / np.maximum(n_side, 1) - ca, 0.0)
    return Poses(ca=ca, frame=frame, side_chain=side_chain)


LEAST_LENGTH = 1e-6
"""Å, of a vector that has a direction."""


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors, shape (n, 3), of length 1; zeros where they have no direction."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(
        length > LEAST_LENGTH, vectors / np.maximum(length, LEAST_LENGTH), 0.0
    )
