"""The backbone of a model as a cartoon: helices and strands are ribbons, the rest is a tube."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from toporank.structures.complex import Complex

HELIX, STRAND = (5.0, 6.2), (9.2, 11.2)
"""Å between the CA atoms of residues i and i + 3 in a helix and in a strand."""
HALF_WIDTH = {"": 0.45, "strand": 1.2, "helix": 1.5}
"""Å from the middle of the backbone to its edge; seen from the side, a ribbon is like a tube."""
HEAD, HEAD_LENGTH = 2.2, 1.6
"""Half the width of the head of a strand's arrow, Å, and how many residues it takes."""
OUTLINE = 0.25
"""Å of the dark line around it."""
SUBDIVIDED = 8
"""Pieces between two residues."""
FARTHEST = 5.0
"""Å between the CA atoms of two residues that are drawn as one backbone."""


class Piece(NamedTuple):
    """A short piece of the backbone, as a viewer in front of it sees it.

    Attributes
    ----------
    depth : Å, along z; the larger, the nearer to the viewer
    residue : its place in the model
    corners, outline : Å, (4, 2), of the piece and of the dark line around it
    light : 0 to 1, how far it faces the viewer
    """

    depth: float
    residue: int
    corners: np.ndarray
    outline: np.ndarray
    light: float


def pieces(complex_: Complex) -> list[Piece]:
    """Return the backbone of all chains in short pieces, without the gaps between them."""
    residues = np.flatnonzero(complex_.ca >= 0)
    xyz = complex_.xyz[complex_.ca[residues]]
    is_end = np.linalg.norm(np.diff(xyz, axis=0), axis=1) > FARTHEST
    is_end |= complex_.chain_of[residues][1:] != complex_.chain_of[residues][:-1]
    found = []
    for part in np.split(np.arange(len(residues)), np.flatnonzero(is_end) + 1):
        if len(part) > 2:
            found += _of_stretch(xyz[part], residues[part])
    return found


def _of_stretch(xyz: np.ndarray, residues: np.ndarray) -> list[Piece]:
    """The pieces of one stretch of residues. xyz : of CA atoms, Å, (n, 3). residues : places."""
    kinds = secondary_structure(xyz)
    path, at = _smooth(_flattened(xyz, kinds))
    side = _sides(xyz, at)
    normal = np.cross(np.gradient(path, axis=0), side)
    light = np.abs(normal[:, 2]) / np.maximum(np.linalg.norm(normal, axis=1), 1e-9)
    offset = _offsets(path, side, _half_widths(kinds, at))
    length = np.linalg.norm(offset, axis=1, keepdims=True)
    outline = offset * (1 + OUTLINE / length)
    found = []
    for k in range(len(path) - 1):
        piece = Piece(
            depth=path[k : k + 2, 2].mean(),
            residue=residues[round(at[k])],
            corners=_corners(path, offset, k),
            outline=_corners(path, outline, k),
            light=light[k],
        )
        found.append(piece)
    return found


def secondary_structure(xyz: np.ndarray) -> np.ndarray:
    """Return `helix`, `strand` or nothing for each residue, by the distances of its CA atoms.

    xyz : Å, (n, 3), of a stretch of residues
    """
    kinds = np.full(len(xyz), "", dtype="<U6")
    across = np.linalg.norm(xyz[3:] - xyz[:-3], axis=1)
    for name, (least, most) in (("strand", STRAND), ("helix", HELIX)):
        is_inside = (across >= least) & (across <= most)
        # two such stretches in a row, so that no turn counts
        for start in np.flatnonzero(is_inside[1:] & is_inside[:-1]):
            kinds[start : start + 5] = name
    return kinds


def _flattened(xyz: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """The CA atoms, with the pleats of strands taken out."""
    mean = xyz.copy()
    mean[1:-1] = (xyz[:-2] + 2 * xyz[1:-1] + xyz[2:]) / 4
    return np.where((kinds == "strand")[:, None], mean, xyz)


def _smooth(xyz: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A path through the points by cubic splines (Catmull–Rom), and where on it each piece is."""
    ends = 2 * xyz[:1] - xyz[1:2], 2 * xyz[-1:] - xyz[-2:-1]
    points = np.concatenate([ends[0], xyz, ends[1]])
    at = np.arange((len(xyz) - 1) * SUBDIVIDED + 1) / SUBDIVIDED
    first = np.minimum(at.astype(int), len(xyz) - 2)
    t = (at - first)[:, None]
    a, b, c, d = points[first], points[first + 1], points[first + 2], points[first + 3]
    path = b + 0.5 * t * (
        c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a))
    )
    return path, at


def _sides(xyz: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Unit vectors across the ribbon, (len(at), 3): along a helix, and in the sheet of a strand.

    Each is at right angles to the bonds of CA atoms on both sides, and none turns over to the next.
    """
    bonds = np.diff(xyz, axis=0)
    side = np.cross(bonds[:-1], bonds[1:])
    side = np.concatenate([side[:1], side, side[-1:]])
    side /= np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-9)
    for k in range(1, len(side)):
        if side[k] @ side[k - 1] < 0:
            side[k] = -side[k]
    side[1:-1] = side[:-2] + side[1:-1] + side[2:]
    places = np.arange(len(xyz))
    between = np.stack([np.interp(at, places, column) for column in side.T], axis=1)
    return between / np.maximum(np.linalg.norm(between, axis=1, keepdims=True), 1e-9)


def _half_widths(kinds: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Half the width of the ribbon, Å; a strand ends in the head of an arrow."""
    of_kinds = np.array([HALF_WIDTH[kind] for kind in kinds])
    widths = np.interp(at, np.arange(len(kinds)), of_kinds)
    is_last = np.append(kinds[1:] != kinds[:-1], True) & (kinds == "strand")
    for last in np.flatnonzero(is_last):
        left = last - at
        is_head = (left >= 0) & (left <= HEAD_LENGTH)
        head = HALF_WIDTH[""] + (HEAD - HALF_WIDTH[""]) * left / HEAD_LENGTH
        widths = np.where(is_head, head, widths)
        after = (at > last) & (at < last + 1)
        widths = np.where(after, HALF_WIDTH[""], widths)
    return widths


def _offsets(path: np.ndarray, side: np.ndarray, half: np.ndarray) -> np.ndarray:
    """From the middle to an edge as the viewer sees it, Å, (n, 2); nowhere thinner than a tube."""
    offset = half[:, None] * side[:, :2]
    along = np.gradient(path[:, :2], axis=0)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    length = np.linalg.norm(across, axis=1, keepdims=True)
    across = np.where(length > 1e-6, across / np.maximum(length, 1e-6), [1.0, 0.0])
    seen = (offset * across).sum(axis=1, keepdims=True)
    thin = HALF_WIDTH[""]
    tube = np.where(seen < 0, -thin, thin) * across
    return np.where(np.abs(seen) < thin, tube, offset)


def _corners(path: np.ndarray, offset: np.ndarray, k: int) -> np.ndarray:
    """The corners of a piece; where the ribbon turns over, its edges do not cross."""
    begin, end = path[k, :2], path[k + 1, :2]
    at_begin, at_end = offset[k], offset[k + 1]
    if at_begin @ at_end < 0:
        at_end = -at_end
    return np.array([begin + at_begin, end + at_end, end - at_end, begin - at_begin])
