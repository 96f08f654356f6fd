"""Models of a target laid on one another, turned so that their interface is in sight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from toporank.chains.match import matched, superposition
from toporank.chains.thresholds import FEWEST_ATOMS
from toporank.structures.complex import Complex


def superposed(
    mobile: Complex, fixed: Complex, chains: Mapping[str, str | None]
) -> Complex:
    """A complex moved on another by the CA atoms of the largest partner they share; else as it is.

    chains : of the first → of the second.
    """
    moved = [np.zeros(0, int)]
    partners = [np.zeros(0, int)]
    for name, chain in mobile.protein_chains.items():
        other = fixed.protein_chains.get(chains.get(name) or "")
        if other is not None:
            places = matched(other, chain)
            moved.append(chain.index[places >= 0])
            partners.append(other.index[places[places >= 0]])
    residues, others = np.concatenate(moved), np.concatenate(partners)
    have_ca = (mobile.ca[residues] >= 0) & (fixed.ca[others] >= 0)
    residues, others = residues[have_ca], others[have_ca]
    bodies = fixed.body_of[others]
    if not (bodies >= 0).any():
        return mobile
    in_largest = bodies == np.bincount(bodies[bodies >= 0]).argmax()
    if in_largest.sum() < FEWEST_ATOMS:
        return mobile
    xyz = mobile.xyz[mobile.ca[residues[in_largest]]]
    turn, shift = superposition(xyz, fixed.xyz[fixed.ca[others[in_largest]]])
    return replace(mobile, xyz=mobile.xyz @ turn + shift)


def turned(complex_: Complex) -> Complex:
    """With its centre at the origin, and the largest partner to the left of the others."""
    residues = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    if len(residues) < FEWEST_ATOMS:
        return complex_
    xyz, body = complex_.xyz[complex_.ca[residues]], complex_.body_of[residues]
    centre = xyz.mean(axis=0)
    xyz = xyz - centre
    left = body == np.bincount(body).argmax()
    across = xyz[0]
    if not left.all():
        across = xyz[~left].mean(axis=0) - xyz[left].mean(axis=0)
    x = across / np.linalg.norm(across)
    flat = xyz - np.outer(xyz @ x, x)
    y = np.linalg.svd(flat, full_matrices=False)[2][0]
    axes = np.stack([x, y, np.cross(x, y)], axis=1)
    return replace(complex_, xyz=(complex_.xyz - centre) @ axes)


def lying(complex_: Complex) -> Complex:
    """A complex that is taller than wide, turned in the plane of the picture so that it is wide.

    The largest partner stays to the left of the others.
    """
    shown = complex_.ca >= 0
    flat = complex_.xyz[complex_.ca[shown], :2]
    width, height = np.ptp(flat, axis=0)
    if height <= width:
        return complex_
    middle = flat.mean(axis=0)
    x = np.linalg.svd(flat - middle, full_matrices=False)[2][0]
    body = complex_.body_of[shown]
    in_partner = body >= 0
    if in_partner.any():
        largest = body == np.bincount(body[in_partner]).argmax()
        if (flat[largest].mean(axis=0) - middle) @ x > 0:
            x = -x
    xyz = complex_.xyz.copy()
    xyz[:, :2] = (xyz[:, :2] - middle) @ np.array([[x[0], -x[1]], [x[1], x[0]]])
    return replace(complex_, xyz=xyz)
