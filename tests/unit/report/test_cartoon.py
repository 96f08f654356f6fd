"""Backbones as cartoons. Geometry of an α helix (1.5 Å and 100° a residue, radius 2.3 Å) and of a
strand (3.3 Å a residue, pleats of 0.9 Å) is that of textbooks.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from toporank.report.cartoon import (
    HALF_WIDTH,
    HEAD,
    OUTLINE,
    SUBDIVIDED,
    pieces,
    secondary_structure,
)


def helix(n: int) -> np.ndarray:
    """Along x, so that a viewer on z sees it from the side."""
    turn = np.deg2rad(100) * np.arange(n)
    return np.stack(
        [1.5 * np.arange(n), 2.3 * np.cos(turn), 2.3 * np.sin(turn)], axis=1
    )


def strand(n: int, pleats: int = 2) -> np.ndarray:
    """Along x. pleats : the axis along which they go; the sheet lies across it."""
    xyz = np.zeros((n, 3))
    xyz[:, 0] = 3.3 * np.arange(n)
    xyz[:, pleats] = 0.9 * (-1.0) ** np.arange(n)
    return xyz


def complex_of(*stretches: np.ndarray, chains: str = "") -> SimpleNamespace:
    """What is read of a complex. chains : a letter for each stretch."""
    xyz = np.concatenate(stretches)
    sizes = [len(stretch) for stretch in stretches]
    chain_of = np.repeat([ord(letter) for letter in chains or "A" * len(sizes)], sizes)
    return SimpleNamespace(ca=np.arange(len(xyz)), xyz=xyz, chain_of=chain_of)


def widths(found: list) -> np.ndarray:
    """Å across each piece, in the middle."""
    corners = np.array([piece.corners for piece in found])
    middles = corners[:, :2].mean(axis=1), corners[:, 2:].mean(axis=1)
    return np.linalg.norm(middles[0] - middles[1], axis=1)


@pytest.mark.parametrize(
    ("xyz", "kind"),
    [
        (helix(12), "helix"),
        (strand(8), "strand"),
        (helix(3), ""),  # too short to tell
        (0.75 * strand(8), ""),  # 7.5 Å in three residues, as in a turn
    ],
)
def test_helices_and_strands_are_told_by_distances_of_ca_atoms(xyz, kind):
    assert set(secondary_structure(xyz)) == {kind}


def test_a_backbone_is_drawn_in_pieces_without_its_gaps_and_between_chains():
    one = complex_of(helix(10))
    assert len(pieces(one)) == 9 * SUBDIVIDED
    away = [0.0, 20.0, 0.0]
    gap = complex_of(helix(10), helix(6) + away)
    assert len(pieces(gap)) == (9 + 5) * SUBDIVIDED
    touching = complex_of(helix(10), helix(6) + np.array([15.0, 0.0, 0.0]), chains="AB")
    assert len(pieces(touching)) == (9 + 5) * SUBDIVIDED
    residues = {piece.residue for piece in pieces(gap)}
    assert residues == set(range(16))


def test_a_strand_is_a_ribbon_with_an_arrow_that_seen_from_the_side_is_a_tube():
    tube, flat = 2 * HALF_WIDTH[""], 2 * HALF_WIDTH["strand"]
    from_front = widths(pieces(complex_of(strand(10))))
    assert from_front[:20] == pytest.approx(flat, abs=0.05)
    assert flat < from_front.max() <= 2 * HEAD + 0.01
    assert from_front[-1] == pytest.approx(tube, abs=0.5)
    light = [piece.light for piece in pieces(complex_of(strand(10)))]
    assert min(light) > 0.9
    from_side = pieces(complex_of(strand(10, pleats=1)))
    assert widths(from_side) == pytest.approx(tube, abs=0.05)
    assert max(piece.light for piece in from_side) < 0.1


def test_no_piece_crosses_itself_and_each_has_an_outline_around_it():
    for piece in pieces(complex_of(helix(20), strand(10) + np.array([0.0, 30.0, 0.0]))):
        begin, end = (
            piece.corners[0] - piece.corners[3],
            (piece.corners[1] - piece.corners[2]),
        )
        assert begin @ end >= 0
        rim = np.linalg.norm(piece.outline - piece.corners, axis=1)
        assert rim == pytest.approx(OUTLINE)


def test_what_is_nearer_to_the_viewer_has_the_larger_depth():
    near, far = strand(6) + np.array([0.0, 0.0, 50.0]), strand(6)
    found = pieces(complex_of(far, near))
    depth = {piece.residue: piece.depth for piece in found}
    assert all(depth[k + 6] > depth[k] + 40 for k in range(6))
